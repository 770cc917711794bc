"""Skip-gram on a GPU, in Triton: each function does what the one of its name does in :mod:`~.skipgram_plain`.

A program trains a shard, batch after batch; what these need is gathered before, by programs that do not wait for each
other. A row that a batch has twice is written twice with the same sum of its changes, and copies are added up in the
order of the shards: nothing is added by atomic operations, and the bits are the same in every run.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, untyped-decorator"

from __future__ import annotations

from collections.abc import Sequence

import torch
import triton
import triton.language as tl
from torch import Tensor

from hopscale.compute.skipgram_plain import Batches, Graph, Noise, Round, Table, signed

__all__ = ["average", "batches", "reached", "train"]

WALKS = 256  # that a program takes
GATHERED = 32  # batches that a program gathers
TILE = 2048  # numbers of a batch's rows that a warp holds
FEATURES = 8  # that a program adds up


def reached(graph: Graph, nodes: Tensor, streams: Tensor, hops: Sequence[int], key: int) -> Tensor:
    """Nodes that a walk from each node has reached after each of so many hops."""
    found = torch.empty((len(nodes), len(hops)), dtype=torch.int32, device=nodes.device)
    if len(nodes):
        _reached[(triton.cdiv(len(nodes), WALKS),)](
            graph.offsets, graph.neighbors, graph.keep, graph.other, nodes, streams, found, len(nodes), signed(key),
            HOPS=sum(1 << hop for hop in hops), LAST=hops[-1], SEEN=len(hops), WALKS=WALKS,
            WEIGHTED=graph.keep is not None, num_warps=4,
        )  # fmt: skip
    return found


def batches(table: Table, noise: Noise, this: Round, positives: int, shared: int) -> Batches:
    """The features of all batches of a round: pairs of a row in their order, and a systematic sample of noise."""
    count, width = len(this.row), positives + shared
    features = torch.empty((count, width), dtype=torch.int32, device=this.row.device)
    if count:
        _batches[(triton.cdiv(count, GATHERED),)](
            this.visits, this.pairs, this.listed, this.batches, this.row, this.reached, table.offsets, table.columns,
            noise.last, noise.feature, noise.guide, features, count, noise.shift, this.reached.shape[1],
            2**32 // shared, signed(this.key), POSITIVES=positives, SHARED=shared, WIDTH=width, COUNT=GATHERED,
            LISTED=this.listed is not None, num_warps=4,
        )  # fmt: skip
    return Batches(features, positives)


def train(
    of: Batches, row: Tensor, bounds: Tensor, G: Tensor, H: Tensor, own: Tensor | None, touches: Tensor | None,
    *, rate: float, noise_rate: float,
) -> None:  # fmt: skip
    """Train the batches of each shard, those from ``bounds[s]`` up to ``bounds[s + 1]``, one after the other."""
    width, stride = of.features.shape[1], G.shape[1]
    columns = triton.next_power_of_2(stride)
    _train[(len(bounds) - 1,)](
        of.features, row, bounds, G, H, own, touches, H.shape[0], rate, noise_rate,
        POSITIVES=of.positives, WIDTH=width, COLUMNS=columns, STRIDE=stride, LEARN=own is not None,
        LONG=H.numel() >= 2**31, num_warps=max(1, min(16, width * columns // TILE)),
    )  # fmt: skip


def average(own: Tensor, touches: Tensor, H: Tensor) -> Tensor:
    """The mean of the shards' copies of H, each feature weighted by how often a shard updated it."""
    rows, stride = H.shape
    out = torch.empty_like(H)
    _average[(triton.cdiv(rows, FEATURES),)](
        own, touches, H, out, len(own), rows, FEATURES=FEATURES, COLUMNS=triton.next_power_of_2(stride),
        STRIDE=stride, num_warps=4,
    )  # fmt: skip
    return out


@triton.jit
def _mix(z):
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB
    return z ^ (z >> 31)


@triton.jit
def _stream(key, counter):
    return _mix((counter.to(tl.uint64) + 0x9E3779B97F4A7C15) ^ key.to(tl.uint64))


@triton.jit
def _draw(state, number: tl.constexpr):
    """The draw of that number from a stream."""
    step: tl.constexpr = (number * 0x9E3779B97F4A7C15) & 0xFFFFFFFFFFFFFFFF
    return _mix(state + step)


