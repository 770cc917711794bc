"""Parts of all ranges joined into the arrays of the stored graph, one task an array, a little at a time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hopscale.compute.chunks import ranges
from hopscale.stored.arrays import Bundle, release, save_pieces
from hopscale.stored.runs import piece

__all__ = ["join_array", "join_offsets", "join_text_offsets"]

_PIECE = 1 << 20  # numbers that are held at once


def join_array(work: str, what: str, array: str, parts: int, dtype: str, length: int, name: str) -> int:
    """Join one array of all parts; returns its length."""
    pieces = (own for part in range(parts) for own in _pieces(piece(work, what, part), array))
    save_pieces(Path(work, "graph", f"{name}.npy"), dtype, (length,), pieces)
    return length


def join_offsets(work: str, what: str, parts: int, rows: int, name: str) -> int:
    """Offsets of all rows from the lengths of those that have entries; returns how many rows there are."""
    save_pieces(Path(work, "graph", f"{name}.npy"), np.int64, (rows + 1,), _offsets(work, what, parts, rows))
    return rows


def join_text_offsets(work: str, what: str, parts: int, count: int, name: str) -> int:
    """Offsets of all names of text; returns how many names there are."""

    def pieces() -> Iterator[NDArray[np.int64]]:
        end = 0
        yield np.zeros(1, dtype=np.int64)
        for part in range(parts):
            own = piece(work, what, part)["offsets"]
            yield own[1:] + end
            end += int(own[-1])

    save_pieces(Path(work, "graph", f"{name}.npy"), np.int64, (count + 1,), pieces())
    return count


def _pieces(part: Bundle, name: str) -> Iterator[NDArray[Any]]:
    array = part[name]
    for begin, end in ranges(len(array), _PIECE):
        yield array[begin:end]
        release(part.bytes)


def _offsets(work: str, what: str, parts: int, n: int) -> Iterator[NDArray[np.int64]]:
    """Offsets of n rows, in pieces. Rows rise from part to part; one may go on in the next part."""
    at, total = 0, 0  # rows whose offset is written, and entries before the next one
    for part in range(parts):
        bundle = piece(work, f"{what}-parts", part)
        all_rows, all_counts = bundle["rows"], bundle["counts"]
        for begin, end in ranges(len(all_rows), _PIECE):
            rows, counts = all_rows[begin:end].astype(np.int64), all_counts[begin:end]
            before = total + np.concatenate([[0], np.cumsum(counts)])
            # The offset of a row is what comes before it: of the first row that has it or a later one.
            for low, high in ranges(int(rows[-1]) + 1 - at, _PIECE):
                wanted = np.arange(at + low, at + high)
                yield before[np.searchsorted(rows, wanted)]
            at, total = max(at, int(rows[-1]) + 1), int(before[-1])
    for low, high in ranges(n + 1 - at, _PIECE):
        yield np.full(high - low, total, dtype=np.int64)
