"""CSV and its kin: plain text is read by a kernel, all else by Python; only errors look for the line."""

from __future__ import annotations

import csv
import io
import math
import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hopscale._core import _native
from hopscale.exceptions import FileFormatError, Setting, in_short, warn
from hopscale.graph import name_array
from hopscale.io.bad_lines import BadLines, blanked
from hopscale.io.columns import is_whole
from hopscale.io.header import obvious
from hopscale.io.naming import Coder, Names

__all__ = ["Columns", "Rows", "read_columns", "read_rows"]

# Names of each group of columns, and the amounts if there are any.
_Columns = tuple[list[Names], NDArray[np.float64] | None]

# Bytes that are decoded, and rows that are taken apart, at once: few enough to stay in the processor's cache.
_PIECE = 1 << 16
_BATCH = 1 << 11
_SAMPLE = 100  # rows that are looked at before all are read


@dataclass(frozen=True)
class Rows:
    """Delimited text, taken apart as far as its first lines."""

    path: str | os.PathLike[str]
    body: bytes  # UTF-8; lines end in a line feed
    start: int  # where the first row begins in it
    offset: int  # number of lines before that
    delimiter: str | None  # None stands for any blank space
    header: list[str] | None  # names of the columns, where they are known
    is_open: bool  # whether the first row may turn out to name the columns
    is_guessed: bool  # whether the header is one by its looks alone
    sample: list[list[str]]  # some of the first rows
    bad: BadLines

    def __iter__(self) -> Iterator[tuple[int, list[str]]]:
        """Line number and cells of every row that is not blank."""
        for line, cells, why in _records(self):
            if cells is None:
                raise FileFormatError(f"{self.path}, line {line}: {why}")
            yield line, cells

    @property
    def width(self) -> int:
        """Number of columns: that of the first row, or of most of the first rows if bad lines are skipped."""
        widths = list(map(len, self.sample))
        return max(widths, key=widths.count, default=0) if self.bad.skip else next(iter(widths), 0)

    def line(self, row: int) -> int:
        """Line number of a row."""
        return next(islice(self, row, None))[0]

    def lines(self, rows: NDArray[Any]) -> list[int]:
        """Line numbers of some rows, in their order."""
        wanted = set(rows.tolist())
        return [line for row, (line, _) in enumerate(self) if row in wanted]

    def position(self, column: str) -> int:
        """Where a column is, by its name, or by its number, from 1, where no column has that name."""
        if self.header is not None and column in self.header:
            if self.header.count(column) > 1:
                raise FileFormatError(f"{self.path} has several columns {in_short(column)}; ", *self.columns)
            return self.header.index(column)
        if column.isdecimal() and 1 <= int(column) <= self.width:
            return int(column) - 1
        raise FileFormatError(f"{self.path} has no column {in_short(column)}; ", *self.columns)

    def called(self, at: int) -> str:
        """What to call a column in a message."""
        return f"column {at + 1}" if self.header is None or not self.header[at : at + 1] else repr(self.header[at])

    @property
    def columns(self) -> tuple[str | Setting, ...]:
        """The columns there are, as parts of a message."""
        if self.header is None:
            return "it has no header (if the first line is one, give ", Setting("header", True), ")"
        index = "; the first has no name: if pandas wrote it, write the file with index=False"
        return (f"its columns are {self.header}{index if not self.header[0] else ''}",)

    def checked(self, layout: str) -> Rows:
        """The same, once there are rows, with no fewer names than columns and at least two of them."""
        line, cells = next(((line, cells) for line, cells, _ in _records(self) if cells), (0, []))
        if not cells:
            raise FileFormatError(f"{self.path} has a header, but no rows")
        if self.width < 2:
            raise FileFormatError(f"{self.path}, line {line}: {self.width} column(s); expected {layout}")
        if self.header and len(self.header) < self.width:
            raise FileFormatError(f"{self.path}, line {line}: {self.width} column(s), but ", *self.columns)
        return self


