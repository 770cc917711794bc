"""Node tables as delimited text: all columns, each distinct cell held once."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hopscale.exceptions import FileFormatError, GraphError
from hopscale.features.table import Column
from hopscale.io.delimited import Columns, read_columns
from hopscale.io.ids import in_form_of
from hopscale.io.matching import EdgeIds, likely_id_column
from hopscale.io.naming import Names, rows_of
from hopscale.io.node_table import NodeTable
from hopscale.io.rows import Rows

__all__ = ["read_node_table"]


def read_node_table(rows: Rows, edges: NDArray[Any], *, id_column: str | None = None) -> NodeTable:
    """Table of nodes; a first line that may be a header is one, unless it has a node of the edges for an id.

    Columns without a name, as in a file without a header, are called ``column 1``, ``column 2`` and so on.
    """
    rows = rows.checked("a node and something about it")
    read = partial(read_columns, groups=[(at,) for at in range(rows.width)])
    columns = read(rows)
    if rows.is_open:
        named = columns.without_first(read) if len(columns.names[0]) > 1 else columns
        if not _first_is_node(named, edges, id_column):
            columns = named
    rows = columns.rows
    rows.bad.warn(len(columns.names[0]))
    return NodeTable(
        _table(columns),
        lambda row: f"{rows.path}, line {rows.line(row)}",
        skip_bad=rows.bad.skip,
        error=FileFormatError,
    )


def _first_is_node(columns: Columns, edges: NDArray[Any], id_column: str | None) -> bool:
    """Whether the first line, which is the header here, names a node of the edges."""
    table, header = _table(columns), columns.rows.header or []
    if id_column is None:
        try:
            id_column = likely_id_column(table, EdgeIds(edges))
        except GraphError:
            return False
    cell = dict(zip(table, header, strict=False)).get(id_column, "")
    return bool((rows_of(in_form_of(edges, Names.of([cell])), edges) >= 0).any())


def _table(columns: Columns) -> dict[str, Column]:
    header = (columns.rows.header or [])[: columns.rows.width]
    names: dict[str, Column] = {}
    for at, column in enumerate(columns.names):
        name = header[at] if at < len(header) and header[at] else f"column {at + 1}"
        if name in names:
            name = f"{name} ({at + 1})"
        names[name] = Column(column.codes, np.asarray(column.vocabulary, dtype=object))
    return names
