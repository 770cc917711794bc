"""Interpretation of labels: which are missing, and whether they are classes or numbers to predict."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from numbers import Real
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hopscale.exceptions import GraphError, ParameterError, in_short, warn
from hopscale.indexed import has_index, index_names, is_default, is_keyed, labels_by_id
from hopscale.names import is_missing

__all__ = [
    "LARGEST",
    "Task",
    "check_different",
    "class_codes",
    "has_class",
    "has_value",
    "label_column",
    "likely_task",
    "matched",
    "target_values",
]

Task = Literal["classification", "regression"]

LARGEST = 1e50  # of a value to predict, or of an entry of a vector: sums of products of such numbers are finite

_FEW_VALUES = 20


def likely_task(labels: ArrayLike | Mapping[Any, Any]) -> tuple[Task, str]:
    """Infer the task from the labels; returns the task and the reason.

    Integers, in any dtype, are classes if they take at most max(20, 2√n) values on n labelled nodes: 42 departments of
    1,000 people are, page views are not. Other numbers are regression targets; everything else is a class.

    Examples
    --------
    >>> likely_task([0, 1, 1, None])
    ('classification', '2 different whole numbers on 3 labelled nodes')
    >>> likely_task([0.5, 1.0, 2.0])
    ('regression', 'numbers that are not all whole')
    >>> likely_task(range(1000))
    ('regression', '1000 different whole numbers on 1000 labelled nodes')
    """
    y = label_column(labels)
    known = y[has_value(y)] if y.ndim == 1 else y.ravel()
    if not _are_numbers(known):
        return "classification", "labels that are not numbers"
    if not _are_whole(known):
        return "regression", "numbers that are not all whole"
    n, distinct = len(known), len(set(known.tolist()))
    few = distinct <= max(_FEW_VALUES, 2 * math.sqrt(n))
    return "classification" if few else "regression", f"{distinct} different whole numbers on {n} labelled nodes"


def matched(vectors: Any, labels: Any) -> tuple[Any, Any]:
    """Vectors of a model, or those given, and the labels in their order.

    Labels with an index, or ``{node: label}``, are matched by id with the nodes of the model, or with the index of a
    data frame of vectors. All others are in the order of the vectors already.

    Examples
    --------
    >>> import pandas as pd
    >>> vectors = pd.DataFrame([[0.5], [1.5]], index=["a", "b"])
    >>> matched(vectors, {"b": "right", "a": "left"})[1].tolist()
    ['left', 'right']
    """
    ids = None
    if hasattr(vectors, "embedding_"):
        ids, vectors = getattr(vectors, "node_ids_", None), vectors.embedding_
    elif hasattr(vectors, "fit"):
        raise ParameterError(f"this {type(vectors).__name__} is not fitted yet: call fit first")
    elif has_index(vectors) and not is_default(vectors.index):
        ids = index_names(vectors, "vectors")
    if not is_keyed(labels):
        return vectors, labels
    if ids is not None:
        return vectors, labels_by_id(labels, ids)
    if has_index(labels):
        rows = index_names(labels, "labels")
        if rows.dtype == np.int64 and np.array_equal(rows, np.arange(len(rows))):
            return vectors, np.asarray(labels)
    raise GraphError(
        "labels have ids, but the vectors have no ids to match them with: pass the model itself, a data frame of "
        "vectors with the ids as index, or labels as an array in the order of the vectors"
    )


def label_column(labels: Any) -> NDArray[Any]:
    """Labels as an array."""
    if isinstance(labels, Mapping):
        labels = list(labels.values())
    try:
        return np.asarray(labels)
    except ValueError as error:
        raise GraphError(f"labels must be one value a node ({error})") from error


def has_value(labels: NDArray[Any]) -> NDArray[np.bool_]:
    """Mask of the nodes that have a label: neither NaN nor None.

    Examples
    --------
    >>> import numpy as np
    >>> has_value(np.array([0.5, -1.0, np.nan])).tolist()
    [True, True, False]
    """
    if labels.dtype.kind == "O":
        return np.array([not is_missing(label) for label in labels], dtype=bool)
    return np.asarray(labels == labels)  # NaN is not equal to itself


def has_class(labels: NDArray[Any]) -> NDArray[np.bool_]:
    """Mask of the nodes that have a class: neither NaN nor None, nor -1 next to the codes 0..k-1.

    -1 means "no label" if all others are the integers 0, 1, ..., k-1 without a gap. Otherwise, as in ±1, it is a class.
    Warns where either interpretation is plausible.

    Examples
    --------
    >>> import numpy as np
    >>> has_class(np.array([0, -1, 2, 1])).tolist()
    [True, False, True, True]
    >>> has_class(np.array([1, -1, 1])).tolist()
    [True, True, True]
    """
    known = has_value(labels)
    given = labels[known]
    values = set(given.tolist()) if _are_numbers(given) and _are_whole(given) else set()
    if -1 not in values:
        return known
    others, text = values - {-1}, ""
    if others == set(range(len(others))):
        known[np.flatnonzero(known)] = given != -1
        if others == {0, 1}:
            text = "no label, because the other labels are the codes 0 and 1: if it is a class, give the classes names"
    elif others != {1}:
        text = (
            "a class, because the other labels are not 0, 1, 2, ... without a gap: if it means that there is none, "
            "leave these labels empty (NaN)"
        )
    if text:
        warn(f"-1 is taken for {text}")
    return known


def class_codes(labels: NDArray[Any]) -> tuple[NDArray[np.int64], list[Hashable]]:
    """Encode classes as 0, 1, ..., with -1 for no label; returns the codes and the names of the classes.

    Examples
    --------
    >>> import numpy as np
    >>> class_codes(np.array(["b", "a", None, "b"], dtype=object))
    (array([ 0,  1, -1,  0]), ['b', 'a'])
    """
    known = has_class(labels)
    code: dict[Hashable, int] = {}  # in order of appearance: labels of mixed types cannot be sorted
    codes = np.full(len(labels), -1, dtype=np.int64)
    try:
        with np.errstate(over="ignore"):  # NumPy's small floats warn when they are compared with large numbers
            codes[known] = [code.setdefault(label, len(code)) for label in labels[known].tolist()]
    except TypeError as error:
        raise GraphError(f"labels must be one class a node ({error})") from None
    names, n = list(code), int(np.count_nonzero(known))
    if len(names) < 2:
        found = f"all {n} labelled nodes are of class {in_short(names[0])}" if names else "no node has a label"
        raise GraphError(f"{found}: there is nothing to tell apart")
    if len(names) > max(20, n // 2):
        raise GraphError(
            f"the labels are no classes: {n} labelled nodes have {len(names)} different ones, such as "
            f"{in_short(names[0])} and {in_short(names[1])}. Is this the right column?"
        )
    return codes, names


def target_values(labels: NDArray[Any]) -> NDArray[np.float64]:
    """Labels as numbers to predict, NaN where there is none.

    Examples
    --------
    >>> target_values(np.array([1, None, 2.5], dtype=object))
    array([1. , nan, 2.5])
    """
    try:
        if np.iscomplexobj(labels):
            raise TypeError("they are complex")
        with np.errstate(over="ignore"):  # of long doubles; what is not finite is refused below
            values = labels.astype(np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise GraphError(f"labels must be numbers for a regression ({error})") from error
    if np.isinf(values).any():
        raise GraphError("labels has values that are infinite; log(0)?")
    if np.abs(values).max(initial=0.0, where=has_value(values)) > LARGEST:
        raise GraphError(f"labels must lie within ±{LARGEST:g}, or their squares would not be finite: scale them")
    return values


def check_different(values: NDArray[np.float64]) -> None:
    """Refuse values of labelled nodes among which there is nothing to predict."""
    if not len(values):
        raise GraphError("no node has a label: there is nothing to predict")
    if values.min() == values.max():
        raise GraphError(f"all {len(values)} labelled nodes have the value {values[0]:g}: there is nothing to predict")
    if values.var() == 0:
        raise GraphError(
            f"labels lie between {values.min():g} and {values.max():g}, too close for the squares of their differences "
            "to be told from zero: scale them"
        )


def _are_numbers(known: NDArray[Any]) -> bool:
    if known.dtype.kind == "O":
        return all(isinstance(label, Real) and not isinstance(label, (bool, np.bool_)) for label in known.tolist())
    return known.dtype.kind in "iuf"


def _are_whole(numbers: NDArray[Any]) -> bool:
    return numbers.dtype.kind in "iu" or all(isinstance(x, int) or float(x).is_integer() for x in numbers.tolist())
