"""Models of walks against dense renditions of their definitions, and walks that remember their last step."""

from dataclasses import KW_ONLY, dataclass

import numpy as np
import pytest
import scipy.sparse as sp

from hopscale import MUSAE, PMI, SGNS, AttributedGraph, DeepWalk, GraRep, NetMF, Node2Vec, Walklets, load_model
from hopscale.exceptions import ParameterError
from hopscale.models import MODELS
from hopscale.walks import Transitions
from reference import feature_probability, gram, positive, random_graph, root, second_order, transition

pytestmark = pytest.mark.filterwarnings("ignore::hopscale.exceptions.HopscaleWarning")

N, Q = 40, 24
BIAS = {"p": 0.25, "q": 2.0}
SHORT = {"pmi": PMI(rows="sampled", walks=100), "sgns": SGNS(walk_length=20, walks_per_node=3, epochs=1)}


@pytest.fixture(scope="module")
def graph():
    return random_graph(N, Q, density=0.15, seed=3)


@pytest.fixture(scope="module", name="A")
def adjacency(graph):
    return graph.adjacency.toarray().astype(float)


class TestWalkMatrices:
    def test_netmf(self, graph, A):
        model = NetMF(N, window=4, solver=PMI(shift=2.0)).fit(graph)
        P, c = transition(A), A.sum()
        mean = sum(np.linalg.matrix_power(P, r) for r in range(1, 5)) / 4
        expected = positive(c * mean / A.sum(axis=0) / 2.0)
        np.testing.assert_allclose(model.embedding_ @ model.feature_embedding_.T, expected, atol=2e-3)
        np.testing.assert_allclose(gram(model.embedding_), root(expected), atol=2e-3)

    def test_netmf_is_deepwalk(self, graph):
        one, other = NetMF(16, window=3), DeepWalk(16, window=3)
        np.testing.assert_array_equal(one.fit_transform(graph), other.fit_transform(graph))

    def test_grarep(self, graph, A):
        model = GraRep(3 * N, window=3).fit(graph)
        P = transition(A)
        for k in (1, 2, 3):
            step = np.linalg.matrix_power(P, k)
            expected = positive(N * step / step.sum(axis=0))
            found = model.node_vectors(k) @ model.feature_vectors(k).T
            np.testing.assert_allclose(found, expected, atol=2e-4)


