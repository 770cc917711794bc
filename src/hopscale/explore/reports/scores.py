"""Sections of a report on how well vectors predict labels."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import r2_score

from hopscale.explore.node_colors import MOST_CLASSES
from hopscale.explore.reports import charts
from hopscale.explore.reports.document import Paragraph, Picture, Section, Table
from hopscale.explore.reports.findings import Scored, held_out_predictions
from hopscale.explore.shown_names import in_order, short_text
from hopscale.tasks.metrics import Summary

__all__ = ["mean_text", "score_sections"]

_WORDS = {
    "micro_f1": "micro-F1 (share of right answers)",
    "macro_f1": "macro-F1 (mean over classes)",
    "roc_auc": "ROC-AUC (mean over classes)",
    "majority_micro_f1": "micro-F1 of the commonest class",
    "r2": "R² (share of the variance that is predicted)",
    "mean_r2": "R² of the mean",
}
_CONFUSIONS = 8  # pairs of classes that are listed


def mean_text(row: dict[str, float]) -> str:
    """A mean and its standard error; a dash where there is none.

    >>> mean_text({"mean": 0.91234, "standard_error": 0.00123}), mean_text({"mean": math.nan, "standard_error": 0.0})
    ('0.912 ± 0.001', '–')
    """
    mean, error = row["mean"], row["standard_error"]
    if math.isnan(mean):
        return "–"
    return f"{mean:.3f}" if math.isnan(error) else f"{mean:.3f} ± {error:.3f}"


def score_sections(model: Any, labels: NDArray[Any], found: Scored, seed: int) -> list[Section]:
    """Scores, what is mistaken for what, how many labels are enough, and what each scale adds."""
    truth, predicted, names = held_out_predictions(model, labels, found, seed=seed)
    sections = [_summary_section(found, _trivial_score(found, truth))]
    if found.task == "classification":
        sections.append(_confusion_section(truth, predicted, names))
        if found.few:
            sections.append(_few_section(found))
    else:
        text = (
            f"By five-fold cross-validation; R² of all {len(truth):,} predictions is {r2_score(truth, predicted):.3f}."
        )
        chart = charts.predicted_chart(truth, predicted)
        sections.append(
            Section("Predictions", [Paragraph(text), Picture("predicted", chart, "Predicted against true values")])
        )
    if found.scales:
        sections.append(_scale_section(found))
    return sections


def _trivial_score(found: Scored, truth: NDArray[Any]) -> float:
    """The score of one answer for all nodes.

    Where classes are about as common as each other, the commonest of the training nodes is rare among the others: the
    share of the commonest of all nodes is what has to be beaten.
    """
    score = found.summary[found.baseline]["mean"]
    share = np.bincount(truth).max() / len(truth) if found.task == "classification" else 0.0
    return max(score, float(share))


def _summary_section(found: Scored, trivial: float) -> Section:
    is_classes = found.task == "classification"
    kind, predictor = ("classes", "logistic regression") if is_classes else ("values", "an elastic net")
    count, sample = f"{len(found.rows):,}", ""
    if len(found.rows) < found.labelled:
        count, sample = f"{count} of {found.labelled:,}", ", drawn at random"
    text = (
        f"Labels are {kind}. {count} labelled nodes{sample} were split {found.splits} times into 80 % to train "
        f"{predictor} on the vectors and 20 % to test it: means over the splits, ± their standard error."
    )
    rows = [(_WORDS.get(metric, metric), mean_text(row)) for metric, row in found.summary.items()]
    table = Table(["metric", "mean"], rows, right=[1])
    return Section("Scores", [Paragraph(text), table, Paragraph(_verdict(found, trivial))])


def _verdict(found: Scored, trivial: float) -> str:
    """What the score says beside that of one answer for all nodes."""
    answer = "the commonest class" if found.task == "classification" else "the mean"
    rival = f"always predicting {answer} ({trivial:.3f})"
    row = found.summary[found.metric]
    better, error = row["mean"] - trivial, np.nan_to_num(row["standard_error"])
    if better <= 0:
        return f"That is no better than {rival}: these vectors say nothing about the labels."
    if better <= 2 * error:
        return f"That is {better:.3f} above {rival}, less than two standard errors: it may be chance."
    return f"That is {better:.3f} above {rival}."


def _confusion_section(truth: NDArray[np.int64], predicted: NDArray[np.int64], classes: list[Any]) -> Section:
    counts = np.zeros((len(classes), len(classes)), dtype=np.int64)
    np.add.at(counts, (truth, predicted), 1)
    blocks: list[Any] = []
    common = np.argsort(-counts.sum(axis=1), kind="stable")[:MOST_CLASSES].tolist()
    shown, note = [classes.index(name) for name in in_order([classes[at] for at in common])], ""
    names = [short_text(name) for name in classes]
    if len(names) > MOST_CLASSES:
        note = f" The {MOST_CLASSES} commonest of {len(names)} classes are shown; what rows lack of 100 is in others."
    text = "Of the nodes of each true class (rows), the percentage that is predicted to be of each class (columns), by "
    blocks.append(Paragraph(f"{text}five-fold cross-validation.{note}"))
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    chart = charts.confusion_chart(shares[np.ix_(shown, shown)], [names[at] for at in shown])
    blocks.append(Picture("confusion", chart, "Confusion matrix: shares of true classes by predicted class"))
    wrong = [(int(counts[i, j]), i, j) for i, j in np.ndindex(*counts.shape) if i != j and counts[i, j]]
    worst = sorted(wrong, key=lambda row: (-row[0], row[1], row[2]))[:_CONFUSIONS]
    rows = [(names[i], names[j], f"{count:,}", f"{100 * count / counts[i].sum():.1f} %") for count, i, j in worst]
    if rows:
        blocks.append(Table(["true class", "predicted", "nodes", "of the class"], rows, right=[2, 3]))
    return Section("What is mistaken for what", blocks)


def _few_section(found: Scored) -> Section:
    metric, baseline = found.metric, found.baseline
    points = {k: (row[metric]["mean"], row[metric]["standard_error"]) for k, row in found.few.items()}
    commonest = next(iter(found.few.values()))[baseline]["mean"]
    text = "Logistic regression on so many labelled nodes of each class, tested on all others with a label; ten draws."
    rows = [(str(k), mean_text(row[metric]), mean_text(row["macro_f1"])) for k, row in found.few.items()]
    chart = charts.curve(points, commonest, "commonest class")
    return Section(
        "How many labels are enough",
        [
            Paragraph(text),
            Picture("few-labels", chart, "Micro-F1 against the number of labelled nodes per class"),
            Table(["labelled nodes per class", "micro-F1", "macro-F1"], rows, right=[0, 1, 2]),
        ],
    )


def _scale_section(found: Scored) -> Section:
    metric = found.metric
    word = "micro-F1" if metric == "micro_f1" else "R²"
    text = (
        "The same scores, on five splits, by the dimensions of some scales only: scale 0 is a node's own features, "
        "scale r what walks meet r hops away. A scale whose absence costs nothing says what others say as well."
    )
    rows = [(name, mean_text(row[metric])) for name, row in found.scales.items()]
    chart = charts.bars([(name, *_pair(row, metric)) for name, row in found.scales.items()], word)
    return Section(
        "What each scale adds",
        [Paragraph(text), Picture("scales", chart, f"{word} by scale"), Table(["dimensions", word], rows, right=[1])],
    )


def _pair(row: Summary, metric: str) -> tuple[float, float]:
    return row[metric]["mean"], row[metric]["standard_error"]
