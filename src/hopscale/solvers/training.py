"""How much training a scale takes, from counts alone: visits, rounds, batches and pairs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from hopscale.solvers.costs import Work, training
from hopscale.walks import Scale, WalkSize

if TYPE_CHECKING:
    from hopscale.solvers.sgns import SGNS

__all__ = [
    "LEAST_VISITS",
    "MAX_NEGATIVES",
    "SHARED_WEIGHT",
    "TAIL",
    "TrainingCounts",
    "batch_of",
    "expected_visits",
    "rounds_of",
]

SHARDS = 16
# Rounds: enough that a feature has few updates in a shard between two averages, or the shards drift apart.
LEAST_ROUNDS, MOST_ROUNDS = 100, 2000
UPDATES_PER_ROUND = 64
# Share of the rounds, the last ones, over which vectors are averaged: the steps' noise then averages out instead of
# staying in the result, with or without shared negatives.
TAIL = 0.25
# Positives that meet a node's row together, and how much a noise feature may weigh that they share. Without
# sharing every positive has its own noise, and the batch only keeps the processor busy.
BATCH = 8
SHARED_WEIGHT = 4.0
OWN_BATCH = 4
LEAST_VISITS = 8  # of a node, however small its share: its random start must not pass for its vector
MAX_NEGATIVES = 64  # what the kernel holds at once


@dataclass(frozen=True)
class TrainingCounts:
    """What the training of one scale is made of; ``visits`` are those of all nodes, over the whole training."""

    solver: SGNS
    size: WalkSize
    scale: Scale
    visits: float

    @property
    def shards(self) -> int:
        """Parts of the nodes, each trained against its own copy of the features.

        A few passes over the nodes' own features are too few updates to be averaged over shards (R² on wiki-chameleon
        .53 in one shard, .31 in 16), and too little work to need threads.
        """
        return 1 if self.scale.is_self else min(SHARDS, self.size.n_nodes)

    @property
    def rounds(self) -> int:
        """Rounds in which a shard updates a feature about ``UPDATES_PER_ROUND`` times."""
        if self.scale.is_self:
            return self.solver.epochs
        return rounds_of(self.pairs / SHARDS, self.size.n_features)

    @property
    def tail(self) -> int:
        """Rounds that vectors are averaged over."""
        return 1 if self.scale.is_self else int(self.rounds * TAIL)

    @property
    def pairs(self) -> float:
        """Pairs that the whole training sees, about."""
        return self.visits * len(self.scale.hops) * self.size.entries / max(1, self.size.n_nodes)

    @property
    def updates(self) -> int:
        """Updates of features' rows, as far as is known."""
        batch, shared = batch_of(self.solver, self.scale)
        return int(self.pairs * (batch + shared) / batch) + 1

    @property
    def work(self) -> Work:
        """What it costs."""
        return training(
            self.size,
            self.scale,
            visits=self.visits,
            rounds=self.rounds,
            shards=self.shards,
            updates=float(self.updates),
            tail=self.tail,
        )


def rounds_of(pairs: float, n_features: int, most_positives: float = UPDATES_PER_ROUND) -> int:
    """Rounds for a shard of so many pairs: as many as leave a feature so many positives in each."""
    positives = pairs / max(1, n_features)
    return int(np.clip(np.ceil(positives / most_positives), LEAST_ROUNDS, MOST_ROUNDS))


def batch_of(solver: SGNS, scale: Scale) -> tuple[int, int]:
    """Positives per batch, and noise features drawn for them."""
    negatives = solver.negatives
    if scale.is_self:  # few updates, and worth little time: pair by pair
        return 1, negatives
    if solver.share_negatives:
        return BATCH, min(MAX_NEGATIVES, max(1, round(BATCH * negatives / SHARED_WEIGHT)))
    own = max(1, min(OWN_BATCH, MAX_NEGATIVES // negatives))
    return own, own * negatives


def expected_visits(solver: SGNS, size: WalkSize, scale: Scale, window: int) -> float:
    """Visits of all nodes, from counts: either side of the source at every position of every walk."""
    if scale.is_self:
        return float(solver.epochs) * size.n_nodes
    once = float(solver.walks_per_node) * (solver.walk_length - window)
    return size.n_nodes * max(2.0 * solver.epochs * once, float(LEAST_VISITS))
