"""The page ``runtime``: seconds of a fit against the size of the graph, figure 6 of the paper."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from hopscale.paper.methods import SOLVERS
from hopscale.paper.pages.layout import panels_in_a_row, rounded, table
from hopscale.paper.store import Measurements, reference_values

_METHODS = ("AE", "MUSAE")


def page(measurements: Measurements, _: Path) -> list[str]:
    lines = [
        "Seconds of one fit to an Erdős–Rényi graph, 8 edges a node, features drawn from 2¹¹; median of the runs. "
        "Published figures are of other machines; sgns trains one epoch as they did, pmi has none.",
        "",
    ]
    for varied in ("nodes", "features_per_node"):
        rows = []
        sizes = sorted({r["cell"][varied] for r in measurements.records if r["cell"]["varied"] == varied})
        for name, threads in product(_METHODS, (1, 2)):
            published = _published(name, varied, threads)
            rows.append([name, "published", threads, *(rounded(published.get(size), 1) for size in sizes)])
            for solver in SOLVERS:
                curve = _measured(measurements, name, solver, varied, threads)
                rows.append([name, solver, threads, *(rounded(curve.get(size)) for size in sizes)])
        header = ["method", "", "threads", *map(str, sizes)]
        lines += table(varied.replace("_", " ").capitalize(), header, rows)
    return lines


def plot(measurements: Measurements, figure: Any) -> None:
    """Seconds against size, a panel per method and what is varied."""
    panels = product(_METHODS, ("features_per_node", "nodes"))
    for axis, (name, varied) in zip(panels_in_a_row(figure, 4, 3.4), panels, strict=True):
        for threads, line in ((1, "-"), (2, "--")):
            published = _published(name, varied, threads)
            axis.plot([*published], [*published.values()], line, color="gray", label=f"published, {threads}")
            for solver, colour in (("sgns", "tab:blue"), ("pmi", "tab:red")):
                points = sorted(_measured(measurements, name, solver, varied, threads).items())
                if points:
                    axis.plot(*zip(*points, strict=True), line, color=colour, marker=".", label=f"{solver}, {threads}")
        axis.set_xscale("log", base=2)
        axis.set_yscale("log", base=2)
        axis.set(title=name, xlabel=varied.replace("_", " "), ylabel="seconds")
    axis.legend(title="threads", fontsize=7)


def _published(name: str, varied: str, threads: int) -> dict[float, float]:
    """The paper's seconds by size."""
    what = {"method": name, "varied": varied, "cores": threads}
    rows = [row for row in reference_values("runtime") if what.items() <= row.items()]
    return {2 ** row["log2_varied"]: 2 ** row["log2_seconds"] for row in rows}


def _measured(measurements: Measurements, name: str, solver: str, varied: str, threads: int) -> dict[float, float]:
    """Median of the measured seconds by size."""
    records = measurements.all(method=name, solver=solver, varied=varied, threads=threads)
    return {r["cell"][varied]: float(np.median(r["scores"]["seconds"])) for r in reversed(records)}
