"""Labels of nodes as delimited text."""

from __future__ import annotations

import math
import os
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from hopscale.exceptions import FileFormatError, Setting, in_short, warn
from hopscale.io.assemble import labels_at
from hopscale.io.columns import is_whole
from hopscale.io.delimited import Rows, read_columns
from hopscale.io.naming import Unknown, listing, rows_of

__all__ = ["read_labels"]


def read_labels(
    rows: Rows,
    nodes: NDArray[Any],
    *,
    whole: bool,
    node_column: str | None,
    label_column: str | None,
    unknown: Unknown,
) -> NDArray[Any]:
    """Labels of all nodes, with gaps: ints or floats if all are numbers, else text.

    ``nodes`` are those there are, and ``whole`` says whether they are whole numbers. If there are no labels but of
    other nodes they are refused whatever ``unknown`` says: they mostly come from the wrong column.
    """
    node_at = 0 if node_column is None else rows.position(node_column)
    label_at = -1 if label_column is None else rows.position(label_column)
    width = len(next(iter(rows), (0, []))[1])
    if not width:
        return labels_at([], np.full(len(nodes), -1))
    read = read_columns(rows, ((node_at,), (label_at % width,))) if max(node_at, label_at, 1) < width else None
    if read is None:
        _refuse(rows, max(node_at, label_at, 1))
    (named, labels), _ = read
    if whole:
        named = named.renamed(lambda name: int(name) if isinstance(name, int) or is_whole(name) else name)
    elif named.vocabulary.dtype == np.int64:
        named = named.renamed(str)
    at = rows_of(named, nodes)
    unknown_nodes = at < 0
    texts = np.array(list(map(str, labels.vocabulary.tolist())), dtype=object)
    told = np.flatnonzero(~unknown_nodes & (texts != "")[labels.codes])
    label = np.full(len(nodes), -1, dtype=labels.codes.dtype)
    backwards = told[::-1]  # so that the first label of a node is the one that stays
    label[at[backwards]] = labels.codes[backwards]
    contrary = label[at[told]] != labels.codes[told]
    if contrary.any():
        # Publishers do list a node twice; only a contradiction is a mistake.
        row = int(told[np.argmax(contrary)])
        raise FileFormatError(
            f"{rows.path}, line {rows.line(row)}: node {in_short(named.at(row))} has label "
            f"{in_short(texts[labels.codes[row]])}, but {in_short(texts[label[at[row]]])} before"
        )
    used, given = np.unique(label, return_inverse=True)
    column = labels_at(_typed(texts[used[used >= 0]].tolist(), rows.path), given - (used[0] < 0))
    if not unknown_nodes.any():
        return column
    names = list(dict.fromkeys(named.vocabulary[named.codes[unknown_nodes]].tolist()))
    line = rows.line(int(np.argmax(unknown_nodes)))
    advice = (
        " in neither the edges nor the features; if the nodes are in another column, name it with ",
        Setting("node_column"),
        ": ",
        *rows.columns,
    )
    if unknown == "error" or unknown_nodes.all():
        raise FileFormatError(f"{rows.path}, line {line}: node {in_short(names[0])} is", *advice)
    left_out = f"the labels of {len(names)} node(s) are left out, {listing(names)}, the first in line {line}: they are"
    warn(f"{rows.path}: {left_out}", *advice)
    return column


def _refuse(rows: Rows, last: int) -> NoReturn:
    width = 0
    for line, cells in rows:
        width = width or len(cells)
        if len(cells) != width or width < 2:
            expected = f"instead of {width}" if width > 1 else "where a node and its label are two"
            raise FileFormatError(f"{rows.path}, line {line}: {len(cells)} column(s) {expected}")
        if width <= last:
            raise FileFormatError(f"{rows.path}, line {line}: {len(cells)} column(s), but ", *rows.columns)
    raise AssertionError(f"{rows.path} was refused, but every row is right")


def _typed(texts: list[str], path: str | os.PathLike[str]) -> list[Any]:
    """Ints if all are and fit, floats if all are numbers, else the text."""
    try:
        if all(map(is_whole, texts)):
            numbers = list(map(int, texts))
            if all(-(2**63) <= number < 2**63 for number in numbers):
                return numbers
        floats = list(map(float, texts))
    except ValueError:
        return texts
    if any(map(math.isinf, floats)):
        wrong = in_short(texts[list(map(math.isinf, floats)).index(True)])
        raise FileFormatError(f"{path}: the label {wrong} is not a finite number, while all others are numbers")
    return floats
