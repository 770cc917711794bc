"""Neighbours of a model's nodes in a graph, matched by id."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hopscale.exceptions import GraphError, warn
from hopscale.graph import AttributedGraph
from hopscale.matrices import selection
from hopscale.names import positions, shown_name

__all__ = ["Surroundings", "entries", "features_in_columns"]

Indices = NDArray[np.int64]
Array = NDArray[np.float64]

_WORK = 1 << 22  # paths of two steps that are looked at at once


@dataclass(frozen=True, eq=False)
class Surroundings:
    """Neighbours of a model's nodes in a graph, whose nodes may be in another order, fewer or more.

    ``place`` has a row for each node of the model and a column for each of the graph; ``around`` has the weights of
    their edges, self-loops left out.
    """

    place: sp.csr_array
    around: sp.csr_array

    @classmethod
    def of(cls, ids: NDArray[Any], graph: AttributedGraph) -> Surroundings:
        """Match nodes by id."""
        at = positions(ids, graph.node_ids)
        n_here = int((at >= 0).sum())
        if not n_here:
            raise GraphError(
                f"the graph has none of the model's nodes: ids are matched, here {shown_name(graph.node_ids, 0)}, "
                f"there {shown_name(ids, 0)}"
            )
        if n_here < len(ids):
            warn(f"{len(ids) - n_here} of the model's {len(ids)} nodes are not in the graph, and have no edges")
        place = selection(at, graph.n_nodes)
        A = graph.adjacency.astype(np.float64)
        around = sp.csr_array(place @ (A - sp.diags_array(A.diagonal())))
        around.eliminate_zeros()
        return cls(place, around)

    @cached_property
    def counts(self) -> Array:
        """Number of neighbours of each node."""
        return np.diff(self.around.indptr).astype(np.float64)

    @cached_property
    def edges(self) -> sp.csr_array:
        """Edges among the model's nodes."""
        edges = sp.csr_array(self._ones @ self.place.T)
        edges.sort_indices()
        return edges

    @cached_property
    def _ones(self) -> sp.csr_array:
        return sp.csr_array((np.ones(self.around.nnz), self.around.indices, self.around.indptr), self.around.shape)

    @cached_property
    def _weighted(self) -> sp.csr_array:
        """Row w: the nodes that have w as a neighbour, each with the weight 1/log |N(w)|."""
        by_neighbor = sp.csr_array(self._ones.T)
        counts = np.diff(by_neighbor.indptr)
        by_neighbor.data = np.repeat(1 / np.log(np.maximum(counts, 2)), counts)
        return by_neighbor

    def pieces(self, rows: Indices) -> list[tuple[int, int]]:
        """Rows in pieces that have bounded numbers of common neighbours, as far as single rows have."""
        ends = np.cumsum(self._ones[rows] @ np.diff(self._weighted.indptr))
        pieces, begin = [], 0
        while begin < len(rows):
            done = ends[begin - 1] if begin else 0.0
            end = max(begin + 1, int(np.searchsorted(ends, done + _WORK, side="right")))
            pieces.append((begin, end))
            begin = end
        return pieces

    def common(self, rows: Indices) -> sp.csr_array:
        """Index of Adamic and Adar of some nodes with all."""
        return sp.csr_array(self._ones[rows] @ self._weighted)

    @cached_property
    def _edge_keys(self) -> Indices:
        """A number for each edge, sorted."""
        n = len(self.counts)
        return np.repeat(np.arange(n), np.diff(self.edges.indptr)) * n + self.edges.indices

    def are_edges(self, i: Indices, j: Indices) -> NDArray[np.bool_]:
        """Whether pairs have an edge."""
        keys = i * len(self.counts) + j
        at = np.searchsorted(self._edge_keys, keys)
        return np.append(self._edge_keys, -1)[at] == keys

    def steps(self, rows: Indices) -> sp.csr_array:
        """Probabilities of a step of a walk from some nodes."""
        weights = self.around[rows]
        total = np.asarray(weights.sum(axis=1), dtype=np.float64).ravel()
        return sp.csr_array(sp.diags_array(np.divide(1, total, out=np.zeros_like(total), where=total > 0)) @ weights)

    def own(self, features: sp.csr_array, rows: Indices) -> sp.csr_array:
        """Features of some nodes."""
        return sp.csr_array(self.place[rows] @ features)


def entries(matrix: sp.csr_array) -> list[tuple[Indices, Array]]:
    """Columns and values of the positive entries of each row."""
    matrix.eliminate_zeros()
    pieces = zip(matrix.indptr[:-1].tolist(), matrix.indptr[1:].tolist(), strict=True)
    return [(matrix.indices[begin:end].astype(np.int64), matrix.data[begin:end]) for begin, end in pieces]


def features_in_columns(graph: AttributedGraph, names: NDArray[Any]) -> sp.csr_array:
    """Features of a graph in the columns of a model; those that it does not know are left out."""
    where = positions(graph.feature_names, names) if graph.n_features else np.zeros(0, np.int64)
    return sp.csr_array(graph.features.astype(np.float64) @ selection(where, len(names)))
