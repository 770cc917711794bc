"""What a solver returns for one scale."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hopscale.pairs import Scale

__all__ = ["Solution", "padded"]


@dataclass(frozen=True)
class Solution:
    """Vectors of one scale: G·Hᵀ estimates the target matrix.

    ``feature_probability`` and, for the direct solver, ``singular_values`` are what placing new nodes
    needs besides H. ``rows`` says in words what the vectors were learnt from.
    """

    scale: Scale
    node_vectors: NDArray[np.float32]
    feature_vectors: NDArray[np.float32]
    feature_probability: NDArray[np.float64]
    singular_values: NDArray[np.float64] | None = None
    rows: str = ""


def padded(width: int) -> int:
    """Row length of the kernels' tables: the next multiple of 16 floats.

    >>> padded(43)
    48
    """
    return -(-width // 16) * 16
