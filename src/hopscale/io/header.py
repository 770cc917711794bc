"""Whether the first line of a table names its columns.

Some first lines say so, or cannot (:func:`obvious`). The others are weighed after reading, by all names of the file
(:func:`odds`): how often another line stands as much apart, and how often other cells look like those of the first.
"""

from __future__ import annotations

import math
import os
import re
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hopscale.exceptions import FileFormatError, Setting, in_short, warn
from hopscale.features.cells import number_format
from hopscale.io.columns import (
    MISSING_WORDS,
    has_digits_only,
    is_column_word,
    is_node_name,
    is_number,
    pair_of_nodes,
    words_of,
)
from hopscale.io.ids import in_form_of
from hopscale.io.naming import Names, rows_of

if TYPE_CHECKING:
    from hopscale.io.delimited import Columns
    from hopscale.io.rows import Rows

__all__ = ["first_row_is_header", "is_header", "is_missing_cell", "obvious", "odds", "undecided"]

# A first line is a header from LIKELY on, data up to UNLIKELY, and in between it is for the user to say.
CERTAIN, LIKELY, UNLIKELY = 1000.0, 20.0, 1 / 50

_MISSING = frozenset({"", "-", "?", "nil", *map(str.lower, MISSING_WORDS)})
_DIGITS = re.compile("[0-9]+")

# Shares of names of columns: made of known words, and among the others those with capitals, digits and so on.
_KNOWN = 0.75
_LETTERS = {"lower": 0.6, "upper": 0.1, "title": 0.15, "mixed": 0.14, "none": 0.01}
_SIGNS = ((re.compile(r"[0-9]"), 0.1), (re.compile(r"^[0-9]"), 0.01), (re.compile(r"\s"), 0.08),
          (re.compile(r"[^\w\s.-]"), 0.02))  # fmt: skip
_KNOWN_AMONG_NODES = 0.03  # how many nodes are expected to be called like columns, before any is seen


def obvious(rows: Sequence[list[str]], *, node_columns: int) -> bool | None:
    """Whether the first of some rows names the columns, as far as the kinds of the cells tell; None if they do not.

    Columns are not called by numbers. They are named in a line that has text where all other lines have
    numbers, or two names that edges have in their headers (from and to, buyer and seller), or an unnamed first
    column, the index that pandas writes.

    Examples
    --------
    >>> obvious([["who", "whom", "w"], ["ann", "bob", "0.5"]], node_columns=2)
    True
    >>> obvious([["ann", "bob", "2"], ["bob", "eve", "0.5"]], node_columns=2)
    False
    >>> obvious([["ann", "bob"], ["bob", "eve"]], node_columns=2)
    """
    first, others = rows[0], _others(rows)
    if first[0] == "" and len(first) > 1 and all(cell and not has_digits_only(cell) for cell in first[1:]):
        return True
    if any(map(_is_any_number, first)):
        return False
    for at, cell in enumerate(first):
        below = [row[at] for row in others if at < len(row) and not is_missing_cell(row[at])]
        has_numbers = below and sum(map(_is_any_number, below)) >= 0.8 * len(below)  # some lines may be bad
        if has_numbers and not is_missing_cell(cell):
            return True
    pair: Sequence[int] | None = range(node_columns)
    if not all(map(is_node_name, first[:node_columns])):
        pair = pair_of_nodes(first, by_marks=False) if node_columns > 1 else None
    if pair is None:
        return None
    # Names of nodes may be such words, too.
    alike = sum(all(map(is_column_word, (row[at] for at in pair if at < len(row)))) for row in others)
    return True if alike <= len(others) / 10 else None


def odds(first: Sequence[str], others: Sequence[Sequence[str]], alone: int, count: int) -> float:
    """How many times more likely the first line is to name the columns than to be data.

    ``others`` are some of the other rows, cell by cell as ``first``. Of all ``count`` other rows ``alone`` have
    names that no further row has, as the first one has.

    Examples
    --------
    >>> friends = [["ann", "bob"], ["bob", "eve"], ["eve", "joe"]]
    >>> odds(["fan", "fan_of"], friends, 0, 3) > LIKELY
    True
    >>> UNLIKELY < odds(["zoe", "max"], friends, 0, 3) < LIKELY
    True
    >>> odds(["zoe_17", "max_5"], [["ann_3", "bob_12"], ["ann_3", "joe_8"]] * 9, 1, 18) < UNLIKELY
    True
    """
    pair = pair_of_nodes(first) or ()
    ratios = [
        _look(cell, [row[at] for row in others if at < len(row)], at in pair or is_column_word(cell))
        for at, cell in enumerate(first)
    ]
    # Words in one line are written alike, so that only the strongest ratios count; digits are in each for itself.
    with_signs = [ratio for ratio, cell in zip(ratios, first, strict=True) if ratio < 1 and any(_shape(cell)[1:])]
    against = math.prod(with_signs) if with_signs else min(1.0, *ratios)
    return max(1.0, *ratios) * against * (count + 1) / (alone + 0.5)


