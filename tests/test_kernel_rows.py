"""Rows of the target matrix one by one: the kernels against PʳF, and against walks in plain Python."""

import threading

import numpy as np
import pytest
from kernel_matrices import GO_ON, native_csr, normal, panel, sparse, unpacked

from hopscale._core import _native
from hopscale.walks import Transitions
from reference import Stream, dense, random_graph, seen_after


def mask(hops):
    return sum(1 << hop for hop in hops)


def task(graph, hops, walks, scale, *, power=1.0, seed=0, stop=GO_ON, **bias):
    """What the kernels make rows from."""
    features = graph.features.toarray()
    return {
        "graph": Transitions(graph.adjacency, **bias).kernel,
        "features": native_csr(features),
        "walks": walks,
        "hops": mask(hops),
        "scale": np.broadcast_to(np.float32(scale), features.shape[1]).copy(),
        "power": power,
        "seed": seed,
        "stream": hops[-1],
        "stop": stop,
    }


def sampled(graph, *args, nodes=None, **kwargs):
    """Rows of all nodes, or of some, dense."""
    nodes = np.arange(graph.n_nodes, dtype=np.int32) if nodes is None else np.array(nodes, dtype=np.int32)
    return unpacked(*_native.sample_rows(nodes=nodes, **task(graph, *args, **kwargs)), graph.n_features)


def means(graph, hops, walks, seed):
    """The estimate of PʳF: a huge scale keeps all that was seen above the logarithm's threshold."""
    rows = sampled(graph, hops, walks, 1e6, seed=seed)
    return np.where(rows > 0, np.exp(rows) / 1e6, 0.0)


