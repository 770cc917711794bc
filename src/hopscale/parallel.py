"""Threads over fixed pieces of work, results in the order of the pieces.

Kernels release the interpreter's lock, so plain threads suffice. What a piece computes never depends on
the number of threads, and results are handed on in order: any reduction over them has one order too.
"""

from __future__ import annotations

import os
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController
from tqdm import tqdm

from hopscale.exceptions import ParameterError

__all__ = ["Workers", "effective_jobs", "ranges"]

Task = TypeVar("Task")
Result = TypeVar("Result")


def effective_jobs(n_jobs: int | None) -> int:
    """Number of threads that ``n_jobs`` asks for; negative counts back from the number of cores.

    >>> effective_jobs(3)
    3
    """
    if n_jobs is None:
        return 1
    if not isinstance(n_jobs, (int, np.integer)) or n_jobs == 0:
        raise ParameterError(f"n_jobs must be a whole number other than 0, or None, not {n_jobs!r}")
    if n_jobs > 0:
        return int(n_jobs)
    affinity = getattr(os, "sched_getaffinity", None)
    cores = len(affinity(0)) if affinity else os.cpu_count() or 1
    return max(1, cores + 1 + int(n_jobs))


def ranges(count: int, size: int) -> list[tuple[int, int]]:
    """Consecutive (begin, end) pieces of at most ``size``.

    >>> ranges(5, 2)
    [(0, 2), (2, 4), (4, 5)]
    """
    return [(begin, min(begin + size, count)) for begin in range(0, count, size)]


class _SingleThreadedBlas:
    """The process's limit on BLAS threads: set by the first who wants it, lifted by the last."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._users = 0
        self._controller: ThreadpoolController | None = None  # looking for libraries takes longer than a small fit
        self._limits: Any = None

    def enter(self) -> None:
        with self._lock:
            self._users += 1
            if self._users == 1:
                self._controller = self._controller or ThreadpoolController()
                self._limits = self._controller.limit(limits=1, user_api="blas")

    def leave(self) -> None:
        with self._lock:
            self._users -= 1
            if self._users == 0 and self._limits is not None:
                self._limits.restore_original_limits()
                self._limits = None


_single_threaded_blas = _SingleThreadedBlas()


class Workers:
    """A pool of threads that stops within a moment of being interrupted.

    Inside the context BLAS runs single-threaded: its bits, too, must not depend on a number of threads.
    """

    def __init__(self, n_jobs: int | None = None, *, verbose: bool = False) -> None:
        self.n_jobs = effective_jobs(n_jobs)
        self.stop: NDArray[np.uint8] = np.zeros(1, dtype=np.uint8)  # kernels look at it as they go
        self._verbose = verbose

    def __enter__(self) -> Workers:
        _single_threaded_blas.enter()
        self._pool = ThreadPoolExecutor(self.n_jobs, thread_name_prefix="hopscale")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            self.stop[0] = 1
        self._pool.shutdown(wait=True, cancel_futures=True)
        _single_threaded_blas.leave()

    def bar(self, total: int, description: str, unit: str) -> tqdm[None]:
        """Progress bar on the error stream; silent unless asked for and on a terminal."""
        return tqdm(total=total, desc=description, unit=unit, leave=False, disable=None if self._verbose else True)

    def say(self, message: str) -> None:
        """A line on the error stream, if asked for; bars make room for it."""
        if self._verbose:
            tqdm.write(message, file=sys.stderr)

    def map(
        self, function: Callable[[Task], Result], tasks: Iterable[Task], *, at_once: int | None = None
    ) -> Iterator[Result]:
        """Results of ``function`` over ``tasks``, in order; few more than ``at_once`` pieces are alive."""
        limit = min(self.n_jobs, at_once or self.n_jobs)
        waiting: deque[Future[Result]] = deque()
        for task in tasks:
            if len(waiting) >= limit:
                yield waiting.popleft().result()
            waiting.append(self._pool.submit(function, task))
        while waiting:
            yield waiting.popleft().result()

    def run(self, function: Callable[[Task], object], tasks: Sequence[Task]) -> None:
        """Call ``function`` on every task; the results are dropped.

        Tasks are dealt out by the handful: handing one over costs as much as multiplying a small block.
        """
        hands = min(len(tasks), 4 * self.n_jobs)

        def several(hand: int) -> None:
            for task in tasks[hand::hands]:
                if not self.stop[0]:
                    function(task)

        for future in [self._pool.submit(several, hand) for hand in range(hands)]:
            future.result()
