"""What the benchmarks share: a fresh process per measurement, the machine's description, tables and JSON."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from hopscale import AttributedGraph, load
from hopscale.paper.machine import machine, peak_mib, resident_mib
from hopscale.paper.options import REGRESSION
from hopscale.paper.pages.layout import markdown_table

__all__ = [
    "PAPER",
    "REGRESSION",
    "RESULTS",
    "graph_and_target",
    "in_new_process",
    "markdown",
    "measured",
    "median",
    "peak_mib",
    "resident_mib",
    "updated",
    "write",
]

RESULTS = Path(__file__).parent / "results"
PAPER = Path(__file__).resolve().parent.parent / "docs" / "paper"


def graph_and_target(name: str) -> tuple[AttributedGraph, np.ndarray]:
    """A data set of the paper; the Wikipedia targets are logarithms of traffic, as in the paper."""
    graph = load(name)
    assert graph.labels is not None
    return graph, np.log(graph.labels) if name in REGRESSION else graph.labels


def measured(function: Callable[[], Any]) -> tuple[float, Any]:
    """Wall-clock seconds of a call, and its result."""
    start = time.perf_counter()
    result = function()
    return time.perf_counter() - start, result


def in_new_process(script: str, *arguments: str) -> dict[str, Any]:
    """Run ``script --one arguments`` and return the JSON that it prints last: memory peaks start anew."""
    command = [sys.executable, script, "--one", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} failed:\n{done.stderr}")
    return dict(json.loads(done.stdout.strip().splitlines()[-1]))


def write(name: str, records: Sequence[dict[str, Any]], table: str) -> None:
    """Keep a benchmark's records as JSON and its table as text, and print the table."""
    RESULTS.mkdir(exist_ok=True)
    document = {"machine": machine(), "records": list(records)}
    (RESULTS / f"{name}.json").write_text(json.dumps(document, indent=1) + "\n")
    (RESULTS / f"{name}.md").write_text(table + "\n")
    print(table)


def updated(name: str, records: Sequence[dict[str, Any]], keys: Sequence[str]) -> list[dict[str, Any]]:
    """Records of an earlier run, less those that agree with a new one in the keys, and the new ones.

    Those of another machine or commit keep it as ``machine``: what :func:`write` says of the machine is of new ones.
    """
    path = RESULTS / f"{name}.json"
    before = json.loads(path.read_text()) if path.exists() else {"machine": {}, "records": []}
    earlier = {} if before["machine"] == machine() else {"machine": before["machine"]}
    new = {tuple(record[key] for key in keys) for record in records}
    kept = [record for record in before["records"] if tuple(record[key] for key in keys) not in new]
    return [{**earlier, **record} for record in kept] + list(records)


def markdown(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A Markdown table."""
    return "\n".join(markdown_table(header, rows))


def median(values: Iterable[float]) -> float:
    """The middle one."""
    return float(statistics.median(values))
