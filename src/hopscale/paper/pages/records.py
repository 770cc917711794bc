"""All records of a folder, as pages read them: once, marked alike, and compared over the splits that both have."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from hopscale.paper.estimates import PAPER_SPLITS, TEST_SHARES, Estimate, Scores, estimate, paired, published
from hopscale.paper.experiments import EXPERIMENTS
from hopscale.paper.methods import METHODS, SOLVERS
from hopscale.paper.pages.layout import METRICS, measured_datasets
from hopscale.paper.store import Agreements, Measurements, Record, records_of, reference_values

__all__ = ["OUR_ERRORS", "Records", "apart", "as_measured", "deviation", "of_metric"]

OUR_ERRORS = "published, our errors"
_TEXT = ", the text's model"


class Records:
    """Records of all experiments in a folder, and differences between methods."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._measurements: dict[str, Measurements] = {}
        self._first: dict[tuple[str, str | None], str | None] = {}

    def of(self, experiment: str) -> Measurements:
        """Measurements of an experiment, marked where they are by other code than that of most records."""
        if experiment not in self._measurements:
            code = self._as_in(experiment, self._most) if self._read[experiment] else None
            self._measurements[experiment] = Measurements(self._read[experiment], code)
        return self._measurements[experiment]

    @cached_property
    def _read(self) -> dict[str, list[Record]]:
        """By experiment, its records, those of seconds too with the first of the codes that count as one."""
        found = {}
        for name in EXPERIMENTS:
            records = records_of(self.folder, name).records()
            found[name] = [{**record, "sources": self._as_in(name, record["code"])} for record in records]
        return found

    @cached_property
    def _most(self) -> str | None:
        """The code that counts as one with that of the most records."""
        known = dict.fromkeys(r["code"] for records in self._read.values() for r in records if r["code"])
        known |= dict.fromkeys(code for pair in Agreements(self.folder).pairs() for code in pair)
        return max(known, key=self._alike, default=None)

    def _alike(self, code: str | None) -> int:
        """How many records count as made by a code."""
        return sum(r["sources"] == self._as_in(name, code) for name, records in self._read.items() for r in records)

    def _as_in(self, experiment: str, code: str | None) -> str | None:
        """The first of all codes that count as one with this one in an experiment."""
        if (experiment, code) not in self._first:
            self._first[experiment, code] = Agreements(self.folder, experiment).first(code)
        return self._first[experiment, code]

    def codes(self) -> dict[str, Counter[str | None]]:
        """By experiment, how many records each code has made, where there are records.

        Those that count as made by the code of most records are counted as its.
        """
        found = {}
        for name, records in self._read.items():
            here = self._as_in(name, self._most)
            codes = (record["sources"] for record in records)
            found[name] = Counter(self._most if code == here else code for code in codes)
        return {name: counts for name, counts in found.items() if counts}

    def cell(self, experiment: str, name: str, way: str, dataset: str, *, standardize: bool = False) -> Record | None:
        """The record of a method and solver, or of the same by the paper's text; on raw vectors, where it matters."""
        what = {"standardize": standardize} if experiment in METRICS else {}
        return self.of(experiment).get(**as_measured(name, way), dataset=dataset, **what)

    def between(self, experiment: str, first: str, second: str, way: str) -> dict[str, Estimate]:
        """By data set, how far a method is above another on the same splits; or in the paper's table."""
        if way in self.printed(experiment):
            return self._between_published(experiment, first, second, way)
        found = {}
        for dataset in measured_datasets(experiment, self.of(experiment)):
            one, two = (self.cell(experiment, name, way, dataset) for name in (first, second))
            if one and two:
                found[dataset] = apart(one, two, of_metric(METRICS[experiment]), TEST_SHARES[experiment])[0]
        return found

    def _between_published(self, experiment: str, first: str, second: str, way: str) -> dict[str, Estimate]:
        known = {first, second}
        rows = {
            (row["method"], row["dataset"]): self.figure(experiment, row, way)
            for row in reference_values(experiment)
            if row["method"] in known
        }
        datasets = dict.fromkeys(dataset for _, dataset in rows)
        return {dataset: rows[first, dataset].minus(rows[second, dataset]) for dataset in datasets}

    def figure(self, experiment: str, row: dict[str, Any], way: str) -> Estimate:
        """A figure of the paper, with its own error; or with that of the same method's scores here, where there are."""
        metric = METRICS[experiment]
        figure = published(row, metric)
        record = same_method(self.of(experiment), row) if way == OUR_ERRORS else None
        if record is None:
            return figure
        here = estimate(record["scores"][metric], TEST_SHARES[experiment], splits=PAPER_SPLITS)
        return replace(figure, error=here.error, freedom=here.freedom) if here.error > 0 else figure

    def printed(self, experiment: str) -> tuple[str, ...]:
        """How published figures are read: with their errors, and with ours where the paper's table has errors."""
        return ("published", OUR_ERRORS) if experiment in METRICS and self.solvers(experiment) else ("published",)

    def solvers(self, experiment: str) -> tuple[str, ...]:
        """The solvers of which there are records."""
        return tuple(way for way in SOLVERS if self.of(experiment).all(solver=way))

    def measured(self, experiment: str) -> tuple[str, ...]:
        """The same, and those of the models as the paper's text has them."""
        return (*self.solvers(experiment), *self.texts(experiment))

    def texts(self, experiment: str) -> tuple[str, ...]:
        """The ways of measuring the models as the paper's text has them of which there are records."""
        ways = (f"{way}{_TEXT}" for way in SOLVERS)
        return tuple(way for way in ways if self.of(experiment).all(**as_measured("MUSAE", way)))

    def ways(self, experiment: str) -> tuple[str, ...]:
        """How figures came about that are published or measured."""
        return (*self.printed(experiment), *self.measured(experiment))

    def mean(self, record: Record, metric: str) -> float:
        """Mean of a metric over all repeats and fits."""
        return estimate(record["scores"][metric]).mean


