"""Held-out entries of a sparse matrix, and negative samples: zero entries drawn uniformly."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hopscale.checks import number
from hopscale.exceptions import GraphError, ParameterError

__all__ = ["held_out_count", "negative_positions"]


def held_out_count(share: float, count: int, what: str) -> int:
    """Number of entries to hold out, a share of `count`: at least two, leaving at least one."""
    if not 0 < number("share", share, least=0) < 1:
        raise ParameterError(f"share must lie between 0 and 1, not {share!r}")
    hidden = round(share * count)
    if not 2 <= hidden < count:
        raise GraphError(f"share={share!r} of {count} {what} does not leave two to hide and one to learn from")
    return hidden


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