class TestSecondOrderWalks:
    P, Q = 0.5, 4.0

    @pytest.mark.parametrize("weighted", [False, True])
    def test_steps_by_chi_square(self, weighted):
        rng = np.random.default_rng(8)
        upper = np.triu(rng.random((12, 12)) < 0.4, 1) * (rng.integers(1, 5, (12, 12)) if weighted else 1)
        A = (upper + upper.T).astype(np.float32)
        A[0, 1] = A[1, 0] = 1  # an edge to start along
        graph = AttributedGraph(A, np.eye(12, dtype=np.float32))
        walks = Transitions(graph.adjacency, back=1 / self.P, away=1 / self.Q)
        starts = np.flatnonzero(A.sum(axis=1) > 0).astype(np.int32)
        steps = walks.sample(starts, 40_000, 2, 1)
        for i, t in enumerate(starts):
            for v in np.flatnonzero(A[t]):
                come = steps[i][steps[i][:, 0] == v, 1]
                weight = np.array(
                    [A[v, x] * (1 / self.P if x == t else 1 if A[t, x] else 1 / self.Q) for x in range(12)]
                )
                expected = weight / weight.sum() * len(come)
                observed = np.bincount(come, minlength=12)
                assert not observed[expected == 0].any()
                seen = expected > 0
                statistic = ((observed - expected)[seen] ** 2 / expected[seen]).sum()
                freedom = seen.sum() - 1
                assert statistic < freedom + 6 * np.sqrt(2 * freedom) + 8, (t, v)

    @pytest.mark.parametrize("weighted", [False, True])
    @pytest.mark.parametrize("p", [1e-3, 1.0, 1e3])
    @pytest.mark.parametrize("q", [1e-3, 1e3])
    def test_extreme_biases_by_chi_square(self, p, q, weighted):
        """Where nearly all tries are rejected, a step is drawn by kind: back, to a common neighbour, or away."""
        rng, n = np.random.default_rng(8), 9
        upper = np.triu(rng.random((n, n)) < 0.5, 1) * (rng.integers(1, 5, (n, n)) if weighted else 1)
        upper[0, 1:] = upper[0, 1:] | 1  # a hub that all know
        A = (upper + upper.T).astype(np.float32)
        A[:, -1] = A[-1] = 0  # and a leaf that knows nobody else
        A[0, -1] = A[-1, 0] = 2 if weighted else 1
        A[1, 1:4] = A[1:4, 1] = 0
        graph = AttributedGraph(A, np.eye(n, dtype=np.float32))
        walks = Transitions(graph.adjacency, back=1 / p, away=1 / q)
        starts = np.arange(n, dtype=np.int32)
        steps = walks.sample(starts, 20_000, 2, 1)
        for t in range(n):
            for v in np.flatnonzero(A[t]):
                come = steps[t][steps[t][:, 0] == v, 1]
                weight = A[v] * np.where(A[t] > 0, 1.0, 1 / q)
                weight[t] = A[v, t] / p
                expected = weight / weight.sum() * len(come)
                observed = np.bincount(come, minlength=n)
                assert not observed[expected == 0].any()
                assert (np.abs(observed - expected) < 5 * np.sqrt(expected) + 5).all(), (t, v)

    def test_extreme_biases_at_a_hub_do_not_take_the_square_of_its_degree(self):
        """All 10,000 edges looked at for every step are 10¹⁰ in all, and some minutes."""
        n = 10_001
        hub = sp.csr_array((np.ones(n - 1), (np.zeros(n - 1, int), np.arange(1, n))), shape=(n, n))
        walks = Transitions(AttributedGraph(hub + hub.T).adjacency, back=1e-3, away=1e-3)
        steps = walks.sample(np.arange(1, n, dtype=np.int32), 20, 6, 1)
        assert (steps[:, :, ::2] == 0).all()
        assert abs(np.mean(steps[:, :, 1]) - n / 2) < 40  # as likely to one leaf as to another

    @pytest.mark.parametrize("weighted", [False, True])
    def test_extreme_biases_end_and_are_right(self, weighted):
        """A star whose centre was left: 999 of 1000 tries would be in vain, so all edges are looked at."""
        n = 12
        A = np.zeros((n, n), dtype=np.float32)
        A[0, 1:] = np.arange(1, n) if weighted else 1
        A += A.T
        walks = Transitions(AttributedGraph(A, np.eye(n, dtype=np.float32)).adjacency, back=1e3, away=1e-3)
        steps = walks.sample(np.array([3], dtype=np.int32), 20_000, 2, 1)[0]
        assert (steps[:, 0] == 0).all()
        back = np.mean(steps[:, 1] == 3)
        weights = np.where(np.arange(1, n) == 3, 1e3, 1e-3) * A[0, 1:]
        assert back > weights[2] / weights.sum() - 1e-3
        onward = Transitions(AttributedGraph(A, np.eye(n, dtype=np.float32)).adjacency, back=1e-3, away=1.0)
        steps = onward.sample(np.array([0], dtype=np.int32), 20_000, 2, 1)[0]
        assert (steps[:, 1] == 0).all()  # a leaf has no other way

    @pytest.mark.parametrize("name", ["p", "q"])
    @pytest.mark.parametrize("value", [0, -1, 1e-4, 1e4, np.inf, np.nan])
    def test_biases_out_of_bounds(self, name, value):
        with pytest.raises(ParameterError, match=rf"^{name} must be a number of at least 0.001"):
            Node2Vec(**{name: value}).check_parameters()

    @pytest.mark.parametrize("solver", ["pmi", "sgns"])
    def test_without_a_bias_it_is_deepwalk(self, graph, solver):
        short = {"pmi": PMI(), "sgns": SGNS(walk_length=8, walks_per_node=2, epochs=1)}[solver]
        one, other = Node2Vec(16, window=3, solver=short), DeepWalk(16, window=3, solver=short)
        np.testing.assert_array_equal(one.fit_transform(graph), other.fit_transform(graph))

    def test_sampled_rows_tend_to_the_chain_on_edges(self, graph, A):
        """p(x | v) over walks that come from a neighbour, two hops on, against the chain on pairs of nodes."""
        p, q = 0.25, 2.0
        mean = (second_order(A, 1, p, q) + second_order(A, 2, p, q)) / 2
        d = A.sum(axis=0)
        expected = positive(A.sum() * mean / d)
        model = Node2Vec(N, window=2, p=p, q=q, solver=PMI(walks=20_000)).fit(graph)
        found = model.embedding_ @ model.feature_embedding_.T
        assert np.abs(found - expected).max() < 0.15
        assert np.abs(found - expected).mean() < 0.02


@dataclass(eq=False, repr=False)
class BiasedMUSAE(MUSAE, abstract=True):
    """MUSAE whose walks remember their last step; not registered, but by the tests that need it to be."""

    _: KW_ONLY
    p: float = 1.0
    q: float = 1.0

    @property
    def bias(self):
        return 1 / self.p, 1 / self.q


@dataclass(eq=False, repr=False)
class BiasedWalklets(Walklets, abstract=True):
    """Walks that see nodes, a scale a hop."""

    bias = (1 / BIAS["p"], 1 / BIAS["q"])


