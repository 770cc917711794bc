"""Seeded train/test splits: what is known of the nodes, divided again and again, scored in parallel."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hopscale.checks import whole
from hopscale.compute.threads import Threads, ranges
from hopscale.exceptions import GraphError, ParameterError

__all__ = ["Record", "in_pieces", "matched", "seeded_split", "seeded_splits"]

Record = dict[str, Any]
Item = TypeVar("Item")


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


def seeded_splits(
    n: int, splits: int, test_size: float, random_state: int
) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Rows of the training and of the test part of every split; see :func:`seeded_split`."""
    whole("splits", splits, least=1)
    whole("random_state", random_state, least=0)
    # Two nodes are the least on which a ranking or a variance means anything.
    if not (0 < test_size < 1 and 2 <= round(test_size * n) <= n - 2):
        raise ParameterError(
            f"{n} labelled nodes cannot be divided by test_size={test_size!r}: that does not leave two or more on "
            "either side"
        )
    return [seeded_split(n, test_size, random_state, split) for split in range(splits)]


def in_pieces(
    score: Callable[[Sequence[Item]], list[Record]], items: Sequence[Item], size: int, n_jobs: int | None
) -> list[Record]:
    """What `score` measures on each item, in their order, taken `size` at a time.

    Pieces are shared out over threads, with BLAS on one: the records do not depend on `n_jobs`.
    """
    with Threads(n_jobs) as engine:
        pieces = engine.map(lambda piece: score(items[slice(*piece)]), ranges(len(items), size))
        return [record for piece in pieces for record in piece]
