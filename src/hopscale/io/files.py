"""The door for files: edge lists as CSV, features as JSON or CSV, labels as CSV, or all in an ``.npz``."""

from __future__ import annotations

import os
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hopscale.checks import switch
from hopscale.exceptions import FileFormatError, ParameterError, Setting, in_short, warn
from hopscale.graph import AttributedGraph
from hopscale.io.assemble import FeatureEntries, assemble
from hopscale.io.columns import WIDE_TABLE, all_whole, is_amount_name, is_node_name, is_whole, may_be_header
from hopscale.io.content import content_kind, existing, read_content
from hopscale.io.delimited import Rows, read_pairs, read_rows
from hopscale.io.feature_json import read_feature_json
from hopscale.io.label_file import read_labels
from hopscale.io.naming import Names, Unknown, check_attributes, check_unknown, listing, rows_of
from hopscale.io.npz import read_npz

__all__ = ["read_graph"]

_PathLike = str | os.PathLike[str]


def read_graph(
    edges: _PathLike,
    features: _PathLike | None = None,
    labels: _PathLike | None = None,
    *,
    weight: str | None = None,
    value: str | None = None,
    node_column: str | None = None,
    label_column: str | None = None,
    unknown: Unknown = "isolate",
    header: bool | None = None,
    self_loops: bool = False,
    max_unpacked: int | str | None = None,
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
    header : bool, optional
        Whether the first line of the text files names the columns. By default a first line is a header
        if it says so ("id", "source", ...), or has text where the second has numbers.
    self_loops : bool, default=False
        Keep self-loops.
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
    check_attributes(weight=weight, value=value, node_column=node_column, label_column=label_column)
    if header is not None:
        switch("header", header)
    if content_kind(existing(edges)) == ".npz":
        if features is not None or labels is not None:
            raise ParameterError(f"{edges} holds features and labels itself: give no other files with it")
        return read_npz(edges, self_loops=self_loops, max_unpacked=max_unpacked)
    ends, weights = _read_edges(read_content(edges, max_unpacked), edges, header, weight)
    ends = _named(ends).ordered()
    whole = not isinstance(ends.at(0), str)
    entries = None
    if features is not None:
        data = read_content(features, max_unpacked)
        entries = _read_features(data, features, header, value, ends.vocabulary, whole=whole, unknown=unknown)
    column = None
    if labels is not None:
        rows = read_rows(
            read_content(labels, max_unpacked), labels, header, node_columns=1, named=(node_column, label_column)
        )
        column = partial(
            read_labels, rows, whole=whole, node_column=node_column, label_column=label_column, unknown=unknown
        )
    return assemble(ends, weights, entries, labels_of=column, self_loops=self_loops)


def _named(column: Names) -> Names:
    """Whole numbers if all names of a column of text are, else the text."""
    return column.renamed(int) if _is_text(column) and all_whole(column.vocabulary.tolist()) else column


def _like_edges(column: Names, whole: bool, path: _PathLike) -> Names:
    """Node names of another file in the form that those of the edge file have."""
    if not whole:
        return column if _is_text(column) else column.renamed(str)
    named = _named(column)
    if _is_text(named):
        other = next(name for name in named.vocabulary.tolist() if not is_whole(name))
        raise FileFormatError(
            f"{path}: node {in_short(other)} is not a whole number, while all nodes of the edge file are"
        )
    return named


def _is_text(column: Names) -> bool:
    """Whether names are text; whole numbers past int64 are objects, too."""
    return len(column.vocabulary) > 0 and isinstance(column.vocabulary[0], str)


def _read_edges(
    data: bytes, path: _PathLike, header: bool | None, weight: str | None
) -> tuple[Names, NDArray[np.float64] | None]:
    rows = read_rows(data, path, header, node_columns=2, number_at=2, named=(weight,))
    at = _amount_at(rows, "source,target,weight", weight)
    if at == 2 and weight is None and rows.header and not is_amount_name(rows.header[2]):
        if is_node_name(rows.header[2]) or not rows.header[0]:
            raise FileFormatError(f"{path}: expected source,target or source,target,weight, but ", *rows.columns)
        warn(
            f"{path}: the column {rows.header[2]!r} is passed over; if it holds the weights of the edges, give ",
            Setting("weight", rows.header[2]),
            " or call it weight",
        )
        at = None
    [ends], weights = read_pairs(rows, "weight", at)
    if header is None and rows.header is None and ends.vocabulary.dtype == object:
        first, others = ends.codes[0].tolist(), ends.codes[1:]
        if may_be_header((ends.at(0), first[0], others), (ends.at(1), first[1], others)):
            _warn_of_first_line(ends.at(0), ends.at(1), path, "two nodes", "source,target")
    return ends, weights


def _read_features(
    data: bytes,
    path: _PathLike,
    header: bool | None,
    value: str | None,
    nodes: NDArray[Any],
    *,
    whole: bool,
    unknown: Unknown,
) -> FeatureEntries:
    rows = None
    if data.lstrip()[:1] in (b"{", b"["):
        raw = read_feature_json(data, path)
    else:
        rows = read_rows(data, path, header, node_columns=1, number_at=2, named=(value,))
        raw = _feature_pairs(rows, value)
        if header is None and rows.header is None and raw.listed.vocabulary.dtype == object and not whole:
            node, feature = raw.listed.at(0), str(raw.features.at(0))
            columns = ((node, raw.listed.codes), (feature, raw.features.codes))
            if node not in nodes and may_be_header(*((first, codes[0], codes[1:]) for first, codes in columns)):
                _warn_of_first_line(node, feature, path, "a node and its feature", "node,feature")
    entries = replace(raw, listed=_like_edges(raw.listed, whole, path), features=_named(raw.features))
    if unknown == "error" and (isolated := rows_of(entries.listed, nodes) < 0).any():
        names = entries.listed.with_codes(entries.listed.codes[isolated]).ordered().vocabulary.tolist()
        where = path if rows is None else f"{path}, line {rows.line(int(np.argmax(isolated)))}"
        raise FileFormatError(
            f"{where}: {len(names)} node(s) that no edge names: {listing(names)}; give ",
            Setting("unknown", "isolate"),
            " to take them for isolated nodes",
        )
    return entries


def _warn_of_first_line(first: str, second: str, path: _PathLike, things: str, names: str) -> None:
    warn(
        f"{path}: the first line is read as {things}, {in_short(first)} and {in_short(second)}, which no other "
        "line names; if it names the columns, give ",
        Setting("header", True),
        f" or call them {names}, and if it does not, give ",
        Setting("header", False),
    )


def _feature_pairs(rows: Rows, value: str | None) -> FeatureEntries:
    at = _amount_at(rows, "node,feature,value", value, f". {WIDE_TABLE}")
    if at == 2 and value is None and rows.header and not is_amount_name(rows.header[2]):
        raise FileFormatError(
            f"{rows.path}: expected node,feature or node,feature,value, but ",
            *rows.columns,
            f"; if {rows.header[2]!r} holds the values, give ",
            Setting("value", rows.header[2]),
            f". {WIDE_TABLE}",
        )
    (nodes, features), values = read_pairs(rows, "value", at, groups=((0,), (1,)))
    return FeatureEntries(nodes, None, features, values)


def _amount_at(rows: Rows, layout: str, named: str | None, advice: str = "") -> int | None:
    """Column of the weights or values: the one that was named, else the third if there is one."""
    line, cells = rows.first()
    if len(cells) < 2 or (len(cells) > 3 and named is None):
        raise FileFormatError(
            f"{rows.path}, line {line}: {len(cells)} column(s); expected {layout}, the last if there is one",
            *((", but ", *rows.columns) if rows.header else ()),
            advice if len(cells) > 3 else "",
        )
    if rows.header and len(rows.header) < len(cells):
        raise FileFormatError(f"{rows.path}, line {line}: {len(cells)} column(s), but ", *rows.columns)
    if named is not None:
        at = rows.position(named)
        if at >= len(cells):
            raise FileFormatError(f"{rows.path}, line {line}: {len(cells)} column(s), but ", *rows.columns)
        return at
    return 2 if len(cells) == 3 else None
