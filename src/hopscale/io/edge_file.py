"""Edges as delimited text: which columns hold the nodes and the weights, and whether the first line names them."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from hopscale.exceptions import FileFormatError, Setting, in_short, warn
from hopscale.features.cells import number_format
from hopscale.io.columns import (
    are_fractions,
    are_times,
    is_amount_name,
    is_column_word,
    is_number,
    pair_of_nodes,
    weight_among,
    words_of,
)
from hopscale.io.delimited import Columns, read_columns
from hopscale.io.end_columns import Ends, choose_ends, weight_to_suggest
from hopscale.io.header import is_header
from hopscale.io.naming import Names, in_part
from hopscale.io.rows import Rows

__all__ = ["read_edges", "refuse_fractions", "what_became_of"]

_LOOKED_AT = 100  # names
_BRACKETS = re.compile(r"\[.*\]", re.DOTALL)


def read_edges(
    rows: Rows,
    *,
    source: str | None,
    target: str | None,
    weight: str | Literal[False] | None,
    say: Callable[[str], None],
) -> tuple[Names, NDArray[np.float64] | None]:
    """Ends of all edges, as text, and their weights if there are any; ``say`` reports which columns were taken."""
    rows = rows.checked("source,target or source,target,weight")
    ends = _ends(rows, source, target)
    ends_at = ends.at
    weight_at = None if weight is False else _weight_at(rows, ends_at) if weight is None else rows.position(weight)
    if weight_at is not None:
        rows = replace(rows, is_open=False)  # it has a weight
    # Edges have no direction: in the order of the file, so that nodes are seen in it.
    read = partial(
        read_columns, groups=[tuple(sorted(ends_at))], required=ends_at, amount_at=weight_at, amount="weight"
    )
    columns = read(rows)
    if rows.is_open and _first_is_header(columns, ends_at):
        columns = columns.without_first(read)
        ends = _ends(columns.rows, source, target)
        if ends.at != ends_at:  # by the names of the columns, which are known by now
            return read_edges(columns.rows, source=source, target=target, weight=weight, say=say)
    rows = columns.rows
    if source is None and target is None:
        refuse_fractions(columns.names[0], rows.path, [rows.called(at) for at in ends_at])
        _refuse_other_layouts(rows, ends_at)
    _warn_of_header(rows, ends_at)
    rows.bad.warn(len(columns.names[0]))
    ends.warn(str(rows.path), *map(rows.called, ends_at))
    passed_over = [at for at in range(rows.width) if at not in (*ends_at, weight_at)]
    say(_understood(rows, ends_at, weight_at, columns.format.words, passed_over))
    if weight_at is None and weight is None:
        _warn_of_weights(rows, passed_over)
    if columns.amounts is not None and (zeros := int((columns.amounts == 0).sum())):
        say(f"{rows.path}: {zeros} edge(s) of weight 0 count as none; their nodes stay")
    return columns.names[0], columns.amounts


def what_became_of(ends: Names, weights: NDArray[np.float64] | None, n_edges: int, *, self_loops: bool) -> str:
    """How many self-loops were dropped and repeated edges merged in a graph of ``n_edges``; nothing if none were."""
    is_edge = np.ones(len(ends), dtype=bool) if weights is None else weights > 0
    is_loop = ends.codes[:, 0] == ends.codes[:, 1]
    dropped = 0 if self_loops else int((is_edge & is_loop).sum())
    merged = int(is_edge.sum()) - dropped - n_edges
    parts = [f"{dropped:,} self-loop(s) dropped"] if dropped else []
    if merged:
        parts.append(f"{merged:,} repeated edge(s) merged" + ("" if weights is None else ", their weights added up"))
    return ", ".join(parts)


def refuse_fractions(ends: Names, path: str | os.PathLike[str], columns: Sequence[str]) -> None:
    """Refuse edges between numbers that are not whole: a table of something else."""
    if are_fractions(ends.vocabulary[:_LOOKED_AT].tolist()):
        raise FileFormatError(
            f"{path}: {columns[0]} and {columns[1]} hold fractions, such as {ends.at(0)}, and not nodes. If other "
            "columns hold them, or these do, give ",
            Setting("source"),
            " and ",
            Setting("target"),
        )


def _refuse_other_layouts(rows: Rows, ends_at: tuple[int, int]) -> None:
    """Refuse lists of neighbours, and a matrix with the nodes as its header and its first column."""
    first = [cells[0] for cells in rows.sample]
    if rows.header and rows.width > 2 and len(first) > 1 and first == rows.header[1 : len(first) + 1]:
        raise FileFormatError(
            f"{rows.path} is a matrix, with a line and a column for every node, and not a list of edges: give it to "
            "AttributedGraph, or write one edge a line"
        )
    for at, other in (ends_at, ends_at[::-1]):
        cells = _cells(rows, at)
        if _are_lists(cells, {*_cells(rows, other)}):
            raise FileFormatError(
                f"{rows.path}: {rows.called(at)} holds lists of nodes, such as {in_short(cells[0])}: write one edge a "
                "line, or give pairs of nodes to from_edges"
            )


def _are_lists(cells: Sequence[str], nodes: set[str]) -> bool:
    """Whether most cells, and three at least, are lists of which half are ``nodes``, or written as no name is."""
    if len(cells) > 1 and all(map(_BRACKETS.fullmatch, cells)):
        return True
    for sign in "|;,":
        lists = [[item.strip(" []\"'") for item in cell.split(sign)] for cell in cells]
        lists = [items for items in lists if len([*filter(None, items)]) > 1]
        if len(lists) < max(3, len(cells) / 2):
            continue
        items = {item for items in lists for item in items if item}
        if len(items & nodes) >= len(items) / 2 or (sign == "|" and len({*map(len, lists)}) > 1):
            return True
    return False


def _warn_of_header(rows: Rows, ends_at: tuple[int, int]) -> None:
    """A first line that is taken for a header as it alone has text may be an edge, if no word of it names columns."""
    if not rows.is_guessed or not rows.header or not rows.header[0] or pair_of_nodes(rows.header):
        return
    if not any(is_column_word(name) and max(map(len, words_of(name))) > 1 for name in rows.header if name):
        shown = " and ".join(in_short(rows.header[at]) for at in sorted(ends_at))
        warn(
            f"{rows.path}: the first line, {shown}, is taken for the names of the columns, as others have numbers; "
            "if it is data, give ",
            Setting("header", False),
        )


def _ends(rows: Rows, source: str | None, target: str | None) -> Ends:
    """Columns of the two nodes: those named, else those that the header, the cells or the order say."""
    named = [None if name is None else rows.position(name) for name in (source, target)]
    names = rows.header[: rows.width] if rows.header else [str(at + 1) for at in range(rows.width)]
    chosen = choose_ends(names, partial(_cells, rows), has_header=rows.header is not None)
    if named != [None, None]:
        left = [at for at in (*chosen.at, *range(rows.width)) if at not in named]
        first, second = (left.pop(0) if at is None else at for at in named)
        chosen = Ends((first, second))
    if chosen.at[0] == chosen.at[1]:
        raise FileFormatError(f"{rows.path}: {rows.called(chosen.at[0])} cannot be both ends of the edges")
    return chosen


def _weight_at(rows: Rows, ends_at: tuple[int, int]) -> int | None:
    """Column of the weights, by its name; without a header the third of three, if it has numbers that are no times."""
    has_numbers = partial(_has_numbers, rows)
    if rows.header is not None:
        return weight_among(rows.header[: rows.width], ends_at, has_numbers)
    [*others] = (at for at in range(rows.width) if at not in ends_at)
    if len(others) != 1 or not has_numbers(others[0]):
        return None
    return None if are_times([cells[others[0]] for cells in rows.sample if len(cells) == rows.width]) else others[0]


def _cells(rows: Rows, at: int) -> list[str]:
    """Some cells of a column, without that of a first row that may name the columns."""
    return [cells[at] for cells in rows.sample[rows.is_open :] if len(cells) == rows.width > at and cells[at]]


def _has_numbers(rows: Rows, at: int) -> bool:
    cells = _cells(rows, at)
    return any(map(is_number, cells)) or number_format(cells, np.ones(len(cells))) is not None


def _first_is_header(columns: Columns, ends_at: tuple[int, int]) -> bool:
    """Whether the first row names the columns, as far as that can be told from all of them."""
    codes, (first, others) = columns.names[0].codes, (columns.names[0].codes[0], columns.names[0].codes[1:])
    again = np.isin(others, first)
    if again.any() and not (again.all(axis=1) == again.any(axis=1)).all():
        return False
    if again.any():  # only ever together, as in a repeated header
        others = others[~again.any(axis=1)]
    counts = np.bincount(codes.ravel())
    alone = int((counts[others] == 1).all(axis=1).sum())
    return is_header(columns.rows, sorted(ends_at), alone, len(others))


def _warn_of_weights(rows: Rows, passed_over: list[int]) -> None:
    """Numbers may well be weights, and a column that is called so should have some."""
    names = rows.header[: rows.width] if rows.header else [str(at + 1) for at in range(rows.width)]
    for at in passed_over if rows.header else ():
        if is_amount_name(names[at]) and (cells := _cells(rows, at)):
            warn(
                f"{rows.path}: {rows.called(at)} is passed over: by its name it holds weights, but its cells, such as "
                f"{in_short(cells[0])}, are no numbers"
            )
    numbers = weight_to_suggest(names, passed_over, partial(_cells, rows))
    if numbers is not None:
        warn(
            f"{rows.path}: {rows.called(numbers)} is passed over; if it holds the weights of the edges, give ",
            Setting("weight", names[numbers]),
        )


def _understood(
    rows: Rows, ends_at: tuple[int, int], weight_at: int | None, written: str, passed_over: list[int]
) -> str:
    parts = [
        f"{rows.path}: {rows.first_line}",
        f"nodes are {rows.called(ends_at[0])} and {rows.called(ends_at[1])}",
        "no weights"
        if weight_at is None
        else f"weights are {rows.called(weight_at)}" + (f" ({written})" if written else ""),
    ]
    if passed_over:
        parts.append(f"passed over: {in_part([rows.called(at) for at in passed_over])}")
    return "; ".join(parts)
