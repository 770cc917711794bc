"""Matrices that come from outside: structure and values are checked before anything follows their indices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hopscale.exceptions import GraphError

__all__ = ["ANY_SIGN", "OwnArray", "SymmetricArray", "as_float32", "canonical", "selection", "sound", "two_dimensional"]

ANY_SIGN = ". hopscale.features.signed and hopscale.features.binned make features of numbers of any sign"
_MAX_NODES = np.iinfo(np.int32).max


class OwnArray(sp.csr_array):  # type: ignore[misc]
    """Matrix whose indices are known to be right, and which is not used elsewhere: it is not copied."""


class SymmetricArray(OwnArray):
    """Adjacency matrix that is known to be symmetric, with the self-loops that are wanted."""


def canonical(matrix: Any, what: str, *, rows: str, columns: str) -> sp.csr_array:
    """Copy of a matrix as canonical float32 CSR, refusing values that mean nothing."""
    try:
        if not isinstance(matrix, OwnArray):
            matrix = sound(matrix, what) if sp.issparse(matrix) else two_dimensional(matrix, what)
        if sp.issparse(matrix) and matrix.format == "coo":
            # Made into CSR at once its duplicates would be added up: -1 + 2 would hide a mistake.
            _check_values(matrix.data, what, rows, columns, lambda entry: tuple(c[entry] for c in matrix.coords))
        # Canonical float32 is left as it is; else sums of duplicates are rounded once, at the end.
        is_canonical = sp.issparse(matrix) and getattr(matrix, "has_canonical_format", False)
        is_ready = is_canonical and matrix.dtype == np.float32
        is_shared = not isinstance(matrix, OwnArray)
        with np.errstate(over="ignore"):  # of long doubles: infinity is refused below
            csr = sp.csr_array(matrix, dtype=np.float32 if is_ready else np.float64, copy=is_shared)
    except (TypeError, ValueError, ArithmeticError) as error:
        if isinstance(error, GraphError):
            raise
        raise GraphError(
            f"{what} must be a SciPy sparse matrix or a numeric array, not {type(matrix).__name__} ({error})"
        ) from error
    if max(csr.shape) > _MAX_NODES:
        raise GraphError(f"{what} has shape {csr.shape}; at most {_MAX_NODES:,} {rows}s and {columns}s fit")
    _check_values(
        csr.data,
        what,
        rows,
        columns,
        lambda entry: (np.searchsorted(csr.indptr, entry, side="right") - 1, csr.indices[entry]),
    )
    if not (is_canonical and isinstance(matrix, OwnArray)):  # which need not be looked through again
        csr.sum_duplicates()
    csr.data = as_float32(csr.data, what)
    if csr.data.min(initial=1) <= 0:
        csr.eliminate_zeros()
    return csr


def two_dimensional(matrix: Any, what: str) -> NDArray[np.float64]:
    """An array of numbers in two dimensions."""
    if isinstance(matrix, np.ma.MaskedArray):
        raise GraphError(f"{what} has masked entries, which could mean anything: fill them, with 0 where nothing is")
    array = np.asarray(matrix)
    if array.dtype.kind not in "biufOSU":
        raise GraphError(f"{what} must hold real numbers, not {array.dtype}")
    with np.errstate(over="ignore"):  # infinity is refused later
        array = array.astype(np.float64, copy=False)
    if array.ndim != 2:
        raise GraphError(f"{what} must be two-dimensional, but has shape {array.shape}")
    return array


def selection(rows: NDArray[Any], height: int) -> sp.csr_array:
    """The matrix S with S @ M = M[rows] for every M of that height, and zeros where a row is -1.

    >>> selection(np.array([1, -1, 0]), 2).toarray()
    array([[0., 1.],
           [0., 0.],
           [1., 0.]])
    """
    known = np.flatnonzero(rows >= 0)
    return sp.csr_array((np.ones(len(known)), (known, rows[known])), shape=(len(rows), height))


def sound(matrix: Any, what: str) -> Any:
    """A sparse matrix as CSR, CSC, BSR or COO whose arrays fit each other.

    Everything in SciPy takes that for granted: an index out of range is written to, wherever in memory that is.
    """
    if matrix.ndim != 2:
        raise GraphError(f"{what} must be two-dimensional, but has shape {matrix.shape}")
    if matrix.dtype.kind not in "biuf":
        raise GraphError(f"{what} must hold real numbers, not {matrix.dtype}")
    if matrix.format == "lil":
        lengths = [[len(each) for each in part] for part in (matrix.rows, matrix.data)]
        if lengths[0] != lengths[1] or len(lengths[0]) != matrix.shape[0]:
            raise GraphError(f"{what} is not a sound LIL matrix: its rows and its data differ in length")
        matrix = matrix.tocsr()
    elif matrix.format not in ("csr", "csc", "bsr", "coo"):
        matrix = matrix.tocoo()
    if matrix.format == "coo":
        limits: tuple[int, ...] = matrix.shape
        indices, entries = list(matrix.coords), len(matrix.data)
    else:
        blocks = matrix.blocksize if matrix.format == "bsr" else (1, 1)
        groups, limit = (size // block for size, block in zip(matrix.shape, blocks, strict=True))
        if matrix.format == "csc":
            groups, limit = limit, groups
        limits, indices, entries, offsets = (limit,), [matrix.indices], len(matrix.data), matrix.indptr
        if not _whole_row(offsets) or len(offsets) != groups + 1 or offsets[0] or (offsets[1:] < offsets[:-1]).any():
            raise GraphError(
                f"{what} is not a sound {matrix.format.upper()} matrix: indptr must rise from 0, row by row"
            )
        if offsets[-1] > entries:
            raise GraphError(f"{what} is not a sound matrix: indptr ends at {offsets[-1]}, of {entries} entries")
    for index, limit in zip(indices, limits, strict=True):
        if not _whole_row(index) or len(index) != entries:
            raise GraphError(f"{what} is not a sound matrix: {entries} values have indices of shape {index.shape}")
        if entries and (index.min() < 0 or index.max() >= limit):
            wrong = index.min() if index.min() < 0 else index.max()
            raise GraphError(f"{what} has the index {wrong}, but indices must lie between 0 and {limit - 1}")
    return matrix


def _whole_row(index: Any) -> bool:
    return isinstance(index, np.ndarray) and index.ndim == 1 and index.dtype.kind in "iu"


def as_float32(data: NDArray[Any], what: str) -> NDArray[np.float32]:
    """The values, if float32 holds them: very small ones would lose digits, or vanish."""
    if data.dtype == np.float32:
        return data
    with np.errstate(over="ignore", under="ignore"):  # answered by the next lines
        values: NDArray[np.float32] = data.astype(np.float32)
    unit = "multiply all of them by a number, such as a power of two: vectors do not depend on the unit"
    if not np.isfinite(values).all():
        raise GraphError(f"{what} has values too large for float32, of up to {data.max():g}: {unit}")
    small = data < np.finfo(np.float32).tiny
    if small.any() and (values[small] != data[small]).any():
        lost = data[small][values[small] != data[small]].min()
        raise GraphError(f"{what} has values too small for float32, such as {lost:g}: {unit}, or set them to 0")
    return values


def _check_values(
    data: NDArray[Any], what: str, rows: str, columns: str, place: Callable[[int], tuple[Any, Any]]
) -> None:
    if data.min(initial=0) >= 0 and data.max(initial=0) < np.inf:  # no comparison with NaN holds
        return
    for wrong, why in ((~np.isfinite(data), "not finite"), (data < 0, "negative")):
        if wrong.any():
            entry = int(np.argmax(wrong))
            row, column = place(entry)
            raise GraphError(
                f"{what} has {int(wrong.sum())} value(s) that are {why}; the first is "
                f"{data[entry]} at {rows} row {int(row)}, {columns} column {int(column)}"
                + (ANY_SIGN if why == "negative" and columns == "feature" else "")
            )
