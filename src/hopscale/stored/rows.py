"""Rows of the matrices: entries of all pieces as sorted runs of (row, column), and ranges of these as parts of CSR."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hopscale.matrices import as_float32
from hopscale.stored.arrays import mapped, save_bundle
from hopscale.stored.numbering import numbers_of
from hopscale.stored.runs import piece, piece_path, run_of, slices

__all__ = ["merge_rows", "sort_edges", "sort_features"]


def sort_edges(work: str, kind: str, ranges: int, n: int, self_loops: bool, number: int) -> int:
    """Edges of a piece in both directions, sorted by (row, column); returns how many self-loops were dropped."""
    codes = piece(work, "edges", number)["codes"]
    rows = numbers_of(work, "nodes", kind, ranges, number)
    ends = rows[codes.reshape(-1, 2)].astype(np.int64)
    is_loop = ends[:, 0] == ends[:, 1]
    keys = np.empty((len(ends), 2), dtype=np.int64)  # each edge and its mirror image, in the order of the edges
    np.multiply(ends, n, out=keys)
    keys += ends[:, ::-1]
    kept = np.ones((len(ends), 2), dtype=bool)
    kept[is_loop] = (self_loops, False)
    _save_run(work, "edges", number, keys[kept], lambda amounts: np.repeat(amounts, 2)[kept.ravel()])
    return 0 if self_loops else int(is_loop.sum())


def sort_features(
    work: str, kinds: list[str], ranges: list[int], first_piece: int, q: int, recoded: bool, number: int
) -> int:
    """Features of a piece, sorted by (row, column); returns how many entries there are."""
    codes = piece(work, "features", number)["codes"].reshape(-1, 2)
    rows = numbers_of(work, "nodes", kinds[0], ranges[0], first_piece + number)
    what = "whole-names" if recoded else "names"
    columns = numbers_of(work, what, kinds[1], ranges[1], number)
    if recoded:
        columns = columns[piece(work, what, number)["recoded"]]
    keys = rows[codes[:, 0]].astype(np.int64) * q
    keys += columns[codes[:, 1]]
    _save_run(work, "features", number, keys, lambda amounts: amounts)
    return len(keys)


def merge_rows(work: str, what: str, pieces: int, width: int, weighted: bool, number: int) -> dict[str, Any]:
    """Entries of a range of (row, column): repeats count once, or add up in the order of the rows of the input.

    Returns the number of entries, of those on the diagonal, and whether all amounts are 1.
    """
    splits = mapped(Path(work, f"{what}-splits.npy"), np.int64)
    parts, amounts = [], []
    for run, taken in slices(work, f"{what}-runs", pieces, splits, number):
        parts.append(np.array(run["keys"][taken]))
        if weighted:
            amounts.append(np.array(run["amounts"][taken]))
    keys = np.concatenate(parts)
    del parts
    values = None
    if weighted:
        keys, values = _summed(keys, np.concatenate(amounts), "adjacency" if what == "edges" else "features")
    else:
        keys = _distinct(keys)
    rows, columns = np.divmod(keys, max(1, width))
    changes = np.flatnonzero(np.diff(rows, prepend=-1))
    save_bundle(
        piece_path(work, f"{what}-parts", number),
        columns=columns.astype(np.int32),
        rows=rows[changes].astype(np.int32),
        counts=np.diff(changes, append=len(rows)).astype(np.int64),
        **({} if values is None else {"amounts": values}),
    )
    loops = int((rows == columns).sum()) if what == "edges" else 0
    return {"entries": len(keys), "loops": loops, "ones": values is None or bool((values == 1).all())}


def _save_run(
    work: str,
    what: str,
    number: int,
    keys: NDArray[np.int64],
    amounts_of: Callable[[NDArray[np.float64]], NDArray[np.float64]],
) -> None:
    """Write the entries of a piece as a run, and their amounts, if it has some."""
    path, source = piece_path(work, f"{what}-runs", number), piece(work, what, number)
    if "amounts" not in source:
        save_bundle(path, **run_of(_distinct(keys)))
        return
    order = np.argsort(keys, kind="stable")  # sums are added up in the order of the rows
    save_bundle(path, **run_of(keys[order]), amounts=amounts_of(source["amounts"])[order])


def _distinct(keys: NDArray[np.int64]) -> NDArray[np.int64]:
    keys = np.sort(keys)
    return keys[np.append(True, keys[1:] != keys[:-1])] if len(keys) else keys


def _summed(
    keys: NDArray[np.int64], amounts: NDArray[np.float64], what: str
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Keys once each, with the sum of their amounts; sums of zero are left out."""
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    is_new = np.append(True, keys[1:] != keys[:-1]) if len(keys) else np.empty(0, dtype=bool)
    # bincount adds one number after the other; NumPy's sums would add them in pairs.
    sums = np.bincount(np.cumsum(is_new) - 1, weights=amounts[order], minlength=int(is_new.sum()))
    values = as_float32(sums, what)
    kept = values > 0
    return keys[is_new][kept], values[kept]
