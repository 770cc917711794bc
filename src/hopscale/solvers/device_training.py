"""Skip-gram on a device of PyTorch: many more shards than threads have, a program each.

Rounds are those of :mod:`hopscale.solvers.shards`: every shard trains its own rows against its own copy of the
features' vectors, and the copies are averaged. What differs is what a thousand shards ask for. A node whose visits
would keep one of them busy is trained in several, a row in each, and its rows are averaged as well. And what a round
needs is gathered before its shards begin: the walks of its visits, the features that they meet, the noise.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

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
from hopscale.walks.transitions import walk_tables

if TYPE_CHECKING:
    from torch import Tensor

    from hopscale.compute.torch import Torch
    from hopscale.solvers.sgns import SGNS

__all__ = ["DeviceTraining"]

SHARDS, FEW_SHARDS = 1024, 16  # of a scale on a GPU, and on a processor, where they are slow in any case
LEAST_SHARDS = 16  # of a scale, unless its copies do not fit
# Of a feature in a shard: over the whole training, for with fewer its vector does not get far enough; and in a round,
# for with more a shard's copy learns its own few nodes by heart.
LEAST_UPDATES, MOST_UPDATES = 1000, 16
SLOTS, LEAST_POSITIVES = 16, 2  # of a batch
HEAVY = 0.5  # of a shard's visits: a node that has more is trained in several
COPIES = 0.5  # of the device's room, that the shards' copies may take
# Pairs of a round, or visits, that are gathered at once: larger rounds become several.
GATHERED, GATHERED_BYTES = 2**26, 80.0


@dataclass(frozen=True, eq=False)
class _Rows:
    """The rows of nodes that are trained, in the order of the shards; those of a heavy node are in several."""

    node: NDArray[np.int32]
    visits: NDArray[np.float64]  # over the whole training
    bounds: NDArray[np.int64]  # of the shards


def _dealt(visits: NDArray[np.float64], shards: int, random: np.random.Generator) -> _Rows:
    """Deal nodes to shards of about as many visits each: by falling visits, back and forth like cards.

    >>> rows = _dealt(np.array([8.0, 1.0, 1.0, 1.0, 1.0, 4.0]), 2, np.random.default_rng(0))
    >>> [float(rows.visits[a:b].sum()) for a, b in zip(rows.bounds, rows.bounds[1:])]
    [8.0, 8.0]
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
    """Positives of a batch, and noise features that they share: together a power of two, as few as are of use.

    >>> from hopscale import SGNS
    >>> [_batch_of(SGNS(negatives=b)) for b in (1, 5, 20, 64)], _batch_of(SGNS(share_negatives=False))
    ([(12, 4), (7, 9), (5, 27), (3, 61)], (2, 14))
    """
    slots, b = SLOTS, solver.negatives
    weight = SHARED_WEIGHT if solver.share_negatives else 1.0
    while (positives := int(slots * weight / (b + weight))) < LEAST_POSITIVES:
        slots *= 2
    return positives, slots - positives


def _copies_bytes(shards: int, features: int, dimensions: int) -> float:
    """Bytes of the shards' copies of the features' vectors, and of their counts of updates."""
    return shards * features * 4.0 * (padded(dimensions) + 1)


def _table_bytes(context: WalkContext, scale: Scale) -> float:
    """Bytes of the graph, the features, and the vectors of one scale with their means."""
    size = context.size
    graph = 8.0 * (size.n_nodes + 1) + size.steps * (12.0 if size.weighted else 4.0)
    features = 8.0 * (size.n_nodes + 1) + 8.0 * size.entries + 40.0 * size.n_features
    vectors = 4.0 * padded(scale.dimensions) * (3 * size.n_nodes + 6 * size.n_features) + 64.0 * size.n_nodes
    return graph + features + vectors


