"""Ids of a table and of edges, which may differ in type: 7, "7", 7.0 and " 7" are one node where that is safe."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hopscale.exceptions import GraphError, Setting, in_short
from hopscale.features.kinds import is_id_name
from hopscale.features.table import Column, Lists
from hopscale.io.columns import is_node_name, is_whole
from hopscale.io.naming import Names, rows_of
from hopscale.names import name_array, shown_name

__all__ = ["can_be_ids", "ids_like_edges", "likely_id_column"]

_ZEROS = re.compile(r"(-?[0-9]+)\.0*")
_NO_HINTS: Mapping[str, bool] = {}
_MOST_REPEATED = 0.5  # of the rows may repeat an id, or it is none
_NAMES = re.compile(r"names?|users?|nodes?|persons?|people|pages?|authors?|papers?|accounts?|handles?|logins?|titles?")


def ids_like_edges(column: Column, edges: NDArray[Any]) -> NDArray[Any]:
    """Name of the node for each value of a column of ids, as the edges write it.

    Examples
    --------
    >>> from hopscale.features.table import column_of
    >>> ids_like_edges(column_of(["7", "8.0", "9"], "id"), np.array([7, 8]))
    array([7, 8, 9])
    >>> ids_like_edges(column_of([7, 8], "id"), name_array(["7", "eve"])).tolist()
    ['7', '8']
    """
    values = _scalars(column)
    if edges.dtype == np.int64:
        return values if values.dtype == np.int64 else _whole_ids(values.tolist(), edges)
    keys = list(map(_key, values.tolist()))
    named = edges.tolist()
    if values.dtype == object:
        known = set(named)
        if all(text in known for text in keys):
            return name_array(keys)
    node_of: dict[str, Any] = {}
    for name in named:
        other = node_of.setdefault(_key(name), name)
        if other != name or type(other) is not type(name):
            raise GraphError(
                f"the edges have the nodes {in_short(other)} and {in_short(name)}, which an id in a table cannot tell "
                "apart: write all ids as text, or all as numbers"
            )
    return name_array([node_of.get(key, key) for key in keys])


def can_be_ids(column: Column, edges: NDArray[Any] | None = None) -> NDArray[np.bool_]:
    """Which values of a column can be ids: all but empty ones; whole numbers, if all nodes of the edges are."""
    values = _scalars(column)
    if edges is not None and edges.dtype == np.int64:
        return np.fromiter((is_whole(_key(value)) for value in values.tolist()), dtype=bool, count=len(values))
    return np.asarray(values != "") if values.dtype == object else np.ones(len(values), dtype=bool)


def likely_id_column(columns: Mapping[str, Column], edges: NDArray[Any], hints: Mapping[str, bool] = _NO_HINTS) -> str:
    """The column that names nodes: by what it shares with the edges, then by its name, then by its place.

    ``hints`` say of some columns that they are called as ids are, or not, whatever their names.

    Examples
    --------
    >>> from hopscale.features.table import column_of
    >>> table = {"age": [31, 40], "who": ["ann", "bob"]}
    >>> likely_id_column({name: column_of(cells, name) for name, cells in table.items()}, name_array(["bob", "ann"]))
    'who'
    """
    shared = {name: share for name, column in columns.items() if (share := _share(column, edges))}
    if not shared:
        first = {name: in_short(column.value(0)) for name, column in columns.items() if len(column.values)}
        raise GraphError(
            f"no column of the node table has ids of the edges, which have {shown_name(edges, 0)}; it has "
            + ", ".join(f"{name}: {value}" for name, value in first.items())[:400]
            + ". If one of them names the nodes, give ",
            Setting("id_column"),
        )
    enough = max(shared.values()) / 2
    return max(
        shared,
        key=lambda name: (
            shared[name] >= enough,
            hints[name] if name in hints else _is_called_id(name),
            int(columns[name].counts().max(initial=0)) <= 1,
            shared[name],
        ),
    )


def _is_called_id(name: str) -> bool:
    return is_node_name(name) or is_id_name(name) or _NAMES.fullmatch(name.lower()) is not None


def _scalars(column: Column) -> NDArray[Any]:
    if isinstance(column.values, Lists) or column.form not in ("number", "text"):
        raise GraphError(f"the ids of nodes must be text or whole numbers, but are of the kind {column.form}")
    return column.values


def _share(column: Column, edges: NDArray[Any]) -> float:
    """Which part of the edges' nodes a column of different values names, 0 if it cannot hold ids."""
    different = int(np.count_nonzero(column.counts()))
    if different < _MOST_REPEATED * len(column) or column.form not in ("text", "number"):
        return 0.0
    try:
        names = ids_like_edges(column, edges)
    except GraphError:
        return 0.0
    found = rows_of(Names.of(names), edges)
    return len(np.unique(found[found >= 0])) / max(len(edges), 1)


def _whole_ids(values: list[Any], edges: NDArray[Any]) -> NDArray[Any]:
    keys = list(map(_key, values))
    for value, key in zip(values, keys, strict=True):
        if not is_whole(key):
            raise GraphError(
                f"the node table has the id {in_short(value)}, which is not a whole number, while all nodes of the "
                f"edges are, such as {shown_name(edges, 0)}"
            )
    return name_array(list(map(int, keys)))


def _key(name: Any) -> str:
    """What ids that mean the same share."""
    if isinstance(name, float) and name.is_integer():
        return str(int(name))
    text = str(name).strip()
    zeros = _ZEROS.fullmatch(text)
    return zeros[1] if zeros else text
