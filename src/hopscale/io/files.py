"""The door for files: edge lists as CSV, features as JSON or CSV, labels as CSV, or all in an ``.npz``."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from hopscale.exceptions import FileFormatError, ParameterError
from hopscale.graph import AttributedGraph
from hopscale.io.assemble import FeatureEntries, assemble
from hopscale.io.content import as_text, content_kind, existing, read_content
from hopscale.io.delimited import Pairs, is_whole, read_pairs, read_rows
from hopscale.io.feature_json import read_feature_json
from hopscale.io.label_file import labels_by_node
from hopscale.io.naming import as_names, distinct, rows_of
from hopscale.io.npz import read_npz

__all__ = ["read_graph"]

_PathLike = str | os.PathLike[str]


def read_graph(
    edges: _PathLike,
    features: _PathLike | None = None,
    labels: _PathLike | None = None,
    *,
    node_column: str | None = None,
    label_column: str | None = None,
    unknown: Literal["isolate", "error"] = "isolate",
    header: bool | None = None,
    self_loops: bool = False,
) -> AttributedGraph:
    """Graph from files.

    Parameters
    ----------
    edges : path-like
        Text with one undirected edge a line: ``source,target`` or ``source,target,weight``, divided
        by commas, semicolons, tabs or spaces. Or an ``.npz`` file, which holds everything; see
        :func:`hopscale.io.npz.read_npz`.
    features : path-like, optional
        JSON, ``{"0": [1, 5], ...}`` or ``{"0": {"tea": 2.5}, ...}``, or text with
        ``node,feature`` or ``node,feature,value`` a line.
    labels : path-like, optional
        Text with one node a line. Nodes that it leaves out, or whose label is empty, have none: NaN
        among numbers, None among other labels.
    node_column, label_column : str, optional
        Columns of ``labels``, by the names in its header; by default the first and the last.
    unknown : {"isolate", "error"}, default="isolate"
        An edge list cannot tell of nodes without edges, so that nodes which only ``features`` names
        are taken for isolated nodes. With "error" they are refused. Labels may never name a node that
        neither edges nor features do.
    header : bool, optional
        Whether the first line of the text files names the columns. By default a first line is a header
        if it says so ("id", "source", ...) or has no whole numbers for nodes where the second has.
    self_loops : bool, default=False
        Keep self-loops.

    Returns
    -------
    AttributedGraph

    Raises
    ------
    FileFormatError
        If a file cannot be read as what it should be; the message names the file and the line. A file
        that is not there raises a ``FileNotFoundError`` of the same family.

    Notes
    -----
    Ids are whole numbers if all ids in the edge file are, and then in all files; else they are text
    in all files. The same holds for the names of features. A number with leading zeros is text. Repeated
    edges and entries count once without weights or values and add up with them. Text files must be
    UTF-8 and may be packed with gzip; lines at the top that start with "# " or "% " are comments.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from hopscale.io import read_graph
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     edges, features = pathlib.Path(folder, "edges.csv"), pathlib.Path(folder, "features.json")
    ...     _ = edges.write_text("id_1,id_2\\n0,1\\n1,2\\n")
    ...     _ = features.write_text('{"0": [4, 4], "1": [4, 9], "2": []}')
    ...     graph = read_graph(edges, features)
    >>> graph
    AttributedGraph(nodes=3, edges=2, features=2, feature_entries=3)
    >>> graph.feature_names
    array([4, 9])
    """
    if unknown not in ("isolate", "error"):
        raise ParameterError(f"unknown must be 'isolate' or 'error', not {unknown!r}")
    if content_kind(existing(edges)) == ".npz":
        if features is not None or labels is not None:
            raise ParameterError(f"{edges} holds features and labels itself: give no other files with it")
        return read_npz(edges, self_loops=self_loops)
    pairs = read_pairs(_text(edges), edges, header, layout="source,target,weight", node_columns=2)
    ends = _named(np.stack([pairs.first, pairs.second], axis=1))
    whole = not isinstance(ends[0, 0], str)
    nodes = distinct(ends.ravel())
    entries = None
    if features is not None:
        entries = _read_features(features, header, whole=whole)
        if unknown == "error":
            _refuse_unknown(entries, nodes, features, header)
        nodes = distinct(nodes, entries.listed)
    by_node = None
    if labels is not None:
        rows = read_rows(_text(labels), labels, header, node_columns=1)
        by_node = labels_by_node(rows, nodes, whole=whole, node_column=node_column, label_column=label_column)
    return assemble(ends, pairs.amounts, entries, labels=by_node, self_loops=self_loops)


def _text(path: _PathLike) -> str:
    return as_text(read_content(path), path)


def _named(column: NDArray[Any]) -> NDArray[Any]:
    """Whole numbers if all names of an array of text are, else the text."""
    if column.dtype == np.int64 or not all(map(is_whole, column.ravel().tolist())):
        return column
    return as_names(list(map(int, column.ravel().tolist()))).reshape(column.shape)


def _like_edges(column: NDArray[Any], whole: bool, path: _PathLike) -> NDArray[Any]:
    """Node names of another file in the form that those of the edge file have."""
    if not whole:
        return column if column.dtype == object else np.array(list(map(str, column.tolist())), dtype=object)
    named = _named(column)
    if len(named) and isinstance(named[0], str):
        stranger = next(name for name in named.tolist() if not is_whole(name))
        raise FileFormatError(f"{path}: node {stranger!r} is not a whole number, while all nodes of the edge file are")
    return named


def _read_features(path: _PathLike, header: bool | None, *, whole: bool) -> FeatureEntries:
    text = _text(path)
    if text.lstrip()[:1] in ("{", "["):
        raw = read_feature_json(text, path)
    else:
        pairs = _feature_pairs(text, path, header)
        raw = FeatureEntries(pairs.first, pairs.second, pairs.amounts, listed=pairs.first)
    return replace(
        raw,
        nodes=_like_edges(raw.nodes, whole, path),
        features=_named(raw.features),
        listed=_like_edges(raw.listed, whole, path),
    )


def _feature_pairs(text: str, path: _PathLike, header: bool | None) -> Pairs:
    return read_pairs(text, path, header, layout="node,feature,value", node_columns=1)


def _refuse_unknown(entries: FeatureEntries, nodes: NDArray[Any], path: _PathLike, header: bool | None) -> None:
    unknown = rows_of(entries.listed, nodes) < 0
    if not unknown.any():
        return
    strangers = distinct(entries.listed[unknown]).tolist()
    shown = ", ".join(map(repr, strangers[:5])) + (", ..." if len(strangers) > 5 else "")
    where = str(path)
    text = _text(path)
    if text.lstrip()[:1] not in ("{", "["):
        rows = read_rows(text, path, header, node_columns=1)
        line = [line for line, _ in rows][int(np.argmax(unknown))]
        where += f", line {line}"
    raise FileFormatError(
        f"{where}: {len(strangers)} node(s) that no edge names: {shown}; pass unknown='isolate' to take them "
        "for isolated nodes"
    )
