"""Files that a process has mapped, and the memory that they take: pages are given back once they are too many."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hopscale.compute.memory import memory_here, resident, resident_files, worker_memory
from hopscale.stored.arrays import mapped, release

__all__ = ["Maps", "file_memory"]

INTERVAL = 0.005  # seconds between two looks at the memory: kernels touch some gigabytes a second at most
SHARE = 0.25  # of the machine's memory, or of what a worker's memory limit leaves beside Python and the libraries


class Maps:
    """Maps of one fit in this process.

    While a task runs, a thread looks how much memory pages of files take, and gives them back past a limit: they are
    read again when they are needed, mostly from the system's cache. Where the system does not tell (it does on Linux),
    nothing is given back.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._maps: list[NDArray[Any]] = []
        self._lock = threading.Lock()
        self._users, self._stop = 0, threading.Event()
        self._before = resident_files()

    def open(self, path: Path, dtype: Any, shape: tuple[int, ...] | None = None) -> NDArray[Any]:
        """A file as an array."""
        array = mapped(path, dtype, shape)
        self.add(array)
        return np.asarray(array)

    def add(self, *arrays: NDArray[Any] | None) -> None:
        """Watch maps that others have opened."""
        with self._lock:
            self._maps.extend(array for array in arrays if array is not None)

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Hold the limit while a task runs."""
        with self._lock:
            self._users += 1
            if self._users == 1:
                self._stop = threading.Event()
                threading.Thread(target=self._watch, args=(self._stop,), daemon=True, name="hopscale-maps").start()
        try:
            yield
        finally:
            with self._lock:
                self._users -= 1
                if not self._users:
                    self._stop.set()
            self._give_back()

    def _watch(self, stop: threading.Event) -> None:
        while not stop.wait(INTERVAL):
            self._give_back()

    def _give_back(self) -> None:
        """Give pages back if they are too many."""
        if resident_files() - self._before <= self._limit:
            return
        with self._lock:
            maps = list(self._maps)
        for array in maps:
            release(array)


def file_memory(limit: int) -> int:
    """Bytes of files that this process keeps in memory while it works within a memory limit.

    The system drops such pages by itself where memory is short, so that a share of the machine's may be theirs; what is
    dropped has to be read again, and fits on graphs of this size take twice as long. But a cluster that counts them as
    memory of its worker would end it.
    """
    worker = worker_memory()
    if worker is None:
        return max(limit, int(SHARE * (memory_here() or 0)))
    return min(limit, int(SHARE * max(0, worker - resident())))
