"""Differences that a claim of the paper is judged by, and what they say in words.

A claim that one thing tends to be better than another is a list of differences, one per data set, each with its
standard error. A clear one is farther from zero than two standard errors.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from hopscale.paper.estimates import TEST_SHARES, Estimate, estimate, paired, published
from hopscale.paper.methods import SOLVERS
from hopscale.paper.pages.layout import METRICS, measured_datasets
from hopscale.paper.store import Measurements, Record, records_of, reference_values

__all__ = ["PUBLISHED", "RULE", "Evidence", "Records", "clear", "printed_datasets", "shares", "tendency"]

RULE = (
    "A difference is *clear* if it is of more than two standard errors, which are corrected for splits that overlap. "
    "That one thing tends to be better than another **holds** if differences are clear on more than half of the data "
    "sets and clearly reversed on none. It **holds in part** if they are clear on a quarter or more and reversed on "
    "fewer, **does not hold** if they are reversed on a quarter or more and clear on fewer, and is **mixed** if as "
    "many are clear as reversed. Else it is **not shown**. Data sets that the paper's tables do not have are told, and "
    "not counted. Other claims say their rule. Where the best of several is compared, it was chosen by the scores "
    "shown, on either side."
)
PUBLISHED = (
    "Differences of ours are over the same splits; where a method was fitted once, their errors know nothing of the "
    "fit. Whether the paper's methods shared theirs is not known: errors of published differences are those of "
    "independent figures, larger than they would be over the same splits. So *not shown* says of published figures "
    "that what is printed cannot show it, and not that it is wrong."
)
_ENOUGH = 1 / 4  # of the data sets: what is clear on fewer may be chance


@dataclass(frozen=True)
class Evidence:
    """What one source (published figures, or a solver) says about a claim: a verdict and the cells that show it.

    ``of`` says which part of the claim, where a source has several.
    """

    source: str
    verdict: str
    cells: str
    of: str = ""


class Records:
    """Records of all experiments in a folder, and differences between methods."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def of(self, experiment: str) -> Measurements:
        """Measurements of an experiment, read once."""
        if experiment not in self._read:
            self._read[experiment] = Measurements(records_of(self.folder, experiment).records())
        return self._read[experiment]

    @cached_property
    def _read(self) -> dict[str, Measurements]:
        return {}

    def cell(self, experiment: str, name: str, way: str, dataset: str) -> Record | None:
        """The record of a method on raw vectors."""
        return self.of(experiment).get(method=name, solver=way, dataset=dataset, standardize=False)

    def between(self, experiment: str, first: str, second: str, way: str) -> dict[str, Estimate]:
        """By data set, how far a method is above another on the same splits; or in the paper's table."""
        if way == "published":
            return self._between_published(experiment, first, second)
        metric, found = METRICS[experiment], {}
        for dataset in measured_datasets(experiment, self.of(experiment)):
            one, two = (self.cell(experiment, name, way, dataset) for name in (first, second))
            if one and two:
                found[dataset] = paired(one["scores"][metric], two["scores"][metric], TEST_SHARES[experiment])[0]
        return found

    def _between_published(self, experiment: str, first: str, second: str) -> dict[str, Estimate]:
        metric = METRICS[experiment]
        rows = {(row["method"], row["dataset"]): published(row, metric) for row in reference_values(experiment)}
        datasets = dict.fromkeys(dataset for _, dataset in rows)
        return {dataset: rows[first, dataset].minus(rows[second, dataset]) for dataset in datasets}

    def ways(self, experiment: str) -> tuple[str, ...]:
        """Published figures, and the solvers of which there are records."""
        return ("published", *(way for way in SOLVERS if self.of(experiment).all(solver=way)))

    def mean(self, record: Record, metric: str) -> float:
        """Mean of a metric over all repeats and fits."""
        return estimate(record["scores"][metric]).mean


def clear(differences: Sequence[Estimate]) -> tuple[int, int]:
    """How many differences are clearly above zero, and how many clearly below."""
    verdicts = [each.verdict for each in differences]
    return verdicts.count("above"), verdicts.count("below")


def tendency(
    source: str,
    differences: dict[str, Estimate],
    what: str = "",
    *,
    of: str = "",
    counted: Container[str] | None = None,
) -> Evidence:
    """The verdict on "tends to be above", with all differences; those of data sets in ``counted`` decide.

    >>> from hopscale.paper.estimates import Estimate
    >>> tendency("pmi", {"cora": Estimate(0.5, 0.1), "pubmed": Estimate(0.1, 0.1)}).verdict
    'holds in part'
    """
    judged = {name: each for name, each in differences.items() if counted is None or name in counted}
    up, down = clear([*judged.values()])
    enough, verdict = _ENOUGH * len(judged), "not shown"
    if up > len(judged) / 2 and not down:
        verdict = "holds"
    elif max(up, down) >= max(enough, 1):
        verdict = "mixed" if up == down else "holds in part" if up > down else "does not hold"
    told = _told(judged)
    if others := {name: each for name, each in differences.items() if name not in judged}:
        told += f"; not in the paper's tables: {_told(others)}"
    counts = f"clear on {up}, reversed on {down} of {len(judged)}"
    return Evidence(source, verdict, f"{what + ': ' if what else ''}{counts}. {told}", of)


def _told(differences: dict[str, Estimate]) -> str:
    return ", ".join(f"{name} {each.mean:+.3f} ± {each.error:.3f}" for name, each in differences.items())


def shares(source: str, holds: int, total: int, cells: str, *, of: str = "") -> Evidence:
    """The verdict on a claim that is said of all cells: it holds if it does for all, in part if for most."""
    verdict = "holds" if holds == total else "holds in part" if 2 * holds > total else "does not hold"
    return Evidence(source, verdict, f"{holds} of {total}. {cells}", of)


def printed_datasets(experiment: str) -> frozenset[str]:
    """Data sets of the paper's table or plot of an experiment."""
    return frozenset(row["dataset"] for row in reference_values(experiment.replace("-", "_")))
