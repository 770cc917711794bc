"""Node-feature statistics: sampled pairs and rows against c⁻¹DPʳF, probabilities against the stationary walk."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.stats import chisquare

from hopscale.compute import Threads
from hopscale.compute.aligned import aligned_empty
from hopscale.solvers.held import Held
from hopscale.solvers.learning import least_sampled
from hopscale.walks import Scale, Transitions, WalkContext, split_dimensions
from hopscale.walks.sampling import ListedRows, RowSampler, drawn_nodes
from reference import dense, feature_probability, random_graph, seen_after, transition


def context_of(graph):
    """Walks on a graph that see its features."""
    return WalkContext(Transitions(graph.adjacency), graph.features)


class TestPairFrequencies:
    """The paper's Lemma: #(v, f)/|D| → c⁻¹(DPʳF), counted on walks as Algorithm 2 does."""

    L, T, PER_NODE = 12, 3, 2500

    def corpus(self, graph, start):
        walks, rng = Transitions(graph.adjacency), np.random.default_rng(4)
        n = graph.n_nodes
        per_node = self.PER_NODE * np.ones(n, dtype=int)
        if start == "degree":
            per_node = rng.multinomial(self.PER_NODE * n, walks.degrees / walks.degrees.sum())
        nodes = np.arange(n, dtype=np.int32)
        rows = [walks.sample(nodes[[v]], int(per_node[v]), self.L - 1, seed=v)[0] for v in range(n) if per_node[v]]
        return np.column_stack([np.repeat(nodes, per_node), np.concatenate(rows)])

    @pytest.mark.parametrize("r", [1, 2, 3])
    @pytest.mark.parametrize("weighted", [False, True])
    def test_walks_started_by_degree_have_the_papers_statistics_in_both_directions(self, r, weighted):
        graph = random_graph(12, 5, weighted=weighted, seed=6)
        A, F = dense(graph)
        path = self.corpus(graph, "degree")
        joint = A.sum(axis=1)[:, None] * seen_after(A, F, (r,)) / A.sum()
        for source, target in ((0, r), (r, 0)):  # (v_j, F of v_{j+r}) and (v_{j+r}, F of v_j)
            positions = np.arange(self.L - self.T)
            counts = np.zeros((12, 12))
            np.add.at(counts, (path[:, positions + source].ravel(), path[:, positions + target].ravel()), 1)
            frequency = counts @ F / counts.sum()
            # Pairs of one walk depend on each other: bound the error by that of as many pairs as there are walks.
            assert np.all(np.abs(frequency - joint) <= 5 * np.sqrt(joint / len(path)) + 1e-12)

    @pytest.mark.parametrize("start", ["degree", "node"])
    def test_visits_and_steps_together_give_the_forward_pairs(self, start):
        graph = random_graph(12, 5, seed=6)
        A, F = dense(graph)
        path, r = self.corpus(graph, start), 2
        counts = np.zeros((12, 12))
        positions = np.arange(self.L - self.T)
        np.add.at(counts, (path[:, positions].ravel(), path[:, positions + r].ravel()), 1)
        visits = Transitions(graph.adjacency).expected_visits(start=start, walks_per_node=1, positions=self.L - self.T)
        expected = (visits / visits.sum())[:, None] * seen_after(A, F, (r,))
        np.testing.assert_array_less(
            np.abs(counts @ F / counts.sum() - expected), 5 * np.sqrt(expected / len(path)) + 1e-12
        )
        if start == "degree":
            np.testing.assert_allclose(expected, A.sum(axis=1)[:, None] * seen_after(A, F, (r,)) / A.sum())

    def test_two_features_are_met_as_often_as_theory_says(self):
        graph = random_graph(12, 5, per_node=1, seed=8)
        A, F = dense(graph)
        walks = Transitions(graph.adjacency)
        starts = np.array([4], dtype=np.int32)
        ends = walks.sample(starts, 30_000, 3, seed=0)[0, :, 2]
        met = F[ends].sum(axis=0)
        expected = 30_000 * (np.linalg.matrix_power(transition(A), 3) @ F)[4]
        assert chisquare(met[expected > 0], expected[expected > 0]).pvalue > 1e-4


