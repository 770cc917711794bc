"""The door for data frames and tables: whatever streams Arrow columns comes in by this one path."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hopscale.exceptions import GraphError, HopscaleError
from hopscale.graph import AttributedGraph, name_array
from hopscale.io.assemble import FeatureEntries, amounts, assemble
from hopscale.io.naming import as_names

__all__ = ["MissingPackageError", "from_tables"]


class MissingPackageError(HopscaleError, ImportError):
    """A door needs a package that is not installed."""


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
        without values; with values they add up.
    source, target : str, optional
        Columns of ``edges`` with the two nodes; by default the first two.
    weight : str, optional
        Column of ``edges``; by default the third column if it is numeric and called "weight", else
        the graph is unweighted. Repeated edges, in either direction, count once without weights and
        add up with them.
    node, feature : str, optional
        Columns of ``features``; by default the first two. ``node`` is also that of ``labels``.
    value : str, optional
        Column of ``features``; by default the third column if it is numeric and called "value".
    labels : table, optional
        One (node, label) a row.
    label : str, optional
        Column of ``labels``; by default the last.
    self_loops : bool, default=False
        Keep self-loops.

    Returns
    -------
    AttributedGraph

    Notes
    -----
    Nodes are those of ``edges`` and ``features``, in the order of :func:`~hopscale.io.from_edges`.
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
    table = _Table(edges, "edges", at_least=2)
    u, v = table.names(source, 0), table.names(target, 1)
    ends = np.stack([u, v] if u.dtype == v.dtype else [u.astype(object), v.astype(object)], axis=1)
    return assemble(
        ends,
        table.amounts(weight, "weight"),
        None if features is None else _entries(_Table(features, "features", at_least=2), node, feature, value),
        labels=None if labels is None else _labels(_Table(labels, "labels", at_least=2), node, label),
        self_loops=self_loops,
    )


def _entries(table: _Table, node: str | None, feature: str | None, value: str | None) -> FeatureEntries:
    nodes = table.names(node, 0)
    return FeatureEntries(nodes, table.names(feature, 1), table.amounts(value, "value"), listed=nodes)


def _labels(table: _Table, node: str | None, label: str | None) -> dict[Any, Any]:
    """Label by node; a node may be listed twice if it says the same."""
    given: dict[Any, Any] = {}
    column = table.column(label, -1, nulls=True).to_pylist()
    for row, (name, value) in enumerate(zip(table.names(node, 0).tolist(), column, strict=True)):
        if given.setdefault(name, value) != value:
            raise GraphError(f"labels, row {row}: node {name!r} has label {value!r}, but {given[name]!r} before")
    return given


class _Table:
    """Columns of one table, with errors that say which table, column and row (counted from 0)."""

    def __init__(self, source: Any, role: str, *, at_least: int) -> None:
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
        table = pa.table(source)
        # pandas sends its index along when it is more than a row number; it is not data of the user's.
        kept = [name for name in table.column_names if not name.startswith("__index_level_")]
        self.role, self.names_of_columns, self._table = role, kept, table
        if len(kept) < at_least:
            raise GraphError(f"{role} needs at least {at_least} columns, but has {kept}")

    def column(self, name: str | None, position: int, *, nulls: bool = False) -> Any:
        """Column by name, else by position."""
        name = self.names_of_columns[position] if name is None else name
        if self.names_of_columns.count(name) != 1:
            how = "no" if name not in self.names_of_columns else "more than one"
            raise GraphError(f"{self.role} has {how} column {name!r}; its columns are {self.names_of_columns}")
        column = self._table.column(name)
        if column.null_count and not nulls:
            row = column.is_null().to_pylist().index(True)
            raise GraphError(
                f"{self.role} has {column.null_count} missing value(s) in column {name!r}; the first is in row {row}"
            )
        return column

    def names(self, name: str | None, position: int) -> NDArray[Any]:
        """Column as names of nodes or features."""
        import pyarrow as pa

        column = self.column(name, position)
        if pa.types.is_integer(column.type):
            return as_names(column.to_numpy())
        if pa.types.is_floating(column.type):
            numbers = column.to_numpy()
            if np.isnan(numbers).any():
                row = int(np.argmax(np.isnan(numbers)))
                raise GraphError(f"{self.role}, row {row}: the name of a node or feature is missing (NaN)")
            return as_names(numbers)
        if not pa.types.is_dictionary(column.type):
            column = column.dictionary_encode()
        return name_array(np.concatenate([np.empty(0, dtype=object), *map(_decoded, column.chunks)]))

    def amounts(self, name: str | None, default: str) -> NDArray[np.float64] | None:
        """Column of weights or values, or None if there is none to use."""
        import pyarrow as pa

        if name is None:
            if self.names_of_columns[2:3] != [default]:
                return None
            kind = self._table.schema.field(default).type
            if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)):
                return None
        values = self.column(name, 2)
        numeric = pa.types.is_primitive(values.type) and not pa.types.is_temporal(values.type)
        column = values.to_numpy() if numeric else values.to_pylist()
        return amounts(column, name or default, lambda row: f"{self.role}, row {row},")


def _decoded(chunk: Any) -> NDArray[Any]:
    """Names of a dictionary-encoded array; each becomes a Python object once, however often it occurs."""
    words = np.empty(len(chunk.dictionary), dtype=object)
    words[:] = chunk.dictionary.to_pylist()
    decoded: NDArray[Any] = words[chunk.indices.to_numpy()]
    return decoded
