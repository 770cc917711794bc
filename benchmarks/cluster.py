"""Fits in blocks: seconds of each stage with one and two workers, memory of all processes, and bytes on disk.

    python benchmarks/cluster.py --nodes 65536 1048576
    python benchmarks/cluster.py --out-of-core 4194304      threads of one process, from Parquet files

Workers have one thread each and are on this machine; fits with one and with two take turns, and the quickest of each is
kept, which other programs have disturbed least. The graph has 10 edges and 20 of 50,000 features a node
(large_parts.py). Memory is what client, scheduler and workers have of their own, together, and the pages of files of
the one that has mapped most: they map the same ones. It is read off counters, ten times a second; a proportional set
size, for which the system goes through tables of all pages, would take much of the processor that a worker needs.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from pathlib import Path
from typing import Any

from measure import markdown, measured, updated, write

KEYS = ("nodes", "way", "walks", "dimensions", "solver")
STAGES = ("store", "prepare", "learn", "vectors", "train")


class Watched:
    """Memory of this process and all that descend from it, while the block runs."""

    def __init__(self) -> None:
        self.peak, self._stop = 0.0, threading.Event()

    def __enter__(self) -> Watched:
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._stop.set()
        self._thread.join()

    def _watch(self) -> None:
        import psutil

        while not self._stop.wait(0.1):
            own = psutil.Process()
            found = [_resident(process.pid) for process in [own, *own.children(recursive=True)]]
            anonymous, files = zip(*found, strict=True)
            self.peak = max(self.peak, sum(anonymous) + max(files))


def _resident(process: int) -> tuple[float, float]:
    """MiB that a process has of its own, and of files that it has mapped; 0 if it has ended."""
    try:
        text = Path(f"/proc/{process}/status").read_text()
    except OSError:
        return 0.0, 0.0
    found = {name: int(size) / 1024 for name, size in re.findall(r"^(Rss\w+):\s+(\d+) kB", text, re.MULTILINE)}
    return found.get("RssAnon", 0.0), found.get("RssFile", 0.0) + found.get("RssShmem", 0.0)


def stage_seconds(begin: dict[str, float], log: list[tuple[float, str]], end: float) -> dict[str, float]:
    """Seconds of each stage, by the moments at which their first and last blocks were reported."""
    seconds, last = dict.fromkeys(STAGES, 0.0), begin["fit"]
    for moment, stage in log:
        name = stage.partition(",")[0]
        name = {"deal nodes to shards": "prepare", "average": "train"}.get(name, name)
        seconds[name] = seconds.get(name, 0.0) + moment - last
        last = moment
    return {name: value for name, value in seconds.items() if value} | {"end": end - last}


def one(nodes: int, workers: int, solver: str, walks: int, dimensions: int, folder: str) -> dict[str, Any]:
    """Store the graph and fit a model; ``workers`` 0 means threads of this process."""
    import logging

    from hopscale import MUSAE, PMI, SGNS, fit_stored, store_graph
    from hopscale.compute.blocks import ThreadRunner
    from hopscale.compute.dask import DaskRunner

    warnings.simplefilter("ignore")
    log: list[tuple[float, str]] = []

    class Lines(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            log.append((time.perf_counter(), record.getMessage().partition(":")[0]))

    logging.getLogger("hopscale").addHandler(Lines())
    logging.getLogger("hopscale").setLevel(logging.INFO)
    chosen = (
        SGNS(walks_per_node=1, epochs=1) if solver == "sgns" else PMI(rows="sampled", walks=walks, memory_limit="1GiB")
    )
    model, data = MUSAE(dimensions, solver=chosen), Path(folder)
    record: dict[str, Any] = {"nodes": nodes, "solver": solver, "walks": walks, "dimensions": dimensions}
    record["way"] = "threads" if not workers else f"{workers} worker{'s' * (workers > 1)}"
    with tempfile.TemporaryDirectory(dir=folder) as place, Watched() as memory:
        cluster = None
        if workers:
            from distributed import LocalCluster

            settings = {"threads_per_worker": 1, "processes": True, "dashboard_address": None, "memory_limit": 0}
            cluster = LocalCluster(n_workers=workers, **settings)
        address = cluster.scheduler_address if cluster else None
        runner = DaskRunner(address) if address else ThreadRunner(model.n_jobs)
        stored, graph = measured(
            lambda: store_graph(data / "edges", data / "features", folder=f"{place}/graph", runner=runner)
        )
        del log[:]
        begin = time.perf_counter()
        fit_stored(model, graph, f"{place}/vectors", scheduler=address)
        end = time.perf_counter()
        size = {name: sum(path.stat().st_size for path in Path(place, name).iterdir()) for name in ("graph", "vectors")}
        if cluster:
            cluster.close()
    stages = {"store": stored, **stage_seconds({"fit": begin}, log, end)}
    return {**record, "seconds": end - begin, "stages": stages, "mib": memory.peak, "bytes": size, "rows": model.rows_}


def table(records: list[dict[str, Any]]) -> str:
    """A row a run."""
    rows = []
    for record in sorted(records, key=lambda record: (record["solver"], record["nodes"], record["way"])):
        stages = [f"{record['stages'].get(name, 0):.1f}" if name in record["stages"] else "" for name in STAGES]
        place = [f"{record['bytes'][name] / 2**20:,.0f}" for name in ("graph", "vectors")]
        lead = [record["solver"], f"{record['nodes']:,}", record["walks"], record["dimensions"], record["way"]]
        rows.append([*lead, *stages, f"{record['mib']:,.0f}", *place])
    units = [f"{name} (s)" for name in STAGES]
    header = [
        "solver",
        "nodes",
        "walks",
        "dimensions",
        "by",
        *units,
        "memory, all (MiB)",
        "graph (MiB)",
        "vectors (MiB)",
    ]
    return markdown(header, rows)


def main() -> None:
    """Measure, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, nargs="*", default=[2**16, 2**18, 2**20])
    parser.add_argument("--out-of-core", type=int)
    parser.add_argument("--walks", type=int, default=800)
    parser.add_argument("--dimensions", type=int, default=128)
    parser.add_argument("--solver", choices=["pmi", "sgns"], default="pmi")
    parser.add_argument("--repeat", type=int, default=3, help="fits with as many workers each")
    parser.add_argument("--one", nargs=6)
    given = parser.parse_args()
    if given.one:
        nodes, workers, solver, walks, dimensions, folder = given.one
        print(json.dumps(one(int(nodes), int(workers), solver, int(walks), int(dimensions), folder)))
        return
    sizes, ways = ([given.out_of_core], [0]) if given.out_of_core else (given.nodes, [1, 2])
    records = []
    for nodes in sizes:
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([sys.executable, Path(__file__).with_name("large_parts.py"), str(nodes), folder], check=True)
            found: dict[int, list[dict[str, Any]]] = {workers: [] for workers in ways}
            for workers in ways * given.repeat:
                arguments = map(str, ("--one", nodes, workers, given.solver, given.walks, given.dimensions, folder))
                command = [sys.executable, __file__, *arguments]
                done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
                found[workers].append(json.loads(done.stdout.strip().splitlines()[-1]))
            records += [min(each, key=lambda record: float(record["seconds"])) for each in found.values()]
    records = updated("cluster", records, KEYS)
    write("cluster", records, table(records))


if __name__ == "__main__":
    main()
