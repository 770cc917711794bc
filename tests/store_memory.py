"""Memory that the external sort takes, in a process of its own.

python store_memory.py write FOLDER KIND           writes edges in parts, a few and many
python store_memory.py store FOLDER LIMIT          prints the peak above what the process starts with, in bytes
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from hopscale.stored import store_graph

ROWS, PARTS = 400_000, 8


def write(folder: Path, kind: str, rows: int, parts: int) -> None:
    """Random edges in parts; most nodes are distinct."""
    random = np.random.default_rng(0)
    folder.mkdir()
    for part in range(parts):
        ends = random.integers(0, 10**6, (2, rows))
        columns = [pa.array(end) if kind == "whole" else pa.array([f"node {each}" for each in end]) for end in ends]
        pq.write_table(pa.table(columns, ["source", "target"]), folder / f"{part}.parquet", row_group_size=100_000)


def resident(what: str) -> int:
    """Bytes that the system counts for this process."""
    [line] = [line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith(what)]
    return 1024 * int(line.split()[1])


def store(folder: Path, limit: str) -> int:
    """Store the small graph, by which everything is imported, and then the large one."""
    os.fsync = lambda descriptor: None  # many small files would wait for the disk most of the time
    store_graph(folder / "small", folder=folder / "small-graph", memory_limit=limit)
    before = resident("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")
    store_graph(folder / "large", folder=folder / "large-graph", memory_limit=limit)
    return resident("VmHWM") - before


if __name__ == "__main__":
    if sys.argv[1] == "write":
        write(Path(sys.argv[2], "small"), sys.argv[3], 1000, 1)
        write(Path(sys.argv[2], "large"), sys.argv[3], ROWS, PARTS)
    else:
        print(store(Path(sys.argv[2]), sys.argv[3]))
