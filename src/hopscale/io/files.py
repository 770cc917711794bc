"""The door for files: edge lists as CSV, features as JSON or CSV, labels as CSV, or all in an ``.npz``."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, BinaryIO, Literal

import numpy as np
from numpy.typing import NDArray

from hopscale.checks import switch
from hopscale.exceptions import FileFormatError, ParameterError, in_short
from hopscale.graph import AttributedGraph, Directed
from hopscale.io.assemble import FeatureEntries, assemble
from hopscale.io.bad_lines import BadLines
from hopscale.io.content import content_kind, existing, is_stream, read_content, shown_source
from hopscale.io.edge_file import read_edges, what_became_of
from hopscale.io.feature_file import like_nodes, read_feature_rows
from hopscale.io.feature_json import read_feature_json, refuse_json_table
from hopscale.io.graphml import read_gml, read_graphml
from hopscale.io.ids import edge_ids
from hopscale.io.label_file import read_labels
from hopscale.io.naming import Names, Unknown, check_attributes, check_unknown, known_rows
from hopscale.io.node_file import read_node_table
from hopscale.io.node_table import NodeTable, check_kinds, encode_nodes, table_of_nodes
from hopscale.io.npz import read_npz
from hopscale.io.parquet import is_parquet, parquet_edges, parquet_features, parquet_labels, parquet_table
from hopscale.io.rows import Rows, read_rows

if TYPE_CHECKING:
    from hopscale.features import FeatureEncoder

__all__ = ["ATTRIBUTED", "WHOLE_GRAPHS", "Files", "header_of_each", "read_graph", "read_node_labels"]

_PathLike = str | os.PathLike[str]
_File = _PathLike | BinaryIO
_FILES = ("edges", "features", "labels", "nodes")
# Kinds of files that hold edges, features and labels.
ATTRIBUTED = (".graphml", ".gml")  # whose attributes are columns of a table of nodes
WHOLE_GRAPHS = (".npz", *ATTRIBUTED)


def read_graph(
    edges: _File,
    features: _File | None = None,
    labels: _File | None = None,
    *,
    nodes: _File | None = None,
    source: str | None = None,
    target: str | None = None,
    weight: str | Literal[False] | None = None,
    value: str | None = None,
    id_column: str | None = None,
    node_column: str | None = None,
    label_column: str | None = None,
    columns: Mapping[str, Any] | None = None,
    encoder: FeatureEncoder | None = None,
    unknown: Unknown = "isolate",
    header: bool | Mapping[str, bool | None] | None = None,
    skip_bad_lines: bool = False,
    self_loops: bool = False,
    directed: Directed = "error",
    max_unpacked: int | str | None = None,
    say: Callable[[str], None] | None = None,
) -> AttributedGraph:
    """Graph from files.

    Parameters
    ----------
    edges : path-like or binary file
        Text with one undirected edge a line, separated by commas, semicolons, tabs or spaces, or a Parquet file.
        Or a file that holds everything, perhaps without labels: an ``.npz`` file, see
        :func:`hopscale.io.npz.read_npz`, or ``.graphml`` or ``.gml``, whose node attributes become features as the
        columns of a table do, but for ``label_column``; networkx must be installed for these.
    features : path-like or binary file, optional
        JSON, ``{"0": [1, 5], ...}`` or ``{"0": {"tea": 2.5}, ...}``, or text or Parquet with
        ``node,feature`` or ``node,feature,value`` a line.
    labels : path-like or binary file, optional
        Text or Parquet with one node a line. Nodes that it leaves out, or whose label is empty, have none: NaN
        among numbers, None among other labels.
    nodes : path-like or binary file, optional
        Text or Parquet with an ordinary table, one node a line, whatever its columns hold: categories, numbers, dates,
        lists, text. They become features by :class:`~hopscale.FeatureEncoder`; ``print(graph.encoder)`` tells what was
        understood.
    source, target : str, optional
        Columns of ``edges`` with the two nodes, by name, or by number from "1" on where no column has that
        name. By default two whose names say so, wherever they stand (from and to, buyer and seller, user_a and
        user_b), else the first two that are no dates, amounts or row numbers, or two that have names in common where
        these have none; a warning tells where more than two were left to choose from.
    weight, value : str, optional
        Column of ``edges`` with the weights and of ``features`` with the values, by name or number. By default
        the first other column that is called weight, value, count, strength or alike; without a header the third of
        three, if it holds numbers that are no times. Numbers may have commas between thousands, or decimal commas,
        where all of a column can be read so. ``weight=False`` leaves edges without weights.
    id_column : str, optional
        Column of ``nodes`` with the ids; by default the one that has most ids of the edges.
    node_column, label_column : str, optional
        Columns of ``labels``, by name or number; by default the first and the last, or the other one of two. Without
        ``labels`` the label is a column of ``nodes``, which is then no feature.
    columns : dict, optional
        Kinds of columns of ``nodes`` that are not to be guessed, as in ``{"age": "number", "notes": "drop"}``.
    encoder : FeatureEncoder, optional
        What is to make the features of ``nodes``: one that is fitted, such as ``model.encoder_``, gives new nodes the
        features that a model knows; another is fitted here.
    unknown : {"isolate", "error"}, default="isolate"
        An edge list cannot tell of nodes without edges, so that nodes which only ``features`` names
        are taken for isolated nodes, and labels of nodes that neither names are left out with a warning.
        With "error" both are refused.
    header : bool or mapping, optional
        Whether the first line of the text files names the columns: for all of them, or for each, such as
        ``{"edges": True, "labels": False}``. By default that is decided by the words and the looks of the line, and
        by the names in all others: a header has none of them. Where it cannot be decided the file is refused.
    skip_bad_lines : bool, default=False
        Skip lines that cannot be read, with a warning that counts and lists them: with too few or too many cells,
        without a node or a feature, with a weight or value that is none, with a quote that is not closed, with
        bytes that are no UTF-8 text, or with the header again. A file is refused of which more than half the lines
        are bad. By default the first of them is refused.
    self_loops : bool, default=False
        Keep self-loops.
    directed : {"error", "symmetrize"}, default="error"
        What to do with a directed graph in a GraphML or GML file: refuse it, or give each pair of nodes the
        larger of its two weights. Lines of text are edges without a direction.
    max_unpacked : int or str, optional
        Refuse a packed file (gzip, Parquet, ``.npz``) that holds more than this, such as "16GiB". By default what the
        environment variable HOPSCALE_MAX_UNPACKED says, or else a hundred times its size, and at least 256 MiB.
    say : callable, optional
        Called with a line of text about each file: whether it has a header, which columns were taken for what, and
        which were passed over; and how many self-loops were dropped and repeated edges merged. ``say=print`` shows
        them.

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
        If a first line is taken for a header, but might be data; if a column of numbers in ``edges`` is passed over
        that might be the weights; if a node or feature is called NA, null or alike; if labels are left out, or classes
        differ in case or blanks alone; if bad lines are skipped.

    Notes
    -----
    Ids are whole numbers if all ids in the edge file are, and then in all files; else they are text
    in all files. The same holds for the names of features. Among ids that are whole numbers 7.0 is 7. A number
    with leading zeros is text. Repeated edges and entries count once without weights or values and add up with
    them; ``graph.n_edges`` tells how many edges are left of the lines, without self-loops unless they are kept. An edge
    of weight zero is none, but its nodes are nodes. Text files must be UTF-8 and may be packed with gzip; lines at the
    top that start with "# " or "% " are comments.

    A cell is missing if it is empty. A line without a node, a feature, or a weight or value where there is a column of
    them is bad; a node with an empty label has none. Words such as NA, null or NaN are names of nodes and features like
    any other, with a warning; among labels they mean none, and a warning counts them if the others are no numbers.

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
    check_attributes(source=source, target=target, weight=None if weight is False else weight, value=value)
    check_attributes(node_column=node_column, label_column=label_column, id_column=id_column)
    check_kinds(columns)
    files = Files(
        header=header_of_each(header),
        skip_bad_lines=switch("skip_bad_lines", skip_bad_lines),
        max_unpacked=max_unpacked,
        say=(lambda line: None) if say is None else say,
    )
    path = None if is_stream(edges) else existing(edges)
    kind = None if path is None else content_kind(path)
    if path is not None and kind in WHOLE_GRAPHS:
        if features is not None or nodes is not None:
            raise ParameterError(f"{edges} holds the features itself: give no other file with it, but for labels")
        if kind == ".npz":
            graph = read_npz(path, self_loops=self_loops, max_unpacked=max_unpacked)
        else:
            graph = (read_gml if kind == ".gml" else read_graphml)(
                path,
                weight=weight,
                label=label_column if labels is None else None,
                columns=columns,
                encoder=encoder,
                say=files.say,
                self_loops=self_loops,
                directed=directed,
                max_unpacked=max_unpacked,
            )
        if labels is None:
            return graph
        if graph.labels is not None:
            raise ParameterError(f"{edges} holds labels itself: give no others with it")
        found = files.labels(labels, node_column=node_column, label_column=label_column, unknown=unknown)
        return _with_labels(graph, found(graph.node_ids)[0])
    ends, weights = files.edges(edges, source=source, target=target, weight=weight)
    ends = ends.ordered()
    entries = None if features is None else files.features(features, ends.vocabulary, value=value, unknown=unknown)
    column = None
    if labels is not None:
        column = files.labels(labels, node_column=node_column, label_column=label_column, unknown=unknown)
    encoded = None
    if nodes is not None:
        encoded = encode_nodes(
            files.nodes(nodes, ends.vocabulary, id_column, label_column, *(columns or ())),
            ends.vocabulary,
            id_column=id_column,
            label_column=label_column if labels is None else None,
            columns=columns,
            encoder=encoder,
            say=files.say,
        )
        if unknown == "error":
            known_rows(encoded.listed, ends.vocabulary, source=str(shown_source(nodes)), things="nodes of the edges")
    graph = assemble(ends, weights, entries, nodes=encoded, labels_of=column, self_loops=self_loops)
    left_out = "" if say is None else what_became_of(ends, weights, graph.n_edges, self_loops=self_loops)
    if left_out:
        files.say(f"{shown_source(edges)}: {left_out}")
    return graph