@dataclass(frozen=True)
class Columns:
    """Columns of delimited text."""

    rows: Rows  # without lines that were skipped
    names: list[Names]  # one for each group of columns
    amounts: NDArray[np.float64] | None

    def without_first(self, read: Callable[[Rows], Columns]) -> Columns:
        """The same without the first row, which names the columns; ``read`` reads rows as these were read."""
        rows = replace(self.rows, header=self.rows.sample[0], is_open=False, sample=self.rows.sample[1:])
        second = next((line for line, *_ in islice(_records(self.rows), 1, None)), None)
        if second is None:
            raise FileFormatError(f"{rows.path} has a header, but no rows")
        rows = _from_line(rows, second)
        if any(np.isin(group.codes[1:], group.codes[0]).any() for group in self.names):
            return read(rows)  # which looks for the lines that repeat it
        return Columns(rows, list(map(_without_first, self.names)), self.amounts)

    def of_whole_nodes(self) -> Columns:
        """The same without rows whose first name is no whole number; those are bad, as nodes of the edges all are."""
        vocabulary = self.names[0].vocabulary.tolist()
        odd = ~np.fromiter(map(is_whole, vocabulary), dtype=bool, count=len(vocabulary))[self.names[0].codes]
        rows = np.flatnonzero(odd)
        lines = self.rows.lines(rows)
        for line, row in zip(lines, rows.tolist(), strict=True):
            name = in_short(self.names[0].at(row))
            self.rows.bad.add(line, f"node {name} is not a whole number, while all nodes of the edge file are")
        names = [Names(group.codes[~odd], group.vocabulary).ordered() for group in self.names]
        amounts = None if self.amounts is None else self.amounts[~odd]
        return Columns(replace(self.rows, body=blanked(self.rows.body, (line - 1 for line in lines))), names, amounts)


def _without_first(names: Names) -> Names:
    codes, used = names.codes[1:], len(set(names.codes[0].ravel().tolist()))
    if names.is_ordered and codes.min(initial=used) >= used:  # its names are the first, and occur nowhere else
        return Names(codes - np.int32(used), names.vocabulary[used:], is_ordered=True)
    return Names(codes, names.vocabulary).ordered()


def read_rows(
    data: bytes,
    path: str | os.PathLike[str],
    header: bool | None,
    *,
    node_columns: int,
    named: Sequence[str | None] = (),
    bad: BadLines | None = None,
) -> Rows:
    """Delimited text with its comments passed over, its delimiter and its header found.

    The first line is a header if it has a column that the caller has ``named``, or if that is
    :func:`~hopscale.io.header.obvious`; else it may be left open until all rows are read.
    ``header`` decides where that would go wrong.
    """
    bad = BadLines(path) if bad is None else bad
    if not data.isascii() or b"\0" in data:
        data = bad.without_binary(data)
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    # With a space after the sign, as SNAP and KONECT write: "#tea" may well be the name of a node.
    comments = re.match(rb"(?:[ \t]*\n|[#%](?:[ \t][^\n]*)?(?:\n|$))*", data)
    start = comments.end() if comments else 0
    line = data[start : data.find(b"\n", start) + 1 or len(data)].decode()
    delimiter = next((sign for sign in "\t,;" if sign in line), None)
    rows = Rows(path, data, start, data.count(b"\n", 0, start), delimiter, None, False, False, [], bad)
    first = list(islice(((line, cells) for line, cells, _ in _records(rows, strict=not bad.skip) if cells), _SAMPLE))
    if not first:
        raise FileFormatError(f"{path} has no rows, only comments")
    sample = [cells for _, cells in first]
    if header is None and any(name in sample[0] for name in named if name and not name.isdecimal()):
        header = True
    is_guessed = header is None
    if header is None:
        header = obvious(sample, node_columns=node_columns)
    if not header:
        return replace(rows, is_open=header is None, sample=sample)
    rows = replace(rows, header=sample[0], is_guessed=is_guessed, sample=sample[1:])
    return _from_line(rows, first[1][0]) if sample[1:] else replace(rows, start=len(data))


def read_columns(
    rows: Rows,
    groups: Sequence[tuple[int, ...]],
    *,
    required: Sequence[int] = (),
    amount_at: int | None = None,
    amount: str = "",
) -> Columns:
    """Columns of text, without blank space around the cells, and perhaps one of numbers.

    The columns of a group have one vocabulary; if there are several, they stand side by side. Rows are bad that have
    fewer or more cells than the others, an empty one among those ``required``, no finite number of at least zero in the
    column ``amount_at``, which holds an ``amount``, or the header again.

    Examples
    --------
    >>> rows = read_rows(b"id_1,id_2\\n7,8", "e.csv", None, node_columns=2)
    >>> [ends] = read_columns(rows, [(0, 1)]).names
    >>> ends.codes, ends.vocabulary
    (array([[0, 1]], dtype=int32), array(['7', '8'], dtype=object))
    """
    read = _in_bulk(rows, groups, amount_at)
    if read is not None and not _is_suspect(rows, groups, required, read):
        return Columns(rows, *read)
    fault = partial(_fault, rows, required=required, amount_at=amount_at, amount=amount)
    wrong = {
        line: reason for line, cells, why in _records(rows, fault) if (reason := why if cells is None else fault(cells))
    }
    for line, reason in wrong.items():
        rows.bad.add(line, reason)
    if wrong:
        rows = replace(rows, body=blanked(rows.body, (line - 1 for line in wrong)))
        read = _in_bulk(rows, groups, amount_at)
    elif read is not None and rows.is_guessed:
        warn(
            f"{rows.path}: the first line is taken for the names of the columns, but one of them occurs below, too; "
            "if it is data, give ",
            Setting("header", False),
        )
    if read is None:
        raise FileFormatError(f"{rows.path} cannot be read as text in columns")
    if not len(read[0][0]):
        line, reason = next(iter(rows.bad.why.items()))
        raise FileFormatError(f"{rows.path} has no good line: line {line}: {reason}")
    return Columns(rows, *read)


