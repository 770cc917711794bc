"""Arrays as the kernels want them: rows padded to 16 floats, on boundaries of 64 bytes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Floats", "aligned", "aligned_empty", "aligned_zeros", "padded"]

Floats = NDArray[np.float32]

ALIGNMENT = 64  # bytes: a register that straddles two cache lines costs a fifth to a half of the speed


def padded(width: int) -> int:
    """Length of a row: the next multiple of 16 floats.

    >>> padded(43)
    48
    """
    return -(-width // 16) * 16


def aligned_zeros(rows: int, width: int) -> Floats:
    """Zeros, in rows of ``padded(width)`` floats."""
    return _aligned(rows, padded(width), np.zeros)


def aligned_empty(rows: int, width: int) -> Floats:
    """Any content, in rows of ``padded(width)`` floats."""
    return _aligned(rows, padded(width), np.empty)


def _aligned(rows: int, width: int, make: Any) -> Floats:
    size = rows * width * 4
    raw = make(size + ALIGNMENT, dtype=np.uint8)
    first = -raw.__array_interface__["data"][0] % ALIGNMENT
    found: Floats = raw[first : first + size].view(np.float32).reshape(rows, width)
    return found


def aligned(x: Floats, rows: int | None = None) -> Floats:
    """``x`` in padded rows, with zero rows appended up to ``rows``: itself where it is that already, else a copy."""
    ready = x.dtype == np.float32 and x.flags.c_contiguous and x.shape[1] == padded(x.shape[1])
    if ready and len(x) >= (rows or 0) and x.__array_interface__["data"][0] % ALIGNMENT == 0:
        return x
    copy = aligned_zeros(max(len(x), rows or 0), x.shape[1])
    copy[: len(x), : x.shape[1]] = x
    return copy
