"""Entries of a matrix that are hidden from a model, and places that hold none: what it is asked to tell apart."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hopscale.checks import number
from hopscale.exceptions import GraphError, ParameterError

__all__ = ["absent_positions", "hidden_count"]


def hidden_count(share: float, count: int, what: str) -> int:
    """How many of `count` things a share of them is; at least two are hidden, and one is left."""
    if not 0 < number("share", share, least=0) < 1:
        raise ParameterError(f"share must lie between 0 and 1, not {share!r}")
    hidden = round(share * count)
    if not 2 <= hidden < count:
        raise GraphError(f"share={share!r} of {count} {what} does not leave two to hide and one to learn from")
    return hidden


def absent_positions(present: NDArray[np.int64], total: int, count: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """`count` distinct positions of 0..total-1 that are not among the sorted `present`, uniformly.

    The r-th absent position lies behind r absent and as many present ones as there are before it, which a search
    finds: nothing is drawn in vain, however full the matrix, and memory does not grow with `total`.

    Examples
    --------
    >>> import numpy as np
    >>> from hopscale.tasks.hiding import absent_positions
    >>> sorted(absent_positions(np.array([0, 2, 3]), 6, 3, np.random.default_rng(0)).tolist())
    [1, 4, 5]
    """
    absent = total - len(present)
    if count > absent:
        raise GraphError(f"there are {count} entries to find, but only {absent} of {total} places hold none")
    ranks = rng.choice(absent, count, replace=False)
    return np.asarray(ranks + np.searchsorted(present - np.arange(len(present)), ranks, side="right"))
