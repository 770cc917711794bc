"""The paper's standard errors, by how much scores of the same methods vary over splits here.

The paper speaks of so many splits. If its scores vary from split to split as ours do, a printed error also says of how
many splits it is, and what it is after the correction for splits that overlap.
"""

from __future__ import annotations

from statistics import median

from hopscale.paper.estimates import PAPER_SPLITS, published
from hopscale.paper.pages.headline import one_setting
from hopscale.paper.pages.layout import METRICS
from hopscale.paper.pages.records import OUR_ERRORS, Records, deviation
from hopscale.paper.store import reference_values

__all__ = ["printed_errors"]

_ROUNDED = 0.0005  # a printed error may be off by so much


def printed_errors(experiment: str, records: Records) -> list[str]:
    """A section on them, if any method was measured that the paper has a figure of."""
    metric, measurements = METRICS[experiment], records.of(experiment)
    splits: dict[str, list[tuple[float, float]]] = {}
    ratios: list[float] = []
    for row in reference_values(experiment):
        here, printed = deviation(measurements, row, metric), row["standard_error"]
        if here > 0 and printed > _ROUNDED:
            counts = (here / (printed + _ROUNDED)) ** 2, (here / (printed - _ROUNDED)) ** 2
            splits.setdefault(row["dataset"], []).append(counts)
            ratios.append(published(row, metric).error / records.figure(experiment, row, OUR_ERRORS).error)
    if not splits:
        return []
    ranges = {name: [median(each[end] for each in counts) for end in (0, 1)] for name, counts in splits.items()}
    text = f"The paper speaks of {PAPER_SPLITS} splits. "
    if fewer := {name: ends for name, ends in ranges.items() if ends[1] < PAPER_SPLITS}:
        text += (
            "If its scores vary from split to split as those of the same methods do here, its printed errors are those "
            f"of fewer on {_told(fewer)} (medians over methods; from and to, as errors have three digits), or of runs "
            "that differ in more than their splits, such as fits of their own. "
        )
    if open_ := {name: ends for name, ends in ranges.items() if name not in fewer}:
        text += f"It cannot be told of {_told(open_)}. "
    text += (
        f"Corrected as if they were over {PAPER_SPLITS} splits alone, the errors come out larger than those of the "
        f"same methods here, {median(ratios):.1f} times in the median: more differences are then level. "
    )
    return ["## The published errors", "", text + _with_ours(experiment, records), ""]


def _told(ranges: dict[str, list[float]]) -> str:
    return ", ".join(f"{name} ({low:.0f} to {high:.0f})" for name, (low, high) in ranges.items())


def _with_ours(experiment: str, records: Records) -> str:
    """What would be above the best published figure, if that had the error that scores here have."""
    rows = {(row["method"], row["dataset"]): row for row in reference_values(experiment)}
    above, clearly, total = 0, 0, 0
    for each in one_setting(experiment, records.of(experiment)):
        row = rows[each.best_method, each.record["cell"]["dataset"]]
        if deviation(records.of(experiment), row, METRICS[experiment]) > 0:
            total, above = total + 1, above + (each.here.minus(each.best).verdict == "above")
            clearly += each.here.minus(records.figure(experiment, row, OUR_ERRORS)).verdict == "above"
    if not total:
        return ""
    return (
        "With errors from the scores measured here in their place, the setting above is clearly ahead of the best "
        f"published figure on {clearly} of {total} data sets; with errors as they are shown, on {above}."
    )
