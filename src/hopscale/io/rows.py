"""Delimited text, row by row: where it begins, what divides its cells, whether it has a header, which lines are bad."""

from __future__ import annotations

import csv
import io
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from hopscale.exceptions import FileFormatError, Setting, in_short
from hopscale.io.bad_lines import BadLines, blanked
from hopscale.io.header import obvious

__all__ = ["Rows", "read_rows", "records", "text_lines"]

_PIECE = 1 << 16  # bytes that are decoded at once: few enough to stay in the processor's cache
_SAMPLE = 100  # rows that are looked at before all are read
_COMMENTS = re.compile(rb"(?:[ \t]*\n|[#%](?:[ \t][^\n]*)?(?:\n|$))*")
_SEPARATOR = re.compile(rb"\"?sep=([,;\t])\"?[,;\t ]*\n", re.IGNORECASE)  # the first line that Excel reads
_QUOTED = re.compile('"[^"]*"')


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
        for line, cells, why in records(self):
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

    def from_line(self, line: int) -> Rows:
        """The same from a line on."""
        return replace(self, start=_after_lines(self.body, self.start, line - 1 - self.offset), offset=line - 1)

    def without_lines(self, lines: Iterable[int]) -> Rows:
        """The same with some lines left blank."""
        rows = replace(self, body=blanked(self.body, (line - 1 for line in lines)))
        return replace(rows, sample=list(islice((cells for _, cells, _ in records(rows) if cells), _SAMPLE)))

    def position(self, column: str) -> int:
        """Where a column is, by its name, or by its number, from 1, where no column has that name."""
        if self.header is not None and column in self.header:
            if self.header.count(column) > 1:
                raise FileFormatError(f"{self.path} has several columns {in_short(column)}; ", *self.columns)
            return self.header.index(column)
        if column.isdecimal() and len(column) < 10 and 1 <= int(column) <= self.width:
            return int(column) - 1
        raise FileFormatError(f"{self.path} has no column {in_short(column)}; ", *self.columns)

    @property
    def first_line(self) -> str:
        """What the first line was taken for."""
        return "no header" if self.header is None else "the first line names the columns"

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
        line, cells = next(((line, cells) for line, cells, _ in records(self) if cells), (0, []))
        if not cells:
            raise FileFormatError(f"{self.path} has a header, but no rows")
        if self.width < 2:
            raise FileFormatError(f"{self.path}, line {line}: {self.width} column(s); expected {layout}")
        if self.header and len(self.header) < self.width:
            raise FileFormatError(f"{self.path}, line {line}: {self.width} column(s), but ", *self.columns)
        return self


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
    said = _SEPARATOR.match(data)
    # With a space after the sign, as SNAP and KONECT write: "#tea" may well be the name of a node.
    comments = _COMMENTS.match(data, said.end() if said else 0)
    start = comments.end() if comments else 0
    lines = "".join(islice(text_lines(data, start), _SAMPLE))
    delimiter = said[1].decode() if said else _delimiter(lines)
    rows = Rows(path, data, start, data.count(b"\n", 0, start), delimiter, None, False, False, [], bad)
    first = list(islice(((line, cells) for line, cells, _ in records(rows, strict=not bad.skip) if cells), _SAMPLE))
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
    return rows.from_line(first[1][0]) if sample[1:] else replace(rows, start=len(data))


def records(
    rows: Rows, fault: Callable[[list[str]], str | None] = lambda cells: None, *, strict: bool = False
) -> Iterator[tuple[int, list[str] | None, str]]:
    """First line and stripped cells of every row that is not blank; of one that cannot be read None and why.

    A row that cannot be read, or goes over several lines and has a ``fault``, mostly has a quote too many: the next row
    is then looked for in its second line. ``strict`` refuses the first of these.
    """
    start, line = rows.start, rows.offset + 1
    if rows.delimiter is None:
        for number, text in enumerate(text_lines(rows.body, start), start=line):
            if text.strip():
                yield number, text.split(), ""
        return
    while start < len(rows.body):
        reader = csv.reader(text_lines(rows.body, start), delimiter=rows.delimiter, strict=True)
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
            why = str(error)
            if "unexpected end" in why or "field larger" in why:
                why = f"a quote that is not closed, or a cell of more than {csv.field_size_limit()} characters"
        if why is None:
            return
        if strict:
            raise FileFormatError(f"{rows.path}, line {line}: {why}")
        yield line, None, why
        line += 1
        start = _after_lines(rows.body, start, line - first)


def _after_lines(data: bytes, start: int, count: int) -> int:
    """Where the text goes on after some lines."""
    for _ in range(count):
        start = data.find(b"\n", start) + 1 or len(data)
    return start


def text_lines(data: bytes, start: int = 0) -> Iterator[str]:
    """Lines with their ends, decoded a piece at a time: most readers want the first of them alone."""
    while start < len(data):
        end = data.find(b"\n", start + _PIECE) + 1 or len(data)
        yield from io.StringIO(data[start:end].decode(), newline="\n")
        start = end


def _delimiter(text: str) -> str | None:
    """The sign that divides cells: the one that most lines have equally often, and the oftener; else blank space."""
    lines = [line for line in _QUOTED.sub("", text).split("\n") if line.strip()]
    found = {}
    for sign in "\t,;":
        often = Counter(line.count(sign) for line in lines)
        found[sign] = max(((number, count) for count, number in often.items() if count), default=(0, 0))
    best = max(found, key=found.__getitem__)
    return best if found[best][0] > len(lines) / 2 or best in "".join(lines[:1]) else None
