"""The page ``runtime``: seconds of a fit against the size of the graph, figure 6 of the paper."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from hopscale.paper.methods import SOLVERS
from hopscale.paper.pages.layout import markdown_table, panels_in_a_row
from hopscale.paper.reference_values import reference_values
from hopscale.paper.store import Measurements

__all__ = ["page", "plot"]


def page(measurements: Measurements, _: Path) -> list[str]:
    reference = {
        (r["method"], r["varied"], int(float(r["cores"])), int(float(r["log2_varied"]))): 2 ** float(r["log2_seconds"])
        for r in reference_values("runtime")
    }
    lines = [
        "Seconds of one fit to an Erdős–Rényi graph, 8 edges a node, features drawn from 2¹¹; median of the runs. "
        "Published figures are of other machines; sgns trains one epoch as they did, pmi has none.",
        "",
    ]
    for varied in ("nodes", "features_per_node"):
        rows = []
        sizes = sorted({r["cell"][varied] for r in measurements.records if r["cell"]["varied"] == varied})
        for name in ("AE", "MUSAE"):
            for threads in (1, 2):
                values = [reference.get((name, varied, threads, int(np.log2(size)))) for size in sizes]
                rows.append([name, "published", threads, *(f"{s:.1f}" if s else "–" for s in values)])
                for solver in SOLVERS:
                    row = [name, solver, threads]
                    for size in sizes:
                        what = {"method": name, "solver": solver, "threads": threads, "varied": varied, varied: size}
                        record = measurements.get(**what)
                        row.append(f"{np.median(record['scores']['seconds']):.3f}" if record else "–")
                    rows.append(row)
        lines += [f"## {varied.replace('_', ' ').capitalize()}", ""]
        lines += [*markdown_table(["method", "", "threads", *map(str, sizes)], rows), ""]
    return lines


def plot(measurements: Measurements, figure: Any) -> None:
    """Seconds against size, a panel per method and what is varied."""
    panels = [(name, varied) for name in ("AE", "MUSAE") for varied in ("features_per_node", "nodes")]
    rows = reference_values("runtime")
    for axis, (name, varied) in zip(panels_in_a_row(figure, 4, 3.4), panels, strict=True):
        for threads, line in ((1, "-"), (2, "--")):
            here = [r for r in rows if (r["method"], r["varied"], r["cores"]) == (name, varied, float(threads))]
            axis.plot(
                [2 ** float(r["log2_varied"]) for r in here],
                [2 ** float(r["log2_seconds"]) for r in here],
                line, color="gray", label=f"published, {threads}",
            )  # fmt: skip
            for solver, colour in (("sgns", "tab:blue"), ("pmi", "tab:red")):
                what = {"method": name, "solver": solver, "threads": threads, "varied": varied}
                points = sorted(
                    (r["cell"][varied], float(np.median(r["scores"]["seconds"])))
                    for r in measurements.records
                    if what.items() <= r["cell"].items()
                )
                if points:
                    axis.plot(*zip(*points, strict=True), line, color=colour, marker=".", label=f"{solver}, {threads}")
        axis.set_xscale("log", base=2)
        axis.set_yscale("log", base=2)
        axis.set(title=name, xlabel=varied.replace("_", " "), ylabel="seconds")
    axis.legend(title="threads", fontsize=7)
