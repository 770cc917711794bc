"""Steps of a random walk: every D⁻¹A is here.

A adjacency, D degrees, c = ΣA, P = D⁻¹A. A walk from a node without edges has no first step.

Weights may have any unit. Where single precision could not hold a product, rows or whole matrices are divided by powers
of two, which moves no bit of a mantissa.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hopscale._core import _native

__all__ = [
    "ROW_BLOCK",
    "Start",
    "Transitions",
    "alias_table",
    "in_unit",
    "row_blocks",
    "row_sums",
    "scaled_rows",
    "smoothing",
    "transposed_times",
    "walk_tables",
]

Start = Literal["degree", "node"]

# Rows of a matrix that are read at a time, and entries of these: sums over rows are sums over such blocks, in order.
ROW_BLOCK, ENTRY_BLOCK = 2**16, 2**21


@dataclass(frozen=True, eq=False)
class Transitions:
    """P = D⁻¹A of an undirected graph, or the second-order walk of node2vec.

    ``back`` and ``away`` are node2vec's 1/p and 1/q: what an edge counts that leads back to where the walk came from,
    or to a node that is no neighbour of that one. The matrices below are those of the walk without such a bias.
    """

    adjacency: sp.csr_array
    back: float = 1.0
    away: float = 1.0

    @property
    def second_order(self) -> bool:
        """Whether a step depends on the last one."""
        return (self.back, self.away) != (1.0, 1.0)

    @property
    def n_nodes(self) -> int:
        """Number of nodes, n."""
        return int(self.adjacency.shape[0])

    @cached_property
    def degrees(self) -> NDArray[np.float64]:
        """Weights of each node's edges, D."""
        return row_sums(self.adjacency)

    @cached_property
    def weighted(self) -> bool:
        """Whether the weights of edges differ."""
        data = self.adjacency.data
        return data.size > 0 and bool(np.any(data != data[0]))

    @cached_property
    def inverse_degrees(self) -> NDArray[np.float64]:
        """D⁻¹, with 0 for isolated nodes."""
        return _inverse(self.degrees)

    def matrix(self) -> sp.csr_array:
        """P, with empty rows for isolated nodes."""
        return scaled_rows(self.adjacency, self.inverse_degrees)

    def half_matrix(self) -> sp.csr_array:
        """D^(-1/2)·A, with empty rows for isolated nodes."""
        return scaled_rows(self.adjacency, np.sqrt(self.inverse_degrees))

    def stationary(self) -> NDArray[np.float64]:
        """Probability of each node that a step leaves as it is: degree/c."""
        return self.degrees / max(self.degrees.sum(), 1e-300)

    def forward(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Pᵀ·weights: where walks are after one more step."""
        return transposed_times(self.adjacency, weights * self.inverse_degrees)

    def reaches(self, nodes: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Whether a step from each node can lead to one of ``nodes``."""
        marked, found = nodes.astype(np.float32), np.empty(self.n_nodes, dtype=np.bool_)
        for some, rows in row_blocks(self.adjacency):
            found[some] = np.asarray(rows @ marked) > 0
        return found

    def places(self, node: int, steps: int) -> Iterator[tuple[NDArray[Any], NDArray[np.float64]]]:
        """Where a walk from one node is after 0, 1, ..., ``steps`` steps: nodes, and how likely each is.

        Exact, for walks without a bias, and no more work than the edges that such a walk can take.
        """
        here: NDArray[Any] = np.array([node])
        share = np.ones(1)
        yield here, share
        for _ in range(steps):
            edges = self.adjacency[here]
            weights = np.repeat(share * _inverse(row_sums(edges)), np.diff(edges.indptr)) * edges.data
            reached: NDArray[Any] = np.bincount(edges.indices, weights)
            here, share = np.flatnonzero(reached), reached[reached > 0]
            yield here, share

    def expected_visits(self, *, start: Start, walks_per_node: int, positions: int) -> NDArray[np.float64]:
        """Expected number of times that walks stand on each node at one of their first ``positions`` steps.

        With ``start="degree"`` a walk starts at v with probability deg(v)/c (the paper's algorithms), is stationary
        from the first step on, and sees v in proportion to its degree. With ``start="node"``, ``walks_per_node`` walks
        start at each node (the authors' code) and what they see is Σⱼ 1ᵀPʲ, which tends to the same thing. Both count
        walks from the nodes that have edges.

        Whoever walks r steps from a node as often as this has the pairs of the paper's windows in both directions with
        ``start="degree"``. With ``start="node"`` those with what comes after a node are exact, those with what came
        before it are not: u before v has the probability π(u) Pʳ(u, v), which is π(v) Pʳ(v, u) for stationary π only.
        """
        active = self.degrees > 0
        walks = float(walks_per_node) * int(active.sum())
        if start == "degree":
            return walks * positions * self.degrees / max(self.degrees.sum(), 1e-300)
        here = np.where(active, float(walks_per_node), 0.0)
        total = np.zeros_like(here)
        for _ in range(positions):
            total += here
            here = self.forward(here)
        return total

    @cached_property
    def kernel(self) -> _native.Graph:
        """The graph as kernels walk on it; weights are dropped where all are equal."""
        edges = self.adjacency
        tables = walk_tables(edges, self.degrees, self.inverse_degrees, weighted=self.weighted)
        offsets, indices = edges.indptr.astype(np.int64, copy=False), edges.indices.astype(np.int32, copy=False)
        return _native.Graph(offsets, indices, back=self.back, away=self.away, **tables)

    def sample(self, starts: NDArray[np.int32], count: int, steps: int, seed: int) -> NDArray[np.int32]:
        """Nodes at steps 1..``steps`` of ``count`` walks from every start; -1 from isolated ones."""
        out = np.empty((len(starts), count, steps), dtype=np.int32)
        _native.sample_walks(self.kernel, starts, count, seed, out)
        return out


def walk_tables(
    rows: sp.csr_array, degrees: NDArray[np.float64], inverse_degrees: NDArray[np.float64], *, weighted: bool
) -> dict[str, NDArray[Any]]:
    """What kernels need beside the edges to walk on some rows of A: of each node and, with weights, of each edge."""
    offsets = rows.indptr.astype(np.int64)
    if not weighted:
        return {"inverse_degrees": _inverse(np.diff(offsets).astype(np.float64)).astype(np.float32)}
    data = rows.data.astype(np.float32, copy=False)
    keep, other = alias_table(data, offsets)
    exponents = np.frexp(degrees)[1].astype(np.int32)  # a row sums to at least ½ and less than 1
    return {
        "inverse_degrees": np.ldexp(inverse_degrees, exponents).astype(np.float32),
        "weights": np.ldexp(data, np.repeat(-exponents, np.diff(offsets))),
        "keep": keep,
        "other": other,
        "exponents": exponents,
    }


def row_blocks(matrix: Any) -> Iterator[tuple[slice, sp.csr_array]]:
    """All rows of a matrix, in memory or mapped (:mod:`hopscale.walks.mapped`), in blocks that its offsets tell."""
    for begin, end in _blocks_of(matrix.indptr):
        if not sp.issparse(matrix):
            yield slice(begin, end), matrix.rows(begin, end)
        else:
            whole = end - begin == matrix.shape[0]
            yield slice(begin, end), matrix if whole else _rows_of(matrix, begin, end)


def _rows_of(matrix: sp.csr_array, begin: int, end: int) -> sp.csr_array:
    """Consecutive rows of a matrix, over its own arrays: SciPy's slices are copies."""
    first, last = matrix.indptr[[begin, end]]
    parts = matrix.data[first:last], matrix.indices[first:last], matrix.indptr[begin : end + 1] - first
    return sp.csr_array(parts, shape=(end - begin, matrix.shape[1]))


def _blocks_of(offsets: NDArray[Any]) -> Iterator[tuple[int, int]]:
    """Consecutive rows: at most ROW_BLOCK of them, and at most ENTRY_BLOCK entries unless one row has more."""
    begin, count = 0, len(offsets) - 1
    while begin < count:
        end = min(begin + ROW_BLOCK, count)
        some = offsets[begin : end + 1]
        end = begin + max(1, int(np.searchsorted(some, int(some[0]) + ENTRY_BLOCK, side="right")) - 1)
        yield begin, end
        begin = end


def transposed_times(matrix: Any, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Mᵀ·weights, added up block of rows by block."""
    total: NDArray[np.float64] = np.zeros(matrix.shape[1])
    for some, rows in row_blocks(matrix):
        total += np.asarray(rows.T @ weights[some]).ravel()
    return total


def alias_table(
    weights: NDArray[Any], offsets: NDArray[np.int64] | None = None
) -> tuple[NDArray[np.float32], NDArray[np.int32]]:
    """Draws from discrete distributions in constant time (Walker, Vose): the tables (keep, other).

    Of one distribution, or of one for each group of consecutive weights.
    """
    if offsets is None:
        offsets = np.array([0, len(weights)], dtype=np.int64)
    keep, other = np.empty(len(weights), dtype=np.float32), np.empty(len(weights), dtype=np.int32)
    _native.build_alias(offsets, np.asarray(weights, dtype=np.float64), keep, other)
    return keep, other


def smoothing(adjacency: sp.csr_array, strength: float) -> sp.csr_array:
    """(1 − γ)·I + γ·D̃^(-1/2)(A + I)D̃^(-1/2): a share γ of the way to the neighbours' mean."""
    closed = sp.csr_array(adjacency + sp.eye_array(adjacency.shape[0], format="csr"), dtype=np.float64)
    root = np.sqrt(_inverse(row_sums(closed)))
    closed.data *= np.repeat(strength * root, np.diff(closed.indptr))
    closed.data *= root[closed.indices]
    closed.setdiag(closed.diagonal() + (1.0 - strength))
    return closed.astype(np.float32)


def in_unit(matrix: sp.csr_array) -> tuple[sp.csr_array, int]:
    """The matrix divided by a power of two, its largest entry then at least 1 and less than 2; and the exponent."""
    exponent = int(np.frexp(matrix.data.max(initial=0.0))[1]) - 1 if matrix.nnz else 0
    if exponent == 0:
        return matrix.astype(np.float32, copy=False), 0
    data = np.ldexp(matrix.data.astype(np.float32, copy=False), -exponent)
    return sp.csr_array((data, matrix.indices, matrix.indptr), shape=matrix.shape), exponent


def scaled_rows(matrix: sp.csr_array, weights: NDArray[np.float64]) -> sp.csr_array:
    """The matrix with each row multiplied by a number; it shares its indices with the one that is given."""
    data = np.repeat(weights, np.diff(matrix.indptr))
    data *= matrix.data
    return sp.csr_array((data.astype(np.float32), matrix.indices, matrix.indptr), shape=matrix.shape)


def row_sums(matrix: Any) -> NDArray[np.float64]:
    """Sum of each row."""
    found = np.empty(matrix.shape[0])
    for some, rows in row_blocks(matrix):
        found[some] = np.asarray(rows.sum(axis=1, dtype=np.float64)).ravel()
    return found


def _inverse(x: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.divide(1.0, x, out=np.zeros_like(x), where=x > 0)
