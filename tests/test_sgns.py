"""The sampled solver's rounds: which of them the vectors are a mean of."""

import numpy as np
import pytest

from hopscale import SGNS
from hopscale._core import _native
from hopscale.compute import Threads
from hopscale.solvers import sgns
from hopscale.walks import Scale, Transitions, WalkContext
from reference import random_graph


class CountingKernel:
    """Moves every vector to the number of the round: what comes back tells which rounds it is the mean of."""

    last = -1

    def __init__(self, *_, **__):
        pass

    def train(self, G, H, own, touches, nodes, visits, *, learning_rate, round, stop):  # noqa: A002
        CountingKernel.last = max(CountingKernel.last, round)
        G[nodes] = round
        if own is not None:
            own[:], touches[:] = -round, 1
        return 0, -1


class TestTail:
    """Vectors are the mean over the last quarter of the rounds; at scale 0, where rounds are few, the last ones."""

    @pytest.fixture(autouse=True)
    def counting(self, monkeypatch):
        monkeypatch.setattr(_native, "SkipGram", CountingKernel)
        monkeypatch.setattr(CountingKernel, "last", -1)

    def solutions(self, scale, **settings):
        graph = random_graph(40, 12, density=0.15, seed=3)
        context, solver = WalkContext(Transitions(graph.adjacency), graph.features), SGNS(**settings)
        with Threads(2) as engine:
            fitted = solver.fit(context, [scale], engine, 0)
            rounds = CountingKernel.last + 1
            placed = solver.project(context, fitted, engine, 0)
        return rounds, fitted[0], placed[0]

    @pytest.mark.parametrize("epochs", [1, 400])
    def test_is_the_last_quarter(self, epochs):
        rounds, fitted, placed = self.solutions(Scale((1, 2), 3), walk_length=80, walks_per_node=10, epochs=epochs)
        assert rounds >= sgns.LEAST_ROUNDS
        assert (rounds > sgns.LEAST_ROUNDS) is (epochs > 1)
        mean = np.arange(rounds)[-(rounds // 4) :].mean()
        np.testing.assert_allclose(fitted.node_vectors, mean, rtol=1e-5)
        np.testing.assert_allclose(fitted.feature_vectors, -mean, rtol=1e-5)
        np.testing.assert_allclose(placed, mean, rtol=1e-5)

    def test_is_the_last_epoch_of_a_node_s_own_features(self):
        rounds, fitted, placed = self.solutions(Scale((0,), 3), epochs=6)
        assert rounds == 6
        assert (fitted.node_vectors == 5).all()
        assert (fitted.feature_vectors == -5).all()
        assert (placed == 5).all()
