"""Columns of names, each name held once, and the rows they stand for.

Whole numbers are handled by NumPy alone, and other names are hashed once for each position, so that millions of edges
take a second and no list of as many names is ever made.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import chain, islice
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from hopscale._core import _native
from hopscale.exceptions import GraphError, ParameterError, in_short
from hopscale.names import Coder, factorized, name_array, positions, shown_name, whole_numbers

__all__ = [
    "Names",
    "Unknown",
    "check_attributes",
    "check_unknown",
    "in_part",
    "known_rows",
    "listing",
    "rows_of",
    "united",
]

Unknown = Literal["isolate", "error"]


@dataclass(frozen=True, eq=False)
class Names:
    """A column of names as Arrow's dictionaries hold it: ``vocabulary[codes]`` is the column."""

    codes: NDArray[Any]  # int32 or int64, one for each position; of shape (E, 2) for the ends of edges
    vocabulary: NDArray[Any]  # distinct; int64 if all are whole numbers, else object; some may be used by no code
    is_ordered: bool = False  # whether the vocabulary is as `ordered` makes it

    @classmethod
    def of(cls, values: Iterable[Hashable] | NDArray[Any]) -> Names:
        """Column of any hashables, in one dimension.

        Examples
        --------
        >>> names = Names.of(["b", "a", "b"])
        >>> names.codes, names.vocabulary
        (array([0, 1, 0], dtype=int32), array(['b', 'a'], dtype=object))
        >>> Names.of(np.array([5, 3, 5])).vocabulary
        array([3, 5])
        """
        if isinstance(values, Mapping):  # its keys are distinct
            return cls(np.arange(len(values), dtype=np.int32), name_array(values))
        if isinstance(values, list):
            text = cls.of_text([values])
            if text is not None:
                return text
            if set(map(type, values)) == {int}:
                values = name_array(values)
        if isinstance(values, np.ndarray):
            whole = whole_numbers(values)
            if whole is not None:
                codes, vocabulary = factorized(whole)
                return cls(codes, vocabulary, is_ordered=True)
            text = cls._of_text_array(values)
            if text is not None:
                return text
            pieces = np.array_split(values, len(values) // 65536 + 1)
            values = chain.from_iterable(map(np.ndarray.tolist, pieces))
        coder = Coder()
        try:
            return cls(coder.codes(values), name_array(coder))
        except TypeError as error:
            raise GraphError(f"names of nodes and features must be hashable ({error})") from None

    @classmethod
    def of_text(cls, groups: Sequence[Any]) -> Names | None:
        """Column of the text in some lists, one list after the other; None if there is anything but plain text.

        Examples
        --------
        >>> Names.of_text([["b", "a"], ["b"]]).codes, Names.of_text([["b", 1]])
        (array([0, 1, 0], dtype=int32), None)
        """
        return cls._coded(_native.encode_strings(groups if isinstance(groups, (list, tuple)) else list(groups)))

    @classmethod
    def of_chunks(cls, columns: Sequence[Sequence[tuple[NDArray[Any], NDArray[np.uint8]]]]) -> Names | None:
        """Columns of text row by row, in chunks of offsets and bytes as Arrow has them; None if it is not plain."""
        return cls._coded(_native.encode_columns(columns))

    @classmethod
    def _coded(cls, found: tuple[NDArray[np.int32], bytes] | None) -> Names | None:
        """Column from codes and the bytes of distinct names in the order of first occurrence, a line each, if any."""
        if found is None or not len(found[0]):
            return None
        return cls(found[0], name_array(found[1].decode().split("\n")), is_ordered=True)

    @classmethod
    def _of_text_array(cls, values: NDArray[Any]) -> Names | None:
        if values.dtype.kind == "U" and values.ndim == 1 and values.dtype.itemsize and len(values):
            plain = np.ascontiguousarray(values, dtype=values.dtype.newbyteorder("="))
            return cls._coded(_native.encode_characters(plain.view(np.uint32).reshape(len(values), -1)))
        if values.dtype == object and values.ndim == 1 and len(values) and type(values[0]) is str:
            return cls.of_text([values.tolist()])
        return None

    @classmethod
    def each(cls, names: NDArray[Any]) -> Names:
        """Column that has every one of some distinct names once."""
        return cls(np.arange(len(names), dtype=np.int32), names)

    @classmethod
    def beside(cls, columns: Sequence[Names]) -> Names:
        """Columns of one length side by side, in two dimensions, with one vocabulary."""
        vocabularies = [column.vocabulary for column in columns]
        joined = cls.of(_joined(vocabularies))
        starts = np.cumsum([0, *map(len, vocabularies)])
        codes = np.empty((len(columns[0]), len(columns)), dtype=np.int32)
        for position, column in enumerate(columns):
            np.take(joined.codes[starts[position] :], column.codes, out=codes[:, position])
        return cls(codes, joined.vocabulary)

    def reshaped(self, width: int) -> Names:
        """The same in rows of ``width`` names, or in one dimension if that is 1."""
        return replace(self, codes=self.codes.reshape(-1, width) if width > 1 else self.codes.ravel())

    def __len__(self) -> int:
        return len(self.codes)

    def at(self, position: int) -> Any:
        """The name at a position, counted through all dimensions."""
        return self.vocabulary[self.codes.ravel()[position : position + 1]].tolist()[0]

    def with_codes(self, codes: NDArray[Any]) -> Names:
        """Another column of the same names."""
        return Names(codes, self.vocabulary)

    def renamed(self, change: Callable[[Any], Hashable]) -> Names:
        """Every name changed; those that become equal become one."""
        other = Names.of(list(map(change, self.vocabulary.tolist())))
        return Names(other.codes[self.codes], other.vocabulary, is_ordered=self.is_ordered and other.is_ordered)

    def ordered(self) -> Names:
        """The same column, every name used, sorted if all are whole numbers, else in the order of first occurrence.

        Examples
        --------
        >>> Names(np.array([2, 0, 2]), name_array(["a", "b", "c"])).ordered().vocabulary.tolist()
        ['c', 'a']
        """
        if self.is_ordered:
            return self
        first = _first_positions(self.codes.ravel(), len(self.vocabulary))
        order = np.argsort(first, kind="stable")[: int(np.count_nonzero(first < self.codes.size))]
        names = self.vocabulary[order]
        if _all_whole(names):
            by_value = np.argsort(names, kind="stable")
            order, names = order[by_value], name_array(names[by_value])
        rank = np.zeros(len(self.vocabulary), dtype=np.int32)
        rank[order] = np.arange(len(order), dtype=np.int32)
        return Names(rank[self.codes], names, is_ordered=True)


def united(*columns: Names) -> tuple[NDArray[Any], list[NDArray[Any]]]:
    """Every name of some columns once, and for each column the rows of its names.

    Names are sorted when all are whole numbers, else in the order of first occurrence.

    Examples
    --------
    >>> united(Names.of([5, 3]), Names.of([3, 4]))
    (array([3, 4, 5]), [array([2, 0], dtype=int32), array([0, 1], dtype=int32)])
    """
    ordered = [column.ordered() for column in columns]
    # An empty column is of no type: it must not turn whole numbers into objects.
    vocabularies = [column.vocabulary if len(column) else column.vocabulary[:0] for column in ordered]
    filled = list(filter(len, vocabularies))
    if len(filled) < 2:
        return (filled or [np.empty(0, dtype=np.int64)])[0], [column.codes for column in ordered]
    joined = _joined(filled)
    names = Names.of(joined) if joined.dtype == np.int64 else reduce(_followed, filled[1:], Names.each(filled[0]))
    names = names.ordered() if _all_whole(names.vocabulary) else names
    starts = np.cumsum([0, *map(len, vocabularies)])
    return names.vocabulary, [names.codes[start:][own.codes] for start, own in zip(starts, ordered, strict=False)]


def rows_of(column: Names, names: NDArray[Any]) -> NDArray[Any]:
    """Position of every name of ``column`` in ``names``, -1 where it is not there.

    Examples
    --------
    >>> rows_of(Names.of([9, 7, 8]), np.array([7, 9]))
    array([ 1,  0, -1])
    """
    if column.vocabulary is names:
        return column.codes
    if len(names) == 0 or len(column) == 0:
        return np.full(column.codes.shape, -1, dtype=np.int64)
    return positions(column.vocabulary, names)[column.codes]


def known_rows(column: Names, names: NDArray[Any], *, source: str, things: str) -> NDArray[Any]:
    """:func:`rows_of`, refusing names that are not among ``names``.

    ``source`` says who named them and ``things`` what they were looked up in.
    """
    rows = rows_of(column, names)
    if rows.size and rows.min() < 0:
        unknown = column.with_codes(column.codes[rows < 0])
        looks = f" (they look like {shown_name(names, 0)})" if len(names) else ""
        raise GraphError(
            f"{source} name {len(unknown.ordered().vocabulary)} that are not among the {len(names)} {things}{looks}; "
            f"the first is {in_short(unknown.at(0))}"
        )
    return rows


def check_unknown(unknown: str) -> None:
    """Refuse a word that does not say what to do with nodes that no edge names."""
    if not isinstance(unknown, str) or unknown not in ("isolate", "error"):
        raise ParameterError(f"unknown must be 'isolate' or 'error', not {in_short(unknown)}")


def check_attributes(**names: Any) -> None:
    """Refuse names of attributes or columns that are no text."""
    for parameter, name in names.items():
        if name is not None and not isinstance(name, str):
            raise ParameterError(f"must be a name, as text, or None, not {in_short(name)}", parameter=parameter)


def in_part(words: Sequence[str], most: int = 8) -> str:
    """Some words with commas between them, the first few if there are many.

    >>> in_part(["a", "b", "c"], most=2)
    'a, b and 1 more'
    """
    return ", ".join(words[:most]) + (f" and {len(words) - most} more" if len(words) > most else "")


def listing(names: Iterable[Hashable]) -> str:
    """The first few of some names, for people.

    Examples
    --------
    >>> listing(range(9))
    '0, 1, 2, 3, 4, ...'
    """
    shown = list(map(in_short, islice(names, 6)))
    return ", ".join(shown[:5]) + (", ..." if len(shown) > 5 else "")


def _joined(vocabularies: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Vocabularies one after the other; an empty one is of no type."""
    return np.concatenate([names for names in vocabularies if len(names)] or vocabularies)


def _followed(column: Names, others: NDArray[Any]) -> Names:
    """A column and other names after it, which are distinct among themselves: only those of the column are hashed."""
    at = positions(others, column.vocabulary)
    new = np.flatnonzero(at < 0)
    at[new] = len(column.vocabulary) + np.arange(len(new), dtype=np.int32)
    return Names(np.concatenate([column.codes, at]), np.concatenate([column.vocabulary, others[new]]))


def _all_whole(names: NDArray[Any]) -> bool:
    return names.dtype == np.int64 or all(type(name) is int for name in names.tolist())


def _first_positions(codes: NDArray[Any], n: int) -> NDArray[np.int64]:
    """Where each of n codes occurs first, ``len(codes)`` for those that do not.

    Pieces of growing length: where names repeat, all of them have been seen long before the end.
    """
    first = np.full(n, len(codes), dtype=np.int64)
    start, step = 0, 1 << 16
    while start < len(codes) and first.max(initial=0) == len(codes):
        piece = codes[start : start + step]
        fresh = np.flatnonzero(first[piece] == len(codes))[::-1]
        first[piece[fresh]] = fresh + start  # backwards, so that the first position of a code is the last written
        start, step = start + step, 2 * step
    return first
