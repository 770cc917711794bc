"""Ids and labels as files hold them: text, of which numbers are made where all of them are."""

from __future__ import annotations

import os
from typing import Any

from numpy.typing import NDArray

from hopscale.exceptions import FileFormatError, in_short
from hopscale.io.columns import all_whole, is_whole
from hopscale.io.matching import id_key
from hopscale.io.naming import Names

__all__ = ["are_whole", "in_form_of", "is_text", "like_edges", "numbers_if_all", "whole_if_all"]


def whole_if_all(column: Names) -> Names:
    """Whole numbers if all names of a column of text are, else the text."""
    return column.renamed(int) if is_text(column) and all_whole(column.vocabulary.tolist()) else column


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