def read_node_labels(
    labels: _File,
    nodes: NDArray[Any],
    *,
    node_column: str | None = None,
    label_column: str | None = None,
    header: bool | None = None,
    unknown: Unknown = "isolate",
    skip_bad_lines: bool = False,
    max_unpacked: int | str | None = None,
    say: Callable[[str], None] | None = None,
) -> NDArray[Any]:
    """Labels of nodes that are known already, such as those of a model, from a file alone.

    Parameters
    ----------
    labels : path or file object
        Text or Parquet with a node and its label a line.
    nodes : ndarray
        Ids of the nodes.
    node_column, label_column, header, unknown, skip_bad_lines, max_unpacked, say
        As in :func:`read_graph`.

    Returns
    -------
    ndarray
        A label for each of ``nodes``, with gaps: NaN among numbers, None among text.

    Examples
    --------
    >>> import io
    >>> nodes = np.array(["bob", "cid", "ann"], dtype=object)
    >>> read_node_labels(io.BytesIO(b"ann,red\\nbob,blue\\n"), nodes, header=False)
    array(['blue', None, 'red'], dtype=object)
    """
    check_unknown(unknown)
    check_attributes(node_column=node_column, label_column=label_column)
    files = Files(
        header=header_of_each(header),
        skip_bad_lines=switch("skip_bad_lines", skip_bad_lines),
        max_unpacked=max_unpacked,
        say=(lambda line: None) if say is None else say,
    )
    found = files.labels(labels, node_column=node_column, label_column=label_column, unknown=unknown)
    return found(nodes)[0]


