"""What a solver is, and what it returns for one scale."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from hopscale.checks import KnownParameters, checked_fields
from hopscale.compute.aligned import Floats
from hopscale.walks import Scale, WalkContext

__all__ = ["MOST_NOISE", "Solution", "Solver"]

MOST_NOISE = 8  # the largest exponent of p(f): far beyond it one feature alone is left


@dataclass(frozen=True, eq=False)
class Solution:
    """Vectors of one scale: G·Hᵀ estimates the target matrix of the solver.

    ``feature_probability`` and, for the direct solver, ``singular_values`` are what placing new nodes needs besides H.
    ``rows`` says in words what the vectors were learnt from; ``sampled`` whether the direct solver had only estimates
    of the rows. ``captured`` is the share of the squared norm of the matrix that was factorised which G·Hᵀ holds, None
    where that is not known; ``filled`` says of which nodes the target has an entry, and is not kept.
    """

    scale: Scale
    node_vectors: Any  # tall arrays of the engine, NumPy's once a model has them
    feature_vectors: Any
    feature_probability: NDArray[np.float64]
    singular_values: NDArray[np.float64] | None = None
    rows: str = ""
    sampled: bool = False
    captured: float | None = None
    filled: NDArray[np.bool_] | None = None


class Solver(KnownParameters, BaseEstimator, ABC):  # type: ignore[misc]
    """A value that says how a model's target is solved; its parameters are read when a model is fitted."""

    name: ClassVar[str]
    # Settings of files that were written before a parameter existed, where its default would change the vectors.
    settings_before: ClassVar[Mapping[str, Any]] = {}

    def check(self, window: int) -> None:
        """Refuse parameters that make no sense for walks of ``window`` hops."""
        checked_fields(self)

    @abstractmethod
    def fit(self, context: WalkContext, scales: Sequence[Scale], engine: Any, seed: int) -> Iterable[Solution]:
        """Solutions of all scales; a caller that drops each before it takes the next holds one at a time."""

    def power_at(self, scale: Scale) -> float:
        """The power of pointwise mutual information that products of vectors of a scale estimate."""
        return 1.0

    @abstractmethod
    def project(self, context: WalkContext, solutions: Sequence[Solution], engine: Any, seed: int) -> Iterable[Floats]:
        """Vectors of the nodes of another graph over the same features, scale by scale; the features' stay."""
