"""Evaluation tasks: each is a function that scores vectors, or a model, and returns one record per split.

A module has the name of its function, as in ``from hopscale.tasks.few_shot import few_shot``. The attribute
``hopscale.tasks.few_shot`` is always the function: all modules are imported here, before their names are bound.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from hopscale.checks import choice
from hopscale.exceptions import warn
from hopscale.labels import Task, likely_task, matched
from hopscale.tasks.attribute_inference import attribute_inference
from hopscale.tasks.few_shot import few_shot
from hopscale.tasks.link_prediction import link_prediction
from hopscale.tasks.metrics import summarize
from hopscale.tasks.node_classification import node_classification
from hopscale.tasks.node_regression import node_regression
from hopscale.tasks.splits import Record
from hopscale.tasks.transfer import transfer

__all__ = [
    "Record", "Task", "attribute_inference", "evaluate", "few_shot", "likely_task", "link_prediction",
    "node_classification", "node_regression", "summarize", "transfer",
]  # fmt: skip

_TASKS: dict[str, Callable[..., list[Record]]] = {"classification": node_classification, "regression": node_regression}


def evaluate(
    vectors: Any,
    labels: ArrayLike | Mapping[Any, Any],
    task: Task | None = None,
    *,
    splits: int = 10,
    test_size: float = 0.2,
    standardize: bool = False,
    random_state: int = 0,
    n_jobs: int | None = None,
    max_seconds: float | None = None,
    progress: bool = False,
) -> list[Record]:
    """Score vectors, or a fitted model, by how well they predict the labels of the nodes.

    Parameters
    ----------
    vectors : array-like or data frame of shape (n, d), or fitted model
        A model is any object with an attribute ``embedding_``.
    labels : Series, mapping or array-like of shape (n,)
        Classes or values. A Series is matched by its index, and a mapping ``{node: label}`` by its keys, with
        the nodes of the model or the index of the data frame; ids that are no nodes are counted in a
        warning. Anything else is in the order of the vectors. Nodes without a label (NaN or None; for -1
        see :func:`node_classification`) are ignored.
    task : {"classification", "regression"}, optional
        By default inferred by :func:`likely_task`: regression for numbers that are not all integers, or that
        take more than max(20, 2√n) values on n labelled nodes; classification otherwise.
    splits, test_size, standardize, random_state, n_jobs, max_seconds, progress
        As for :func:`node_classification`.

    Returns
    -------
    list of dict
        One record per split, see :func:`node_classification` and :func:`node_regression`.

    Examples
    --------
    >>> from hopscale.datasets import digits
    >>> from hopscale.tasks import evaluate, summarize
    >>> graph = digits()
    >>> records = evaluate(graph.features.toarray(), graph.labels, splits=2)
    >>> sorted(summarize(records))
    ['macro_f1', 'majority_micro_f1', 'micro_f1', 'roc_auc']
    """
    vectors, labels = matched(vectors, labels)
    chosen = choice("task", _inferred_task(labels) if task is None else task, _TASKS)
    settings = {"splits": splits, "test_size": test_size, "standardize": standardize, "random_state": random_state}
    return _TASKS[chosen](vectors, labels, **settings, n_jobs=n_jobs, max_seconds=max_seconds, progress=progress)


def _inferred_task(labels: Any) -> Task:
    """The likely task; warn where the dtype of the labels suggests the other one."""
    task, reason = likely_task(labels)
    kind = np.asarray(labels).dtype.kind
    other = "regression" if task == "classification" else "classification"
    if kind in "iu" if task == "regression" else kind == "f" and not np.isnan(labels).any():
        message = f"taken for a {task}: {reason}; pass task='{other}' if that is wrong"
        warn(message)
    return task
