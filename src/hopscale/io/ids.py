"""Ids as files hold them: text, of which whole numbers are made where all of them are."""

from __future__ import annotations

import os

from hopscale.exceptions import FileFormatError, in_short
from hopscale.io.columns import all_whole, is_whole
from hopscale.io.naming import Names

__all__ = ["like_edges", "whole_if_all"]


def whole_if_all(column: Names) -> Names:
    """Whole numbers if all names of a column of text are, else the text."""
    return column.renamed(int) if _is_text(column) and all_whole(column.vocabulary.tolist()) else column


def like_edges(column: Names, whole: bool, path: str | os.PathLike[str]) -> Names:
    """Node names of another file in the form that those of the edge file have."""
    if not whole:
        return column if _is_text(column) else column.renamed(str)
    named = whole_if_all(column)
    if _is_text(named):
        other = next(name for name in named.vocabulary.tolist() if not is_whole(name))
        raise FileFormatError(
            f"{path}: node {in_short(other)} is not a whole number, while all nodes of the edge file are"
        )
    return named


def _is_text(column: Names) -> bool:
    """Whether names are text; whole numbers past int64 are objects, too."""
    return len(column.vocabulary) > 0 and isinstance(column.vocabulary[0], str)
