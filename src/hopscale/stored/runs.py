"""Sorted runs: what a piece contributes, sorted by a key, so that any range of keys is found in each run at once.

Ranges of keys that hold about as much as a task may hold are chosen by samples of all runs. A task for one range takes
its slice of each run, in the order of the runs, and never sees the rest.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hopscale.stored.arrays import Bundle

__all__ = ["bounds", "piece", "piece_path", "run_of", "slices", "split_keys"]

_SAMPLES = 2048  # of the keys of a run, at most


def piece_path(work: str | Path, what: str, number: int) -> Path:
    """Where the arrays of a piece, or of a range, lie."""
    return Path(work) / what / f"{number:06d}.arrays"


def piece(work: str | Path, what: str, number: int) -> Bundle:
    """Arrays of a piece, or of a range."""
    return Bundle(piece_path(work, what, number))


def run_of(keys: NDArray[Any]) -> dict[str, NDArray[Any]]:
    """Arrays of a run of keys, which are sorted: the keys, and a sample of them."""
    step = max(1, -(-len(keys) // _SAMPLES))
    return {"keys": keys, "sample": keys[::step], "step": np.array([step], dtype=np.int64)}


def split_keys(runs: Sequence[Path], dtype: Any, most: int) -> NDArray[Any]:
    """First keys of all ranges but the first one, so that a range has about ``most`` keys or fewer."""
    samples, counts = [np.empty(0, dtype=dtype)], [np.empty(0, dtype=np.int64)]
    for bundle in map(Bundle, runs):  # one at a time: maps take memory as far as they are looked at
        samples.append(np.array(bundle["sample"]))
        counts.append(np.full(len(samples[-1]), bundle["step"][0]))
    values, weights = np.concatenate(samples), np.concatenate(counts)
    order = np.argsort(values, kind="stable")
    values, before = values[order], np.cumsum(weights[order]) - weights[order]
    number = before // max(1, most)
    first = np.flatnonzero(np.diff(number, prepend=0))
    return np.unique(values[first])


def bounds(splits: NDArray[Any], number: int) -> tuple[Any, Any]:
    """First key of a range and that of the next one, None where there is none."""
    return (splits[number - 1] if number else None), (splits[number] if number < len(splits) else None)


def slices(work: str, what: str, runs: int, splits: NDArray[Any], number: int) -> Iterator[tuple[Bundle, slice]]:
    """Each run, and the slice of its keys that lies in a range."""
    low, high = bounds(splits, number)
    for run in range(runs):
        bundle = piece(work, what, run)
        keys = bundle["keys"]
        begin = 0 if low is None else int(np.searchsorted(keys, low))
        end = len(keys) if high is None else int(np.searchsorted(keys, high))
        yield bundle, slice(begin, end)
