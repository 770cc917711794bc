"""The door for files: edge lists as CSV, features as JSON or CSV, labels as CSV, or all in an ``.npz``."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from hopscale.checks import switch
from hopscale.exceptions import ParameterError, in_short
from hopscale.graph import AttributedGraph, Directed
from hopscale.io.assemble import assemble
from hopscale.io.bad_lines import BadLines
from hopscale.io.content import content_kind, existing, read_content
from hopscale.io.edge_file import read_edges
from hopscale.io.feature_file import read_feature_rows, read_features_as_json
from hopscale.io.graphml import read_gml, read_graphml
from hopscale.io.ids import whole_if_all
from hopscale.io.label_file import read_labels
from hopscale.io.naming import Unknown, check_attributes, check_unknown
from hopscale.io.npz import read_npz
from hopscale.io.rows import Rows, read_rows

__all__ = ["WHOLE_GRAPHS", "read_graph"]

_PathLike = str | os.PathLike[str]
_FILES = ("edges", "features", "labels", "nodes")
# Kinds of files that hold edges, features and labels.
WHOLE_GRAPHS = (".npz", ".graphml", ".gml")


def read_graph(
    edges: _PathLike,
    features: _PathLike | None = None,
    labels: _PathLike | None = None,
    *,
    source: str | None = None,
    target: str | None = None,
    weight: str | None = None,
    value: str | None = None,
    node_column: str | None = None,
    label_column: str | None = None,
    unknown: Unknown = "isolate",
    header: bool | Mapping[str, bool] | None = None,
    skip_bad_lines: bool = False,
    self_loops: bool = False,
    directed: Directed = "error",
    max_unpacked: int | str | None = None,
    say: Callable[[str], None] | None = None,
) -> AttributedGraph:
    """Graph from files.

    Parameters
    ----------
    edges : path-like
        Text with one undirected edge a line: ``source,target`` or ``source,target,weight``, divided
        by commas, semicolons, tabs or spaces. Or a file that holds everything: an ``.npz`` file, see
        :func:`hopscale.io.npz.read_npz`, or ``.graphml`` or ``.gml``, whose node attributes become features
        as the columns of a table do, but for ``label_column``; networkx must be installed for these.
    features : path-like, optional
        JSON, ``{"0": [1, 5], ...}`` or ``{"0": {"tea": 2.5}, ...}``, or text with
        ``node,feature`` or ``node,feature,value`` a line.
    labels : path-like, optional
        Text with one node a line. Nodes that it leaves out, or whose label is empty, have none: NaN
        among numbers, None among other labels.
    source, target : str, optional
        Columns of ``edges`` with the two nodes, by the names in its header; by default the first two.
    weight, value : str, optional
        Column of ``edges`` with the weights and of ``features`` with the values, by the names in their
        headers. By default the third column, if there is no header or it calls that column weight,
        value, count, strength or alike.
    node_column, label_column : str, optional
        Columns of ``labels``, by the names in its header; by default the first and the last.
    unknown : {"isolate", "error"}, default="isolate"
        An edge list cannot tell of nodes without edges, so that nodes which only ``features`` names
        are taken for isolated nodes, and labels of nodes that neither names are left out with a warning.
        With "error" both are refused.
    header : bool or mapping, optional
        Whether the first line of the text files names the columns: for all of them, or for each, such as
        ``{"edges": True, "labels": False}``. By default a first line is a header
        if it says so ("id", "source", ...), or has text where the second has numbers.
    self_loops : bool, default=False
        Keep self-loops.
    directed : {"error", "symmetrize"}, default="error"
        What to do with a directed graph in a GraphML or GML file: refuse it, or give each pair of nodes the
        larger of its two weights. Lines of text are edges without a direction.
    max_unpacked : int or str, optional
        Refuse a packed file (gzip, ``.npz``) that holds more than this, such as "16GiB". By default what the
        environment variable HOPSCALE_MAX_UNPACKED says, or else a hundred times its size, and at least 256 MiB.

    Returns
    -------
    AttributedGraph

    Raises
    ------
    FileFormatError
        If a file cannot be read as what it should be; the message names the file and the line. A file
        that is not there raises a ``FileNotFoundError`` of the same family.

    Warns
    -----
    HopscaleWarning
        If a first line is read as data but stands apart as a header would, if a third column of edges is
        passed over because of its name, or if labels are left out.

    Notes
    -----
    Ids are whole numbers if all ids in the edge file are, and then in all files; else they are text
    in all files. The same holds for the names of features. A number with leading zeros is text. Repeated
    edges and entries count once without weights or values and add up with them; ``graph.n_edges`` tells
    how many edges are left of the lines, without self-loops unless they are kept. Text files must be
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
    check_unknown(unknown)
    check_attributes(source=source, target=target, weight=weight, value=value)
    check_attributes(node_column=node_column, label_column=label_column)
    skip_bad_lines = switch("skip_bad_lines", skip_bad_lines)
    has_header = _header_of_each(header)
    say = say or (lambda line: None)
    kind = content_kind(existing(edges))
    if kind in WHOLE_GRAPHS:
        if features is not None or labels is not None:
            raise ParameterError(f"{edges} holds features and labels itself: give no other files with it")
        if kind == ".npz":
            return read_npz(edges, self_loops=self_loops, max_unpacked=max_unpacked)
        read = read_gml if kind == ".gml" else read_graphml
        return read(
            edges,
            weight=weight,
            label=label_column,
            self_loops=self_loops,
            directed=directed,
            max_unpacked=max_unpacked,
        )

    def rows_of(path: _PathLike, data: bytes, file: str, node_columns: int, *named: str | None) -> Rows:
        bad = BadLines(path, skip_bad_lines)
        return read_rows(data, path, has_header[file], node_columns=node_columns, named=named, bad=bad)

    rows = rows_of(edges, read_content(edges, max_unpacked), "edges", 2, source, target, weight)
    ends, weights = read_edges(rows, source=source, target=target, weight=weight, say=say)
    ends = whole_if_all(ends).ordered()
    entries = None
    if features is not None:
        data = read_content(features, max_unpacked)
        if data.lstrip()[:1] in (b"{", b"["):
            entries = read_features_as_json(data, features, ends.vocabulary, unknown)
        else:
            rows = rows_of(features, data, "features", 1, value)
            entries = read_feature_rows(rows, ends.vocabulary, value=value, unknown=unknown, say=say)
    column = None
    if labels is not None:
        rows = rows_of(labels, read_content(labels, max_unpacked), "labels", 1, node_column, label_column)
        column = partial(
            read_labels, rows, node_column=node_column, label_column=label_column, unknown=unknown, say=say
        )
    return assemble(ends, weights, entries, labels_of=column, self_loops=self_loops)


def _header_of_each(header: Any) -> dict[str, bool | None]:
    """Whether each file has a header, as far as that was said."""
    if not isinstance(header, Mapping):
        return dict.fromkeys(_FILES, None if header is None else switch("header", header))
    for file in header:
        if file not in _FILES:
            raise ParameterError(f"header names {in_short(file)}, but files are {', '.join(_FILES)}")
    return {file: None if header.get(file) is None else switch("header", header[file]) for file in _FILES}
