"""What the first line of a table says: whether it names columns, and what they hold."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "WIDE_TABLE",
    "all_whole",
    "is_amount_name",
    "is_node_name",
    "is_whole",
    "looks_like_header",
    "may_be_header",
]

WIDE_TABLE = (
    "A wide table, with a column for every feature, goes in as a matrix: "
    "from_edges(edges, matrix, node_ids=..., feature_names=...)"
)

# Python reads whole numbers of so many digits whatever its settings; longer ones are text.
_MOST_DIGITS = 640
_WHOLE = re.compile(r"-?(0|[1-9][0-9]*)")
# What publishers call columns, without case, digits, spaces and underscores.
_NODES = re.compile("(new)?id|(from|to)?node(id)?|source|target|src|dst|from|to|vertex")
_AMOUNTS = re.compile(
    "(edge|link)?weights?|w|wt|values?|val|counts?|amounts?|scores?|strengths?|freq|frequency|similarity|tfidf"
)


def is_whole(text: str) -> bool:
    """Whether a name is a whole number; ``007`` is not, so that postcodes keep their zeros, nor are 641 digits.

    Examples
    --------
    >>> is_whole("12"), is_whole("-3"), is_whole("007"), is_whole("1.0")
    (True, True, False, False)
    """
    return len(text) <= _MOST_DIGITS and _has_digits(text)


def all_whole(texts: list[str]) -> bool:
    """Whether all of many names are whole numbers.

    Examples
    --------
    >>> all_whole(["12", "-0"]), all_whole(["12", "+3"])
    (True, False)
    """
    if max(map(len, texts), default=0) > _MOST_DIGITS:
        return False
    try:
        if list(map(str, map(int, texts))) == texts:  # a tenth of the time
            return True
    except ValueError:
        return False
    return all(map(is_whole, texts))


def is_node_name(column: str) -> bool:
    """Whether a column of this name holds nodes.

    Examples
    --------
    >>> is_node_name("id_1"), is_node_name("ToNodeId"), is_node_name("borrower")
    (True, True, False)
    """
    return _NODES.fullmatch(_plain(column)) is not None


def is_amount_name(column: str) -> bool:
    """Whether a column of this name holds weights or values.

    Examples
    --------
    >>> is_amount_name("Edge Weight"), is_amount_name("count"), is_amount_name("time")
    (True, True, False)
    """
    return _AMOUNTS.fullmatch(_plain(column)) is not None


def looks_like_header(rows: Sequence[list[str]], *, node_columns: int, number_at: int | None = None) -> bool:
    """Whether the first of two rows names columns beyond doubt.

    It does if its ``node_columns`` first cells are what publishers call such columns, if they are no
    whole numbers while those of the second row are, or if the cell at ``number_at``, which must hold a
    number, does so only in the second row. An unnamed first column is the index that pandas writes.

    Examples
    --------
    >>> looks_like_header([["who", "whom", "w"], ["ann", "bob", "0.5"]], node_columns=2, number_at=2)
    True
    >>> looks_like_header([["who", "whom"], ["ann", "bob"]], node_columns=2, number_at=2)
    False
    """
    first = rows[0]
    nodes = first[:node_columns]
    if all(map(is_node_name, nodes)) or (first[0] == "" and all(cell and not _has_digits(cell) for cell in first[1:])):
        return True
    if len(rows) == 1 or any(map(_has_digits, nodes)):
        return False
    if all(map(_has_digits, rows[1][:node_columns])):
        return True
    if number_at is None or min(map(len, rows)) <= number_at:
        return False
    return not _is_number(first[number_at]) and _is_number(rows[1][number_at])


def may_be_header(*columns: tuple[str, int, NDArray[Any]]) -> bool:
    """Whether a first row of names stands apart from the other rows: they repeat names, but none of its own.

    A column is its first cell, the code of that, and the codes among which it would occur again if it were a name.

    Examples
    --------
    >>> others = np.array([2, 3, 3, 4])  # ann, bob, bob, eve
    >>> may_be_header(("who", 0, others), ("whom", 1, others))
    True
    >>> may_be_header(("ann", 2, others), ("zoe", 1, others))
    False
    """
    if any(_has_digits(first) or (others == code).any() for first, code, others in columns):
        return False
    return any(len(np.unique(others)) < others.size for _, _, others in columns)


def _has_digits(text: str) -> bool:
    return _WHOLE.fullmatch(text) is not None


def _plain(column: str) -> str:
    return re.sub(r"[\W\d_]", "", column.lower())


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
