"""Products of a sparse matrix with a dense one that PyTorch differentiates, the same bits from run to run.

PyTorch's own products with sparse matrices take many times as long on a processor, and on a GPU their sums are added
up in another order each time. A matrix is therefore held twice, by rows and by columns: the gradient of M·x is Mᵀ·g,
which is a product by rows again.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray
from torch import Tensor

from hopscale.compute import Threads

__all__ = ["SparseMatrix", "on_device"]

_RUN = 256  # entries that are added up in one go on a GPU: a hub is summed by many threads
_CHUNK = {"cpu": 1 << 14, "cuda": 1 << 22}  # entries whose rows are gathered at once


class SparseMatrix(ABC):
    """A sparse matrix on a device. ``matrix @ x`` passes the gradient on to x, and ``times`` to other values too."""

    def __init__(self, matrix: sp.csr_array, device: torch.device) -> None:
        self.shape = (int(matrix.shape[0]), int(matrix.shape[1]))
        self.device = device
        self._by_rows = matrix
        self._crowded: dict[int, tuple[Tensor, Tensor]] = {}
        self.values = torch.from_numpy(matrix.data.astype(np.float32)).to(device)

    def __matmul__(self, x: Tensor) -> Tensor:
        """M·x."""
        product: Tensor = _Product.apply(x, None, self)  # type: ignore[no-untyped-call]
        return product

    def times(self, x: Tensor, values: Tensor) -> Tensor:
        """M·x with other values at the places of the entries, in the order of the rows."""
        product: Tensor = _Product.apply(x, values, self)  # type: ignore[no-untyped-call]
        return product

    def entry_sums(self, left: Tensor, right: Tensor) -> Tensor:
        """left[i] + right[j] for each entry (i, j), from two vectors."""
        sums: Tensor = _EntrySums.apply(left, right, self)  # type: ignore[no-untyped-call]
        return sums

    def row_maxima(self, values: Tensor) -> Tensor:
        """The largest value of each row, for each entry; without gradient."""
        most = torch.segment_reduce(values.detach(), "max", offsets=self.offsets, unsafe=True, initial=-torch.inf)
        return most[self.rows]

    def sampled(self, most: int, random: torch.Generator) -> Tensor:
        """The values, of which at most so many a row are kept, drawn without replacement, and the others are 0."""
        if most not in self._crowded:
            self._crowded[most] = self._crowded_rows(most)
        entries, surplus = self._crowded[most]
        # Sorted by row, and at random within one.
        keys = self.rows[entries] + torch.rand(len(entries), generator=random, device=self.device, dtype=torch.float64)
        return self.values.index_fill(0, entries[keys.argsort()[surplus]], 0.0)

    def _crowded_rows(self, most: int) -> tuple[Tensor, Tensor]:
        """Entries of rows that have more than so many, and those among them that come after so many of their row."""
        counts = np.diff(self._by_rows.indptr)
        entries = np.flatnonzero(np.repeat(counts > most, counts))
        ranks = entries - np.repeat(self._by_rows.indptr[:-1], counts)[entries]
        return tuple(torch.from_numpy(each).to(self.device) for each in (entries, np.flatnonzero(ranks >= most)))  # type: ignore[return-value]

    @cached_property
    def offsets(self) -> Tensor:
        """Where rows begin, and the last one ends."""
        return torch.from_numpy(self._by_rows.indptr.astype(np.int64)).to(self.device)

    @cached_property
    def rows(self) -> Tensor:
        """Row of each entry."""
        return torch.from_numpy(np.repeat(np.arange(self.shape[0]), np.diff(self._by_rows.indptr))).to(self.device)

    @cached_property
    def columns(self) -> Tensor:
        """Column of each entry."""
        return torch.from_numpy(self._by_rows.indices.astype(np.int64)).to(self.device)

    @cached_property
    def _by_columns(self) -> sp.csr_array:
        """The transpose by rows; its values say where in the order of rows each entry is."""
        numbered = sp.csr_array((np.arange(self._by_rows.nnz), self._by_rows.indices, self._by_rows.indptr), self.shape)
        return sp.csr_array(numbered.T)

    def gathered(self, left: Tensor, right: Tensor) -> Tensor:
        """left[i]·right[j] for each entry (i, j), from rows of two matrices; without gradient."""
        found = torch.empty(len(self.columns), device=self.device)
        step = _CHUNK[self.device.type]
        for begin in range(0, len(found), step):
            part = slice(begin, begin + step)
            pairs = left.index_select(0, self.rows[part]) * right.index_select(0, self.columns[part])
            torch.sum(pairs, 1, out=found[part])
        return found

    @abstractmethod
    def product(self, x: Tensor, values: Tensor | None) -> Tensor:
        """M·x, without gradient."""

    @abstractmethod
    def transposed_product(self, y: Tensor, values: Tensor | None) -> Tensor:
        """Mᵀ·y, without gradient."""


class _Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, values: Tensor | None, matrix: SparseMatrix) -> Tensor:
        ctx.matrix = matrix
        ctx.save_for_backward(x if values is not None and values.requires_grad else None, values)
        return matrix.product(x, values)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, Tensor | None, None]:
        x, values = ctx.saved_tensors
        of_x, of_values, _ = ctx.needs_input_grad
        return (
            ctx.matrix.transposed_product(gradients[0], values) if of_x else None,
            ctx.matrix.gathered(gradients[0], x) if of_values else None,
            None,
        )


class _EntrySums(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, left: Tensor, right: Tensor, matrix: SparseMatrix) -> Tensor:
        ctx.matrix = matrix
        return left[matrix.rows] + right[matrix.columns]

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor, None]:
        matrix, (values,) = ctx.matrix, gradients
        height, width = (torch.ones(size, 1, device=values.device) for size in matrix.shape)
        return matrix.product(width, values)[:, 0], matrix.transposed_product(height, values)[:, 0], None


class _OnProcessor(SparseMatrix):
    """Products by the engine's kernels; by SciPy where the values differ from one product to the next."""

    def __init__(self, matrix: sp.csr_array, engine: Threads) -> None:
        super().__init__(matrix, torch.device("cpu"))
        self._operator = engine.sparse(matrix)

    def product(self, x: Tensor, values: Tensor | None) -> Tensor:
        dense = x.detach().numpy()
        if values is None:
            return torch.from_numpy(self._operator @ dense)
        return _times(self._by_rows, values.detach().numpy(), dense)

    def transposed_product(self, y: Tensor, values: Tensor | None) -> Tensor:
        dense = y.detach().numpy()
        if values is None:
            return torch.from_numpy(self._operator.T @ dense)
        return _times(self._by_columns, values.detach().numpy()[self._by_columns.data], dense)


