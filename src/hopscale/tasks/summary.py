"""Mean and standard error of the records of a task."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, overload

import numpy as np

from hopscale.exceptions import ParameterError
from hopscale.tasks.splits import Record

__all__ = ["summarize"]

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
    missing = [field for field in fields if field not in records[0]]
    if missing or not fields:
        raise ParameterError(f"by must name fields of the records, {', '.join(records[0])}, not {by!r}")
    groups: dict[Any, list[Record]] = {}
    for record in records:
        key = record[by] if isinstance(by, str) else tuple(record[field] for field in fields)
        groups.setdefault(key, []).append(record)
    return {key: _summary(group) for key, group in groups.items()}


def _summary(records: Sequence[Record]) -> Summary:
    metrics = [field for field, value in records[0].items() if isinstance(value, float)]
    summary = {}
    for metric in metrics:
        values = np.array([record[metric] for record in records])
        values = values[~np.isnan(values)]
        k = len(values)
        summary[metric] = {
            "mean": float(values.mean()) if k else math.nan,
            "standard_error": float(values.std(ddof=1) / math.sqrt(k)) if k > 1 else math.nan,
        }
    return summary
