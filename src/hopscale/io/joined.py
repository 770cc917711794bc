"""Two graphs as one: nodes and features that have the same name are the same."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hopscale.graph import AttributedGraph
from hopscale.matrices import SymmetricArray
from hopscale.names import name_array, positions

__all__ = ["Joined", "joined"]


class Joined(NamedTuple):
    """A graph made of two, and what the second adds to the first."""

    graph: AttributedGraph  # the nodes of the first, in their order, before those that only the second has
    n_new_nodes: int
    edges_to_old: int  # between a new node and an old one
    edges_among_old: int  # of the second graph, between nodes of the first
    repeated_edges: int  # of these, those that the first has as well
    features_of_old: int  # entries of the second graph at nodes of the first
    repeated_features: int  # of these, those that the first has as well


def joined(old: AttributedGraph, new: AttributedGraph) -> Joined:
    """A graph with the nodes, edges and features of both.

    It is the graph of all rows together: an edge or feature that both have counts once, or adds up where there are
    weights or values in either graph.

    Examples
    --------
    >>> from hopscale.io import from_edges
    >>> both = joined(from_edges([("a", "b")], {"a": ["x"]}), from_edges([("b", "c")], {"c": ["x", "y"]}))
    >>> both.graph, both.graph.node_ids.tolist()
    (AttributedGraph(nodes=3, edges=2, features=2, feature_entries=3), ['a', 'b', 'c'])
    """
    rows, ids = _united(old.node_ids, new.node_ids)
    columns, names = _united(old.feature_names, new.feature_names)
    n, q, first_new = len(ids), len(names), old.n_nodes
    A, mapped_A = _resized(old.adjacency, (n, n)), _moved(new.adjacency, rows, rows, (n, n))
    F, mapped_F = _resized(old.features, (n, q)), _moved(new.features, rows, columns, (n, q))
    u = np.repeat(np.arange(n), np.diff(mapped_A.indptr))
    v = mapped_A.indices
    features_of_old = int(mapped_F.indptr[first_new])
    graph = AttributedGraph(
        SymmetricArray(_sum(A, mapped_A, has_amounts=old.is_weighted or new.is_weighted)),
        _sum(F, mapped_F, has_amounts=bool((old.features.data != 1).any() or (new.features.data != 1).any())),
        node_ids=ids,
        feature_names=names,
        self_loops=True,
        encoder=old.encoder,
    )
    return Joined(
        graph,
        n_new_nodes=n - first_new,
        edges_to_old=int(((u < first_new) & (v >= first_new)).sum()),
        edges_among_old=int(((u <= v) & (v < first_new)).sum()),
        repeated_edges=int(_both(A, mapped_A, (u <= v) & (v < first_new))),
        features_of_old=features_of_old,
        repeated_features=int(_both(F, mapped_F, np.arange(mapped_F.nnz) < features_of_old)),
    )


def _united(old: NDArray[Any], new: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Positions of the new names among all, and all names."""
    where = np.full(len(new), -1, dtype=np.int64)
    if len(old) and len(new):
        where[:] = positions(new, old)
    unknown = where < 0
    where[unknown] = len(old) + np.arange(int(unknown.sum()))
    if old.dtype == new.dtype:
        return where, np.append(old, new[unknown])
    return where, name_array([*old.tolist(), *new[unknown].tolist()])


def _resized(matrix: sp.csr_array, shape: tuple[int, int]) -> sp.csr_array:
    """The matrix with empty rows and columns behind its own."""
    indptr = np.pad(matrix.indptr, (0, shape[0] - matrix.shape[0]), mode="edge")
    return sp.csr_array((matrix.data, matrix.indices, indptr), shape=shape)


def _moved(
    matrix: sp.csr_array, rows: NDArray[np.int64], columns: NDArray[np.int64], shape: tuple[int, int]
) -> sp.csr_array:
    """The matrix with its rows and columns elsewhere."""
    u = np.repeat(rows, np.diff(matrix.indptr))
    moved = sp.coo_array((matrix.data, (u, columns[matrix.indices])), shape=shape).tocsr()
    moved.sort_indices()
    return moved


def _sum(a: sp.csr_array, b: sp.csr_array, *, has_amounts: bool) -> sp.csr_array:
    total = sp.csr_array(a + b)
    if not has_amounts:
        total.data = np.ones_like(total.data)
    return total


def _both(a: sp.csr_array, b: sp.csr_array, chosen: NDArray[np.bool_]) -> int:
    """How many of the chosen entries of b the matrix a has as well."""
    part = sp.csr_array((chosen.astype(np.float32), b.indices, b.indptr), shape=b.shape)
    has = sp.csr_array((np.ones(a.nnz, dtype=np.float32), a.indices, a.indptr), shape=a.shape)
    return int(part.multiply(has).sum())
