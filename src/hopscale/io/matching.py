"""Ids of a table and of edges, which may differ in type: 7, "7", 7.0 and " 7" are one node where that is safe."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cached_property
from itertools import repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hopscale.exceptions import GraphError, Setting, in_short, warn
from hopscale.features.kinds import is_id_name
from hopscale.features.table import Column, Lists
from hopscale.io.columns import all_whole, is_node_name, is_whole
from hopscale.names import name_array, positions, shown_name

__all__ = ["EdgeIds", "are_filled", "check_overlap", "id_key", "likely_id_column"]

_ZEROS = re.compile(r"(-?[0-9]+)\.0*")
_ANY_ZEROS = re.compile(rf"^{_ZEROS.pattern}$", re.MULTILINE)
_NO_HINTS: Mapping[str, bool] = {}
_MOST_REPEATED = 0.5  # of the rows may repeat an id, or it is none
_FEW = 0.5  # of the ids are shared: warn, or
_HARDLY_ANY = 0.1  # refuse if they would be shared but for their spelling
_SPELLINGS: Mapping[str, Callable[[str], str]] = {
    "as it is": str,
    "but for upper and lower case": str.casefold,
    "but for leading zeros": lambda name: name.lstrip("0"),
}
_SAMPLE = 10_000  # values of a column are looked for, and all of them only if none of these is found
_NAMES = re.compile(r"names?|users?|nodes?|persons?|people|pages?|authors?|papers?|accounts?|handles?|logins?|titles?")


class EdgeIds:
    """Ids of the nodes of edges, among which those of tables are looked for.

    Examples
    --------
    >>> from hopscale.features.table import column_of
    >>> EdgeIds(np.array([7, 8])).named(column_of(["7", "8.0", "9"], "id"))
    array([7, 8, 9])
    >>> edges = EdgeIds(name_array(["7", "eve"]))
    >>> edges.named(column_of([7, 8], "id")).tolist(), edges.rows(name_array(["eve", "ann"])).tolist()
    (['7', '8'], [1, -1])
    """

    def __init__(self, names: NDArray[Any]) -> None:
        self.names, self.are_whole = names, names.dtype == np.int64

    def __len__(self) -> int:
        return len(self.names)

    def rows(self, ids: NDArray[Any]) -> NDArray[Any]:
        """Position of each id, -1 if it is none of the edges."""
        if self.are_whole:
            return positions(ids, self.names)
        return np.fromiter(map(self._row.get, ids.tolist(), repeat(-1)), dtype=np.int64, count=len(ids))

    def named(self, column: Column) -> NDArray[Any]:
        """Name of the node for each value of a column of ids, as the edges write it."""
        values = _scalars(column)
        if self.are_whole:
            return values if values.dtype == np.int64 else self._whole(values.tolist())
        keys = values.tolist()
        if values.dtype != object or _ANY_ZEROS.search("\n".join(keys)):
            keys = list(map(id_key, keys))
        elif self._are_keys:
            return values
        if self._are_keys or all(key in self._row for key in keys):
            return name_array(keys)
        return name_array([self._by_key.get(key, key) for key in keys])

    def can_be(self, column: Column) -> NDArray[np.bool_]:
        """Which values of a column can be ids: whole numbers, if all nodes of the edges are, and none that is empty."""
        values = _scalars(column)
        if self.are_whole:
            return np.fromiter((is_whole(id_key(value)) for value in values.tolist()), dtype=bool, count=len(values))
        return are_filled(column)

    def share(self, column: Column, most: int | None = None) -> float:
        """Which part of the different values of a column, or of ``most`` of them, are nodes of the edges."""
        used = np.flatnonzero(column.counts())
        if len(used) < _MOST_REPEATED * len(column) or column.form not in ("text", "number") or not len(used):
            return 0.0
        used = used[:: 1 if most is None else -(-len(used) // most)]
        try:
            names = self.named(Column(used, np.asarray(column.values)[used]))
        except GraphError:
            return 0.0
        return float((self.rows(names) >= 0).mean())

    def spelling(self, ids: list[Any]) -> tuple[float, str]:
        """The largest part of some ids that are nodes of the edges but for their spelling, and what differs."""
        found = []
        for what, spelt in _SPELLINGS.items():
            known = {spelt(str(name)) for name in self.names.tolist()}
            found.append((sum(spelt(id_key(name)) in known for name in ids) / max(len(ids), 1), what))
        return max(found, key=lambda part: part[0])

    @cached_property
    def _row(self) -> dict[Any, int]:
        return dict(zip(self.names.tolist(), range(len(self.names)), strict=True))

    @cached_property
    def _are_keys(self) -> bool:
        """Whether all names are text of which there is one way to write it."""
        names = self.names.tolist()
        if set(map(type, names)) != {str} or list(map(str.strip, names)) != names:
            return False
        return _ANY_ZEROS.search("\n".join(names)) is None

    @cached_property
    def _by_key(self) -> dict[str, Any]:
        node_of: dict[str, Any] = {}
        for name in self.names.tolist():
            other = node_of.setdefault(id_key(name), name)
            if other != name or type(other) is not type(name):
                raise GraphError(
                    f"the edges have the nodes {in_short(other)} and {in_short(name)}, which an id in a table cannot "
                    "tell apart: write all ids as text, or all as numbers"
                )
        return node_of

    def _whole(self, values: list[Any]) -> NDArray[Any]:
        keys = list(map(id_key, values))
        for value, key in zip(values, keys, strict=True):
            if not is_whole(key):
                raise GraphError(
                    f"the node table has the id {in_short(value)}, which is not a whole number, while all nodes of the "
                    f"edges are, such as {shown_name(self.names, 0)}"
                )
        return name_array(list(map(int, keys)))


def are_filled(column: Column) -> NDArray[np.bool_]:
    """Which values of a column of ids are not empty."""
    values = _scalars(column)
    return np.asarray(values != "") if values.dtype == object else np.ones(len(values), dtype=bool)


def likely_id_column(columns: Mapping[str, Column], edges: EdgeIds, hints: Mapping[str, bool] = _NO_HINTS) -> str:
    """The column that names nodes: by what it shares with the edges, then by its name, then by its place.

    ``hints`` say of some columns that they are called as ids are, or not, whatever their names.

    Examples
    --------
    >>> from hopscale.features.table import column_of
    >>> table = {"age": [31, 40], "who": ["ann", "bob"]}
    >>> columns = {name: column_of(cells, name) for name, cells in table.items()}
    >>> likely_id_column(columns, EdgeIds(name_array(["bob", "ann"])))
    'who'
    """
    shared: dict[str, float] = {}
    for most in (_SAMPLE, None):
        shared = shared or {name: part for name, column in columns.items() if (part := edges.share(column, most))}
    if not shared:
        raise _no_ids(columns, edges)
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


def _no_ids(columns: Mapping[str, Column], edges: EdgeIds) -> GraphError:
    """An error that says what the columns have instead, and which of them comes nearest."""
    first = {name: in_short(column.value(0)) for name, column in columns.items() if len(column.values)}
    nearest = (0.005, "")
    for name, column in columns.items():
        if column.form in ("text", "number") and len(column.values) >= _MOST_REPEATED * len(column):
            values = np.asarray(column.values)[:_SAMPLE].tolist()
            share, what = edges.spelling(values)
            would = "are some, but others cannot be" if what == "as it is" else f"would be, {what}"
            nearest = max(nearest, (share, f". {share:.0%} of the values of {in_short(name)} {would}"))
    return GraphError(
        f"no column of the node table holds ids that are those of the edges, such as {shown_name(edges.names, 0)}; it "
        "has " + ", ".join(f"{name}: {value}" for name, value in first.items())[:400] + nearest[1],
        ". If one of them names the nodes, give ",
        Setting("id_column"),
    )


def check_overlap(names: NDArray[Any], edges: EdgeIds, id_column: str, *, is_guessed: bool) -> None:
    """Refuse or warn of a table of which few ids, all of them distinct, are nodes of the edges, or the other way round.

    ``is_guessed`` says that nobody has named the column of the ids.
    """
    if not len(names) or not len(edges):
        return
    found = edges.rows(names) >= 0
    shared, column = int(found.sum()), in_short(id_column)
    other = (". If another column names the nodes, give ", Setting("id_column"))
    has = f"the column {column} has {shown_name(names, int(np.argmin(found)))}, edges have {shown_name(edges.names, 0)}"
    both = (
        f"{shared:,} of the {len(names):,} ids in the node table are nodes of the edges, and "
        f"{len(edges) - shared:,} of the {len(edges):,} nodes of the edges are not in the table"
    )
    if shared < _FEW * min(len(names), len(edges)):
        share, what = edges.spelling(names.tolist())
        if share >= _FEW and shared < _HARDLY_ANY * len(names):
            raise GraphError(f"{both}, but {share:.0%} of the ids would be, {what}: write them alike ({has})", *other)
        if not shared:
            raise GraphError(f"none of the {len(names)} nodes of the node table is in an edge: {has}", *other)
        if is_guessed and _count_rows(names):
            raise GraphError(
                f"only {both}: the column {column}, which has most of their ids, seems to count the rows. Give the one "
                "that names the nodes, or this one, as ",
                Setting("id_column"),
            )
        hint = f"; {share:.0%} would be, {what}" if share * len(names) > shared else ""
        warn(f"only {both}: {has}{hint}", *other)
    elif shared < len(edges):
        warn(
            f"{len(edges) - shared} of the {len(edges)} nodes in the edges are not in the node table: they get no "
            "features from it"
        )


def _count_rows(names: NDArray[Any]) -> bool:
    """Whether distinct ids are whole numbers with few gaps."""
    if names.dtype != np.int64:
        listed = list(map(str, names.tolist()))
        if not all_whole(listed):
            return False
        names = name_array(list(map(int, listed)))
    return bool(int(names.max()) - int(names.min()) < 1.5 * len(names))


def _is_called_id(name: str) -> bool:
    return is_node_name(name) or is_id_name(name) or _NAMES.fullmatch(name.lower()) is not None


def _scalars(column: Column) -> NDArray[Any]:
    if isinstance(column.values, Lists) or column.form not in ("number", "text"):
        raise GraphError(f"the ids of nodes must be text or whole numbers, but are of the kind {column.form}")
    return column.values


def id_key(name: Any) -> str:
    """What ids that mean the same share."""
    if isinstance(name, float) and name.is_integer():
        return str(int(name))
    text = str(name).strip()
    zeros = _ZEROS.fullmatch(text)
    return zeros[1] if zeros else text
