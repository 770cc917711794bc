"""What a solver returns for one scale."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hopscale.pairs import Scale
from hopscale.solvers.tables import Array

__all__ = ["Solution"]


@dataclass(frozen=True)
class Solution:
    """Vectors of one scale: G·Hᵀ estimates the target matrix.

    ``feature_probability`` and, for the direct solver, ``singular_values`` are what placing new nodes
    needs besides H. ``rows`` says in words what the vectors were learnt from; ``sampled``
    whether the direct solver had only estimates of the rows.
    """

    scale: Scale
    node_vectors: Array
    feature_vectors: Array
    feature_probability: NDArray[np.float64]
    singular_values: NDArray[np.float64] | None = None
    rows: str = ""
    sampled: bool = False
