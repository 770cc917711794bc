"""Exact rows that are streamed: products in half precision against dense matrices, and fits against held rows."""

import numpy as np
import pytest

from hopscale import AttributedGraph
from hopscale.compute import Threads
from hopscale.walks import Scale, Transitions, WalkContext, sweep
from hopscale.walks.sweep import WIDTHS, Sweep
from reference import dense, feature_probability, positive_pmi, random_graph

HALF = 2.0**-11  # relative error of a number that is rounded to half precision
SEPARATE = ((1,), (2,), (3,))


def graph_of(q=70, **changes):
    """A graph with isolated nodes, a feature of such a node alone, and one of no node."""
    graph = random_graph(60, q, **({"isolated": 3, "seed": 12} | changes))
    F = graph.features.toarray()
    F[:, [4, 5]] = 0
    F[-1, 4] = 1
    return AttributedGraph(graph.adjacency, F)


def scaling_of(graph, hops):
    p = feature_probability(*dense(graph), hops)
    return np.divide(1.0, p, out=np.zeros_like(p), where=p > 0).astype(np.float32)


def products(graph, groups, *, width=64, power=1.0, n_jobs=2, bases=None):
    """M·basis of each group of hops; M itself where there is no basis."""
    context = WalkContext(Transitions(graph.adjacency), graph.features)
    scales = [Scale(hops, 4) for hops in groups]
    bases = bases or [np.eye(graph.n_features, dtype=np.float32) for _ in groups]
    with Threads(n_jobs) as engine:
        return Sweep(context, engine, power, width).products(scales, [scaling_of(graph, g) for g in groups], bases)


def tolerance(hops, power=1.0):
    """Most that an entry errs by: a hop, and a sum over hops, may round each number once, and so may the first block.

    A ratio's logarithm errs by as much as the ratio, relatively; a power of at most one of two numbers that are δ apart
    is δ to that power apart at most.
    """
    return (2 * hops[-1] * HALF + 1e-5) ** power