def _with_labels(graph: AttributedGraph, labels: NDArray[Any]) -> AttributedGraph:
    return AttributedGraph(
        graph.adjacency,
        graph.features,
        node_ids=graph.node_ids,
        feature_names=graph.feature_names,
        labels=labels,
        self_loops=True,
        encoder=graph.encoder,
    )


@dataclass(frozen=True)
class Files:
    """How files are to be read, whatever is in them."""

    header: dict[str, bool | None]
    skip_bad_lines: bool
    max_unpacked: int | str | None
    say: Callable[[str], None]

    def edges(
        self, file: _File, *, weight: str | Literal[False] | None, **columns: str | None
    ) -> tuple[Names, NDArray[np.float64] | None]:
        """Ends and weights of all edges."""
        path, data = self._content(file)
        if is_parquet(data):
            table = parquet_table(data, path, self.max_unpacked, by_node=False)
            return parquet_edges(table, self._bad(path, "row"), **columns, weight=weight, say=self.say)
        rows = self._rows(path, data, "edges", 2, {**columns, "weight": None if weight is False else weight})
        ends, weights = read_edges(rows, **columns, weight=weight, say=self.say)
        return edge_ids(ends), weights

    def features(self, file: _File, nodes: NDArray[Any], *, value: str | None, unknown: Unknown) -> FeatureEntries:
        """Entries of the feature matrix, by the names of ``nodes``, those of the edges."""
        path, data = self._content(file)
        if is_parquet(data):
            table = parquet_table(data, path, self.max_unpacked, by_node=True)
            entries = parquet_features(table, self._bad(path, "row"), value=value, say=self.say)
            return like_nodes(entries, nodes, unknown, path, lambda row: f"{path}, row {row}")
        if data.lstrip()[:1] in (b"{", b"["):
            refuse_json_table(data, path)
            return like_nodes(read_feature_json(data, path), nodes, unknown, path, lambda row: str(path))
        rows = self._rows(path, data, "features", 1, {"value": value})
        return read_feature_rows(rows, nodes, value=value, unknown=unknown, say=self.say)

    def labels(
        self, file: _File, *, unknown: Unknown, **columns: str | None
    ) -> Callable[[NDArray[Any]], tuple[NDArray[Any], str | None]]:
        """A function from the names of all nodes to their labels and the name of the column."""
        path, data = self._content(file)
        if is_parquet(data):
            table = parquet_table(data, path, self.max_unpacked, by_node=True)
            bad = self._bad(path, "row")
            return lambda nodes: parquet_labels(table, bad, nodes, unknown=unknown, **columns, say=self.say)
        rows = self._rows(path, data, "labels", 1, columns)
        return lambda nodes: read_labels(rows, nodes, unknown=unknown, **columns, say=self.say)

    def nodes(self, file: _File, edges: NDArray[Any], id_column: str | None, *named: str | None) -> NodeTable:
        """A table of nodes, where ``edges`` are the nodes of the edges."""
        path, data = self._content(file)
        if is_parquet(data):
            table = table_of_nodes(parquet_table(data, path, self.max_unpacked, by_node=True))
            return replace(
                table, where=lambda row: f"{path}, row {row}", skip_bad=self.skip_bad_lines, error=FileFormatError
            )
        rows = self._rows(path, data, "nodes", 1, dict(enumerate((id_column, *named))))
        return read_node_table(rows, edges, id_column=id_column)

    def _content(self, file: _File) -> tuple[_PathLike, bytes]:
        path, data = shown_source(file), read_content(file, self.max_unpacked)
        if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
            raise FileFormatError(f"{path} is text in UTF-16, as some spreadsheets save it: save it as UTF-8")
        return path, data

    def _bad(self, path: _PathLike, unit: str = "line") -> BadLines:
        return BadLines(path, self.skip_bad_lines, unit)

    def _rows(
        self, path: _PathLike, data: bytes, kind: str, node_columns: int, named: Mapping[Any, str | None]
    ) -> Rows:
        refuse_json_table(data, path)
        header, names = self.header[kind], list(named.values())
        return read_rows(data, path, header, node_columns=node_columns, named=names, bad=self._bad(path))


def header_of_each(header: Any) -> dict[str, bool | None]:
    """Whether each file has a header, as far as that was said."""
    if not isinstance(header, Mapping):
        return dict.fromkeys(_FILES, None if header is None else switch("header", header))
    for file in header:
        if file not in _FILES:
            raise ParameterError(f"header names {in_short(file)}, but files are {', '.join(_FILES)}")
    return {file: None if header.get(file) is None else switch("header", header[file]) for file in _FILES}