class TestBiasInEveryContext:
    """A bias is a property of the walk: what the walk sees, and who learns from it, must not matter."""

    def weighted(self):
        graph = random_graph(16, 6, density=0.3, weighted=True, isolated=1, seed=4)
        return graph, graph.adjacency.toarray().astype(float), graph.features.toarray().astype(float)

    @pytest.mark.parametrize("solver", SHORT)
    @pytest.mark.parametrize("ego", [False, True])
    def test_changes_what_is_learnt_from_walks(self, graph, solver, ego):
        plain = MUSAE(16, ego=ego, solver=SHORT[solver]).fit(graph)
        biased = BiasedMUSAE(16, ego=ego, solver=SHORT[solver], **BIAS).fit(graph)
        for label, least in (("1", 0.003), ("2", 0.03), ("3", 0.03)):  # a first step hardly hangs on where it came from
            difference = biased.node_vectors(label) - plain.node_vectors(label)
            assert np.linalg.norm(difference) > least * np.linalg.norm(plain.node_vectors(label)), label
        np.testing.assert_array_equal(biased.node_vectors(0), plain.node_vectors(0))  # where no walk is taken

    @pytest.mark.parametrize("solver", SHORT)
    @pytest.mark.parametrize("ego", [False, True])
    def test_of_one_and_one_is_none(self, graph, solver, ego):
        plain = MUSAE(16, ego=ego, solver=SHORT[solver]).fit(graph)
        unbiased = BiasedMUSAE(16, ego=ego, solver=SHORT[solver]).fit(graph)
        np.testing.assert_array_equal(unbiased.embedding_, plain.embedding_)
        np.testing.assert_array_equal(unbiased.feature_embedding_, plain.feature_embedding_)
        exact = (kind(16, ego=ego, solver=PMI(rows="exact")).fit_transform(graph) for kind in (MUSAE, BiasedMUSAE))
        np.testing.assert_array_equal(*exact)

    @pytest.mark.parametrize("hops", [1, 2, 3])
    @pytest.mark.parametrize("context", ["features", "features+nodes", "nodes"])
    def test_sampled_rows_tend_to_the_chain_on_pairs(self, hops, context):
        """G·Hᵀ at full rank against log(max(1, S·F/p)), S where the second-order walk stands after so many hops."""
        graph, A, F = self.weighted()
        F = {"features": F, "features+nodes": np.hstack([F, np.eye(16)]), "nodes": np.eye(16)}[context]
        solver = PMI(walks=20_000)
        if context == "nodes":
            model = BiasedWalklets(48, solver=solver).fit(graph)
        else:
            model = BiasedMUSAE(64, ego=context != "features", solver=solver, **BIAS).fit(graph)
        assert model.context == context
        assert "sampled from 20000 walks" in model.rows_[str(hops)]
        common = feature_probability(A, F, (hops,))

        def target(seen):
            return positive(np.divide(seen, common, out=np.zeros_like(seen), where=common > 0))

        expected = target(second_order(A, hops, **BIAS) @ F)
        plain = target(np.linalg.matrix_power(transition(A), hops) @ F)
        found = model.node_vectors(hops).astype(float) @ model.feature_vectors(hops).T
        np.testing.assert_allclose(found, expected, atol=0.12)
        assert np.abs(found - expected).mean() < 0.015
        if hops > 1:  # a first step from a random neighbour is nearly one without a memory
            assert np.abs(found - plain).mean() > 0.05

    def test_sampled_vectors_tend_to_the_chain_on_pairs(self):
        """Skip-gram's products at full rank against log(S·F/p) − log b, of nodes with two features each."""
        graph = random_graph(16, 8, density=0.35, per_node=2, seed=2)
        A, F = graph.adjacency.toarray().astype(float), graph.features.toarray().astype(float)
        solver = SGNS(epochs=150, learning_rate=0.01, min_learning_rate=1e-4, share_negatives=False)
        model = BiasedMUSAE(32, window=2, self_scale=False, solver=solver, p=0.1, q=4.0).fit(graph)
        for hops in (1, 2):
            common = feature_probability(A, F, (hops,))
            with np.errstate(divide="ignore"):
                expected = np.log(second_order(A, hops, 0.1, 4.0) @ F / common / 5)
                plain = np.log(np.linalg.matrix_power(transition(A), hops) @ F / common / 5)
            found = model.node_vectors(hops).astype(float) @ model.feature_vectors(hops).T
            possible = np.isfinite(expected) & np.isfinite(plain)
            assert np.corrcoef(found[possible], expected[possible])[0, 1] > 0.98
            error = np.abs(found - expected)[possible].mean()
            assert error < 0.03
            if hops > 1:
                assert error < 0.2 * np.abs(found - plain)[possible].mean()

    @pytest.mark.parametrize("solver", SHORT)
    def test_places_nodes_by_the_walks_that_it_learnt_from(self, graph, solver, tmp_path, monkeypatch):
        model = BiasedMUSAE(16, solver=SHORT[solver], **BIAS).fit(graph)
        placed = model.transform(graph)
        if solver == "pmi":
            np.testing.assert_allclose(placed, model.embedding_, atol=1e-5)
        monkeypatch.setitem(MODELS, "BiasedMUSAE", BiasedMUSAE)
        model.save(tmp_path / "m")
        np.testing.assert_array_equal(load_model(tmp_path / "m").transform(graph), placed)
        model.set_params(p=4.0, q=0.5)  # after the fit: parameters that change later must not move new nodes
        np.testing.assert_array_equal(model.transform(graph), placed)

    def test_knows_no_exact_rows(self, graph):
        with pytest.raises(ParameterError, match=r"^rows='exact' is for walks without a bias") as caught:
            BiasedMUSAE(16, solver=PMI(rows="exact"), **BIAS).fit(graph)
        assert caught.value.parameter == "rows"
