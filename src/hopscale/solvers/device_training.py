"""Skip-gram on a device of PyTorch: many more shards than threads have, a program each.

Rounds are like those of :mod:`hopscale.solvers.shards`: every shard trains its own rows against its own copy of the
features' vectors, and the copies are averaged. What differs is what a thousand shards ask for. A node whose visits
would keep one of them busy is trained in several, a row in each, and its rows are averaged as well. And what a round
needs is gathered before its shards begin: the walks of its visits, the features that they meet, the noise.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hopscale.compute import Threads
from hopscale.compute.aligned import Floats, padded
from hopscale.solvers.base import Solution
from hopscale.solvers.shards import (
    diverged,
    expected_counts,
    keep_probability,
    learning_rate_of,
    noise_weights,
    unit_of,
    visits_of_nodes,
)
from hopscale.solvers.training import SHARED_WEIGHT, TAIL, TrainingCounts, rounds_of
from hopscale.walks import Scale, WalkContext
from hopscale.walks.sampling import noise_layout
from hopscale.walks.transitions import alias_table

if TYPE_CHECKING:
    from torch import Tensor

    from hopscale.compute.torch import Torch
    from hopscale.solvers.sgns import SGNS

__all__ = ["DeviceTraining"]

SHARDS, FEW_SHARDS = 1024, 16  # of a scale on a GPU, and on the CPU, where PyTorch is slow with any number
LEAST_SHARDS = 16  # of a scale, unless its copies do not fit
LEAST_UPDATES = 1000  # of a feature in a shard, noise among them, over the training: with fewer it is undertrained
MOST_POSITIVES = 16  # of a feature in a shard and round: with more the shard's copy overfits its own nodes
SLOTS, LEAST_POSITIVES = 16, 2  # of a batch
HEAVY = 0.5  # of a shard's visits: a node that has more is trained in several
COPIES = 0.5  # of the device's room that the tables leave, for the shards' copies; a quarter is for a round
MOST_GATHERED = 2**26  # pairs of a round, or nodes that its visits reach: larger rounds become several
GATHERED_BYTES = 100.0  # of each of these, beside the features of batches


@dataclass(frozen=True, eq=False)
class _Rows:
    """The rows of nodes that are trained, in the order of the shards; those of a heavy node are in several."""

    node: NDArray[np.int32]
    visits: NDArray[np.float64]  # over the whole training
    bounds: NDArray[np.int64]  # of the shards


def _dealt(visits: NDArray[np.float64], shards: int, random: np.random.Generator) -> _Rows:
    """Deal nodes to shards of about as many visits each: by falling visits, back and forth like cards.

    >>> rows = _dealt(np.array([8.0, 8.0, 4.0, 4.0, 2.0, 2.0]), 2, np.random.default_rng(0))
    >>> [float(rows.visits[a:b].sum()) for a, b in zip(rows.bounds, rows.bounds[1:])]
    [14.0, 14.0]
    """
    share = max(visits.sum() / shards * HEAVY, 1e-300)
    parts = np.clip(np.ceil(visits / share), 1, shards).astype(np.int64)
    node = np.repeat(np.arange(len(visits), dtype=np.int32), parts)
    each = visits[node] / parts[node]
    mixed = random.permutation(len(node))
    order = mixed[np.argsort(-each[mixed], kind="stable")]
    place = np.arange(len(node)) % (2 * shards)
    shard = np.minimum(place, 2 * shards - 1 - place)
    # Within a shard in random order: its rows of most visits came first.
    order = order[np.lexsort((random.random(len(node)), shard))]
    bounds = np.concatenate([[0], np.cumsum(np.bincount(shard, minlength=shards))])
    return _Rows(node[order], each[order], bounds)


def _batch_of(solver: SGNS) -> tuple[int, int]:
    """Positives of a batch, and noise features that they share: the fewest slots, a power of two, for two positives.

    >>> from hopscale import SGNS
    >>> [_batch_of(SGNS(negatives=b)) for b in (1, 5, 20, 64)], _batch_of(SGNS(share_negatives=False))
    ([(12, 4), (7, 9), (2, 14), (3, 61)], (2, 14))
    """
    slots, b = SLOTS, solver.negatives
    weight = SHARED_WEIGHT if solver.share_negatives else 1.0
    while (positives := int(slots * weight / (b + weight))) < LEAST_POSITIVES:
        slots *= 2
    return positives, slots - positives


def _copies_bytes(shards: int, features: int, dimensions: int) -> float:
    """Bytes of the shards' copies of the features' vectors, and of their counts of updates."""
    return shards * features * 4.0 * (padded(dimensions) + 1)


def _vectors_bytes(context: WalkContext, scale: Scale) -> float:
    """Bytes of the vectors of a scale with their means, of its rows and of its noise."""
    n, q = context.n_nodes, context.n_features
    return 4.0 * padded(scale.dimensions) * (3 * n + 6 * q) + 64.0 * n + 40.0 * q


class DeviceTraining:
    """The training of one fit or projection on a device, scale after scale."""

    def __init__(self, solver: SGNS, context: WalkContext, engine: Torch, seed: int, window: int) -> None:
        from hopscale.compute.skipgram_plain import Graph, Table  # here, because nobody else needs PyTorch

        self.solver, self.context, self.engine, self.seed = solver, context, engine, seed
        self.window, self.unit = window, unit_of(context)
        A, F, tall = context.transitions.adjacency, context.features, engine.tensor
        offsets = A.indptr.astype(np.int64)
        alias = map(tall, alias_table(A.data, offsets)) if context.transitions.weighted else (None, None)
        self.graph = Graph(tall(offsets), tall(A.indices.astype(np.int32, copy=False)), *alias)
        counts = expected_counts(context, self.unit)
        joined = None if counts is None else tall(np.concatenate(list(counts)))
        self.table = Table(tall(F.indptr.astype(np.int64)), tall(F.indices.astype(np.int32, copy=False)), joined)

    def solutions(
        self, scales: Sequence[Scale], probabilities: Sequence[NDArray[np.float64]], own: Callable[[Scale], Solution]
    ) -> Iterator[Solution]:
        """Vectors of each scale, in turn. Those without walks are too little work for a device: ``own`` trains them.

        It does so on a thread, while the device is at the others.
        """
        found: dict[Scale, Solution] = {}

        def here(scale: Scale) -> None:
            found[scale] = own(scale)

        walked = [(s, p) for s, p in zip(scales, probabilities, strict=True) if not s.is_self]
        together = self._together([scale for scale, _ in walked])
        tasks = [_Task(self, scale, probability, together) for scale, probability in walked]
        with Threads(1) as threads, self.engine.bar(sum(task.updates for task in tasks), "train", "update") as bar:
            wait = threads.start(here, [scale for scale in scales if scale.is_self])
            for first in range(0, len(tasks), together):
                some = tasks[first : first + together]
                trained = self.engine.taking_turns([task.steps(bar.update) for task in some])
                for task, (G, H) in zip(some, trained, strict=True):
                    found[task.scale] = task.solution(G, H)
            wait()
        for scale in scales:
            solution = found.pop(scale)
            if scale.is_self:
                tall = map(self.engine.tall, (solution.node_vectors, solution.feature_vectors))
                solution = replace(solution, node_vectors=next(tall), feature_vectors=next(tall))
            yield solution

    def _together(self, scales: Sequence[Scale]) -> int:
        """Scales that are trained at the same time: all, or as many as the device has the memory for."""
        for together in range(len(scales), 1, -1):
            if all(_Task.shards_that_fit(self, scale, together) >= LEAST_SHARDS for scale in scales):
                return together
        return 1

    def projections(self, solutions: Sequence[Solution], own: Callable[[Solution], Floats]) -> Iterator[Floats]:
        """Vectors of the nodes of this context: the same training with the features' vectors frozen."""
        for solution in solutions:
            if solution.scale.is_self:
                yield own(solution)
                continue
            task = _Task(self, solution.scale, solution.feature_probability, 1, learns=False)
            with self.engine.bar(task.updates, "place", "update") as bar:
                steps = task.steps(bar.update, frozen=solution.feature_vectors)
                yield self.engine.host(self.engine.taking_turns([steps])[0][0])


