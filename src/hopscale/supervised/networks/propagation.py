"""Matrices that networks multiply hidden layers with: neighbours' means, weighted in one way or another."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hopscale.exceptions import MissingPackageError

__all__ = ["Matrices", "clusters", "normalized", "triangles", "with_self_loops"]

Matrices = dict[str, sp.csr_array]

_PATHS = 1 << 22  # of two edges, that are looked at at once


def with_self_loops(adjacency: sp.csr_array) -> sp.csr_array:
    """A + I; a node that has a self-loop keeps its weight."""
    missing = sp.diags_array((adjacency.diagonal() == 0).astype(np.float32))
    return sp.csr_array(adjacency + missing)


def normalized(adjacency: sp.csr_array) -> sp.csr_array:
    """D^(-1/2) A D^(-1/2); nodes without edges have rows of zeros."""
    scale = _inverse(np.sqrt(_degrees(adjacency)))
    return sp.csr_array(sp.diags_array(scale) @ adjacency @ sp.diags_array(scale)).astype(np.float32)


def triangles(adjacency: sp.csr_array) -> sp.csr_array:
    """For each edge the number of triangles that it is part of.

    Edges lead from the node of lower degree to the other, so that few lead out of any: each path of two of them is
    looked at, and most hubs are at its end.
    """
    n = adjacency.shape[0]
    order = np.argsort(np.diff(adjacency.indptr), kind="stable")
    rank = np.argsort(order)
    rows, columns = (rank[ends] for ends in adjacency.tocoo().coords)
    upwards = sp.csr_array((np.ones(np.sum(rows < columns)), (rows[rows < columns], columns[rows < columns])), (n, n))
    offsets, heads = upwards.indptr.astype(np.int64), upwards.indices.astype(np.int64)
    tails = np.repeat(np.arange(n), np.diff(offsets))
    keys = tails * n + heads  # sorted
    counts = np.zeros(len(keys), dtype=np.int64)
    paths = np.concatenate([[0], np.cumsum(np.diff(offsets)[heads])])  # that go on from each edge
    begin = 0
    while begin < len(keys):
        end = max(begin + 1, int(np.searchsorted(paths, paths[begin] + _PATHS, side="right")) - 1)
        first = np.repeat(np.arange(begin, end), np.diff(paths[begin : end + 1]))
        second = offsets[heads[first]] + np.arange(paths[begin], paths[end]) - paths[first]
        wanted = tails[first] * n + heads[second]
        third = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        closed = keys[third] == wanted
        for edges in (first, second, third):
            counts += np.bincount(edges[closed], minlength=len(keys))
        begin = end
    found = sp.csr_array((counts.astype(np.float32), (order[tails], order[heads])), (n, n))
    return sp.csr_array(found + found.T)


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
