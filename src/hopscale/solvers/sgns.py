"""The sampled solver: skip-gram with negative sampling on node-feature pairs of random walks.

The paper's Algorithms 1 and 2, streaming: no walk and no pair is ever stored. :mod:`hopscale.solvers.shards` says how
the work is split; here threads of one machine do it, and :mod:`hopscale.solvers.device_training` has a device do it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, get_args

import numpy as np
from numpy.typing import NDArray

from hopscale.checks import choice, number, parameter, switch, whole
from hopscale.compute import Threads
from hopscale.compute.aligned import Floats, aligned, aligned_zeros, padded
from hopscale.compute.threads import checkpoint
from hopscale.exceptions import ParameterError, Setting
from hopscale.solvers.base import MOST_NOISE, Solution, Solver
from hopscale.solvers.device_training import DeviceTraining
from hopscale.solvers.shards import Copy, Shards, average, deal, expected_counts, unit_of
from hopscale.solvers.training import MAX_NEGATIVES
from hopscale.walks import Scale, Start, WalkContext

__all__ = ["SGNS", "scales_at_once"]

Result = TypeVar("Result")

# With so many threads all scales are trained at once, or as many as leave the shards' copies of features so many bytes:
# threads that wait for the last shard of a round have something to do. More copies than the caches hold cost more.
MANY_THREADS, COPIES = 4, 2**29
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
        node (the authors' code). The latter is an approximation: such walks are not stationary at first, and pairs of a
        node with what was met before it are counted as if they were.
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

    def fit(self, context: WalkContext, scales: Sequence[Scale], engine: Any, seed: int) -> Iterable[Solution]:
        """Solutions of all scales: with many threads trained together, else one after the other."""
        window = max(scale.hops[-1] for scale in scales)
        if isinstance(engine, Threads):
            return self._fit_on(engine, context, scales, window, seed)
        return DeviceTraining(self, context, engine, seed, window).solutions(
            scales,
            context.feature_probabilities(scales),
            lambda scale: _on_a_thread(lambda threads: self._fit_on(threads, context, [scale], window, seed)[0]),
        )

    def _fit_on(
        self, engine: Threads, context: WalkContext, scales: Sequence[Scale], window: int, seed: int
    ) -> list[Solution]:
        tasks = [
            _Task(self, context, scale, window, context.feature_probability(scale), engine, seed) for scale in scales
        ]

        def solution(task: _Task) -> Solution:
            G, width = task.initial(), task.scale.dimensions
            H = task.train(G, aligned_zeros(context.n_features, width), bar.update)
            return Solution(
                task.scale,
                node_vectors=task.by_node(G),
                feature_vectors=np.ascontiguousarray(H[:, :width]),
                feature_probability=task.probability,
                rows=f"{task.pairs_seen:,} pairs of walks",
            )

        at_once = scales_at_once(scales, context.n_features, engine.n_jobs)
        with engine.bar(sum(task.updates for task in tasks), "train", "update") as bar:
            return list(engine.together(solution, tasks, at_once=at_once))

    def project(self, context: WalkContext, solutions: Sequence[Solution], engine: Any, seed: int) -> Iterable[Floats]:
        """Vectors of the nodes of another graph: the same training with the features' vectors frozen."""
        window = max(solution.scale.hops[-1] for solution in solutions)
        if isinstance(engine, Threads):
            return self._placed_by(engine, context, solutions, window, seed)
        return DeviceTraining(self, context, engine, seed, window).projections(
            solutions,
            lambda one: _on_a_thread(lambda threads: self._placed_by(threads, context, [one], window, seed)[0]),
        )

    def _placed_by(
        self, engine: Threads, context: WalkContext, solutions: Sequence[Solution], window: int, seed: int
    ) -> list[Floats]:
        tasks = [
            _Task(self, context, solution.scale, window, solution.feature_probability, engine, seed)
            for solution in solutions
        ]
        found = []
        with engine.bar(sum(task.updates for task in tasks), "place", "update") as bar:
            for task, solution in zip(tasks, solutions, strict=True):
                G = task.initial()
                task.place(G, aligned(solution.feature_vectors), bar.update)
                found.append(task.by_node(G))
        return found


def _on_a_thread(work: Callable[[Threads], Result]) -> Result:
    """What a device leaves to the processor."""
    with Threads(1) as threads:
        return work(threads)


