"""Random matrices, and matrices as the kernels take them."""

import numpy as np

from hopscale._core import _native
from reference import csr

GO_ON = np.zeros(1, dtype=np.uint8)


def normal(rng, *shape):
    """Standard normal numbers."""
    return rng.standard_normal(shape, dtype=np.float32)


def sparse(rng, rows, columns, density=0.2):
    """Random matrix whose first, last and some middle row are empty."""
    m = normal(rng, rows, columns) * (rng.random((rows, columns)) < density)
    m[[0, rows // 2, rows - 1]] = 0.0
    return m


def native_csr(matrix):
    """A dense matrix by rows."""
    return _native.Csr(*csr(matrix), np.shape(matrix)[1])


def panel(matrix):
    """A dense matrix of at most 256 columns as a panel."""
    offsets, columns, values = csr(matrix)
    return offsets.astype(np.uint32), columns.astype(np.uint8), values


def unpacked(offsets, columns, values, n_columns):
    """A panel, or a matrix by rows, as a dense one."""
    found = np.zeros((len(offsets) - 1, n_columns))
    found[np.repeat(np.arange(len(offsets) - 1), np.diff(offsets.astype(np.int64))), columns] = values
    return found
