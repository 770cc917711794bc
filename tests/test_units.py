"""Numbers of any size: results do not depend on the unit, and are finite and right, or an error."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp

from hopscale import HOPE, MUSAE, PMI, SGNS, TADW, AttributedGraph, DeepWalk, Walklets, load_model
from hopscale._core import _native
from hopscale.compute import Threads
from hopscale.exceptions import GraphError, HopscaleError, ParameterError
from hopscale.models import MODELS
from hopscale.models.base import SolverChoice
from hopscale.walks import Scale, Transitions, WalkContext
from reference import best_approximation, dense, positive_pmi, random_graph, transition

pytestmark = pytest.mark.filterwarnings("ignore::hopscale.exceptions.HopscaleWarning")

POWERS = (-140, -61, -2, 1, 60, 120)
SHORT = {"walk_length": 12, "walks_per_node": 2, "epochs": 1}


def variants():
    """Every method of ours with every solver, at a size for tests."""
    found = {}
    for name, model in MODELS.items():
        if not model.__module__.startswith("hopscale."):
            continue
        own = {"TENE": {"iterations": 10}, "Node2Vec": {"p": 0.5, "q": 2.0}}.get(name, {})
        if not issubclass(model, SolverChoice):
            found[name] = lambda model=model, own=own: model(8, **own)
            continue
        for solver in model.solvers:
            settings = SHORT if solver == "sgns" else {}
            found[f"{name}-{solver}"] = lambda model=model, own=own, solver=solver, settings=settings: model(
                8, solver=solver, **own
            ).configure(**settings)
    for proximity in ("common-neighbors", "adamic-adar", "katz", "rooted-pagerank"):
        found[f"HOPE-{proximity}"] = lambda proximity=proximity: HOPE(8, proximity=proximity)
    found["MUSAE-ego"] = lambda: MUSAE(8, ego=True)
    found["MUSAE-ego-sgns"] = lambda: MUSAE(8, ego=True, solver=SGNS(**SHORT))
    found["MUSAE-no-self"] = lambda: MUSAE(8, self_scale=False)
    found["MUSAE-sampled"] = lambda: MUSAE(8, solver=PMI(rows="sampled", walks=20))
    found["MUSAE-noise"] = lambda: MUSAE(8, solver=PMI(noise_exponent=0.75, shift=1.5))
    found["MUSAE-root"] = lambda: MUSAE(8, solver=PMI(power=0.5))
    found["MUSAE-noise-sgns"] = lambda: MUSAE(8, solver=SGNS(noise_exponent=0.75, **SHORT))
    return found


VARIANTS = variants()
# Where weights or values are weighed against something that has no unit; the classes' documentation says so.
AGAINST_WEIGHTS = {"AANE", "BANE"}
AGAINST_FEATURES = {"FEATHER", "TADW", "TENE", "MUSAE-ego-sgns"}
PROPORTIONAL = {"HOPE": 0.5, "HOPE-common-neighbors": 1.0, "HOPE-adamic-adar": 1.0}  # powers of the weights' unit


@pytest.fixture(scope="module", name="AF")
def matrices():
    graph = random_graph(40, 24, density=0.15, weighted=True, values=True, isolated=2, seed=3)
    A, F = dense(graph)
    F[:-1, 5] = 0  # a feature of an isolated node alone: met at scale 0, and on no walk
    F[-1, 5] = 1
    return sp.csr_array(A), sp.csr_array(F)


@pytest.mark.parametrize("name", VARIANTS)
class TestUnits:
    def test_of_weights(self, name, AF):
        A, F = AF
        expected = VARIANTS[name]().fit_transform(AttributedGraph(A, F))
        for power in POWERS:
            found = VARIANTS[name]().fit_transform(AttributedGraph(A * 2.0**power, F))
            if name in AGAINST_WEIGHTS:
                assert np.isfinite(found).all()
            elif name not in PROPORTIONAL:
                assert found.tobytes() == expected.tobytes()
            elif PROPORTIONAL[name] == 1.0 or power % 2 == 0:
                np.testing.assert_array_equal(found, np.ldexp(expected, int(PROPORTIONAL[name] * power)))

    def test_of_features(self, name, AF):
        A, F = AF
        expected = VARIANTS[name]().fit_transform(AttributedGraph(A, F))
        for power in POWERS:
            graph = AttributedGraph(A, F * 2.0**power)
            if name in AGAINST_FEATURES:
                assert finite_or_refused(name, graph) or power > 20
            else:
                assert VARIANTS[name]().fit_transform(graph).tobytes() == expected.tobytes()

    def test_of_features_of_other_graphs(self, name, AF):
        A, F = AF
        if not VARIANTS[name]().inductive:
            return
        expected = VARIANTS[name]().fit((A, F)).transform((A[:30, :30], F[:30]))
        for power in POWERS:
            model = VARIANTS[name]().fit((A, F * 2.0**power))
            assert model.transform((A[:30, :30] * 4, F[:30] * 2.0**power)).tobytes() == expected.tobytes()

    @pytest.mark.parametrize("spread", [8, 25, 38])
    def test_far_apart(self, name, spread):
        """Weights and values over many magnitudes in one graph."""
        random, graph = np.random.default_rng(spread), random_graph(30, 12, density=0.2, isolated=1, seed=4)
        for matrix in (graph.adjacency, graph.features):
            size = 10.0 ** np.triu(random.uniform(-spread, spread, (30, 30)))
            size = np.triu(size) + np.triu(size, 1).T
            many = matrix.toarray().astype(float) * size[:, : matrix.shape[1]]
            both = (many, graph.features) if matrix is graph.adjacency else (graph.adjacency, many)
            finite_or_refused(name, AttributedGraph(*both))


def finite_or_refused(name, graph):
    """Whether the vectors are finite; what is refused is refused with an error of ours."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        try:
            vectors = VARIANTS[name]().fit_transform(graph)
        except GraphError:
            return False
    assert np.isfinite(vectors).all()
    return True


