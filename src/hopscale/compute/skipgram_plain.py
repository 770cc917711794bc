"""Skip-gram on a device in plain PyTorch: what the kernels of a GPU must agree with.

A shard trains its batches one after the other; here all shards take a step together. Randomness is counted, not drawn
in turn: what a walk or a batch draws depends on its number alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

__all__ = ["Batches", "Graph", "Noise", "Round", "Table", "average", "batches", "reached", "train"]


GOLDEN = 0x9E3779B97F4A7C15
MULTIPLIERS = 0xBF58476D1CE4E5B9, 0x94D049BB133111EB


@dataclass(frozen=True, eq=False)
class Graph:
    """Lists of neighbours, and with weights the alias tables of their draws."""

    offsets: Tensor
    neighbors: Tensor
    keep: Tensor | None
    other: Tensor | None


@dataclass(frozen=True, eq=False)
class Table:
    """What walks see: the columns of each node, and how often an entry counts at a visit, None for once each."""

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
    more at the end.
    """

    visits: Tensor
    pairs: Tensor
    batches: Tensor
    row: Tensor  # of each batch
    reached: Tensor
    key: int


@dataclass(frozen=True, eq=False)
class Batches:
    """Features of each batch, positives first, -1 where there is none; how often each positive counts, None for once.

    ``positives`` is how many come before the noise.
    """

    features: Tensor
    weights: Tensor | None
    positives: int


def reached(graph: Graph, nodes: Tensor, streams: Tensor, hops: Sequence[int], key: int) -> Tensor:
    """Nodes that a walk from each node has reached after each of so many hops."""
    at, state = nodes.to(torch.int64), _stream(key, streams)
    found = torch.empty((len(nodes), len(hops)), dtype=torch.int32, device=nodes.device)
    for hop in range(hops[-1] + 1):
        if hop:
            begin = graph.offsets[at]
            bits = _mix(state + _signed(hop * GOLDEN))
            index = _below(bits, graph.offsets[at + 1] - begin)
            if graph.keep is not None and graph.other is not None:
                stays = _fraction(bits) < graph.keep[begin + index]
                index = torch.where(stays, index, graph.other[begin + index].to(torch.int64))
            at = graph.neighbors[begin + index].to(torch.int64)
        if hop in hops:
            found[:, hops.index(hop)] = at.to(torch.int32)
    return found


def batches(table: Table, noise: Noise, this: Round, positives: int, shared: int, width: int) -> Batches:
    """The features of all batches of a round: pairs of a row in their order, and a systematic sample of noise."""
    row, device = this.row.to(torch.int64), this.row.device
    slot = torch.arange(positives, device=device)
    per_visit = this.reached.shape[1]
    first = this.pairs[this.visits[row] * per_visit] + positives * (
        torch.arange(len(row), device=device) - this.batches[row]
    )
    pair = first[:, None] + slot
    known = pair < this.pairs[this.visits[row + 1] * per_visit][:, None]
    pair = torch.where(known, pair, first[:, None])
    visit = torch.searchsorted(this.pairs, pair, right=True) - 1
    entry = table.offsets[this.reached.view(-1)[visit].to(torch.int64)] + pair - this.pairs[visit]
    features = torch.full((len(row), width), -1, dtype=torch.int32, device=device)
    features[:, :positives] = torch.where(known, table.columns[entry], -1)
    weights = None
    if table.expected is not None:
        uniform = _fraction(_mix(_stream(this.key, pair) + _signed(3 * GOLDEN)))
        weights = torch.where(known, torch.floor(table.expected[entry] + uniform), 0.0)
    spacing = 2**32 // shared
    offset = _mix(_stream(this.key, torch.arange(len(row), device=device)) + _signed(2 * GOLDEN)) >> 32 & 0xFFFFFFFF
    point = (offset[:, None] + spacing * torch.arange(shared, device=device)) & 0xFFFFFFFF
    features[:, positives : positives + shared] = noise.feature[torch.searchsorted(noise.last, point)].to(torch.int32)
    return Batches(features, weights, positives)


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
        push = _push(h, g, known, None if of.weights is None else of.weights[batch], of.positives, rate, noise_rate)
        if own is not None and touches is not None:
            some, which = shard[:, None].expand_as(ids)[known], ids[known]
            own.index_put_((some, which), (push[:, :, None] * g[:, None, :])[known], accumulate=True)
            touches.index_put_((some, which), torch.ones_like(which, dtype=touches.dtype), accumulate=True)
        G[nodes] = g + (push[:, :, None] * h).sum(dim=1)


def _push(
    h: Tensor, g: Tensor, known: Tensor, weights: Tensor | None, positives: int, rate: float, noise_rate: float
) -> Tensor:
    """What each feature of a batch moves the node's row by, in units of its own row."""
    x = (h * g[:, None, :]).sum(dim=2)
    weight = known[:, :positives].to(torch.float32) if weights is None else weights
    push = -noise_rate * weight.sum(dim=1, keepdim=True) * torch.sigmoid(x)
    push[:, :positives] = rate * weight * torch.sigmoid(-x[:, :positives])
    return torch.where(known, push, 0.0)


def average(own: Tensor, touches: Tensor, H: Tensor) -> Tensor:
    """The mean of the shards' copies of H, each feature weighted by how often a shard updated it."""
    total, count = torch.zeros_like(H), torch.zeros(len(H), dtype=torch.int64, device=H.device)
    for copy, times in zip(own, touches, strict=True):  # in the order of the shards
        total += times.to(torch.float32)[:, None] * copy
        count += times
    return torch.where(count[:, None] > 0, total / count.clamp_min(1).to(torch.float32)[:, None], H)


# Random numbers: the finaliser of splitmix64 over counters, in 64 bits that wrap around.


def _signed(x: int) -> int:
    x &= 2**64 - 1
    return x - 2**64 if x >= 2**63 else x


def _shifted(z: Tensor, bits: int) -> Tensor:
    return (z >> bits) & ((1 << (64 - bits)) - 1)


def _mix(z: Tensor) -> Tensor:
    z = (z ^ _shifted(z, 30)) * _signed(MULTIPLIERS[0])
    z = (z ^ _shifted(z, 27)) * _signed(MULTIPLIERS[1])
    return z ^ _shifted(z, 31)


def _stream(key: int, counter: Tensor) -> Tensor:
    return _mix((counter + _signed(GOLDEN)) ^ _signed(key))


def _below(bits: Tensor, count: Tensor) -> Tensor:
    return (_shifted(bits, 32) * count) >> 32


def _fraction(bits: Tensor) -> Tensor:
    return (bits & 0xFFFFFF).to(torch.float32) * 2.0**-24
