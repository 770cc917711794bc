"""Seeded train/test splits: what is known of the nodes, divided again and again, scored in parallel."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import ArrayLike, NDArray
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from hopscale.exceptions import GraphError, ParameterError

__all__ = ["Record", "Split", "matched", "score_splits", "seeded_split"]

Record = dict[str, Any]


class Split(NamedTuple):
    """Vectors and labels of one train/test split."""

    train_vectors: NDArray[np.float64]
    test_vectors: NDArray[np.float64]
    train_labels: NDArray[Any]
    test_labels: NDArray[Any]


def matched(vectors: ArrayLike, labels: ArrayLike) -> tuple[NDArray[np.float64], NDArray[Any]]:
    """Vectors and labels as arrays of the same length, one row a node.

    Vectors become float64: the logistic regression's stopping rule is out of reach of float32.

    Examples
    --------
    >>> from hopscale.tasks.splits import matched
    >>> matched([[0.0], [1.0]], [3])
    Traceback (most recent call last):
    ...
    hopscale.exceptions.GraphError: there are 2 vectors but 1 labels: one of each is needed per node...
    """
    if labels is None:
        raise GraphError("labels is None: this graph carries no labels to predict")
    X, y = np.asarray(vectors, dtype=np.float64), np.asarray(labels)
    if X.ndim != 2:
        raise GraphError(f"vectors must be two-dimensional, one row per node, but have shape {X.shape}")
    if y.ndim != 1:
        raise GraphError(f"labels must be one-dimensional, one per node, but have shape {y.shape}")
    if len(X) != len(y):
        raise GraphError(
            f"there are {len(X)} vectors but {len(y)} labels: one of each is needed per node, in the same "
            "order; mark a node without label by None or NaN"
        )
    finite = np.isfinite(X).all(axis=1)
    if not finite.all():
        raise GraphError(f"the vector of node row {int(np.argmin(finite))} is not finite")
    return X, y


def seeded_split(
    n: int, test_size: float, random_state: int, split: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows of the training and of the test part of one split.

    A plain shuffle, not stratified, as in the paper. It depends on `random_state` and the number of
    the split only, so that more splits leave the earlier ones as they were.

    Examples
    --------
    >>> from hopscale.tasks.splits import seeded_split
    >>> train, test = seeded_split(10, test_size=0.2, random_state=0, split=3)
    >>> len(train), len(test), sorted([*train.tolist(), *test.tolist()]) == list(range(10))
    (8, 2, True)
    """
    order = np.random.default_rng([random_state, split]).permutation(n)
    held_out = round(test_size * n)
    return order[held_out:], order[:held_out]


def score_splits(
    score: Callable[[Split], dict[str, float]],
    vectors: NDArray[np.float64],
    labels: NDArray[Any],
    *,
    task: str,
    splits: int,
    test_size: float,
    standardize: bool,
    random_state: int,
    n_jobs: int | None,
) -> list[Record]:
    """One record a split: its task, number and sizes, and what `score` measures on it.

    Standardising learns mean and deviation from the training part only. The records do not depend
    on `n_jobs`.
    """
    n = len(labels)
    if splits < 1:
        raise ParameterError(f"splits must be at least 1, not {splits}")
    # Two nodes are the least on which a ranking or a variance means anything.
    if not (0 < test_size < 1 and 2 <= round(test_size * n) <= n - 2):
        raise ParameterError(
            f"{n} labelled nodes cannot be divided by test_size={test_size!r}: that does not leave two or more on "
            "either side"
        )
    parts = (seeded_split(n, test_size, random_state, split) for split in range(splits))
    # Held outside of the jobs too: where they are threads, the first to end must not lift the others' limit.
    with threadpool_limits(1):
        measured = Parallel(n_jobs=n_jobs)(
            delayed(_measure)(score, vectors, labels, train, test, standardize) for train, test in parts
        )
    return [{"task": task, "split": split, **measures} for split, measures in enumerate(measured)]


def _measure(
    score: Callable[[Split], dict[str, float]],
    vectors: NDArray[np.float64],
    labels: NDArray[Any],
    train: NDArray[np.int64],
    test: NDArray[np.int64],
    standardize: bool,
) -> Record:
    X_train, X_test = vectors[train], vectors[test]
    # The order in which BLAS adds up depends on its threads: one, in this process or another.
    with threadpool_limits(1):
        if standardize:
            scaler = StandardScaler().fit(X_train)
            X_train, X_test = scaler.transform(X_train), scaler.transform(X_test)
        measured = score(Split(X_train, X_test, labels[train], labels[test]))
    return {"n_train": len(train), "n_test": len(test), **measured}
