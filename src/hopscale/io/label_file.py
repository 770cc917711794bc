"""Labels of nodes as delimited text."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hopscale.exceptions import FileFormatError, Setting, in_short, warn
from hopscale.indexed import labels_at
from hopscale.io.columns import MISSING_WORDS, is_number
from hopscale.io.delimited import read_columns
from hopscale.io.header import first_row_is_header, is_missing_cell
from hopscale.io.ids import in_form_of, numbers_if_all
from hopscale.io.naming import Names, Unknown, listing, rows_of
from hopscale.io.rows import Rows

__all__ = ["placed_labels", "read_labels"]


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
    node_at = 0 if node_column is None else rows.position(node_column)
    if not rows.sample:
        return labels_at([], np.full(len(nodes), -1)), None
    rows = rows.checked("a node and its label")
    label_at = rows.width - 1 if label_column is None else rows.position(label_column)
    if node_at == label_at:
        raise FileFormatError(f"{rows.path}: {rows.called(node_at)} cannot be the node and its label")
    read = partial(read_columns, groups=[(node_at,), (label_at,)], required=(node_at,))
    columns = read(rows)
    if rows.is_open and first_row_is_header(columns, nodes, (node_at, label_at)):
        columns = columns.without_first(read)
    rows, (named, labels) = columns.rows, columns.names
    rows.bad.warn(len(named))
    say(f"{rows.path}: {rows.first_line}; nodes are {rows.called(node_at)}, labels are {rows.called(label_at)}")
    texts = np.array(_without_gaps(list(map(str, labels.vocabulary.tolist()))), dtype=object)
    codes = np.where((texts != "")[labels.codes], labels.codes, -1)
    placed = placed_labels(
        named,
        codes,
        texts,
        nodes,
        rows.path,
        unknown=unknown,
        typed=lambda used: _typed(used, rows.path),
        where=lambda row: f"line {rows.line(row)}",
        columns=rows.columns,
    )
    return placed, rows.header[label_at] if rows.header else None


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
    used, given = np.unique(label, return_inverse=True)
    column = labels_at(typed(labels[used[used >= 0]].tolist()), given - (used[:1] < 0).sum())
    if column.dtype.kind in "OU":
        _warn_of_words(column, path)
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
    left_out = f"the labels of {len(names)} node(s) are left out, {listing(names)}, the first in {first}"
    warn(f"{path}: {left_out}: they are", *advice)
    return column


def _warn_of_words(labels: NDArray[Any], path: str | os.PathLike[str]) -> None:
    """Words for a missing value would be a class of all that is not known."""
    for word in sorted(MISSING_WORDS.intersection(filter(lambda label: isinstance(label, str), labels.tolist()))):
        count = int((labels == word).sum())
        warn(f"{path}: {in_short(word)} is a class of {count} node(s); if it means none, leave the cells empty")


def _without_gaps(texts: list[str]) -> list[str]:
    """Labels with words for missing values left out, where all others are numbers."""
    given = [text for text in texts if not is_missing_cell(text)]
    return ["" if is_missing_cell(text) else text for text in texts] if given and all(map(is_number, given)) else texts


def _typed(texts: list[str], path: str | os.PathLike[str]) -> list[Any]:
    """Numbers if all labels are, which must then be finite, else the texts."""
    labels = numbers_if_all(texts)
    for text, label in zip(texts, labels, strict=True):
        if isinstance(label, float) and math.isinf(label):
            raise FileFormatError(
                f"{path}: the label {in_short(text)} is not a finite number, while all others are numbers"
            )
    return labels
