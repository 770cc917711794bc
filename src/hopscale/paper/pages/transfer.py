"""The page ``transfer``: model and classifier fitted to one Twitch network, tested on another."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from hopscale.paper.experiments import TARGETS, TWITCH
from hopscale.paper.methods import SOLVERS
from hopscale.paper.pages.layout import mean_and_error, panels_in_a_row, score_text, table
from hopscale.paper.store import Measurements, reference_values

_METHODS = ("AE", "MUSAE")


def page(measurements: Measurements, _: Path) -> list[str]:
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


def plot(measurements: Measurements, figure: Any) -> None:
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
