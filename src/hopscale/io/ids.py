"""Ids and labels as files hold them: text, of which numbers are made where all of them are."""

from __future__ import annotations

import os
import re
from operator import itemgetter
from typing import Any

from numpy.typing import NDArray

from hopscale.exceptions import FileFormatError, GraphError, in_short
from hopscale.io.columns import all_whole, is_whole
from hopscale.io.matching import id_key
from hopscale.io.naming import Names

__all__ = [
    "are_whole",
    "both_ends",
    "edge_ids",
    "in_form_of",
    "is_text",
    "like_edges",
    "numbers_if_all",
    "whole_if_all",
]

_DIGITS = frozenset("-0123456789")  # that whole numbers begin with
_POINT = re.compile(r"\.0+")  # what whole numbers end in where they were floats


def whole_if_all(column: Names) -> Names:
    """Whole numbers if all names of a column of text are, else the text."""
    return column.renamed(int) if is_text(column) and all_whole(column.vocabulary.tolist()) else column


def edge_ids(ends: Names) -> Names:
    """Ids of an edge file: whole numbers if all are, be it that some of them are written as floats, else the text.

    Ids that are all written as floats stay text.

    Examples
    --------
    >>> edge_ids(Names.of(["7", "8.0", "7.0"])).vocabulary, edge_ids(Names.of(["7", "8.5"])).vocabulary
    (array([7, 8]), array(['7', '8.5'], dtype=object))
    """
    named = whole_if_all(ends)
    if not is_text(named):
        return named
    texts = ends.vocabulary.tolist()
    if _DIGITS.isdisjoint(map(itemgetter(slice(1)), texts)) or not any(map(is_whole, texts)):
        return named
    without = list(map(_without_point, texts))
    return ends.renamed(lambda text: int(_without_point(text))) if all_whole(without) else named


def both_ends(first: Names, second: Names, where: str) -> Names:
    """Two columns with the ends of edges side by side; text of whole numbers matches the numbers of the other column.

    Examples
    --------
    >>> both_ends(Names.of([7, 8]), Names.of(["8", "9"]), "edges").vocabulary
    array([7, 8, 9])
    """
    columns = [first, second]
    texts = [at for at in (0, 1) if is_text(columns[at])]
    if len(texts) == 1 and len(columns[1 - texts[0]].vocabulary):
        [at] = texts
        names, numbers = columns[at].vocabulary.tolist(), set(columns[1 - at].vocabulary.tolist())
        whole = [text for text in names if is_whole(_without_point(text))]
        if len(whole) == len(names):
            columns[at] = columns[at].renamed(lambda text: int(_without_point(text)))
        elif both := [text for text in whole if int(_without_point(text)) in numbers]:
            other = next(text for text in names if not is_whole(_without_point(text)))
            raise GraphError(
                f"{where}: one end of the edges has numbers, such as {in_short(int(_without_point(both[0])))}, and the "
                f"other text, such as {in_short(both[0])} and {in_short(other)}: "
                "give both columns one type, so that the same node is the same on both ends"
            )
    return Names.beside(columns)


def _without_point(text: str) -> str:
    """A number without the decimals that floats of whole numbers have."""
    head, point, decimals = text.partition(".")
    return head if _POINT.fullmatch(point + decimals) else text


def numbers_if_all(texts: list[str]) -> list[Any]:
    """Ints if all texts are whole numbers that fit into int64, floats if all are numbers, else the texts.

    >>> numbers_if_all(["7", "-1"]), numbers_if_all(["7", "0.5"]), numbers_if_all(["7", "x"])
    ([7, -1], [7.0, 0.5], ['7', 'x'])
    """
    if all(map(is_whole, texts)):
        whole = list(map(int, texts))
        if all(-(2**63) <= number < 2**63 for number in whole):
            return whole
    try:
        return list(map(float, texts))
    except ValueError:
        return texts


def are_whole(nodes: NDArray[Any]) -> bool:
    """Whether nodes of an edge file are whole numbers: all of them are, or all are text."""
    return len(nodes) > 0 and not isinstance(nodes[0], str)


def like_edges(column: Names, nodes: NDArray[Any], path: str | os.PathLike[str]) -> Names:
    """Node names of another file in the form that the ``nodes`` of the edge file have."""
    if not are_whole(nodes):
        return column if is_text(column) else column.renamed(str)
    named = whole_if_all(column)
    if is_text(named):
        other = next(name for name in named.vocabulary.tolist() if not is_whole(name))
        raise FileFormatError(
            f"{path}: node {in_short(other)} is not a whole number, while all nodes of the edge file are"
        )
    return named


def in_form_of(nodes: NDArray[Any], column: Names) -> Names:
    """Node names of another file in the form that ``nodes`` have, as far as they can have it."""
    if are_whole(nodes):
        return column.renamed(
            lambda name: name if isinstance(name, int) else int(key) if is_whole(key := id_key(name)) else name
        )
    return column if is_text(column) else column.renamed(str)


def is_text(column: Names) -> bool:
    """Whether names are text; whole numbers past int64 are objects, too."""
    return len(column.vocabulary) > 0 and isinstance(column.vocabulary[0], str)
