"""Peak memory of every method under its memory limit, beside the graph passed in and the vectors returned.

    python benchmarks/memory_limits.py [METHOD ...]
    python benchmarks/memory_limits.py --large [--sizes 50000 250000 1000000] [METHOD ...]

Each case runs in a fresh process. Memory is the largest resident size during the fit less that before it, as the system
counts it: whatever code takes it, and what an allocator has not given back. A refusal names the least that works, which
is then tried as well. Large graphs are embedded by few walks each: what they take does not depend on their number,
except for sampled rows, which are as many as the limit holds.
"""

from __future__ import annotations

import argparse
import json
import re
import warnings
from pathlib import Path
from typing import Any

from hopscale import AttributedGraph, load
from hopscale.checks import memory_bytes
from hopscale.exceptions import HopscaleWarning, ParameterError
from hopscale.models import MODELS
from measure import RESULTS, in_new_process, markdown, measured, peak_mib, resident_mib, updated, write

LIMITS = ("64MiB", "256MiB", "1GiB")
LARGE_LIMITS = (*LIMITS, "4GiB")
NONE = "none"  # the sampled solver has no limit to set: it stores no matrix
LARGE_SIZES = (50_000, 250_000, 1_000_000)
LARGE: dict[str, dict[str, Any]] = {  # cases, and what keeps them short
    "MUSAE": {"walks": 100},
    "AE": {"walks": 100},
    "Walklets": {"walks": 50},
    "MUSAE, sgns": {"walks_per_node": 1, "walk_length": 5, "epochs": 1},
}
VARIANTS: dict[str, dict[str, Any]] = {
    "LINE": {"solver": "sgns"},
    "LINE, pmi": {"solver": "pmi"},
    "Node2Vec": {"p": 0.5, "q": 2.0, "window": 5},
    "HOPE, katz": {"proximity": "katz"},
    "HOPE, rooted-pagerank": {"proximity": "rooted-pagerank"},
    "MUSAE, sgns": {"solver": "sgns"},
    "MUSAE, ego": {"ego": True, "window": 2},
    "NetMF": {"window": 4},
    "SINE": {"window": 4},
    "MUSAE, transform": {},
    "AE, transform": {},
    "FEATHER": {"points": 8, "feature_dimensions": 16, "window": 3},
}
SHORTER = {"TENE": {"iterations": 5}, "TADW": {"iterations": 3}, "BANE": {"iterations": 3}}
CASES = sorted({*MODELS, *VARIANTS} - {"MUSAE, sgns"})  # which stands among the large ones
KEPT = RESULTS / "memory_limits.json"


def graph_of(nodes: int) -> AttributedGraph:
    """A graph on which every limit but the largest binds: rows of a few hops fill, and features are many."""
    return load("erdos-renyi", n_nodes=nodes, n_features=4096)


def reset_peak() -> None:
    """Forget the largest resident size so far."""
    Path("/proc/self/clear_refs").write_text("5")


def one(case: str, limit: str, nodes: str, dimensions: str) -> dict[str, Any]:
    name = case.partition(",")[0]
    model = MODELS[name](int(dimensions), **VARIANTS.get(case, {}), **SHORTER.get(name, {}))
    model.configure(**(LARGE.get(case, {}) if int(nodes) >= min(LARGE_SIZES) else {}))
    if limit != NONE:
        model.configure(memory_limit=limit)
    graph = graph_of(int(nodes))
    record: dict[str, Any] = {"case": case, "limit": limit}
    if limit != NONE:
        record["bytes"] = memory_bytes("limit", limit)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HopscaleWarning)
        if case.endswith("transform"):
            model.fit(graph_of(1000))
        before = resident_mib()
        assert before is not None
        reset_peak()
        try:
            if case.endswith("transform"):
                seconds, vectors = measured(lambda: model.transform(graph))
                held = vectors.nbytes
            else:
                seconds, _ = measured(lambda: model.fit(graph))
                held = model.embedding_.nbytes + model.feature_embedding_.nbytes
        except ParameterError as error:
            return {**record, "refused": str(error)}
    peak = peak_mib()
    assert peak is not None
    rows = "; ".join(dict.fromkeys(words.partition(",")[0].partition(" from")[0] for words in model.rows_.values()))
    return {**record, "seconds": seconds, "mib": peak - before - held / 2**20, "rows": rows}


