"""Tables of vectors as the kernels want them: rows padded to 16 floats, on boundaries of 64 bytes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["Array", "padded", "table_of", "zero_table"]

Array = NDArray[np.float32]

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