def _times(matrix: sp.csr_array, values: NDArray[np.float32], dense: NDArray[np.float32]) -> Tensor:
    other = sp.csr_array((values, matrix.indices, matrix.indptr), matrix.shape)
    return torch.from_numpy(other @ np.ascontiguousarray(dense))


class _OnGpu(SparseMatrix):
    """Products of gathered rows, summed in runs of a fixed length and these in turn: no atomic additions."""

    def __init__(self, matrix: sp.csr_array, device: torch.device) -> None:
        super().__init__(matrix, device)
        turned = self._by_columns
        self._order = torch.from_numpy(turned.data).to(device)
        self._turned_columns = torch.from_numpy(turned.indices.astype(np.int64)).to(device)
        self._runs, self._turned_runs = (self._cut(each.indptr) for each in (matrix, turned))
        self._turned_values = self.values[self._order]

    def _cut(self, offsets: NDArray[Any]) -> tuple[Tensor, Tensor]:
        """Where runs of entries begin and, counted in runs, rows."""
        counts = -(-np.diff(offsets) // _RUN)
        rows = np.concatenate([[0], np.cumsum(counts)])
        within = np.arange(rows[-1]) - np.repeat(rows[:-1], counts)
        runs = np.append(np.repeat(offsets[:-1], counts) + _RUN * within, offsets[-1])
        return tuple(torch.from_numpy(each.astype(np.int64)).to(self.device) for each in (runs, rows))  # type: ignore[return-value]

    def product(self, x: Tensor, values: Tensor | None) -> Tensor:
        return _summed(
            x.index_select(0, self.columns) * (self.values if values is None else values)[:, None], *self._runs
        )

    def transposed_product(self, y: Tensor, values: Tensor | None) -> Tensor:
        turned = self._turned_values if values is None else values[self._order]
        return _summed(y.index_select(0, self._turned_columns) * turned[:, None], *self._turned_runs)


def _summed(entries: Tensor, runs: Tensor, rows: Tensor) -> Tensor:
    for offsets in (runs, rows):
        entries = torch.segment_reduce(entries, "sum", offsets=offsets, unsafe=True, initial=0)
    return entries


def on_device(matrix: sp.csr_array, device: torch.device, engine: Threads) -> SparseMatrix:
    """A sparse matrix where its products are to be computed: on a processor by an engine, which must be open."""
    return _OnProcessor(matrix, engine) if device.type == "cpu" else _OnGpu(matrix, device)
