"""The page ``densification``: the share of non-zero entries of AʳF, figure 1b of the paper."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hopscale.paper.densification import POWERS
from hopscale.paper.pages.layout import markdown_table, measured_datasets, panels_in_a_row, rounded
from hopscale.paper.store import Measurements, reference_values


def page(measurements: Measurements, _: Path) -> list[str]:
    reference, curves = _reference(), _curves(measurements)
    rows, differences = [], []
    for dataset in measured_datasets("densification", measurements):
        pairs = [(reference.get((dataset, r)), b) for r, b in zip(POWERS, curves[dataset], strict=True)]
        rows.append([dataset, *(f"{rounded(a)} / {b:.3f}" for a, b in pairs)])
        differences += [abs(a - b) for a, b in pairs if a is not None]
    text = "Share of the entries of AʳF that are not zero: published / measured, over the features that some node has."
    lines = [text, "", *markdown_table(["data set", *(f"r = {r}" for r in POWERS)], rows)]
    return [*lines, "", f"Largest difference: {max(differences):.4f}."] if differences else lines


def plot(measurements: Measurements, figure: Any) -> None:
    """The share against r, a curve per data set."""
    (axis,) = panels_in_a_row(figure, 1, 5.0, 3.5)
    reference = _reference()
    for dataset, curve in _curves(measurements).items():
        (line,) = axis.plot(POWERS, curve, label=dataset)
        if (dataset, POWERS[0]) in reference:
            axis.plot(POWERS, [reference[dataset, r] for r in POWERS], "x", color=line.get_color())
    axis.plot([], [], "kx", label="published")
    axis.set(xlabel="r", ylabel="share of non-zero entries of $A^rF$")
    axis.legend()


def _curves(measurements: Measurements) -> dict[str, list[float]]:
    return {record["cell"]["dataset"]: record["scores"]["nonzero_ratio"] for record in measurements.records}


def _reference() -> dict[tuple[str, float], float]:
    return {(row["dataset"], row["power"]): row["nonzero_ratio"] for row in reference_values("densification")}
