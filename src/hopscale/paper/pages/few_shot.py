"""The page ``few-shot``: classification from k labelled nodes per class."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from hopscale.paper.pages.layout import COLOURS, mean_and_error, method_tables, panels_in_a_row, rounded
from hopscale.paper.store import Measurements, Record, reference_values

_SHOWN = (3, 9, 15, 21, 30)  # values of k in the tables; the plot has all


def page(measurements: Measurements, _: Path) -> list[str]:
    reference = _curves()
    shown = [k for k in measurements.records[0]["scores"]["micro_f1"] if int(k) in _SHOWN]

    def cells(record: Record) -> list[str]:
        published = reference.get((record["cell"]["method"], record["cell"]["dataset"]), {})
        means = {k: mean_and_error(record["scores"]["micro_f1"][k]) for k in shown}
        return [f"{rounded(published.get(int(k)))} / {mean:.3f} ± {error:.3f}" for k, (mean, error) in means.items()]

    text = "Mean micro-F1 of k training nodes a class, tested on all others: published / measured."
    return [text, "", *method_tables(measurements, [f"k = {k}" for k in shown], cells)]


def plot(measurements: Measurements, figure: Any) -> None:
    """Micro-F1 against k, a panel per data set."""
    datasets = measurements.values("dataset")
    for axis, dataset in zip(panels_in_a_row(figure, len(datasets)), datasets, strict=True):
        for (name, where), points in _curves().items():
            if where == dataset:
                axis.plot([*points], [*points.values()], ":", color=COLOURS.get(name, "lightgray"), linewidth=1)
        for name, colour in COLOURS.items():
            if record := measurements.get(method=name, solver="pmi", dataset=dataset):
                scores = record["scores"]["micro_f1"]
                axis.plot([int(k) for k in scores], [np.mean(v) for v in scores.values()], color=colour, label=name)
        axis.set(title=dataset, xlabel="samples per class", ylabel="micro-F1")
    axis.plot([], [], "k:", label="published")
    axis.legend()


def _curves() -> dict[tuple[str, str], dict[float, float]]:
    """The paper's micro-F1 for each k, by method and data set."""
    curves: dict[tuple[str, str], dict[float, float]] = {}
    for row in reference_values("few_shot"):
        curves.setdefault((row["method"], row["dataset"]), {})[row["samples_per_class"]] = row["micro_f1"]
    return curves
