"""The sampled solver's rounds: which of them the vectors are a mean of."""

import numpy as np
import pytest

from hopscale import SGNS
from hopscale._core import _native
from hopscale.compute import Threads
from hopscale.solvers.shards import balanced_shards
from hopscale.solvers.training import LEAST_ROUNDS
from hopscale.walks import Scale, Transitions, WalkContext
from reference import random_graph


class CountingKernel:
    """Moves every vector to the number of the round: what comes back tells which rounds it is the mean of."""

    last = -1

    def __init__(self, *_, **__):
        pass

    def train(self, G, H, own, touches, nodes, visits, *, learning_rate, round, stop):  # noqa: A002
        CountingKernel.last = max(CountingKernel.last, round)
        G[:] = round
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
        assert rounds >= LEAST_ROUNDS
        assert (rounds > LEAST_ROUNDS) is (epochs > 1)
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


class TestShards:
    """Every node is in one shard, and no thread has to wait long for another."""

    @pytest.fixture
    def rng(self):
        return np.random.default_rng(0)

    @pytest.mark.parametrize("shards", [1, 3, 16])
    def test_have_about_as_many_visits_each(self, rng, shards):
        visits = np.maximum(8, rng.pareto(1.2, 20_000) * 50)
        visits[7] = visits.sum() / 40
        dealt = balanced_shards(visits, shards, rng)
        assert len(dealt) == shards
        assert np.array_equal(np.sort(np.concatenate(dealt)), np.arange(len(visits)))
        loads = [visits[nodes].sum() for nodes in dealt]
        assert max(loads) < 1.02 * np.mean(loads)

    @pytest.mark.parametrize("visits", [np.zeros(20), np.ones(3), np.array([1e9, *np.ones(19)]), np.eye(20)[4]])
    def test_of_few_nodes_or_visits_hold_all_nodes(self, rng, visits):
        dealt = balanced_shards(visits, min(16, len(visits)), rng)
        assert np.array_equal(np.sort(np.concatenate(dealt)), np.arange(len(visits)))

    def test_are_dealt_at_random(self, rng):
        dealt = balanced_shards(np.ones(1600), 16, rng)
        assert all(0 < np.mean(np.diff(nodes) < 0) < 1 for nodes in dealt)  # in no order
        assert all(len(np.unique(nodes // 100)) > 8 for nodes in dealt)  # from everywhere