class TestSampledRows:
    """PʳF from sampled walks; a huge scaling keeps every entry that was seen above the logarithm's threshold."""

    SCALING = 1e6

    def estimate(self, graph, scale, walks, seed):
        scaling = np.full(graph.n_features, self.SCALING, dtype=np.float32)
        nodes = np.arange(graph.n_nodes, dtype=np.int32)
        rows = RowSampler(context_of(graph), scale, scaling, walks, seed, Threads(1)).rows(nodes).toarray()
        return np.where(rows > 0, np.exp(rows.astype(float)) / self.SCALING, 0.0)

    @pytest.mark.parametrize("weighted", [False, True])
    @pytest.mark.parametrize("hops", [(1,), (2,), (3,), (1, 2, 3)])
    def test_error_falls_at_least_with_the_root_of_the_number_of_walks(self, weighted, hops):
        graph = random_graph(150, 8, density=0.7, weighted=weighted, seed=9)
        A, F = dense(graph)
        assert (A > 0).sum(axis=1).min() > 64  # from the first hop on there are more ways than walks
        exact = seen_after(A, F, hops)
        scale = Scale(hops, 4)
        error = {
            walks: np.sqrt(np.mean([(self.estimate(graph, scale, walks, seed) - exact) ** 2 for seed in range(12)]))
            for walks in (4, 64)
        }
        assert error[4] / error[64] > 3.2
        # A mean of independent draws of 0 or 1 has variance p(1-p)/walks; spreading them evenly, or pooling, lowers it.
        binomial = np.sqrt(np.mean(exact * (1 - exact)) / 64)
        assert 0.1 * binomial < error[64] < 1.1 * binomial

    @pytest.mark.parametrize("weighted", [False, True])
    @pytest.mark.parametrize("hops", [(1,), (3,), (1, 2, 3)])
    def test_there_is_no_error_once_there_are_as_many_walks_as_edges(self, weighted, hops):
        graph = random_graph(20, 8, weighted=weighted, seed=9)
        A, F = dense(graph)
        found = self.estimate(graph, Scale(hops, 4), int((A > 0).sum()), 0)
        np.testing.assert_allclose(found, seen_after(A, F, hops), rtol=1e-5, atol=1e-6)

    def test_is_unbiased(self):
        graph = random_graph(60, 8, density=0.6, seed=9)
        A, F = dense(graph)
        estimates = [self.estimate(graph, Scale((2,), 4), 20, seed) for seed in range(200)]
        deviation = np.std(estimates, axis=0) / np.sqrt(200)
        assert deviation.min() > 1e-4
        assert np.all(np.abs(np.mean(estimates, axis=0) - seen_after(A, F, (2,))) <= 5 * deviation + 1e-6)

    def test_a_node_s_row_does_not_depend_on_the_others(self):
        graph = random_graph(20, 8, seed=9)
        scaling = np.full(8, 9.0, dtype=np.float32)
        sampler = RowSampler(context_of(graph), Scale((2,), 4), scaling, walks=30, seed=1, engine=Threads(1))

        def rows(*nodes):
            return sampler.rows(np.array(nodes, dtype=np.int32)).toarray()

        np.testing.assert_array_equal(rows(3, 7, 11)[1], rows(7)[0])
        assert not np.array_equal(rows(7)[0], rows(11)[0])

    def test_isolated_nodes_have_empty_rows(self):
        graph = random_graph(12, 5, isolated=2, seed=3)
        assert not self.estimate(graph, Scale((1, 2), 4), 40, 0)[-2:].any()


