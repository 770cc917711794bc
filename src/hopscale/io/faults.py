"""Which lines of delimited text are bad, and why: cells are counted in bulk, so that few lines are taken apart."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from hopscale.exceptions import in_short
from hopscale.features.cells import NumberFormat
from hopscale.io.rows import Rows, records

__all__ = ["Expected", "cells_per_line", "lines_of", "misshapen"]

_PIECE = 1 << 22  # bytes that are looked at at once
_OPEN = -1  # cells of a line with a quote that it does not close


@dataclass(frozen=True)
class Expected:
    """What a row must be like."""

    rows: Rows
    required: Sequence[int]  # columns that must not be empty
    amount_at: int | None
    amount: str  # what that column holds
    format: NumberFormat | None = None  # of the amounts, if they are not plain

    def fault(self, cells: list[str]) -> str | None:
        """What is wrong with a row."""
        if len(cells) != self.rows.width:
            return f"{len(cells)} column(s) instead of {self.rows.width}"
        if cells == self.rows.header:
            return "the header again; are these several files in one?"
        for at in sorted(self.required):
            if at >= len(cells) or not cells[at]:
                return f"column {at + 1} is empty"
        if self.amount_at is None:
            return None
        cell = cells[self.amount_at]
        try:
            number = float(self.format.parse([cell])[0] if self.format and self.format.comma else cell)
        except ValueError:
            return f"the {self.amount} is {in_short(cell)}, which is not a number"
        if self.format and self.format.comma and math.isnan(number):
            return f"the {self.amount} is {in_short(cell)}, while in other lines {self.format.words}"
        is_amount = math.isfinite(number) and number >= 0
        return None if is_amount else f"the {self.amount} is {cell}, but must be finite and not negative"

    def faults(self, lines: Sequence[int]) -> dict[int, str]:
        """What is wrong with the rows that begin in some lines, in order, as far as anything is."""
        found, rows = {}, self.rows
        for line in lines:
            rows = rows.from_line(line)
            _, cells, why = next(records(rows, self.fault))
            reason = why if cells is None else self.fault(cells)
            if reason is not None:
                found[line] = reason
        return found


def misshapen(expected: Expected) -> dict[int, str]:
    """Lines that are no row of as many cells as the others, and why."""
    rows = expected.rows
    counts, width, offset = cells_per_line(rows), rows.width, rows.offset
    wrong: dict[int, str] = {}
    end = 0  # of a row that goes over several lines
    for at in np.flatnonzero((counts != 0) & (counts != width)).tolist():
        line = offset + 1 + at
        if at < end:
            continue
        rows = rows.from_line(line)
        if b'"' not in rows.body[rows.start : rows.body.find(b"\n", rows.start)]:
            wrong[line] = f"{counts[at]} column(s) instead of {width}"
            continue
        found = list(islice(records(rows, expected.fault), 2))
        if not found or found[0][0] > line:  # nothing but quotes
            continue
        (_, cells, why), *others = found
        reason = why if cells is None else expected.fault(cells)
        if reason is not None:
            wrong[line] = reason
        else:
            end = others[0][0] - offset - 1 if others else len(counts)
    return wrong


def lines_of(rows: Rows, wanted: NDArray[np.intp]) -> list[int]:
    """Line numbers of some rows, counted from 0 and in order; none of them must be misshapen."""
    counts = cells_per_line(rows)
    if ((counts != 0) & (counts != rows.width)).any():  # rows of several lines, and quotes that are none
        positions = set(wanted.tolist())
        return [line for row, (line, _) in enumerate(rows) if row in positions]
    return (np.flatnonzero(counts)[wanted] + rows.offset + 1).tolist()


def cells_per_line(rows: Rows) -> NDArray[np.int64]:
    """Number of cells of each line; none if it is blank, and -1 if it does not close a quote.

    Examples
    --------
    >>> from hopscale.io.rows import read_rows
    >>> rows = read_rows(b'a,b\\n\\nc,"d,e"\\n"f\\ng",h\\n', "e.csv", False, node_columns=2)
    >>> cells_per_line(rows)
    array([ 2,  0,  2, -1, -1])
    """
    pieces = []
    start, body = rows.start, rows.body
    while start < len(body):
        end = body.find(b"\n", start + _PIECE) + 1 or len(body)
        pieces.append(_cells_in(body[start:end].removesuffix(b"\n") + b"\n", rows.delimiter))
        start = end
    return np.concatenate(pieces or [np.empty(0, dtype=np.int64)])


def _cells_in(piece: bytes, delimiter: str | None) -> NDArray[np.int64]:
    """:func:`cells_per_line` of text that ends in a line feed."""
    signs = np.frombuffer(piece, dtype=np.uint8)
    ends = np.flatnonzero(signs == ord("\n"))
    starts = np.append(0, ends[:-1] + 1)
    if delimiter is None:
        is_word = signs > ord(" ")
        begins = is_word & ~np.append(False, is_word[:-1])
        return np.add.reduceat(begins, starts, dtype=np.int64)
    divides = signs == ord(delimiter)
    quotes = signs == ord('"')
    is_open = np.zeros(len(starts), dtype=bool)
    if quotes.any():
        before = np.cumsum(quotes, dtype=np.int64)
        first = before[starts] - quotes[starts]
        divides &= (before - np.repeat(first, ends - starts + 1)) % 2 == 0
        is_open = (before[ends] - first) % 2 == 1
    cells = np.add.reduceat(divides, starts, dtype=np.int64) + 1
    is_blank = ~np.logical_or.reduceat((signs > ord(" ")) | divides, starts)
    return np.where(is_open, _OPEN, np.where(is_blank, 0, cells))
