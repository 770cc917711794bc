"""Random walks: steps against P, streams against each other, visits against simulation and stationarity."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.stats import chi2_contingency, chisquare

from hopscale._core import _native
from hopscale.walks import Transitions
from hopscale.walks.sampling import noise_layout
from reference import csr, dense, random_graph, transition

# Seeds are fixed: a p-value below this is a mistake, not bad luck.
LEAST_P = 1e-4


def graph_and_walks(weighted, isolated=2):
    graph = random_graph(15, 4, density=0.3, weighted=weighted, isolated=isolated, seed=1)
    return graph.adjacency.toarray().astype(float), Transitions(graph.adjacency)


class TestSteps:
    @pytest.mark.parametrize("weighted", [False, True])
    @pytest.mark.parametrize("step", [1, 2, 5])
    def test_follow_the_transition_matrix(self, weighted, step):
        A, walks = graph_and_walks(weighted)
        starts = np.flatnonzero(A.sum(axis=1)).astype(np.int32)
        ends = walks.sample(starts, 20_000, step, seed=11)[:, :, step - 1]
        P = np.linalg.matrix_power(transition(A), step)
        for v, reached in zip(starts, ends, strict=True):
            counts = np.bincount(reached, minlength=len(A))
            possible = P[v] > 0
            assert counts[~possible].sum() == 0
            assert chisquare(counts[possible], 20_000 * P[v, possible]).pvalue > LEAST_P

    def test_every_step_of_a_walk_is_along_an_edge(self):
        A, walks = graph_and_walks(weighted=True)
        path = walks.sample(np.array([3], dtype=np.int32), 500, 20, seed=0)[0]
        steps = np.column_stack([np.full(500, 3), path])
        assert (A[steps[:, :-1], steps[:, 1:]] > 0).all()

    def test_an_isolated_node_has_no_first_step(self):
        _, walks = graph_and_walks(weighted=False)
        found = walks.sample(np.array([14, 0], dtype=np.int32), 3, 4, seed=0)
        assert (found[0] == -1).all()
        assert (found[1] >= 0).all()

    def test_equal_weights_of_any_size_are_no_weights(self):
        A, walks = graph_and_walks(weighted=False)
        thrice = Transitions(sp.csr_array(3 * A))
        starts = np.arange(10, dtype=np.int32)
        np.testing.assert_array_equal(thrice.sample(starts, 50, 3, seed=4), walks.sample(starts, 50, 3, seed=4))
        block, found = np.random.default_rng(0).random((15, 16), dtype=np.float32), []
        for each in (walks, thrice):
            found.append(np.empty_like(block))
            _native.propagate(each.kernel, block, found[-1])
        np.testing.assert_array_equal(*found)
        np.testing.assert_allclose(thrice.degrees, A.sum(axis=1) * 3)


class TestStreams:
    """Where a visit of one step leads, read off the training kernel: features are nodes, their vectors unit ones."""

    N = 9
    CLIQUE = Transitions(sp.csr_array(np.ones((N, N)) - np.eye(N)))
    NODES = _native.Csr(*csr(np.eye(N)), N)
    NOISE = _native.Noise(*noise_layout(np.ones(N)))

    def reached(self, *, seed, scale, round_, nodes=range(N)):
        """Where each node's walk leads: without noise the first update is half the vector of the node it meets."""
        nodes, visits = np.array(nodes, dtype=np.int32), np.ones(len(nodes), dtype=np.int64)
        G, H = np.zeros((len(nodes), 16), dtype=np.float32), np.eye(self.N, 16, dtype=np.float32)
        without_noise = {"hops": 0b10, "negatives": 0, "batch": 1, "shared": 1}
        kernel = _native.SkipGram(self.CLIQUE.kernel, self.NODES, self.NOISE, seed=seed, scale=scale, **without_noise)
        go_on = np.zeros(1, dtype=np.uint8)
        kernel.train(G, H, None, None, nodes, visits, learning_rate=1.0, round=round_, stop=go_on)
        np.testing.assert_allclose(G.max(axis=1), 0.5, atol=1e-6)
        return G.argmax(axis=1)

    def independent(self, one, other):
        table = np.zeros((self.N, self.N))
        np.add.at(table, (one, other), 1)
        table = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
        return chi2_contingency(table).pvalue > LEAST_P

    def test_of_different_nodes_rounds_scales_and_seeds_are_independent(self):
        rounds = range(2000)
        base = np.array([self.reached(seed=5, scale=1, round_=r) for r in rounds])
        other_scale = np.array([self.reached(seed=5, scale=2, round_=r) for r in rounds])
        other_seed = np.array([self.reached(seed=6, scale=1, round_=r) for r in rounds])
        assert self.independent(base[:, 0], base[:, 1])
        assert self.independent(base[:, 3], base[:, 8])
        for node in (0, 4):
            assert self.independent(base[:-1, node], base[1:, node])
            assert self.independent(base[:, node], other_scale[:, node])
            assert self.independent(base[:, node], other_seed[:, node])
            counts = np.bincount(base[:, node], minlength=self.N)
            assert counts[node] == 0
            assert chisquare(np.delete(counts, node)).pvalue > LEAST_P

    def test_of_one_node_are_the_same_whichever_nodes_are_asked_for(self):
        for round_ in range(20):
            of_all = self.reached(seed=5, scale=1, round_=round_)
            assert np.array_equal(self.reached(seed=5, scale=1, round_=round_, nodes=[7, 2, 5]), of_all[[7, 2, 5]])

    def test_walks_from_the_same_start_are_independent(self):
        _, walks = graph_and_walks(weighted=False)
        v = int(np.diff(walks.adjacency.indptr).argmax())
        twice = walks.sample(np.array([v, v], dtype=np.int32), 5000, 1, seed=3)[:, :, 0]
        for one, other in ((twice[0], twice[1]), (twice[0, :-1], twice[0, 1:])):
            table = np.zeros((walks.n_nodes, walks.n_nodes))
            np.add.at(table, (one, other), 1)
            table = table[table.any(axis=1)][:, table.any(axis=0)]
            assert chi2_contingency(table).pvalue > LEAST_P


