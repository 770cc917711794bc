"""What the solvers' phases reach of what this machine can do: bandwidth, rows in random order, multiply-adds, sgemm.

Peaks are measured by roofline_peaks.cpp, which is compiled here, and by NumPy's sgemm. A phase tells how much it did in
a second and how many multiply-adds, rows and bytes that took; its bound is the resource that it uses the largest share
of. Peaks and phases take turns, and the best of all turns counts; seconds are of processor time, over the number
of threads: other programs only ever slow them down.

    HOPSCALE_DATA=... python benchmarks/roofline.py [--turns 3]
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from threadpoolctl import threadpool_limits

from hopscale import AttributedGraph, load
from hopscale._core import _native
from hopscale.compute import Threads
from hopscale.compute.aligned import aligned_zeros, padded
from hopscale.compute.svd import OVERSAMPLING
from hopscale.compute.threads import kernel_csr, ranges
from hopscale.solvers import SGNS
from hopscale.solvers.sgns import BATCH, SHARED_WEIGHT
from hopscale.walks import Scale, Transitions, WalkContext
from hopscale.walks.sampling import RowSampler
from large_graph import large_graph
from measure import markdown, write

CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
THREADS = sorted({1, CORES})
SIDE = 1024  # of a square matrix
DIMENSIONS = 32

Record = dict[str, Any]


def peaks(program: Path) -> Iterator[Record]:
    """What the machine does in a second."""
    done = subprocess.run([program, *map(str, THREADS)], capture_output=True, text=True, check=True)
    yield from json.loads(done.stdout)[:-1]
    x = np.ones((SIDE, SIDE), dtype=np.float32)
    for threads in THREADS:
        with threadpool_limits(threads):
            seconds = min(processor_seconds(lambda: x @ x)[0] for _ in range(5)) / threads
        yield {"what": "sgemm", "threads": threads, "bytes": 3 * x.nbytes, "per_second": 2 * SIDE**3 / seconds}


def processor_seconds(function: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds of all threads of a call, and its result."""
    start = time.process_time()
    result = function()
    return time.process_time() - start, result


def compiled(folder: Path) -> Path:
    source, program = Path(__file__).with_name("roofline_peaks.cpp"), folder / "peaks"
    compiler = os.environ.get("CXX", "c++")
    subprocess.run([compiler, "-std=c++17", "-O3", "-march=native", "-pthread", source, "-o", program], check=True)
    return program


# Phases: each yields what it did in a second, and what a unit of that takes: operations, of which a multiply-add is
# two, and rows of 64, 128 or 256 bytes, read or updated in random order, from a table of so many bytes.


def phase(name: str, threads: int, units: float, seconds: float, **takes: Any) -> Record:
    """So many units in seconds of processor time of all threads."""
    return {"phase": name, "threads": threads, "per_second": units / seconds * threads, **takes}


def sgns_phase(name: str, graph: AttributedGraph) -> Iterator[Record]:
    """Pairs of the skip-gram kernel, rounds and averages included, at one hop."""
    context = WalkContext(Transitions(graph.adjacency), graph.features)
    solver = SGNS(walks_per_node=1, walk_length=53, epochs=1)
    rows = 1 + round(BATCH * solver.negatives / SHARED_WEIGHT) / BATCH  # of features that a pair updates
    for threads in THREADS:
        with Threads(threads) as engine:
            scale = Scale((1,), DIMENSIONS)
            fit = partial(solver.fit, context, [scale], engine, 0)
            seconds, (solution,) = processor_seconds(fit)
        found = re.match(r"[\d,]+", solution.rows)
        assert found
        yield phase(
            f"sgns: pairs, {name}",
            threads,
            int(found[0].replace(",", "")),
            seconds,
            operations=6 * DIMENSIONS * rows,  # the product, the node's step and the feature's
            rows=rows,
            kind="rows updated",
            row=4 * DIMENSIONS,
            table_bytes=context.n_features * 4 * DIMENSIONS,
        )


PANEL, PART = 256, 128  # columns of a panel, and of a part of it that a pass over the edges reads
COLUMN = 10_000  # the first of a panel whose features are neither the commonest nor the rarest
LOG = 20  # operations of a logarithm


