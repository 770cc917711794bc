"""Names of nodes and features: arrays of them, missing and repeated ones, their numbers and their positions."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from itertools import repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hopscale.exceptions import GraphError, in_short

__all__ = [
    "Coder",
    "DistinctNames",
    "as_names",
    "factorized",
    "is_missing",
    "name_array",
    "positions",
    "repeated_name",
    "shown_name",
    "whole_numbers",
]

# Floats from here on no longer tell neighbouring whole numbers apart.
_EXACT_FLOAT = 2.0**53


class DistinctNames(np.ndarray):  # type: ignore[type-arg]
    """Names as :func:`name_array` returns them that are known to be distinct: that is not checked again."""


def name_array(names: Iterable[Hashable]) -> NDArray[Any]:
    """One-dimensional array of names: int64 when all are whole numbers, object otherwise.

    Object arrays keep what NumPy would convert: ``1`` and ``"1"`` stay two names, tuples stay tuples.
    """
    if isinstance(names, (str, bytes)) or not isinstance(names, Iterable):
        raise GraphError(f"names must come as a list or an array of them, not as {in_short(names)}")
    if isinstance(names, np.ma.MaskedArray) or (isinstance(names, np.ndarray) and names.ndim != 1):
        raise GraphError(
            f"names must come in one dimension, none of them masked, not as {type(names).__name__} of "
            f"shape {names.shape}"
        )
    # uint64 reaches past int64, where a cast would wrap around to negative names.
    if isinstance(names, np.ndarray) and names.dtype.kind in "iu" and int(names.max(initial=0)) < 2**63:
        return names.astype(np.int64)
    listed = names.tolist() if isinstance(names, np.ndarray) else names if type(names) is list else list(names)
    kinds = set(map(type, listed))
    if not kinds <= {str, int}:
        listed = [name.item() if isinstance(name, (np.integer, np.floating, np.str_)) else name for name in listed]
        kinds = set(map(type, listed))
    if kinds == {int} and min(listed) >= -(2**63) and max(listed) < 2**63:
        return np.array(listed, dtype=np.int64)
    array = np.empty(len(listed), dtype=object)
    array[:] = listed
    return array


def shown_name(names: NDArray[Any], row: int) -> str:
    """A name as people write it: ``3``, where NumPy's own repr is ``np.int64(3)``."""
    return in_short(names[row : row + 1].tolist()[0])


def as_names(values: Iterable[Hashable] | NDArray[Any]) -> NDArray[Any]:
    """Array of names; floats that are all whole numbers, as spreadsheets write them, become ints.

    Examples
    --------
    >>> as_names(np.array([0.0, 2.0]))
    array([0, 2])
    >>> as_names(["a", 1])
    array(['a', 1], dtype=object)
    """
    whole = whole_numbers(values) if isinstance(values, np.ndarray) else None
    return name_array(values) if whole is None else whole


def is_missing(name: Any) -> bool:
    """Whether a name says that there is none: None, NaN and their kin."""
    try:
        return name is None or bool(name != name)
    except TypeError:  # pandas.NA has no truth value
        return True
    except ValueError:  # an array, which is no name, as will be seen
        return False


def repeated_name(names: NDArray[Any], what: str) -> int | None:
    """Row of a name that stands in a row before as well, None if all are distinct.

    Sorted hashes take 16 bytes a name, where a set takes 60 and more.

    >>> repeated_name(name_array(["a", "b", 1, "b"]), "node_ids")
    3
    """
    try:
        keys = names if names.dtype == np.int64 else np.fromiter(map(hash, names), dtype=np.int64, count=len(names))
    except TypeError as error:
        raise GraphError(f"{what} must be hashable ({error})") from None
    order = np.argsort(keys, kind="stable")
    same = keys[order[1:]] == keys[order[:-1]]
    seen: set[Hashable] = set()
    for row in np.unique([order[1:][same], order[:-1][same]]).tolist():  # no others can be equal
        if names[row] in seen:
            return int(row)
        seen.add(names[row])
    return None


