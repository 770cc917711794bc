"""The costs of kinds of work, fitted to measured fits, and how well they predict others.

Each fit runs in a process of its own, on one thread and on two. Seconds on one are those of the processor, so that
other programs count for less; on two they are those of the clock, and nothing else may run. Seconds of stages are those
under the progress bars; what is left is bringing the graph into form. Work is counted from the graph
(``hopscale.planning``), and the seconds of each kind are found by non-negative least squares of relative errors on the
stages of fits on one thread. The share that a second thread does not speed up comes from the ratios of these fits on
two threads and on one, that of sixteen threads from the records of ``scaling_threads``. Fits of sizes and shapes that
took no part are then predicted, with the sampled rows of the graph and by counts alone. Costs of a GPU are fitted to
the records of ``gpu_speed``.

    HOPSCALE_DATA=... python benchmarks/cost_model.py [--cases NAME ...] [--fit-only]

Writes ``src/hopscale/solvers/costs.json`` too.
"""

from __future__ import annotations

import argparse
import json
import re
import tempfile
import time
import warnings
from collections import defaultdict
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import nnls

import hopscale
from hopscale import AE, MUSAE, PMI, SGNS, AttributedGraph, DeepWalk, Walklets, read_graph
from hopscale.checks import memory_bytes
from hopscale.compute import Threads
from hopscale.compute.blocks import ThreadRunner
from hopscale.exceptions import HopscaleError, HopscaleWarning
from hopscale.paper.machine import machine
from hopscale.planning.blocks import block_stages
from hopscale.planning.machine import Machine, calibration_seconds
from hopscale.planning.rows import MeasuredRows
from hopscale.planning.sizes import GraphSize, size_of
from hopscale.planning.stages import outlined
from hopscale.solvers.costs import GPU_KINDS, KINDS, SERIAL, CostModel, gpu_work, read_cost_model
from hopscale.stored.store import store_graph
from large_graph import large_graph
from large_graph import write as write_graph
from measure import RESULTS, in_new_process, markdown, measured, peak_mib, resident_mib, updated, write

COSTS = Path(__file__).resolve().parent.parent / "src" / "hopscale" / "solvers" / "costs.json"
SHORT = 0.02  # seconds of a stage, below which it tells little
LITTLE = {"walks_per_node": 1, "epochs": 1}


def generated(**counts: int) -> dict[str, Any]:
    return counts


