"""The pages ``densification``, ``runtime`` and ``theory``: figures 1b and 6 of the paper, and its theorems."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from hopscale.paper.densification import POWERS
from hopscale.paper.methods import SOLVERS
from hopscale.paper.pages.layout import markdown_table, measured_datasets, panels_in_a_row, rounded, table
from hopscale.paper.store import Measurements, reference_values
from hopscale.tasks.metrics import mean_and_error

_METHODS = ("AE", "MUSAE")
_VARIED = ("walk_length", "dimensions")


def densification_page(measurements: Measurements, _: Path) -> list[str]:
    reference, curves = _published_shares(), _shares(measurements)
    rows, differences = [], []
    for dataset in measured_datasets("densification", measurements):
        pairs = [(reference.get((dataset, r)), b) for r, b in zip(POWERS, curves[dataset], strict=True)]
        rows.append([dataset, *(f"{rounded(a)} / {b:.3f}" for a, b in pairs)])
        differences += [abs(a - b) for a, b in pairs if a is not None]
    text = "Share of the entries of AʳF that are not zero: published / measured, over the features that some node has."
    lines = [text, "", *markdown_table(["data set", *(f"r = {r}" for r in POWERS)], rows)]
    return [*lines, "", f"Largest difference: {max(differences):.4f}."] if differences else lines


def densification_plot(measurements: Measurements, figure: Any) -> None:
    """The share against r, a curve per data set."""
    (axis,) = panels_in_a_row(figure, 1, 5.0, 3.5)
    reference = _published_shares()
    for dataset, curve in _shares(measurements).items():
        (line,) = axis.plot(POWERS, curve, label=dataset)
        if (dataset, POWERS[0]) in reference:
            axis.plot(POWERS, [reference[dataset, r] for r in POWERS], "x", color=line.get_color())
    axis.plot([], [], "kx", label="published")
    axis.set(xlabel="r", ylabel="share of non-zero entries of $A^rF$")
    axis.legend()


def _shares(measurements: Measurements) -> dict[str, list[float]]:
    return {record["cell"]["dataset"]: record["scores"]["nonzero_ratio"] for record in measurements.records}


def _published_shares() -> dict[tuple[str, float], float]:
    return {(row["dataset"], row["power"]): row["nonzero_ratio"] for row in reference_values("densification")}


def runtime_page(measurements: Measurements, _: Path) -> list[str]:
    lines = [
        "Seconds of one fit to an Erdős–Rényi graph, 8 edges a node, features drawn from 2¹¹; median of the runs. "
        "Published figures are of other machines; sgns trains one epoch as they did, pmi has none.",
        "",
    ]
    for varied in ("nodes", "features_per_node"):
        rows = []
        sizes = sorted({r["cell"][varied] for r in measurements.records if r["cell"]["varied"] == varied})
        for name, threads in product(_METHODS, (1, 2)):
            published = _published_seconds(varied, method=name, cores=threads)
            rows.append([name, "published", threads, *(rounded(published.get(size), 1) for size in sizes)])
            for solver in SOLVERS:
                curve = _measured_seconds(measurements, varied, method=name, solver=solver, threads=threads)
                rows.append([name, solver, threads, *(rounded(curve.get(size)) for size in sizes)])
        header = ["method", "", "threads", *map(str, sizes)]
        lines += table(varied.replace("_", " ").capitalize(), header, rows)
    return lines


def runtime_plot(measurements: Measurements, figure: Any) -> None:
    """Seconds against size, a panel per method and what is varied."""
    panels = product(_METHODS, ("features_per_node", "nodes"))
    for axis, (name, varied) in zip(panels_in_a_row(figure, 4, 3.4), panels, strict=True):
        for threads, line in ((1, "-"), (2, "--")):
            published = _published_seconds(varied, method=name, cores=threads)
            axis.plot([*published], [*published.values()], line, color="gray", label=f"published, {threads}")
            for solver, colour in (("sgns", "tab:blue"), ("pmi", "tab:red")):
                what = {"method": name, "solver": solver, "threads": threads}
                points = sorted(_measured_seconds(measurements, varied, **what).items())
                if points:
                    axis.plot(*zip(*points, strict=True), line, color=colour, marker=".", label=f"{solver}, {threads}")
        axis.set_xscale("log", base=2)
        axis.set_yscale("log", base=2)
        axis.set(title=name, xlabel=varied.replace("_", " "), ylabel="seconds")
    axis.legend(title="threads", fontsize=7)


def _published_seconds(varied: str, **what: Any) -> dict[float, float]:
    """The paper's seconds by size."""
    rows = [row for row in reference_values("runtime") if {"varied": varied, **what}.items() <= row.items()]
    return {2 ** row["log2_varied"]: 2 ** row["log2_seconds"] for row in rows}


def _measured_seconds(measurements: Measurements, varied: str, **what: Any) -> dict[float, float]:
    """Median of the measured seconds by size."""
    records = measurements.all(varied=varied, **what)
    return {r["cell"][varied]: float(np.median(r["scores"]["seconds"])) for r in reversed(records)}


def theory_page(measurements: Measurements, _: Path) -> list[str]:
    lines = [
        "Root mean square of G·Hᵀ minus the matrix of the theorems, over that of the matrix: sgns against "
        "log(c·PʳF·E⁻¹) − log b where it is finite, pmi against its positive part without log b. Dimensions are those "
        "of a hop: AE's one scale has three times as many.",
        "",
    ]
    for varied in _VARIED:
        curves = _distances(measurements, varied)
        values = sorted({value for curve in curves.values() for value in curve})
        rows = [[*key, *(rounded(curve.get(value)) for value in values)] for key, curve in sorted(curves.items())]
        header = ["method", "solver", "scale", *map(str, values)]
        lines += table(varied.replace("_", " ").capitalize(), header, rows)
    return lines


def theory_plot(measurements: Measurements, figure: Any) -> None:
    """Distance against what is varied, a curve per method, solver and scale."""
    for axis, varied in zip(panels_in_a_row(figure, 2), _VARIED, strict=True):
        curves = _distances(measurements, varied)
        for (name, solver, label), curve in curves.items():
            line = "-" if solver == "sgns" else "--"
            points = zip(*sorted(curve.items()), strict=True)
            axis.plot(*points, line, marker=".", label=f"{name} {solver}, scale {label}")
        axis.set(xlabel=varied.replace("_", " "), ylabel="distance from the theorem")
        if curves:
            axis.legend(fontsize=7)
    figure.axes[0].set_xscale("log", base=2)


def _distances(measurements: Measurements, varied: str) -> dict[tuple[str, str, str], dict[float, float]]:
    """Mean distance by what is varied, for each method, solver and scale."""
    curves: dict[tuple[str, str, str], dict[float, float]] = {}
    for record in measurements.all(varied=varied):
        cell = record["cell"]
        for label, distances in record["scores"]["distance"].items():
            curves.setdefault((cell["method"], cell["solver"], label), {})[cell[varied]] = mean_and_error(distances)[0]
    return curves
