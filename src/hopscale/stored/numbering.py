"""Numbers for names: the rows that nodes have in the graph, and the columns that features have.

Names of all pieces lie in runs, sorted by value or by hash. One task takes a range of these keys from every run, so
that each distinct name is met in one task only. Whole numbers are numbered in rising order: in their ranges, one range
after the other. Text is numbered in the order of first occurrence: by the piece in which a name occurs first, and
within that piece by its code.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hopscale.names import factorized
from hopscale.stored.arrays import Bundle, encoded_text, mapped, save_bundle
from hopscale.stored.pieces import KEYS, text_names
from hopscale.stored.runs import piece, piece_path, slices

__all__ = ["find_distinct", "number_new", "number_rows", "numbers_of"]


def find_distinct(work: str, what: str, kind: str, pieces: int, first_pieces: int, number: int) -> dict[str, Any]:
    """Distinct names of a range of keys: which name of each run is which, and where each occurs first.

    Returns how many there are, how many of them occur in the ``first_pieces``, how many in the others, and one of those
    that only occur in the others.
    """
    splits = mapped(Path(work, f"{what}-splits.npy"), KEYS[kind])
    parts: list[Any] = []
    lengths, codes = [], [np.empty(0, dtype=np.int32)]
    for run, taken in slices(work, what, pieces, splits, number):
        lengths.append(taken.stop - taken.start)
        if kind == "whole":
            parts.append(np.array(run["keys"][taken]))
        elif lengths[-1]:
            parts.append(_text_slice(run, taken))
            codes.append(np.array(run["order"][taken]))
    starts = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
    if kind == "whole":
        index, names = factorized(np.concatenate(parts))
    else:
        index, names = _coded_text(parts)
    del parts
    first = np.empty(len(names), dtype=np.int64)
    first[index[::-1]] = np.arange(len(index), dtype=np.int64)[::-1]
    if kind == "whole":
        own = {"names": names}
    else:  # in the order of first occurrence, so that these pieces rise
        own = {"codes": np.concatenate(codes)[first], "code_starts": np.searchsorted(first, starts).astype(np.int64)}
    path = piece_path(work, f"{what}-distinct", number)
    save_bundle(path, index=index.astype(np.int32, copy=False), starts=starts, **own)
    in_others = np.zeros(len(names), dtype=bool)
    in_others[index[starts[first_pieces] :]] = True
    in_first = first < starts[first_pieces]
    alone = np.flatnonzero(~in_first)[:1]
    counts = {"names": len(names), "first": int(in_first.sum()), "others": int(in_others.sum())}
    return {**counts, "alone": [str(names[at])[:100] for at in alone.tolist()]}


def number_new(work: str, what: str, ranges: int, number: int) -> list[int]:
    """Write which names, of text, occur in this piece first, by their codes; returns their number and their bytes."""
    found = [np.empty(0, dtype=np.int32)]
    for each in range(ranges):
        distinct = piece(work, f"{what}-distinct", each)
        begin, end = distinct["code_starts"][number : number + 2].tolist()
        found.append(np.array(distinct["codes"][begin:end]))
    new = np.sort(np.concatenate(found))
    text, offsets = encoded_text(text_names(piece(work, what, number), new).tolist())
    save_bundle(piece_path(work, f"{what}-new", number), codes=new, text=text, offsets=offsets)
    return [len(new), len(text)]


def number_rows(work: str, what: str, number: int) -> int:
    """Numbers of the names of text in a range, from the pieces in which they occur first."""
    distinct = piece(work, f"{what}-distinct", number)
    bases = mapped(Path(work, f"{what}-bases.npy"), np.int64)
    codes, starts = distinct["codes"], distinct["code_starts"]
    numbers = np.empty(len(codes), dtype=np.int32)
    for first in np.flatnonzero(np.diff(starts)).tolist():
        own = slice(int(starts[first]), int(starts[first + 1]))
        new = piece(work, f"{what}-new", first)["codes"]
        numbers[own] = bases[first] + np.searchsorted(new, codes[own])
    save_bundle(piece_path(work, f"{what}-numbers", number), numbers=numbers)
    return len(numbers)


def numbers_of(work: str, what: str, kind: str, ranges: int, number: int) -> NDArray[np.int32]:
    """Number of each name of a piece, by its code."""
    bases = mapped(Path(work, f"{what}-bases.npy"), np.int64)
    found = [np.empty(0, dtype=np.int32)]
    for each in range(ranges):
        distinct = piece(work, f"{what}-distinct", each)
        begin, end = distinct["starts"][number : number + 2].tolist()
        index = distinct["index"][begin:end]
        if kind == "whole":
            found.append((bases[each] + index).astype(np.int32))
        elif begin < end:
            found.append(piece(work, f"{what}-numbers", each)["numbers"][index])
    numbers = np.concatenate(found)  # in the order of keys, which is that of the codes of whole numbers
    if kind == "whole":
        return numbers
    by_code = np.empty(len(numbers), dtype=np.int32)
    by_code[piece(work, what, number)["order"]] = numbers
    return by_code


def _text_slice(run: Bundle, taken: slice) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """UTF-8 and offsets of some names of a run."""
    offsets = np.array(run["offsets"][taken.start : taken.stop + 1])
    text = np.array(run["text"][offsets[0] : offsets[-1]])
    return text, offsets - offsets[0]


def _coded_text(
    parts: Sequence[tuple[NDArray[np.uint8], NDArray[np.int64]]],
) -> tuple[NDArray[np.int32], Any]:
    """Position of each name among the distinct ones, and these, in the order of first occurrence, as Arrow has them."""
    import pyarrow as pa

    chunks = [
        pa.LargeStringArray.from_buffers(len(offsets) - 1, pa.py_buffer(offsets), pa.py_buffer(text))
        for text, offsets in parts
    ]
    column = pa.chunked_array(chunks, pa.large_string()).combine_chunks().dictionary_encode()
    return column.indices.to_numpy(zero_copy_only=False), column.dictionary
