"""Dask clusters of real processes on this machine; the fixtures ``cluster`` and ``client`` are in conftest."""

from __future__ import annotations

from contextlib import contextmanager, suppress

LIMIT = 120.0  # seconds that anything may take at most


@contextmanager
def local_cluster(workers: int = 1, memory_limit: int | str = 0):
    """Workers of one thread each, with a limit of memory or without."""
    from distributed import LocalCluster

    settings = {"threads_per_worker": 1, "processes": True, "dashboard_address": None}
    cluster = LocalCluster(n_workers=workers, memory_limit=memory_limit, **settings)
    try:
        yield cluster
    finally:
        # Dask asserts that all workers have closed; those that a test has killed may be starting again just now.
        with suppress(Exception):
            cluster.close()


@contextmanager
def connected(cluster):
    """A client of a cluster all of whose workers are there."""
    from distributed import Client

    with Client(cluster, timeout=LIMIT, set_as_default=False) as client:
        client.wait_for_workers(len(cluster.workers), timeout=LIMIT)
        yield client


def scaled(cluster, client, workers: int) -> None:
    """Have so many workers."""
    cluster.scale(workers)
    client.wait_for_workers(workers, timeout=LIMIT)