class TestProducts:
    def test_a_feature_of_every_node_has_no_entry(self):
        """Its ratios are one; half precision, which does not hold 0.7, would put some of them above."""
        graph = AttributedGraph(graph_of(isolated=0).adjacency, np.full((60, 1), 0.7))
        for found in products(graph, SEPARATE[1:]):
            assert not found.any()

    @pytest.mark.parametrize("weighted", [False, True])
    @pytest.mark.parametrize("values", [False, True])
    @pytest.mark.parametrize("groups", [SEPARATE, ((1, 2, 3),), ((1,),), ((1, 2),), ((2,),), ((1, 2), (1, 2, 3, 4))])
    @pytest.mark.parametrize("entries", [0, 16, 10**9])  # all panels sparse after one hop, those that are, and none
    def test_are_the_positive_entries_of_pmi(self, monkeypatch, weighted, values, groups, entries):
        monkeypatch.setattr(sweep, "SPARSE", entries)
        graph = graph_of(weighted=weighted, values=values)
        for hops, found in zip(groups, products(graph, groups), strict=True):
            expected = positive_pmi(*dense(graph), hops)
            np.testing.assert_allclose(found, expected, atol=tolerance(hops) if hops[-1] > 1 else 1e-5)
            assert found.any(axis=1)[:-3].all()
            assert not found[-3:].any()
            assert not found[:, [4, 5]].any()

    @pytest.mark.parametrize("width", WIDTHS)
    @pytest.mark.parametrize("groups", [SEPARATE, ((1, 2, 3),)])
    def test_in_panels_of_every_width(self, width, groups):
        graph = graph_of(300, weighted=True)
        for hops, found in zip(groups, products(graph, groups, width=width), strict=True):
            np.testing.assert_allclose(found, positive_pmi(*dense(graph), hops), atol=tolerance(hops))
            assert found.any()

    @pytest.mark.parametrize("power", [0.5, 0.7])
    @pytest.mark.parametrize("groups", [SEPARATE, ((1, 2, 3),)])
    def test_of_powers(self, power, groups):
        graph = graph_of(weighted=True)
        for hops, found in zip(groups, products(graph, groups, power=power), strict=True):
            expected = positive_pmi(*dense(graph), hops) ** power
            np.testing.assert_allclose(found, expected, atol=tolerance(hops, power))
            # Near one the power is steep; elsewhere it is as right as the logarithm.
            large = expected > 0.2
            assert large.any()
            np.testing.assert_allclose(found[large], expected[large], atol=3 * tolerance(hops))

    @pytest.mark.parametrize("dimensions", [(1, 20, 128), (43, 43, 42)])
    def test_with_matrices_of_other_dimensions(self, rng, dimensions):
        graph = graph_of(300)
        bases = [rng.standard_normal((300, d), dtype=np.float32) for d in dimensions]
        matrices = products(graph, SEPARATE)  # the tests above say how far from theory these are
        for M, basis, found in zip(matrices, bases, products(graph, SEPARATE, bases=bases), strict=True):
            np.testing.assert_allclose(found, M.astype(float) @ basis, rtol=1e-4, atol=2e-5)

    @pytest.mark.parametrize("groups", [SEPARATE, ((1, 2, 3),)])
    def test_threads_do_not_change_a_bit(self, monkeypatch, groups):
        graph = graph_of(300, weighted=True)
        expected = products(graph, groups, n_jobs=1)
        monkeypatch.setattr(sweep, "LEAST_PIECE", 7)  # so that every thread has some
        for n_jobs in (1, 2, 3):
            for found, one in zip(products(graph, groups, n_jobs=n_jobs), expected, strict=True):
                assert np.array_equal(found, one)

    def test_units_of_features_do_not_change_a_bit(self):
        graph = graph_of(values=True)
        units = np.ldexp(1.0, np.random.default_rng(0).integers(-60, 60, 70))
        other = AttributedGraph(graph.adjacency, dense(graph)[1] * units)
        for one, two in zip(products(graph, SEPARATE), products(other, SEPARATE), strict=True):
            assert np.array_equal(one, two)

    def test_weights_of_any_size(self):
        """Edges whose weights no single unit of float32 holds: P is what counts."""
        graph = graph_of(weighted=True)
        A, F = dense(graph)
        D = np.ldexp(1.0, np.random.default_rng(0).integers(-50, 50, 60))
        wide = AttributedGraph(D[:, None] * A * D, F)
        p = {hops: feature_probability(*dense(wide), hops) for hops in SEPARATE}
        assert min(each[each > 0].min() for each in p.values()) < 1e-10  # which half precision cannot hold:
        context = WalkContext(Transitions(wide.adjacency), wide.features)
        assert not Sweep(context, Threads(1)).holds(scaling_of(wide, (1,)))
        # Those features that it can hold are right all the same.
        held = p[(3,)] > 2.0**-20
        assert 0 < held.sum() < 70
        for hops, found in zip(SEPARATE, products(wide, SEPARATE), strict=True):
            expected = positive_pmi(*dense(wide), hops)[:, held]
            np.testing.assert_allclose(found[:, held], expected, atol=tolerance(hops))


class TestWhatCanBeStreamed:
    @pytest.mark.parametrize(("share", "holds"), [(2.0**-21, True), (2.0**-25, False)])
    def test_features_too_rare_for_half_precision_cannot(self, share, holds):
        """A ratio of one is p(f) in the unit of the feature's largest value; below 2⁻¹⁴ halves lose digits."""
        A = np.zeros((8, 8))
        A[:6, :6] = 1 - np.eye(6)
        A[0, 6] = A[6, 0] = A[1, 7] = A[7, 1] = 30 * share
        F = np.zeros((8, 3))
        F[:4, 0] = F[3:7, 1] = 1
        graph = AttributedGraph(A, F)
        context = WalkContext(Transitions(graph.adjacency), graph.features)
        with Threads(1) as engine:
            assert Sweep(context, engine).holds(scaling_of(graph, (2,)))
            F[:, 2] = 0
            F[6, 2] = 1
            graph = AttributedGraph(A, F)
            context = WalkContext(Transitions(graph.adjacency), graph.features)
            assert feature_probability(*dense(graph), (2,))[2] == pytest.approx(share, rel=0.1)
            assert Sweep(context, engine).holds(scaling_of(graph, (2,))) is holds

    @pytest.mark.parametrize("hops", [(1, 3), (2, 3), (0, 1), (0,)])
    def test_other_groups_of_hops_cannot(self, hops):
        assert not Sweep.serves(Scale(hops, 4))
        assert Sweep.serves(Scale((hops[-1] + 1,), 4))
        assert Sweep.serves(Scale(tuple(range(1, 5)), 4))
