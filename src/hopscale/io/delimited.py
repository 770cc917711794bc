"""CSV and its kin: plain text is read by a kernel, all else by Python; only errors look for the line."""

from __future__ import annotations

import csv
import io
import math
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from operator import itemgetter
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from hopscale._core import _native
from hopscale.exceptions import FileFormatError, Setting, in_short, warn
from hopscale.graph import name_array
from hopscale.io.columns import looks_like_header
from hopscale.io.content import as_text
from hopscale.io.naming import Coder, Names

__all__ = ["Rows", "amount_column", "read_columns", "read_pairs", "read_rows", "warn_of_first_line"]

# Names of each group of columns, and the amounts if there are any.
_Columns = tuple[list[Names], NDArray[np.float64] | None]

# Bytes that are decoded, and rows that are taken apart, at once: few enough to stay in the processor's cache.
_PIECE = 1 << 16
_BATCH = 1 << 11


@dataclass(frozen=True)
class Rows:
    """Delimited text, taken apart as far as its first line."""

    path: str | os.PathLike[str]
    body: bytes  # UTF-8 from the header on, or from the first row if there is none; lines end in a line feed
    offset: int  # number of lines before the body
    delimiter: str | None  # None stands for any blank space
    header: list[str] | None  # names of the columns, where the file has them

    def __iter__(self) -> Iterator[tuple[int, list[str]]]:
        """Line number and cells of every row that is not blank."""
        return islice(_cells(self), self.header is not None, None)

    def first(self) -> tuple[int, list[str]]:
        """Line number and cells of the first row; there must be one."""
        line, cells = next(iter(self), (0, []))
        if not cells:
            raise FileFormatError(f"{self.path} has a header, but no rows")
        return line, cells

    def line(self, row: int) -> int:
        """Line number of a row."""
        return next(islice(self, row, None))[0]

    def position(self, column: str) -> int:
        """Where a column is, by its name."""
        if self.header is None or column not in self.header:
            raise FileFormatError(f"{self.path} has no column {in_short(column)}; ", *self.columns)
        return self.header.index(column)

    @property
    def columns(self) -> tuple[str | Setting, ...]:
        """The columns there are, and what may have gone wrong with them, as parts of a message."""
        if self.header is None:
            return "it has no header (if the first line is one, give ", Setting("header", True), ")"
        index = "; the first has no name: if pandas wrote it, write the file with index=False"
        return (f"its columns are {self.header}{index if not self.header[0] else ''}",)


