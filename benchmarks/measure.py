"""What the benchmarks share: a fresh process per measurement, the machine's description, tables and JSON."""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from hopscale import AttributedGraph, load

RESULTS = Path(__file__).parent / "results"
REGRESSION = ("wiki-chameleon", "wiki-crocodile", "wiki-squirrel")


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


def peak_mib() -> float:
    """Largest resident size of this process so far, in MiB."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 2**20 if sys.platform == "darwin" else peak / 2**10


def resident_mib() -> float:
    """Resident size of this process now, in MiB (Linux)."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def in_new_process(script: str, *arguments: str) -> dict[str, Any]:
    """Run ``script --one arguments`` and return the JSON that it prints last: memory peaks start anew."""
    command = [sys.executable, script, "--one", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} failed:\n{done.stderr}")
    return dict(json.loads(done.stdout.strip().splitlines()[-1]))


def machine() -> dict[str, Any]:
    """Versions and processor, to be kept with every result."""
    processor = platform.processor()
    info = Path("/proc/cpuinfo")
    if info.exists():
        lines = [line for line in info.read_text().splitlines() if line.startswith("model name")]
        processor = lines[0].split(":", 1)[1].strip() if lines else processor
    packages = ("hopscale", "numpy", "scipy", "scikit-learn", "gensim")
    versions = {}
    for package in packages:
        try:
            versions[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    return {
        "python": platform.python_version(),
        "system": platform.system(),
        "processor": processor,
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "versions": versions,
    }


def commit() -> str | None:
    """The commit that is measured, marked if files differ from it; None outside a clone."""
    command = ["git", "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"]
    try:
        done = subprocess.run(command, cwd=Path(__file__).parent, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip()


def write(name: str, records: Sequence[dict[str, Any]], table: str) -> None:
    """Keep a benchmark's records as JSON and its table as text, and print the table."""
    RESULTS.mkdir(exist_ok=True)
    document = {"machine": machine(), "records": list(records)}
    (RESULTS / f"{name}.json").write_text(json.dumps(document, indent=1) + "\n")
    (RESULTS / f"{name}.md").write_text(table + "\n")
    print(table)


def markdown(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A Markdown table."""
    lines = ["| " + " | ".join(header) + " |", "|" + " --- |" * len(header)]
    lines += ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines)


def median(values: Iterable[float]) -> float:
    """The middle one."""
    return float(statistics.median(values))
