"""Validation of vectors and labels, seeded train/test splits, and scoring them in parallel."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hopscale.checks import whole
from hopscale.compute.threads import Threads
from hopscale.exceptions import GraphError, ParameterError
from hopscale.tasks.labels import class_codes

__all__ = ["Record", "Split", "check_classes", "check_vectors", "in_parallel", "seeded_split", "seeded_splits"]

Record = dict[str, Any]
Split = tuple[NDArray[np.int64], NDArray[np.int64]]  # rows of the training and of the test part
Item = TypeVar("Item")
Result = TypeVar("Result")


def check_vectors(vectors: ArrayLike, labels: ArrayLike) -> tuple[NDArray[np.float64], NDArray[Any]]:
    """Validate vectors and labels and return them as arrays with one row per node; vectors become float64."""
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


def check_classes(
    vectors: ArrayLike, labels: ArrayLike
) -> tuple[NDArray[np.float64], NDArray[np.int64], list[Hashable]]:
    """Validated vectors and class codes of the labelled nodes, and the names of the classes."""
    X, y = check_vectors(vectors, labels)
    classes, names = class_codes(y)
    return X[classes >= 0], classes[classes >= 0], names


def seeded_split(n: int, test_size: float, random_state: int, split: int) -> Split:
    """Rows of the training and of the test part of one split.

    A plain shuffle, not stratified, as in the paper. It depends on `random_state` and the number of the split only:
    with more splits, the first ones stay the same.

    Examples
    --------
    >>> from hopscale.tasks.splits import seeded_split
    >>> train, test = seeded_split(10, test_size=0.2, random_state=0, split=3)
    >>> len(train), len(test), sorted([*train.tolist(), *test.tolist()]) == list(range(10))
    (8, 2, True)
    """
    order = np.random.default_rng([random_state, split]).permutation(n)
    n_test = round(test_size * n)
    return order[n_test:], order[:n_test]


def seeded_splits(n: int, splits: int, test_size: float, random_state: int) -> list[Split]:
    """Rows of the training and of the test part of each split, see :func:`seeded_split`."""
    whole("splits", splits, least=1)
    whole("random_state", random_state, least=0)
    # R² and ROC-AUC need two nodes.
    if not (0 < test_size < 1 and 2 <= round(test_size * n) <= n - 2):
        raise ParameterError(
            f"{n} labelled nodes cannot be split with test_size={test_size!r}: each part needs at least two"
        )
    return [seeded_split(n, test_size, random_state, split) for split in range(splits)]


def in_parallel(function: Callable[[Item], Result], items: Iterable[Item], n_jobs: int | None) -> list[Result]:
    """Results of a function over items, in their order, computed in `n_jobs` threads.

    BLAS runs on a single thread: results do not depend on the number of threads.
    """
    with Threads(n_jobs) as engine:
        return list(engine.map(function, items))