def products(model, scale):
    """G·Hᵀ: at full rank the matrix itself."""
    return model.node_vectors(scale).astype(float) @ model.feature_vectors(scale).astype(float).T


class TestAgainstTheory:
    """In double precision, on weights and values that single precision could not multiply."""

    N, Q = 24, 10

    def graph(self, weights=0.0, values=0.0, unit=1.0, seed=1):
        random, base = np.random.default_rng(seed), random_graph(self.N, self.Q, density=0.2, isolated=1, seed=seed)
        A = np.triu(10.0 ** random.uniform(-weights, weights, (self.N, self.N)))
        A = (A + np.triu(A, 1).T) * base.adjacency.toarray() * unit
        F = base.features.toarray() * 10.0 ** random.uniform(-values, values, (self.N, self.Q))
        return AttributedGraph(A, F)

    @pytest.mark.parametrize(("low", "high", "least", "most"), [(20, 30, 5, 10), (-30, -20, -10, -5), (25, 38, 30, 38)])
    def test_large_and_small_numbers(self, low, high, least, most):
        random, base = np.random.default_rng(0), random_graph(self.N, self.Q, density=0.2, isolated=1, seed=1)
        A = np.triu(10.0 ** random.uniform(low, high, (self.N, self.N))) * base.adjacency.toarray()
        F = 10.0 ** random.uniform(least, most, (self.N, self.Q)) * base.features.toarray()
        graph = AttributedGraph(A + A.T, F)
        model = MUSAE(4 * self.Q).fit(graph)
        for hop in range(4):
            expected = positive_pmi(*dense(graph), (hop,))
            np.testing.assert_allclose(products(model, hop), expected, atol=2e-4)
            assert expected.any()

    @pytest.mark.parametrize("weights", [3, 8, 14])
    def test_weights_far_apart(self, weights):
        graph = self.graph(weights=weights)
        A, _ = dense(graph)
        model = Walklets(3 * self.N).fit(graph)
        for hop in (1, 2, 3):
            expected = positive_pmi(A, np.eye(self.N), (hop,))
            np.testing.assert_allclose(products(model, hop), expected, atol=3e-4)
        assert expected.max() > weights

    @pytest.mark.parametrize("values", [5, 15, 30])
    def test_features_in_units_of_their_own(self, values):
        """A ratio does not know the unit of its feature: metres, grams and dollars may stand side by side."""
        graph = self.graph()
        units = 10.0 ** np.linspace(-values, values, self.Q)
        mixed = AttributedGraph(graph.adjacency, dense(graph)[1] * units)
        A, F = dense(graph)
        model = MUSAE(4 * self.Q).fit(mixed)
        for hop in range(4):
            np.testing.assert_allclose(products(model, hop), positive_pmi(A, F, (hop,)), atol=2e-4)
        np.testing.assert_allclose(model.transform(mixed), model.embedding_, atol=1e-5)

    def test_sampled_rows(self):
        graph = self.graph(unit=2.0**100, weights=1)
        model = DeepWalk(self.N, window=1, solver=PMI(rows="sampled", walks=20_000)).fit(graph)
        expected = positive_pmi(dense(graph)[0], np.eye(self.N), (1,))
        clear = expected > 0.5
        np.testing.assert_allclose(products(model, "1")[clear], expected[clear], atol=0.3)

    def test_hope_on_weights_far_apart(self):
        graph = self.graph(weights=4, unit=1e25)
        A, _ = dense(graph)
        degrees = A.sum(axis=1)
        B = np.divide(A, np.sqrt(degrees)[:, None], out=np.zeros_like(A), where=degrees[:, None] > 0)
        found = HOPE(6).fit_transform(graph).astype(float)
        best, sigma = best_approximation(B @ B.T, 6)
        np.testing.assert_allclose(found @ found.T, best, atol=1e-5 * sigma[0])

    @pytest.mark.parametrize("size", [1.0, 1e3, 1e10, 1e30])
    def test_tadw_on_fewer_features_than_dimensions(self, size):
        """Walks of one feature have one direction, W ∝ (P + P²)Y: noise of the others must not be blown up."""
        graph = AttributedGraph(self.graph().adjacency, np.full((self.N, 1), size))
        model = TADW(8).fit(graph)
        W, Y = (model.node_vectors(part).astype(float) / size for part in ("walks", "features"))
        P = transition(dense(graph)[0])
        expected = (P + P @ P) @ Y
        np.testing.assert_allclose(W, expected * np.linalg.norm(Y) / np.linalg.norm(expected), atol=1e-5)
        assert np.abs(W).max() > 0.01

    def test_too_far_apart_is_refused(self):
        A = np.zeros((6, 6))
        for u, weight in enumerate((1e30, 1e30, 1e-30, 1e-30, 1e-30)):
            A[u, u + 1] = A[u + 1, u] = weight
        with pytest.raises(GraphError, match=r"too far apart.*Drop the smallest"):
            DeepWalk(4).fit(AttributedGraph(A))


