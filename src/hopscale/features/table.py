"""Columns of a table, each distinct value held once: work is done for each value, not for each cell."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hopscale.exceptions import GraphError, in_short
from hopscale.indexed import is_series
from hopscale.names import Coder, factorized, is_missing

__all__ = ["Column", "Lists", "Values", "column_of", "text_array", "text_of"]

_SEQUENCES = (list, tuple, set, frozenset, np.ndarray)
_EPOCH = date(1970, 1, 1).toordinal()


@dataclass(frozen=True, eq=False)
class Lists:
    """Lists of texts: the one at i is ``vocabulary[codes[indptr[i] : indptr[i + 1]]]``."""

    indptr: NDArray[np.int64]
    codes: NDArray[Any]
    vocabulary: NDArray[Any]

    def __len__(self) -> int:
        return len(self.indptr) - 1

    @classmethod
    def of(cls, lists: Sequence[Sequence[str]]) -> Lists:
        """From lists of Python.

        Examples
        --------
        >>> lists = Lists.of([["b", "a"], [], ["a"]])
        >>> lists.indptr.tolist(), lists.codes.tolist(), lists.vocabulary.tolist()
        ([0, 2, 2, 3], [0, 1, 1], ['b', 'a'])
        """
        codes, vocabulary = _coded(chain.from_iterable(lists))
        return cls(np.cumsum([0, *map(len, lists)], dtype=np.int64), codes, text_array(vocabulary))


Values = NDArray[Any] | Lists


@dataclass(frozen=True, eq=False)
class Column:
    """A column as Arrow's dictionaries hold it: ``values[codes]``, where the code -1 says that a cell is missing.

    Values are distinct. They are text (an array of objects), numbers, booleans, days (datetime64[D]), vectors (an array
    of two dimensions) or :class:`Lists`; the last two may repeat.
    """

    codes: NDArray[Any]
    values: Values

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def form(self) -> str:
        """What the values are: text, number, boolean, date, vector or list."""
        if isinstance(self.values, Lists):
            return "list"
        if self.values.ndim == 2:
            return "vector"
        return {"O": "text", "b": "boolean", "M": "date"}.get(self.values.dtype.kind, "number")

    def counts(self) -> NDArray[np.int64]:
        """How many cells hold each value."""
        return np.bincount(self.codes + 1, minlength=len(self.values) + 1)[1:]

    def value(self, code: int) -> Any:
        """A value, None for the code -1."""
        if code < 0:
            return None
        if isinstance(self.values, Lists):
            lists = self.values
            return lists.vocabulary[lists.codes[lists.indptr[code] : lists.indptr[code + 1]]].tolist()
        return self.values[code : code + 1].tolist()[0]

    def cells(self) -> NDArray[Any]:
        """All cells one by one: numbers with NaN, others as objects with None where they are missing."""
        if self.form == "number":
            return np.append(np.asarray(self.values, dtype=np.float64), np.nan)[self.codes]
        pool = np.empty(len(self.values) + 1, dtype=object)  # the last one None
        for code in range(len(self.values)):
            pool[code] = self.value(code)
        return pool[self.codes]


def column_of(cells: Any, name: Any) -> Column:
    """Column of anything: lists, arrays, series of pandas; ``name`` is for errors.

    Examples
    --------
    >>> column = column_of(["tea", None, "go", "tea"], "likes")
    >>> column.codes.tolist(), column.values.tolist()
    ([0, -1, 1, 0], ['tea', 'go'])
    >>> column_of(np.array([2.5, np.nan, 1.0]), "age").values
    array([1. , 2.5])
    """
    if isinstance(cells, Column):
        return cells
    if is_series(cells):
        if hasattr(cells.dtype, "categories"):
            return _categorical_column(cells.array, name)
        cells = cells.to_numpy() if isinstance(cells.dtype, np.dtype) else cells.to_numpy(dtype=object)
    if isinstance(cells, (str, bytes, Mapping)) or not isinstance(cells, Iterable):
        raise GraphError(f"the column {in_short(name)} must be a list or an array, not {in_short(cells)}")
    if isinstance(cells, np.ma.MaskedArray):
        raise GraphError(f"the column {in_short(name)} has masked entries: fill them, with None where nothing is")
    if isinstance(cells, np.ndarray) and (cells.dtype.kind != "O" or cells.ndim == 0):
        return _array_column(cells, name)
    listed = cells.tolist() if isinstance(cells, np.ndarray) and cells.ndim == 1 else list(cells)
    if any(issubclass(kind, _SEQUENCES) for kind in set(map(type, listed))):
        return _nested_column(listed)
    return _scalar_column(listed, name)


def _coded(values: Iterable[Hashable]) -> tuple[NDArray[np.int32], list[Any]]:
    """Number of each value in the order of first occurrence, and the different values."""
    coder = Coder()
    return coder.codes(values), list(coder)


def text_array(texts: Sequence[str]) -> NDArray[Any]:
    """Texts as an array of objects."""
    array = np.empty(len(texts), dtype=object)
    array[:] = texts
    return array


def text_of(value: Any) -> str:
    """A value as the names of features show it; numbers that are equal are the same text.

    >>> text_of(" FR "), text_of(7.0), text_of(2.5), text_of(date(2021, 3, 1))
    ('FR', '7', '2.5', '2021-03-01')
    """
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        value = int(value)
    try:
        return str(value).strip()
    except ValueError:  # whole numbers of thousands of digits
        return in_short(value)


def _plain(value: Any) -> Any:
    """A value as text, a whole number, a float, a boolean or a day."""
    if type(value) in (str, int, float, bool):
        return value
    if isinstance(value, np.datetime64):
        return value.astype("datetime64[D]").item()
    if isinstance(value, (np.timedelta64, timedelta)):
        return value / np.timedelta64(1, "s") if isinstance(value, np.timedelta64) else value.total_seconds()
    if isinstance(value, datetime):
        return value.date()
    if isinstance(value, date):
        return value
    with suppress(Exception):  # objects of others
        if isinstance(value, (bool, np.bool_)):
            return bool(value)
        if isinstance(value, (int, np.integer)):
            return int(value)
        if isinstance(value, (float, np.floating, Decimal, Fraction)):
            return float(value)
        return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
    return in_short(value)


def _scalar_column(cells: list[Any], name: Any) -> Column:
    try:
        codes, distinct = _coded(cells)
    except TypeError as error:
        raise GraphError(f"the column {in_short(name)} has cells that are no plain values ({error})") from None
    if set(map(type, distinct)) == {str}:
        own, texts = _coded(map(str.strip, distinct))
        return Column(own[codes], text_array(texts))
    present = np.array([not is_missing(value) for value in distinct], dtype=bool)
    kept, values = _typed([_plain(value) for value, is_there in zip(distinct, present, strict=True) if is_there])
    code = np.full(len(distinct) + 1, -1, dtype=np.int32)
    code[:-1][present] = kept
    return Column(code[codes], values)


def _typed(values: list[Any]) -> tuple[NDArray[np.int32], NDArray[Any]]:
    """Values as an array of one type, text if there are several, and the position of each in it."""
    kinds = set(map(type, values))
    if kinds == {bool}:
        return factorized(np.array(values, dtype=bool))
    if kinds and kinds <= {int, float}:
        fits = kinds == {int} and min(values) >= -(2**63) and max(values) < 2**63
        with suppress(OverflowError):  # whole numbers past all floats stay text
            return factorized(np.array(values, dtype=np.int64 if fits else np.float64))
    if kinds == {date}:
        return factorized(np.array([day.toordinal() - _EPOCH for day in values], dtype="datetime64[D]"))
    codes, texts = _coded(map(text_of, values))
    return codes, text_array(texts)


def _nested_column(cells: list[Any]) -> Column:
    """Lists of items, or vectors: as many numbers in every cell, not all of them whole."""
    present = np.array([isinstance(cell, _SEQUENCES) or not is_missing(cell) for cell in cells], dtype=bool)
    codes = np.where(present, np.cumsum(present) - 1, -1).astype(np.int32)
    lists = [_items(cell) for cell, is_there in zip(cells, present, strict=True) if is_there]
    kinds = set(map(type, chain.from_iterable(lists)))
    if len(set(map(len, lists))) == 1 and len(lists[0]) > 1 and kinds <= {int, float} and float in kinds:
        with suppress(OverflowError):
            return Column(codes, np.array(lists, dtype=np.float64))
    texts = [[text_of(item) for item in items if not is_missing(item)] for items in lists]
    return Column(codes, Lists.of([[text for text in items if text] for items in texts]))


def _items(cell: Any) -> list[Any]:
    if isinstance(cell, np.ndarray):
        cell = np.atleast_1d(cell).tolist()
    if not isinstance(cell, _SEQUENCES):
        return [_plain(cell)]
    return [item if is_missing(item) else _plain(item) for item in cell]


def _array_column(cells: NDArray[Any], name: Any) -> Column:
    kind = cells.dtype.kind
    if cells.ndim == 2 and kind in "biuf":
        with np.errstate(over="ignore"):  # of long doubles: what is not finite is refused later
            return Column(np.arange(len(cells), dtype=np.int32), cells.astype(np.float64))
    if cells.ndim != 1 or kind not in "biufMmUS":
        raise GraphError(
            f"the column {in_short(name)} is an array of {cells.dtype} with shape {cells.shape}: expected one value, "
            "or one row of numbers, a node"
        )
    if kind in "US":
        return _scalar_column(cells.tolist(), name)
    if kind == "m":
        cells = cells / np.timedelta64(1, "s")
    elif kind == "f" or (kind == "u" and int(cells.max(initial=0)) >= 2**63):
        with np.errstate(over="ignore"):  # of long doubles
            cells = cells.astype(np.float64)
    elif kind in "iu":
        cells = cells.astype(np.int64)
    elif kind == "M":
        cells = cells.astype("datetime64[D]")
    present = ~np.isnat(cells) if kind == "M" else ~np.isnan(cells) if cells.dtype.kind == "f" else None
    if present is None or present.all():
        return Column(*factorized(cells))
    codes = np.full(len(cells), -1, dtype=np.int32)
    codes[present], values = factorized(cells[present])
    return Column(codes, values)


def _categorical_column(cells: Any, name: Any) -> Column:
    own = column_of(np.asarray(cells.categories), name)
    return Column(np.append(own.codes, np.int32(-1))[np.asarray(cells.codes)], own.values)
