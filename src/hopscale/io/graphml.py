"""The door for GraphML and GML files, which networkx parses."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Mapping
from typing import Any, Literal
from xml.parsers import expat

from hopscale.exceptions import DirectedGraphError, FileFormatError, GraphError, MissingPackageError, Setting, in_short
from hopscale.graph import AttributedGraph, Directed
from hopscale.io.columns import all_whole
from hopscale.io.content import read_content
from hopscale.io.networkx import from_networkx

__all__ = ["read_gml", "read_graphml"]


def read_graphml(path: str | os.PathLike[str], **settings: Any) -> AttributedGraph:
    """Graph from a GraphML file; settings are those of :func:`read_gml`.

    Files that define entities of their own are refused: a few lines of them can stand for any amount of text.
    """
    return _read(path, "GraphML", _parsed_graphml, **settings)


def read_gml(path: str | os.PathLike[str], **settings: Any) -> AttributedGraph:
    """Graph from a GML file. Nodes are called by their label, or by their id where labels are missing or repeated.

    Parameters
    ----------
    path : path-like
    weight : str or False, optional
        Edge attribute, "weight" by default, if edges have it; False for none.
    label : str, optional
        Node attribute to keep as labels.
    columns, encoder : optional
        All other node attributes become features, as the columns of a table; these are kinds of some columns, and an
        encoder that was fitted before, as for :func:`hopscale.read_graph`.
    self_loops : bool, default=False
    directed : {"error", "symmetrize"}, default="error"
    max_unpacked : int or str, optional
        As for :func:`hopscale.read_graph`.
    say : callable, optional
        Called with lines that say what was understood.

    Returns
    -------
    AttributedGraph
        Its ids are whole numbers if all in the file are.
    """
    return _read(path, "GML", _parsed_gml, **settings)


def _read(
    path: str | os.PathLike[str],
    kind: str,
    parse: Callable[[Any, bytes], Any],
    *,
    weight: str | Literal[False] | None = None,
    label: str | None = None,
    columns: Mapping[str, Any] | None = None,
    encoder: Any = None,
    self_loops: bool = False,
    directed: Directed = "error",
    max_unpacked: Any = None,
    say: Callable[[str], None] = lambda line: None,
) -> AttributedGraph:
    try:
        import networkx as nx
    except ImportError as error:
        raise MissingPackageError(f'{kind} files are read by networkx: pip install "hopscale[networkx]"') from error
    data = read_content(path, max_unpacked)
    try:
        graph = parse(nx, data)
        if all(isinstance(node, str) for node in graph) and all_whole(list(graph)):
            graph = nx.relabel_nodes(graph, {node: int(node) for node in graph})
    except MemoryError:
        raise
    except Exception as error:  # of many kinds, whatever is odd in the file
        raise FileFormatError(f"{path} cannot be read as {kind}: {in_short(error)}") from error
    attributes = dict.fromkeys(name for _, own in graph.nodes(data=True) for name in own)
    chosen = [name for name in attributes if name != label]
    try:
        made = from_networkx(
            graph,
            features=chosen or None,
            weight="weight" if weight is None else None if weight is False else weight,
            label=label,
            columns=columns,
            encoder=encoder,
            self_loops=self_loops,
            directed=directed,
        )
    except DirectedGraphError as error:
        raise FileFormatError(
            f"{path} holds a directed graph, and hopscale embeds undirected ones: give ",
            Setting("directed", "symmetrize"),
            " to give each pair of nodes the larger of its two weights",
        ) from error
    except GraphError as error:
        raise FileFormatError(f"{path}: {error}") from error
    known = " none" if made.encoder is None else f"\n{made.encoder}"
    say(f"{made.n_nodes:,} nodes and {made.n_edges:,} edges in {path}; attributes of the nodes:{known}")
    return made


def _parsed_graphml(nx: Any, data: bytes) -> Any:
    _refuse_entities(data)
    return nx.read_graphml(io.BytesIO(data))


def _parsed_gml(nx: Any, data: bytes) -> Any:
    try:
        return nx.read_gml(io.BytesIO(data), label="label")
    except nx.NetworkXError as error:
        if "label" not in str(error):
            raise
        return nx.read_gml(io.BytesIO(data), label="id")


class _RootElement(Exception):  # noqa: N818 (no error: what precedes the graph is over)
    """The first element of a document has come."""


def _refuse_entities(data: bytes) -> None:
    """Refuse a document type of the file's own, which is where entities are defined. It stands before any element."""

    def refuse(*_: Any) -> None:
        raise ValueError("it has a DOCTYPE, which GraphML does not need and which may hide any amount of text")

    def stop(*_: Any) -> None:
        raise _RootElement

    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler, parser.StartElementHandler = refuse, stop
    try:
        parser.Parse(data, True)
    except _RootElement:
        return
