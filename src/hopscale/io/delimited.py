"""CSV and its kin: a fast way for whole numbers, a careful one that knows the line of every mistake."""

from __future__ import annotations

import csv
import io
import math
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hopscale.exceptions import FileFormatError

__all__ = ["Pairs", "Rows", "is_whole", "read_pairs", "read_rows"]

_WHOLE = re.compile(r"-?(0|[1-9][0-9]*)")
# Numbers that are names as they stand, while NumPy would read them as 7: +7, 007, -07.
_LONG_NUMBER = re.compile(r"[0-9]{19,}")
_TEXT_NUMBER = re.compile(r"(?:\+|-?0[0-9])")
# What publishers call the columns of nodes, without case, digits, spaces and underscores.
_NODE_COLUMNS = re.compile("(new)?id|(from|to)?node(id)?|source|target|src|dst|from|to|vertex")


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


def is_whole(text: str) -> bool:
    """Whether a name is a whole number; ``007`` is not, so that postcodes keep their zeros.

    Examples
    --------
    >>> is_whole("12"), is_whole("-3"), is_whole("007"), is_whole("1.0")
    (True, True, False, False)
    """
    return _WHOLE.fullmatch(text) is not None


def read_rows(text: str, path: str | os.PathLike[str], header: bool | None, *, node_columns: int) -> Rows:
    """Delimited text with its comments passed over, its delimiter and its header found.

    The first line is a header if the names in its ``node_columns`` first columns are among those that
    publishers give to columns of nodes, or if they are no whole numbers while those of the second line
    are. ``header`` decides where that guesses wrong.
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
    if header or (header is None and _looks_like_header([cells[:node_columns] for cells in first])):
        return replace(rows, header=first[0])
    return rows


def read_pairs(
    text: str, path: str | os.PathLike[str], header: bool | None, *, layout: str, node_columns: int
) -> Pairs:
    """Rows of two names and perhaps an amount.

    Parameters
    ----------
    text : str
        Content of the file.
    path : path-like
        Its name, for errors.
    header : bool or None
        Whether the first line names the columns; None to find out.
    layout : str
        Names of the three columns, such as ``"source,target,weight"``.
    node_columns : int
        How many of them name nodes.

    Returns
    -------
    Pairs

    Examples
    --------
    >>> pairs = read_pairs("id_1,id_2\\n4,7", "e.csv", None, layout="source,target,weight", node_columns=2)
    >>> pairs.first, pairs.second
    (array([4]), array([7]))
    """
    rows = read_rows(text, path, header, node_columns=node_columns)
    line, cells = next(iter(rows), (0, []))
    if not cells:
        raise FileFormatError(f"{path} has a header, but no rows")
    if len(cells) not in (2, 3):
        raise FileFormatError(
            f"{path}, line {line}: {len(cells)} column(s); expected {layout}, the last if there is one"
        )
    fast = _read_fast(rows, len(cells), line)
    return _read_carefully(rows, len(cells), layout.split(",")[2]) if fast is None else fast


def _read_fast(rows: Rows, width: int, line: int) -> Pairs | None:
    """Whole numbers at the speed of ``numpy.loadtxt``, or None if anything calls for care."""
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
    amounts = table["amount"].copy() if width == 3 else None
    if amounts is not None and not (np.isfinite(amounts) & (amounts >= 0)).all():
        return None
    return Pairs(table["first"].copy(), table["second"].copy(), amounts, None)


def _read_carefully(rows: Rows, width: int, amount: str) -> Pairs:
    lines: list[int] = []
    columns: list[list[Any]] = [[] for _ in range(width)]
    for line, cells in rows:
        if len(cells) != width:
            raise FileFormatError(f"{rows.path}, line {line}: {len(cells)} column(s) instead of {width}")
        if not cells[0] or not cells[1]:
            raise FileFormatError(f"{rows.path}, line {line}: column {1 if not cells[0] else 2} is empty")
        if width == 3:
            columns[2].append(_amount(cells[2], f"{rows.path}, line {line}: the {amount}"))
        columns[0].append(cells[0])
        columns[1].append(cells[1])
        lines.append(line)
    first, second = (np.array(column, dtype=object) for column in columns[:2])
    return Pairs(first, second, np.array(columns[2]) if width == 3 else None, np.array(lines, dtype=np.int64))


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


def _looks_like_header(first: list[list[str]]) -> bool:
    if all(_NODE_COLUMNS.fullmatch(re.sub(r"[\W\d_]", "", cell.lower())) for cell in first[0]):
        return True
    if len(first) == 1:
        return False
    return not any(map(is_whole, first[0])) and all(map(is_whole, first[1]))


def _amount(cell: str, what: str) -> float:
    try:
        number = float(cell)
    except ValueError:
        raise FileFormatError(f"{what} is {cell!r}, which is not a number") from None
    if not math.isfinite(number) or number < 0:
        raise FileFormatError(f"{what} is {cell}, but must be finite and not negative")
    return number
