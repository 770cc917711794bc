"""Correct and Smooth against the dense fixed point."""

import numpy as np
import pytest
import scipy.sparse as sp

from hopscale.compute import Threads
from hopscale.supervised.smoothing import Smoothing, corrected, smoothed, symmetric_transitions, transitions
from reference import random_graph

GRAPH = random_graph(40, 5, weighted=True, isolated=3)
A = GRAPH.adjacency.toarray().astype(float)
ISOLATED = slice(37, 40)


def dense_steps(kind):
    degrees = np.where(A.sum(axis=1) > 0, A.sum(axis=1), 1)
    S = A / np.sqrt(np.outer(degrees, degrees)) if kind is symmetric_transitions else A / degrees[:, None]
    return S + np.diag(A.sum(axis=1) == 0)


def fixed_point(S, x, share):
    """(1 - α)·(I - αS)⁻¹·x."""
    return (1 - share) * np.linalg.solve(np.eye(len(S)) - share * S, x)


def found(kind, base, known, targets, residuals, how):
    with Threads(1) as engine:
        S = engine.sparse(kind(GRAPH.adjacency))
        outputs = corrected(S, base, known, residuals, how.correct, engine)
        return smoothed(S, outputs, known, targets, how.smooth, engine)


@pytest.mark.parametrize("kind", [symmetric_transitions, transitions])
class TestCorrectAndSmooth:
    BASE, TARGETS, RESIDUALS = np.random.default_rng(0).random((3, 40, 2))
    KNOWN = np.arange(40) % 3 == 0

    def test_one_step(self, kind):
        assert kind(GRAPH.adjacency).toarray() == pytest.approx(dense_steps(kind))

    @pytest.mark.parametrize("how", [Smoothing(0.5, 0), Smoothing(0, 0.7), Smoothing(0.8, 0.3)], ids=str)
    def test_is_the_fixed_point(self, kind, how):
        S = dense_steps(kind)
        expected = self.BASE
        if how.correct:
            errors = np.where(self.KNOWN[:, None], self.RESIDUALS, 0)
            expected = expected + fixed_point(S, errors, how.correct)
        if how.smooth:
            expected = fixed_point(S, np.where(self.KNOWN[:, None], self.TARGETS, expected), how.smooth)
        here = found(kind, self.BASE, self.KNOWN, self.TARGETS, self.RESIDUALS, how)
        assert here == pytest.approx(expected, abs=0.01)
        assert np.abs(expected - self.BASE).max() > 0.1

    def test_only_what_is_known_is_used(self, kind):
        how = Smoothing(0.5, 0.5)
        here = found(kind, self.BASE, self.KNOWN, self.TARGETS, self.RESIDUALS, how)
        targets, residuals = (np.where(self.KNOWN[:, None], x, np.nan) for x in (self.TARGETS, self.RESIDUALS))
        assert found(kind, self.BASE, self.KNOWN, targets, residuals, how).tobytes() == here.tobytes()

    def test_what_is_known_may_differ_by_column(self, kind):
        """As in cross-validation, where the folds stand side by side."""
        how, known = Smoothing(0.5, 0.5), np.column_stack([self.KNOWN, ~self.KNOWN])
        both = found(kind, self.BASE, known, self.TARGETS, self.RESIDUALS, how)
        for column in (0, 1):
            one = [x[:, [column]] for x in (self.TARGETS, self.RESIDUALS)]
            alone = found(kind, self.BASE[:, [column]], known[:, column], *one, how)
            assert both[:, [column]] == pytest.approx(alone, abs=1e-6)

    def test_isolated_nodes_keep_what_they_have(self, kind):
        how = Smoothing(0.5, 0.5)
        here = found(kind, self.BASE, np.zeros(40, bool), self.TARGETS, self.RESIDUALS, how)
        assert here[ISOLATED] == pytest.approx(self.BASE[ISOLATED], abs=1e-6)
        known = np.zeros(40, bool)
        known[ISOLATED] = True
        here = found(kind, self.BASE, known, self.TARGETS, self.RESIDUALS, how)
        assert here[ISOLATED] == pytest.approx(self.TARGETS[ISOLATED], abs=1e-6)

    @pytest.mark.parametrize("unit", [1e-45, 1e45])
    def test_the_unit_of_values_makes_no_difference(self, kind, unit):
        """Single precision holds neither."""
        how = Smoothing(0.5, 0.5)
        here = found(kind, self.BASE, self.KNOWN, self.TARGETS, self.RESIDUALS, how)
        base, targets, residuals = (x * unit for x in (self.BASE, self.TARGETS, self.RESIDUALS))
        there = found(kind, base, self.KNOWN, targets, residuals, how)
        assert there / unit == pytest.approx(here, rel=1e-5)

    def test_nothing_to_spread(self, kind):
        zeros = np.zeros((40, 1))
        assert not found(kind, zeros, self.KNOWN, zeros, zeros, Smoothing(0.5, 0.5)).any()


def test_means_of_neighbours_leave_a_constant_alone():
    ones = np.ones((40, 1))
    assert found(transitions, ones, np.zeros(40, bool), ones, ones, Smoothing(0, 0.7)) == pytest.approx(ones, abs=1e-6)


def test_a_graph_without_edges_is_left_alone():
    assert symmetric_transitions(sp.csr_array((3, 3))).toarray() == pytest.approx(np.eye(3))