def _is_suspect(rows: Rows, groups: Sequence[tuple[int, ...]], required: Sequence[int], read: _Columns) -> bool:
    """Whether a row may be bad that could be read."""
    names, amounts = read
    if amounts is not None and not (np.isfinite(amounts) & (amounts >= 0)).all():
        return True
    for group, column in zip(groups, names, strict=True):
        needed = [at for at in group if at in required]
        if needed and "" in column.vocabulary:
            return True
        if any(name in column.vocabulary for name in _names_at(rows, needed)):
            return True
    return False


def _names_at(rows: Rows, positions: Sequence[int]) -> list[str]:
    return [rows.header[at] for at in positions] if rows.header else []


def _fault(rows: Rows, cells: list[str], *, required: Sequence[int], amount_at: int | None, amount: str) -> str | None:
    """What is wrong with a row."""
    if len(cells) != rows.width:
        return f"{len(cells)} column(s) instead of {rows.width}"
    if cells == rows.header:
        return "the header again; are these several files in one?"
    for at in sorted(required):
        if not cells[at]:
            return f"column {at + 1} is empty"
    if amount_at is None:
        return None
    try:
        number = float(cells[amount_at])
    except ValueError:
        return f"the {amount} is {in_short(cells[amount_at])}, which is not a number"
    if not math.isfinite(number) or number < 0:
        return f"the {amount} is {cells[amount_at]}, but must be finite and not negative"
    return None


def _in_bulk(rows: Rows, groups: Sequence[tuple[int, ...]], amount_at: int | None) -> _Columns | None:
    """All rows at once; None if a row is not as the first."""
    read = _columns_at_once(rows.body, rows.start, rows.delimiter, rows.width, groups, amount_at)
    read = read or _columns_by_csv(rows.body[rows.start :], rows.delimiter, rows.width, groups, amount_at)
    if read is None:
        return None
    names, amounts = read
    return list(map(_without_blanks, names)), amounts


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


def _records(
    rows: Rows, fault: Callable[[list[str]], str | None] = lambda cells: None, *, strict: bool = False
) -> Iterator[tuple[int, list[str] | None, str]]:
    """First line and stripped cells of every row that is not blank; of one that cannot be read None and why.

    A row that cannot be read, or goes over several lines and has a ``fault``, mostly has a quote too many: the next row
    is then looked for in its second line. ``strict`` refuses the first of these.
    """
    start, line = rows.start, rows.offset + 1
    if rows.delimiter is None:
        for number, text in enumerate(_lines(rows.body, start), start=line):
            if text.strip():
                yield number, text.split(), ""
        return
    while start < len(rows.body):
        reader = csv.reader(_lines(rows.body, start), delimiter=rows.delimiter, strict=True)
        first = line
        why: str | None = None
        try:
            for row in reader:
                cells = [cell.strip() for cell in row]
                after = first + reader.line_num
                why = fault(cells) if after > line + 1 else None
                if why is not None:
                    break
                if cells not in ([], [""]):
                    yield line, cells, ""
                line = after
        except csv.Error as error:
            is_quote = "unexpected end" in str(error) or "field larger" in str(error)
            why = "a quote that is not closed" if is_quote else str(error)
        if why is None:
            return
        if strict:
            raise FileFormatError(f"{rows.path}, line {line}: {why}")
        yield line, None, why
        line += 1
        start = _after_lines(rows.body, start, line - first)


def _from_line(rows: Rows, line: int) -> Rows:
    """The same rows from a line on."""
    return replace(rows, start=_after_lines(rows.body, rows.start, line - 1 - rows.offset), offset=line - 1)


def _after_lines(data: bytes, start: int, count: int) -> int:
    """Where the text goes on after some lines."""
    for _ in range(count):
        start = data.find(b"\n", start) + 1 or len(data)
    return start


def _lines(data: bytes, start: int = 0) -> Iterator[str]:
    """Lines with their ends, decoded a piece at a time: most readers want the first of them alone."""
    while start < len(data):
        end = data.find(b"\n", start + _PIECE) + 1 or len(data)
        yield from io.StringIO(data[start:end].decode(), newline="\n")
        start = end
