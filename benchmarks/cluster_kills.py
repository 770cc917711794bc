"""Fits on a Dask cluster, one of whose workers is killed at a random moment: are the vectors those of one machine?

    python benchmarks/cluster_kills.py --runs 20

Two workers of one thread each, on this machine; the nanny starts another one in place of the one that was killed. The
moment is uniform over the seconds that a fit without a kill took; a fit that ends before it has none, and the table
counts those that had one.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from hopscale import AE, MUSAE, PMI, SGNS, StoredGraph, fit_stored
from hopscale.cluster import plan
from hopscale.exceptions import HopscaleWarning
from large_graph import large_graph
from measure import markdown, measured, write

NODES = 2048
MODELS = {
    "pmi": lambda: MUSAE(16, solver=PMI(rows="sampled", walks=20, memory_limit="16MiB")),
    "sgns": lambda: AE(16, self_scale=False, solver=SGNS(walk_length=8, walks_per_node=1, epochs=1)),
}


@contextmanager
def cluster(folder: Path) -> Iterator[Any]:
    """A client of a scheduler and two workers, each a process whose nanny starts it again when it is killed."""
    from distributed import Client

    file = str(folder / "scheduler.json")
    module = [sys.executable, "-m", "distributed.cli.dask_"]
    parts = {
        "scheduler": ["--host", "127.0.0.1", "--port", "0", "--no-dashboard"],
        "worker": ["--nworkers", "2", "--nthreads", "1", "--memory-limit", "0", "--no-dashboard"],
    }
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    processes = [
        subprocess.Popen([*module[:-1], module[-1] + part, *options, "--scheduler-file", file], cwd=folder, **quiet)
        for part, options in parts.items()
    ]
    try:
        while not Path(file).exists():
            time.sleep(0.1)
        with Client(scheduler_file=file, timeout=60, set_as_default=False) as client:
            yield client
    finally:
        for process in reversed(processes):
            process.terminate()
            process.wait(60)


def vectors_in(folder: Path) -> np.ndarray:
    """Vectors of all parts."""
    from pyarrow import parquet

    table = parquet.read_table(folder)
    return np.column_stack([table.column(name).to_numpy() for name in table.column_names[1:]])


def one(name: str, folder: Path, client: Any, expected: np.ndarray, seconds: float, seed: int) -> dict[str, Any]:
    """A fit during which a worker is killed."""
    chance, done, killed = random.Random(seed), threading.Event(), []
    moment = chance.uniform(0, seconds)

    def kill() -> None:
        pids = sorted(client.run(os.getpid).values())
        if not done.wait(moment):
            killed.append(chance.choice(pids))
            os.kill(killed[0], signal.SIGKILL)

    client.wait_for_workers(2, timeout=120)
    killer = threading.Thread(target=kill)
    output = folder / f"{name}-{seed}"
    killer.start()
    took, _ = measured(lambda: fit_stored(MODELS[name](), folder / "graph", output, scheduler=client))
    done.set()
    killer.join()
    same = bool(np.array_equal(vectors_in(output), expected))
    return {"solver": name, "run": seed, "moment": moment, "killed": bool(killed), "seconds": took, "same_bits": same}


def main() -> None:
    """Measure, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=20)
    runs = parser.parse_args().runs
    warnings.simplefilter("ignore", HopscaleWarning)
    plan.PAIRS, plan.COPY = 12e3, 0.0  # so that a round of so small a graph has several tasks
    records: list[dict[str, Any]] = []
    graph = large_graph(NODES)
    with tempfile.TemporaryDirectory() as place, cluster(Path(place)) as client:
        folder = Path(place)
        StoredGraph.save(graph, folder / "graph")
        client.wait_for_workers(2, timeout=120)
        for name, make in MODELS.items():
            expected = make().fit(graph).embedding_
            for time_ in range(2):  # workers import hopscale in the first one
                output = folder / f"{name}-whole-{time_}"
                seconds, _ = measured(
                    lambda name=name, output=output: fit_stored(
                        MODELS[name](), folder / "graph", output, scheduler=client
                    )
                )
            for seed in range(runs):
                records.append(one(name, folder, client, expected, seconds, seed))
                print(time.strftime("%H:%M:%S"), records[-1], flush=True)
    rows = []
    for name in MODELS:
        own = [record for record in records if record["solver"] == name]
        hit = [record for record in own if record["killed"]]
        rows.append((name, len(own), len(hit), sum(record["same_bits"] for record in own)))
    write("cluster_kills", records, markdown(["solver", "fits", "with a killed worker", "with the same bits"], rows))


if __name__ == "__main__":
    main()
