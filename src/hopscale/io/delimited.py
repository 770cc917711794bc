"""CSV and its kin: a fast way for whole numbers, a careful one that knows the line of every mistake."""

from __future__ import annotations

import csv
import io
import math
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hopscale.exceptions import FileFormatError
from hopscale.io.columns import looks_like_header

__all__ = ["Pairs", "Rows", "read_pairs", "read_rows"]

# Numbers that are names as they stand, while NumPy would read them as 7: +7, 007, -07.
_LONG_NUMBER = re.compile(r"[0-9]{19,}")
_TEXT_NUMBER = re.compile(r"(?:\+|-?0[0-9])")


@dataclass(frozen=True)
class Pairs:
    """Two columns of names and perhaps one of amounts.

    Attributes
    ----------
    first, second : ndarray
        Both int64, or both object arrays of the text in the file.
    amounts : ndarray of float64 or None
    lines : ndarray of int64 or None
        Line of each row, counted from 1; None after fast reading, which does not keep them.
    """

    first: NDArray[Any]
    second: NDArray[Any]
    amounts: NDArray[np.float64] | None
    lines: NDArray[np.int64] | None


@dataclass(frozen=True)
class Rows:
    """Delimited text, taken apart as far as its first line.

    Attributes
    ----------
    path : path-like
    body : str
        Text from the header on, or from the first row if there is none.
    offset : int
        Number of lines before the body.
    delimiter : str or None
        None stands for any blank space.
    header : list of str or None
        Names of the columns, where the file has them.
    """

    path: str | os.PathLike[str]
    body: str
    offset: int
    delimiter: str | None
    header: list[str] | None

    def __iter__(self) -> Iterator[tuple[int, list[str]]]:
        """Line number and cells of every row that is not blank."""
        return islice(_cells(self), self.header is not None, None)

    def first(self) -> tuple[int, list[str]]:
        """Line number and cells of the first row; there must be one."""
        line, cells = next(iter(self), (0, []))
        if not cells:
            raise FileFormatError(f"{self.path} has a header, but no rows")
        return line, cells

    def position(self, column: str) -> int:
        """Where a column is, by its name."""
        if self.header is None or column not in self.header:
            raise FileFormatError(f"{self.path} has no column {column!r}; {self.columns}")
        return self.header.index(column)

    @property
    def columns(self) -> str:
        """The columns there are, and what may have gone wrong with them, in words."""
        if self.header is None:
            return "it has no header (if the first line is one, pass header=True)"
        index = "; the first has no name: if pandas wrote it, write the file with index=False"
        return f"its columns are {self.header}{index if not self.header[0] else ''}"


