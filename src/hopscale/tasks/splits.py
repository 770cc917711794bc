"""Validation of vectors and labels, seeded splits of nodes and of entries of a matrix, and scoring in parallel."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from hopscale.checks import number, whole
from hopscale.compute.threads import Threads
from hopscale.exceptions import GraphError, ParameterError
from hopscale.graph import AttributedGraph
from hopscale.labels import LARGEST, class_codes, label_column, matched

__all__ = [
    "Record", "Split", "check_classes", "check_vectors", "graph_with", "held_out_splits", "in_parallel",
    "negative_positions", "seeded_split", "seeded_splits",
]  # fmt: skip

Record = dict[str, Any]
Split = tuple[NDArray[np.int64], NDArray[np.int64]]  # rows of the training and of the test part
Item = TypeVar("Item")
Result = TypeVar("Result")


def check_vectors(vectors: Any, labels: Any) -> tuple[NDArray[np.float64], NDArray[Any]]:
    """Validate vectors and labels and return them as arrays with one row per node; vectors become float64.

    Both are as in :func:`hopscale.labels.matched`.
    """
    if labels is None:
        raise GraphError("labels is None: this graph carries no labels to predict")
    vectors, labels = matched(vectors, labels)
    try:
        if np.iscomplexobj(vectors):
            raise GraphError("vectors must be real numbers, not complex ones")
        with np.errstate(over="ignore"):  # of long doubles; what is not finite is refused below
            X, y = np.asarray(vectors, dtype=np.float64), label_column(labels)
    except (TypeError, ValueError, OverflowError) as error:
        if isinstance(error, GraphError):
            raise
        raise GraphError(f"vectors must be an array of numbers, a row for each node ({error})") from error
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
    if np.abs(X).max(initial=0.0) > LARGEST:
        raise GraphError(f"vectors must lie within ±{LARGEST:g}, or their products would not be finite: scale them")
    return X, y


def check_classes(vectors: Any, labels: Any) -> tuple[NDArray[np.float64], NDArray[np.int64], list[Hashable]]:
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
    test_size = number("test_size", test_size, least=0, above=True, below=1)
    if not 2 <= round(test_size * n) <= n - 2:  # R² and ROC-AUC need two nodes
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


def held_out_splits(
    share: float, count: int, what: str, splits: int, random_state: int
) -> Iterator[tuple[int, np.random.Generator, NDArray[np.bool_]]]:
    """Number and generator of each split, and a mask of `count` entries: the share to hold out."""
    whole("splits", splits, least=1)
    whole("random_state", random_state, least=0)
    held_out = round(number("share", share, least=0, above=True, below=1) * count)
    if not 2 <= held_out < count:
        raise GraphError(f"share={share!r} of {count} {what} does not leave two to hide and one to learn from")
    for split in range(splits):
        rng = np.random.default_rng([random_state, split])
        hidden = np.zeros(count, dtype=bool)
        hidden[rng.choice(count, held_out, replace=False, shuffle=False)] = True
        yield split, rng, hidden


def graph_with(graph: AttributedGraph, adjacency: Any, features: Any) -> AttributedGraph:
    """A graph of the same nodes and features with other entries, and without labels."""
    return AttributedGraph(
        adjacency, features, node_ids=graph.node_ids, feature_names=graph.feature_names, self_loops=True
    )


def negative_positions(
    present: NDArray[np.int64], total: int, count: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Sample `count` distinct positions of 0..total-1 that are not in the sorted array `present`, uniformly.

    Samples ranks among the absent positions and finds the r-th absent position by binary search. Nothing is rejected,
    however dense the matrix, and memory does not grow with `total`.

    Examples
    --------
    >>> import numpy as np
    >>> from hopscale.tasks.splits import negative_positions
    >>> sorted(negative_positions(np.array([0, 2, 3]), 6, 3, np.random.default_rng(0)).tolist())
    [1, 4, 5]
    """
    absent = total - len(present)
    if count > absent:
        raise GraphError(f"there are {count} entries to find, but only {absent} of {total} places hold none")
    ranks = rng.choice(absent, count, replace=False)
    return np.asarray(ranks + np.searchsorted(present - np.arange(len(present)), ranks, side="right"))
