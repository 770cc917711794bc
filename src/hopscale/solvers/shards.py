"""Training of one scale in shards and rounds: what a shard does in a round, whoever runs it.

Nodes are dealt to a fixed number of shards. In a round every shard trains its own nodes against its own copy of the
feature vectors; the copies are then averaged in shard order. Rows of nodes are disjoint and rounds are barriers, so the
result has the same bits for any number of threads, processes or machines.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hopscale._core import _native
from hopscale.compute.aligned import Floats, aligned_zeros
from hopscale.compute.chunks import ranges
from hopscale.exceptions import DivergenceError, Setting
from hopscale.solvers.training import LEAST_VISITS, TrainingCounts, batch_of
from hopscale.walks import Scale, WalkContext
from hopscale.walks.sampling import noise_layout
from hopscale.walks.transitions import ROW_BLOCK, row_blocks

if TYPE_CHECKING:
    from hopscale.solvers.sgns import SGNS

__all__ = [
    "Copy",
    "Deal",
    "Shards",
    "average",
    "balanced_shards",
    "deal",
    "diverged",
    "expected_counts",
    "keep_probability",
    "learning_rate_of",
    "noise_weights",
    "unit_of",
    "visits_of_nodes",
]

Copy = tuple[Floats, NDArray[np.uint32]]  # a shard's features, and updates of each

HEAVY = 1 / 64  # of a shard's visits: nodes that have more are dealt out one by one


@dataclass(frozen=True, eq=False)
class Deal:
    """Which nodes a shard trains, and how often it visits them."""

    nodes: NDArray[np.int32]  # of all shards, one after the other
    ends: Sequence[int]  # of each shard in ``nodes``
    rate: NDArray[np.float64]  # visits of each of ``nodes`` in a round
    offset: NDArray[np.float64]
    rounds: int
    tail: int  # rounds, the last ones, over which vectors are averaged
    pairs: float  # that the whole training sees, about
    updates: int  # of features' rows, as far as is known

    @property
    def shards(self) -> list[slice]:
        """Where each shard is in ``nodes``."""
        return [slice(begin, end) for begin, end in zip([0, *self.ends[:-1]], self.ends, strict=True)]


def deal(solver: SGNS, context: WalkContext, scale: Scale, window: int, seed: int) -> Deal:
    """Deal nodes to shards of about as many visits each."""
    visits = visits_of_nodes(solver, context, scale, window)
    random = np.random.default_rng([seed, scale.hops[-1], 2])
    counts = TrainingCounts(solver, context.size, scale, float(visits.sum()))
    shards = balanced_shards(visits, counts.shards, random)
    nodes = np.concatenate(shards)
    return Deal(
        nodes,
        np.cumsum([len(each) for each in shards]).tolist(),
        rate=visits[nodes] / counts.rounds,
        offset=random.random(context.n_nodes),
        rounds=counts.rounds,
        tail=counts.tail,
        pairs=counts.pairs,
        updates=counts.updates,
    )


class Shards:
    """The shards of one scale: everything that stays the same from round to round.

    ``counts`` says how often an entry of the context is a positive at a visit, None for once each; ``unit`` is that of
    :func:`unit_of`.
    """

    def __init__(
        self,
        solver: SGNS,
        context: WalkContext,
        scale: Scale,
        probability: NDArray[np.float64],
        seed: int,
        dealt: Deal,
        *,
        counts: NDArray[np.float32] | None,
        unit: int,
    ) -> None:
        self.scale, self.dealt, self._solver, self._seed = scale, dealt, solver, seed
        batch, shared = batch_of(solver, scale)
        self._kernel = _native.SkipGram(
            context.transitions.kernel,
            context.kernel_features,
            _native.Noise(*noise_layout(noise_weights(probability, unit, solver.noise_exponent))),
            hops=scale.mask,
            negatives=solver.negatives,
            batch=batch,
            shared=shared,
            seed=seed,
            scale=scale.hops[-1],
            counts=counts,
            keep=keep_probability(probability, solver.subsample),
        )

    def initial(self, shard: slice) -> Floats:
        """Vectors of the nodes of a shard before training: word2vec's start, uniform in ±1/(2d)."""
        d, nodes = self.scale.dimensions, self.dealt.nodes[shard]
        random = np.random.default_rng([self._seed, self.scale.hops[-1], 1])
        found, order = aligned_zeros(len(nodes), d), np.argsort(nodes, kind="stable")
        rising = nodes[order]
        for begin, end in ranges(len(self.dealt.nodes), ROW_BLOCK):  # numbers are drawn for all nodes, in their order
            start = random.random((end - begin, d), dtype=np.float32) - np.float32(0.5)
            first, last = np.searchsorted(rising, [begin, end])
            found[order[first:last], :d] = start[rising[first:last] - begin] / np.float32(d)
        found[self.dealt.rate[shard] == 0] = 0.0  # never trained: the random start must not pass for a vector
        return found

    def train(self, shard: slice, round_: int, G: Floats, H: Floats, copy: Copy | None, stop: NDArray[np.uint8]) -> int:
        """Train the rows of a shard for a round, and with them its copy of H if there is one; returns the pairs."""
        solver, dealt = self._solver, self.dealt
        # Visits are spread evenly over the rounds, not drawn: with few of them the noise in their
        # number would cost more than anything else.
        rate, offset = dealt.rate[shard], dealt.offset[shard]
        visits = np.floor((round_ + 1) * rate + offset) - np.floor(round_ * rate + offset)
        own, touches = (None, None) if copy is None else copy
        seen, wrong = self._kernel.train(
            G,
            H,
            own,
            touches,
            dealt.nodes[shard],
            visits.astype(np.int64),
            learning_rate=learning_rate_of(solver, round_, dealt.rounds),
            round=round_,
            stop=stop,
        )
        if wrong >= 0:
            raise diverged(solver, self.scale, round_, dealt.rounds, f" (node row {wrong})")
        return seen


