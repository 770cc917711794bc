"""Correct and Smooth against the dense fixed point, and probabilities that mean what they say."""

import numpy as np
import pytest
import scipy.sparse as sp

from hopscale.compute import Threads
from hopscale.supervised.calibration import log_loss, shares, sharpened, temperature
from hopscale.supervised.smoothing import Smoothing, corrected, smoothed, steps, symmetric_steps
from reference import random_graph

GRAPH = random_graph(40, 5, weighted=True, isolated=3)
A = GRAPH.adjacency.toarray().astype(float)
ISOLATED = slice(37, 40)


def dense_steps(kind):
    degrees = np.where(A.sum(axis=1) > 0, A.sum(axis=1), 1)
    S = A / np.sqrt(np.outer(degrees, degrees)) if kind is symmetric_steps else A / degrees[:, None]
    return S + np.diag(A.sum(axis=1) == 0)


def fixed_point(S, x, share):
    """(1 - α)·(I - αS)⁻¹·x."""
    return (1 - share) * np.linalg.solve(np.eye(len(S)) - share * S, x)


def found(kind, base, known, targets, residuals, how):
    with Threads(1) as engine:
        S = engine.sparse(kind(GRAPH.adjacency))
        outputs = corrected(S, base, known, residuals, how.correct, engine)
        return smoothed(S, outputs, known, targets, how.smooth, engine)


@pytest.mark.parametrize("kind", [symmetric_steps, steps])
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
        there = found(
            kind, *(x * unit for x in (self.BASE,)), self.KNOWN, self.TARGETS * unit, self.RESIDUALS * unit, how
        )
        assert there / unit == pytest.approx(here, rel=1e-5)

    def test_nothing_to_spread(self, kind):
        zeros = np.zeros((40, 1))
        assert not found(kind, zeros, self.KNOWN, zeros, zeros, Smoothing(0.5, 0.5)).any()


def test_means_of_neighbours_leave_a_constant_alone():
    ones = np.ones((40, 1))
    assert found(steps, ones, np.zeros(40, bool), ones, ones, Smoothing(0, 0.7)) == pytest.approx(ones, abs=1e-6)


def test_a_graph_without_edges_is_left_alone():
    assert symmetric_steps(sp.csr_array((3, 3))).toarray() == pytest.approx(np.eye(3))


class TestCalibration:
    P = np.random.default_rng(0).dirichlet([1, 1, 1], 400)
    CLASSES = np.array([np.random.default_rng(i).choice(3, p=p) for i, p in enumerate(P)])

    def test_shares_are_probabilities(self):
        found = shares(np.array([[0.5, -0.2, 0.7], [0.0, 0.0, 0.0]]))
        assert found.sum(axis=1) == pytest.approx(1)
        assert (found >= 0).all()
        assert found[0] == pytest.approx([5 / 12, 0, 7 / 12], abs=1e-6)
        assert found[1] == pytest.approx(1 / 3)

    @pytest.mark.parametrize("T", [0.05, 0.5, 1.0, 3.0, 50.0])
    def test_sharpened_is_a_power(self, T):
        found = sharpened(self.P, T)
        power = self.P ** (1 / T)
        assert found.sum(axis=1) == pytest.approx(1)
        assert found == pytest.approx(power / power.sum(axis=1, keepdims=True), abs=1e-6)
        assert (found.argmax(axis=1) == self.P.argmax(axis=1)).all()

    def test_log_loss(self):
        assert log_loss(np.array([[0.25, 0.75], [1.0, 0.0]]), np.array([1, 0])) == pytest.approx(-np.log(0.75) / 2)
        assert np.isfinite(log_loss(np.array([[1.0, 0.0]]), np.array([1])))

    @pytest.mark.parametrize("true", [0.3, 1.0, 4.0])
    def test_the_temperature_has_the_least_log_loss(self, true):
        given = sharpened(self.P, 1 / true)  # as over-confident, or as timid, as that
        found = temperature(given, self.CLASSES)
        grid = np.exp(np.linspace(-4, 4, 801))
        losses = [log_loss(sharpened(given, T), self.CLASSES) for T in grid]
        assert log_loss(sharpened(given, found), self.CLASSES) <= min(losses) + 1e-9
        assert found == pytest.approx(grid[np.argmin(losses)], rel=0.02)
        assert found == pytest.approx(true, rel=0.3)

    def test_probabilities_mean_what_they_say_afterwards(self):
        """Learnt on one half, tried on the other: where the probability is .8, four in five are of the class."""
        sharp = sharpened(self.P, 0.25)
        calibrated = sharpened(sharp, temperature(sharp[::2], self.CLASSES[::2]))
        before, after = (calibration_error(p[1::2], self.CLASSES[1::2]) for p in (sharp, calibrated))
        assert before > 0.15
        assert after < before / 2

    @pytest.mark.parametrize("right", [True, False])
    def test_probabilities_that_are_always_right_or_wrong_stay_finite(self, right):
        p = np.eye(2)[[0, 1, 0, 1]] * 0.98 + 0.01
        found = temperature(p, np.array([0, 1, 0, 1]) if right else np.array([1, 0, 1, 0]))
        assert 0 < found < np.inf
        assert np.isfinite(sharpened(p, found)).all()


def calibration_error(p, classes, bins=8):
    """Expected calibration error: mean of |accuracy - confidence| over bins of equal size."""
    confidence, right = p.max(axis=1), p.argmax(axis=1) == classes
    parts = np.array_split(np.argsort(confidence), bins)
    return sum(len(rows) * abs(confidence[rows].mean() - right[rows].mean()) for rows in parts) / len(p)