class Hops:
    """The kernels of a sweep on one graph, a panel of columns at a time, by threads that share the rows."""

    def __init__(self, name: str, graph: AttributedGraph) -> None:
        self.name, self.graph, self.n = name, graph, graph.n_nodes
        self.edges, self.features = graph.adjacency.nnz, sp.csc_array(graph.features)
        self.kernel, self.columns = Transitions(graph.adjacency).kernel, kernel_csr(self.features)
        self.bits = aligned_zeros(self.n * PANEL // 32, 16).reshape(-1).view(np.uint16).reshape(-1, self.n, PART)
        self.factors = np.ones(graph.n_features, dtype=np.float32)
        degrees = np.diff(graph.adjacency.indptr)
        seen = graph.features.T @ (degrees / degrees.sum())
        self.scale = (1.0 / seen[COLUMN : COLUMN + PANEL]).astype(np.float32)
        self.x = np.random.default_rng(0).standard_normal((PANEL, DIMENSIONS), dtype=np.float32)
        self.y = aligned_zeros(self.n, DIMENSIONS)

    def run(self, threads: int, kernel: Any, **given: Any) -> float:
        """Processor seconds of a kernel over the rows of all nodes."""
        pieces = ranges(self.n, -(-self.n // (16 * threads)))
        with Threads(threads) as engine:
            return processor_seconds(lambda: engine.run(lambda piece: kernel(self.kernel, *piece, **given), pieces))[0]

    def phases(self) -> Iterator[Record]:
        first = partial(_native.first_panel, self.kernel, self.columns, COLUMN, COLUMN + PANEL, self.factors)
        seconds, panel = processor_seconds(first)
        holders = self.features[:, COLUMN : COLUMN + PANEL].indices
        ways = int(np.diff(self.graph.adjacency.indptr)[holders].sum())
        place = {"kind": "rows updated", "row": 64, "table_bytes": 8 * self.n}
        yield phase(f"pmi: first hop, steps, {self.name}", 1, ways, seconds, operations=2, rows=1, **place)
        sparse = _native.Panels([panel], self.n, PANEL)
        for threads in THREADS:
            yield from self.second_hop(threads, sparse, len(panel[2]))
            seconds = sum(self.run(threads, _native.one_hop, dense=self.bits, first=c, width=PART) for c in (0, PART))
            rows = {"rows": 1, "kind": "rows read", "row": 2 * PART, "table_bytes": 2 * PART * self.n / threads}
            yield phase(
                f"pmi: later hops, edges, {self.name}", threads, 2 * self.edges, seconds, operations=PART, **rows
            )

    def second_hop(self, threads: int, sparse: Any, entries: int) -> Iterator[Record]:
        seconds = self.run(threads, _native.one_hop, sparse=sparse, out=self.bits, width=PANEL)
        table = (4 * self.n + 5 * entries) / threads
        # A place in the list of rows, and one in each of columns and values.
        rows = {"rows": 3, "kind": "rows read", "row": 64, "table_bytes": table}
        met = self.graph.adjacency @ np.diff(self.features[:, COLUMN : COLUMN + PANEL].tocsr().indptr)
        each = 2 * float(met @ np.diff(self.graph.adjacency.indptr)) / self.edges  # at most: some are met twice
        yield phase(f"pmi: second hop, edges, {self.name}", threads, self.edges, seconds, operations=each, **rows)


def hops_phase(name: str, nodes: int) -> Iterator[Record]:
    yield from Hops(name, large_graph(nodes)).phases()


def product_phase() -> Iterator[Record]:
    """Positive logarithms and their product with features' vectors: hops along one edge, in the nearest cache."""
    n, random = 4096, np.random.default_rng(0)
    pairs = sp.csr_array((np.ones(n, np.float32), np.arange(n) ^ 1, np.arange(n + 1)), shape=(n, n))
    graph, bits = Transitions(pairs).kernel, random.uniform(0, 2, (1, n, PART)).astype(np.float16).view(np.uint16)
    scale, x = np.full(PART, 0.7, dtype=np.float32), random.standard_normal((PART, DIMENSIONS), dtype=np.float32)
    y, turns = aligned_zeros(n, DIMENSIONS), 40
    positive = turns * int((bits.view(np.float16).astype(np.float32) * scale > 1).sum())
    table = {"rows": 1, "kind": "rows read", "row": 4 * DIMENSIONS, "table_bytes": x.nbytes}

    def one(rows: tuple[int, int]) -> None:
        for _ in range(turns):
            _native.one_hop(graph, *rows, width=PART, dense=bits, scale=scale, x=x, y=y)

    for threads in THREADS:
        with Threads(threads) as engine:
            seconds, _ = processor_seconds(partial(engine.run, one, ranges(n, n // threads)))
        operations = 2 * DIMENSIONS + LOG
        yield phase("pmi: logarithm and product, entries", threads, positive, seconds, operations=operations, **table)


def sampled_phases(rows: int = 2048) -> Iterator[Record]:
    """Rows from walks, and what factorising them takes."""
    context = WalkContext(Transitions((graph := large_graph(2**17)).adjacency), graph.features)
    scale, n, q = Scale((2,), DIMENSIONS), graph.n_nodes, graph.n_features
    probability = context.feature_probability(scale)
    scaling = np.divide(1.0, probability, out=np.zeros(q), where=probability > 0).astype(np.float32)
    width, name = padded(DIMENSIONS + OVERSAMPLING), "2¹⁷ nodes"
    for threads in THREADS:
        with Threads(threads) as engine:
            engine.memory = 2**32
            sampler = RowSampler(context, scale, scaling, 800, 0, engine)
            chosen = np.linspace(0, n - 1, rows).astype(np.int32)
            seconds, matrix = processor_seconds(partial(sampler._matrix, chosen))
            met = 800 * graph.features.nnz / n * rows
            seen = {"rows": 1, "kind": "rows updated", "row": 64, "table_bytes": 8 * q}
            yield phase(f"pmi: sampled rows, features met, {name}", threads, met, seconds, operations=2, **seen)
            x = engine.normal(q, width, np.random.default_rng(0))
            y = matrix @ x
            near = {"rows": 1, "kind": "rows read", "row": 128, "table_bytes": 4 * PANEL * width}
            units, each = matrix.entries, 2 * width
            seconds, _ = processor_seconds(partial(matrix.__matmul__, x))
            yield phase("pmi: products M·x, entries", threads, units, seconds, operations=each, **near)
            seconds, _ = processor_seconds(partial(matrix.T.__matmul__, y))
            near["kind"] = "rows updated"
            yield phase("pmi: products Mᵀ·y, entries", threads, units, seconds, operations=each, **near)
            # Double precision has half as many lanes: each operation counts twice.
            none = {"rows": 0, "kind": "rows read", "row": 64, "table_bytes": 0}
            seconds, _ = processor_seconds(partial(engine.gram, x, x))
            yield phase("pmi: Gram matrix, rows", threads, q, seconds, operations=4 * width * width, **none)
            seconds, _ = processor_seconds(partial(engine.matmul, x, np.eye(width, dtype=np.float32)))
            yield phase("pmi: orthonormal basis, rows", threads, q, seconds, operations=2 * width * width, **none)


PHASES: list[Callable[[], Iterator[Record]]] = [
    lambda: sgns_phase("facebook", load("facebook")),
    lambda: sgns_phase("2¹⁷ nodes", large_graph(2**17)),
    lambda: hops_phase("2¹⁷ nodes", 2**17),
    lambda: hops_phase("2²⁰ nodes", 2**20),
    product_phase,
    sampled_phases,
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=3)
    options = parser.parse_args()
    found: list[Record] = []
    with tempfile.TemporaryDirectory() as folder:
        program = compiled(Path(folder))
        for _ in range(options.turns):
            found += peaks(program)
            for phase in PHASES:
                found += phase()
    records = best(found)
    write("roofline", records, table(records))


def best(records: list[Record]) -> list[Record]:
    """The fastest of all turns."""
    kept: dict[tuple[Any, ...], Record] = {}
    for record in records:
        key = tuple(record.get(name) for name in ("what", "phase", "threads", "bytes", "row"))
        if key not in kept or record["per_second"] > kept[key]["per_second"]:
            kept[key] = record
    return list(kept.values())


def table(records: list[Record]) -> str:
    """Peaks, and what each phase reaches of them."""
    reached = [record for record in records if "what" in record]
    units = {"read": ("GB/s", 1e9), "rows read": ("M rows/s", 1e6), "rows updated": ("M rows/s", 1e6)}
    rows = []
    for what, row, size in dict.fromkeys((peak["what"], peak.get("row", 0), peak["bytes"]) for peak in reached):
        unit, scale = units.get(what, ("Gflop/s", 1e9))
        where = f", {row} bytes each, from {size / 1e6:.1f} MB a thread" if row else ""
        same = [peak for peak in reached if (peak["what"], peak.get("row", 0), peak["bytes"]) == (what, row, size)]
        rates = {peak["threads"]: peak["per_second"] for peak in same}
        rows.append([what + where, unit, *(f"{rates[threads] / scale:.1f}" for threads in THREADS)])
    header = ["peak", "unit", *(f"{threads} thread{'s' if threads > 1 else ''}" for threads in THREADS)]
    shown = []
    for record in records:
        if "phase" in record:
            shares = shares_of_peaks(record, reached)
            bound = max(shares, key=lambda name: shares[name])
            percent = [f"{share:.0%}" if share else "" for share in shares.values()]
            if bound.startswith("rows"):
                bound = f"{record['kind']}, {record['row']} bytes each"
            shown.append([record["phase"], record["threads"], f"{record['per_second'] / 1e6:.1f}", *percent, bound])
    of_phases = ["phase", "threads", "M/s", "of multiply-adds", "of rows", "bound"]
    return markdown(header, rows) + "\n\n" + markdown(of_phases, shown)


def shares_of_peaks(record: Record, reached: list[Record]) -> dict[str, float]:
    """How much of each peak a phase uses. Rows are those of the smallest table that is as large as the phase's."""
    here = [peak for peak in reached if peak["threads"] == record["threads"]]
    flops = next(peak["per_second"] for peak in here if peak["what"] == "multiply-adds")
    like = [peak for peak in here if (peak["what"], peak.get("row")) == (record["kind"], record["row"])]
    sizes = sorted((peak["bytes"], peak["per_second"]) for peak in like)
    moved = next((rate for size, rate in sizes if size >= record["table_bytes"]), sizes[-1][1])
    return {
        "multiply-adds": record["per_second"] * record["operations"] / flops,
        "rows": record["per_second"] * record["rows"] / moved,
    }


if __name__ == "__main__":
    main()