class DeviceTraining:
    """The training of one fit or projection on a device, scale after scale."""

    def __init__(self, solver: SGNS, context: WalkContext, engine: Torch, seed: int, window: int) -> None:
        from hopscale.compute.skipgram_plain import Graph, Table  # whoever has such an engine has PyTorch

        self._solver, self._context, self._engine, self._seed = solver, context, engine, seed
        self._window, self._unit = window, unit_of(context)
        transitions, F, tall = context.transitions, context.features, engine.tensor
        A, tables = transitions.adjacency, {}
        if transitions.weighted:
            tables = walk_tables(A, transitions.degrees, transitions.inverse_degrees, weighted=True)
        alias = [tall(tables[name]) if tables else None for name in ("keep", "other")]
        self._graph = Graph(tall(A.indptr.astype(np.int64)), tall(A.indices.astype(np.int32, copy=False)), *alias)
        counts = expected_counts(context, self._unit)
        joined = None if counts is None else tall(np.concatenate(list(counts)))
        self._table = Table(tall(F.indptr.astype(np.int64)), tall(F.indices.astype(np.int32, copy=False)), joined)

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
        tasks = [_Task(self, scale, probability, len(walked)) for scale, probability in walked]
        with Threads(1) as threads, self._engine.bar(sum(task.updates for task in tasks), "train", "update") as bar:
            wait = threads.start(here, [scale for scale in scales if scale.is_self])
            trained = self._engine.taking_turns([task.steps(bar.update) for task in tasks])
            for task, (G, H) in zip(tasks, trained, strict=True):
                found[task.scale] = task.solution(G, H)
            wait()
        for scale in scales:
            solution = found.pop(scale)
            if scale.is_self:
                tall = map(self._engine.tall, (solution.node_vectors, solution.feature_vectors))
                solution = replace(solution, node_vectors=next(tall), feature_vectors=next(tall))
            yield solution

    def projections(self, solutions: Sequence[Solution], own: Callable[[Solution], Floats]) -> Iterator[Floats]:
        """Vectors of the nodes of this context: the same training with the features' vectors frozen."""
        for solution in solutions:
            if solution.scale.is_self:
                yield own(solution)
                continue
            task = _Task(self, solution.scale, solution.feature_probability, 1)
            with self._engine.bar(task.updates, "place", "update") as bar:
                steps = task.steps(bar.update, frozen=solution.feature_vectors)
                yield self._engine.host(self._engine.taking_turns([steps])[0][0])