def read_rows(
    text: str,
    path: str | os.PathLike[str],
    header: bool | None,
    *,
    node_columns: int,
    number_at: int | None = None,
    named: Sequence[str | None] = (),
) -> Rows:
    """Delimited text with its comments passed over, its delimiter and its header found.

    The first line is a header if it has a column that the caller has ``named``, or if it looks like one
    (:func:`~hopscale.io.columns.looks_like_header`). ``header`` decides where that guesses wrong.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    # With a space after the sign, as SNAP and KONECT write: "#tea" may well be the name of a node.
    comments = re.match(r"(?:[ \t]*\n|[#%](?:[ \t][^\n]*)?(?:\n|$))*", text)
    start = comments.end() if comments else 0
    line = text[start:].partition("\n")[0]
    delimiter = next((sign for sign in "\t,;" if sign in line), None)
    rows = Rows(path, text[start:], text.count("\n", 0, start), delimiter, None)
    first = [cells for _, cells in islice(rows, 2)]
    if not first:
        raise FileFormatError(f"{path} has no rows, only comments")
    if header is None:
        header = any(name in first[0] for name in named) or looks_like_header(
            first, node_columns=node_columns, number_at=number_at
        )
    return replace(rows, header=first[0]) if header else rows


def read_pairs(rows: Rows, amount: str, amount_at: int | None) -> Pairs:
    """Rows of two names and perhaps an amount.

    Parameters
    ----------
    rows : Rows
    amount : str
        What the amount is, for errors.
    amount_at : int or None
        Its column, if it is to be read.

    Returns
    -------
    Pairs

    Examples
    --------
    >>> rows = read_rows("id_1,id_2\\n4,7", "e.csv", None, node_columns=2)
    >>> pairs = read_pairs(rows, "weight", None)
    >>> pairs.first, pairs.second
    (array([4]), array([7]))
    """
    line, cells = rows.first()
    fast = _read_fast(rows, len(cells), line, amount_at)
    return _read_carefully(rows, len(cells), amount, amount_at) if fast is None else fast


def _read_fast(rows: Rows, width: int, line: int, amount_at: int | None) -> Pairs | None:
    """Whole numbers at the speed of ``numpy.loadtxt``, or None if anything calls for care."""
    if width > 3 or amount_at not in (None, 2):
        return None
    body = rows.body
    if any(int(number) >= 2**63 for number in _LONG_NUMBER.findall(body)):  # some releases of NumPy wrap around
        return None
    if not body.isascii() or _TEXT_NUMBER.match(body) or re.search(rf"[\s,;]{_TEXT_NUMBER.pattern}", body):
        return None
    kind = np.dtype([("first", np.int64), ("second", np.int64), ("amount", np.float64)][:width])
    try:
        table = np.loadtxt(
            io.BytesIO(body.encode()),
            dtype=kind,
            delimiter=rows.delimiter,
            comments=None,
            skiprows=line - 1 - rows.offset,
            ndmin=1,
        )
    except (ValueError, OverflowError):
        return None
    amounts = table["amount"].copy() if amount_at is not None else None
    if amounts is not None and not (np.isfinite(amounts) & (amounts >= 0)).all():
        return None
    return Pairs(table["first"].copy(), table["second"].copy(), amounts, None)


def _read_carefully(rows: Rows, width: int, amount: str, amount_at: int | None) -> Pairs:
    lines: list[int] = []
    columns: list[list[Any]] = [[], [], []]
    for line, cells in rows:
        if len(cells) != width:
            raise FileFormatError(f"{rows.path}, line {line}: {len(cells)} column(s) instead of {width}")
        if not cells[0] or not cells[1]:
            raise FileFormatError(f"{rows.path}, line {line}: column {1 if not cells[0] else 2} is empty")
        if amount_at is not None:
            columns[2].append(_amount(cells[amount_at], f"{rows.path}, line {line}: the {amount}"))
        columns[0].append(cells[0])
        columns[1].append(cells[1])
        lines.append(line)
    first, second = (np.array(column, dtype=object) for column in columns[:2])
    amounts = None if amount_at is None else np.array(columns[2])
    return Pairs(first, second, amounts, np.array(lines, dtype=np.int64))


def _cells(rows: Rows) -> Iterator[tuple[int, list[str]]]:
    """First line and stripped cells of every row of the body; blank lines are passed over."""
    source = _lines(rows.body)
    if rows.delimiter is None:
        for line, text in enumerate(source, start=rows.offset + 1):
            if text.strip():
                yield line, text.split()
        return
    reader = csv.reader(source, delimiter=rows.delimiter, strict=True)
    line = rows.offset + 1
    try:
        for row in reader:
            cells = [cell.strip() for cell in row]
            if cells not in ([], [""]):
                yield line, cells
            line = rows.offset + reader.line_num + 1
    except csv.Error as error:
        raise FileFormatError(f"{rows.path}, line {line}: {error}") from error


def _lines(text: str) -> Iterator[str]:
    """Lines one by one: ``io.StringIO`` would copy the whole text to look at the first of them."""
    start = 0
    while start < len(text):
        end = text.find("\n", start) + 1 or len(text)
        yield text[start:end]
        start = end


def _amount(cell: str, what: str) -> float:
    try:
        number = float(cell)
    except ValueError:
        raise FileFormatError(f"{what} is {cell!r}, which is not a number") from None
    if not math.isfinite(number) or number < 0:
        raise FileFormatError(f"{what} is {cell}, but must be finite and not negative")
    return number
