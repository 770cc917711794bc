"""Seconds and memory of sorting partitioned Parquet into a stored graph, on workers of one thread each.

    python benchmarks/stored_graph.py [--nodes N ...] [--limits LIMIT ...] [--workers N ...] [--data FOLDER]

Graphs are those of large_parts.py: 10 edges and 20 of 50,000 features a node. Each case runs in a fresh process with a
Dask cluster of fresh workers. Memory of a worker is its largest resident size less that before the work, when it has
imported all that it needs. Cases that are not measured keep the figures of an earlier run.
"""

from __future__ import annotations

import argparse
import json
import shutil
import tempfile
from pathlib import Path
from typing import Any

from hopscale.checks import memory_bytes
from hopscale.compute.dask import DaskRunner
from hopscale.stored import store_graph
from large_parts import write_parts
from measure import in_new_process, markdown, measured, peak_mib, resident_mib, updated, write

NODES, LIMITS, WORKERS = (1 << 18, 1 << 20, 1 << 22), ("256MiB", "1GiB"), (1, 2)
KEYS = ("nodes", "limit", "workers")


def one(folder: str, nodes: str, limit: str, workers: str) -> dict[str, Any]:
    """Store the graph whose parts are in a folder."""
    from distributed import Client, LocalCluster

    inputs = [Path(folder, name) for name in ("edges", "features")]
    output = Path(folder, "graph")
    shutil.rmtree(output, ignore_errors=True)
    with (
        LocalCluster(
            n_workers=int(workers), threads_per_worker=1, processes=True, dashboard_address=None, memory_limit=0
        ) as cluster,
        Client(cluster) as client,
    ):
        client.wait_for_workers(int(workers), timeout=60)
        before = client.run(start)
        runner = _Staged(client)
        seconds, graph = measured(lambda: store_graph(*inputs, folder=output, runner=runner, memory_limit=limit))
        after = client.run(peak_mib)
    return {
        "nodes": int(nodes),
        "limit": limit,
        "workers": int(workers),
        "seconds": seconds,
        "stages": runner.stages,
        "edges": graph.n_edges,
        "entries": graph.entries,
        "mib": max(after[worker] - before[worker] for worker in after),
        "parquet_mib": sum(_size(path) for path in inputs) / 2**20,
        "rows_mib": 16 * sum(_rows(path) for path in inputs) / 2**20,
        "stored_mib": _size(output) / 2**20,
    }


class _Staged(DaskRunner):
    """Notes the seconds of each stage."""

    def __init__(self, client: Any) -> None:
        super().__init__(client)
        self.stages: dict[str, float] = {}

    def run(self, stage: str, *rest: Any) -> list[Any]:
        self.stages[stage], results = measured(lambda: super(_Staged, self).run(stage, *rest))
        return results


def start() -> float:
    """Resident MiB of a worker that has imported what it needs; its peak is counted from here on."""
    import pyarrow.parquet  # noqa: F401

    import hopscale.stored.store  # noqa: F401

    Path("/proc/self/clear_refs").write_text("5")
    resident = resident_mib()
    assert resident is not None
    return resident


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def _rows(folder: Path) -> int:
    from pyarrow import parquet

    return sum(parquet.read_metadata(path).num_rows for path in folder.iterdir())


def table(records: list[dict[str, Any]]) -> str:
    """The records as a table."""
    header = ("nodes", "rows of the input, as two columns of 64 bits", "stored", "limit of a task", "workers")
    rows = []
    for record in sorted(
        records, key=lambda each: (each["nodes"], memory_bytes("limit", each["limit"]), each["workers"])
    ):
        sizes = [f"{record[name] / 1024:.2f} GiB" for name in ("rows_mib", "stored_mib")]
        figures = f"{record['seconds']:.0f}", f"{record['mib']:.0f} MiB"
        rows.append((f"2^{record['nodes'].bit_length() - 1}", *sizes, record["limit"], record["workers"], *figures))
    return markdown((*header, "seconds", "peak memory of a worker"), rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--one", nargs=4, metavar=("FOLDER", "NODES", "LIMIT", "WORKERS"))
    parser.add_argument("--nodes", type=int, nargs="+", default=NODES)
    parser.add_argument("--limits", nargs="+", default=LIMITS)
    parser.add_argument("--workers", type=int, nargs="+", default=WORKERS)
    parser.add_argument("--data", type=Path, help="folder for the parts, which are kept there")
    options = parser.parse_args()
    if options.one:
        print(json.dumps(one(*options.one)))
        return
    for nodes in options.nodes:
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(options.data or temporary, str(nodes))
            if not folder.exists():
                write_parts(nodes, folder)
            for limit in options.limits:
                for workers in options.workers:
                    record = in_new_process(__file__, str(folder), str(nodes), limit, str(workers))
                    records = updated("stored_graph", [record], KEYS)
                    write("stored_graph", records, table(records))


if __name__ == "__main__":
    main()
