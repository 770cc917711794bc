"""Columns of delimited text: what is plain is read by a kernel, all else by Python; only errors look for the line."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

from hopscale._core import _native
from hopscale.exceptions import FileFormatError, Setting, in_short, warn
from hopscale.features.cells import NumberFormat, number_format
from hopscale.io.columns import MISSING_WORDS, is_column_word, is_whole
from hopscale.io.faults import Expected, lines_of, misshapen
from hopscale.io.header import undecided
from hopscale.io.naming import Names
from hopscale.io.rows import Rows, records, text_lines
from hopscale.names import Coder, name_array

__all__ = ["Columns", "read_columns"]

# Names of each group of columns, and the amounts if there are any.
_Columns = tuple[list[Names], NDArray[np.float64] | None]

_PLAIN = NumberFormat()
_BATCH = 1 << 11  # rows that are taken apart at once


@dataclass(frozen=True)
class Columns:
    """Columns of delimited text."""

    rows: Rows  # without lines that were skipped
    names: list[Names]  # one for each group of columns
    amounts: NDArray[np.float64] | None
    format: NumberFormat = _PLAIN  # of the amounts

    def without_first(self, read: Callable[[Rows], Columns]) -> Columns:
        """The same without the first row, which names the columns; ``read`` reads rows as these were read."""
        rows = replace(self.rows, header=self.rows.sample[0], is_open=False, sample=self.rows.sample[1:])
        second = next((line for line, *_ in islice(records(self.rows), 1, None)), None)
        if second is None:
            raise FileFormatError(f"{rows.path} has a header, but no rows")
        rows = rows.from_line(second)
        names = [group for group in map(_without_first, self.names) if group is not None]
        if len(names) < len(self.names):
            return read(rows)  # which looks for the lines that repeat it
        return Columns(rows, names, self.amounts, self.format)

    def of_whole_nodes(self) -> Columns:
        """The same without rows whose first name is no whole number; those are bad, as nodes of the edges all are."""
        names = self.names[0].vocabulary.tolist()
        odd = ~np.fromiter(map(is_whole, names), dtype=bool, count=len(names))
        rows = np.flatnonzero(odd[self.names[0].codes])
        lines = lines_of(self.rows, rows)
        why = {
            code: f"node {in_short(names[code])} is not a whole number, while all nodes of the edge file are"
            for code in np.flatnonzero(odd).tolist()
        }
        codes = self.names[0].codes[rows].tolist()
        return self.without(rows, lines, {line: why[code] for line, code in zip(lines, codes, strict=True)})

    def without(self, rows: NDArray[np.intp], lines: list[int], faults: dict[int, str]) -> Columns:
        """The same without those of some rows whose lines are bad, if these may be skipped."""
        if not faults:
            return self
        kept = np.ones(len(self.names[0]), dtype=bool)
        kept[[row for row, line in zip(rows.tolist(), lines, strict=True) if line in faults]] = False
        names = [Names(group.codes[kept], group.vocabulary).ordered() for group in self.names]
        amounts = None if self.amounts is None else self.amounts[kept]
        return Columns(_without(self.rows, faults), names, amounts, self.format)


def _without_first(names: Names) -> Names | None:
    """A column without its first row, None if another row has a name of it."""
    codes, used = names.codes[1:], len(set(names.codes[0].ravel().tolist()))
    if names.is_ordered and codes.min(initial=used) >= used:  # its names are the first, and occur nowhere else
        return Names(codes - np.int32(used), names.vocabulary[used:], is_ordered=True)
    return None if np.isin(codes, names.codes[0]).any() else Names(codes, names.vocabulary).ordered()


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
    >>> from hopscale.io.rows import read_rows
    >>> rows = read_rows(b"id_1,id_2\\n7,8", "e.csv", None, node_columns=2)
    >>> [ends] = read_columns(rows, [(0, 1)]).names
    >>> ends.codes, ends.vocabulary
    (array([[0, 1]], dtype=int32), array(['7', '8'], dtype=object))
    """
    if max(*map(max, groups), amount_at or 0) >= rows.width:
        raise FileFormatError(f"{rows.path}, line {rows.line(0)}: {rows.width} column(s), but ", *rows.columns)
    read = _in_bulk(rows, groups, amount_at)
    expected = Expected(rows, required, amount_at, amount)
    if read is None:
        rows = _without(rows, misshapen(expected))
        read = _in_bulk(rows, groups, amount_at)
    if read is None:  # quotes in the middle of cells, so that counting went wrong
        expected = replace(expected, rows=rows)
        found = ((line, expected.fault(cells) if cells else why) for line, cells, why in records(rows, expected.fault))
        rows = _without(rows, {line: reason for line, reason in found if reason})
        read = _in_bulk(rows, groups, amount_at)
    if read is None:
        raise FileFormatError(f"{rows.path} cannot be read as text in columns")
    columns = Columns(rows, *read)
    if amount_at is not None and columns.amounts is not None and np.isnan(columns.amounts).any():
        columns = _with_commas(columns, amount_at)
        expected = replace(expected, format=columns.format)
    odd = _odd_names(rows, groups, required, columns.names)
    if odd - MISSING_WORDS or not _are_amounts(columns.amounts):
        suspects = _suspects(columns, groups, required)
        lines = lines_of(rows, suspects)
        columns = columns.without(suspects, lines, replace(expected, rows=rows).faults(lines))
    if columns.rows.is_guessed and not set(_names_at(rows, required)).isdisjoint(odd):
        _warn_of_header(columns, required)
    _warn_of_gaps(columns.rows, odd & MISSING_WORDS, columns.names)
    return columns


