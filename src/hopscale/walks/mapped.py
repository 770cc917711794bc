"""Matrices whose arrays are files: some rows are read at a time, so that no more than these is ever copied.

Walks and their statistics go over the rows of a matrix in blocks that its offsets tell, whether it is in memory or not:
both give the same bits.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hopscale._core import _native
from hopscale.walks.context import WalkContext
from hopscale.walks.transitions import Transitions

__all__ = ["MappedContext", "MappedCsr", "MappedTransitions"]


@dataclass(frozen=True, eq=False)
class MappedCsr:
    """A matrix by rows whose arrays may be maps of files: what walks ask of SciPy's, and no more.

    ``data`` is None where all entries are 1.
    """

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    data: NDArray[np.float32] | None
    shape: tuple[int, int]

    @property
    def nnz(self) -> int:
        """Number of entries."""
        return len(self.indices)

    @property
    def dtype(self) -> np.dtype[np.float32]:
        """Type of the entries."""
        return np.dtype(np.float32)

    def rows(self, begin: int, end: int) -> sp.csr_array:
        """Some consecutive rows, copied."""
        offsets = np.array(self.indptr[begin : end + 1])
        first, last = int(offsets[0]), int(offsets[-1])
        columns = np.array(self.indices[first:last])
        data = np.ones(last - first, dtype=np.float32) if self.data is None else np.array(self.data[first:last])
        return sp.csr_array((data, columns, offsets - first), shape=(end - begin, self.shape[1]))


@dataclass(frozen=True, eq=False)
class MappedTransitions(Transitions):
    """Walks on a graph whose arrays are maps, with ``tables`` that were computed before.

    ``tables`` are the degrees, and what :func:`hopscale.walks.transitions.walk_tables` makes of all rows.
    """

    tables: Mapping[str, NDArray[Any]] | None = None

    @cached_property
    def degrees(self) -> NDArray[np.float64]:
        """Weights of each node's edges, D."""
        assert self.tables is not None
        return self.tables["degrees"]

    @cached_property
    def weighted(self) -> bool:
        """Whether the weights of edges differ."""
        assert self.tables is not None
        return "weights" in self.tables

    @cached_property
    def kernel(self) -> _native.Graph:
        """The graph as kernels walk on it."""
        assert self.tables is not None
        own = {name: table for name, table in self.tables.items() if name != "degrees"}
        edges = self.adjacency
        return _native.Graph(edges.indptr, edges.indices, back=self.back, away=self.away, **own)


@dataclass(frozen=True, eq=False)
class MappedContext(WalkContext):
    """What walks see, over maps; ``features`` has values for all entries, as kernels need them."""

    @cached_property
    def kernel_features(self) -> _native.Csr:
        """F as the kernels take it."""
        F = self.features
        return _native.Csr(F.indptr, F.indices, F.data, F.shape[1])
