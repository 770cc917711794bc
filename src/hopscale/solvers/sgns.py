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
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from hopscale._core import _native
from hopscale.checks import choice, number, parameter, switch, whole
from hopscale.compute import Threads
from hopscale.compute.aligned import Floats, aligned, aligned_zeros
from hopscale.exceptions import DivergenceError, ParameterError, Setting
from hopscale.solvers.base import MOST_NOISE, Solution, Solver
from hopscale.walks import Scale, Start, WalkContext
from hopscale.walks.sampling import noise_layout
from hopscale.walks.transitions import in_unit

__all__ = ["SGNS"]

_Copy = tuple[Floats, NDArray[np.uint32], int]  # a shard's features, updates of each, pairs seen

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
MAX_STEPS = 2**31 - 1  # of all walks from a node


@dataclass(kw_only=True, eq=False, repr=False)
class SGNS(Solver):
    """Skip-gram with negative sampling: trains vectors whose products estimate PMI − log b.

    Parameters
    ----------
    walk_length : int, default=80
        Length of the walks, l.
    walks_per_node : int, default=10
        Number of walks a node, p.
    start : {"degree", "node"}, default="degree"
        Start walks at nodes drawn in proportion to their degree (the paper's algorithm), or ``walks_per_node`` at every
        node (the authors' code).
    epochs : int, default=5
        Passes over as many pairs as the walks have.
    negatives : int, default=5
        Noise features per pair, b.
    share_negatives : bool, default=True
        Let small batches of pairs share their noise: much faster, with no measurable loss.
    noise_exponent : float, default=1.0
        Draw noise in proportion to this power of p(f). The paper's theory has 1, the authors' code 0.75.
    subsample : float, default=0.0
        Sub-sample frequent features as word2vec does, or keep all with 0; the authors' code has 1e-3. A feature is kept
        with probability √(subsample/p) + subsample/p, p its share of all pairs.
    learning_rate : float, default=0.05
        First learning rate; it falls linearly.
    min_learning_rate : float, default=0.025
        Last learning rate.

    Examples
    --------
    >>> from hopscale import AE, SGNS, datasets
    >>> AE(dimensions=8, solver=SGNS(epochs=1)).set_params(solver__epochs=2).solver
    SGNS(epochs=2)
    """

    name = "sgns"

    walk_length: int = parameter(80, whole, least=1, most=MAX_STEPS)
    walks_per_node: int = parameter(10, whole, least=1, most=MAX_STEPS)
    start: Start = parameter("degree", choice, options=get_args(Start))
    epochs: int = parameter(5, whole, least=1, most=MAX_STEPS)
    negatives: int = parameter(5, whole, least=1, most=MAX_NEGATIVES)
    share_negatives: bool = parameter(True, switch)
    noise_exponent: float = parameter(1.0, number, least=0, most=MOST_NOISE)
    subsample: float = parameter(0.0, number, least=0)
    learning_rate: float = parameter(0.05, number, least=0, above=True)
    min_learning_rate: float = parameter(0.025, number, least=0)

    def check(self, window: int) -> None:
        """Refuse parameters that make no sense."""
        super().check(window)
        if self.walk_length * self.walks_per_node > MAX_STEPS:
            raise ParameterError(
                "times ", Setting("walks_per_node"), f" must be at most {MAX_STEPS}", parameter="walk_length"
            )
        if self.walk_length <= window:
            raise ParameterError(
                "must be larger than ", Setting("window", window), parameter="walk_length", value=self.walk_length
            )

    def fit(self, context: WalkContext, scales: Sequence[Scale], engine: Threads, seed: int) -> list[Solution]:
        """Solutions of all scales, trained one after the other."""
        window = max(scale.hops[-1] for scale in scales)
        found = []
        for scale in scales:
            task = _Task(self, context, scale, window, context.feature_probability(scale), engine, seed)
            G = task.initial()
            H = task.train(G, aligned_zeros(context.n_features, scale.dimensions))
            found.append(
                Solution(
                    scale,
                    node_vectors=np.ascontiguousarray(G[:, : scale.dimensions]),
                    feature_vectors=np.ascontiguousarray(H[:, : scale.dimensions]),
                    feature_probability=task.probability,
                    rows=f"{task.pairs_seen:,} pairs of walks",
                )
            )
        return found

    def project(self, context: WalkContext, solutions: Sequence[Solution], engine: Threads, seed: int) -> list[Floats]:
        """Vectors of the nodes of another graph: the same training with the features' vectors frozen."""
        window = max(solution.scale.hops[-1] for solution in solutions)
        found = []
        for solution in solutions:
            task = _Task(self, context, solution.scale, window, solution.feature_probability, engine, seed)
            G = task.initial()
            task.place(G, aligned(solution.feature_vectors))
            found.append(np.ascontiguousarray(G[:, : solution.scale.dimensions]))
        return found


