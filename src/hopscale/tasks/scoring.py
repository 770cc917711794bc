"""Scoring of many splits: in threads, with a progress bar, and no longer than one wants to wait."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from hopscale.checks import number, switch
from hopscale.compute.threads import Threads
from hopscale.tasks.splits import Record, Split

__all__ = ["score_splits"]

_MEMORY = 1 << 32  # bytes that all threads together may hold, where a single one does not need more


def score_splits(
    score: Callable[[Sequence[Split]], list[Record]],
    splits: Sequence[Split],
    *,
    together: int,
    memory: float,
    n_jobs: int | None,
    max_seconds: float | None,
    progress: bool,
) -> list[Record]:
    """Records of all splits, in their order.

    Parameters
    ----------
    score : callable
        Records of some splits. What takes long in it calls :func:`hopscale.compute.threads.checkpoint`.
    splits : sequence of splits
    together : int
        How many of them `score` is given at once, at most.
    memory : float
        Bytes that it then holds.
    n_jobs : int or None
        Number of threads. BLAS runs on a single thread each: records do not depend on their number.
    max_seconds : float or None
        The first split is scored alone; if all would take longer than this, at its speed, fewer are scored, but one
        at least.
    progress : bool
        Show a progress bar, on the error stream and if that is a terminal.
    """
    limit = None if max_seconds is None else number("max_seconds", max_seconds, least=0)
    begin, records = time.perf_counter(), list[Record]()
    with Threads(n_jobs, verbose=switch("progress", progress)) as engine:
        at_once = max(1, min(engine.n_jobs, int(_MEMORY / max(memory, 1))))
        with engine.bar(len(splits), "scoring", "split") as bar:

            def take(pieces: Sequence[Sequence[Split]]) -> None:
                for found in engine.map(score, pieces, at_once=at_once, idle=bar.refresh):
                    records.extend(found)
                    bar.update(len(found))

            if limit is not None:
                take([splits[:1]])
                affordable = int(limit / max(time.perf_counter() - begin, 1e-9))
                splits = splits[: max(1, affordable)]
                bar.total = len(splits)
            size = min(together, max(1, -(-(len(splits) - len(records)) // engine.n_jobs)))  # all threads get some
            take([splits[i : i + size] for i in range(len(records), len(splits), size)])
    return records
