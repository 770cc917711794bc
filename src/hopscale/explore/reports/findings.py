"""Numbers of a report: scores on labels, confusions, how many labels are enough, scales, features of groups."""

from __future__ import annotations

import warnings
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import ElasticNet

from hopscale.exceptions import HopscaleError, HopscaleWarning
from hopscale.graph import AttributedGraph
from hopscale.labels import class_codes, has_class, has_value, likely_task, target_values
from hopscale.supervised.heads.logistic import fit_logistic
from hopscale.tasks import Task, evaluate, few_shot, summarize
from hopscale.tasks.metrics import Summary

__all__ = ["MOST_SCORED", "Scored", "feature_values", "held_out_predictions", "scored", "top_features", "typical_rows"]

MOST_SCORED = 20_000  # labelled nodes that are scored on

_SPLITS = 10
_FEW_SPLITS = 5  # where many scores are compared
_FOLDS = 5
_SAMPLES = (1, 2, 5, 10, 20, 50, 100)
_ALPHA = 0.01  # of the elastic net, as in node_regression


@dataclass(frozen=True)
class Scored:
    """Scores of a model's vectors on labels.

    ``rows`` are the labelled nodes that were scored on; ``scales`` has a summary for all scales, each alone, and all
    but each; ``few`` one for each number of labelled nodes a class.
    """

    task: Task
    rows: NDArray[np.int64]
    labelled: int
    metric: str
    baseline: str  # metric of the commonest class, or of the mean
    summary: Summary
    splits: int
    scales: dict[str, Summary]
    few: dict[int, Summary]


def scored(model: Any, labels: NDArray[Any], task: Task | None, *, seed: int = 0, progress: bool = False) -> Scored:
    """Scores of all dimensions, of few labels and of parts of the scales; raises an error where there are none."""
    chosen = likely_task(labels)[0] if task is None else task
    known = np.flatnonzero(has_value(labels) if chosen == "regression" else has_class(labels))
    rows = known
    if len(rows) > MOST_SCORED:
        rows = np.sort(np.random.default_rng(seed).choice(rows, MOST_SCORED, replace=False))
    vectors, targets = model.embedding_[rows], labels[rows]
    how: dict[str, Any] = {"random_state": seed, "n_jobs": model.n_jobs}
    # A small count of labels makes tasks warn of the same thing at each call: the first says it.
    summary = summarize(evaluate(vectors, targets, chosen, splits=_SPLITS, progress=progress, **how))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HopscaleWarning)
        scales = {
            name: summarize(
                evaluate(vectors[:, columns], targets, chosen, splits=_FEW_SPLITS, progress=progress, **how)
            )
            for name, columns in _parts(model).items()
        }
        few = _few(vectors, targets, how) if chosen == "classification" else {}
    metric, baseline = ("micro_f1", "majority_micro_f1") if chosen == "classification" else ("r2", "mean_r2")
    return Scored(chosen, rows, len(known), metric, baseline, summary, _SPLITS, scales, few)


def _parts(model: Any) -> dict[str, NDArray[np.int64]]:
    """Columns of all scales, of each and of all but each; nothing where there is one."""
    scales = model.scale_columns_
    if len(scales) < 2:
        return {}
    every = np.arange(model.embedding_.shape[1])
    parts = {"all scales": every}
    parts |= {f"scale {label} alone": every[columns] for label, columns in scales.items()}
    if len(scales) > 2:
        parts |= {f"all but scale {label}": np.delete(every, columns) for label, columns in scales.items()}
    return parts


def _few(vectors: NDArray[Any], labels: NDArray[Any], how: dict[str, Any]) -> dict[int, Summary]:
    """Scores by number of training nodes a class, as far as the classes have as many; empty where they have not."""
    codes = class_codes(labels)[0]
    largest = int(np.median(np.bincount(codes[codes >= 0])))
    counts = [k for k in _SAMPLES if 2 * k <= largest]
    try:
        records = few_shot(vectors, labels, samples_per_class=counts, splits=_SPLITS, **how) if counts else []
    except HopscaleError:  # classes of one node
        records = []
    return summarize(records, by="k") if records else {}


