"""The page ``theory``: distance of G·Hᵀ from the matrix of the theorems."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from hopscale.paper.methods import SOLVERS
from hopscale.paper.pages.layout import markdown_table, mean_and_error, panels_in_a_row
from hopscale.paper.store import Measurements

__all__ = ["page", "plot"]

_VARIED = ("walk_length", "dimensions")


def page(measurements: Measurements, _: Path) -> list[str]:
    lines = [
        "Root mean square of G·Hᵀ minus the matrix of the theorems, over that of the matrix: sgns against "
        "log(c·PʳF·E⁻¹) − log b where it is finite, pmi against its positive part without log b. Dimensions are those "
        "of a hop: AE's one scale has three times as many.",
        "",
    ]
    for varied in _VARIED:
        here = [r for r in measurements.records if r["cell"]["varied"] == varied]
        values = sorted({r["cell"][varied] for r in here})
        rows = []
        for name in measurements.values("method"):
            for solver in SOLVERS:
                found = {
                    r["cell"][varied]: r["scores"]["distance"]
                    for r in here
                    if (r["cell"]["method"], r["cell"]["solver"]) == (name, solver)
                }
                for label in next(iter(found.values()), {}):
                    means = [mean_and_error(found[v][label])[0] if v in found else None for v in values]
                    rows.append([name, solver, label, *("–" if m is None else f"{m:.3f}" for m in means)])
        lines += [f"## {varied.replace('_', ' ').capitalize()}", ""]
        lines += [*markdown_table(["method", "solver", "scale", *map(str, values)], rows), ""]
    return lines


def plot(measurements: Measurements, figure: Any) -> None:
    """Distance against what is varied, a curve per method, solver and scale."""
    for axis, varied in zip(panels_in_a_row(figure, 2), _VARIED, strict=True):
        curves: dict[tuple[str, str, str], list[tuple[float, float]]] = {}
        for record in measurements.records:
            cell = record["cell"]
            if cell["varied"] == varied:
                for label, distances in record["scores"]["distance"].items():
                    curve = curves.setdefault((cell["method"], cell["solver"], label), [])
                    curve.append((cell[varied], float(np.mean(distances))))
        for (name, solver, label), points in curves.items():
            line = "-" if solver == "sgns" else "--"
            axis.plot(*zip(*sorted(points), strict=True), line, marker=".", label=f"{name} {solver}, scale {label}")
        axis.set(xlabel=varied.replace("_", " "), ylabel="distance from the theorem")
        if curves:
            axis.legend(fontsize=7)
    figure.axes[0].set_xscale("log", base=2)
