"""The page ``few-shot``: classification from k labelled nodes per class."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from hopscale.paper.methods import METHODS, WAYS
from hopscale.paper.pages.layout import COLOURS, mark, markdown_table, mean_and_error, panels_in_a_row
from hopscale.paper.reference_values import reference_values
from hopscale.paper.store import Measurements

__all__ = ["page", "plot"]

_SHOWN = (3, 9, 15, 21, 30)  # values of k in the tables; the plot has all


def page(measurements: Measurements, _: Path) -> list[str]:
    reference = _curves()
    lines = ["Mean micro-F1 of k training nodes a class, tested on all others: published / measured.", ""]
    shown = [k for k in map(int, measurements.records[0]["scores"]["micro_f1"]) if k in _SHOWN]
    for dataset in measurements.values("dataset"):
        rows = []
        for name in METHODS:
            for solver in WAYS:
                record = measurements.get(method=name, solver=solver, dataset=dataset)
                if record is None:
                    continue
                row = [name, solver + mark(record)]
                for k in shown:
                    value = reference.get((name, dataset), {}).get(k)
                    text = "–" if value is None else f"{value:.3f}"
                    mean, error = mean_and_error(record["scores"]["micro_f1"][str(k)])
                    row.append(f"{text} / {mean:.3f} ± {error:.3f}")
                rows.append(row)
        lines += [f"## {dataset}", "", *markdown_table(["method", "solver", *(f"k = {k}" for k in shown)], rows), ""]
    return lines


def plot(measurements: Measurements, figure: Any) -> None:
    """Micro-F1 against k, a panel per data set."""
    datasets = measurements.values("dataset")
    for axis, dataset in zip(panels_in_a_row(figure, len(datasets)), datasets, strict=True):
        for (name, where), points in _curves().items():
            if where == dataset:
                axis.plot([*points], [*points.values()], ":", color=COLOURS.get(name, "lightgray"), linewidth=1)
        for name, colour in COLOURS.items():
            record = measurements.get(method=name, solver="pmi", dataset=dataset)
            if record is not None:
                scores = record["scores"]["micro_f1"]
                axis.plot([int(k) for k in scores], [np.mean(v) for v in scores.values()], color=colour, label=name)
        axis.set(title=dataset, xlabel="samples per class", ylabel="micro-F1")
    axis.plot([], [], "k:", label="published")
    axis.legend()


def _curves() -> dict[tuple[str, str], dict[int, float]]:
    """The paper's micro-F1 for each k, by method and data set."""
    curves: dict[tuple[str, str], dict[int, float]] = {}
    for row in reference_values("few_shot"):
        curve = curves.setdefault((str(row["method"]), str(row["dataset"])), {})
        curve[int(row["samples_per_class"])] = float(row["micro_f1"])
    return curves
