"""The pages ``densification`` and ``theory``: figure 1b of the paper, and its theorems."""

from __future__ import annotations

from typing import Any

from hopscale.paper.densification import POWERS
from hopscale.paper.estimates import estimate
from hopscale.paper.pages.layout import markdown_table, measured_datasets, panels_in_a_row, rounded, table
from hopscale.paper.pages.records import Records
from hopscale.paper.store import Measurements, reference_values

_VARIED = ("walk_length", "dimensions")


def densification_page(measurements: Measurements, _: Records) -> list[str]:
    reference, curves = _published_shares(), _shares(measurements)
    rows = []
    for dataset in measured_datasets("densification", measurements):
        pairs = [(reference.get((dataset, r)), b) for r, b in zip(POWERS, curves[dataset], strict=True)]
        rows.append([dataset, *(f"{rounded(a)} / {b:.3f}" for a, b in pairs)])
    text = "Share of the entries of AʳF that are not zero: published / measured, over the features that some node has."
    lines = [text, "", *markdown_table(["data set", *(f"r = {r}" for r in POWERS)], rows)]
    compared, largest, where = largest_difference(measurements)
    return [*lines, "", f"Largest difference: {largest:.4f}, on {where}. It is not explained."] if compared else lines


def largest_difference(measurements: Measurements) -> tuple[int, float, str]:
    """How many points of the paper's curves were measured, the largest difference, and its data set."""
    reference, curves = _published_shares(), _shares(measurements)
    points = [(name, r, share) for name in curves for r, share in zip(POWERS, curves[name], strict=True)]
    differences = [(abs(reference[name, r] - b), name) for name, r, b in points if (name, r) in reference]
    return len(differences), *max(differences, default=(0.0, ""))


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


def theory_page(measurements: Measurements, _: Records) -> list[str]:
    lines = [
        "Root mean square of G·Hᵀ minus the matrix of the paper's theorems (the first of MUSAE, the second of AE), "
        "over that of the matrix: sgns against "
        "log(c·PʳF·E⁻¹) − log b where it is finite, pmi against its positive part without log b. Dimensions are those "
        "of a hop: AE's one scale has three times as many. Small random graphs with as many features on every node: "
        "where some nodes meet more features than others, skip-gram tends to a matrix with another term (errata). The "
        "models are those of the text, trained with smaller steps than elsewhere.",
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
            curves.setdefault((cell["method"], cell["solver"], label), {})[cell[varied]] = estimate(distances).mean
    return curves
