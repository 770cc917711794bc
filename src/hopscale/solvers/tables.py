"""Tables of vectors as the kernels want them, rows padded to 16 floats on boundaries of 64 bytes, and tall products."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hopscale.parallel import Workers, ranges

__all__ = ["TALL_CHUNK", "Array", "crossed", "padded", "table_of", "turned", "zero_table"]

Array = NDArray[np.float32]

TALL_CHUNK = 2048  # rows of a tall matrix that are multiplied at once
ALIGNMENT = 64  # bytes: a register must not straddle two cache lines (a fifth to a half of the speed)


def padded(width: int) -> int:
    """Row length of a table: the next multiple of 16 floats.

    >>> padded(43)
    48
    """
    return -(-width // 16) * 16


def zero_table(rows: int, width: int) -> Array:
    """A table of zeros, ``width`` already padded."""
    size = rows * width * 4
    raw = np.zeros(size + ALIGNMENT, dtype=np.uint8)
    first = -raw.__array_interface__["data"][0] % ALIGNMENT
    return raw[first : first + size].view(np.float32).reshape(rows, width)


def table_of(x: Array, rows: int | None = None) -> Array:
    """A copy of ``x`` as a table, with zero rows appended up to ``rows``."""
    table = zero_table(max(len(x), rows or 0), padded(x.shape[1]))
    table[: len(x), : x.shape[1]] = x
    return table


def turned(x: NDArray[Any], matrix: NDArray[Any], workers: Workers) -> NDArray[Any]:
    """x·matrix for a tall x, some rows at a time: the same bits for any number of threads."""
    out = np.empty((len(x), matrix.shape[1]), dtype=np.result_type(x, matrix))

    def one(piece: tuple[int, int]) -> None:
        begin, end = piece
        with np.errstate(over="ignore", invalid="ignore"):  # who asked looks at what came out
            np.matmul(x[begin:end], matrix, out=out[begin:end])

    workers.run(one, ranges(len(x), TALL_CHUNK))
    return out


def crossed(x: NDArray[Any], y: NDArray[Any], workers: Workers, dtype: type = np.float64) -> NDArray[Any]:
    """xᵀ·y for tall ones, in the precision asked for: some rows at a time, added up in order."""
    out: NDArray[Any] = np.zeros((x.shape[1], y.shape[1]), dtype=dtype)

    def one(piece: tuple[int, int]) -> NDArray[Any]:
        left: NDArray[Any] = x[slice(*piece)].astype(dtype, copy=False)
        right = left if y is x else y[slice(*piece)].astype(dtype, copy=False)
        with np.errstate(over="ignore", invalid="ignore"):
            return np.asarray(left.T @ right)

    for part in workers.map(one, ranges(len(x), TALL_CHUNK)):
        out += part
    return out