# Name: what the graph is, the model, and whether it is fitted; others are predicted.
CASES: dict[str, tuple[dict[str, Any], Any, bool]] = {
    "held": (generated(nodes=2**13, features=4000), MUSAE(), True),
    "held, pooled": (generated(nodes=2**13, features=16000), AE(), True),
    "held, sparse": (generated(nodes=2**14, features=8000, edges=5, entries=10), MUSAE(64), True),
    "held, nodes": (generated(nodes=2**13, features=64), DeepWalk(), True),
    "held, wide": (generated(nodes=2**15, features=1000, edges=3, entries=3), MUSAE(256), True),
    "streamed": (generated(nodes=2**15, features=8000), MUSAE(solver=PMI(memory_limit="512MB")), True),
    "streamed, pooled": (generated(nodes=2**16, features=4000, edges=5), AE(solver=PMI(memory_limit="256MB")), True),
    "sampled": (generated(nodes=2**14, features=50000), MUSAE(solver=PMI(rows="sampled")), True),
    "sampled, few walks": (
        generated(nodes=2**15, features=8000, edges=5, entries=10),
        MUSAE(64, window=2, solver=PMI(rows="sampled", walks=300)),
        True,
    ),
    "sampled, nodes": (generated(nodes=2**14, features=64), Walklets(64, solver=PMI(rows="sampled")), True),
    "sgns": (generated(nodes=2**13, features=4000), MUSAE(solver=SGNS(walk_length=33, **LITTLE)), True),
    "sgns, sparse": (
        generated(nodes=2**15, features=16000, edges=5, entries=10),
        MUSAE(64, solver=SGNS(walk_length=23, **LITTLE)),
        True,
    ),
    "sgns, narrow": (generated(nodes=2**14, features=50000), AE(32, solver=SGNS(walk_length=23, **LITTLE)), True),
    # Few features and long vectors, so that numbers that are updated can be told from those that are averaged.
    "sgns, wide": (generated(nodes=2**13, features=1000), AE(512, solver=SGNS(walk_length=13, **LITTLE)), True),
    "sgns, wider": (generated(nodes=2**14, features=4000), MUSAE(1024, solver=SGNS(walk_length=13, **LITTLE)), True),
    "another size": (generated(nodes=2**17), MUSAE(), False),
    "another size, sgns": (generated(nodes=2**16), MUSAE(solver=SGNS(walk_length=53, **LITTLE)), False),
    "another shape": (
        generated(nodes=2**15, features=2000, edges=25, entries=5),
        AE(96, solver=PMI(memory_limit="8GiB")),
        False,
    ),
    "another shape, sampled": (
        generated(nodes=2**14, features=20000, edges=20, entries=40),
        MUSAE(96, window=2, solver=PMI(rows="sampled", walks=500)),
        False,
    ),
    "facebook": ({"load": "facebook"}, MUSAE(), False),
    "facebook, sgns": ({"load": "facebook"}, MUSAE(solver=SGNS(walk_length=33, **LITTLE)), True),
}
# Fits in blocks, which are measured stage by stage on one thread: they tell of stages that others have not.
BLOCKS: dict[str, tuple[dict[str, Any], Any]] = {
    "blocks": (generated(nodes=2**15, features=8000), MUSAE(solver=PMI(memory_limit="512MB"))),
    "blocks, sparse": (generated(nodes=2**16, features=16000, edges=5, entries=10), AE(64)),
    "blocks, large": (
        generated(nodes=2**20),
        MUSAE(solver=PMI(rows="sampled", walks=200, memory_limit="1GiB")),
    ),
    "blocks, sgns": (generated(nodes=2**14, features=4000), MUSAE(solver=SGNS(walk_length=33, **LITTLE))),
}
THREADS = (1, 2)  # that each fit is measured on
READING = 2**16  # nodes of a graph that is read
SCALED = {"pmi": PMI(), "sgns": SGNS(walks_per_node=1, walk_length=53, epochs=1)}  # as ``scaling`` has them


EVERY = ["reading", "calibration", *CASES, *BLOCKS]


def graph_of(case: str) -> AttributedGraph:
    settings = CASES[case][0]
    return hopscale.load(settings["load"]) if "load" in settings else large_graph(**settings)


def kind_of(stage: str) -> str:
    """Stages that are alike, by their names in a plan or on a progress bar."""
    if stage.endswith("exact rows"):
        return "exact rows"
    if stage == "project" or re.fullmatch(r"scale .*(,|-).*: project", stage):
        return "stream"
    return stage.rpartition(": ")[2] if stage != "prepare" else stage


@contextmanager
def timed_bars() -> Any:
    """Seconds of the processor under each progress bar."""
    taken: dict[str, float] = defaultdict(float)
    bar = Threads.bar

    @contextmanager
    def timed(self: Threads, total: int, description: str, unit: str) -> Any:
        begin = time.process_time()
        with bar(self, total, description, unit) as shown:
            yield shown
        streamed = unit == "panel" and description.endswith("project")
        taken["stream" if streamed else kind_of(description)] += time.process_time() - begin

    Threads.bar = timed  # type: ignore[method-assign, assignment]
    try:
        yield taken
    finally:
        Threads.bar = bar  # type: ignore[method-assign]


def planned(model: Any, graph: AttributedGraph, cores: int) -> dict[str, Any]:
    """What is expected of a fit, from the graph: its work by stage, the form of rows, and memory."""
    size = size_of(graph)
    outline = outlined(model, size, graph=graph, cores=cores)
    work: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for stage in outline.stages:
        for kind, amount in stage.work.items():
            work[kind_of(stage.name)][kind] += amount
    return {
        "threads": cores,
        "work": {kind: dict(each) for kind, each in work.items()},
        "forms": outline.forms,
        "planned_mib": outline.memory / 2**20,
        "size": [size.n_nodes, size.n_edges, size.n_features, size.n_entries],
    }