class _Task:
    """One scale's training: everything that stays the same from round to round."""

    def __init__(
        self,
        solver: SGNS,
        context: WalkContext,
        scale: Scale,
        window: int,
        probability: NDArray[np.float64],
        engine: Threads,
        seed: int,
    ) -> None:
        self.solver, self.context, self.scale, self.probability = solver, context, scale, probability
        self.engine, self.seed = engine, seed
        self.visits = self._expected_visits(window)
        random = np.random.default_rng([seed, scale.hops[-1], 2])
        n = context.n_nodes
        order = random.permutation(n).astype(np.int32)
        # A few passes over the nodes' own features are too few updates to be averaged over shards (R² on
        # wiki-chameleon .53 in one shard, .31 in 16), and too little work to need threads.
        shards = 1 if scale.is_self else min(SHARDS, n)
        self.rounds = solver.epochs if scale.is_self else self._enough_rounds()
        self.shards = [np.ascontiguousarray(order[s::shards]) for s in range(shards)]
        self.offset = random.random(n)
        self.tail = 1 if scale.is_self else int(self.rounds * TAIL)
        batch, shared = self._batch()
        values, unit = in_unit(context.features)
        self.kernel = _native.SkipGram(
            context.transitions.kernel,
            context.kernel_features,
            _native.Noise(*noise_layout(_noise(probability, unit, solver.noise_exponent))),
            hops=scale.mask,
            negatives=solver.negatives,
            batch=batch,
            shared=shared,
            seed=seed,
            scale=scale.hops[-1],
            counts=_expected_counts(values.data),
            keep=_keep_probability(probability, solver.subsample),
        )
        self.pairs_seen = 0
        self._spare: deque[tuple[Floats, NDArray[np.uint32]]] = deque()

    def initial(self) -> Floats:
        """Vectors of the nodes before training: word2vec's start, uniform in ±1/(2d)."""
        d = self.scale.dimensions
        random = np.random.default_rng([self.seed, self.scale.hops[-1], 1])
        start = random.random((self.context.n_nodes, d), dtype=np.float32) - np.float32(0.5)
        G = aligned(start / np.float32(d))
        G[self.visits == 0] = 0.0  # never trained: the random start must not pass for a vector
        return G

    def _expected_visits(self, window: int) -> NDArray[np.float64]:
        """Expected number of visits of each node over the whole training."""
        solver, sees = self.solver, self.context.sees_features(self.scale)
        if self.scale.is_self:  # a pass over every node's own features each epoch, as in the authors' code
            return np.where(sees, float(solver.epochs), 0.0)
        once = self.context.transitions.expected_visits(
            start=solver.start, walks_per_node=solver.walks_per_node, positions=solver.walk_length - window
        )
        # Either side of the source. Nodes that never meet a feature are not visited: there is nothing to learn.
        return np.where(sees & (once > 0), np.maximum(2.0 * solver.epochs * once, LEAST_VISITS), 0.0)

    def _enough_rounds(self) -> int:
        """Rounds in which a shard updates a feature about ``UPDATES_PER_ROUND`` times."""
        context = self.context
        per_visit = len(self.scale.hops) * context.features.nnz / max(1, context.n_nodes)
        updates = self.visits.sum() * per_visit / SHARDS / max(1, context.n_features)
        return int(np.clip(np.ceil(updates / UPDATES_PER_ROUND), LEAST_ROUNDS, MOST_ROUNDS))

    def _batch(self) -> tuple[int, int]:
        """Positives per batch, and noise features drawn for them."""
        negatives = self.solver.negatives
        if self.scale.is_self:  # few updates, and worth little time: pair by pair
            return 1, negatives
        if self.solver.share_negatives:
            return BATCH, min(MAX_NEGATIVES, max(1, round(BATCH * negatives / SHARED_WEIGHT)))
        own = max(1, min(OWN_BATCH, MAX_NEGATIVES // negatives))
        return own, own * negatives

    def train(self, G: Floats, H: Floats) -> Floats:
        """All rounds; G is trained in place, the features' vectors are returned."""
        mean_G, mean_H = np.zeros_like(G), np.zeros_like(H)
        with self.engine.bar(self.rounds, f"scale {self.scale.label}: train", "round") as bar:
            for round_ in range(self.rounds):

                def shard(nodes: NDArray[np.int32], round_: int = round_, H: Floats = H) -> _Copy:
                    own, touches = self._own(H)
                    return own, touches, self._run(nodes, round_, G, H, own, touches)

                H = self._average(H, self.engine.map(shard, self.shards))
                if round_ >= self.rounds - self.tail:
                    mean_G += G
                    mean_H += H
                bar.update(1)
        np.divide(mean_G, self.tail, out=G)
        mean_H /= self.tail
        return mean_H

    def place(self, G: Floats, H: Floats) -> None:
        """All rounds with frozen features: nodes are independent, so shards need not wait for each other."""

        def shard(nodes: NDArray[np.int32]) -> int:
            mean, seen = np.zeros((len(nodes), G.shape[1]), dtype=np.float32), 0
            for round_ in range(self.rounds):
                seen += self._run(nodes, round_, G, H, None, None)
                if round_ >= self.rounds - self.tail:
                    mean += G[nodes]
            G[nodes] = mean / np.float32(self.tail)
            return seen

        with self.engine.bar(len(self.shards), f"scale {self.scale.label}: place", "shard") as bar:
            for seen in self.engine.map(shard, self.shards):
                self.pairs_seen += seen
                bar.update(1)

    def _own(self, H: Floats) -> tuple[Floats, NDArray[np.uint32]]:
        """Room for a shard's own features, copied as they are met, and for its count of updates."""
        try:
            own, touches = self._spare.pop()  # used before
        except IndexError:
            return aligned_zeros(*H.shape), np.zeros(len(H), dtype=np.uint32)
        touches.fill(0)
        return own, touches

    def _average(self, before: Floats, copies: Iterator[_Copy]) -> Floats:
        """Mean of the shards' copies, each feature weighted by how often a shard updated it.

        A feature that only one shard has seen moves as far as that shard moved it; plain averaging would
        shorten its step by the number of shards.
        """
        total = aligned_zeros(*before.shape)
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
        G: Floats,
        H: Floats,
        own: Floats | None,
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
        seen, wrong = self.kernel.train(
            G,
            H,
            own,
            touches,
            nodes,
            visits.astype(np.int64),
            learning_rate=learning_rate,
            round=round_,
            stop=self.engine.stop,
        )
        if wrong >= 0:
            raise DivergenceError(
                f"training diverged at scale {self.scale.label} in round {round_ + 1} of {self.rounds} (node "
                f"row {wrong}): try a smaller ",
                Setting("learning_rate"),
                f" than {solver.learning_rate}",
            )
        return seen


def _expected_counts(values: NDArray[np.float32]) -> NDArray[np.float32] | None:
    """How often an entry of the context is a positive at a visit: its value over the mean value."""
    if not values.size or np.all(values == values[0]):
        return None
    return (values / np.float32(values.mean(dtype=np.float64))).astype(np.float32)


def _noise(probability: NDArray[np.float64], unit: int, exponent: float) -> NDArray[np.float64]:
    """Noise of each feature, in proportion to a power of p(f), with p(f) in units of 2^unit."""
    seen = probability > 0
    return np.where(seen, np.ldexp(np.where(seen, probability, 0.0), -unit) ** exponent, 0.0)


def _keep_probability(probability: NDArray[np.float64], subsample: float) -> NDArray[np.float32] | None:
    """word2vec's sub-sampling of what is frequent among all pairs."""
    if not subsample:
        return None
    share = probability / max(probability.sum(), 1e-300)
    ratio = np.divide(subsample, share, out=np.ones_like(share), where=share > 0)
    return np.minimum(1.0, np.sqrt(ratio) + ratio).astype(np.float32)
