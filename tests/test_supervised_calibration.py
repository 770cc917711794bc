"""Probabilities that mean what they say."""

import numpy as np
import pytest
from supervised_models import quick

from hopscale import AttributedGraph, GraphClassifier
from hopscale.datasets import planted_blocks
from hopscale.supervised.calibration import as_probabilities, log_loss, temperature, with_temperature

P = np.random.default_rng(0).dirichlet([1, 1, 1], 400)
CLASSES = (np.random.default_rng(1).random((400, 1)) > P.cumsum(axis=1)).sum(axis=1)  # drawn with these probabilities


def calibration_error(p, classes, bins=8):
    """Expected calibration error: mean of |accuracy - confidence| over bins of equal size."""
    confidence, right = p.max(axis=1), p.argmax(axis=1) == classes
    parts = np.array_split(np.argsort(confidence), bins)
    return sum(len(rows) * abs(confidence[rows].mean() - right[rows].mean()) for rows in parts) / len(p)


class TestShares:
    """Scores as probabilities."""

    def test_probabilities_stay_as_they_are(self):
        assert as_probabilities(P) == pytest.approx(P, abs=1e-8)

    def test_scores_below_zero_say_how_far_off_the_others_may_be(self):
        """Of scores that add up to one, what is below zero is error: its mean is added to all."""
        found = as_probabilities(np.array([[0.5, -0.3, 0.8]]))
        assert found == pytest.approx(np.array([[0.6, 0.1, 0.9]]) / 1.6)

    def test_are_probabilities_with_the_same_winner(self):
        scores = np.random.default_rng(0).normal(size=(200, 4)) / 2
        scores += (1 - scores.sum(axis=1, keepdims=True)) / 4
        found = as_probabilities(scores)
        assert found.sum(axis=1) == pytest.approx(1)
        assert (found > 0).all()
        assert (found.argmax(axis=1) == scores.argmax(axis=1)).all()
        assert as_probabilities(np.zeros((1, 4))) == pytest.approx(np.full((1, 4), 0.25))


class TestTemperature:
    @pytest.mark.parametrize("T", [0.05, 0.5, 1.0, 3.0, 50.0])
    def test_a_temperature_is_a_power(self, T):
        found = with_temperature(P, T)
        power = P ** (1 / T)
        assert found.sum(axis=1) == pytest.approx(1)
        assert found == pytest.approx(power / power.sum(axis=1, keepdims=True), abs=1e-6)
        assert (found.argmax(axis=1) == P.argmax(axis=1)).all()

    def test_log_loss(self):
        assert log_loss(np.array([[0.25, 0.75], [1.0, 0.0]]), np.array([1, 0])) == pytest.approx(-np.log(0.75) / 2)
        assert np.isfinite(log_loss(np.array([[1.0, 0.0]]), np.array([1])))

    @pytest.mark.parametrize("true", [0.3, 1.0, 4.0])
    def test_has_the_least_log_loss(self, true):
        given = with_temperature(P, 1 / true)  # as over-confident, or as timid, as that
        found = temperature(given, CLASSES)
        grid = np.exp(np.linspace(-4, 4, 801))
        losses = [log_loss(with_temperature(given, T), CLASSES) for T in grid]
        assert log_loss(with_temperature(given, found), CLASSES) <= min(losses) + 1e-9
        assert found == pytest.approx(grid[np.argmin(losses)], rel=0.02)
        assert found == pytest.approx(true, rel=0.3)

    def test_probabilities_mean_what_they_say_afterwards(self):
        """Learnt on one half, tried on the other: where the probability is .8, four in five are of the class."""
        sharp = with_temperature(P, 0.25)
        calibrated = with_temperature(sharp, temperature(sharp[::2], CLASSES[::2]))
        before, after = (calibration_error(p[1::2], CLASSES[1::2]) for p in (sharp, calibrated))
        assert before > 0.15
        assert after < before / 2

    @pytest.mark.parametrize("right", [True, False])
    def test_probabilities_that_are_always_right_or_wrong_stay_finite(self, right):
        p = np.eye(2)[[0, 1, 0, 1]] * 0.98 + 0.01
        found = temperature(p, np.array([0, 1, 0, 1]) if right else np.array([1, 0, 1, 0]))
        assert 0 < found < np.inf
        assert np.isfinite(with_temperature(p, found)).all()


class TestClassifier:
    """Where probabilities of nodes that were not trained on are calibrated, no other temperature is much better."""

    GRAPH = planted_blocks(900, 3, 60, p_in=0.02, p_out=0.004, feature_p_in=0.1, feature_p_out=0.05)
    OTHER = AttributedGraph(GRAPH.adjacency, GRAPH.features, node_ids=[f"other {i}" for i in range(900)])
    TEST = np.flatnonzero(np.arange(900) % 3)

    @pytest.mark.parametrize("head", ["logistic", "kernel"])
    def test_is_calibrated_with_smoothing_and_without(self, head):
        model = quick(GraphClassifier, inputs="features", head=head).fit(self.GRAPH, train=np.arange(0, 900, 3))
        truth = self.GRAPH.labels[self.TEST]
        assert model.report_.chosen.smoothing.smooth  # which makes probabilities timid
        smoothed, head_alone = (model.predict_proba(graph)[self.TEST] for graph in (self.GRAPH, self.OTHER))
        for found in (smoothed, head_alone):
            assert 0.5 < temperature(found, truth) < 2.0
            assert found.max(axis=1).mean() == pytest.approx(np.mean(found.argmax(axis=1) == truth), abs=0.1)
            assert found.sum(axis=1) == pytest.approx(1)
        assert log_loss(smoothed, truth) < log_loss(head_alone, truth) - 0.1 < np.log(3) - 0.1
