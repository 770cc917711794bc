"""The pages ``few-shot``, ``transfer``, ``link-prediction`` and ``attribute-inference``: tables of methods."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from hopscale.paper.experiments import TARGETS, TWITCH
from hopscale.paper.methods import METHODS, SOLVERS, WAYS
from hopscale.paper.pages.layout import COLOURS, mark, panels_in_a_row, rounded, score_text, table
from hopscale.paper.store import Measurements, Record, reference_values
from hopscale.tasks.metrics import mean_and_error

_SHOWN = (3, 9, 15, 21, 30)  # values of k in the tables; the plot has all
_METHODS = ("AE", "MUSAE")
_TEXTS = {
    "link-prediction": "Vectors learnt on half of the edges; the others against pairs that are no edges: ROC-AUC ± "
    "standard error / average precision, by what a pair's vectors are turned into.",
    "attribute-inference": "A tenth of the (node, feature) entries hidden before the fit, ranked against pairs that "
    "are none: ROC-AUC ± standard error / average precision. *product* is G·Hᵀ, *likelihood* adds log p(f), "
    "*popularity* and *neighbors* know no vectors.",
}


def few_shot_page(measurements: Measurements, _: Path) -> list[str]:
    reference = _published_curves()
    shown = [k for k in measurements.records[0]["scores"]["micro_f1"] if int(k) in _SHOWN]

    def cells(record: Record) -> list[str]:
        published = reference.get((record["cell"]["method"], record["cell"]["dataset"]), {})
        means = {k: mean_and_error(record["scores"]["micro_f1"][k]) for k in shown}
        return [f"{rounded(published.get(int(k)))} / {mean:.3f} ± {error:.3f}" for k, (mean, error) in means.items()]

    text = "Mean micro-F1 of k training nodes a class, tested on all others: published / measured."
    return [text, "", *_by_method(measurements, [f"k = {k}" for k in shown], cells)]


def few_shot_plot(measurements: Measurements, figure: Any) -> None:
    """Micro-F1 against k, a panel per data set."""
    datasets = measurements.values("dataset")
    for axis, dataset in zip(panels_in_a_row(figure, len(datasets)), datasets, strict=True):
        for (name, where), points in _published_curves().items():
            if where == dataset:
                axis.plot([*points], [*points.values()], ":", color=COLOURS.get(name, "lightgray"), linewidth=1)
        for name, colour in COLOURS.items():
            if record := measurements.get(method=name, solver="pmi", dataset=dataset):
                scores = record["scores"]["micro_f1"]
                axis.plot([int(k) for k in scores], [np.mean(v) for v in scores.values()], color=colour, label=name)
        axis.set(title=dataset, xlabel="samples per class", ylabel="micro-F1")
    axis.plot([], [], "k:", label="published")
    axis.legend()


def _published_curves() -> dict[tuple[str, str], dict[float, float]]:
    """The paper's micro-F1 for each k, by method and data set."""
    curves: dict[tuple[str, str], dict[float, float]] = {}
    for row in reference_values("few_shot"):
        curves.setdefault((row["method"], row["dataset"]), {})[row["samples_per_class"]] = row["micro_f1"]
    return curves


def held_out_page(experiment: str, measurements: Measurements, _: Path) -> list[str]:
    kinds = list(measurements.records[0]["scores"]["roc_auc"])

    def cells(record: Record) -> list[str]:
        area, precision = record["scores"]["roc_auc"], record["scores"]["average_precision"]
        each = [(*mean_and_error(area[kind]), mean_and_error(precision[kind])[0]) for kind in kinds]
        return ["{:.3f} ± {:.3f} / {:.3f}".format(*numbers) for numbers in each]

    return [_TEXTS[experiment], "", *_by_method(measurements, kinds, cells)]


def _by_method(
    measurements: Measurements, columns: Sequence[str], cells: Callable[[Record], Iterable[str]]
) -> list[str]:
    """A table per data set, with a row of cells for each method and solver that was measured."""
    lines = []
    for dataset in measurements.values("dataset"):
        rows = [
            [name, solver + mark(record), *cells(record)]
            for name, solver in product(METHODS, WAYS)
            if (record := measurements.get(method=name, solver=solver, dataset=dataset))
        ]
        lines += table(dataset, ["method", "solver", *columns], rows)
    return lines


def transfer_page(measurements: Measurements, _: Path) -> list[str]:
    reference = {(r["method"], r["source"], r["target"]): r for r in reference_values("transfer")}
    lines = [
        "Micro-F1 on the target of a classifier that was trained on the source, mean over seeded runs; AUC in "
        "brackets. The last column is the source's commonest class, answered everywhere.",
        "",
    ]
    header = ["source", "method", "published", "pmi, raw", "pmi, standardised", "sgns, raw", "sgns, standardised"]
    for target in TARGETS:
        rows = []
        for source, name in product(TWITCH, _METHODS):
            value = reference.get((name, source, target))
            if value is None:
                continue
            row = [source, name, f"{value['micro_f1']:.3f} ± {value['standard_error']:.3f}"]
            majority = "–"
            for solver, standardize in product(SOLVERS, (False, True)):
                what = {"dataset": target, "source": source, "method": name, "solver": solver}
                record = measurements.get(**what, standardize=standardize)
                text = score_text(record, "micro_f1")
                if record is not None:
                    text += f" ({mean_and_error(record['scores']['roc_auc'])[0]:.3f})"
                    majority = f"{mean_and_error(record['scores']['majority_micro_f1'])[0]:.3f}"
                row.append(text)
            rows.append([*row, majority])
        retrained = {name: row for (name, _, where), row in reference.items() if where == target}
        values = ", ".join(f"{name} {row['retrained_on_target_micro_f1']:.3f}" for name, row in retrained.items())
        lines += table(f"To {target}", [*header, "majority"], rows)
        lines += [f"Published for models that were fitted to {target} itself: {values}.", ""]
    return lines


def transfer_plot(measurements: Measurements, figure: Any) -> None:
    """Bars of micro-F1 for each source, a panel per target and method."""
    panels = list(product(measurements.values("dataset"), _METHODS))
    rows = reference_values("transfer")
    for axis, (target, name) in zip(panels_in_a_row(figure, len(panels), 3.2), panels, strict=True):
        here = [row for row in rows if row["method"] == name and row["target"] == target]
        positions = np.arange(len(here))
        axis.bar(positions - 0.3, [r["micro_f1"] for r in here], 0.2, color="lightgray", label="published")
        for shift, solver, colour in ((-0.1, "pmi", "tab:red"), (0.1, "sgns", "tab:blue")):
            for position, row in zip(positions, here, strict=True):
                what = {"dataset": target, "source": row["source"], "method": name, "solver": solver}
                if record := measurements.get(**what, standardize=False):
                    height = np.mean(record["scores"]["micro_f1"])
                    axis.bar(position + shift, height, 0.2, color=colour, label=solver if position == 0 else None)
        if here:  # the paper's value for a model that was fitted to the target itself
            axis.axhline(here[0]["retrained_on_target_micro_f1"], color="gray", linestyle=":", label="retrained")
        axis.set_xticks(positions, [r["source"].removeprefix("twitch-").upper() for r in here])
        axis.set(title=f"{name} to {target}", ylabel="micro-F1", ylim=(0, 0.85))
    axis.legend()
