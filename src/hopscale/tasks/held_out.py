"""Held-out entries of a sparse matrix, and negative samples: zero entries drawn uniformly."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hopscale.checks import number, whole
from hopscale.exceptions import GraphError
from hopscale.graph import AttributedGraph

__all__ = ["graph_with", "held_out_splits", "negative_positions"]


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
    >>> from hopscale.tasks.held_out import negative_positions
    >>> sorted(negative_positions(np.array([0, 2, 3]), 6, 3, np.random.default_rng(0)).tolist())
    [1, 4, 5]
    """
    absent = total - len(present)
    if count > absent:
        raise GraphError(f"there are {count} entries to find, but only {absent} of {total} places hold none")
    ranks = rng.choice(absent, count, replace=False)
    return np.asarray(ranks + np.searchsorted(present - np.arange(len(present)), ranks, side="right"))