def one(case: str, threads: int) -> dict[str, Any]:
    """A fit on so many threads."""
    graph = graph_of(case)
    model = CASES[case][1].set_params(n_jobs=threads)
    expected = planned(model, graph, threads)
    Path("/proc/self/clear_refs").write_text("5")  # forget the largest resident size so far
    before = resident_mib()
    with warnings.catch_warnings(), timed_bars() as taken:
        warnings.simplefilter("ignore", HopscaleWarning)
        begin = time.process_time()
        wall, _ = measured(lambda: model.fit(graph))
        seconds = time.process_time() - begin
    peak = peak_mib()
    assert peak is not None
    assert before is not None
    taken["prepare"] = seconds - sum(taken.values())
    vectors = (model.embedding_.nbytes + model.feature_embedding_.nbytes) / 2**20
    return {
        "case": case,
        "seconds": seconds if threads == 1 else wall,
        "processor_seconds": seconds,
        "wall_seconds": wall,
        "stages": dict(taken),
        "rows": model.rows_,
        "memory_mib": peak - before - vectors,
        **expected,
    }


def in_blocks(case: str) -> dict[str, Any]:
    """Seconds of the stages of a fit in blocks, by one worker."""
    settings, model = BLOCKS[case]
    graph = large_graph(**settings)
    taken: dict[str, float] = defaultdict(float)
    run = ThreadRunner.run

    def timed(self: ThreadRunner, stage: str, *others: Any, **more: Any) -> Any:
        begin = time.process_time()
        found = run(self, stage, *others, **more)
        taken[stage if stage in ("prepare", "learn", "vectors") else "train"] += time.process_time() - begin
        return found

    with tempfile.TemporaryDirectory() as name, warnings.catch_warnings():
        warnings.simplefilter("ignore", HopscaleWarning)
        folder = Path(name)
        write_graph(graph, folder)
        begin = time.process_time()
        store_graph(folder / "edges.parquet", folder / "features.parquet", folder=folder / "graph")
        stored = time.process_time() - begin
        taken.clear()
        ThreadRunner.run = timed  # type: ignore[method-assign]
        begin = time.process_time()
        hopscale.fit_stored(model.set_params(n_jobs=1), folder / "graph", folder / "vectors")
        seconds = time.process_time() - begin + stored
    taken["store"] = stored
    return {"case": case, "seconds": seconds, "stages": dict(taken), **planned_in_blocks(model, graph)}


def planned_in_blocks(model: Any, graph: AttributedGraph) -> dict[str, Any]:
    """What is expected of a fit in blocks by one worker, from the graph."""
    size, solver = size_of(graph), model.chosen_solver()
    with Threads() as engine:
        rows = None
        if isinstance(solver, PMI):
            engine.memory = memory_bytes("memory_limit", solver.memory_limit)
            rows = MeasuredRows(solver, model.walk_context(graph), model.scales(), engine).sampled
        work = {stage.name: stage.work for stage in block_stages(model, size, Machine(None, 1), rows)}
    return {
        "threads": 1,
        "work": work,
        "forms": {"": "trained" if "train" in work else "sampled"},
        "size": [size.n_nodes, size.n_edges, size.n_features, size.n_entries],
    }


