"""Matrices that networks multiply hidden layers with: neighbours' means, weighted in one way or another."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hopscale.exceptions import MissingPackageError

__all__ = ["Matrices", "clusters", "normalized", "triangles", "with_self_loops"]

Matrices = dict[str, sp.csr_array]


def with_self_loops(adjacency: sp.csr_array) -> sp.csr_array:
    """A + I; a node that has a self-loop keeps its weight."""
    missing = sp.diags_array((adjacency.diagonal() == 0).astype(np.float32))
    return sp.csr_array(adjacency + missing)


def normalized(adjacency: sp.csr_array) -> sp.csr_array:
    """D^(-1/2) A D^(-1/2); nodes without edges have rows of zeros."""
    scale = _inverse(np.sqrt(_degrees(adjacency)))
    return sp.csr_array(sp.diags_array(scale) @ adjacency @ sp.diags_array(scale)).astype(np.float32)


def triangles(adjacency: sp.csr_array) -> sp.csr_array:
    """For each edge the number of triangles that it is part of."""
    pattern = sp.csr_array((np.ones(adjacency.nnz, np.float32), adjacency.indices, adjacency.indptr), adjacency.shape)
    return sp.csr_array(pattern.multiply(pattern @ pattern))


def clusters(adjacency: sp.csr_array, count: int, seed: int) -> NDArray[np.int64]:
    """Cluster of each node, by METIS: parts of about the same size with few edges between them."""
    count = min(count, adjacency.shape[0])
    if count == 1:
        return np.zeros(adjacency.shape[0], np.int64)
    try:
        import pymetis
    except ImportError as error:
        raise MissingPackageError(f'clusters are found by pymetis ({error}): pip install "hopscale[gnn]"') from error
    graph = pymetis.CSRAdjacency(adjacency.indptr.astype(np.int64), adjacency.indices.astype(np.int64))
    options = pymetis.Options(seed=seed & 0x7FFFFFFF)
    _, membership = pymetis.part_graph(count, adjacency=graph, options=options)
    return np.unique(membership, return_inverse=True)[1].astype(np.int64)  # parts may be empty


def _degrees(adjacency: sp.csr_array) -> NDArray[np.float64]:
    return np.asarray(adjacency.sum(axis=1, dtype=np.float64)).ravel()


def _inverse(numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.divide(1.0, numbers, out=np.zeros_like(numbers), where=numbers > 0)