def whole_numbers(values: NDArray[Any]) -> NDArray[np.int64] | None:
    """Numbers of an array as int64, None if they are not all whole or do not fit."""
    if values.ndim != 1 or isinstance(values, np.ma.MaskedArray):
        return None
    if values.dtype.kind == "f":
        with np.errstate(over="ignore"):  # all that float16 holds is smaller
            whole = np.isfinite(values) & (values == np.floor(values)) & (np.abs(values) < _EXACT_FLOAT)
        return values.astype(np.int64) if whole.all() else None
    # uint64 reaches past int64, where a cast would wrap around to negative names.
    fits = values.dtype.kind == "i" or (values.dtype.kind == "u" and int(values.max(initial=0)) < 2**63)
    return values.astype(np.int64, copy=False) if fits else None


def positions(column: NDArray[Any], names: NDArray[Any]) -> NDArray[Any]:
    """Position in ``names`` of each entry of an array of names, -1 where it is not there."""
    if column.dtype != np.int64 or names.dtype != np.int64:
        return _positions_by_hash(column.tolist(), names.tolist())
    low, span = _value_span(names)
    if _is_dense(span, len(names) + len(column)):
        position = np.full(span, -1, dtype=np.int64)
        position[names - low] = np.arange(len(names))
        inside = (column >= low) & (column <= low + span - 1)
        return np.where(inside, position[np.where(inside, column - low, 0)], -1)
    order = np.argsort(names, kind="stable")
    found = order[np.minimum(np.searchsorted(names[order], column), len(names) - 1)]
    return np.where(names[found] == column, found, -1)


def _positions_by_hash(column: list[Any], names: list[Any]) -> NDArray[np.int32]:
    if len(column) == len(names) and set(map(type, column)) == {str} and column == names:  # tables of one maker
        return np.arange(len(names), dtype=np.int32)
    try:
        if 8 * len(column) < len(names):  # only those that are asked for
            asked = set(column)
            is_asked = np.fromiter(map(asked.__contains__, names), dtype=bool, count=len(names))
            row = {names[at]: at for at in np.flatnonzero(is_asked).tolist()}
        else:
            row = dict(zip(names, range(len(names)), strict=True))
        return np.fromiter(map(row.get, column, repeat(-1)), dtype=np.int32, count=len(column))
    except TypeError as error:
        raise GraphError(f"names of nodes and features must be hashable ({error})") from None


class Coder(dict[Any, int]):
    """Numbers values in the order in which they are first seen.

    Examples
    --------
    >>> coder = Coder()
    >>> coder.codes(["b", "a", "b"]), list(coder)
    (array([0, 1, 0], dtype=int32), ['b', 'a'])
    """

    def __missing__(self, value: Hashable) -> int:
        code = self[value] = len(self)
        return code

    def codes(self, values: Iterable[Hashable]) -> NDArray[np.int32]:
        """Number of each value."""
        with np.errstate(over="ignore"):  # NumPy's small floats warn when they are compared with large numbers
            return np.fromiter(map(self.__getitem__, values), dtype=np.int32)


def factorized(array: NDArray[Any]) -> tuple[NDArray[np.int32], NDArray[Any]]:
    """Position of each entry among the distinct values of an array, and these values, sorted.

    Examples
    --------
    >>> factorized(np.array([7, 3, 7]))
    (array([1, 0, 1], dtype=int32), array([3, 7]))
    """
    if not len(array):
        return np.empty(0, dtype=np.int32), array.copy()
    if array.dtype == np.int64:
        low, span = _value_span(array)
        if _is_dense(span, len(array)):
            offsets = array - low if low else array
            present = np.zeros(span, dtype=bool)
            present[offsets] = True
            if present.all():
                return offsets.astype(np.int32), np.arange(low, low + span)
            return (np.cumsum(present, dtype=np.int32) - np.int32(1))[offsets], np.flatnonzero(present) + low
    # Sorting took 1.6 s where numpy.unique (2.4) took 6.9 s, for 2·10^7 names.
    ordered = np.sort(array)
    values = ordered[np.append(True, ordered[1:] != ordered[:-1])]
    return np.searchsorted(values, array).astype(np.int32), values


def _value_span(column: NDArray[Any]) -> tuple[int, int]:
    """Smallest value and number of values up to the largest, as Python ints, which cannot overflow."""
    low = int(column.min())
    return low, int(column.max()) - low + 1


def _is_dense(span: int, count: int) -> bool:
    """Whether an array over the whole range is no larger than sorting the names would be."""
    return span <= 8 * count + 1024
