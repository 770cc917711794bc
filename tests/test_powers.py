"""The direct solver on a power of the positive PMI: what the vectors must be, and scores that stay in its unit."""

import json
import math

import numpy as np
import pytest
from model_files import spoilt, words_of

from hopscale import AE, LINE, MUSAE, PMI, AttributedGraph, DeepWalk, datasets, load_model
from hopscale.compute import Threads
from hopscale.exceptions import ParameterError
from hopscale.tasks import attribute_inference
from hopscale.walks import Scale, Transitions, WalkContext
from reference import best_approximation, dense, positive_pmi, random_graph

pytestmark = pytest.mark.filterwarnings("ignore::hopscale.exceptions.HopscaleWarning")

HOPS = {"0": (0,), "1": (1,), "2": (2,), "3": (3,)}
GRAPHS = {
    "blocks": lambda: datasets.planted_blocks(120, n_blocks=4, n_features=40, p_in=0.15, p_out=0.02),
    "weights, values, isolated": lambda: random_graph(120, 40, density=0.05, weighted=True, values=True, isolated=3),
}
every_graph = pytest.mark.parametrize("graph", [make() for make in GRAPHS.values()], ids=GRAPHS)


def products(model, scale):
    """G·Hᵀ."""
    return model.node_vectors(scale).astype(float) @ model.feature_vectors(scale).T.astype(float)


def target(graph, hops, power):
    """The matrix that is to be factorised: entries of scale 0 are as they were."""
    return positive_pmi(*dense(graph), hops) ** (1.0 if hops == (0,) else power)


@every_graph
class TestVectors:
    @pytest.mark.parametrize("power", [0.5, 0.75])
    def test_full_rank_raised_back_is_the_positive_pmi(self, graph, power):
        model = MUSAE(dimensions=4 * 40, solver=PMI(power=power)).fit(graph)
        for label, hops in HOPS.items():
            back = np.abs(products(model, label)) ** (1.0 if label == "0" else 1 / power)
            np.testing.assert_allclose(back, positive_pmi(*dense(graph), hops), atol=5e-4)

    def test_of_the_pooled_model(self, graph):
        model = AE(dimensions=4 * 40, solver=PMI(power=0.5, shift=1.3)).fit(graph)
        expected = positive_pmi(*dense(graph), (1, 2, 3), 1.3)
        np.testing.assert_allclose(products(model, "1-3") ** 2, expected, atol=5e-4)

    def test_low_rank_is_as_good_as_any(self, graph):
        model = MUSAE(dimensions=4 * 8, solver=PMI(power=0.5)).fit(graph)
        for label, hops in HOPS.items():
            M = target(graph, hops, 0.5)
            best, sigma = best_approximation(M, 8)
            assert np.linalg.norm(M - products(model, label)) < 1.002 * np.linalg.norm(M - best)
            share = (sigma[:8] ** 2).sum() / (sigma**2).sum()
            assert model.captured_[label] == pytest.approx(share, abs=2e-3)

    @pytest.mark.parametrize("rows", ["exact", "sampled"])
    def test_the_graph_of_the_fit_gets_its_vectors_again(self, graph, rows):
        model = MUSAE(dimensions=24, solver=PMI(power=0.5, rows=rows, walks=50)).fit(graph)
        np.testing.assert_allclose(model.transform(graph), model.embedding_, atol=1e-5)

    def test_a_few_rows_are_those_of_all(self, graph):
        model = MUSAE(dimensions=24, solver=PMI(power=0.5)).fit(graph)
        found = model._placed(graph, graph.n_nodes - 1)
        # Double precision there: near a ratio of one a root has fewer digits than what it is taken of.
        np.testing.assert_allclose(found, model.embedding_[-1:], atol=2e-3)

    @pytest.mark.parametrize("rows", ["exact", "sampled"])
    def test_threads_do_not_change_a_bit(self, graph, rows):
        solver = PMI(power=0.5, rows=rows, walks=30)
        one, other = (MUSAE(24, solver=solver, n_jobs=n).fit(graph) for n in (1, 3))
        assert np.array_equal(one.embedding_, other.embedding_)
        assert np.array_equal(one.feature_embedding_, other.feature_embedding_)

    def test_one_is_what_was_before(self, graph):
        assert np.array_equal(MUSAE(24).fit_transform(graph), MUSAE(24, solver=PMI(power=1.0)).fit_transform(graph))
        own = slice(0, 6)
        one, root = MUSAE(24).fit_transform(graph), MUSAE(24, solver=PMI(power=0.5)).fit_transform(graph)
        assert np.array_equal(one[:, own], root[:, own])  # scale 0
        assert not np.allclose(np.abs(one[:, 6:]), np.abs(root[:, 6:]), atol=0.1)


def test_sampled_rows_tend_to_the_exact_ones():
    graph = datasets.planted_blocks(120, n_blocks=4, n_features=40, p_in=0.5, p_out=0.05)
    errors = []
    for walks in (5, 20, graph.adjacency.nnz):
        model = MUSAE(dimensions=4 * 40, solver=PMI(power=0.5, rows="sampled", walks=walks)).fit(graph)
        expected = [target(graph, HOPS[s], 0.5) for s in "123"]
        found = [products(model, s) for s in "123"]
        errors.append([np.linalg.norm(x - M) / np.linalg.norm(M) for x, M in zip(found, expected, strict=True)])
    assert np.all(np.diff(errors, axis=0) < 0)
    assert np.max(errors[-1]) < 5e-3  # every way is taken; near zero a root is steep


