"""The door for data frames and tables: whatever streams Arrow columns comes in by this one path."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hopscale.exceptions import GraphError, HopscaleError, MissingPackageError, ParameterError, Setting, in_short, warn
from hopscale.features import FeatureEncoder
from hopscale.graph import AttributedGraph, name_array, repeated_name
from hopscale.io.assemble import FeatureEntries, amounts, assemble, label_array
from hopscale.io.columns import WIDE_TABLE, is_amount_name, is_node_name
from hopscale.io.indexed import ids_as_column
from hopscale.io.naming import Names, Unknown, check_attributes, check_unknown, known_rows, listing, rows_of
from hopscale.io.node_table import encode_nodes, table_of_nodes

__all__ = ["MissingPackageError", "from_tables"]


# Types of NumPy's that Arrow does not take from a column of objects as what they are.
_ODD = {np.datetime64, np.timedelta64, np.complex64, np.complex128, np.clongdouble, np.longdouble, np.float16, np.void}


def from_tables(
    edges: Any,
    features: Any = None,
    *,
    source: str | None = None,
    target: str | None = None,
    weight: str | None = None,
    node: str | None = None,
    feature: str | None = None,
    value: str | None = None,
    labels: Any = None,
    label: str | None = None,
    nodes: Any = None,
    id_column: str | None = None,
    label_column: str | None = None,
    columns: Mapping[str, Any] | None = None,
    encoder: FeatureEncoder | None = None,
    unknown: Unknown = "isolate",
    self_loops: bool = False,
) -> AttributedGraph:
    """Graph from data frames or tables (pandas, polars, pyarrow, DuckDB, ...).

    A table is anything with the method ``__arrow_c_stream__``.

    Parameters
    ----------
    edges : table
        One undirected edge a row.
    features : table, optional
        Long format: one (node, feature) or (node, feature, value) a row. Repeated rows count once
        without values; with values they add up. Or one (node, list of features) a row, where null and
        empty lists mean no features.
    source, target : str, optional
        Columns of ``edges`` with the two nodes; by default the first two.
    weight : str, optional
        Column of ``edges``; by default the third column if it is called weight, value, count, strength
        or alike, else the graph is unweighted. Repeated edges, in either direction, count once without
        weights and add up with them; ``graph.n_edges`` tells how many are left.
    node, feature : str, optional
        Columns of ``features``; by default the first two, or the index and the first column where the index
        holds the nodes. ``node`` is also that of ``labels``.
    value : str, optional
        Column of ``features``; by default the third and last column if it is called value, weight,
        count, score or alike. Other columns are refused unless ``feature`` is given: a wide table would
        be misread.
    labels : table, optional
        One (node, label) a row, or a Series with the nodes as index.
    label : str, optional
        Column of ``labels``; by default the last.
    nodes : table or mapping of columns, optional
        An ordinary table with a node a row, whatever its columns hold: categories, numbers, dates, lists, text. They
        become features by :class:`~hopscale.FeatureEncoder`; ``print(graph.encoder)`` tells what was understood.
        Rows are matched by id, never by position. Nodes without an edge are isolated nodes.
    id_column : str, optional
        Column of ``nodes`` with the ids, or the name of its index. By default the one that has most ids of the edges.
    label_column : str, optional
        Column of ``nodes`` with the labels, which is then no feature.
    columns : dict, optional
        Kinds of columns of ``nodes`` that are not to be guessed, as in ``{"age": "number", "notes": "drop"}``.
    encoder : FeatureEncoder, optional
        What is to make the features: one that is fitted, such as ``model.encoder_``, gives new nodes the features that
        a model knows; another is fitted here.
    unknown : {"isolate", "error"}, default="isolate"
        Take nodes that only ``features`` names for isolated nodes, and leave out the labels of nodes
        that neither table names, with a warning; or refuse both.
    self_loops : bool, default=False
        Keep self-loops.

    Returns
    -------
    AttributedGraph

    Warns
    -----
    HopscaleWarning
        If a numeric third column of ``edges`` is passed over because of its name, or labels are left out.

    Notes
    -----
    Nodes are those of ``edges`` and ``features``, in the order of :func:`~hopscale.io.from_edges`.
    A node, feature, weight or value that is missing (null, None, NaN) is refused with its row; a missing label, or list
    of features, means that there is none. An edge of weight 0 is none, and its nodes stay.
    Needs pyarrow: ``pip install hopscale[parquet]``.

    Examples
    --------
    >>> import pandas as pd
    >>> from hopscale.io import from_tables
    >>> edges = pd.DataFrame({"from": ["ann", "bob"], "to": ["bob", "eve"]})
    >>> likes = pd.DataFrame({"who": ["ann", "ann", "eve"], "what": ["tea", "go", "tea"]})
    >>> from_tables(edges, likes)
    AttributedGraph(nodes=3, edges=2, features=2, feature_entries=3)
    """
    check_unknown(unknown)
    named = {"source": source, "target": target, "weight": weight, "node": node, "feature": feature, "value": value}
    check_attributes(**named, label=label, id_column=id_column, label_column=label_column)
    if label_column is not None and (nodes is None or labels is not None):
        raise ParameterError("is a column of nodes, for labels that come with them", parameter="label_column")
    table = _Table(edges, "edges")
    ends = Names.beside([table.names(source, 0), table.names(target, 1)]).ordered()
    if weight is None:
        weight = _weight_column(table, source, target)
    entries = (
        None
        if features is None
        else _entries(_Table(ids_as_column(features, "features", node), "features"), node, feature, value)
    )
    if entries is not None and unknown == "error":
        known_rows(entries.listed, ends.vocabulary, source="features", things="nodes of the edges")
    column = None
    if labels is not None:
        column = partial(_labels, _Table(ids_as_column(labels, "labels", node), "labels"), node, label, unknown)
    weights = None if weight is None else table.amounts(weight)
    encoded = None
    if nodes is not None:
        encoded = encode_nodes(
            table_of_nodes(nodes),
            ends.vocabulary,
            id_column=id_column,
            label_column=label_column,
            columns=columns,
            encoder=encoder,
        )
        if unknown == "error":
            known_rows(encoded.listed, ends.vocabulary, source="nodes", things="nodes of the edges")
    return assemble(ends, weights, entries, nodes=encoded, labels_of=column, self_loops=self_loops)


def _weight_column(table: _Table, source: str | None, target: str | None) -> str | None:
    """Column that is the weight by its name, if there is one."""
    others = table.others(source, target)
    if not others or is_amount_name(others[0]):
        return others[0] if others else None
    if source is None and target is None:
        if is_node_name(others[0]):
            raise GraphError(
                f"edges has the columns {table.names_of_columns}; say which two hold the nodes with source and target"
            )
        if table.is_numeric(others[0]):
            setting = Setting("weight", others[0])
            warn(f"the column {others[0]!r} of edges is passed over; if it holds the weights, give ", setting)
    return None


def _entries(table: _Table, node: str | None, feature: str | None, value: str | None) -> FeatureEntries:
    nodes = table.names(node, 0)
    if value is None:
        value = _value_column(table, node, feature)
    lists = table.lists(feature, 1)
    if lists is None:
        values = None if value is None else table.amounts(value)
        return FeatureEntries(nodes, None, table.names(feature, 1), values)
    if value is not None:
        raise GraphError(f"features has lists of features, which cannot share the values in column {in_short(value)}")
    counts, features = lists
    return FeatureEntries(nodes, np.repeat(np.arange(len(counts)), counts), features)


def _value_column(table: _Table, node: str | None, feature: str | None) -> str | None:
    """Column that is the value by its name, if there is one; what may be a wide table is refused."""
    others = table.others(node, feature)
    if others and is_amount_name(others[0]) and (len(others) == 1 or feature is not None):
        return others[0]
    if others and feature is None:
        raise GraphError(
            f"features has the columns {table.names_of_columns}; expected node, feature and perhaps value, with one "
            f"feature of a node a row: name the columns with node, feature and value. {WIDE_TABLE}"
        )
    return None


def _labels(table: _Table, node: str | None, label: str | None, unknown: Unknown, nodes: NDArray[Any]) -> NDArray[Any]:
    """Labels of all nodes; a node may be listed twice if it says the same."""
    given: dict[Any, Any] = {}
    column = table.column(label, -1, nulls=True).to_pylist()
    named = table.names(node, 0)
    for row, (name, value) in enumerate(zip(named.vocabulary[named.codes].tolist(), column, strict=True)):
        if given.setdefault(name, value) != value:
            raise GraphError(
                f"labels, row {row}: node {in_short(name)} has label {in_short(value)}, "
                f"but {in_short(given[name])} before"
            )
    known = rows_of(Names.of(given), nodes) >= 0
    if known.all() or not known.any() or unknown == "error":
        return label_array(given, nodes)  # which refuses unknown nodes among them
    left_out = [name for name, meets in zip(given, known, strict=True) if not meets]
    warn(
        f"the labels of {len(left_out)} node(s) are left out: {listing(left_out)} are in neither the edges nor the "
        "features"
    )
    return label_array({name: given[name] for name, meets in zip(given, known, strict=True) if meets}, nodes)


class _Table:
    """Columns of one table, with errors that say which table, column and row (counted from 0)."""

    def __init__(self, source: Any, role: str) -> None:
        try:
            import pyarrow as pa
        except ImportError as error:
            raise MissingPackageError(
                "tables are read through pyarrow, which is not installed: pip install hopscale[parquet]"
            ) from error
        if not hasattr(source, "__arrow_c_stream__"):
            raise GraphError(
                f"{role} must be a table with __arrow_c_stream__ (pandas >= 2.2, polars, pyarrow, DuckDB), "
                f"not {type(source).__name__}"
            )
        self.role, self._pa = role, pa
        self._check_columns(source)
        with self._in_words():
            self._table = pa.table(source)
            self._table.validate(full=True)  # Arrow follows offsets and codes without looking at them
        # pandas sends its index along when it is more than a row number; it is not data of the user's.
        kept = [name for name in self._table.column_names if not name.startswith("__index_level_")]
        self.names_of_columns = kept
        if len(kept) < 2:
            raise GraphError(f"{role} needs at least 2 columns, but has {kept}")

    def _check_columns(self, source: Any) -> None:
        """Refuse what crashes on its way to Arrow, or arrives as something else.

        Names with a NUL byte end the process of polars, dates of NumPy's among other objects that of pyarrow, which
        also cuts complex numbers and long doubles to whole numbers; objects of polars arrive as addresses in memory.
        """
        names, kinds = getattr(source, "columns", ()), getattr(source, "dtypes", ())  # of data frames
        for at, (name, kind) in enumerate(zip(names, kinds, strict=False) if isinstance(kinds, Iterable) else ()):
            if "\0" in str(name):
                raise GraphError(f"{self.role} has a NUL byte in the name of column {in_short(name)}")
            types: set[type] = {object} if str(kind) == "Object" else set()
            if str(kind) == "object" and hasattr(source, "iloc"):
                types = set(map(type, source.iloc[:, at])) & _ODD
            if types:
                raise GraphError(
                    f"column {in_short(name)} of {self.role} holds objects of type {types.pop().__name__}: convert it "
                    "to text or numbers"
                )

    def column(self, name: str | None, position: int, *, nulls: bool = False) -> Any:
        """Column by name, else by position."""
        name = self.names_of_columns[position] if name is None else name
        if self.names_of_columns.count(name) != 1:
            how = "no" if name not in self.names_of_columns else "more than one"
            raise GraphError(f"{self.role} has {how} column {in_short(name)}; its columns are {self.names_of_columns}")
        column = self._table.column(name)
        if column.null_count and not nulls:
            row = column.is_null().to_pylist().index(True)
            raise GraphError(
                f"{self.role} has {column.null_count} missing value(s) in column {in_short(name)}; "
                f"the first is in row {row}"
            )
        return column

    def others(self, first: str | None, second: str | None) -> list[str]:
        """Columns besides two, which are given by name, else the first and the second."""
        used = {given or self.names_of_columns[position] for position, given in enumerate((first, second))}
        return [name for name in self.names_of_columns if name not in used]

    def is_numeric(self, name: str) -> bool:
        """Whether a column holds numbers."""
        kind, types = self.column(name, 0, nulls=True).type, self._pa.types
        return types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind)

    def names(self, name: str | None, position: int) -> Names:
        """Column as names of nodes or features."""
        column = self.column(name, position)
        with self._in_words():
            return self._named(column)

    def lists(self, name: str | None, position: int) -> tuple[NDArray[Any], Names] | None:
        """Lengths and contents of a column of lists of features, None if the column is none."""
        import pyarrow.compute as pc

        column, types = self.column(name, position, nulls=True), self._pa.types
        kinds = (types.is_list, types.is_large_list, types.is_fixed_size_list)
        if not any(is_kind(column.type) for is_kind in kinds):
            return None
        with self._in_words():
            counts = pc.fill_null(pc.list_value_length(column), 0).to_numpy()
            features = pc.list_flatten(column)
            if types.is_floating(features.type):
                raise GraphError(f"{self.role} has vectors where lists of features are expected. {WIDE_TABLE}")
            if features.null_count:
                row = np.repeat(np.arange(len(counts)), counts)[features.is_null().to_pylist().index(True)]
                raise GraphError(f"{self.role}, row {row}: a feature in the list is missing")
            return counts, self._named(features)

    def amounts(self, name: str) -> NDArray[np.float64]:
        """Column of weights or values."""
        column, types = self.column(name, 0), self._pa.types
        with self._in_words():
            numeric = types.is_primitive(column.type) and not types.is_temporal(column.type)
            values = column.to_numpy() if numeric else column.to_pylist()
        return amounts(values, name, lambda row: f"{self.role}, row {row},")

    def _named(self, column: Any) -> Names:
        """Arrow column as names of nodes or features; dictionaries are kept as they are."""
        types = self._pa.types
        if types.is_integer(column.type) or types.is_floating(column.type):
            numbers = column.to_numpy()
            missing = np.isnan(numbers)
            if missing.any():
                row = int(np.argmax(missing))
                raise GraphError(f"{self.role}, row {row}: the name of a node or feature is missing (NaN)")
            return Names.of(numbers)
        if not len(column):
            return Names.of([])
        if not types.is_dictionary(column.type):
            column = column.dictionary_encode()  # with one dictionary for all chunks
        elif column.num_chunks > 1:
            try:
                column = column.unify_dictionaries()
            except self._pa.ArrowNotImplementedError:  # as for some kinds of values
                column = column.cast(column.type.value_type).dictionary_encode()
        # Each name becomes a Python object once, however often it occurs.
        names = column.chunk(0).dictionary.to_pylist()
        codes = np.concatenate([chunk.indices.to_numpy() for chunk in column.chunks])
        vocabulary = name_array(names)
        if repeated_name(vocabulary, "names of nodes and features") is None:
            return Names(codes, vocabulary)
        distinct = Names.of(names)  # dictionaries of other makers may repeat a value
        return distinct.with_codes(distinct.codes[codes])

    @contextmanager
    def _in_words(self) -> Iterator[None]:
        """Turn what Arrow, or the maker of the table, has against its content into an error of ours."""
        try:
            yield
        except (HopscaleError, MemoryError):
            raise
        except Exception as error:  # whatever the table's own code has to say
            raise GraphError(
                f"{self.role} cannot be read through Arrow: every column must hold text, or numbers, or lists of one "
                f"of them, under a name of its own ({error})"
            ) from error
