"""Labels of nodes as delimited text."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from hopscale.exceptions import FileFormatError
from hopscale.io.delimited import Rows, is_whole

__all__ = ["labels_by_node"]


def labels_by_node(
    rows: Rows, nodes: NDArray[Any], *, whole: bool, node_column: str | None, label_column: str | None
) -> dict[Any, Any]:
    """Label of every node that has one: ints or floats if all are numbers, else text.

    Parameters
    ----------
    rows : Rows
    nodes : ndarray
        The nodes there are; others are refused, since they mostly come from the wrong column.
    whole : bool
        Whether nodes are whole numbers.
    node_column, label_column : str or None
        Names of columns; by default the first and the last.

    Returns
    -------
    dict
    """
    known = set(nodes.tolist())
    node_at, label_at = _position(rows, node_column, 0), _position(rows, label_column, -1)
    width = 0
    given: dict[Any, str] = {}
    for line, cells in rows:
        width = width or len(cells)
        if len(cells) != width or width < 2:
            expected = f"instead of {width}" if width > 1 else "where a node and its label are two"
            raise FileFormatError(f"{rows.path}, line {line}: {len(cells)} column(s) {expected}")
        node = int(cells[node_at]) if whole and is_whole(cells[node_at]) else cells[node_at]
        label = cells[label_at]
        if node not in known:
            raise FileFormatError(
                f"{rows.path}, line {line}: node {node!r} is in neither the edges nor the features; if the "
                f"nodes are in another column, name it with node_column{_choice(rows)}"
            )
        if label and given.setdefault(node, label) != label:
            # Publishers do list a node twice; only a contradiction is a mistake.
            raise FileFormatError(
                f"{rows.path}, line {line}: node {node!r} has label {label!r}, but {given[node]!r} before"
            )
    return _typed(given)


def _position(rows: Rows, name: str | None, default: int) -> int:
    if name is None:
        return default
    if rows.header is None or name not in rows.header:
        raise FileFormatError(f"{rows.path} has no column {name!r}{_choice(rows)}")
    return rows.header.index(name)


def _choice(rows: Rows) -> str:
    return f"; its columns are {rows.header}" if rows.header else "; it has no header"


def _typed(given: dict[Any, str]) -> dict[Any, Any]:
    if all(map(is_whole, given.values())):
        return {node: int(label) for node, label in given.items()}
    try:
        return {node: float(label) for node, label in given.items()}
    except ValueError:
        return dict(given)