def _with_commas(columns: Columns, amount_at: int) -> Columns:
    """The same with amounts that have commas between thousands, or decimal ones, if all are written in one way."""
    read = _in_bulk(columns.rows, [(amount_at,)], None)
    if read is None:
        return columns
    [[texts], _] = read
    written = texts.vocabulary.tolist()
    how = number_format(written, np.bincount(texts.codes, minlength=len(written)))
    if how is None or not how.comma:
        return columns
    return replace(columns, amounts=how.parse(written)[texts.codes], format=how)


def _without(rows: Rows, faults: dict[int, str]) -> Rows:
    """Rows without bad lines, if these may be skipped."""
    for line, reason in faults.items():
        rows.bad.add(line, reason)
    rows = rows.without_lines(faults)
    if not rows.sample:
        line, reason = min(rows.bad.why.items())
        raise FileFormatError(f"{rows.path} has no good line: line {line}: {reason}")
    return rows


def _odd_names(rows: Rows, groups: Sequence[tuple[int, ...]], required: Sequence[int], names: list[Names]) -> set[str]:
    """Names that occur, but should not: empty ones, those of the columns, and words for missing values."""
    found: set[str] = set()
    for group, column in zip(groups, names, strict=True):
        needed = [at for at in group if at in required]
        if needed:
            odd = {"", *_names_at(rows, needed), *MISSING_WORDS}
            found.update([] if odd.isdisjoint(names := column.vocabulary.tolist()) else odd.intersection(names))
    return found


def _are_amounts(numbers: NDArray[np.float64] | None) -> bool:
    return numbers is None or bool((np.isfinite(numbers) & (numbers >= 0)).all())


def _warn_of_gaps(rows: Rows, words: set[str], names: list[Names]) -> None:
    """Words for a missing value would make a hub, or a feature, of all that is not known."""
    for word in sorted(words):
        count = sum(int(np.isin(column.codes, np.flatnonzero(column.vocabulary == word)).sum()) for column in names)
        warn(
            f"{rows.path}: {in_short(word)} is the name of a node or feature, that occurs {count} time(s); if it means "
            "that a value is missing, take these lines out"
        )


def _names_at(rows: Rows, positions: Sequence[int]) -> list[str]:
    return [rows.header[at] for at in positions] if rows.header else []


def _suspects(columns: Columns, groups: Sequence[tuple[int, ...]], required: Sequence[int]) -> NDArray[np.intp]:
    """Rows without a name where one is required, or a number where one is, or with all names of the columns."""
    header = columns.rows.header
    is_header = np.full(len(columns.names[0]), header is not None)
    is_bad = np.zeros(len(columns.names[0]), dtype=bool)
    if columns.amounts is not None:
        is_bad |= ~(np.isfinite(columns.amounts) & (columns.amounts >= 0))
    for group, names in zip(groups, columns.names, strict=True):
        for at, codes in zip(group, names.codes.reshape(-1, len(group)).T, strict=True):
            if at in required:
                is_bad |= np.isin(codes, np.flatnonzero(names.vocabulary == ""))
                is_header &= header is not None and np.isin(codes, np.flatnonzero(names.vocabulary == header[at]))
    return np.flatnonzero(is_bad | is_header)


def _warn_of_header(columns: Columns, required: Sequence[int]) -> None:
    """A line was taken for a header, but names of it occur below: ask, or warn if they are what columns are called."""
    rows, names = columns.rows, _names_at(columns.rows, required)
    if not any((column.vocabulary == name).any() for column in columns.names for name in names):
        return  # only where the header was repeated
    shown = " and ".join(map(in_short, names))
    if not all(map(is_column_word, names)):
        raise undecided(rows.path, f"{shown}, name the columns? Others have a name of it, too")
    warn(
        f"{rows.path}: the first line, {shown}, is taken for the names of the columns, but other lines have one of "
        "them, too; if it is data, give ",
        Setting("header", False),
    )


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
        amounts = _numbers(texts)[codes]
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
        reader = map(str.split, text_lines(data))
    else:
        reader = csv.reader(text_lines(data), delimiter=delimiter, strict=True)
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
                amounts.append(_numbers([row[amount_at] for row in batch]))
    except (ValueError, csv.Error):
        return None
    names = [
        Names(np.concatenate(pieces), name_array(coder)).reshaped(len(group))
        for group, coder, pieces in zip(groups, coders, codes, strict=True)
    ]
    return names, None if amount_at is None else np.concatenate(amounts)


def _numbers(texts: list[str]) -> NDArray[np.float64]:
    """Numbers that are written in cells, NaN for what is none."""
    try:
        return np.array(list(map(float, texts)), dtype=np.float64)
    except ValueError:
        return np.array([_number(text) for text in texts], dtype=np.float64)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


def _without_blanks(column: Names) -> Names:
    names = column.vocabulary.tolist() if column.vocabulary.dtype == object else []
    return column if list(map(str.strip, names)) == names else column.renamed(str.strip)