class _Task:
    """One scale's training."""

    def __init__(
        self,
        of: DeviceTraining,
        scale: Scale,
        probability: NDArray[np.float64],
        together: int,
        *,
        learns: bool = True,
    ) -> None:
        from hopscale.compute.skipgram_plain import Noise

        self._of, self.scale, self.probability, self._learns = of, scale, probability, learns
        solver, context, tall = of.solver, of.context, of.engine.tensor
        visits = visits_of_nodes(solver, context, scale, of.window)
        self._random = np.random.default_rng([of.seed, scale.hops[-1], 2])
        self._keys = np.random.default_rng([of.seed, scale.hops[-1], 3])
        self._visited = visits > 0
        counts = TrainingCounts(solver, context.size, scale, float(visits.sum()))
        self.updates, self.pairs_seen = counts.updates, 0
        self._batch, self._shared = _batch_of(solver)
        self._shards = self._number_of_shards(together)
        self._dealt = _dealt(visits, self._shards, self._random)
        each = GATHERED_BYTES + 4.0 * (self._batch + self._shared) / self._batch
        room = (1 - COPIES) / 2 * self._room(of, scale, together)
        at_once = float(np.clip(room / each, 1, MOST_GATHERED))
        least = int(np.ceil(max(counts.pairs, counts.visits * len(scale.hops)) / at_once))
        self._rounds = max(rounds_of(counts.pairs / self._shards, context.n_features, MOST_POSITIVES), least)
        self._tail = max(1, int(self._rounds * TAIL))
        layout = noise_layout(noise_weights(probability, of.unit, solver.noise_exponent))
        guide = np.append(layout.guide, len(layout.last) - 1).astype(np.int64)
        self._noise = Noise(
            tall(layout.last.astype(np.int64)), tall(layout.feature.astype(np.int32)), tall(guide), layout.shift
        )
        self._table, keep = of.table, keep_probability(probability, solver.subsample)
        if keep is not None:  # how often an entry is a positive at a visit
            kept, expected = tall(keep)[self._table.columns], self._table.expected
            self._table = replace(self._table, expected=kept if expected is None else expected * kept)

    def solution(self, G: Tensor, H: Tensor) -> Solution:
        """What training has learnt."""
        rows = f"{self.pairs_seen:,} pairs of walks"
        return Solution(self.scale, node_vectors=G, feature_vectors=H, feature_probability=self.probability, rows=rows)

    @staticmethod
    def _room(of: DeviceTraining, scale: Scale, together: int) -> float:
        """Bytes for copies and rounds of a scale, where so many are trained at the same time."""
        return of.engine.room / together - _vectors_bytes(of.context, scale)

    @classmethod
    def shards_that_fit(cls, of: DeviceTraining, scale: Scale, together: int) -> int:
        """How many shards' copies of the features' vectors fit."""
        copy = _copies_bytes(1, of.context.n_features, scale.dimensions)
        return int(COPIES * cls._room(of, scale, together) / copy)

    def _number_of_shards(self, together: int) -> int:
        """As many as fit where so many scales are trained together, unless that leaves a feature too few updates."""
        of, scale = self._of, self.scale
        n, q = of.context.n_nodes, of.context.n_features
        most = min(n, SHARDS if of.engine.on_gpu else FEW_SHARDS)
        if not self._learns:
            return most
        fits = self.shards_that_fit(of, scale, together)
        if fits < 1:
            needed = _vectors_bytes(of.context, scale) + _copies_bytes(1, q, scale.dimensions) / COPIES
            what = f"training {n:,} nodes and {q:,} features with {scale.dimensions} dimensions"
            of.engine.check_room(what, together * needed, "ask for fewer dimensions")
        return max(1, min(most, fits, max(LEAST_SHARDS, int(self.updates / q / LEAST_UPDATES))))

    def steps(
        self, done: Callable[[float], object], *, frozen: Floats | None = None
    ) -> Generator[None, None, tuple[Tensor, Tensor]]:
        """Train round by round; returns vectors of the nodes and the features. ``frozen`` ones stay as they are."""
        import torch

        from hopscale.compute.skipgram_plain import gathered

        of, rows, d = self._of, self._dealt, self.scale.dimensions
        engine, solver, kernels = of.engine, of.solver, of.engine.skipgram
        stride, q = padded(d), of.context.n_features
        node = engine.tensor(rows.node.astype(np.int64))
        G = torch.nn.functional.pad(engine.tensor(self._start()), (0, stride - d))[node]
        H = torch.zeros((q, stride), device=engine.device)
        own = touches = None
        if frozen is None:
            own = torch.empty((self._shards, q, stride), device=engine.device)
            touches = torch.empty((self._shards, q), dtype=torch.int32, device=engine.device)
        else:
            H[:, :d] = engine.tensor(frozen)
        joint = _Joint(rows, engine)
        engine.say(f"scale {self.scale.label}: {self._shards:,} shards, {self._rounds:,} rounds")
        mean_G, mean_H = torch.zeros_like(G), torch.zeros_like(H)
        rate, offset = engine.tensor(rows.visits / self._rounds), engine.tensor(self._random.random(len(rows.node)))
        bounds, nodes = engine.tensor(rows.bounds), node.to(torch.int32)
        before, sums = torch.floor(offset), torch.zeros((), device=engine.device)
        for round_ in range(self._rounds):
            after = torch.floor((round_ + 1) * rate + offset)
            counts, before = (after - before).to(torch.int64), after
            key = int(self._keys.integers(0, 2**63))
            this, (pairs, _, total) = gathered(
                kernels, of.graph, self._table, nodes, counts, self.scale.hops, self._batch, key, sums
            )
            self._check(total, round_ - 1)
            self.pairs_seen += int(pairs)
            batches = kernels.batches(self._table, self._noise, this, self._batch, self._shared)
            if own is not None and touches is not None:
                touches.zero_()
                own.copy_(H.expand_as(own))
            learning_rate = learning_rate_of(solver, round_, self._rounds)
            noise_rate = learning_rate * solver.negatives / self._shared
            kernels.train(
                batches, this.row, this.batches[bounds], G, H, own, touches, rate=learning_rate, noise_rate=noise_rate
            )
            del this, batches  # before the next are made
            if own is not None and touches is not None:
                H = kernels.average(own, touches, H)
            joint.average(G)
            if round_ >= self._rounds - self._tail:
                mean_G += G
                mean_H += H
            sums.copy_(G.sum() + H.sum())
            done(self.updates / self._rounds)
            yield
        self._check(float(sums), self._rounds - 1)
        del own, touches
        found = torch.empty((of.context.n_nodes, d), device=engine.device)
        found[node] = mean_G[:, :d] / self._tail  # rows of one node are the same
        return found, mean_H[:, :d] / self._tail

    def _check(self, total: float, round_: int) -> None:
        """Refuse vectors that a round has left infinite."""
        if not np.isfinite(total):
            raise diverged(self._of.solver, self.scale, round_, self._rounds)

    def _start(self) -> Floats:
        """Vectors of the nodes before training: word2vec's start, uniform in ±1/(2d)."""
        d, random = self.scale.dimensions, np.random.default_rng([self._of.seed, self.scale.hops[-1], 1])
        start = random.random((self._of.context.n_nodes, d), dtype=np.float32)
        start -= np.float32(0.5)
        start /= np.float32(d)
        start[~self._visited] = 0.0  # never trained: the random start must not pass for a vector
        return start


class _Joint:
    """Nodes that are trained in several shards: their rows are averaged after each round."""

    def __init__(self, rows: _Rows, engine: Torch) -> None:
        from hopscale.compute.torch_plain import Csr

        order = np.argsort(rows.node, kind="stable")
        count = np.bincount(rows.node)
        several = np.flatnonzero(count > 1)
        chosen = order[np.isin(rows.node[order], several)]
        ends, shares = np.concatenate([[0], np.cumsum(count[several])]), (1.0 / count[several]).astype(np.float32)
        self._engine, self._rows = engine, engine.tensor(chosen.astype(np.int64))
        self._which = engine.tensor(np.repeat(np.arange(len(several)), count[several]))
        self._mean = Csr(
            engine.tensor(ends), engine.tensor(chosen.astype(np.int32)), None, engine.tensor(shares), len(rows.node)
        )

    def average(self, G: Tensor) -> None:
        """Make the rows of each of these nodes their mean."""
        if len(self._rows):
            means = G.new_empty((self._mean.height, G.shape[1]))
            self._engine.kernels.product(self._mean, G, means)
            G[self._rows] = means[self._which]
