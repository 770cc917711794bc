"""Labels of nodes as delimited text."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hopscale.exceptions import FileFormatError, Setting, in_short, warn
from hopscale.features.kinds import without_missing_texts
from hopscale.features.table import Column, text_array
from hopscale.indexed import labels_at
from hopscale.io.columns import is_number
from hopscale.io.delimited import read_columns
from hopscale.io.header import first_row_is_header
from hopscale.io.ids import are_whole, in_form_of, numbers_if_all
from hopscale.io.naming import Names, Unknown, listing, rows_of
from hopscale.io.rows import Rows
from hopscale.names import factorized

__all__ = ["last_but", "placed_labels", "read_labels", "warn_of_alike_classes", "warn_of_last"]


def read_labels(
    rows: Rows,
    nodes: NDArray[Any],
    *,
    node_column: str | None,
    label_column: str | None,
    unknown: Unknown,
    say: Callable[[str], None] = lambda line: None,
) -> tuple[NDArray[Any], str | None]:
    """Labels of all ``nodes``, with gaps, and the name of their column: ints or floats if all are numbers, else text.

    ``say`` reports which columns were taken. If there are no labels but of other nodes they are refused whatever
    ``unknown`` says: they mostly come from the wrong column.
    """
    if not rows.sample:
        return labels_at([], np.full(len(nodes), -1)), None
    rows = rows.checked("a node and its label")
    node_at = _node_at(rows, nodes) if node_column is None else rows.position(node_column)
    if label_column is None:
        label_at = last_but(node_at, [rows.called(at) for at in range(rows.width)], rows.path)
    else:
        label_at = rows.position(label_column)
    if node_at == label_at:
        raise FileFormatError(f"{rows.path}: {rows.called(node_at)} cannot be the node and its label")
    read = partial(read_columns, groups=[(node_at,), (label_at,)], required=(node_at,))
    columns = read(rows)
    if rows.is_open and first_row_is_header(columns, nodes, (node_at, label_at)):
        columns = columns.without_first(read)
    rows, (named, labels) = columns.rows, columns.names
    rows.bad.warn(len(named))
    say(f"{rows.path}: {rows.first_line}; nodes are {rows.called(node_at)}, labels are {rows.called(label_at)}")
    placed = placed_labels(
        named,
        labels.codes,
        text_array(list(map(str, labels.vocabulary.tolist()))),
        nodes,
        rows.path,
        unknown=unknown,
        typed=lambda used: _typed(used, rows.path),
        where=lambda row: f"line {rows.line(row)}",
        columns=rows.columns,
    )
    if label_column is None:
        warn_of_last([rows.called(at) for at in range(rows.width)], rows.path)
    return placed, rows.header[label_at] if rows.header else None


def _node_at(rows: Rows, nodes: NDArray[Any]) -> int:
    """Column of the nodes: the first, or where that has none of them, another whose first cells mostly are nodes.

    Whole numbers are in too many columns to tell.
    """
    if are_whole(nodes):
        return 0
    shares = []
    for at in range(rows.width):
        cells = Names.of([cells[at] for cells in rows.sample if len(cells) == rows.width])
        shares.append(float((rows_of(in_form_of(nodes, cells), nodes) >= 0).mean()) if len(cells) else 0.0)
        if shares[0] > 0:
            return 0
    best = int(np.argmax(shares))
    return best if shares[best] > 0.5 else 0


def placed_labels(
    named: Names,
    codes: NDArray[Any],
    labels: NDArray[Any],
    nodes: NDArray[Any],
    path: str | os.PathLike[str],
    *,
    unknown: Unknown,
    typed: Callable[[list[Any]], list[Any]],
    where: Callable[[int], str],
    columns: tuple[str | Setting, ...],
) -> NDArray[Any]:
    """Labels of all ``nodes`` from rows of a node and the code of its label, -1 for none.

    ``typed`` gives those labels their type that are used, ``where`` names a row, and ``columns`` says for errors
    which there are.
    """
    if len(labels) and all(isinstance(label, str) for label in labels.tolist()):
        codes, labels = _without_missing(codes, labels, path)
    named = in_form_of(nodes, named)
    at = rows_of(named, nodes)
    unknown_nodes = at < 0
    told = np.flatnonzero(~unknown_nodes & (codes >= 0))
    label = np.full(len(nodes), -1, dtype=codes.dtype)
    backwards = told[::-1]  # so that the first label of a node is the one that stays
    label[at[backwards]] = codes[backwards]
    contrary = label[at[told]] != codes[told]
    if contrary.any():
        # Publishers do list a node twice; only a contradiction is a mistake.
        row = int(told[np.argmax(contrary)])
        raise FileFormatError(
            f"{path}, {where(row)}: node {in_short(named.at(row))} has label {in_short(labels[codes[row]])}, but "
            f"{in_short(labels[label[at[row]]])} before"
        )
    given, used = factorized(label.astype(np.int64))
    classes = typed(labels[used[used >= 0]].tolist())
    column = labels_at(classes, given - (used[:1] < 0).sum())
    warn_of_alike_classes(classes, str(path))
    if not unknown_nodes.any():
        return column
    names = list(dict.fromkeys(named.vocabulary[named.codes[unknown_nodes]].tolist()))
    first = where(int(np.argmax(unknown_nodes)))
    advice = (
        " in neither the edges nor the features; if the nodes are in another column, name it with ",
        Setting("node_column"),
        ": ",
        *columns,
    )
    if unknown == "error" or unknown_nodes.all():
        raise FileFormatError(f"{path}, {first}: node {in_short(names[0])} is", *advice)
    total = len(np.unique(named.codes))
    left_out = f"the labels of {len(names):,} of {total:,} nodes are left out, {listing(names)}, the first in {first}"
    warn(f"{path}: {left_out}: they are", *advice)
    return column


def last_but(node_at: int, columns: Sequence[str], path: str | os.PathLike[str]) -> int:
    """Position of the labels where nobody has named their column: the last, or the other one of two."""
    if len(columns) < 3:
        return 1 - node_at
    if node_at == len(columns) - 1:
        raise FileFormatError(
            f"{path}: the last column, {columns[-1]}, has the nodes; name that of the labels with ",
            Setting("label_column"),
        )
    return len(columns) - 1


def warn_of_last(columns: Sequence[str], path: str | os.PathLike[str]) -> None:
    """Say which of several columns was taken for the labels, as nobody has named it."""
    if len(columns) > 2:
        warn(
            f"{path}: the last of {len(columns)} columns, {columns[-1]}, is taken for the labels; if they are in "
            "another, name it with ",
            Setting("label_column"),
        )


def warn_of_alike_classes(classes: Iterable[Any], source: str) -> None:
    """Warn of classes that differ in upper and lower case, or in blanks, alone."""
    alike: dict[str, list[str]] = {}
    for label in sorted({label for label in classes if isinstance(label, str)}):
        alike.setdefault(" ".join(label.casefold().split()), []).append(label)
    several = [names for names in alike.values() if len(names) > 1]
    if several:
        shown = " and ".join(map(in_short, several[0]))
        warn(f"{source}: {shown} are classes of their own, which differ in case or blanks alone ({len(several)} such)")


def _without_missing(
    codes: NDArray[Any], texts: NDArray[Any], path: str | os.PathLike[str]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Codes of labels and these, without words for missing values, which would be a class of all that is not known."""
    found, words = without_missing_texts(Column(codes, texts))
    words = [word for word in words if word]
    if words and not all(map(is_number, np.asarray(found.values).tolist())):
        count = int(np.isin(texts, words)[codes[codes >= 0]].sum())
        shown = ", ".join(map(in_short, sorted(words)))
        warn(f"{path}: {count} label(s) are taken for missing, {shown}; if that is a class, give it another name")
    return found.codes, np.asarray(found.values)


def _typed(texts: list[str], path: str | os.PathLike[str]) -> list[Any]:
    """Numbers if all labels are, which must then be finite, else the texts."""
    labels = numbers_if_all(texts)
    for text, label in zip(texts, labels, strict=True):
        if isinstance(label, float) and math.isinf(label):
            raise FileFormatError(
                f"{path}: the label {in_short(text)} is not a finite number, while all others are numbers"
            )
    return labels