def reading() -> dict[str, Any]:
    """Seconds and memory of reading a graph from Parquet."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_graph(large_graph(READING), folder)
        Path("/proc/self/clear_refs").write_text("5")
        before = resident_mib()
        taken, graph = measured(lambda: read_graph(folder / "edges.parquet", folder / "features.parquet"))
        peak = peak_mib()
        assert peak is not None
        assert before is not None
    size = size_of(graph)
    held = (peak - before) * 2**20 - size.bytes
    return {"case": "reading", "threads": 1, "seconds": taken, "rows_read": size.rows, "bytes_more": held}


def fitted(records: list[dict[str, Any]]) -> dict[str, Any]:
    """Seconds of each kind of work: relative errors of stages on one thread, by non-negative least squares."""
    apart = ("read", "sorted", "prepared", "written", "fetched")  # of reading, and of fits in blocks
    kinds = [kind for kind in KINDS if kind not in apart]
    rows = []
    mine = [r for r in records if r["case"] in CASES and is_fitted(r) and r["threads"] == 1]
    for record in mine:
        for stage, work in record["work"].items():
            taken = record["stages"].get(stage, 0.0)
            if taken > SHORT:
                rows.append([work.get(kind, 0.0) / taken for kind in kinds])
    matrix = np.array(rows)
    scale = matrix.max(axis=0)
    assert (scale > 0).all(), "a kind of work that no fit has"
    found = nnls(matrix / scale, np.ones(len(matrix)))[0] / scale
    read = next(r for r in records if r["case"] == "reading")
    costs = {**dict(zip(kinds, found.tolist(), strict=True)), "read": read["seconds"] / read["rows_read"]}
    costs |= block_costs(records, costs)
    model = {
        "seconds": costs,
        "serial": serial_shares(records, costs),
        "low": 1.0,
        "high": 1.0,
        "calibration": next(r["seconds"] for r in records if r["case"] == "calibration"),
        "most_nodes": max(r["size"][0] for r in records if "size" in r),
        "read_bytes": max(0.0, read["bytes_more"] / read["rows_read"]),
        "gpu": gpu_costs(),
        "machine": {**machine(), "fits": len(mine)},
    }
    fits = [r for r in records if "work" in r]
    ratios = [r["seconds"] / predicted(r, read_cost_model(json.dumps(model))) for r in fits]
    return {**model, "low": min(1.0, *ratios), "high": max(1.0, *ratios)}


def block_costs(records: list[dict[str, Any]], costs: dict[str, float]) -> dict[str, float]:
    """Of the stages that fits in blocks have and others have not: what is left of their seconds, less known work.

    Of each kind the fit that has most of it tells, so that what a stage takes whatever its size counts little; numbers
    are written at a time that fits on graphs within the caches tell, which have no other unknown kind.
    """
    found: dict[str, float] = {}
    mine = [r for r in records if r["case"].startswith("blocks") and r["threads"] == 1]
    cached = [r for r in mine if not r["work"]["vectors"].get("fetched")]
    stages = (("sorted", "store", mine), ("prepared", "prepare", mine), ("written", "vectors", cached))
    for kind, stage, cases in (*stages, ("fetched", "vectors", mine)):
        known = costs | found
        most = max(cases, key=lambda r: float(r["work"][stage].get(kind, 0.0)))
        work = most["work"][stage]
        left = most["stages"][stage] - sum(known.get(each, 0.0) * amount for each, amount in work.items())
        found[kind] = max(0.0, left / work[kind])
    return found


def serial_shares(records: list[dict[str, Any]], costs: dict[str, float]) -> dict[str, float]:
    """Share of the work beside ``SERIAL`` that more threads do not speed up, by Amdahl's law, for two and for many."""
    many = json.loads((RESULTS / "scaling_threads.json").read_text())["records"]
    seconds = {r["threads"]: r["seconds"] for r in many if r["solver"] == "pmi"}
    most = max(seconds)
    found = {str(most): _share(seconds[most] / seconds[1], most, 0.0)}
    mine = {(r["case"], r["threads"]): r for r in records if r["case"] in CASES and is_fitted(r)}
    shares = []
    for (case, threads), record in mine.items():
        if threads == 2 and (alone := mine.get((case, 1))) is not None:
            work = {kind: sum(each.get(kind, 0.0) for each in alone["work"].values()) for kind in costs}
            spent = {kind: costs[kind] * amount for kind, amount in work.items()}
            apart = sum(spent[kind] for kind in SERIAL) / sum(spent.values())
            shares.append(_share(record["wall_seconds"] / alone["wall_seconds"], 2, apart))
    return ({"2": float(np.median(shares))} if shares else {}) | found


def _share(ratio: float, threads: int, apart: float) -> float:
    """The share, from seconds on so many threads over those on one, of which a share ``apart`` is never sped up."""
    rest = (ratio - apart) / max(1e-9, 1 - apart)
    return float(np.clip((rest - 1 / threads) / (1 - 1 / threads), 0.0, 1.0))


