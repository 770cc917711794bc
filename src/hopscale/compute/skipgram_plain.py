"""Skip-gram on a device in plain PyTorch: what the kernels of a GPU must agree with.

A shard trains its batches one after the other; here all shards take a step together. Random numbers are counter-based:
what a walk or a batch draws depends on its number alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import ModuleType

import torch
from torch import Tensor

__all__ = [
    "Batches",
    "Graph",
    "Noise",
    "Round",
    "Table",
    "average",
    "batches",
    "gathered",
    "reached",
    "signed",
    "train",
]

GOLDEN, MULTIPLIERS = 0x9E3779B97F4A7C15, (0xBF58476D1CE4E5B9, 0x94D049BB133111EB)  # splitmix64's
_NOISE, _USES = 2, 3  # draws of a batch and of an entry


@dataclass(frozen=True, eq=False)
class Graph:
    """Lists of neighbours, and with weights the alias tables of their draws."""

    offsets: Tensor
    neighbors: Tensor
    keep: Tensor | None
    other: Tensor | None


@dataclass(frozen=True, eq=False)
class Table:
    """What walks see: the columns of each node, and how often an entry is a positive at a visit, None for once each."""

    offsets: Tensor
    columns: Tensor
    expected: Tensor | None


@dataclass(frozen=True, eq=False)
class Noise:
    """A distribution on the numbers 0..2³²-1 (:func:`hopscale.walks.sampling.noise_layout`).

    ``last`` and ``guide`` are whole numbers of 64 bits; ``guide`` has one more, the number of positions less one.
    """

    last: Tensor
    feature: Tensor
    guide: Tensor
    shift: int


@dataclass(frozen=True, eq=False)
class Round:
    """Where the visits, pairs and batches of each row are, in a round; each begins where the last one ends.

    ``pairs`` has a number for each node that a visit reaches, the others one for each row of a node, and all have one
    more at the end. ``listed`` are the features of all pairs, where entries do not count once each.
    """

    visits: Tensor
    pairs: Tensor
    listed: Tensor | None
    batches: Tensor
    row: Tensor  # of each batch
    reached: Tensor
    key: int


@dataclass(frozen=True, eq=False)
class Batches:
    """Features of each batch, ``positives`` first and then noise; -1 where there is none."""

    features: Tensor
    positives: int


def gathered(
    kernels: ModuleType, graph: Graph, table: Table, nodes: Tensor, counts: Tensor, hops: Sequence[int],
    positives: int, key: int, *more: Tensor,
) -> tuple[Round, list[float]]:  # fmt: skip
    """A round in which each row is visited so many times; and numbers: its pairs, its batches, and ``more``.

    Rows are of ``nodes``, ``kernels`` this module or one that does the same.
    """
    device = nodes.device
    visits = _ends(counts)
    total = int(visits[-1])
    row = torch.repeat_interleave(torch.arange(len(counts), device=device), counts, output_size=total)
    met = kernels.reached(graph, nodes[row], torch.arange(total, device=device), hops, key)
    entries = _ends(table.offsets.diff()[met.view(-1).to(torch.int64)])
    pairs, listed = entries, None
    if table.expected is not None:
        pairs, listed = _uses(table, table.expected, met, entries, key)
    of_rows = pairs[visits * len(hops)].diff()
    batches = _ends((of_rows + positives - 1) // positives)
    sizes = torch.stack([each.double() for each in (pairs[-1], batches[-1], *more)]).tolist()
    row = torch.repeat_interleave(
        torch.arange(len(counts), dtype=torch.int32, device=device), batches.diff(), output_size=int(sizes[1])
    )
    return Round(visits, pairs, listed, batches, row, met, key), sizes


def _ends(counts: Tensor) -> Tensor:
    """Where each begins and the last one ends."""
    return torch.nn.functional.pad(counts.cumsum(0), (1, 0))


def _uses(table: Table, expected: Tensor, met: Tensor, entries: Tensor, key: int) -> tuple[Tensor, Tensor]:
    """Where the pairs of each node that was met begin, and the features of all pairs: an entry may be in several."""
    total = int(entries[-1])
    which = torch.repeat_interleave(torch.arange(met.numel(), device=met.device), entries.diff(), output_size=total)
    place = torch.arange(total, device=met.device)
    entry = table.offsets[met.view(-1)[which].to(torch.int64)] + place - entries[which]
    uniform = _fraction(_mix(_stream(key, place) + signed(_USES * GOLDEN)))
    uses = torch.floor(expected[entry] + uniform).to(torch.int64)
    return _ends(uses)[entries], table.columns[entry].repeat_interleave(uses)


def reached(graph: Graph, nodes: Tensor, streams: Tensor, hops: Sequence[int], key: int) -> Tensor:
    """Nodes that a walk from each node has reached after each of so many hops."""
    at, state = nodes.to(torch.int64), _stream(key, streams)
    found = torch.empty((len(nodes), len(hops)), dtype=torch.int32, device=nodes.device)
    for hop in range(hops[-1] + 1):
        if hop:
            begin = graph.offsets[at]
            bits = _mix(state + signed(hop * GOLDEN))
            index = _below(bits, graph.offsets[at + 1] - begin)
            if graph.keep is not None and graph.other is not None:
                stays = _fraction(bits) < graph.keep[begin + index]
                index = torch.where(stays, index, graph.other[begin + index].to(torch.int64))
            at = graph.neighbors[begin + index].to(torch.int64)
        if hop in hops:
            found[:, hops.index(hop)] = at.to(torch.int32)
    return found


def batches(table: Table, noise: Noise, this: Round, positives: int, shared: int) -> Batches:
    """The features of all batches of a round: pairs of a row in their order, and a systematic sample of noise."""
    row, device = this.row.to(torch.int64), this.row.device
    number = torch.arange(len(row), device=device)
    per_visit = this.reached.shape[1]
    first = this.pairs[this.visits[row] * per_visit] + positives * (number - this.batches[row])
    pair = first[:, None] + torch.arange(positives, device=device)
    known = pair < this.pairs[this.visits[row + 1] * per_visit][:, None]
    pair = torch.where(known, pair, first[:, None])
    if this.listed is not None:
        found = this.listed[pair]
    else:
        visit = torch.searchsorted(this.pairs, pair, right=True) - 1
        entry = table.offsets[this.reached.view(-1)[visit].to(torch.int64)] + pair - this.pairs[visit]
        found = table.columns[entry]
    spacing = 2**32 // shared
    offset = _mix(_stream(this.key, number) + signed(_NOISE * GOLDEN)) >> 32 & 0xFFFFFFFF
    point = (offset[:, None] + spacing * torch.arange(shared, device=device)) & 0xFFFFFFFF
    drawn = noise.feature[torch.searchsorted(noise.last, point)]
    return Batches(torch.hstack([torch.where(known, found, -1), drawn]).to(torch.int32), positives)


def train(
    of: Batches, row: Tensor, bounds: Tensor, G: Tensor, H: Tensor, own: Tensor | None, touches: Tensor | None,
    *, rate: float, noise_rate: float,
) -> None:  # fmt: skip
    """Train the batches of each shard, those from ``bounds[s]`` up to ``bounds[s + 1]``, one after the other.

    ``own`` are the shards' copies of H, whose updates ``touches`` counts; None leaves H as
    it is. A noise feature weighs ``noise_rate`` times the positives of its batch.
    """
    counts = bounds.diff()
    for step in range(int(counts.max()) if len(counts) else 0):
        shard = torch.nonzero(counts > step)[:, 0]
        batch = bounds[shard] + step
        ids = of.features[batch].to(torch.int64)
        known = ids >= 0
        ids = ids.clamp_min(0)
        nodes = row[batch].to(torch.int64)
        g = G[nodes]
        h = H[ids] if own is None else own[shard[:, None], ids]
        push = _push(h, g, known, of.positives, rate, noise_rate)
        if own is not None and touches is not None:
            some, which = shard[:, None].expand_as(ids)[known], ids[known]
            own.index_put_((some, which), (push[:, :, None] * g[:, None, :])[known], accumulate=True)
            touches.index_put_((some, which), torch.ones_like(which, dtype=touches.dtype), accumulate=True)
        G[nodes] = g + (push[:, :, None] * h).sum(dim=1)


def _push(h: Tensor, g: Tensor, known: Tensor, positives: int, rate: float, noise_rate: float) -> Tensor:
    """What each feature of a batch moves the node's row by, in units of its own row."""
    x = (h * g[:, None, :]).sum(dim=2)
    push = -noise_rate * known[:, :positives].sum(dim=1, keepdim=True) * torch.sigmoid(x)
    push[:, :positives] = rate * torch.sigmoid(-x[:, :positives])
    return torch.where(known, push, 0.0)