class TestRowsWithFewEntries:
    """Of many columns, as where nodes are the context of a large graph: lists of entries, not panels."""

    N = 20_000

    def sampler(self, engine, seed=0):
        around = np.arange(self.N, dtype=np.int64)
        ring = sp.csr_array((np.ones(self.N), (around, (around + 1) % self.N)), shape=(self.N, self.N))
        ends = np.random.default_rng(1).integers(0, self.N, (2, self.N // 4))
        chords = sp.csr_array((np.ones(self.N // 4), tuple(ends)), shape=(self.N, self.N))
        A = sp.csr_array(ring + chords)
        context = WalkContext.of_nodes(Transitions(sp.csr_array(A + A.T)))
        scaling = np.full(self.N, self.N, dtype=np.float32)
        return RowSampler(context, Scale((2,), 4), scaling, walks=40, seed=seed, engine=engine)

    def test_multiply_as_the_rows_do(self):
        with Threads(2) as engine:
            sampler = self.sampler(engine)
            found = sampler.all_rows()
            assert isinstance(found, ListedRows)
            rows = sampler.rows(np.arange(self.N, dtype=np.int32)).astype(np.float64)
            x = np.random.default_rng(2).standard_normal((self.N, 16), dtype=np.float32)
            np.testing.assert_allclose(found @ x, rows @ x, atol=1e-4)
            np.testing.assert_allclose(found.T @ x, rows.T @ x, atol=1e-4)
            assert found.squared_norm() == pytest.approx((rows.data**2).sum())
            np.testing.assert_array_equal(found.filled_rows(), np.diff(rows.indptr) > 0)
            assert found.entries == rows.nnz

    def test_of_some_nodes_are_multiplied_by_their_weights(self):
        with Threads(1) as engine:
            sampler = self.sampler(engine)
            found, complete = sampler.learning_rows(1000 * sampler.row_bytes)
            assert not complete
            nodes, weights = drawn_nodes(sampler.context.transitions.degrees, 1000, sampler.seed)
            x = np.random.default_rng(2).standard_normal((self.N, 16), dtype=np.float32)
            np.testing.assert_allclose(found @ x, weights[:, None] * (sampler.rows(nodes) @ x), rtol=1e-4, atol=1e-3)

    def test_take_no_more_memory_than_is_told(self):
        with Threads(1) as engine:
            sampler = self.sampler(engine)
            held = 2 * sampler.all_rows().entries * 8  # columns and values, both ways
            assert 0.5 * sampler.bytes_needed < held < sampler.bytes_needed

    def test_the_least_memory_holds_what_projecting_does(self):
        """V, V in the rows that kernels take, and the vectors: each as large as the others where nodes are features."""
        with Threads(1) as engine:
            sampler = self.sampler(engine)
            held = Held(sampler.size, engine, limit=1)
            v = aligned_empty(self.N, sampler.scale.dimensions)
            assert least_sampled(sampler, held) >= held.base + 3 * v.nbytes
            assert least_sampled(sampler, held) < held.base + 9 * v.nbytes

    def test_have_the_same_bits_on_any_number_of_threads(self):
        x = np.random.default_rng(2).standard_normal((self.N, 16), dtype=np.float32)
        found = []
        for threads in (1, 3):
            with Threads(threads) as engine:
                rows = self.sampler(engine).all_rows()
                found.append((rows @ x, rows.T @ x))
        for one, other in zip(*found, strict=True):
            np.testing.assert_array_equal(one, other)


class TestOwnRows:
    def test_are_the_positive_logarithms_and_no_larger_than_the_features(self):
        graph = random_graph(30, 9, values=True, isolated=2)
        context = context_of(graph)
        scaling = np.random.default_rng(0).uniform(0, 2, 9).astype(np.float32)
        found = context.own_rows(scaling)
        F = graph.features.toarray().astype(float)
        np.testing.assert_allclose(found.toarray(), np.log(np.maximum(F * scaling, 1)), atol=1e-6)
        assert found.nnz == np.count_nonzero(F * scaling > 1)
        assert graph.features.nnz == np.count_nonzero(F)  # nothing was taken from the graph


class TestFeatureProbability:
    @pytest.mark.parametrize("hops", [(0,), (2,), (1, 2)])
    def test_is_the_stationary_one_and_at_scale_0_the_mean_over_nodes(self, hops):
        graph = random_graph(30, 6, weighted=True, values=True, isolated=4, seed=1)
        A, F = dense(graph)
        found = context_of(graph).feature_probability(Scale(hops, 4))
        np.testing.assert_allclose(found, feature_probability(A, F, hops), rtol=1e-6)
        if hops != (0,):  # E/c is what a walk sees at any later step, too
            stationary = A.sum(axis=1) / A.sum()
            np.testing.assert_allclose(found, stationary @ seen_after(A, F, hops), rtol=1e-6)


class TestScales:
    @pytest.mark.parametrize("dimensions", [4, 7, 128, 129, 130, 131])
    @pytest.mark.parametrize("groups", [[(1,), (2,), (3,)], [(0,), (1,), (2,), (3,)], [(0,), (1, 2, 3)], [(1, 2, 3)]])
    def test_dimensions_are_shared_out_evenly_over_hops(self, dimensions, groups):
        scales = split_dimensions(dimensions, groups)
        assert sum(scale.dimensions for scale in scales) == dimensions
        assert [scale.hops for scale in scales] == groups
        shares = [scale.dimensions / len(scale.hops) for scale in scales]
        assert max(shares) - min(shares) <= 1

    def test_the_papers_128_over_three_scales(self):
        assert [s.dimensions for s in split_dimensions(128, [(1,), (2,), (3,)])] == [43, 43, 42]

    def test_labels_and_masks(self):
        assert (Scale((2,), 4).label, Scale((1, 2, 3), 4).label) == ("2", "1-3")
        assert (Scale((2,), 4).mask, Scale((1, 2, 3), 4).mask, Scale((0,), 4).mask) == (0b100, 0b1110, 0b1)