def test_one_hop_between_nodes():
    """A matrix as sparse as the graph, computed on its own; and the same one in the place of another model's."""
    graph, solver = random_graph(50, 5, density=0.1, weighted=True, isolated=2), PMI(power=0.5)
    nodes = AttributedGraph(graph.adjacency, np.eye(50))
    expected = positive_pmi(*dense(nodes), (1,)) ** 0.5
    model = DeepWalk(50, window=1, solver=solver).fit(graph)
    np.testing.assert_allclose(products(model, "1"), expected, atol=5e-3)
    context = WalkContext.of_nodes(Transitions(graph.adjacency))
    with Threads(1) as engine:
        for matrix in (
            solver.neighbors(context, engine),
            solver.target(context, Scale((1,), 4), engine, 0, beside=0.0),
        ):
            np.testing.assert_allclose(matrix @ np.eye(50, dtype=np.float32), expected, atol=5e-3)
    root, plain = (LINE(8, solver=PMI(power=power)).fit_transform(graph) for power in (0.5, 1.0))
    assert not np.allclose(np.abs(root), np.abs(plain), atol=0.01)


@pytest.fixture(scope="module")
def planted():
    return datasets.planted_blocks(120, n_blocks=4, n_features=40, p_in=0.15, p_out=0.02)


@pytest.fixture(scope="module")
def model(planted):
    return MUSAE(dimensions=4 * 40, solver=PMI(power=0.5)).fit(planted)


@pytest.fixture(scope="module")
def mean(planted):
    """Of the positive PMI over the scales."""
    return np.mean([positive_pmi(*dense(planted), hops) for hops in HOPS.values()], axis=0)


class TestUnits:
    """Scores are pointwise mutual information whatever power of it the vectors were learnt from."""

    def test_explain(self, model, planted):
        for node in (0, 77):
            for label, found in model.explain(node, k=40).items():
                expected = positive_pmi(*dense(planted), HOPS[label])[node]
                scores = np.array([dict(found)[feature] for feature in planted.feature_names.tolist()])
                np.testing.assert_allclose(scores, expected, atol=1e-3)

    def test_negative_estimates_stay_negative(self, planted):
        model = AE(dimensions=8, solver=PMI(power=0.5)).fit(planted)
        scores = dict(model.explain(3, k=40, scale="1-3")["1-3"])
        found = np.array([scores[feature] for feature in planted.feature_names.tolist()])
        product = products(model, "1-3")[3]
        assert product.min() < 0
        np.testing.assert_allclose(found, np.sign(product) * product**2, atol=1e-5)

    def test_nodes_of(self, model, planted, mean):
        feature = planted.feature_names[5]
        found = model.nodes_of(feature, k=120)
        assert [score for _, score in found] == sorted((score for _, score in found), reverse=True)
        np.testing.assert_allclose([dict(found)[node] for node in range(120)], mean[:, 5], atol=1e-3)
        at_two = dict(model.nodes_of([feature], k=120, scale=2)[feature])
        expected = positive_pmi(*dense(planted), (2,))[:, 5]
        np.testing.assert_allclose([at_two[node] for node in range(120)], expected, atol=1e-3)

    def test_suggest_features(self, planted):
        """At full rank the same probabilities as from the matrix itself."""
        root, plain = (MUSAE(4 * 40, solver=PMI(power=power)).fit(planted) for power in (0.5, 1.0))
        one, other = (dict(model.suggest_features(7, k=40, graph=planted)) for model in (root, plain))
        assert one.keys() == other.keys()
        np.testing.assert_allclose([one[f] for f in other], list(other.values()), atol=1e-3)

    def test_attribute_inference(self):
        """At full rank the same ranking as by the matrix itself.

        Rounding would order what is zero in both; a small shift and a dense graph leave no such entry.
        """
        dense = datasets.planted_blocks(120, n_blocks=4, n_features=40, p_in=0.5, p_out=0.1)
        for scale in (None, 2):
            found = [
                attribute_inference(MUSAE(4 * 40, solver=PMI(power=power, shift=1e-3)), dense, splits=1, scale=scale)
                for power in (0.5, 1.0)
            ]
            for one, other in zip(*found, strict=True):
                assert one["method"] == other["method"]
                assert one["roc_auc"] == pytest.approx(other["roc_auc"], abs=0.01)

    def test_training_and_other_models_are_not_concerned(self, planted):
        model = MUSAE(8, solver="sgns").fit(planted)
        score = model.nodes_of(planted.feature_names[0], k=1)[0]
        assert score[1] == pytest.approx(products(model, None)[score[0], 0] / 4, rel=1e-5)


class TestFiles:
    def test_keep_the_power(self, tmp_path):
        graph = datasets.figure1()
        model = MUSAE(8, solver=PMI(power=0.5)).fit(graph)
        model.save(tmp_path / "m.safetensors")
        again = load_model(tmp_path / "m.safetensors")
        assert again.solver_.power == 0.5
        assert again.explain("D") == model.explain("D")
        assert np.array_equal(again.transform(graph), model.transform(graph))

    def test_those_of_before_have_the_matrix_itself(self, tmp_path, monkeypatch):
        model = MUSAE(8).fit(datasets.figure1())
        path = tmp_path / "m.safetensors"
        model.save(path)
        for entry in ("solver", "parameters"):
            kept = json.loads(words_of(path)[entry])
            kept.pop("power", None)
            spoilt(path, **{entry: json.dumps(kept)})
        assert PMI.settings_before["power"] == 1.0
        monkeypatch.setattr(PMI, "settings_before", {"power": 0.25})
        assert load_model(path).solver_.power == 0.25
        monkeypatch.undo()
        assert load_model(path).solver_.power == 1.0


@pytest.mark.parametrize("power", [0.0, 1.5, -1.0, math.nan, "half"])
def test_powers_that_make_no_sense(power):
    with pytest.raises(ParameterError, match=r"^power must be"):
        AE(solver=PMI(power=power)).fit(datasets.figure1())