def average(own: Tensor, touches: Tensor, H: Tensor) -> Tensor:
    """The mean of the shards' copies of H, each feature weighted by how often a shard updated it."""
    total, count = torch.zeros_like(H), torch.zeros(len(H), dtype=torch.int64, device=H.device)
    for copy, times in zip(own, touches, strict=True):  # in the order of the shards
        total += times.to(torch.float32)[:, None] * copy
        count += times
    return torch.where(count[:, None] > 0, total / count.clamp_min(1).to(torch.float32)[:, None], H)


# Random numbers: the finaliser of splitmix64 over counters, in 64 bits that wrap around.


def signed(x: int) -> int:
    """A number of 64 bits as PyTorch and Triton take it."""
    x &= 2**64 - 1
    return x - 2**64 if x >= 2**63 else x


def _shifted(z: Tensor, bits: int) -> Tensor:
    return (z >> bits) & ((1 << (64 - bits)) - 1)


def _mix(z: Tensor) -> Tensor:
    z = (z ^ _shifted(z, 30)) * signed(MULTIPLIERS[0])
    z = (z ^ _shifted(z, 27)) * signed(MULTIPLIERS[1])
    return z ^ _shifted(z, 31)


def _stream(key: int, counter: Tensor) -> Tensor:
    return _mix((counter + signed(GOLDEN)) ^ signed(key))


def _below(bits: Tensor, count: Tensor) -> Tensor:
    return (_shifted(bits, 32) * count) >> 32


def _fraction(bits: Tensor) -> Tensor:
    return (bits & 0xFFFFFF).to(torch.float32) * 2.0**-24
