"""The sampled solver: skip-gram with negative sampling on node-feature pairs of random walks.

The paper's Algorithms 1 and 2, streaming: no walk and no pair is ever stored. Nodes are split into a fixed
number of shards. In a round every shard trains its own nodes against its own copy of the feature vectors;
the copies are then averaged in shard order. Rows of nodes are disjoint and rounds are barriers, so nothing
races and the result has the same bits for any number of threads.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hopscale._core import _native
from hopscale.exceptions import DivergenceError
from hopscale.pairs import Pairs, Scale
from hopscale.parallel import Workers
from hopscale.solvers.result import Solution
from hopscale.solvers.tables import Array, padded, table_of, zero_table
from hopscale.walks import NoiseTable, Start, expected_visits

__all__ = ["MAX_NEGATIVES", "SGNSSolver"]

_Copy = tuple[Array, NDArray[np.uint32], int]  # a shard's features, updates of each, pairs seen

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
class SGNSSolver:
    """Trains vectors whose products estimate PMI − log b.

    Parameters
    ----------
    walk_length, walks_per_node, window, epochs : int
        Together they say how many pairs are seen: each walk has ``walk_length - window`` source
        positions, each gives pairs in both directions.
    negatives : int
        Noise features per pair, b.
    learning_rate, min_learning_rate : float
        First and last rate; linear in between.
    start : {"degree", "node"}
    noise_exponent : float
        Noise is drawn in proportion to p(f) to this power.
    subsample : float
        Frequent features are kept with probability √(subsample/p) + subsample/p, p their share of all
        pairs; 0 keeps all.
    share_negatives : bool
        Let small batches of pairs share their noise; see ``BATCH``.
    seed : int
    """

    walk_length: int
    walks_per_node: int
    window: int
    epochs: int
    negatives: int
    learning_rate: float = 0.05
    min_learning_rate: float = 0.025
    start: Start = "degree"
    noise_exponent: float = 1.0
    subsample: float = 0.0
    share_negatives: bool = True
    seed: int = 0

    def fit(self, pairs: Pairs, scales: Sequence[Scale], workers: Workers) -> list[Solution]:
        """Solutions of all scales, trained one after the other."""
        return [self._train(pairs, scale, None, workers) for scale in scales]

    def project(self, pairs: Pairs, solution: Solution, workers: Workers) -> Array:
        """Vectors of the nodes of another graph: the same training with the features' vectors frozen."""
        return self._train(pairs, solution.scale, solution, workers).node_vectors

    def _train(self, pairs: Pairs, scale: Scale, frozen: Solution | None, workers: Workers) -> Solution:
        probability = frozen.feature_probability if frozen else pairs.feature_probability(scale)
        visits = self._visits(pairs, scale)
        task = _Task(self, pairs, scale, probability, visits, workers)
        d = scale.dimensions
        G = table_of(_initial(pairs.n_nodes, d, self.seed, scale))
        G[visits == 0] = 0.0  # never trained: noise would pass for knowledge
        if frozen:
            H = table_of(frozen.feature_vectors)
            task.place(G, H)
        else:
            H = task.train(G, zero_table(pairs.n_features, padded(d)))
        return Solution(
            scale,
            node_vectors=np.ascontiguousarray(G[:, :d]),
            feature_vectors=np.ascontiguousarray(H[:, :d]),
            feature_probability=probability,
            rows=f"{task.pairs_seen:,} pairs of walks",
        )

    def _visits(self, pairs: Pairs, scale: Scale) -> NDArray[np.float64]:
        """Expected number of visits of each node over the whole training."""
        if scale.is_self:  # a pass over every node's own features each epoch, as in the authors' code
            return np.where(pairs.sees_features(scale), float(self.epochs), 0.0)
        positions = self.walk_length - self.window
        once = expected_visits(
            pairs.adjacency, start=self.start, walks_per_node=self.walks_per_node, positions=positions
        )
        # Either side of the source. Nodes that never meet a feature are not visited: there is nothing to learn.
        seen = pairs.sees_features(scale) & (once > 0)
        return np.where(seen, np.maximum(2.0 * self.epochs * once, LEAST_VISITS), 0.0)


