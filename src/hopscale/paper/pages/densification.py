"""The page ``densification``: the share of non-zero entries of AʳF, figure 1b of the paper."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hopscale.paper.densification import POWERS
from hopscale.paper.pages.layout import markdown_table, measured_datasets, panels_in_a_row
from hopscale.paper.reference_values import reference_values
from hopscale.paper.store import Measurements

__all__ = ["page", "plot"]


def page(measurements: Measurements, _: Path) -> list[str]:
    reference = _reference()
    rows, differences = [], []
    for dataset in measured_datasets("densification", measurements):
        measured = _curve(measurements, dataset)
        if dataset in reference:
            pairs = list(zip(reference[dataset], measured, strict=True))
            rows.append([dataset, *(f"{a:.3f} / {b:.3f}" for a, b in pairs)])
            differences += [abs(a - b) for a, b in pairs]
        else:
            rows.append([dataset, *(f"– / {b:.3f}" for b in measured)])
    lines = [
        "Share of the entries of AʳF that are not zero: published / measured, over the features that some node has.",
        "",
        *markdown_table(["data set", *(f"r = {r}" for r in POWERS)], rows),
    ]
    return [*lines, "", f"Largest difference: {max(differences):.4f}."] if differences else lines


def plot(measurements: Measurements, figure: Any) -> None:
    """The share against r, a curve per data set."""
    (axis,) = panels_in_a_row(figure, 1, 5.0, 3.5)
    reference = _reference()
    for dataset in measurements.values("dataset"):
        (line,) = axis.plot(POWERS, _curve(measurements, dataset), label=dataset)
        if dataset in reference:
            axis.plot(POWERS, reference[dataset], "x", color=line.get_color())
    axis.plot([], [], "kx", label="published")
    axis.set(xlabel="r", ylabel="share of non-zero entries of $A^rF$")
    axis.legend()


def _curve(measurements: Measurements, dataset: str) -> list[float]:
    record = measurements.get(dataset=dataset)
    return list(record["scores"]["nonzero_ratio"]) if record else []


def _reference() -> dict[str, list[float]]:
    """The paper's curve for each data set, over ``POWERS``."""
    curves: dict[str, list[float]] = {}
    for row in reference_values("densification"):
        curves.setdefault(str(row["dataset"]), []).append(float(row["nonzero_ratio"]))
    return curves
