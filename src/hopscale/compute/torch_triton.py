"""Kernels of a GPU, in Triton: each function does what the one of its name in :mod:`hopscale.compute.torch_plain` does.

Every entry is summed in one order, by one program: rows longer than ``LONG`` entries are cut into runs, each summed by
a program of its own, and the runs' sums are added up in their order. Nothing is added by atomic operations.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, untyped-decorator"

from __future__ import annotations

import weakref
from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

from hopscale.compute.torch_plain import Csr

__all__ = ["add_projection", "half_product", "logarithms", "product", "row_statistics", "segment_sums"]

LONG = 512  # entries of a row that one program sums
GATHER = 8  # rows that a program gathers at once
PIECE = 256  # columns of a product that a program computes
PLAIN, ROOT, OTHER = 0, 1, 2  # powers


def product(matrix: Csr, x: Tensor, out: Tensor) -> None:
    """out = matrix·x."""
    width = x.shape[1]
    block = min(PIECE, triton.next_power_of_2(width))
    warps = max(1, min(8, block * x.element_size() // 512))  # 16 bytes a thread
    pieces, values = triton.cdiv(width, block), _or_none(matrix.values)
    settings = {"WIDTH": width, "BLOCK": block, "GATHER": GATHER, "WEIGHTED": matrix.values is not None}
    runs = _runs(matrix)
    if runs is not None:
        partial = torch.empty((len(runs.begin), width), dtype=torch.float32, device=out.device)
        grid = (len(runs.begin), pieces)
        _product[grid](
            runs.begin, runs.end, matrix.indices, values, partial, x, partial,
            LONG=2**40, SCALED=False, **settings, num_warps=warps,
        )  # fmt: skip
        _join(matrix, runs, partial, out)
    if matrix.height:
        _product[matrix.height, pieces](
            matrix.offsets, matrix.offsets[1:], matrix.indices, values, _or_none(matrix.scale), x, out,
            LONG=LONG, SCALED=matrix.scale is not None, **settings, num_warps=warps,
        )  # fmt: skip


def half_product(matrix: Tensor, x: Tensor) -> Tensor:
    """matrix·x in single precision, of a matrix in half precision.

    x, in units in which no column leaves the range of half precision, is the sum of two such numbers.
    """
    (height, inner), width = matrix.shape, x.shape[1]
    largest = torch.linalg.vector_norm(x, torch.inf, dim=0)
    high, low = torch.empty((2, inner, width), dtype=torch.float16, device=x.device)
    columns = max(16, triton.next_power_of_2(width))
    rows = max(1, 4096 // columns)
    _split[(triton.cdiv(inner, rows),)](
        x.contiguous(), largest, high, low, inner, width, ROWS=rows, COLUMNS=columns, LOW=2.0**11, num_warps=4
    )
    columns = min(128, columns)
    out = torch.empty((height, width), dtype=torch.float32, device=x.device)
    _half_product[triton.cdiv(height, 128), triton.cdiv(width, columns)](
        matrix, high, low, largest, out, height, inner, width, matrix.stride(0), matrix.stride(1),
        ROWS=128, INNER=64, COLUMNS=columns, LOW=2.0**11, num_warps=4 if columns <= 64 else 8, num_stages=3,
    )  # fmt: skip
    return out


def segment_sums(x: Tensor, offsets: Tensor) -> Tensor:
    """Sums of consecutive numbers."""
    count = len(offsets) - 1
    out = torch.empty(count, dtype=torch.float32, device=x.device)
    if count:
        _segment_sums[(triton.cdiv(count, 256),)](x, offsets, out, count, COUNT=256, num_warps=4)
    return out


def row_statistics(matrix: Tensor) -> tuple[Tensor, Tensor]:
    """Number of entries of each row that are not zero, and sum of their squares."""
    height, width = matrix.shape
    counts = torch.empty(height, dtype=torch.int32, device=matrix.device)
    squares = torch.empty(height, dtype=torch.float32, device=matrix.device)
    _row_statistics[(height,)](matrix, counts, squares, width, matrix.stride(0), COLUMNS=2048, num_warps=4)
    return counts, squares


def logarithms(block: Tensor, scaling: Tensor, power: float, out: Tensor, factor: Tensor | None = None) -> None:
    """out = the positive logarithms of block·diag(scaling) to a power, each row times its factor; 0 elsewhere."""
    height, width = out.shape
    columns = min(1024, triton.next_power_of_2(width))
    _logarithms[height, triton.cdiv(width, columns)](
        block, scaling, out, _or_none(factor), width, block.stride(0), out.stride(0), power,
        COLUMNS=columns, POWER=_kind(power), FACTOR=factor is not None, num_warps=4,
    )  # fmt: skip


def add_projection(block: Tensor, scaling: Tensor, power: float, basis: Tensor, out: Tensor) -> None:
    """out += L·basis, L the positive logarithms of block·diag(scaling) to a power, in half precision.

    The basis is the sum of two numbers of half precision, which leaves nothing of it out.
    """
    height, width = block.shape
    dimensions = max(16, min(128, triton.next_power_of_2(out.shape[1])))
    _add_projection[triton.cdiv(height, 128), triton.cdiv(out.shape[1], dimensions)](
        block, scaling, basis, out, height, width, out.shape[1], power,
        ROWS=128, INNER=32 if dimensions <= 64 else 64, DIMENSIONS=dimensions, POWER=_kind(power), LOW=2.0**11,
        num_warps=8, num_stages=3,
    )  # fmt: skip


def _kind(power: float) -> int:
    return {1.0: PLAIN, 0.5: ROOT}.get(power, OTHER)


def _or_none(x: Tensor | None) -> Any:
    return x


class _Runs:
    """The long rows of a matrix, cut into runs of entries."""

    def __init__(self, offsets: Tensor) -> None:
        counts = offsets.diff()
        self.rows = torch.nonzero(counts > LONG)[:, 0]
        pieces = (counts[self.rows] + LONG - 1) // LONG
        self.first = torch.nn.functional.pad(pieces.cumsum(0), (1, 0))
        within = torch.arange(int(self.first[-1]), device=offsets.device)
        within -= self.first[:-1].repeat_interleave(pieces)
        self.begin = offsets[self.rows].repeat_interleave(pieces) + LONG * within
        self.end = torch.minimum(self.begin + LONG, offsets[self.rows + 1].repeat_interleave(pieces))


_known: weakref.WeakKeyDictionary[Csr, _Runs | None] = weakref.WeakKeyDictionary()


def _runs(matrix: Csr) -> _Runs | None:
    """Runs of the long rows, or None where there is none; found once for a matrix."""
    if matrix not in _known:
        runs = _Runs(matrix.offsets)
        _known[matrix] = runs if len(runs.rows) else None
    return _known[matrix]


def _join(matrix: Csr, runs: _Runs, partial: Tensor, out: Tensor) -> None:
    width = out.shape[1]
    block = min(1024, triton.next_power_of_2(width))
    _sum_of_runs[len(runs.rows), triton.cdiv(width, block)](
        runs.rows, runs.first, partial, _or_none(matrix.scale), out, width,
        BLOCK=block, SCALED=matrix.scale is not None, num_warps=4,
    )  # fmt: skip


@triton.jit
def _product(
    begins, ends, indices, values, scale, x, out,
    LONG: tl.constexpr, SCALED: tl.constexpr, WIDTH: tl.constexpr, BLOCK: tl.constexpr, GATHER: tl.constexpr,
    WEIGHTED: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64)
    columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = columns < WIDTH
    begin, end = tl.load(begins + row), tl.load(ends + row)
    short = end - begin <= LONG
    end = tl.where(short, end, begin)
    total = tl.zeros([BLOCK], dtype=tl.float32)
    for at in range(begin, end, GATHER):
        entries = at + tl.arange(0, GATHER)
        here = entries < end
        index = tl.load(indices + entries, here, other=0).to(tl.int64)
        gathered = tl.load(x + index[:, None] * WIDTH + columns[None, :], here[:, None] & inside[None, :], other=0.0)
        gathered = gathered.to(tl.float32)
        if WEIGHTED:
            gathered *= tl.load(values + entries, here, other=0.0)[:, None]
        total += tl.sum(gathered, axis=0)
    if SCALED:
        total *= tl.load(scale + row)
    tl.store(out + row * WIDTH + columns, total.to(out.dtype.element_ty), inside & short)


@triton.jit
def _sum_of_runs(rows, first, partial, scale, out, width, BLOCK: tl.constexpr, SCALED: tl.constexpr):
    which = tl.program_id(0)
    columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = columns < width
    row = tl.load(rows + which)
    total = tl.zeros([BLOCK], dtype=tl.float32)
    for run in range(tl.load(first + which), tl.load(first + which + 1)):
        total += tl.load(partial + run * width + columns, inside, other=0.0)
    if SCALED:
        total *= tl.load(scale + row)
    tl.store(out + row * width + columns, total.to(out.dtype.element_ty), inside)


@triton.jit
def _unit(largest):
    """The power of two, some 1/largest: what is multiplied by it is less than 2."""
    exponent = tl.minimum((largest.to(tl.int32, bitcast=True) >> 23) & 255, 253)
    return ((254 - exponent) << 23).to(tl.float32, bitcast=True)


@triton.jit
def _split(x, largest, high, low, inner, width, ROWS: tl.constexpr, COLUMNS: tl.constexpr, LOW: tl.constexpr):
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    columns = tl.arange(0, COLUMNS)
    known = (rows < inner)[:, None] & (columns < width)[None, :]
    at = rows.to(tl.int64)[:, None] * width + columns[None, :]
    numbers = tl.load(x + at, known, other=0.0) * _unit(tl.load(largest + columns, columns < width, other=1.0))[None, :]
    first = numbers.to(tl.float16)
    tl.store(high + at, first, known)
    tl.store(low + at, ((numbers - first.to(tl.float32)) * LOW).to(tl.float16), known)


@triton.jit
def _half_product(
    matrix, high, low, largest, out, height, inner, width, row_stride, column_stride,
    ROWS: tl.constexpr, INNER: tl.constexpr, COLUMNS: tl.constexpr, LOW: tl.constexpr,
):  # fmt: skip
    rows = (tl.program_id(0) * ROWS + tl.arange(0, ROWS)).to(tl.int64)
    columns = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    known = columns < width
    total, rest = tl.zeros([ROWS, COLUMNS], dtype=tl.float32), tl.zeros([ROWS, COLUMNS], dtype=tl.float32)
    for at in range(0, inner, INNER):
        along = (at + tl.arange(0, INNER)).to(tl.int64)
        inside = along < inner
        left = tl.load(matrix + rows[:, None] * row_stride + along[None, :] * column_stride,
                       (rows < height)[:, None] & inside[None, :], other=0.0)  # fmt: skip
        place = along[:, None] * width + columns[None, :]
        both = inside[:, None] & known[None, :]
        total = tl.dot(left, tl.load(high + place, both, other=0.0), total)
        rest = tl.dot(left, tl.load(low + place, both, other=0.0), rest)
    total = (total + rest / LOW) / _unit(tl.load(largest + columns, known, other=1.0))[None, :]
    tl.store(out + rows[:, None] * width + columns[None, :], total, (rows < height)[:, None] & known[None, :])


@triton.jit
def _segment_sums(x, offsets, out, count, COUNT: tl.constexpr):
    segments = tl.program_id(0) * COUNT + tl.arange(0, COUNT)
    known = segments < count
    begin = tl.load(offsets + segments, known, other=0)
    length = tl.load(offsets + segments + 1, known, other=0) - begin
    total = tl.zeros([COUNT], dtype=tl.float32)
    for k in range(tl.max(length, axis=0)):
        total += tl.load(x + begin + k, k < length, other=0.0)
    tl.store(out + segments, total, known)


@triton.jit
def _row_statistics(matrix, counts, squares, width, stride, COLUMNS: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    count, square = tl.zeros([COLUMNS], dtype=tl.int32), tl.zeros([COLUMNS], dtype=tl.float32)
    for at in range(0, width, COLUMNS):
        columns = at + tl.arange(0, COLUMNS)
        x = tl.load(matrix + row * stride + columns, columns < width, other=0.0).to(tl.float32)
        count += (x != 0).to(tl.int32)
        square += x * x
    tl.store(counts + row, tl.sum(count, axis=0))
    tl.store(squares + row, tl.sum(square, axis=0))


@triton.jit
def _positive_logs(ratios, power, POWER: tl.constexpr):
    logs = tl.log(tl.maximum(ratios, 1.0))
    if POWER == 1:
        logs = tl.sqrt(logs)
    if POWER == 2:
        logs = tl.where(logs > 0, tl.exp2(power * tl.log2(tl.where(logs > 0, logs, 1.0))), 0.0)
    return logs


@triton.jit
def _logarithms(
    block, scaling, out, factor, width, block_stride, out_stride, power,
    COLUMNS: tl.constexpr, POWER: tl.constexpr, FACTOR: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64)
    columns = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    inside = columns < width
    ratios = tl.load(block + row * block_stride + columns, inside, other=0.0).to(tl.float32)
    logs = _positive_logs(ratios * tl.load(scaling + columns, inside, other=0.0), power, POWER)
    if FACTOR:
        logs *= tl.load(factor + row)
    tl.store(out + row * out_stride + columns, logs.to(out.dtype.element_ty), inside)


@triton.jit
def _add_projection(
    block, scaling, basis, out, height, width, dimensions, power,
    ROWS: tl.constexpr, INNER: tl.constexpr, DIMENSIONS: tl.constexpr, POWER: tl.constexpr, LOW: tl.constexpr,
):  # fmt: skip
    rows = (tl.program_id(0) * ROWS + tl.arange(0, ROWS)).to(tl.int64)
    axes = tl.program_id(1) * DIMENSIONS + tl.arange(0, DIMENSIONS)
    known = (rows < height)[:, None] & (axes < dimensions)[None, :]
    places = out + rows[:, None] * dimensions + axes[None, :]
    total, rest = tl.load(places, known, other=0.0), tl.zeros([ROWS, DIMENSIONS], dtype=tl.float32)
    for at in range(0, width, INNER):
        columns = at + tl.arange(0, INNER)
        inside = columns < width
        ratios = tl.load(block + rows[:, None] * width + columns[None, :], (rows < height)[:, None] & inside[None, :],
                         other=0.0).to(tl.float32)  # fmt: skip
        logs = _positive_logs(ratios * tl.load(scaling + columns, inside, other=0.0)[None, :], power, POWER)
        vectors = tl.load(basis + columns[:, None] * dimensions + axes[None, :],
                          inside[:, None] & (axes < dimensions)[None, :], other=0.0)  # fmt: skip
        half = logs.to(tl.float16)
        high = vectors.to(tl.float16)
        low = ((vectors - high.to(tl.float32)) * LOW).to(tl.float16)
        total = tl.dot(half, high, total)
        rest = tl.dot(half, low, rest)
    tl.store(places, total + rest / LOW, known)