@triton.jit
def _fraction(bits):
    return (bits & 0xFFFFFF).to(tl.uint32).to(tl.float32) * 5.9604644775390625e-08


@triton.jit(do_not_specialize=["count", "key"])
def _reached(
    offsets, neighbors, keep, other, nodes, streams, found, count, key,
    HOPS: tl.constexpr, LAST: tl.constexpr, SEEN: tl.constexpr, WALKS: tl.constexpr, WEIGHTED: tl.constexpr,
):  # fmt: skip
    walks = tl.program_id(0).to(tl.int64) * WALKS + tl.arange(0, WALKS)
    known = walks < count
    at = tl.load(nodes + walks, known, other=0).to(tl.int64)
    state = _stream(key, tl.load(streams + walks, known, other=0))
    seen = 0
    for hop in tl.static_range(LAST + 1):
        if hop > 0:
            begin = tl.load(offsets + at, known, other=0)
            degree = (tl.load(offsets + at + 1, known, other=0) - begin).to(tl.uint64)
            bits = _draw(state, hop)
            index = (((bits >> 32) * degree) >> 32).to(tl.int64)
            if WEIGHTED:
                stays = _fraction(bits) < tl.load(keep + begin + index, known, other=0.0)
                index = tl.where(stays, index, tl.load(other + begin + index, known, other=0).to(tl.int64))
            at = tl.load(neighbors + begin + index, known, other=0).to(tl.int64)
        if (HOPS >> hop) & 1:
            tl.store(found + walks * SEEN + seen, at.to(tl.int32), known)
            seen += 1


@triton.jit
def _first_above(numbers, low, high, wanted, known):
    """The first place from ``low`` on where a rising list is above what is wanted; ``high`` if none before it is."""
    left = tl.max(tl.max(tl.where(known, high - low, 0), axis=1), axis=0)
    while left > 0:
        middle = (low + high) // 2
        inside = known & (low < high)
        is_above = tl.load(numbers + middle, inside, other=0) > wanted
        low = tl.where(inside & (is_above == 0), middle + 1, low)
        high = tl.where(inside & is_above, middle, high)
        left = left // 2
    return low


@triton.jit(do_not_specialize=["count", "key"])
def _batches(
    visits, pairs, listed, row_batches, rows, reached, offsets, columns, last, feature, guide, features,
    count, shift, per_visit, spacing, key,
    POSITIVES: tl.constexpr, SHARED: tl.constexpr, WIDTH: tl.constexpr, COUNT: tl.constexpr, LISTED: tl.constexpr,
):  # fmt: skip
    batch = tl.program_id(0).to(tl.int64) * COUNT + tl.arange(0, COUNT)
    there = batch < count
    slot = tl.arange(0, WIDTH)[None, :]
    row = tl.load(rows + batch, there, other=0).to(tl.int64)
    # Positives: the pairs of the row from this batch's first one on, and the visit of each.
    begin = tl.load(visits + row, there, other=0) * per_visit
    end = tl.load(visits + row + 1, there, other=1) * per_visit
    first = tl.load(pairs + begin, there, other=0)
    first += POSITIVES * (batch - tl.load(row_batches + row, there, other=0))
    pair = first[:, None] + slot
    is_positive = there[:, None] & (slot < POSITIVES) & (pair < tl.load(pairs + end, there, other=0)[:, None])
    if LISTED:
        found = tl.load(listed + pair, is_positive, other=-1)
    else:
        none = tl.zeros([COUNT, WIDTH], dtype=tl.int64)
        visit = _first_above(pairs, begin[:, None] + none, end[:, None] + none, pair, is_positive) - 1
        visit = tl.where(is_positive, visit, 0)
        node = tl.load(reached + visit, is_positive, other=0).to(tl.int64)
        entry = tl.load(offsets + node, is_positive, other=0) + pair - tl.load(pairs + visit, is_positive, other=0)
        found = tl.load(columns + entry, is_positive, other=-1)
    # Noise: evenly spaced numbers, and the features that they stand for.
    is_noise = there[:, None] & (slot >= POSITIVES) & (slot < POSITIVES + SHARED)
    offset = (_draw(_stream(key, batch), 2) >> 32).to(tl.int64)
    point = (offset[:, None] + spacing * (slot - POSITIVES).to(tl.int64)) & 0xFFFFFFFF
    cell = tl.where(is_noise, point >> shift, 0)
    low = tl.load(guide + cell, is_noise, other=0)
    place = _first_above(last, low, tl.load(guide + cell + 1, is_noise, other=0), point - 1, is_noise)
    found = tl.where(is_noise, tl.load(feature + place, is_noise, other=-1), found)
    tl.store(features + batch[:, None] * WIDTH + slot, found, there[:, None])


