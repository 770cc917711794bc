"""Memory of this process, of its worker and of the machine, as far as the system tells."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["memory_here", "resident", "resident_files", "worker_memory"]

_STATISTICS = Path("/proc/self/statm")


def resident() -> int:
    """Bytes of memory that this process takes; 0 where the system does not tell."""
    return _statistic(1)


def resident_files() -> int:
    """Those of them that are pages of files."""
    return _statistic(2)


def _statistic(place: int) -> int:
    try:
        return int(_STATISTICS.read_text().split()[place]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0


def worker_memory() -> int | None:
    """The memory limit of the worker of a cluster that this is, for each of its threads; None elsewhere."""
    try:
        from distributed import get_worker

        worker = get_worker()
        limit, threads = worker.memory_manager.memory_limit, worker.state.nthreads
    except (ImportError, ValueError, AttributeError):
        return None
    return int(limit) // max(1, threads) if limit else None


def memory_here() -> int | None:
    """Bytes of this machine's memory; None where the system does not say."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # not on Windows
        return None
