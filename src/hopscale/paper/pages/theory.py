"""The page ``theory``: distance of G·Hᵀ from the matrix of the theorems."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hopscale.paper.pages.layout import mean_and_error, panels_in_a_row, rounded, table
from hopscale.paper.store import Measurements

_VARIED = ("walk_length", "dimensions")


def page(measurements: Measurements, _: Path) -> list[str]:
    lines = [
        "Root mean square of G·Hᵀ minus the matrix of the theorems, over that of the matrix: sgns against "
        "log(c·PʳF·E⁻¹) − log b where it is finite, pmi against its positive part without log b. Dimensions are those "
        "of a hop: AE's one scale has three times as many.",
        "",
    ]
    for varied in _VARIED:
        curves = _curves(measurements, varied)
        values = sorted({value for curve in curves.values() for value in curve})
        rows = [[*key, *(rounded(curve.get(value)) for value in values)] for key, curve in sorted(curves.items())]
        header = ["method", "solver", "scale", *map(str, values)]
        lines += table(varied.replace("_", " ").capitalize(), header, rows)
    return lines


def plot(measurements: Measurements, figure: Any) -> None:
    """Distance against what is varied, a curve per method, solver and scale."""
    for axis, varied in zip(panels_in_a_row(figure, 2), _VARIED, strict=True):
        curves = _curves(measurements, varied)
        for (name, solver, label), curve in curves.items():
            line = "-" if solver == "sgns" else "--"
            points = zip(*sorted(curve.items()), strict=True)
            axis.plot(*points, line, marker=".", label=f"{name} {solver}, scale {label}")
        axis.set(xlabel=varied.replace("_", " "), ylabel="distance from the theorem")
        if curves:
            axis.legend(fontsize=7)
    figure.axes[0].set_xscale("log", base=2)


def _curves(measurements: Measurements, varied: str) -> dict[tuple[str, str, str], dict[float, float]]:
    """Mean distance by what is varied, for each method, solver and scale."""
    curves: dict[tuple[str, str, str], dict[float, float]] = {}
    for record in measurements.all(varied=varied):
        cell = record["cell"]
        for label, distances in record["scores"]["distance"].items():
            curves.setdefault((cell["method"], cell["solver"], label), {})[cell[varied]] = mean_and_error(distances)[0]
    return curves
