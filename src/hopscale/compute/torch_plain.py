"""Products of sparse matrices and positive logarithms in plain PyTorch: what the kernels of a GPU must agree with."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

__all__ = ["Csr", "add_projection", "half_product", "logarithms", "product", "row_statistics", "segment_sums"]

GATHERED = 2**24  # numbers that are gathered at once


@dataclass(frozen=True, eq=False)
class Csr:
    """A sparse matrix by rows, ``scale`` times the values; without values every entry is 1."""

    offsets: Tensor
    indices: Tensor
    values: Tensor | None
    scale: Tensor | None
    width: int

    @property
    def height(self) -> int:
        """Number of rows."""
        return len(self.offsets) - 1

    def rows(self, which: Tensor) -> Csr:
        """Some of the rows."""
        counts = self.offsets.diff()[which]
        offsets = torch.nn.functional.pad(counts.cumsum(0), (1, 0))
        at = torch.arange(int(offsets[-1]), device=offsets.device)
        at += (self.offsets[which] - offsets[:-1]).repeat_interleave(counts)
        values = None if self.values is None else self.values[at]
        return Csr(offsets, self.indices[at], values, None if self.scale is None else self.scale[which], self.width)

    def transposed(self) -> Csr:
        """The transpose, entries of a row in the order of the columns that they were."""
        counts = self.offsets.diff()
        rows = torch.arange(self.height, dtype=torch.int32, device=counts.device).repeat_interleave(counts)
        order = self.indices.argsort(stable=True)
        offsets = torch.nn.functional.pad(torch.bincount(self.indices, minlength=self.width).cumsum(0), (1, 0))
        values = self._scaled_values(rows)
        return Csr(offsets, rows[order], None if values is None else values[order], None, self.height)

    def _scaled_values(self, rows: Tensor) -> Tensor | None:
        if self.scale is None:
            return self.values
        scale = self.scale[rows]
        return scale if self.values is None else scale * self.values


def product(matrix: Csr, x: Tensor, out: Tensor) -> None:
    """out = matrix·x."""
    for begin, end in _pieces(matrix.offsets, x.shape[1]):
        offsets = matrix.offsets[begin : end + 1]
        first, last = int(offsets[0]), int(offsets[-1])
        gathered = x.index_select(0, matrix.indices[first:last]).to(torch.float32)
        if matrix.values is not None:
            gathered *= matrix.values[first:last, None]
        total = torch.segment_reduce(gathered, "sum", offsets=offsets - first, unsafe=True, initial=0)
        out[begin:end] = total if matrix.scale is None else total * matrix.scale[begin:end, None]


def _pieces(offsets: Tensor, width: int) -> Iterator[tuple[int, int]]:
    """Ranges of rows whose entries can be gathered at once, or single ones."""
    at, height, most = 0, len(offsets) - 1, max(1, GATHERED // max(1, width))
    while at < height:
        end = int(torch.searchsorted(offsets, offsets[at] + most, right=True)) - 1
        yield at, (at := min(max(end, at + 1), height))


def half_product(matrix: Tensor, x: Tensor) -> Tensor:
    """matrix·x in single precision, of a matrix in half precision."""
    return matrix.to(torch.float32) @ x


def segment_sums(x: Tensor, offsets: Tensor) -> Tensor:
    """Sums of consecutive numbers."""
    return torch.segment_reduce(x, "sum", offsets=offsets, unsafe=True, initial=0)


def row_statistics(matrix: Tensor) -> tuple[Tensor, Tensor]:
    """Number of entries of each row that are not zero, and sum of their squares."""
    precise = matrix.to(torch.float32)
    return torch.count_nonzero(precise, dim=1), (precise * precise).sum(dim=1)


def logarithms(block: Tensor, scaling: Tensor, power: float, out: Tensor, factor: Tensor | None = None) -> None:
    """out = the positive logarithms of block·diag(scaling) to a power, each row times its factor; 0 elsewhere."""
    logs = _logs(block, scaling, power)
    out.copy_(logs if factor is None else logs * factor[:, None])


def add_projection(block: Tensor, scaling: Tensor, power: float, basis: Tensor, out: Tensor) -> None:
    """out += L·basis, L the positive logarithms of block·diag(scaling) to a power."""
    out += _logs(block, scaling, power) @ basis


def _logs(block: Tensor, scaling: Tensor, power: float) -> Tensor:
    logs = (block.to(torch.float32) * scaling).clamp_min_(1.0).log_()
    if power == 0.5:
        return logs.sqrt_()
    return logs if power == 1 else logs.pow_(power)
