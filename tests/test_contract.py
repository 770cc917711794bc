"""One contract for every registered model."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from pkgutil import iter_modules

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from hopscale import PMI, SGNS, AttributedGraph, datasets, load_model
from hopscale.cli.options import _documented
from hopscale.exceptions import GraphError, HopscaleWarning, NotInductiveError, ParameterError
from hopscale.models import MODELS, matrix, walk
from hopscale.models.base import SolverChoice
from reference import gram, parameters

pytestmark = pytest.mark.filterwarnings("ignore::hopscale.exceptions.HopscaleWarning")

OURS = {name: model for name, model in MODELS.items() if model.__module__.startswith("hopscale.")}
BIASED = {"p": 0.5, "q": 2.0}  # else Node2Vec would be DeepWalk
SWITCHES = {"verbose", "share_negatives", "self_scale", "ego"}  # anything is true or false


@pytest.mark.parametrize("kind", [*OURS.values(), PMI, SGNS])
def test_every_parameter_is_documented_in_the_class_itself(kind):
    assert set(_documented(kind)) >= set(kind().get_params(deep=False))


def make(name, *arguments, **parameters):
    return OURS[name](*arguments, **(BIASED if name == "Node2Vec" else {}) | parameters)


def dense(matrix):
    return matrix.toarray().astype(float)


def test_every_file_is_a_model_and_is_called_what_it_is_called():
    files = {
        f"{package.__name__}.{module.name}"
        for package in (matrix, walk)
        for module in iter_modules(package.__path__)
        if module.name not in ("base", "attributed")
    }
    assert {model.__module__ for model in OURS.values()} == files
    for name, model in OURS.items():
        assert model.__name__ == name
        assert model.__module__.endswith(f".{name.lower()}")
    assert len(OURS) >= 16


@pytest.mark.parametrize("name", OURS)
class TestContract:
    def test_planted_blocks_are_found(self, name):
        graph = datasets.planted_blocks(n_nodes=300)
        vectors = make(name, 16).fit_transform(graph)
        learner = LogisticRegression(max_iter=1000).fit(vectors[::2], graph.labels[::2])
        score = learner.score(vectors[1::2], graph.labels[1::2])
        assert score > 0.8  # four blocks: a guess is right a quarter of the time

    def test_the_same_bits_for_any_number_of_threads(self, name):
        graph = datasets.erdos_renyi(4500, 4, 4, 200)  # several chunks of rows, whatever the step
        one, two, five = (make(name, 12, n_jobs=jobs).fit_transform(graph) for jobs in (1, 2, 5))
        assert one.tobytes() == two.tobytes() == five.tobytes()

    def test_isolated_nodes_and_nodes_without_features(self, name):
        """A node of which nothing is known has a zero vector; the others keep what they can be told by."""
        graph = datasets.planted_blocks(n_nodes=60)
        A, F = dense(graph.adjacency), dense(graph.features)
        A[7] = A[:, 7] = 0
        F[7] = F[9] = 0
        vectors = make(name, 8).fit_transform(AttributedGraph(A.astype(np.float32), F.astype(np.float32)))
        if name == "BANE":
            assert set(np.unique(np.delete(vectors, 7, 0))) == {-1.0, 1.0}
            assert not vectors[7].any()
        else:
            assert np.abs(vectors[7]).max() < 1e-4 * np.abs(vectors).max()
            assert np.abs(vectors[9]).max() > 1e-4 * np.abs(vectors).max() or not vectors[9].any()

    def test_weights_matter_and_scale_does_not(self, name):
        graph = datasets.planted_blocks(n_nodes=60)
        A = dense(graph.adjacency).astype(np.float32)
        heavy = A * (1 + 9 * (np.add.outer(np.arange(60), np.arange(60)) % 3 == 0))
        features = dense(graph.features).astype(np.float32)
        plain, weighted = (make(name, 8).fit_transform(AttributedGraph(m, features)) for m in (A, heavy))
        change = np.abs(gram(plain) - gram(weighted)).mean() / np.abs(gram(plain)).mean()
        assert change > 1e-3
        if name not in ("AANE", "BANE"):  # whose A is weighed against something else: attributes, a loop
            again = make(name, 8).fit_transform(AttributedGraph(8 * A, features))
            np.testing.assert_allclose(
                gram(again) / np.abs(gram(again)).max(), gram(plain) / np.abs(gram(plain)).max(), atol=1e-3
            )

    @pytest.mark.filterwarnings("default::hopscale.exceptions.HopscaleWarning")
    def test_more_dimensions_than_rank(self, name):
        if name in ("BANE", "TENE", "TADW"):  # which fill them: with signs, non-negative numbers, regularised ones
            vectors = make(name, 64).fit_transform(datasets.planted_blocks(n_nodes=20))
            assert vectors.any(axis=0).all()
            assert len(np.unique(vectors, axis=1).T) > 40
            return
        with pytest.warns(HopscaleWarning, match="dimensions are zero"):
            vectors = make(name, 64).fit_transform(datasets.planted_blocks(n_nodes=20))
        assert vectors.shape == (20, 64)
        assert (~vectors.any(axis=0)).any()

    def test_no_edges(self, name):
        with pytest.raises(GraphError, match="no edges"):
            make(name, 4).fit(AttributedGraph(np.zeros((3, 3), np.float32), np.eye(3, dtype=np.float32)))

    def test_init_only_stores(self, name):
        nonsense = dict.fromkeys(OURS[name]().get_params(deep=False), "nonsense")
        stored = OURS[name](**nonsense)
        assert stored.get_params() == nonsense
        assert vars(stored) == nonsense
        assert clone(stored).get_params() == nonsense

    def test_every_wrong_parameter_is_named(self, name):
        model = OURS[name]()
        for solver in model.solvers if isinstance(model, SolverChoice) else [None]:
            chosen = {"solver": solver} if solver else {}
            names = set(OURS[name](**chosen).settings()) - SWITCHES - {"solver"}
            assert {"dimensions", "n_jobs", "random_state"} < names
            for parameter in names:
                wrong = OURS[name](**chosen).configure(**{parameter: "nonsense"})
                with pytest.raises(ParameterError, match=rf"^{parameter}\b") as caught:
                    wrong.check_parameters()
                assert caught.value.parameter == parameter
            if solver:
                with pytest.raises(ParameterError, match=r"^solver must be one of") as caught:
                    OURS[name](solver="nonsense").check_parameters()
                assert caught.value.parameter == "solver"

    def test_inductive_or_not(self, name):
        graph = datasets.planted_blocks(n_nodes=60)
        model = make(name, 8).fit(graph)
        assert model.inductive is (name in ("AE", "MUSAE", "FeatureDiffusion"))
        if model.inductive:
            np.testing.assert_allclose(model.transform(graph), model.embedding_, atol=1e-5)
        else:
            with pytest.raises(NotInductiveError, match="AE and MUSAE"):
                model.transform(graph)

    def test_saved_and_loaded(self, name, tmp_path):
        model = make(name, 8).fit(datasets.planted_blocks(n_nodes=60))
        model.save(tmp_path / "model.safetensors")
        again = load_model(tmp_path / "model.safetensors")
        assert type(again) is type(model)
        assert parameters(again) == parameters(model)
        assert again.embedding_.tobytes() == model.embedding_.tobytes()
        assert again.scale_columns_ == model.scale_columns_
        assert again.neighbors(3, k=5) == model.neighbors(3, k=5)
        assert len(model.get_feature_names_out()) == 8

    def test_traits_are_true(self, name):
        """Whether a model reads features shows when they change."""
        graph = datasets.planted_blocks(n_nodes=60)
        other = AttributedGraph(graph.adjacency, dense(graph.features)[::-1].astype(np.float32))
        same = np.array_equal(make(name, 8).fit_transform(graph), make(name, 8).fit_transform(other))
        model = make(name, 8).fit(graph)
        assert same is not model.uses_features
        walks = [label for label in model.scale_columns_ if label not in ("0", "walks", "identity", "features")]
        assert model.multi_scale is (len(walks) > 1)
        assert model.has_feature_vectors is (len(model.feature_embedding_) > 0)


def test_bits_do_not_depend_on_the_environment(monkeypatch):
    """Hash seeds, our threads, those of BLAS and of OpenMP: every method and solver, on five odd graphs."""
    monkeypatch.syspath_prepend(Path(__file__).parent.parent / "benchmarks")
    blas_kernels = __import__("blas_kernels")
    environments = [
        (jobs, {"PYTHONHASHSEED": str(seed), "OPENBLAS_NUM_THREADS": threads, "OMP_NUM_THREADS": threads})
        for jobs, seed, threads in ((1, 0, "1"), (3, 1, "8"), (16, 2, "3"))
    ]
    with ThreadPoolExecutor(len(environments)) as pool:
        started = [pool.submit(blas_kernels.in_environment, jobs, **each) for jobs, each in environments]
        first, *others = (process.result()["digests"] for process in started)
    assert len({name.partition(",")[0] for name in first}) == len(OURS)
    assert len(first) > 5 * len(OURS)
    assert not [digest for digest in first.values() if "Error" in digest]
    for other in others:
        assert {name for name in first if other[name] != first[name]} == set()