def least(refused: str) -> str:
    """The limit that a refusal names."""
    found = re.search(r"at least ([0-9.]+) ?([KMG]iB)", refused)
    assert found, refused
    return found[1] + found[2]


def share(record: dict[str, Any]) -> str:
    taken = f"{record['mib']:.0f} MiB"
    return f"{taken}, {record['mib'] * 2**20 / record['bytes']:.0%}" if "bytes" in record else taken


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", metavar="METHOD", help="only these; others stay as they were")
    parser.add_argument("--large", action="store_true", help="graphs of several sizes")
    parser.add_argument("--sizes", type=int, nargs="+", default=LARGE_SIZES, help="of these graphs, in nodes")
    parser.add_argument("--nodes", default="20000")
    parser.add_argument("--dimensions", default="64")
    parser.add_argument("--one", nargs=4, metavar=("CASE", "LIMIT", "NODES", "DIMENSIONS"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(one(*options.one)))
        return
    if options.large:
        large(options.cases or list(LARGE), options.sizes, options.dimensions)
        return
    known = json.loads(KEPT.read_text())["records"] if KEPT.exists() else []
    by_case = {case: [record for record in known if record["case"] == case] for case in CASES}
    for case in options.cases or CASES:
        by_case[case] = []
        for limit in LIMITS:
            record = tried(case, limit, options.nodes, options.dimensions)
            by_case[case].append(record)
            print(case, limit, cell(record), flush=True)
        # After every method: a run that is stopped keeps what it has measured.
        rows = [[name, *map(cell, records)] for name, records in by_case.items() if records]
        write("memory_limits", [record for records in by_case.values() for record in records], table(rows))


def tried(case: str, limit: str, nodes: str, dimensions: str) -> dict[str, Any]:
    """A fit, or a refusal and a fit with the limit that it names."""
    record = in_new_process(__file__, case, limit, nodes, dimensions)
    if "refused" in record:
        record["least"] = in_new_process(__file__, case, least(record["refused"]), nodes, dimensions)
    return record


def large(cases: list[str], sizes: list[int], dimensions: str) -> None:
    """Several sizes; what was measured before of others is kept."""
    name = "memory_limits_large"
    for nodes in sizes:
        for case in cases:
            limits = (NONE,) if case.endswith("sgns") else LARGE_LIMITS
            new = [{"nodes": nodes, **tried(case, limit, str(nodes), dimensions)} for limit in limits]
            known = updated(name, new, ("nodes", "case", "limit"))
            groups: dict[tuple[str, int], dict[str, dict[str, Any]]] = {}
            for record in sorted(known, key=lambda r: (list(LARGE).index(r["case"]), r["nodes"])):
                groups.setdefault((record["case"], record["nodes"]), {})[record["limit"]] = record
            rows = [
                [called, f"{count:,}", *(cell(records[k]) if k in records else "" for k in (*LARGE_LIMITS, NONE))]
                for (called, count), records in groups.items()
            ]
            header = ["method", "nodes", *(f"`memory_limit` {limit}" for limit in LARGE_LIMITS), "no limit"]
            write(name, known, markdown(header, rows))


def cell(record: dict[str, Any]) -> str:
    """What a fit took, or the least that a refusal named and what that took."""
    again = record.get("least")
    return f"refused below {again['limit']}, which takes {share(again)}" if again else share(record)


def table(rows: list[list[str]]) -> str:
    return markdown(["method", *(f"`memory_limit` {limit}" for limit in LIMITS)], rows)


if __name__ == "__main__":
    main()
