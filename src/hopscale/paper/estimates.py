r"""Means of scores with standard errors that know that splits overlap and that fits are random.

All splits of an experiment are of the same nodes, so their scores are correlated, and the usual standard error says
how well the mean over *all* splits of this data set is known, not how well the score is. Both sides of a comparison,
published and measured, are therefore corrected as Nadeau and Bengio propose, see
:func:`hopscale.tasks.metrics.mean_and_error`. Where a method was fitted several times, with other seeds, the spread of
the fits is added:

.. math:: \mathrm{SE}^2 = \left(\frac{1}{k} + \frac{\rho}{1 - \rho}\right) s_\text{splits}^2 + \frac{s_\text{fits}^2}{m}

with k splits, a share ρ of test nodes and m fits; both variances are of means over the other index.

A difference counts as clear if it is farther from zero than two standard errors; with few splits or fits than as many
as leave five per cent of Student's distribution outside. Degrees of freedom are joined as Welch and Satterthwaite do.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from hopscale.tasks.metrics import mean_and_error

__all__ = ["LEVEL", "PAPER_SPLITS", "TEST_SHARES", "Estimate", "estimate", "paired", "published"]

PAPER_SPLITS = 100
LEVEL = 2.0  # standard errors: what is no farther apart is called level; more if they are of few splits or fits
_INSIDE = 0.975  # of Student's distribution below the quantile, five per cent being outside on both sides together
# Shares of test nodes, edges or entries in splits of the same data. Of removed edges, half of all, a fifth are tested
# on. There is none for few-shot learning, whose training parts hardly overlap, nor for transfer, which has no splits.
TEST_SHARES = {"classification": 0.2, "regression": 0.2, "link-prediction": 0.1, "attribute-inference": 0.1}

Scores = Sequence[Any]  # one per split; or such a list for each fit


@dataclass(frozen=True)
class Estimate:
    """A mean and its standard error, which is NaN where nothing is known of it; signs that a page shows beside it.

    ``freedom`` are the degrees of freedom of the error: none of a single run. A printed figure without an error has
    infinitely many, and is taken as exact.
    """

    mean: float
    error: float
    marks: str = ""
    freedom: float = math.inf

    def __str__(self) -> str:
        return f"{self.mean:.3f}{self.marks}" + ("" if math.isnan(self.error) else f" ± {self.error:.3f}")

    def minus(self, other: Estimate) -> Estimate:
        """The difference of two that were estimated independently of each other.

        >>> str(Estimate(0.75, 0.03).minus(Estimate(0.5, 0.04, "†")))
        '0.250† ± 0.050'
        >>> str(Estimate(0.75, 0.03).minus(Estimate(0.5, math.nan)))
        '0.250 ± 0.030'
        """
        marks = "".join(dict.fromkeys(self.marks + other.marks))
        error, freedom = _joined((self.error, self.freedom), (other.error, other.freedom))
        return Estimate(self.mean - other.mean, error, marks, freedom)

    @property
    def signed(self) -> str:
        """The same with a sign before the number: of a difference.

        >>> Estimate(0.25, math.nan).signed
        '+0.250'
        """
        return ("+" if self.mean >= 0 else "") + str(self)

    @property
    def in_errors(self) -> float:
        """The mean in standard errors; NaN where there is none."""
        return self.mean / self.error if self.error > 0 else math.nan

    @property
    def reach(self) -> float:
        """How far from zero a difference may be and still be level: any of single runs, none of exact figures.

        >>> Estimate(0.05, 0.02).reach, round(Estimate(0.05, 0.02, freedom=4).reach, 3)
        (0.04, 0.056)
        >>> Estimate(0.05, math.nan, freedom=0).reach, Estimate(0.05, math.nan).reach
        (inf, 0.0)
        """
        if math.isnan(self.error):
            return 0.0 if math.isinf(self.freedom) else math.inf
        return self.error * max(LEVEL, float(stdtrit(self.freedom, _INSIDE)))

    @property
    def verdict(self) -> str:
        """Of a difference: "above", "below", or "level" if it is within two standard errors, or more if of few runs.

        >>> Estimate(0.05, 0.02).verdict, Estimate(0.03, 0.02).verdict, Estimate(0.05, 0.02, freedom=4).verdict
        ('above', 'level', 'level')
        """
        if not abs(self.mean) > self.reach:
            return "level"
        return "above" if self.mean > 0 else "below"


def estimate(scores: Scores, test_share: float = 0.0, *, splits: int | None = None) -> Estimate:
    """Mean and corrected standard error of the scores of a cell; or the error of a mean over so many ``splits``.

    >>> str(estimate([0.7, 0.9]))
    '0.800 ± 0.100'
    """
    table = _complete(_fits_by_splits(scores))
    return _of_splits(table.mean(axis=0), test_share, splits, _of_fits(table))


def paired(first: Scores, second: Scores, test_share: float = 0.0) -> tuple[Estimate, int]:
    """The mean difference over the splits that both have, which are the first ones, and their number.

    >>> paired([0.5, 0.75, 0.7], [0.25, 0.25])[0].mean
    0.375
    """
    one, two = _fits_by_splits(first), _fits_by_splits(second)
    common = min(one.shape[1], two.shape[1])
    both = _complete(np.vstack([one[:, :common], two[:, :common]]))
    one, two = both[: len(one)], both[len(one) :]
    difference = _of_splits(one.mean(axis=0) - two.mean(axis=0), test_share, None, _of_fits(one), _of_fits(two))
    return difference, both.shape[1]


def published(row: Mapping[str, Any], metric: str) -> Estimate:
    """A figure of the paper; its standard error, over 100 splits of which a fifth is tested on, is corrected as ours.

    >>> str(published({"r2": 0.5, "standard_error": 0.01}, "r2"))
    '0.500 ± 0.051'
    """
    share = TEST_SHARES["classification"]
    error = row["standard_error"] * math.sqrt(1 + PAPER_SPLITS * share / (1 - share))
    return Estimate(row[metric], error, freedom=PAPER_SPLITS - 1)


def _fits_by_splits(scores: Scores) -> NDArray[np.float64]:
    return np.atleast_2d(np.array(scores, dtype=np.float64))  # None becomes NaN


def _complete(table: NDArray[np.float64]) -> NDArray[np.float64]:
    """The splits of which every fit has a score: means of fits are then over the same splits."""
    return table[:, ~np.isnan(table).any(axis=0)]


def _of_splits(
    scores: NDArray[np.float64], test_share: float, splits: int | None, *fits: tuple[float, float]
) -> Estimate:
    """The mean of a score per split, with the error of splits and fits together."""
    mean, error = mean_and_error(scores.tolist(), test_share=test_share)
    if splits is not None:
        ratio = test_share / (1 - test_share)
        error *= math.sqrt((1 / splits + ratio) / (1 / max(len(scores), 1) + ratio))
    error, freedom = _joined((error, max(len(scores) - 1, 0)), *fits)
    return Estimate(mean, error, freedom=freedom)


def _of_fits(table: NDArray[np.float64]) -> tuple[float, float]:
    """Error of the mean over fits, and its degrees of freedom; none for a single one, of which nothing is known."""
    fits = len(table)
    if fits < 2 or not table.size:
        return 0.0, math.inf
    return float(table.mean(axis=1).std(ddof=1)) / math.sqrt(fits), fits - 1


def _joined(*parts: tuple[float, float]) -> tuple[float, float]:
    """The error of a sum of independent parts, each with its error and degrees of freedom, and those of the sum.

    Parts that are exact, without an error and with infinitely many degrees of freedom, add nothing.
    """
    parts = tuple(part for part in parts if not (math.isnan(part[0]) and math.isinf(part[1]))) or parts[:1]
    error = math.hypot(*(each for each, _ in parts))
    if math.isnan(error):
        return error, min(freedom for each, freedom in parts if math.isnan(each))
    if not error > 0:
        return error, math.inf
    unsure = sum((each / error) ** 4 / freedom for each, freedom in parts if each > 0)
    return error, 1 / unsure if unsure > 0 else math.inf