def read_rows(
    data: bytes,
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
    if not data.isascii() or b"\0" in data:
        as_text(data, path)  # refuses what is no text
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    # With a space after the sign, as SNAP and KONECT write: "#tea" may well be the name of a node.
    comments = re.match(rb"(?:[ \t]*\n|[#%](?:[ \t][^\n]*)?(?:\n|$))*", data)
    start = comments.end() if comments else 0
    line = data[start : data.find(b"\n", start) + 1 or len(data)].decode()
    delimiter = next((sign for sign in "\t,;" if sign in line), None)
    rows = Rows(path, data[start:], data.count(b"\n", 0, start), delimiter, None)
    first = [cells for _, cells in islice(rows, 2)]
    if not first:
        raise FileFormatError(f"{path} has no rows, only comments")
    if header is None:
        header = any(name in first[0] for name in named) or looks_like_header(
            first, node_columns=node_columns, number_at=number_at
        )
    return replace(rows, header=first[0]) if header else rows


def read_pairs(
    rows: Rows, amount: str, amount_at: int | None, groups: Sequence[tuple[int, ...]] = ((0, 1),)
) -> _Columns:
    """Rows of two names and perhaps an amount.

    ``amount`` says for errors what the column ``amount_at`` holds; ``groups`` are those of :func:`read_columns`: two
    nodes, or a node and something else.

    Examples
    --------
    >>> rows = read_rows(b"id_1,id_2\\nann,bob", "e.csv", None, node_columns=2)
    >>> [ends], weights = read_pairs(rows, "weight", None)
    >>> ends.codes, ends.vocabulary
    (array([[0, 1]], dtype=int32), array(['ann', 'bob'], dtype=object))
    """
    read = read_columns(rows, groups, amount_at)
    if read is None:
        _refuse(rows, amount, amount_at)
    names, amounts = read
    wrong = amounts is not None and not (np.isfinite(amounts) & (amounts >= 0)).all()
    if wrong or any(group.vocabulary.dtype == object and "" in group.vocabulary for group in names):
        _refuse(rows, amount, amount_at)
    return names, amounts


def read_columns(rows: Rows, groups: Sequence[tuple[int, ...]], amount_at: int | None = None) -> _Columns | None:
    """Columns of text, without blank space around the cells, and one of numbers; None if a row is not as the first.

    The columns of a group have one vocabulary; if there are several, they stand side by side.
    """
    line, cells = rows.first()
    start = 0
    for _ in range(line - 1 - rows.offset):
        start = rows.body.index(b"\n", start) + 1
    read = _columns_at_once(rows.body, start, rows.delimiter, len(cells), groups, amount_at)
    read = read or _columns_by_csv(rows.body[start:], rows.delimiter, len(cells), groups, amount_at)
    if read is None:
        return None
    names, amounts = read
    return list(map(_without_blanks, names)), amounts


def warn_of_first_line(first: str, second: str, path: str | os.PathLike[str], things: str, names: str) -> None:
    """Say that a first line, which may be a header, is read as data."""
    warn(
        f"{path}: the first line is read as {things}, {in_short(first)} and {in_short(second)}, which no other "
        "line names; if it names the columns, give ",
        Setting("header", True),
        f" or call them {names}, and if it does not, give ",
        Setting("header", False),
    )


def amount_column(rows: Rows, layout: str, named: str | None, advice: str = "") -> int | None:
    """Column of the weights or values: the one that was named, else the third if there is one."""
    line, cells = rows.first()
    if len(cells) < 2 or (len(cells) > 3 and named is None):
        raise FileFormatError(
            f"{rows.path}, line {line}: {len(cells)} column(s); expected {layout}, the last if there is one",
            *((", but ", *rows.columns) if rows.header else ()),
            advice if len(cells) > 3 else "",
        )
    if rows.header and len(rows.header) < len(cells):
        raise FileFormatError(f"{rows.path}, line {line}: {len(cells)} column(s), but ", *rows.columns)
    if named is not None:
        at = rows.position(named)
        if at >= len(cells):
            raise FileFormatError(f"{rows.path}, line {line}: {len(cells)} column(s), but ", *rows.columns)
        return at
    return 2 if len(cells) == 3 else None


def _columns_at_once(
    data: bytes,
    start: int,
    delimiter: str | None,
    width: int,
    groups: Sequence[tuple[int, ...]],
    amount_at: int | None,
) -> _Columns | None:
    """Columns of plain text as :func:`_columns_by_csv` would read them, None if it is not plain."""
    wanted = [*groups, *([] if amount_at is None else [(amount_at,)])]
    group_of = {at: number for number, group in enumerate(wanted) for at in group}
    if width < 2 or len(group_of) < sum(map(len, wanted)):  # a column that is wanted twice
        return None
    coded = _native.encode_text(data, start, delimiter, [group_of.get(at, -1) for at in range(width)])
    if coded is None:
        return None
    columns = [(codes, vocabulary.decode().split("\n")) for codes, vocabulary in coded]
    amounts = None
    if amount_at is not None:
        codes, texts = columns.pop()
        try:
            amounts = np.array(list(map(float, texts)), dtype=np.float64)[codes]
        except ValueError:
            return None
    names = [
        Names(codes, name_array(texts), is_ordered=True).reshaped(len(group))
        for (codes, texts), group in zip(columns, groups, strict=True)
    ]
    return names, amounts


def _columns_by_csv(
    data: bytes, delimiter: str | None, width: int, groups: Sequence[tuple[int, ...]], amount_at: int | None
) -> _Columns | None:
    """Columns of any text, by Python's own reader."""
    reader: Iterator[list[str]]
    if delimiter is None:
        reader = map(str.split, _lines(data))
    else:
        reader = csv.reader(_lines(data), delimiter=delimiter, strict=True)
    coders = [Coder() for _ in groups]
    codes: list[list[NDArray[np.int32]]] = [[] for _ in groups]
    amounts: list[NDArray[np.float64]] = []
    try:
        while batch := list(islice(reader, _BATCH)):
            if set(map(len, batch)) != {width}:
                batch = [row for row in batch if len(row) > 1 or "".join(row).strip()]
                if not set(map(len, batch)) <= {width}:
                    return None
            for group, coder, pieces in zip(groups, coders, codes, strict=True):
                pieces.append(np.stack([coder.codes(map(itemgetter(at), batch)) for at in group], axis=1))
            if amount_at is not None:
                amounts.append(np.array([float(row[amount_at].strip()) for row in batch], dtype=np.float64))
    except (ValueError, csv.Error):
        return None
    names = [
        Names(np.concatenate(pieces), name_array(coder)).reshaped(len(group))
        for group, coder, pieces in zip(groups, coders, codes, strict=True)
    ]
    return names, None if amount_at is None else np.concatenate(amounts)


def _without_blanks(column: Names) -> Names:
    names = column.vocabulary.tolist() if column.vocabulary.dtype == object else []
    return column if list(map(str.strip, names)) == names else column.renamed(str.strip)


def _refuse(rows: Rows, amount: str, amount_at: int | None) -> NoReturn:
    """Name the first line that is wrong, and why."""
    width = len(rows.first()[1])
    for line, cells in rows:
        if len(cells) != width:
            raise FileFormatError(f"{rows.path}, line {line}: {len(cells)} column(s) instead of {width}")
        if not cells[0] or not cells[1]:
            raise FileFormatError(f"{rows.path}, line {line}: column {1 if not cells[0] else 2} is empty")
        if amount_at is not None:
            _check_amount(cells[amount_at], f"{rows.path}, line {line}: the {amount}")
    raise AssertionError(f"{rows.path} was refused, but every row is right")


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


def _lines(data: bytes) -> Iterator[str]:
    """Lines with their ends, decoded a piece at a time: most readers want the first of them alone."""
    start = 0
    while start < len(data):
        end = data.find(b"\n", start + _PIECE) + 1 or len(data)
        yield from io.StringIO(data[start:end].decode(), newline="\n")
        start = end


def _check_amount(cell: str, what: str) -> None:
    try:
        number = float(cell)
    except ValueError:
        raise FileFormatError(f"{what} is {in_short(cell)}, which is not a number") from None
    if not math.isfinite(number) or number < 0:
        raise FileFormatError(f"{what} is {cell}, but must be finite and not negative")
