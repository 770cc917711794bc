"""How time and memory of both solvers grow with the graph: MUSAE on generated graphs of 2¹⁴ to 2²⁰ nodes.

Each fit runs in a process of its own. Memory is the largest resident size during the fit less that before it, the
vectors included. Blocks are told by logistic regression on the vectors of at most 2¹⁵ nodes, one split. The sampled
solver visits each node about 100 times. Loading is reading the same graph from Parquet and from CSV, edges, features
and labels. How far the progress bar is to be trusted: at a quarter, half and three quarters of the time of a fit, the
remaining time that it shows over what remains in truth; the worst of the three. Where other programs run on the same
cores, seconds are as long as these leave them, and processor seconds, of all threads, are the figure to compare.

    python benchmarks/scaling.py [--sizes 14 17 20] [--solvers pmi sgns] [--threads 2] [--loading 20]
"""

from __future__ import annotations

import argparse
import io
import json
import re
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

from hopscale import MUSAE, PMI, SGNS, read_graph
from hopscale.compute import progress
from hopscale.exceptions import HopscaleWarning
from hopscale.tasks import evaluate, summarize
from large_graph import large_graph
from large_graph import write as write_graph
from measure import in_new_process, markdown, measured, peak_mib, resident_mib, updated, write

SIZES = (14, 15, 16, 17, 18, 19, 20)
SOLVERS = {
    "pmi": PMI(),
    "pmi, sampled": PMI(rows="sampled"),
    "pmi, held": PMI(rows="exact", memory_limit="64GiB"),
    "sgns": SGNS(walks_per_node=1, walk_length=53, epochs=1),
}
SCORED = 2**15


class Estimates:
    """What the progress bar says, as the fit goes on."""

    def __init__(self) -> None:
        self.seen: list[tuple[float, float]] = []  # seconds since the start, seconds that are left as shown
        self._begin = time.perf_counter()

    def watch(self, bar: Any) -> None:
        shown = bar.format_dict
        rate = shown["rate"] or (shown["n"] / shown["elapsed"] if shown["elapsed"] else 0.0)
        if rate and shown["total"]:
            self.seen.append((time.perf_counter() - self._begin, (shown["total"] - shown["n"]) / rate))

    def worst(self, seconds: float) -> float | None:
        """The largest ratio of what was shown and what was true, either way round."""
        ratios = []
        for share in (0.25, 0.5, 0.75):
            before = [left for at, left in self.seen if at <= share * seconds]
            if before:
                ratio = before[-1] / ((1 - share) * seconds)
                ratios.append(max(ratio, 1 / max(ratio, 1e-9)))
        return max(ratios, default=None)


def one(solver: str, size: str, jobs: str) -> dict[str, Any]:
    graph = large_graph(2 ** int(size))
    Path("/proc/self/clear_refs").write_text("5")  # forget the largest resident size so far
    before = resident_mib()
    estimates = Estimates()

    class Watched(tqdm):  # type: ignore[type-arg]
        """A bar that is drawn nowhere, and tells what it would show."""

        def __init__(self, **settings: Any) -> None:
            super().__init__(**{**settings, "disable": False, "file": io.StringIO()})

        def update(self, n: float | None = 1) -> Any:
            found = super().update(n)
            estimates.watch(self)
            return found

    progress.tqdm = Watched  # type: ignore[misc]
    model = MUSAE(solver=SOLVERS[solver], n_jobs=int(jobs), random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HopscaleWarning)
        begin = time.process_time()
        seconds, _ = measured(lambda: model.fit(graph))
        processor = time.process_time() - begin
    peak = peak_mib()
    assert peak is not None
    assert before is not None
    some = np.random.default_rng(0).permutation(graph.n_nodes)[:SCORED]
    assert graph.labels is not None
    score = summarize(evaluate(model.embedding_[some], graph.labels[some], splits=1))["micro_f1"]["mean"]
    return {
        "solver": solver,
        "size": int(size),
        "threads": int(jobs),
        "seconds": seconds,
        "processor_seconds": processor,
        "memory_mib": peak - before,
        "peak_mib": peak,
        "micro_f1": score,
        "bar": estimates.worst(seconds),
        "rows": model.rows_["3"],
    }


def loading(size: int) -> dict[str, Any]:
    """Seconds that reading the graph takes, from both kinds of file."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_graph(large_graph(2**size), folder)
        found = {}
        for kind in ("parquet", "csv"):
            files = {part: folder / f"{part}.{kind}" for part in ("edges", "features", "labels")}
            found[kind] = measured(lambda files=files: read_graph(**files))[0]
    return {"solver": "loading", "size": size, "threads": 1, **found}


def slope(records: list[dict[str, Any]], key: str) -> float:
    """Of the logarithm against that of the number of nodes, by least squares."""
    return float(np.polyfit([r["size"] for r in records], np.log2([r[key] for r in records]), 1)[0])


def table(records: list[dict[str, Any]]) -> str:
    rows = []
    fits = [r for r in records if r["solver"] != "loading"]
    for solver, jobs in dict.fromkeys((r["solver"], r["threads"]) for r in fits):
        mine = sorted((r for r in fits if (r["solver"], r["threads"]) == (solver, jobs)), key=lambda r: r["size"])
        for r in mine:
            words = re.sub(r"[\d,]+ (of|positive|pairs)", r"… \1", r["rows"])
            bar = "–" if not r["bar"] else f"{r['bar']:.1f} ×" if r["bar"] < 10 else "over 10 ×"
            times = [f"{r['seconds']:.1f}", f"{r['processor_seconds']:.1f}"]
            figures = [*times, f"{r['memory_mib']:.0f}", f"{r['micro_f1']:.3f}", bar, words]
            rows.append([solver, f"2^{r['size']}", str(jobs), *figures])
        if len(mine) > 2:
            slopes = [f"slope {slope(mine, key):.2f}" for key in ("seconds", "processor_seconds", "memory_mib")]
            rows.append([solver, "all", str(jobs), *slopes, "", "", ""])
    for r in (r for r in records if r["solver"] == "loading"):
        words = f"{r['parquet']:.1f} from Parquet, {r['csv']:.1f} from CSV"
        rows.append(["loading", f"2^{r['size']}", "1", words, "", "", "", "", ""])
    header = ["solver", "nodes", "threads", "seconds", "processor seconds", "MiB above the graph", "blocks told"]
    return markdown([*header, "remaining time", "rows"], rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--solvers", nargs="*", default=("pmi", "sgns"), choices=list(SOLVERS))
    parser.add_argument("--threads", type=int, nargs="+", default=(2,))
    parser.add_argument("--loading", type=int, nargs="*", default=(), help="sizes of graphs to load")
    parser.add_argument("--name", default="scaling", help="of the result file")
    parser.add_argument("--one", nargs=3, metavar=("SOLVER", "SIZE", "THREADS"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(one(*options.one)))
        return
    cases = [(solver, size, jobs) for size in options.sizes for solver in options.solvers for jobs in options.threads]
    records: list[dict[str, Any]] = []
    for case in cases:
        records.append(in_new_process(__file__, *map(str, case)))
        keep(options.name, records)  # after each: a run that is stopped keeps what it has measured
    for size in options.loading:
        records.append(loading(size))
        keep(options.name, records)


def keep(name: str, records: list[dict[str, Any]]) -> None:
    known = updated(name, records, ("solver", "size", "threads"))
    known.sort(key=lambda r: (r["solver"], r["threads"], r["size"]))
    write(name, known, table(known))


if __name__ == "__main__":
    main()