def held_out_predictions(
    model: Any, labels: NDArray[Any], found: Scored, *, seed: int = 0
) -> tuple[NDArray[Any], NDArray[Any], list[Hashable]]:
    """Truth and prediction of each node that was scored on, by cross-validation, and the names of classes.

    Classes are codes. Predictors are those of the scores: a logistic regression or an elastic net.
    """
    X, y = model.embedding_[found.rows].astype(np.float64), labels[found.rows]
    order = np.random.default_rng(seed).permutation(len(y))
    folds = np.empty(len(y), dtype=np.int64)
    folds[order] = np.arange(len(y)) % min(_FOLDS, len(y))
    if found.task == "classification":
        codes, names = class_codes(y)
        parts = folds != np.arange(folds.max() + 1)[:, None]
        fit = fit_logistic(X, codes, len(names), parts)
        predicted = np.empty(len(y), dtype=np.int64)
        for fold in range(len(parts)):
            predicted[~parts[fold]] = fit.probabilities(X[~parts[fold]], fold).argmax(axis=1)
        return codes, predicted, names
    values, guessed = target_values(y), np.empty(len(y))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that the last digits have not converged
        for fold in range(folds.max() + 1):
            test = folds == fold
            net = ElasticNet(alpha=_ALPHA, l1_ratio=0.5, max_iter=10_000).fit(X[~test], values[~test])
            guessed[test] = net.predict(X[test])
    return values, guessed, []


def top_features(
    graph: AttributedGraph, groups: NDArray[np.int64], count: int, k: int = 8
) -> list[list[tuple[Any, float]]]:
    """For each group, the features that tell it best from all nodes, and how many times commoner they are in it.

    Features are ordered by p·log(p/q), their part in the divergence of the group from all nodes, where p and q are
    the shares of nodes that have the feature in the group and in all. Nodes of group -1 are in none.
    """
    has = graph.features.astype(bool).astype(np.float64)
    overall = np.asarray(has.sum(axis=0)).ravel() / max(graph.n_nodes, 1)
    answers = []
    for group in range(count):
        members = np.flatnonzero(groups == group)
        share = np.asarray(has[members].sum(axis=0)).ravel() / max(len(members), 1)
        with np.errstate(divide="ignore", invalid="ignore"):
            times = np.where(overall > 0, share / overall, 0.0)
            part = np.where(share > 0, share * np.log(times), 0.0)
        best = np.argsort(-part, kind="stable")[:k]
        answers.append([(graph.feature_names[at], float(times[at])) for at in best if part[at] > 0])
    return answers


def feature_values(
    graph: AttributedGraph, values: NDArray[np.float64], k: int = 10, least: int = 5
) -> list[tuple[Any, int, float, float]]:
    """Features that tell values best: name, nodes that have it, their mean value, and that of the others.

    Ordered by the size of the t statistic of the difference; features of fewer than ``least`` labelled nodes, or of
    all but as many, are left out.
    """
    known = ~np.isnan(values)
    has, y = graph.features[known].astype(bool).astype(np.float64), values[known]
    n, count = len(y), np.asarray(has.sum(axis=0)).ravel()
    total, squares = has.T @ y, has.T @ (y * y)
    other = n - count
    with np.errstate(divide="ignore", invalid="ignore"):
        mean, rest = total / count, (y.sum() - total) / other
        spread = (squares - count * mean**2 + ((y * y).sum() - squares) - other * rest**2) / max(n - 2, 1)
        t = (mean - rest) / np.sqrt(np.maximum(spread, 1e-300) * (1 / count + 1 / other))
    t = np.where((count >= least) & (other >= least), t, 0.0)
    best = [at for at in np.argsort(-np.abs(t), kind="stable")[:k] if t[at]]
    return [(graph.feature_names[at], int(count[at]), float(mean[at]), float(rest[at])) for at in best]


def typical_rows(vectors: NDArray[np.float32], groups: NDArray[np.int64], count: int) -> list[int]:
    """For each of the first groups, the node whose vector is nearest, by cosine, to the mean of the group's."""
    answers = []
    for group in range(count):
        members = np.flatnonzero((groups == group) & vectors.any(axis=1))
        if len(members):
            rows = vectors[members].astype(np.float64)
            units = rows / np.linalg.norm(rows, axis=1, keepdims=True)
            answers.append(int(members[np.argmax(units @ units.mean(axis=0))]))
    return answers
