"""What a head sees of a node: its vector, its own features, or both side by side."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

__all__ = ["Design", "InputKind", "Inputs"]

Array = NDArray[np.float64]
InputKind = Literal["vectors", "features", "both"]


@dataclass(frozen=True, eq=False)
class Design:
    """A matrix with a row per node: a dense block of vectors, followed by a sparse block of features.

    Either block may have no columns.
    """

    dense: Array
    sparse: sp.csr_array

    @property
    def n_columns(self) -> int:
        """Number of columns of both blocks."""
        return int(self.dense.shape[1] + self.sparse.shape[1])

    def __len__(self) -> int:
        return len(self.dense)

    def take(self, rows: NDArray[Any] | slice) -> Design:
        """Some rows of it."""
        return Design(self.dense[rows], self.sparse[rows])

    def times(self, weights: Array) -> Array:
        """X·weights."""
        d = self.dense.shape[1]
        product: Array = self.dense @ weights[:d]
        if self.sparse.nnz:
            product += self.sparse @ weights[d:]
        return product

    def transposed_times(self, rows: Array) -> Array:
        """Xᵀ·rows."""
        return np.concatenate([self.dense.T @ rows, self._by_columns @ rows])

    @cached_property
    def _by_columns(self) -> sp.csr_array:
        return sp.csr_array(self.sparse.T)

    @cached_property
    def sparse_squares(self) -> Array:
        """Sum of the squares of each column of the sparse block."""
        squares = np.bincount(self.sparse.indices, self.sparse.data**2, minlength=self.sparse.shape[1])
        return squares.astype(np.float64)


@dataclass(frozen=True, eq=False)
class Inputs:
    """How vectors and features become a :class:`Design`; learnt from all nodes, without a label.

    Vectors are centred and divided by their mean length. Features are weighted by idf = log(n / n_f), where n_f of n
    nodes have feature f, and every node's are scaled to length 1. So rows of both blocks have lengths near one, and
    one strength of regularisation suits both.
    """

    kind: InputKind
    center: Array
    scale: float
    idf: Array

    @classmethod
    def learnt(cls, kind: InputKind, vectors: NDArray[Any], features: sp.csr_array) -> Inputs:
        """Inputs for graphs like this one."""
        center, scale, idf = np.zeros(0), 1.0, np.zeros(0)
        if kind != "features":
            center = vectors.mean(axis=0, dtype=np.float64)
            scale = float(np.linalg.norm(vectors - center, axis=1).mean()) or 1.0
        if kind != "vectors":
            having = np.bincount(features.indices, minlength=features.shape[1])
            idf = np.log(features.shape[0] / np.maximum(having, 1.0))
        return cls(kind, center, scale, idf)

    def design(self, vectors: NDArray[Any], features: sp.csr_array) -> Design:
        """The matrix of some nodes, from their vectors and features."""
        n = features.shape[0]
        dense, sparse = np.zeros((n, 0)), sp.csr_array((n, 0), dtype=np.float64)
        if self.kind != "features":
            dense = (vectors - self.center) / self.scale
        if self.kind != "vectors":
            sparse = sp.csr_array(features.astype(np.float64) @ sp.diags_array(self.idf))
            sparse.eliminate_zeros()
            lengths = np.sqrt(np.asarray(sparse.multiply(sparse).sum(axis=1)).ravel())
            sparse.data /= np.repeat(lengths, np.diff(sparse.indptr))
        return Design(dense, sparse)
