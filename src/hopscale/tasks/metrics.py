"""What a classification is worth: the figures of a record, from codes of classes and their probabilities."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

__all__ = ["classification_scores", "roc_auc"]


def classification_scores(
    classes: NDArray[np.int64], probabilities: NDArray[np.float64], majority: int
) -> dict[str, float]:
    """Micro-F1, macro-F1 and ROC-AUC of probabilities (n, classes), and micro-F1 of always answering one class.

    They equal those of scikit-learn, where it has them, without checking the input again for each.

    Examples
    --------
    >>> import numpy as np
    >>> from hopscale.tasks.metrics import classification_scores
    >>> classification_scores(np.array([0, 0, 1]), np.array([[0.9, 0.1], [0.6, 0.4], [0.7, 0.3]]), majority=1)
    ... # doctest: +NORMALIZE_WHITESPACE
    {'micro_f1': 0.6666666666666666, 'macro_f1': 0.4, 'roc_auc': 0.5, 'majority_micro_f1': 0.3333333333333333}
    """
    answers = probabilities.argmax(axis=1)
    return {
        "micro_f1": float(np.mean(answers == classes)),
        "macro_f1": _macro_f1(classes, answers, probabilities.shape[1]),
        "roc_auc": _one_against_rest(classes, probabilities),
        "majority_micro_f1": float(np.mean(classes == majority)),
    }


def roc_auc(positive: NDArray[np.bool_], scores: NDArray[Any]) -> float:
    """Probability that a positive scores higher than a negative, ties counting half; NaN without either.

    Examples
    --------
    >>> import numpy as np
    >>> from hopscale.tasks.metrics import roc_auc
    >>> roc_auc(np.array([True, False, True]), np.array([3.0, 2.0, 2.0]))
    0.75
    """
    n, held = len(positive), int(np.count_nonzero(positive))
    if held in (0, n):
        return float("nan")
    # The ranks' sum less what the positives hold among themselves: Mann and Whitney's count.
    wins = rankdata(scores)[positive].sum() - held * (held + 1) / 2
    return float(wins / (held * (n - held)))


def _macro_f1(classes: NDArray[np.int64], answers: NDArray[np.int64], n_classes: int) -> float:
    """Mean F1 over the classes that occur or are answered."""
    right = np.bincount(classes[answers == classes], minlength=n_classes)
    both = np.bincount(classes, minlength=n_classes) + np.bincount(answers, minlength=n_classes)
    return float(np.mean(2 * right[both > 0] / both[both > 0]))


def _one_against_rest(classes: NDArray[np.int64], probabilities: NDArray[np.float64]) -> float:
    """Mean area over the classes that occur; NaN for a single one.

    A class that was not trained on has the probability 0 for every node, an area of one half.
    """
    present = np.unique(classes)
    if len(present) < 2:
        return float("nan")
    if probabilities.shape[1] == 2:  # each class is the other's rest
        return roc_auc(classes == 1, probabilities[:, 1])
    return float(np.mean([roc_auc(classes == c, probabilities[:, c]) for c in present.tolist()]))
