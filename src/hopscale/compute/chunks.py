"""Fixed pieces of tall arrays: what is computed from a piece never depends on the number of threads."""

from __future__ import annotations

__all__ = ["TALL_CHUNK", "gram_bytes", "ranges"]

TALL_CHUNK = 2048  # rows of a tall array that are multiplied at once


def ranges(count: int, size: int) -> list[tuple[int, int]]:
    """Consecutive (begin, end) pieces of at most ``size``.

    >>> ranges(5, 2)
    [(0, 2), (2, 4), (4, 5)]
    """
    return [(begin, min(begin + size, count)) for begin in range(0, count, size)]


def gram_bytes(rows: int, columns: int) -> float:
    """Memory that a thread takes for a Gram matrix of so many columns."""
    return 8.0 * columns * (min(rows, TALL_CHUNK) + 2 * columns)