class _Task:
    """One scale's training."""

    def __init__(self, of: DeviceTraining, scale: Scale, probability: NDArray[np.float64], together: int) -> None:
        from hopscale.compute.skipgram_plain import Noise

        self._solver, self._context, self._engine, self._seed = of._solver, of._context, of._engine, of._seed
        self._graph, self._table = of._graph, of._table
        self.scale, self.probability = scale, probability
        solver, context, engine, tall = of._solver, of._context, of._engine, of._engine.tensor
        visits = visits_of_nodes(solver, context, scale, of._window)
        self._random = np.random.default_rng([of._seed, scale.hops[-1], 2])
        self._visited = visits > 0
        counts = TrainingCounts(solver, context.size, scale, float(visits.sum()))
        self.updates, self.pairs_seen = counts.updates, 0
        self._shards = self._number_of_shards(together)
        self._dealt = _dealt(visits, self._shards, self._random)
        at_once = np.clip((1 - COPIES) / 2 * engine.room / together / GATHERED_BYTES, 1, GATHERED)
        least = int(np.ceil(max(counts.pairs, counts.visits) / at_once))
        self._rounds = max(rounds_of(counts.pairs / self._shards, context.n_features, MOST_UPDATES), least)
        self._tail = max(1, int(self._rounds * TAIL))
        self._batch, self._shared = _batch_of(solver)
        self._width = self._batch + self._shared
        layout = noise_layout(noise_weights(probability, of._unit, solver.noise_exponent))
        guide = np.append(layout.guide, len(layout.last) - 1).astype(np.int64)
        self._noise = Noise(
            tall(layout.last.astype(np.int64)), tall(layout.feature.astype(np.int32)), tall(guide), layout.shift
        )
        keep = keep_probability(probability, solver.subsample)
        if keep is not None:  # how often an entry is a positive at a visit
            kept = tall(keep)[self._table.columns]
            expected = self._table.expected
            self._table = replace(self._table, expected=kept if expected is None else expected * kept)
        self._degrees = self._table.offsets.diff()
        self._key = np.random.default_rng([of._seed, scale.hops[-1], 3])

    def solution(self, G: Tensor, H: Tensor) -> Solution:
        """What training has learnt."""
        rows = f"{self.pairs_seen:,} pairs of walks"
        return Solution(self.scale, node_vectors=G, feature_vectors=H, feature_probability=self.probability, rows=rows)

    def _number_of_shards(self, together: int) -> int:
        """As many as fit where so many scales are trained together, unless that leaves a feature too few updates."""
        scale, q, engine = self.scale, self._context.n_features, self._engine
        most = SHARDS if engine.on_gpu else FEW_SHARDS
        tables = _table_bytes(self._context, scale)
        fits = int(COPIES * (engine.room / together - tables) / _copies_bytes(1, q, scale.dimensions))
        if fits < 1:
            engine.check_room(
                f"training {self._context.n_nodes:,} nodes and {q:,} features with {scale.dimensions} dimensions",
                together * (tables + _copies_bytes(1, q, scale.dimensions) / COPIES),
                "ask for fewer dimensions",
            )
        wanted = int(np.clip(self.updates / q / LEAST_UPDATES, LEAST_SHARDS, most))
        return max(1, min(wanted, fits, self._context.n_nodes))

    def steps(
        self, done: Callable[[float], object], *, frozen: Floats | None = None
    ) -> Generator[None, None, tuple[Tensor, Tensor]]:
        """Train round by round; returns vectors of the nodes and the features. ``frozen`` ones stay as they are."""
        import torch

        engine, rows, d = self._engine, self._dealt, self.scale.dimensions
        stride, q = padded(d), self._context.n_features
        node = engine.tensor(rows.node.astype(np.int64))
        G = torch.nn.functional.pad(engine.tensor(self._start()), (0, stride - d))[node]
        H = torch.zeros((q, stride), device=engine.device)
        if frozen is not None:
            H[:, :d] = engine.tensor(frozen)
        joint = _Joint(rows, engine)
        learns = frozen is None
        own = torch.empty((self._shards, q, stride), device=engine.device) if learns else None
        touches = torch.empty((self._shards, q), dtype=torch.int32, device=engine.device) if learns else None
        mean_G, mean_H = torch.zeros_like(G), torch.zeros_like(H)
        rate, offset = engine.tensor(rows.visits / self._rounds), engine.tensor(self._random.random(len(rows.node)))
        bounds = engine.tensor(rows.bounds)
        nodes = node.to(torch.int32)
        before, sums = torch.floor(offset), torch.zeros((), device=engine.device)
        for round_ in range(self._rounds):
            after = torch.floor((round_ + 1) * rate + offset)
            counts, before = (after - before).to(torch.int64), after
            this, batches, total = self._gathered(nodes, counts, sums)
            if not np.isfinite(total):
                raise diverged(self._solver, self.scale, round_, self._rounds)
            if own is not None and touches is not None:
                touches.zero_()
                own.copy_(H.expand_as(own))
            learning_rate = learning_rate_of(self._solver, round_, self._rounds)
            engine.skipgram.train(
                batches,
                this.row,
                this.batches[bounds],
                G,
                H,
                own,
                touches,
                rate=learning_rate,
                noise_rate=learning_rate * self._solver.negatives / self._shared,
            )
            if own is not None and touches is not None:
                H = engine.skipgram.average(own, touches, H)
            joint.average(G)
            if round_ >= self._rounds - self._tail:
                mean_G += G
                mean_H += H
            sums.copy_(G.sum() + H.sum())
            done(self.updates / self._rounds)
            yield
        if not np.isfinite(float(sums)):
            raise diverged(self._solver, self.scale, self._rounds - 1, self._rounds)
        del own, touches
        found = torch.empty((self._context.n_nodes, d), device=engine.device)
        found[node] = mean_G[:, :d] / self._tail  # rows of one node are the same
        return found, mean_H[:, :d] / self._tail

    def _start(self) -> Floats:
        """Vectors of the nodes before training: word2vec's start, uniform in ±1/(2d)."""
        d, random = self.scale.dimensions, np.random.default_rng([self._seed, self.scale.hops[-1], 1])
        start = random.random((self._context.n_nodes, d), dtype=np.float32)
        start -= np.float32(0.5)
        start /= np.float32(d)
        start[~self._visited] = 0.0  # never trained: the random start must not pass for a vector
        return start

    def _gathered(self, nodes: Tensor, counts: Tensor, sums: Tensor) -> tuple[Any, Any, float]:
        """The walks, pairs and batches of a round in which rows are visited so many times, and ``sums`` as it is."""
        import torch

        from hopscale.compute.skipgram_plain import Round

        kernels, hops = self._engine.skipgram, self.scale.hops
        device, key = self._engine.device, int(self._key.integers(0, 2**63))
        visits = torch.nn.functional.pad(counts.cumsum(0), (1, 0))
        total = int(visits[-1])
        row = torch.repeat_interleave(torch.arange(len(counts), device=device), counts, output_size=total)
        reached = kernels.reached(self._graph, nodes[row], torch.arange(total, device=device), hops, key)
        pairs = torch.nn.functional.pad(self._degrees[reached.view(-1).to(torch.int64)].cumsum(0), (1, 0))
        of_rows = pairs[visits * len(hops)].diff()
        batches = torch.nn.functional.pad(((of_rows + self._batch - 1) // self._batch).cumsum(0), (1, 0))
        sizes = torch.stack([pairs[-1].double(), batches[-1].double(), sums.double()]).tolist()
        self.pairs_seen += int(sizes[0])
        row = torch.repeat_interleave(
            torch.arange(len(counts), dtype=torch.int32, device=device), batches.diff(), output_size=int(sizes[1])
        )
        this = Round(visits, pairs, batches, row, reached, key)
        return this, kernels.batches(self._table, self._noise, this, self._batch, self._shared, self._width), sizes[2]


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
