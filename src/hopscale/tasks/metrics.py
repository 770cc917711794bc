"""Metrics of classifications and rankings, and their mean and standard error over the splits."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata
from sklearn.metrics import average_precision_score

from hopscale.exceptions import ParameterError
from hopscale.tasks.splits import Record

__all__ = ["classification_scores", "mean_and_error", "ranking_scores", "roc_auc", "summarize"]

Summary = dict[str, dict[str, float]]


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


def ranking_scores(positive: NDArray[np.bool_], scores: NDArray[np.float64]) -> Record:
    """Number of scores, and how well they rank the positive entries above the others."""
    precision = float(average_precision_score(positive, scores))
    return {"n_test": len(scores), "roc_auc": roc_auc(positive, scores), "average_precision": precision}


def _one_versus_rest(classes: NDArray[np.int64], probabilities: NDArray[np.float64]) -> float:
    """Mean ROC-AUC over the classes that occur; NaN for a single one.

    A class that is missing from the training part has the probability 0 for every node, which gives 0.5.
    """
    if probabilities.shape[1] == 2:  # the same for both classes
        return roc_auc(classes == 1, probabilities[:, 1])
    return float(np.mean([roc_auc(classes == c, probabilities[:, c]) for c in np.unique(classes).tolist()]))


@overload
def summarize(records: Sequence[Record], *, by: None = None) -> Summary: ...


@overload
def summarize(records: Sequence[Record], *, by: str | Sequence[str]) -> dict[Any, Summary]: ...


def summarize(records: Sequence[Record], *, by: str | Sequence[str] | None = None) -> Summary | dict[Any, Summary]:
    r"""Mean and standard error of each metric over the splits.

    .. math:: \mathrm{SE} = s / \sqrt{k}, \quad s^2 = \frac{1}{k-1} \sum_i (x_i - \bar x)^2

    Parameters
    ----------
    records : sequence of dict
        From a task. Metrics are the fields whose values are floats.
    by : str or sequence of str, optional
        Group the records by one field, such as ``"k"`` or ``"operator"``, or by the combination of several.

    Returns
    -------
    dict
        For each metric ``{"mean": ..., "standard_error": ...}``. Splits where a metric is NaN are ignored; the
        standard error of a single split is NaN. With `by`, one such dict per group, in order of appearance; keys are
        values of the field, or tuples of values.

    Notes
    -----
    Splits overlap, so their scores are not independent. As in the paper's tables, the standard error is that of the
    mean over splits; it does not estimate how the score would vary on new data. Nadeau and Bengio's correction does so
    roughly: with k splits and a share ρ of test nodes, multiply by :math:`\sqrt{1 + k ρ / (1 - ρ)}`, which is 5.1 for
    the paper's hundred splits of a fifth each.

    Examples
    --------
    >>> from hopscale.tasks import summarize
    >>> summarize([{"split": 0, "r2": 0.5}, {"split": 1, "r2": 0.75}])
    {'r2': {'mean': 0.625, 'standard_error': 0.125}}
    >>> summarize([{"k": 3, "f1": 0.5}, {"k": 6, "f1": 0.75}, {"k": 3, "f1": 0.25}], by="k")[3]
    {'f1': {'mean': 0.375, 'standard_error': 0.125}}
    """
    if not isinstance(records, Sequence) or not records:
        raise ParameterError("there are no records to summarize")
    if not all(isinstance(record, dict) and record.keys() == records[0].keys() for record in records):
        raise ParameterError("records must be dicts with the same fields, as tasks return them")
    if by is None:
        return _summary(records)
    fields = [by] if isinstance(by, str) else list(by)
    if not fields or not set(fields) <= records[0].keys():
        raise ParameterError(f"by must name fields of the records, {', '.join(records[0])}, not {by!r}")
    groups: dict[Any, list[Record]] = {}
    for record in records:
        key = record[by] if isinstance(by, str) else tuple(map(record.get, fields))
        groups.setdefault(key, []).append(record)
    return {key: _summary(group) for key, group in groups.items()}


def _summary(records: Sequence[Record]) -> Summary:
    metrics = [field for field, value in records[0].items() if isinstance(value, float)]
    pairs = {metric: mean_and_error([record[metric] for record in records]) for metric in metrics}
    return {metric: {"mean": mean, "standard_error": error} for metric, (mean, error) in pairs.items()}


def mean_and_error(values: Sequence[float | None], *, test_share: float = 0.0) -> tuple[float, float]:
    r"""Mean and its standard error without NaN and None; the error of a single value is NaN.

    .. math:: \mathrm{SE}^2 = \left(\frac{1}{k} + \frac{\rho}{1 - \rho}\right) s^2

    Parameters
    ----------
    values : sequence of float
        One per split.
    test_share : float, default=0.0
        ρ, the share of the data in the test part of a split, if all splits are of the same data. Their scores are
        then correlated, and :math:`s^2 / k` shrinks to zero with more splits although no more is known. This is the
        correction of Nadeau and Bengio; 0 leaves it out.

    References
    ----------
    C. Nadeau and Y. Bengio, "Inference for the generalization error", Machine Learning 52, 2003.

    Examples
    --------
    >>> from hopscale.tasks.metrics import mean_and_error
    >>> mean_and_error([1.0, 3.0, None])
    (2.0, 1.0)
    >>> mean_and_error([1.0, 3.0], test_share=0.5)[1] == (2 * (1 / 2 + 1)) ** 0.5
    True
    """
    array = np.array(values, dtype=np.float64)
    known = array[~np.isnan(array)]
    mean, error = float(known.mean()) if len(known) else math.nan, math.nan
    if len(known) > 1:
        error = math.sqrt(float(known.var(ddof=1)) * (1 / len(known) + test_share / (1 - test_share)))
    return mean, error