class TestKernels:
    @pytest.fixture(params=_native.instruction_sets(), autouse=True)
    def _instruction_set(self, request):
        before = _native.instruction_set()
        _native.use_instruction_set(request.param)
        yield
        _native.use_instruction_set(before)

    def test_logarithms_of_all_positive_floats_and_of_what_is_none(self):
        tiny = np.float32(1e-45)
        row = np.array([np.nan, np.inf, -np.inf, -1, 0, tiny, 1, 1.0000001, 2, 3.4e38, 1.5, 1e30, 7, -0.0, 1e-38, 16])
        block = np.tile(row.astype(np.float32), (3, 1))
        offsets, columns, values = np.zeros(4, np.uint32), np.zeros(64, np.uint8), np.zeros(64, np.float32)
        count = _native.compress(block, np.ones(16, np.float32), offsets, columns, values)
        found = dict(zip(columns[: count // 3].tolist(), values[: count // 3].tolist(), strict=True))
        assert set(found) == {1, 7, 8, 9, 10, 11, 12, 15}  # NaN is not above one
        for column, value in found.items():
            if np.isfinite(row[column]):
                assert value == pytest.approx(np.log(row[column]), rel=1e-6, abs=1e-7)

    @pytest.mark.parametrize("power", [-140, 0, 120])
    def test_a_step_in_units_of_rows(self, power):
        """The first hop, dense blocks and neighbours agree with P, whatever the unit."""
        graph = random_graph(20, 16, weighted=True, isolated=1, seed=2)
        A, F = dense(graph)
        walks = Transitions(sp.csr_array((A * 2.0**power).astype(np.float32)))
        P = np.divide(A, A.sum(axis=1, keepdims=True), out=np.zeros_like(A), where=A.sum(axis=1, keepdims=True) > 0)
        block, out, first = F.astype(np.float32), *(np.empty((20, 16), np.float32) for _ in range(2))
        _native.propagate(walks.kernel, block, out)
        by_column = sp.csr_array(F.T.astype(np.float32))
        columns = _native.Csr(by_column.indptr.astype(np.int64), by_column.indices.astype(np.int32), by_column.data, 20)
        _native.first_hop(walks.kernel, columns, 0, 16, first)
        np.testing.assert_allclose(out, P @ F, rtol=1e-6, atol=1e-7)
        np.testing.assert_allclose(first, P @ F, rtol=1e-6, atol=1e-7)
        context = WalkContext.of_nodes(walks)
        with Threads(1) as engine:
            M = PMI().neighbors(context, engine) @ np.eye(20, dtype=np.float32)
        np.testing.assert_allclose(M, positive_pmi(A, np.eye(20), (1,)), atol=2e-5)
        np.testing.assert_allclose(context.feature_probability(Scale((1,), 1)), A.sum(axis=1) / A.sum(), rtol=1e-12)


class TestParameters:
    @pytest.mark.parametrize("value", [1e-300, 1e-40, 1e-7, 1e7, 1e40, 1e300])
    def test_shift(self, value):
        for name in ("SINE", "ASNE"):
            with pytest.raises(ParameterError, match="shift must be a number"):
                MODELS[name](8, shift=value).check_parameters()
        with pytest.raises(ParameterError, match="shift must be a number"):
            MUSAE(8, solver=PMI(shift=value)).check_parameters()

    def test_noise_exponent(self, AF):
        for solver in (PMI, SGNS):
            with pytest.raises(ParameterError, match=r"noise_exponent must be a number .* at most 8"):
                MUSAE(8, solver=solver(noise_exponent=50)).check_parameters()
        rare = AF[1].toarray()
        rare[:, 0] = 0
        rare[0, 0] = 1e-20
        with pytest.raises(ParameterError, match=r"noise_exponent=8.0 makes features so rare .* nearer to 1"):
            MUSAE(8, solver=PMI(noise_exponent=8)).fit((AF[0], rare))

    @pytest.mark.parametrize("name", VARIANTS)
    @pytest.mark.parametrize("value", [1e-300, 1e-40, 1e40, 1e300])
    def test_numbers_of_any_size_are_refused_or_give_finite_vectors(self, name, value, AF):
        model = VARIANTS[name]()
        for parameter, default in model.settings().items():
            if type(default) is not float:
                continue
            with warnings.catch_warnings():
                warnings.simplefilter("error", RuntimeWarning)
                try:
                    vectors = VARIANTS[name]().configure(**{parameter: value}).fit_transform(AF)
                except HopscaleError:
                    continue
            assert np.isfinite(vectors).all(), parameter


class TestWhatLeavesAModel:
    def test_is_finite_or_an_error(self, AF, monkeypatch):
        for name in ("NetMF", "TADW"):
            model = MODELS[name](8)
            learn = type(model)._learn

            def damaged(self, graph, seed, learn=learn):
                learn(self, graph, seed)
                self.embedding_[3, 2] = np.nan

            monkeypatch.setattr(type(model), "_learn", damaged)
            with pytest.raises(GraphError, match="would not be finite"):
                model.fit(AF)
            assert not hasattr(model, "embedding_")

    @pytest.mark.parametrize("damage", [0.0, 1e-320, 1e-300, 1e300])
    @pytest.mark.parametrize("what", ["singular_values", "feature_probability", "feature_vectors"])
    def test_damaged_models_place_no_node_at_nan(self, damage, what, AF, tmp_path):
        model = MUSAE(8).fit(AF)
        for solution in model.solutions_:
            with np.errstate(all="ignore"):
                array = getattr(solution, what)
                array[...] = np.where(np.isfinite(array * damage), array * damage, 1e38).astype(array.dtype)
        model.save(tmp_path / "damaged.safetensors")
        again = load_model(tmp_path / "damaged.safetensors")
        with warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)
            try:
                vectors = again.transform(AF)
            except HopscaleError:
                return
        assert np.isfinite(vectors).all()

    def test_answers_of_large_vectors_are_finite(self, AF):
        model = HOPE(8, proximity="common-neighbors").fit((AF[0] * 2.0**118, AF[1]))
        assert np.abs(model.embedding_).max() > 1e36
        assert all(-1.001 < similarity < 1.001 for _, similarity in model.neighbors(3, k=20))
        musae = MUSAE(8).fit(AF)
        musae.embedding_ *= np.float32(1e30)
        musae.feature_embedding_ *= np.float32(1e30)
        assert all(np.isfinite(score) for found in musae.explain(3).values() for _, score in found)