class TestSampleRows:
    @pytest.mark.parametrize("weighted", [False, True])
    @pytest.mark.parametrize("hops", [(1,), (3,), (1, 2), (1, 2, 3)])
    @pytest.mark.parametrize("q", [9, 2000, 20_000])  # rows that are kept dense, that become so, and that are sparse
    def test_are_exact_where_no_more_ways_lead_on_than_walks_are_asked_for(self, isa, weighted, hops, q):
        graph = random_graph(15, 9, weighted=weighted, values=True, isolated=2, seed=5)
        A, F = dense(graph)
        wide = np.zeros((15, q))
        wide[:, np.linspace(0, q - 1, 9).astype(int)] = F
        graph = type(graph)(A, wide)
        scale = np.linspace(0.5, 3, q).astype(np.float32)
        found = sampled(graph, hops, int((A > 0).sum()), scale)
        expected = np.log(np.maximum(seen_after(A, wide, hops) * scale, 1))
        assert expected.any()
        np.testing.assert_allclose(found, expected, atol=2e-6)
        assert not found[-2:].any()

    @pytest.mark.parametrize("power", [0.5, 0.7])
    def test_positive_logarithms_are_raised_to_a_power(self, isa, power):
        graph = random_graph(15, 9, seed=5)
        logs = np.log(np.maximum(seen_after(*dense(graph), (2,)) * 4.7, 1))
        np.testing.assert_allclose(sampled(graph, (2,), 10_000, 4.7, power=power), logs**power, atol=1e-5)

    def test_walks_without_end_hold_no_more_places_than_there_are_nodes(self):
        """Twenty hops on a graph of 20 nodes have more ways than memory could ever hold."""
        graph = random_graph(20, 9, weighted=True, density=0.4, seed=5)
        expected = np.log(np.maximum(seen_after(*dense(graph), (20,)) * 1e3, 1))
        np.testing.assert_allclose(sampled(graph, (20,), 2**62, 1e3), expected, atol=1e-5)

    @pytest.mark.parametrize("weighted", [False, True])
    @pytest.mark.parametrize(("hops", "walks"), [((1,), 3), ((2,), 20), ((3,), 7), ((1, 2, 3), 20)])
    def test_tend_to_what_is_seen(self, weighted, hops, walks):
        """The mean over seeds errs by chance alone."""
        graph = random_graph(25, 8, density=0.4, weighted=weighted, values=True, isolated=1, seed=9)
        exact, seeds = seen_after(*dense(graph), hops), 600
        estimates = np.array([means(graph, hops, walks, seed) for seed in range(seeds)])
        deviation = estimates.std(axis=0) / np.sqrt(seeds)
        assert deviation.max() > 1e-4  # it is sampled
        assert np.all(np.abs(estimates.mean(axis=0) - exact) <= 5 * deviation + 1e-5)

    @pytest.mark.parametrize("weighted", [False, True])
    @pytest.mark.parametrize("walks", [1, 2, 5, 33, 1000])
    @pytest.mark.parametrize("hops", [(1,), (3,), (1, 2, 3, 4)])
    def test_what_all_nodes_have_is_seen_with_certainty(self, weighted, walks, hops):
        """Weights of places sum to one, however they were drawn."""
        graph = random_graph(60, 5, density=0.3, weighted=weighted, seed=1)
        A, F = dense(graph)
        F[:, 2] = 1.0
        for seed in range(5):
            ratio = means(type(graph)(A, F), hops, walks, seed)[:, 2]
            np.testing.assert_allclose(ratio, 1, rtol=1e-5)

    def test_a_row_depends_on_its_node_and_the_seed_alone(self, isa):
        graph = random_graph(40, 9, density=0.5, seed=5)
        nodes = [4, 14, 0, 4]
        some = sampled(graph, (2,), 11, 3, nodes=nodes)
        assert np.array_equal(some, sampled(graph, (2,), 11, 3)[nodes])
        assert not np.array_equal(some[0], some[1])
        assert not np.array_equal(some, sampled(graph, (2,), 11, 3, nodes=nodes, seed=1))

    @pytest.mark.parametrize("weighted", [False, True])
    @pytest.mark.parametrize("hops", [(1,), (3,), (1, 2)])
    def test_biased_walks_are_drawn_one_by_one(self, isa, weighted, hops):
        graph = random_graph(15, 9, weighted=weighted, values=True, isolated=2, seed=5)
        bias = {"back": 4.0, "away": 0.5}
        walks, F = Transitions(graph.adjacency, **bias), dense(graph)[1]
        nodes, count, seed = [4, 14, 0, 4], 11, 99
        expected = np.zeros((4, 9))
        for row, v in zip(expected, nodes, strict=True):
            if not graph.adjacency[[v]].nnz:
                continue
            random, at = Stream(seed, hops[-1], 0, v), [v] * count
            last = [random.step(walks, v) for _ in at]
            for hop in range(1, max(hops) + 1):
                for i in range(count):
                    last[i], at[i] = at[i], random.step(walks, at[i], last[i])
                    row += F[at[i]] / (count * len(hops)) if hop in hops else 0
        scale = np.linspace(0, 9, 9).astype(np.float32)
        found = sampled(graph, hops, count, scale, nodes=nodes, seed=seed, **bias)
        np.testing.assert_allclose(found, np.log(np.maximum(expected * scale, 1)), atol=1e-5)
        assert found.any(axis=1).tolist() == [True, False, True, True]

    def test_biased_walks_of_more_than_are_drawn_at_a_time(self):
        """So many walks that their mean is near what theory says of the chain of pairs of nodes."""
        graph = random_graph(10, 5, seed=2)
        few, many = (sampled(graph, (2,), walks, 1e6, back=4.0, away=0.5) for walks in (4096, 9001))
        assert not np.array_equal(few, many)
        np.testing.assert_allclose(np.exp(few), np.exp(many), rtol=0.15)
        F = dense(graph)[1]
        F[:, 2] = 1
        total = sampled(type(graph)(graph.adjacency, F), (2,), 9001, 1e6, back=4.0, away=0.5)[:, 2]
        np.testing.assert_allclose(np.exp(total), 1e6, rtol=1e-5)

    @pytest.mark.parametrize("kernel", ["sample_rows", "project_rows"])
    def test_stop_within_the_walks_of_a_node(self, kernel):
        graph = random_graph(15, 9, seed=5)
        stop = np.zeros(1, dtype=np.uint8)
        more = {"x": np.ones((9, 16), np.float32), "y": np.ones((15, 16), np.float32), "together": 5}
        timer = threading.Timer(0.05, stop.fill, (1,))
        timer.start()
        found = getattr(_native, kernel)(
            nodes=np.arange(15, dtype=np.int32),
            **task(graph, (1,), 2**62, 1, stop=stop, back=2.0),
            **(more if kernel == "project_rows" else {}),
        )
        timer.join()
        assert kernel == "project_rows" or [len(array) for array in found] == [1, 0, 0]

    def test_told_to_stop_before_they_begin_there_are_none(self):
        graph, stop = random_graph(15, 9, seed=5), np.ones(1, dtype=np.uint8)
        assert sampled(graph, (2,), 100, 3, stop=stop).shape == (0, 9)


