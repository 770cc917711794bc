"""Exact rows: compressed panels against dense matrices."""

import numpy as np
import pytest
import scipy.sparse as sp

from hopscale import AttributedGraph
from hopscale._core import _native
from hopscale.compute import Threads
from hopscale.exceptions import ParameterError
from hopscale.walks import Scale, Transitions, WalkContext
from hopscale.walks.panels import ExactRows, _compressed
from reference import dense, positive_pmi, random_graph


def exact_rows(graph, scales, *, width, shift=1.0, order=None, n_jobs=2):
    """All panels side by side, dense, one matrix a scale."""
    context = WalkContext(Transitions(graph.adjacency), graph.features)
    rows = ExactRows(context, width)
    assert rows.count == -(-graph.n_features // width)
    order = range(rows.count) if order is None else order
    scalings = []
    for scale in scales:
        p = context.feature_probability(scale) * shift
        scalings.append(np.divide(1.0, p, out=np.zeros_like(p), where=p > 0).astype(np.float32))
    found = [np.zeros((graph.n_nodes, rows.count * width)) for _ in scales]
    with Threads(n_jobs) as engine:
        panels = rows.panels(scales, scalings, engine, order=order)
        for j, by_scale in zip(order, panels, strict=True):
            for matrix, panel in zip(found, by_scale, strict=True):
                entries = np.repeat(np.arange(graph.n_nodes), np.diff(panel.offsets.astype(np.int64)))
                matrix[entries, j * width + panel.columns] = panel.values
    assert not any(matrix[:, graph.n_features :].any() for matrix in found)
    return [matrix[:, : graph.n_features] for matrix in found]


class TestPanels:
    ALL = (Scale((0,), 4), Scale((1,), 4), Scale((2,), 4), Scale((3,), 4), Scale((4,), 4))

    @pytest.mark.parametrize("weighted", [False, True])
    @pytest.mark.parametrize("values", [False, True])
    @pytest.mark.parametrize("q", [5, 64, 70])  # fewer than a panel, one panel, not a multiple
    def test_are_the_positive_entries_of_pmi_at_every_scale(self, weighted, values, q):
        graph = random_graph(40, q, weighted=weighted, values=values, isolated=3, seed=12)
        A, F = dense(graph)
        for scale, found in zip(self.ALL, exact_rows(graph, self.ALL, width=64), strict=True):
            np.testing.assert_allclose(found, positive_pmi(A, F, scale.hops), atol=3e-6)
            assert found.any()

    @pytest.mark.parametrize("hops", [(1, 2), (1, 2, 3), (2, 4)])
    def test_pool_hops_by_their_mean(self, hops):
        graph = random_graph(40, 20, weighted=True, isolated=3, seed=12)
        A, F = dense(graph)
        own, pooled = exact_rows(graph, [Scale((0,), 4), Scale(hops, 8)], width=16)
        np.testing.assert_allclose(own, positive_pmi(A, F, (0,)), atol=3e-6)
        np.testing.assert_allclose(pooled, positive_pmi(A, F, hops), atol=3e-6)

    def test_shift_lowers_every_entry_by_its_logarithm(self):
        graph = random_graph(40, 20, seed=12)
        (found,) = exact_rows(graph, [Scale((1,), 4)], width=16, shift=1.5)
        np.testing.assert_allclose(found, positive_pmi(*dense(graph), (1,), shift=1.5), atol=3e-6)
        assert found.any()

    def test_neither_order_nor_width_nor_threads_change_them(self):
        graph = random_graph(40, 70, weighted=True, seed=12)
        (expected,) = exact_rows(graph, [Scale((2,), 4)], width=64, n_jobs=1)
        for width, order, n_jobs in ((64, [1, 0], 2), (16, [3, 0, 4, 2, 1], 3)):
            (found,) = exact_rows(graph, [Scale((2,), 4)], width=width, order=order, n_jobs=n_jobs)
            np.testing.assert_array_equal(found, expected)

    def test_a_graph_of_more_rows_than_are_compressed_at_once(self):
        n = 4500
        ring = np.arange(n)
        features = np.zeros((n, 3))
        features[:, 0] = 1
        features[::2, 1] = 1
        features[-40:, 2] = 1
        one_way = sp.csr_array((np.ones(n), (ring, (ring + 1) % n)), shape=(n, n))
        graph = AttributedGraph(one_way + one_way.T, features)
        (found,) = exact_rows(graph, [Scale((1,), 3)], width=16)
        seen = (np.roll(features, 1, axis=0) + np.roll(features, -1, axis=0)) / 2
        np.testing.assert_allclose(found, np.log(np.maximum(seen / features.mean(axis=0), 1)), atol=3e-6)


def test_more_entries_than_a_panel_can_count_are_an_error(monkeypatch):
    monkeypatch.setattr(_native, "compress", lambda *_: 2**32)
    with pytest.raises(ParameterError, match="smaller memory_limit"):
        _compressed(np.zeros((4, 16), dtype=np.float32), np.ones(16, dtype=np.float32), 1.0)