def scales_at_once(scales: Sequence[Scale], n_features: int, n_jobs: int) -> int:
    """Scales that are trained together."""
    copies = 4 * n_features * n_jobs * max(padded(scale.dimensions) for scale in scales)
    return 1 if n_jobs < MANY_THREADS else max(1, min(len(scales), COPIES // max(1, copies)))


class _Task:
    """One scale's training on threads; rows of G are in the order of the shards."""

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
        self.scale, self.probability, self.engine = scale, probability, engine
        self.dealt = deal(solver, context, scale, window, seed)
        self.updates = self.dealt.updates
        unit = unit_of(context)
        counts = expected_counts(context, unit)
        joined = None if counts is None else np.concatenate(list(counts))
        self._shards = Shards(solver, context, scale, probability, seed, self.dealt, counts=joined, unit=unit)
        self.pairs_seen = 0
        self._spare: deque[Copy] = deque()

    def initial(self) -> Floats:
        """Vectors of the nodes before training."""
        return self._shards.initial(slice(None))

    def by_node(self, G: Floats) -> Floats:
        """Rows in the order of the nodes."""
        found = np.empty((len(G), self.scale.dimensions), dtype=np.float32)
        found[self.dealt.nodes] = G[:, : self.scale.dimensions]
        return found

    def train(self, G: Floats, H: Floats, done: Callable[[float], object]) -> Floats:
        """All rounds; G is trained in place, the features' vectors are returned."""
        mean_G, mean_H, new = np.zeros_like(G), np.zeros_like(H), np.empty_like(H)
        rounds, tail = self.dealt.rounds, self.dealt.tail
        for round_ in range(rounds):
            self._round(round_, G, H, new, (mean_G, mean_H) if round_ >= rounds - tail else None)
            H, new = new, H
            done(self.updates / rounds)
        self._each_part(len(H), len(G), lambda _, nodes: np.divide(mean_G[nodes], tail, out=G[nodes]))
        mean_H /= tail
        return mean_H

    def _round(self, round_: int, G: Floats, H: Floats, new: Floats, sums: tuple[Floats, Floats] | None) -> None:
        """Train all shards on their own copies of H, whose mean becomes ``new``, and add both tables to their sums.

        As many shards as threads are trained at a time, and their copies added up before the next ones are trained.
        """
        updates, step, shards = np.zeros(len(H), dtype=np.int64), self.engine.n_jobs, self.dealt.shards

        def train(shard: slice) -> tuple[Copy, int]:
            checkpoint()
            copy = self._own(H)
            return copy, self._shards.train(shard, round_, G[shard], H, copy, self.engine.stop)

        for first in range(0, len(shards), step):
            trained = list(self.engine.map(train, shards[first : first + step]))
            copies = [copy for copy, _ in trained]
            self.pairs_seen += sum(seen for _, seen in trained)
            is_last = first + step >= len(shards)

            def add(
                features: slice, nodes: slice, copies: list[Copy] = copies, first: int = first, is_last: bool = is_last
            ) -> None:
                average(copies, H, new, updates, features, first=first == 0, last=is_last)
                if is_last and sums is not None:
                    for total, table, part in zip(sums, (G, new), (nodes, features), strict=True):
                        np.add(total[part], table[part], out=total[part])

            self._each_part(len(H), len(G), add)
            self._spare.extend(copies)

    def place(self, G: Floats, H: Floats, done: Callable[[float], object]) -> None:
        """All rounds with frozen features: nodes are independent, so shards need not wait for each other."""
        rounds, tail = self.dealt.rounds, self.dealt.tail

        def place(shard: slice) -> int:
            own, seen = G[shard], 0
            mean = np.zeros_like(own)
            for round_ in range(rounds):
                seen += self._shards.train(shard, round_, own, H, None, self.engine.stop)
                if round_ >= rounds - tail:
                    mean += own
            np.divide(mean, np.float32(tail), out=own)
            return seen

        for seen in self.engine.map(place, self.dealt.shards):
            self.pairs_seen += seen
            done(self.updates / len(self.dealt.shards))

    def _each_part(self, features: int, nodes: int, function: Callable[[slice, slice], object]) -> None:
        """Call a function on some features and some nodes, as many parts of each as there are threads."""
        parts = self.engine.n_jobs
        pieces = (
            [slice(k * rows // parts, (k + 1) * rows // parts) for k in range(parts)] for rows in (features, nodes)
        )
        for _ in self.engine.map(lambda part: function(*part), zip(*pieces, strict=True)):
            pass

    def _own(self, H: Floats) -> Copy:
        """Room for a shard's own features, copied as they are met, and for its count of updates."""
        try:
            own, touches = self._spare.pop()  # used before
        except IndexError:
            return aligned_zeros(*H.shape), np.zeros(len(H), dtype=np.uint32)
        touches.fill(0)
        return own, touches
