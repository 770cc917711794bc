"""Choosing among candidates by cross-validation inside the training part."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from hopscale.supervised.smoothing import CORRECT_ALPHAS, SMOOTH_ALPHAS, Smoothing

__all__ = ["NOTHING_LEARNT", "SMOOTHINGS", "STRENGTHS", "Candidate", "Metric", "Report", "fold_numbers", "ranked"]

Array = NDArray[np.float64]
Indices = NDArray[np.int64]
Metric = Literal["accuracy", "r2"]

SMOOTHINGS = tuple(Smoothing(correct, smooth) for smooth in SMOOTH_ALPHAS for correct in CORRECT_ALPHAS)


NOTHING_LEARNT = "This is not clearly better than no learning at all: the graph may not tell what is asked for."
STRENGTHS = {"logistic": "C", "kernel": "penalty", "elastic-net": "penalty"}  # what the strength of a head is called


@dataclass(frozen=True)
class Candidate:
    """A way from a graph to predictions, and its cross-validated score.

    ``strength`` is C of a logistic regression, which regularises less the larger it is, or the weight of the penalty of
    a kernel or an elastic net. ``score`` is accuracy or R² on held-out training nodes.
    """

    inputs: str
    head: str
    strength: float
    smoothing: Smoothing
    score: float

    def __str__(self) -> str:
        return f"{self.head} on {self.inputs}, {STRENGTHS[self.head]} {self.strength:g}, smoothing: {self.smoothing}"


@dataclass(frozen=True, eq=False)
class Report:
    """What was tried, and what was chosen.

    Attributes
    ----------
    candidates : list of Candidate
        Every combination of inputs, head and smoothing, each with its best strength; the highest score first.
    chosen : Candidate
    baseline : float
        Score of always predicting the commonest class, or the mean.
    n_train, n_folds : int
    metric : {"accuracy", "r2"}
        What scores are: of classes or of values.
    """

    candidates: list[Candidate]
    chosen: Candidate
    baseline: float
    n_train: int
    n_folds: int
    metric: Metric

    def __str__(self) -> str:
        """A table of the best candidate of each kind."""
        lines = [f"{self.n_folds}-fold cross-validation on {self.n_train} training nodes", f"{'score':>7}  candidate"]
        shown: set[tuple[str, str, bool]] = set()
        for each in self.candidates:
            kind = (each.inputs, each.head, bool(each.smoothing))
            if kind not in shown:
                shown.add(kind)
                mark = "  <- chosen" if each == self.chosen else ""
                lines.append(f"{each.score:7.4f}  {each}{mark}")
        lines.append(f"{self.baseline:7.4f}  without learning")
        return "\n".join(lines if self.is_better else [*lines, NOTHING_LEARNT])

    @property
    def is_better(self) -> bool:
        """Whether the score is above the baseline by more than two standard errors."""
        score = min(max(self.chosen.score, 0.0), 1.0)
        if self.metric == "accuracy":
            error = math.sqrt(score * (1 - score) / self.n_train)
        else:  # from large samples
            error = 2 * math.sqrt(score) * (1 - score) / math.sqrt(self.n_train)
        return self.chosen.score - self.baseline > 2 * error


def fold_numbers(targets: Array, count: int, seed: int) -> Indices:
    """Number of the fold of each training node; each class is dealt evenly over the folds.

    >>> sorted(fold_numbers(np.eye(2)[[0, 0, 1, 1]], 2, seed=0)[:2].tolist())
    [0, 1]
    """
    order = np.random.default_rng([seed, count]).permutation(len(targets))
    if targets.shape[1] > 1:
        order = order[np.argsort(targets.argmax(axis=1)[order], kind="stable")]
    folds = np.empty(len(targets), dtype=np.int64)
    folds[order] = np.arange(len(targets)) % count
    return folds


def ranked(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Candidates by score, the highest first; candidates of equal score in the order given."""
    return sorted(candidates, key=lambda each: -each.score)