@triton.jit
def _train(
    features, rows, bounds, G, H, own, touches, height, rate, noise_rate,
    POSITIVES: tl.constexpr, WIDTH: tl.constexpr, COLUMNS: tl.constexpr, STRIDE: tl.constexpr, LEARN: tl.constexpr,
    LONG: tl.constexpr,
):  # fmt: skip
    shard = tl.program_id(0).to(tl.int64)
    begin, end = tl.load(bounds + shard), tl.load(bounds + shard + 1)
    slot, column = tl.arange(0, WIDTH), tl.arange(0, COLUMNS)
    inside = column < STRIDE
    if LEARN:
        own += shard * height * STRIDE
        touches += shard * height
    if begin < end:
        next_ids = tl.load(features + begin * WIDTH + slot)
        next_row = tl.load(rows + begin)
        row = tl.load(rows + begin).to(tl.int64)
        g = tl.load(G + row * STRIDE + column, inside, other=0.0)
        for batch in range(begin, end):
            ids = next_ids
            this_row = next_row.to(tl.int64)
            if this_row != row:
                tl.store(G + row * STRIDE + column, g, inside)
                g = tl.load(G + this_row * STRIDE + column, inside, other=0.0)
            row = tl.where(this_row != row, this_row, row)  # names of one value would be taken for one variable
            following = tl.minimum(batch + 1, end - 1)
            next_ids = tl.load(features + following * WIDTH + slot)
            next_row = tl.load(rows + following)
            known = ids >= 0
            both = known[:, None] & inside[None, :]
            place = ids.to(tl.int64) if LONG else ids
            at = place[:, None] * STRIDE + column[None, :]
            if LEARN:
                h = tl.load(own + at, both, other=0.0)
                before = tl.load(touches + ids, known, other=0)
            else:
                h = tl.load(H + at, both, other=0.0)
            x = tl.sum(h * g[None, :], axis=1)
            is_positive = known & (slot < POSITIVES)
            share = tl.sum(is_positive.to(tl.float32), axis=0)
            # 1 - σ(x) = σ(-x)
            push = tl.where(slot < POSITIVES, rate, -noise_rate * share)
            push = tl.where(known, push * tl.sigmoid(tl.where(slot < POSITIVES, -x, x)), 0.0)
            if LEARN:
                same = ids[:, None] == ids[None, :]
                change = tl.sum(tl.where(same, push[None, :], 0.0), axis=1)
                tl.store(own + at, h + change[:, None] * g[None, :], both)
                tl.store(touches + ids, before + tl.sum(same.to(tl.int32), axis=1), known)
                tl.debug_barrier()  # the next batch may read what this one has written
            g += tl.sum(push[:, None] * h, axis=0)
        tl.store(G + row * STRIDE + column, g, inside)


@triton.jit
def _average(
    own, touches, H, out, shards, height,
    FEATURES: tl.constexpr, COLUMNS: tl.constexpr, STRIDE: tl.constexpr,
):  # fmt: skip
    some = tl.program_id(0).to(tl.int64) * FEATURES + tl.arange(0, FEATURES)
    column = tl.arange(0, COLUMNS)
    known = some < height
    both = known[:, None] & (column < STRIDE)[None, :]
    total = tl.zeros([FEATURES, COLUMNS], dtype=tl.float32)
    count = tl.zeros([FEATURES], dtype=tl.int64)
    here = some  # in the copies of a shard
    for _ in range(shards):
        times = tl.load(touches + here, known, other=0)
        at = here[:, None] * STRIDE + column[None, :]
        copies = tl.load(own + at, both & (times > 0)[:, None], other=0.0)
        total += times.to(tl.float32)[:, None] * copies
        count += times
        here += height
    at = some[:, None] * STRIDE + column[None, :]
    before = tl.load(H + at, both, other=0.0)
    mean = total / tl.maximum(count, 1).to(tl.float32)[:, None]
    tl.store(out + at, tl.where((count > 0)[:, None], mean, before), both)
