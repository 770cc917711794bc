"""Metrics of a classification, from class codes and predicted probabilities."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

__all__ = ["classification_scores", "roc_auc"]


def classification_scores(
    classes: NDArray[np.int64], probabilities: NDArray[np.float64], majority: int
) -> dict[str, float]:
    """Micro-F1, macro-F1 and ROC-AUC of probabilities (n, classes), and micro-F1 of always predicting `majority`.

    Macro-F1 is the mean over the classes that occur or are predicted.
    Same values as scikit-learn's metrics where these are defined, without validating the input for each.

    Examples
    --------
    >>> import numpy as np
    >>> from hopscale.tasks.metrics import classification_scores
    >>> classification_scores(np.array([0, 0, 1]), np.array([[0.9, 0.1], [0.6, 0.4], [0.7, 0.3]]), majority=1)
    ... # doctest: +NORMALIZE_WHITESPACE
    {'micro_f1': 0.6666666666666666, 'macro_f1': 0.4, 'roc_auc': 0.5, 'majority_micro_f1': 0.3333333333333333}
    """
    predicted, n_classes = probabilities.argmax(axis=1), probabilities.shape[1]
    correct = np.bincount(classes[predicted == classes], minlength=n_classes)
    total = np.bincount(classes, minlength=n_classes) + np.bincount(predicted, minlength=n_classes)
    return {
        "micro_f1": float(np.mean(predicted == classes)),
        "macro_f1": float(np.mean(2 * correct[total > 0] / total[total > 0])),
        "roc_auc": _one_versus_rest(classes, probabilities),
        "majority_micro_f1": float(np.mean(classes == majority)),
    }


def roc_auc(positive: NDArray[np.bool_], scores: NDArray[Any]) -> float:
    """Area under the ROC curve: probability that a positive scores above a negative; NaN if either is missing.

    Examples
    --------
    >>> import numpy as np
    >>> from hopscale.tasks.metrics import roc_auc
    >>> roc_auc(np.array([True, False, True]), np.array([3.0, 2.0, 2.0]))
    0.75
    """
    n, n_positive = len(positive), int(np.count_nonzero(positive))
    if n_positive in (0, n):
        return float("nan")
    # The Mann-Whitney U statistic, from the rank sum of the positives.
    u = rankdata(scores)[positive].sum() - n_positive * (n_positive + 1) / 2
    return float(u / (n_positive * (n - n_positive)))


def _one_versus_rest(classes: NDArray[np.int64], probabilities: NDArray[np.float64]) -> float:
    """Mean ROC-AUC over the classes that occur; NaN for a single one.

    A class that is missing from the training part has the probability 0 for every node, which gives 0.5.
    """
    present = np.unique(classes)
    if len(present) < 2:
        return float("nan")
    if probabilities.shape[1] == 2:  # the same for both classes
        return roc_auc(classes == 1, probabilities[:, 1])
    return float(np.mean([roc_auc(classes == c, probabilities[:, c]) for c in present.tolist()]))
