"""The paper's standard errors, by how much scores of the same methods vary over splits here.

The paper speaks of so many splits. If its scores vary from split to split as ours do, a printed error also says of how
many splits it is, and what it is after the correction for splits that overlap.
"""

from __future__ import annotations

import math
from statistics import median
from typing import Any

import numpy as np

from hopscale.paper.estimates import LEVEL, PAPER_SPLITS, TEST_SHARES, published
from hopscale.paper.methods import METHODS
from hopscale.paper.pages.headline import one_setting
from hopscale.paper.pages.layout import METRICS
from hopscale.paper.store import Measurements, reference_values

__all__ = ["printed_errors"]


def printed_errors(experiment: str, measurements: Measurements) -> list[str]:
    """A section on them, if any method was measured that the paper has a figure of."""
    metric, share = METRICS[experiment], TEST_SHARES[experiment]
    splits: dict[str, list[float]] = {}
    ratios: list[float] = []
    deviations: dict[tuple[str, str], float] = {}
    for row in reference_values(experiment):
        deviation = _deviation(measurements, row, metric)
        if deviation > 0 and row["standard_error"] > 0:
            deviations[row["method"], row["dataset"]] = deviation
            splits.setdefault(row["dataset"], []).append((deviation / row["standard_error"]) ** 2)
            ratios.append(published(row, metric).error / _corrected(deviation, share))
    if not splits:
        return []
    told = ", ".join(f"{dataset} {median(counts):.0f}" for dataset, counts in splits.items())
    text = (
        f"The paper speaks of {PAPER_SPLITS} splits. If its scores vary from split to split as those of the same "
        f"methods do here, its printed errors are of fewer: {told} (medians over methods). They have three digits, "
        f"too, so that the smallest may be off by half. Corrected as if they were over {PAPER_SPLITS}, they come out "
        f"larger than they should be, {median(ratios):.1f} times in the median, so that more differences count as "
        "level than should. "
    )
    return ["## The published errors", "", text + _with_ours(experiment, measurements, deviations), ""]


def _with_ours(experiment: str, measurements: Measurements, deviations: dict[tuple[str, str], float]) -> str:
    """What would be above the best published figure, if that had the error that scores here have."""
    share, above, clearly, total = TEST_SHARES[experiment], 0, 0, 0
    for each in one_setting(experiment, measurements):
        deviation = deviations.get((each.best_method, each.record["cell"]["dataset"]))
        if deviation is None:
            continue
        apart = each.here.minus(each.best)
        error = math.hypot(each.here.error, _corrected(deviation, share))
        total, above = total + 1, above + (apart.verdict == "above")
        clearly += apart.mean > LEVEL * error
    if not total:
        return ""
    return (
        "With errors from the deviations measured here in their place, the setting above is ahead of the best "
        f"published figure by more than two standard errors on {clearly} of {total} data sets; with errors as they are "
        f"shown, on {above}."
    )


def _deviation(measurements: Measurements, row: dict[str, Any], metric: str) -> float:
    """Standard deviation over splits of the same method on raw vectors; 0 where it was not measured."""
    if row["method"] not in METHODS:
        return 0.0
    what = {"method": row["method"], "dataset": row["dataset"], "standardize": False}
    record = measurements.get(**what, solver=METHODS[row["method"]].default_way)
    if record is None or record["repeats"] < 2:
        return 0.0
    scores = np.atleast_2d(np.array(record["scores"][metric], dtype=float)).mean(axis=0)
    return float(np.nanstd(scores, ddof=1))


def _corrected(deviation: float, share: float) -> float:
    return deviation * math.sqrt(1 / PAPER_SPLITS + share / (1 - share))