def gpu_costs() -> dict[str, float]:
    """Of fits on a GPU, by the same method."""
    document = json.loads((RESULTS / "gpu_speed.json").read_text())
    rows = []
    for record in document["records"]:
        entries = int(re.sub(r"\D", "", record["rows"]["0"]))
        size = GraphSize(record["nodes"], record["edges"], record["features"], entries)
        scales, walked = getattr(hopscale, record["model"])().outline(
            size.n_nodes, size.n_edges, size.n_features, size.n_entries
        )
        work, taken = gpu_work(walked, scales), float(np.median(record["seconds"]))
        rows.append([work[kind] / taken for kind in GPU_KINDS])
    matrix = np.array(rows)
    scale = matrix.max(axis=0)
    found = nnls(matrix / scale, np.ones(len(matrix)))[0] / scale
    return dict(zip(GPU_KINDS, found.tolist(), strict=True))


def predicted(record: dict[str, Any], model: CostModel) -> float:
    """Seconds of a fit, with the rows of its graph."""
    return sum(model.of(work, record["threads"]) for work in record["work"].values())


def by_counts(record: dict[str, Any]) -> float | None:
    """Seconds of a fit by counts alone, without a calibration: the machine is the same."""
    if record["case"] in BLOCKS:
        return None
    try:
        n, m, q, entries = record["size"]
        plan = hopscale.plan(
            model=CASES[record["case"]][1],
            n_nodes=n,
            n_edges=m,
            n_features=q,
            n_entries=entries,
            cores=record["threads"],
            calibrate=False,
        )
    except HopscaleError:
        return None
    return plan.seconds - plan.reading


def of_others() -> list[dict[str, Any]]:
    """Fits of ``scaling`` and ``cluster`` on the largest graphs, on two threads, with seconds by counts alone."""
    found = []
    for name in ("scaling", "cluster"):
        for record in json.loads((RESULTS / f"{name}.json").read_text())["records"]:
            if name == "scaling" and (record["solver"] not in SCALED or record.get("size") != 20):
                continue
            if name == "cluster" and record["way"] != "threads":
                continue
            n = record["nodes"] if name == "cluster" else 2 ** record["size"]
            counts = {"n_nodes": n, "n_edges": 10 * n, "n_features": 50_000, "n_entries": 20 * n}
            if name == "scaling":
                case, taken = f"scaling, {record['solver']}", record["seconds"]
                plan = hopscale.plan(model=MUSAE(solver=SCALED[record["solver"]]), cores=2, calibrate=False, **counts)
                counted = plan.seconds - plan.reading
            else:
                case, taken = f"in blocks, {record['walks']} walks", record["seconds"] + record["stages"]["store"]
                solver = PMI(rows="sampled", walks=record["walks"], memory_limit="1GiB")
                machine_ = Machine(None, 2)
                stages = block_stages(MUSAE(record["dimensions"], solver=solver), GraphSize(**counts), machine_)
                counted = sum(stage.cost(machine_).seconds for stage in stages)
            found.append({"case": case, "size": list(counts.values()), "seconds": taken, "counted": counted})
    return found


def error(record: dict[str, Any], model: CostModel) -> float:
    """Relative error of the predicted seconds."""
    return predicted(record, model) / record["seconds"] - 1


def is_fitted(record: dict[str, Any]) -> bool:
    """Whether a fit took part in the fit of the costs."""
    return record["case"] in BLOCKS or (record["case"] in CASES and CASES[record["case"]][2])


