"""What a head is: from rows of a design to outputs, a probability per class or a value."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from hopscale.supervised.inputs import Design

__all__ = ["Head", "HeadFamily", "LinearHead"]

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]


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
    strengths: tuple[float, ...]  # that are tried

    @abstractmethod
    def path(self, design: Design, targets: Array, part: Mask, strengths: tuple[float, ...]) -> Iterator[Head]:
        """Heads of the given strengths, trained on the rows of the design that ``part`` marks.

        ``targets`` has a row for each row of the design: a one for the class and zeros elsewhere, or a value.
        """