def learning_rate_of(solver: SGNS, round_: int, rounds: int) -> float:
    """The rate of a round: it falls linearly."""
    progress = round_ / max(1, rounds - 1)
    return solver.learning_rate + progress * (solver.min_learning_rate - solver.learning_rate)


def diverged(solver: SGNS, scale: Scale, round_: int, rounds: int, where: str = "") -> DivergenceError:
    """What to say of vectors that are no longer finite."""
    return DivergenceError(
        f"training diverged at scale {scale.label} in round {round_ + 1} of {rounds}{where}: try a smaller ",
        Setting("learning_rate"),
        f" than {solver.learning_rate}",
    )


def average(
    copies: Sequence[Copy],
    H: Floats,
    new: Floats,
    updates: NDArray[np.int64],
    features: slice,
    *,
    first: bool = True,
    last: bool = True,
) -> None:
    """Make ``new`` the mean of some shards' copies of H, for some features; ``updates`` are 0 at first.

    Copies may come in several calls, in the order of the shards. A feature is weighted by how often a shard updated it:
    one that a single shard has seen moves as far as that shard moved it; plain averaging would shorten its step by the
    number of shards.
    """
    before = H if last else None
    _native.average(copies, new, updates, features.start, features.stop, first=first, before=before)


def balanced_shards(visits: NDArray[np.float64], count: int, random: np.random.Generator) -> list[NDArray[np.int32]]:
    """Nodes in random order, dealt to shards of about as many visits each: a hub may have as many as half a shard.

    Nodes of many visits come first, each into the shard that has the fewest; the others fill the shards up.
    """
    order = random.permutation(len(visits)).astype(np.int32)
    share = visits.sum() / count
    is_heavy = visits[order] > HEAVY * share
    heavy, light = order[is_heavy], order[~is_heavy]
    load = np.zeros(count)
    dealt: list[list[int]] = [[] for _ in range(count)]
    for node in heavy[np.argsort(-visits[heavy], kind="stable")].tolist():
        least = int(np.argmin(load))
        dealt[least].append(node)
        load[least] += visits[node]
    room = np.maximum(share - load, 0.0)
    ends = np.cumsum(room) * (visits[light].sum() / max(room.sum(), 1e-300))
    filled = np.split(light, np.searchsorted(np.cumsum(visits[light]), ends[:-1]))
    return [
        random.permutation(np.concatenate([np.array(a, dtype=np.int32), b])) for a, b in zip(dealt, filled, strict=True)
    ]


def unit_of(context: WalkContext) -> int:
    """The exponent of a power of two that the largest entry of a context is at least, but less than twice as much."""
    largest = max((float(rows.data.max(initial=0.0)) for _, rows in row_blocks(context.features)), default=0.0)
    return int(np.frexp(np.float32(largest))[1]) - 1 if context.features.nnz else 0


def expected_counts(context: WalkContext, unit: int) -> Iterator[NDArray[np.float32]] | None:
    """How often an entry is a positive at a visit, block by block: its value over the mean; None if all are equal."""
    first, total, differ = None, 0.0, False
    for _, rows in row_blocks(context.features):
        values = _in_unit(rows.data, unit)
        first = values[0] if first is None and len(values) else first
        differ = differ or bool((values != first).any())
        total += float(values.sum(dtype=np.float64))
    if not differ:
        return None
    mean = np.float32(total / context.features.nnz)
    return ((_in_unit(rows.data, unit) / mean).astype(np.float32) for _, rows in row_blocks(context.features))


def _in_unit(data: NDArray[np.float32], unit: int) -> NDArray[np.float32]:
    return np.ldexp(data.astype(np.float32, copy=False), -unit) if unit else data.astype(np.float32, copy=False)


def visits_of_nodes(solver: SGNS, context: WalkContext, scale: Scale, window: int) -> NDArray[np.float64]:
    """Expected number of visits of each node over the whole training."""
    sees = context.sees_features(scale)
    if scale.is_self:  # a pass over every node's own features each epoch, as in the authors' code
        return np.where(sees, float(solver.epochs), 0.0)
    once = context.transitions.expected_visits(
        start=solver.start, walks_per_node=solver.walks_per_node, positions=solver.walk_length - window
    )
    # Either side of the source. Nodes that never meet a feature are not visited: there is nothing to learn.
    return np.where(sees & (once > 0), np.maximum(2.0 * solver.epochs * once, LEAST_VISITS), 0.0)


def noise_weights(probability: NDArray[np.float64], unit: int, exponent: float) -> NDArray[np.float64]:
    """Noise of each feature, in proportion to a power of p(f), with p(f) in units of 2^unit."""
    seen = probability > 0
    return np.where(seen, np.ldexp(np.where(seen, probability, 0.0), -unit) ** exponent, 0.0)


def keep_probability(probability: NDArray[np.float64], subsample: float) -> NDArray[np.float32] | None:
    """word2vec's sub-sampling of what is frequent among all pairs."""
    if not subsample:
        return None
    share = probability / max(probability.sum(), 1e-300)
    ratio = np.divide(subsample, share, out=np.ones_like(share), where=share > 0)
    return np.minimum(1.0, np.sqrt(ratio) + ratio).astype(np.float32)
