"""Doors: one for every kind of source that a graph can come from.

All of them lead to :class:`~hopscale.graph.AttributedGraph`, change nothing that they are given, and
say which edge, row or line is wrong when one is.
"""

from __future__ import annotations

import os
from contextlib import suppress
from typing import Any

import numpy as np
import scipy.sparse as sp

from hopscale.exceptions import GraphError
from hopscale.graph import AttributedGraph
from hopscale.indexed import is_frame
from hopscale.io.content import content_kind, existing
from hopscale.io.dgl import from_dgl, is_dgl, to_dgl
from hopscale.io.edges import from_edges
from hopscale.io.files import WHOLE_GRAPHS, read_graph
from hopscale.io.igraph import from_igraph
from hopscale.io.networkx import from_networkx
from hopscale.io.pyg import from_pyg, is_pyg, to_pyg
from hopscale.io.tables import from_tables

__all__ = [
    "as_graph",
    "from_dgl",
    "from_edges",
    "from_igraph",
    "from_networkx",
    "from_pyg",
    "from_tables",
    "read_graph",
    "to_dgl",
    "to_pyg",
]


def as_graph(source: Any) -> AttributedGraph:
    """Graph from whatever leaves no question open.

    Parameters
    ----------
    source : AttributedGraph, matrix, tuple, graph of another library, or path
        An :class:`~hopscale.graph.AttributedGraph` is returned as it is. A sparse matrix is an adjacency
        matrix, and so is a square array, or a data frame with the same names as index and as columns; a
        tuple is ``(adjacency, features)``. Graphs of networkx, igraph, PyTorch Geometric and DGL are read
        with the defaults of their doors. A path must lead to a file that holds a whole graph:
        ``.npz``, ``.graphml`` or ``.gml``.

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
    if isinstance(source, np.ndarray) or is_frame(source):
        return AttributedGraph(_adjacency(source))
    if isinstance(source, (str, os.PathLike)) and content_kind(existing(source)) in WHOLE_GRAPHS:
        return read_graph(source)
    for is_kind, read in ((is_pyg, from_pyg), (is_dgl, from_dgl)):
        if is_kind(source):
            return read(source)
    if hasattr(source, "get_edgelist") and hasattr(source, "vs"):
        return from_igraph(source)
    if hasattr(source, "nodes") and hasattr(source, "adj"):
        return from_networkx(source)
    raise GraphError(
        f"cannot read a graph from {type(source).__name__}: give an AttributedGraph, an adjacency matrix, (adjacency, "
        "features), a graph of networkx, igraph, PyTorch Geometric or DGL, or the path of an .npz, .graphml or .gml "
        "file; for edge lists, tables and other files see hopscale.io.from_edges, from_tables and read_graph"
    )


def _adjacency(matrix: Any) -> Any:
    """A square array or data frame, refusing what may be edges or features."""
    shape = matrix.shape
    if is_frame(matrix):
        # Names that cannot be hashed, and NumPy's small floats, which warn when they are compared with large numbers.
        with suppress(TypeError), np.errstate(over="ignore"):
            if set(matrix.index) == set(matrix.columns):
                return matrix
        raise GraphError(
            "a data frame is an adjacency matrix if its index and its columns have the same names; for a table of "
            "edges see from_tables(edges)"
        )
    if len(shape) == 2 and shape[0] == shape[1] != 2:
        return matrix
    if shape == (2, 2):
        raise GraphError(
            "an array of shape (2, 2) may be an adjacency matrix or two edges: give AttributedGraph(array) or "
            "from_edges(array)"
        )
    hint = "; for edges, see from_edges(edges)" if 2 in shape else ""
    raise GraphError(f"an array is an adjacency matrix if it is square, but this one has shape {shape}{hint}")