def table(records: list[dict[str, Any]], model: CostModel) -> str:
    rows, order = [], EVERY
    for record in sorted((r for r in records if "work" in r), key=lambda r: (order.index(r["case"]), r["threads"])):
        n, m, q, entries = record["size"]
        ours, counted = predicted(record, model), by_counts(record)
        taken = record["seconds"]
        forms = list(dict.fromkeys(form for label, form in record["forms"].items() if form != "own"))
        rows.append(
            [
                record["case"] + ("" if is_fitted(record) else " *"),
                f"{n:,}, {m:,}, {q:,}, {entries:,}",
                "/".join(forms),
                record["threads"],
                f"{taken:.2f}",
                f"{ours:.2f} ({ours / taken - 1:+.0%})",
                "–" if counted is None else f"{counted:.2f} ({counted / taken - 1:+.0%})",
                *(f"{record[key]:.0f}" if key in record else "–" for key in ("memory_mib", "planned_mib")),
            ]
        )
    others = of_others()
    for record in others:
        n, m, q, entries = record["size"]
        taken, counted = record["seconds"], record["counted"]
        shown = [f"{taken:.2f}", "–", f"{counted:.2f} ({counted / taken - 1:+.0%})", "–", "–"]
        rows.append([record["case"] + " *", f"{n:,}, {m:,}, {q:,}, {entries:,}", "", 2, *shown])
    header = ["fit", "nodes, edges, features, entries", "rows", "threads", "seconds", "predicted", "by counts alone"]
    words = "\n\\* took no part in the fit: the errors of these on one thread are {}. On two threads they are {}. "
    words += "MiB are those beside the graph and the vectors."
    apart = [
        [error(r, model) for r in records if "work" in r and not is_fitted(r) and r["threads"] == k] for k in (1, 2)
    ]
    words = words.format(*map(_in_words, apart))
    larger = [record["counted"] / record["seconds"] - 1 for record in others]
    words += f" The last {len(others)} are of other programs, on the largest graphs: {_in_words(larger)}."
    return markdown([*header, "MiB", "MiB planned"], rows) + "\n" + words


def _in_words(errors: list[float]) -> str:
    if not errors:
        return "not measured"
    mean = np.mean(np.abs(errors))
    return f"{min(errors):+.0%} to {max(errors):+.0%}, in the mean {mean:.0%} of the measured time"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", nargs="*", default=EVERY, help="measure these anew")
    parser.add_argument("--fit-only", action="store_true", help="measure nothing, and fit to what is there")
    parser.add_argument("--recount", action="store_true", help="count the work of what was measured anew")
    parser.add_argument("--threads", type=int, default=1, help=argparse.SUPPRESS)
    parser.add_argument("--one", metavar="CASE", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(recounted(options) if options.recount else measured_case(options.one, options.threads)))
        return
    records: list[dict[str, Any]] = []
    for case in [] if options.fit_only else options.cases:
        for threads in THREADS if case in CASES else THREADS[:1]:
            if case == "calibration":
                taken = min(calibration_seconds() for _ in range(5))
                records.append({"case": "calibration", "threads": 1, "seconds": taken})
            else:
                records.append(in_new_process(__file__, case, "--threads", str(threads)))
            found = {key: f"{value:.2f}" for key, value in records[-1].items() if key.endswith("seconds")}
            print(case, threads, *(f"{key} {value}" for key, value in found.items()), flush=True)
            keep(updated("cost_model", records, ("case", "threads")))
    known = [r for r in updated("cost_model", records, ("case", "threads")) if r["case"] in EVERY]
    for record in known if options.recount else []:
        if record["case"] in CASES or record["case"] in BLOCKS:
            record |= in_new_process(__file__, record["case"], "--recount", "--threads", str(record["threads"]))
    missing = {*((case, 1) for case in EVERY), *((case, 2) for case in CASES)} - {
        (r["case"], r["threads"]) for r in known
    }
    if options.fit_only or not missing:
        finish(known)


def measured_case(case: str, threads: int) -> dict[str, Any]:
    """What a process of its own measures."""
    if case == "reading":
        return reading()
    return in_blocks(case) if case in BLOCKS else one(case, threads)


def recounted(options: argparse.Namespace) -> dict[str, Any]:
    """The work of a fit, counted anew."""
    case = options.one
    if case in BLOCKS:
        return planned_in_blocks(BLOCKS[case][1], large_graph(**BLOCKS[case][0]))
    return planned(CASES[case][1], graph_of(case), options.threads)


def keep(records: list[dict[str, Any]]) -> None:
    """After each case: a run that is stopped keeps what it has measured."""
    document = {"machine": machine(), "records": records}
    (RESULTS / "cost_model.json").write_text(json.dumps(document, indent=1) + "\n")


def finish(records: list[dict[str, Any]]) -> None:
    found = fitted(records)
    COSTS.write_text(json.dumps(found, indent=1) + "\n")
    write("cost_model", records, table(records, read_cost_model(COSTS.read_text())))


if __name__ == "__main__":
    main()
