"""Doors: one for every kind of source that a graph can come from.

All of them lead to :class:`~hopscale.graph.AttributedGraph`, change nothing that they are given, and
say which edge, row or line is wrong when one is.
"""

from __future__ import annotations

import os
from typing import Any

import scipy.sparse as sp

from hopscale.exceptions import GraphError
from hopscale.graph import AttributedGraph
from hopscale.io.content import content_kind, existing
from hopscale.io.edges import from_edges
from hopscale.io.files import read_graph
from hopscale.io.igraph import from_igraph
from hopscale.io.networkx import from_networkx
from hopscale.io.tables import from_tables

__all__ = ["as_graph", "from_edges", "from_igraph", "from_networkx", "from_tables", "read_graph"]


def as_graph(source: Any) -> AttributedGraph:
    """Graph from whatever leaves no question open.

    Parameters
    ----------
    source : AttributedGraph, sparse matrix, tuple, networkx or igraph graph, or path
        An :class:`~hopscale.graph.AttributedGraph` is returned as it is. A sparse matrix is an
        adjacency matrix, a tuple is ``(adjacency, features)``, a path must lead to an ``.npz`` file.

    Returns
    -------
    AttributedGraph

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> as_graph(sp.csr_array([[0, 1], [1, 0]]))
    AttributedGraph(nodes=2, edges=1, features=0, feature_entries=0)
    """
    if isinstance(source, AttributedGraph):
        return source
    if sp.issparse(source):
        return AttributedGraph(source)
    if isinstance(source, tuple) and len(source) == 2:
        return AttributedGraph(*source)
    if isinstance(source, (str, os.PathLike)) and content_kind(existing(source)) == ".npz":
        return read_graph(source)
    if hasattr(source, "get_edgelist") and hasattr(source, "vs"):
        return from_igraph(source)
    if hasattr(source, "nodes") and hasattr(source, "adj"):
        return from_networkx(source)
    raise GraphError(
        f"cannot read a graph from {type(source).__name__}: give an AttributedGraph, a sparse adjacency "
        "matrix, (adjacency, features), a networkx or igraph graph or the path of an .npz file; for edge "
        "lists, tables and other files see hopscale.io.from_edges, from_tables and read_graph"
    )
