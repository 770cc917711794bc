"""Models of walks against dense renditions of their definitions, and walks that remember their last step."""

import numpy as np
import pytest

from hopscale import PMI, SGNS, AttributedGraph, DeepWalk, GraRep, NetMF, Node2Vec
from hopscale.exceptions import ParameterError
from hopscale.walks import Transitions
from reference import random_graph, second_order, transition

pytestmark = pytest.mark.filterwarnings("ignore::hopscale.exceptions.HopscaleWarning")

N, Q = 40, 24


@pytest.fixture(scope="module")
def graph():
    return random_graph(N, Q, density=0.15, seed=3)


@pytest.fixture(scope="module", name="A")
def adjacency(graph):
    return graph.adjacency.toarray().astype(float)


def positive(ratio):
    return np.log(np.maximum(ratio, 1.0))


def root(M):
    """(MMᵀ)^(1/2) = UΣUᵀ: what U√Σ times its transpose must be at full rank."""
    u, s, _ = np.linalg.svd(M)
    return (u * s) @ u.T


def gram(x):
    return x.astype(np.float64) @ x.astype(np.float64).T


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