def as_measured(name: str, way: str) -> dict[str, str]:
    """Method and solver of a model by one of the ways of measuring it.

    >>> as_measured("AE", "pmi"), as_measured("AE", "pmi, the text's model")
    ({'method': 'AE', 'solver': 'pmi'}, {'method': 'AE-TEXT', 'solver': 'pmi'})
    """
    text = way.endswith(_TEXT)
    return {"method": f"{name}-TEXT" if text else name, "solver": way.removesuffix(_TEXT)}


def same_method(measurements: Measurements, row: dict[str, Any]) -> Record | None:
    """Scores of the method of a row of the paper on raw vectors, if there are any of several splits."""
    if row["method"] not in METHODS:
        return None
    what = {"method": row["method"], "dataset": row["dataset"], "standardize": False}
    record = measurements.get(**what, solver=METHODS[row["method"]].default_way)
    return record if record and record["repeats"] > 1 else None


def deviation(measurements: Measurements, row: dict[str, Any], metric: str) -> float:
    """Standard deviation over splits of the method of a row on raw vectors; 0 where it was not measured."""
    record = same_method(measurements, row)
    if record is None:
        return 0.0
    scores = np.atleast_2d(np.array(record["scores"][metric], dtype=float)).mean(axis=0)
    return float(np.nanstd(scores, ddof=1))


def of_metric(metric: str) -> Callable[[Record], Scores]:
    """What reads the scores of a metric from a record."""
    return lambda record: list(record["scores"][metric])


def apart(
    one: Record, two: Record, scores: Callable[[Record], Scores], test_share: float = 0.0
) -> tuple[Estimate, int]:
    """How far a record is above another over the splits that both have, with the marks of both; and these splits.

    Where each run has a fit of its own, the seed of a record is that of its splits. With another seed they are others,
    and the difference is that of independent means.
    """
    if "fit" not in one and one["cell"].get("seed") != two["cell"].get("seed"):
        means = [estimate(scores(record), test_share) for record in (one, two)]
        difference, splits = means[0].minus(means[1]), min(one["repeats"], two["repeats"])
    else:
        difference, splits = paired(scores(one), scores(two), test_share)
    return replace(difference, marks="".join(dict.fromkeys(one["marks"] + two["marks"]))), splits
