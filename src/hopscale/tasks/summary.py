"""Mean and standard error of the records of a task."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, overload

import numpy as np

from hopscale.exceptions import ParameterError
from hopscale.tasks.splits import Record

__all__ = ["mean_and_error", "summarize"]

Summary = dict[str, dict[str, float]]


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
    mean over splits; it does not estimate how the score would vary on new data.

    Examples
    --------
    >>> from hopscale.tasks import summarize
    >>> summarize([{"split": 0, "r2": 0.5}, {"split": 1, "r2": 0.75}])
    {'r2': {'mean': 0.625, 'standard_error': 0.125}}
    >>> summarize([{"k": 3, "f1": 0.5}, {"k": 6, "f1": 0.75}, {"k": 3, "f1": 0.25}], by="k")[3]
    {'f1': {'mean': 0.375, 'standard_error': 0.125}}
    """
    if not records:
        raise ParameterError("there are no records to summarize")
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


def mean_and_error(values: Sequence[float | None]) -> tuple[float, float]:
    """Mean and its standard error without NaN and None; the error of a single value is NaN.

    >>> mean_and_error([1.0, 3.0, None])
    (2.0, 1.0)
    """
    array = np.array(values, dtype=np.float64)
    known = array[~np.isnan(array)]
    error = float(known.std(ddof=1) / math.sqrt(len(known))) if len(known) > 1 else math.nan
    return float(known.mean()) if len(known) else math.nan, error