class TestProjectRows:
    @pytest.mark.parametrize("width", [16, 48, 176])
    @pytest.mark.parametrize("walks", [5, 10_000])
    def test_are_rows_times_a_matrix_however_many_are_held_together(self, isa, rng, width, walks):
        graph = random_graph(40, 70, density=0.3, isolated=2, seed=5)
        nodes, x = np.array([7, 39, 0, 7, *range(40)], dtype=np.int32), normal(rng, 70, width)
        given = task(graph, (1, 2), walks, 3, power=0.5)
        rows = unpacked(*_native.sample_rows(nodes=nodes, **given), 70)
        found = []
        for together in (1, 300, 2**62):
            found.append(np.full((44, width), np.nan, dtype=np.float32))
            _native.project_rows(nodes=nodes, **given, x=x, y=found[-1], together=together)
        np.testing.assert_allclose(found[0], rows @ x, rtol=1e-4, atol=1e-4)
        assert not found[0][1].any()  # an isolated node
        assert np.array_equal(found[0], found[1])
        assert np.array_equal(found[0], found[2])

    def test_of_a_matrix_that_does_not_fit_the_nearest_cache(self, isa, rng):
        q = 3000
        graph = random_graph(30, q, density=0.3, seed=5)
        x, y = normal(rng, q, 64), np.empty((30, 64), dtype=np.float32)
        given, nodes = task(graph, (2,), 10_000, 3), np.arange(30, dtype=np.int32)
        _native.project_rows(nodes=nodes, **given, x=x, y=y, together=2**18)
        logs = np.log(np.maximum(seen_after(*dense(graph), (2,)) * 3, 1))
        np.testing.assert_allclose(y, logs @ x, rtol=1e-4, atol=1e-3)


class TestPanels:
    """Rows in panels: what their products, norms and filled rows say of the matrix."""

    @pytest.mark.parametrize("width", [7, 16, 256])
    @pytest.mark.parametrize("weighted", [False, True])
    def test_are_the_sampled_rows_times_their_weights(self, rng, width, weighted):
        graph = random_graph(30, 40, weighted=True, values=True, seed=5)
        given, nodes = task(graph, (1, 2), 50, 3), np.array([3, 0, 29, 7], dtype=np.int32)
        offsets, columns, values = _native.sample_rows(nodes=nodes, **given)
        rows = unpacked(offsets, columns, values, graph.n_features)
        weights = np.abs(normal(rng, 4)) if weighted else None
        panels = _native.sample_panels(nodes=nodes, width=width, weights=weights, **given)
        expected = rows if weights is None else weights[:, None] * rows
        assert (panels.n_rows, panels.count) == (4, -(-graph.n_features // width))
        assert panels.entries == np.count_nonzero(rows) > 0
        x, y = np.zeros((panels.count * width, 16), dtype=np.float32), np.zeros((4, 16), dtype=np.float32)
        for first in range(0, graph.n_features, 16):  # sixteen columns of the matrix at a time
            some = range(first, min(first + 16, graph.n_features))
            x[:], y[:] = 0, 0
            x[some, np.arange(len(some))] = 1
            _native.panels_times(panels, x, y, 0, 4)
            np.testing.assert_array_equal(y[:, : len(some)], expected[:, some].astype(np.float32))

    @pytest.mark.parametrize("columns", [3, 256, 600])
    def test_squared_norm_and_filled_rows(self, rng, columns):
        M = sparse(rng, 20, columns)
        M[[0, 7]] = 0
        parts = [panel(M[:, begin : begin + 256]) for begin in range(0, columns, 256)]
        panels = _native.Panels(parts, 20, 256)
        assert panels.squared_norm() == pytest.approx((M.astype(float) ** 2).sum(), rel=1e-12)
        filled = np.full(20, True)
        panels.filled_rows(filled)
        np.testing.assert_array_equal(filled, M.any(axis=1))

    def test_filled_rows_must_fit(self, rng):
        panels = _native.Panels([panel(sparse(rng, 20, 16))], 20, 16)
        with pytest.raises(ValueError, match="filled_rows: filled: 20 entries needed, found 19"):
            panels.filled_rows(np.zeros(19, dtype=np.bool_))