def simulated_visits(A, starts, positions, rng):
    """Walks in NumPy: how often each node is stood on at the first ``positions`` steps."""
    cumulative = transition(A).cumsum(axis=1)
    visits, here = np.zeros(len(A)), starts
    for _ in range(positions):
        visits += np.bincount(here, minlength=len(A))
        here = (rng.random(len(here))[:, None] > cumulative[here]).sum(axis=1)
    return visits


class TestExpectedVisits:
    WALKS = 20_000

    @pytest.mark.parametrize("start", ["degree", "node"])
    @pytest.mark.parametrize("positions", [1, 2, 7])
    def test_against_simulation(self, start, positions):
        graph = random_graph(12, 4, weighted=True, isolated=1, seed=2)
        A, _ = dense(graph)
        rng = np.random.default_rng(0)
        active = np.flatnonzero(A.sum(axis=1))
        total = self.WALKS * len(active)
        starts = np.repeat(active, self.WALKS) if start == "node" else rng.choice(12, total, p=A.sum(axis=1) / A.sum())
        found = simulated_visits(A, starts, positions, rng)
        expected = Transitions(graph.adjacency).expected_visits(
            start=start, walks_per_node=self.WALKS, positions=positions
        )
        # Visits of one walk to one node are at most `positions`, so their variance is at most positions · mean.
        assert np.all(np.abs(found - expected) <= 5 * np.sqrt(positions * np.maximum(expected, 1e-9)))
        assert expected.sum() == pytest.approx(total * positions)
        assert expected[-1] == 0

    def test_long_walks_forget_where_they_started(self):
        graph = random_graph(12, 4, weighted=True, isolated=1, seed=2)
        A, _ = dense(graph)
        stationary = A.sum(axis=1) / A.sum()
        long = Transitions(graph.adjacency).expected_visits(start="node", walks_per_node=1, positions=5_000)
        np.testing.assert_allclose(long / long.sum(), stationary, atol=4e-4)
        short = Transitions(graph.adjacency).expected_visits(start="node", walks_per_node=1, positions=2)
        assert np.abs(short / short.sum() - stationary).max() > 1e-2
        always = Transitions(graph.adjacency).expected_visits(start="degree", walks_per_node=1, positions=2)
        np.testing.assert_allclose(always / always.sum(), stationary)

    def test_without_edges_nothing_is_visited(self):
        for start in ("degree", "node"):
            visits = Transitions(sp.csr_array((3, 3))).expected_visits(start=start, walks_per_node=2, positions=4)
            assert np.array_equal(visits, [0, 0, 0])
