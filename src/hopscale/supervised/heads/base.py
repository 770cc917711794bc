"""What a head is: from rows of a design to outputs, a probability per class or a value."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from hopscale.compute import Threads
from hopscale.supervised.inputs import Design

__all__ = ["Head", "HeadFamily", "LinearHead"]

Array = NDArray[np.float64]
Indices = NDArray[np.int64]


class Head(ABC):
    """A head that has learnt; ``strength`` is where on its family's path it stands."""

    strength: float

    @abstractmethod
    def outputs(self, design: Design) -> Array:
        """Outputs of each row: shape (n, k) for k classes, (n, 1) for values."""


class LinearHead(Head):
    """A head whose score is a sum over the columns of the design."""

    @abstractmethod
    def weights_of(self, column: int) -> tuple[Array, float]:
        """Weight of each column of the design, and intercept, of the score of a class or value."""


class HeadFamily(ABC):
    """Heads that differ in how strongly they are regularised."""

    name: str
    kinds: tuple[str, ...] = ("vectors", "features", "both")  # inputs that they can take
    strengths: tuple[float, ...]  # that are tried, in this order

    @abstractmethod
    def path(self, design: Design, targets: Array, fold: Indices, engine: Threads) -> Iterator[list[Head]]:
        """For each strength, a head for each fold that was trained on the other folds, and one trained on all rows.

        ``targets`` has a row for each row of the design: a one for the class and zeros elsewhere, or a value. ``fold``
        is the number of each row's fold.
        """
