"""Counts of a graph that a plan is made for."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any, Literal, get_args

from hopscale.exceptions import GraphError, ParameterError, in_short
from hopscale.graph import AttributedGraph

__all__ = ["GIVEN", "GraphSize", "Place", "size_of"]

GIVEN = "the counts given"
Place = Literal["memory", "files", "folder"]
_PARTS = ("data", "indices", "indptr")
MOST = 2**31 - 1  # nodes, and features: their numbers have 32 bits


@dataclass(frozen=True)
class GraphSize:
    """How large a graph is: what :func:`hopscale.plan` needs to know of one.

    Parameters
    ----------
    n_nodes, n_edges : int
        Nodes, and edges that are counted once for both directions.
    n_features, n_entries : int, default=0
        Distinct features, and entries of the feature matrix: the features of all nodes, added up.
    weighted : bool, default=False
        Whether edges have different weights.
    source : str
        Where the counts come from, in words.
    in_memory : float, optional
        Bytes of the graph, where it is at hand.
    kept_in : {"memory", "files", "folder"}, default="memory"
        Where the graph is before a fit. One in several Parquet files is stored in a folder first, and fitted in blocks;
        one that is in a folder already is a :class:`~hopscale.StoredGraph`.
    """

    n_nodes: int
    n_edges: int
    n_features: int = 0
    n_entries: int = 0
    weighted: bool = False
    source: str = GIVEN
    in_memory: float | None = None
    kept_in: Place = "memory"

    def __post_init__(self) -> None:
        for name, least, most in (
            ("n_nodes", 1, MOST),
            ("n_edges", 1, None),
            ("n_features", 0, MOST),
            ("n_entries", 0, None),
        ):
            object.__setattr__(self, name, _count(name, getattr(self, name), least, most))
        if self.kept_in not in get_args(Place):
            raise ParameterError(
                f"must be one of {', '.join(get_args(Place))}, not {in_short(self.kept_in)}", parameter="kept_in"
            )
        n, q, entries = self.n_nodes, self.n_features, self.n_entries
        if self.n_edges > n * (n + 1) // 2:
            raise GraphError(f"{n:,} nodes have at most {n * (n + 1) // 2:,} edges, not {self.n_edges:,}")
        if (q == 0) != (entries == 0):
            raise GraphError(
                f"{q:,} features and {entries:,} entries do not go together: give both, or neither. Entries are the "
                "features of all nodes, added up"
            )
        if entries > n * q:
            raise GraphError(f"{n:,} nodes and {q:,} features have at most {n * q:,} entries, not {entries:,}")

    @property
    def bytes(self) -> float:
        """Memory of the graph: indices and values of both matrices, their offsets, and an id of each node."""
        if self.in_memory is not None:
            return self.in_memory
        offsets = sum(4 if count < 2**31 else 8 for count in (2 * self.n_edges, self.n_entries)) * (self.n_nodes + 1)
        return 8.0 * (2 * self.n_edges + self.n_entries) + offsets + 8.0 * (self.n_nodes + self.n_features)

    @property
    def rows(self) -> int:
        """Rows of the files that it is read from."""
        return self.n_edges + self.n_entries


def _count(name: str, value: Any, least: int, most: int | None) -> int:
    """A count, which may be written as 1e9."""
    right = isinstance(value, Real) and not isinstance(value, bool) and float(value).is_integer()
    if not right or float(value) < least or (most is not None and float(value) > most):
        bounds = f"of at least {least}" if most is None else f"from {least} to {most:,}"
        raise ParameterError(f"must be a whole number {bounds}, not {in_short(value)}", parameter=name)
    return int(value)


def size_of(graph: AttributedGraph) -> GraphSize:
    """Counts of a graph at hand."""
    parts = (getattr(matrix, part) for matrix in (graph.adjacency, graph.features) for part in _PARTS)
    return GraphSize(
        graph.n_nodes,
        graph.n_edges,
        graph.n_features,
        int(graph.features.nnz),
        weighted=graph.is_weighted,
        source="the graph",
        in_memory=float(sum(array.nbytes for array in (*parts, graph.node_ids, graph.feature_names))),
    )
