"""Features as delimited text, and by the names that nodes have in the edges."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hopscale.exceptions import FileFormatError, Setting
from hopscale.io.assemble import FeatureEntries
from hopscale.io.columns import WIDE_TABLE, is_amount_name
from hopscale.io.delimited import read_columns
from hopscale.io.header import first_row_is_header
from hopscale.io.ids import are_whole, is_text, like_edges, whole_if_all
from hopscale.io.naming import Unknown, listing, rows_of
from hopscale.io.rows import Rows

__all__ = ["like_nodes", "read_feature_rows"]


def read_feature_rows(
    rows: Rows, nodes: NDArray[Any], *, value: str | None, unknown: Unknown, say: Callable[[str], None]
) -> FeatureEntries:
    """Entries of the feature matrix, by the names that the ``nodes`` of the edges have; ``say`` reports which columns
    were taken.
    """
    rows = rows.checked("node,feature or node,feature,value")
    value_at = _value_at(rows, value)
    if value_at is not None:
        rows = replace(rows, is_open=False)  # it has a value
    read = partial(read_columns, groups=[(0,), (1,)], required=(0, 1), amount_at=value_at, amount="value")
    columns = read(rows)
    if rows.is_open and first_row_is_header(columns, nodes, (0, 1)):
        columns = columns.without_first(read)
    listed = whole_if_all(columns.names[0]) if are_whole(nodes) else columns.names[0]
    if are_whole(nodes) and is_text(listed):
        columns = columns.of_whole_nodes()
        listed = whole_if_all(columns.names[0])
    rows = columns.rows
    rows.bad.warn(len(columns.names[0]))
    values = "no values" if value_at is None else f"values are {rows.called(value_at)}"
    say(f"{rows.path}: {rows.first_line}; nodes are {rows.called(0)}, features are {rows.called(1)}; {values}")
    entries = FeatureEntries(listed, None, columns.names[1], columns.amounts)
    return like_nodes(entries, nodes, unknown, rows.path, lambda row: f"{rows.path}, line {rows.line(row)}")


def like_nodes(
    entries: FeatureEntries,
    nodes: NDArray[Any],
    unknown: Unknown,
    path: str | os.PathLike[str],
    where: Callable[[int], str],
) -> FeatureEntries:
    """Entries of a file by the names that the ``nodes`` of the edges have; ``where`` names the place of an entry."""
    listed = like_edges(entries.listed, nodes, path)
    if unknown == "error" and (isolated := rows_of(listed, nodes) < 0).any():
        names = listed.with_codes(listed.codes[isolated]).ordered().vocabulary.tolist()
        raise FileFormatError(
            f"{where(int(np.argmax(isolated)))}: {len(names)} node(s) that no edge names: {listing(names)}; give ",
            Setting("unknown", "isolate"),
            " to take them for isolated nodes",
        )
    return replace(entries, listed=listed, features=whole_if_all(entries.features))


def _value_at(rows: Rows, value: str | None) -> int | None:
    """Column of the values: the one named, else the third; what may be a wide table is refused."""
    if value is not None:
        return rows.position(value)
    if rows.width > 3:
        raise FileFormatError(
            f"{rows.path}, line {rows.line(0)}: {rows.width} column(s); expected node,feature or node,feature,value",
            *((", but ", *rows.columns) if rows.header else ()),
            f". {WIDE_TABLE}",
        )
    if rows.width == 3 and rows.header and not is_amount_name(rows.header[2]):
        raise FileFormatError(
            f"{rows.path}: expected node,feature or node,feature,value, but ",
            *rows.columns,
            f"; if {rows.header[2]!r} holds the values, give ",
            Setting("value", rows.header[2]),
            f". {WIDE_TABLE}",
        )
    return 2 if rows.width == 3 else None