class _Task:
    """One scale's training: everything that stays the same from round to round."""

    def __init__(
        self,
        solver: SGNSSolver,
        pairs: Pairs,
        scale: Scale,
        probability: NDArray[np.float64],
        visits: NDArray[np.float64],
        workers: Workers,
    ) -> None:
        self.solver, self.scale, self.workers, self.visits = solver, scale, workers, visits
        random = np.random.default_rng([solver.seed, scale.hops[-1], 2])
        n = pairs.n_nodes
        order = random.permutation(n).astype(np.int32)
        # A few passes over the nodes' own features are too few updates to be averaged over shards (R² on
        # wiki-chameleon .53 in one shard, .31 in 16), and too little work to need threads.
        shards = 1 if scale.is_self else min(SHARDS, n)
        self.rounds = solver.epochs if scale.is_self else _rounds(pairs, scale, visits)
        self.shards = [np.ascontiguousarray(order[s::shards]) for s in range(shards)]
        self.offset = random.random(n)
        self.tail = 1 if scale.is_self else int(self.rounds * TAIL)
        noise = NoiseTable.of(np.where(probability > 0, probability**solver.noise_exponent, 0.0))
        batch, shared = self._batch()
        self.native = _native.SkipGram(
            pairs.walks.native,
            pairs.native_context,
            noise.native,
            hops=scale.mask,
            negatives=solver.negatives,
            batch=batch,
            shared=shared,
            seed=solver.seed,
            scale=scale.hops[-1],
            counts=_expected_counts(pairs),
            keep=_keep_probability(probability, solver.subsample),
        )
        self.pairs_seen = 0
        self._spare: deque[tuple[Array, NDArray[np.uint32]]] = deque()

    def _batch(self) -> tuple[int, int]:
        """Positives per batch, and noise features drawn for them."""
        negatives = self.solver.negatives
        if self.scale.is_self:  # few updates, and worth little time: pair by pair
            return 1, negatives
        if self.solver.share_negatives:
            return BATCH, min(MAX_NEGATIVES, max(1, round(BATCH * negatives / SHARED_WEIGHT)))
        own = max(1, min(OWN_BATCH, MAX_NEGATIVES // negatives))
        return own, own * negatives

    def train(self, G: Array, H: Array) -> Array:
        """All rounds; G is trained in place, the features' vectors are returned."""
        mean_G, mean_H = np.zeros_like(G), np.zeros_like(H)
        with self.workers.bar(self.rounds, f"scale {self.scale.label}: train", "round") as bar:
            for round_ in range(self.rounds):

                def shard(nodes: NDArray[np.int32], round_: int = round_, H: Array = H) -> _Copy:
                    own, touches = self._own(H)
                    return own, touches, self._run(nodes, round_, G, H, own, touches)

                H = self._average(H, self.workers.map(shard, self.shards))
                if round_ >= self.rounds - self.tail:
                    mean_G += G
                    mean_H += H
                bar.update(1)
        np.divide(mean_G, self.tail, out=G)
        mean_H /= self.tail
        return mean_H

    def place(self, G: Array, H: Array) -> None:
        """All rounds with frozen features: nodes are independent, so shards need not wait for each other."""

        def shard(nodes: NDArray[np.int32]) -> int:
            mean, seen = np.zeros((len(nodes), G.shape[1]), dtype=np.float32), 0
            for round_ in range(self.rounds):
                seen += self._run(nodes, round_, G, H, None, None)
                if round_ >= self.rounds - self.tail:
                    mean += G[nodes]
            G[nodes] = mean / np.float32(self.tail)
            return seen

        with self.workers.bar(len(self.shards), f"scale {self.scale.label}: place", "shard") as bar:
            for seen in self.workers.map(shard, self.shards):
                self.pairs_seen += seen
                bar.update(1)

    def _own(self, H: Array) -> tuple[Array, NDArray[np.uint32]]:
        """Room for a shard's own features, copied as they are met, and for its count of updates."""
        try:
            own, touches = self._spare.pop()  # used before
        except IndexError:
            return zero_table(*H.shape), np.zeros(len(H), dtype=np.uint32)
        touches.fill(0)
        return own, touches

    def _average(self, before: Array, copies: Iterator[_Copy]) -> Array:
        """Mean of the shards' copies, each feature weighted by how often a shard updated it.

        A feature that only one shard has seen moves as far as that shard moved it; plain averaging would
        shorten its step by the number of shards.
        """
        total = zero_table(*before.shape)
        count = np.zeros(len(before))
        for own, touches, seen in copies:
            _native.accumulate(own, touches, total)
            count += touches
            self.pairs_seen += seen
            self._spare.append((own, touches))
        updated = count > 0
        total *= np.divide(1.0, count, out=np.zeros_like(count), where=updated).astype(np.float32)[:, None]
        total[~updated] = before[~updated]
        return total

    def _run(
        self,
        nodes: NDArray[np.int32],
        round_: int,
        G: Array,
        H: Array,
        own: Array | None,
        touches: NDArray[np.uint32] | None,
    ) -> int:
        """Train some nodes for a round, and with them their own copy of H if there is one; returns the pairs."""
        solver = self.solver
        # Visits are spread evenly over the rounds, not drawn: with few of them the noise in their
        # number would cost more than anything else.
        rate, offset = self.visits[nodes] / self.rounds, self.offset[nodes]
        visits = np.floor((round_ + 1) * rate + offset) - np.floor(round_ * rate + offset)
        progress = round_ / max(1, self.rounds - 1)
        learning_rate = solver.learning_rate + progress * (solver.min_learning_rate - solver.learning_rate)
        seen, wrong = self.native.train(
            G,
            H,
            own,
            touches,
            nodes,
            visits.astype(np.int64),
            learning_rate=learning_rate,
            round=round_,
            stop=self.workers.stop,
        )
        if wrong >= 0:
            raise DivergenceError(
                f"training diverged at scale {self.scale.label} in round {round_ + 1} of {self.rounds} (node "
                f"row {wrong}): try a smaller learning_rate than {solver.learning_rate}"
            )
        return seen


def _rounds(pairs: Pairs, scale: Scale, visits: NDArray[np.float64]) -> int:
    """Rounds in which a shard updates a feature about ``UPDATES_PER_ROUND`` times."""
    per_visit = len(scale.hops) * pairs.context.nnz / max(1, pairs.n_nodes)
    updates = visits.sum() * per_visit / SHARDS / max(1, pairs.n_features)
    return int(np.clip(np.ceil(updates / UPDATES_PER_ROUND), LEAST_ROUNDS, MOST_ROUNDS))


def _initial(n: int, d: int, seed: int, scale: Scale) -> Array:
    """word2vec's start: uniform in ±1/(2d)."""
    random = np.random.default_rng([seed, scale.hops[-1], 1])
    return (random.random((n, d), dtype=np.float32) - np.float32(0.5)) / np.float32(d)


def _expected_counts(pairs: Pairs) -> NDArray[np.float32] | None:
    """How often an entry of the context is a positive at a visit: its value over the mean value."""
    values = pairs.context.data
    if not values.size or np.all(values == values[0]):
        return None
    return (values / np.float32(values.mean(dtype=np.float64))).astype(np.float32)


def _keep_probability(probability: NDArray[np.float64], subsample: float) -> NDArray[np.float32] | None:
    """word2vec's sub-sampling of what is frequent among all pairs."""
    if not subsample:
        return None
    share = probability / max(probability.sum(), 1e-300)
    ratio = np.divide(subsample, share, out=np.ones_like(share), where=share > 0)
    return np.minimum(1.0, np.sqrt(ratio) + ratio).astype(np.float32)