def is_header(rows: Rows, node_columns: Sequence[int], alone: int, count: int) -> bool:
    """Whether the first row of a file names its columns, by its :func:`odds`; if they leave it open, the user must say.

    None of its names must occur in another row.
    """
    first, others = rows.sample[0], _others(rows.sample)
    value = odds(first, others, alone, count)
    if value <= UNLIKELY or not others:
        return False
    shown = " and ".join(in_short(first[at]) for at in node_columns)
    if value < LIKELY:
        raise undecided(rows.path, f"{shown}, name the columns? No other line has these names")
    if value < CERTAIN or not all(is_column_word(first[at]) for at in node_columns):
        warn(
            f"{rows.path}: the first line, {shown}, is taken for the names of the columns, as no other line has these "
            "names; if it is data, give ",
            Setting("header", False),
        )
    return True


def undecided(path: str | os.PathLike[str], question: str) -> FileFormatError:
    """An error that asks whether the first line is a header."""
    return FileFormatError(
        f"{path}: does the first line, {question}. Give ",
        Setting("header", True),
        " if it does, and ",
        Setting("header", False),
        " if it is data",
    )


def first_row_is_header(columns: Columns, nodes: NDArray[Any], at: Sequence[int]) -> bool:
    """Whether the first row of a table about ``nodes`` names its columns, as far as that can be told from all rows.

    Columns are those at the positions ``at``, that of the nodes first.
    """
    listed = columns.names[0]
    known = rows_of(in_form_of(nodes, Names.each(listed.vocabulary)), nodes) >= 0  # of each name, not of each row
    again = [(names.codes[1:] == names.codes[0]).nonzero()[0].tolist() for names in columns.names]
    if known[listed.codes[0]] or any(rows != again[0] for rows in again):
        return False
    counts = np.bincount(listed.codes, minlength=len(known))
    return is_header(columns.rows, at, int(counts[~known].sum()) - 1, len(listed) - 1)


def is_missing_cell(cell: str) -> bool:
    """Whether a cell says that there is no value.

    >>> is_missing_cell("NA"), is_missing_cell("0")
    (True, False)
    """
    return cell.strip().lower() in _MISSING


def _is_any_number(cell: str) -> bool:
    """Whether a cell is a number, be it with commas."""
    return is_number(cell) or ("," in cell and number_format([cell], np.ones(1)) is not None)


def _others(rows: Sequence[list[str]]) -> list[list[str]]:
    """Rows but the first, and those that repeat it: where files were put behind each other, that is their header."""
    return [row for row in rows if row != rows[0]]


def _look(cell: str, others: Sequence[str], known: bool) -> float:
    """How many times more often names of columns look like a cell than other cells of its column do.

    ``known`` says that the cell is what columns are called.
    """
    pattern = _pattern(cell)
    if pattern != cell.lower() and any(_pattern(other) == pattern for other in others):  # user_7 among user_12
        known = False
    if known:
        return _KNOWN * (len(others) + 1) / (sum(map(is_column_word, others)) + _KNOWN_AMONG_NODES)
    letters, *signs = shape = _shape(cell)
    share = _LETTERS[str(letters)]
    for has, (_, often) in zip(signs, _SIGNS, strict=True):
        share *= often if has else 1 - often
    seen = Counter(map(_shape, others))[shape]
    return (1 - _KNOWN) * share * (len(others) + 1) / (seen + 0.5)


def _shape(cell: str) -> tuple[str | bool, ...]:
    """Letters of a cell (capitals or not), and which other signs it has."""
    kinds = {"lower": cell.islower(), "upper": cell.isupper(), "title": cell.istitle()}
    letters = next(
        (kind for kind, is_it in kinds.items() if is_it), "mixed" if cell.upper() != cell.lower() else "none"
    )
    return letters, *(sign.search(cell) is not None for sign, _ in _SIGNS)


def _pattern(cell: str) -> str:
    """A cell with its numbers, and letters that stand alone, left open."""
    text = _DIGITS.sub("0", cell.lower())
    for word in words_of(cell):
        if len(word) == 1:
            text = re.sub(rf"(?<![^\W\d_]){word}(?![^\W\d_])", "0", text)
    return text
