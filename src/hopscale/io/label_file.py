"""Labels of nodes as delimited text."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from hopscale.exceptions import FileFormatError
from hopscale.io.columns import is_whole
from hopscale.io.delimited import Rows
from hopscale.io.naming import Unknown, listing

__all__ = ["labels_by_node"]


def labels_by_node(
    rows: Rows,
    nodes: NDArray[Any],
    *,
    whole: bool,
    node_column: str | None,
    label_column: str | None,
    unknown: Unknown,
) -> tuple[dict[Any, Any], str]:
    """Label of every node that has one: ints or floats if all are numbers, else text.

    Parameters
    ----------
    rows : Rows
    nodes : ndarray
        The nodes there are.
    whole : bool
        Whether nodes are whole numbers.
    node_column, label_column : str or None
        Names of columns; by default the first and the last.
    unknown : {"isolate", "error"}
        Leave out the labels of other nodes, or refuse them. If there are no labels but of other nodes
        they are refused in any case: they mostly come from the wrong column.

    Returns
    -------
    dict
    str
        What was left out, in words, or nothing.
    """
    known = set(nodes.tolist())
    node_at = 0 if node_column is None else rows.position(node_column)
    label_at = -1 if label_column is None else rows.position(label_column)
    width = 0
    given: dict[Any, str] = {}
    strangers: dict[Any, int] = {}
    found = False
    for line, cells in rows:
        width = width or len(cells)
        if len(cells) != width or width < 2:
            expected = f"instead of {width}" if width > 1 else "where a node and its label are two"
            raise FileFormatError(f"{rows.path}, line {line}: {len(cells)} column(s) {expected}")
        node = int(cells[node_at]) if whole and is_whole(cells[node_at]) else cells[node_at]
        label = cells[label_at]
        if node not in known:
            strangers.setdefault(node, line)
            continue
        found = True
        if label and given.setdefault(node, label) != label:
            # Publishers do list a node twice; only a contradiction is a mistake.
            raise FileFormatError(
                f"{rows.path}, line {line}: node {node!r} has label {label!r}, but {given[node]!r} before"
            )
    if strangers and (unknown == "error" or not found):
        node, line = next(iter(strangers.items()))
        raise FileFormatError(f"{rows.path}, line {line}: node {node!r} is in neither {_advice(rows)}")
    return _typed(given), _left_out(rows, strangers) if strangers else ""


def _left_out(rows: Rows, strangers: dict[Any, int]) -> str:
    return (
        f"{rows.path}: the labels of {len(strangers)} node(s) are left out, {listing(strangers)}, the first in "
        f"line {next(iter(strangers.values()))}: they are in neither {_advice(rows)}"
    )


def _advice(rows: Rows) -> str:
    return "the edges nor the features; if the nodes are in another column, name it with node_column: " + rows.columns


def _typed(given: dict[Any, str]) -> dict[Any, Any]:
    if all(map(is_whole, given.values())):
        return {node: int(label) for node, label in given.items()}
    try:
        return {node: float(label) for node, label in given.items()}
    except ValueError:
        return dict(given)
