"""What a head is: from rows of a design to outputs, a probability per class or a value."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from hopscale.compute import Threads
from hopscale.supervised.inputs import Design

__all__ = ["Head", "HeadFamily", "LinearHead", "TrainingParts"]

Array = NDArray[np.float64]
Indices = NDArray[np.int64]


class Head(ABC):
    """A fitted head; ``strength`` is the one of its family's strengths that it was fitted with."""

    strength: float

    @abstractmethod
    def outputs(self, design: Design) -> Array:
        """Outputs of each row: shape (n, k) for k classes, (n, 1) for values."""


class LinearHead(Head):
    """A head whose score is a sum over the columns of the design."""

    @abstractmethod
    def weights_of(self, column: int) -> tuple[Array, float]:
        """Weight of each column of the design, and intercept, of the score of a class or value."""


@dataclass(frozen=True, eq=False)
class TrainingParts:
    """Rows of a design with their targets, and the parts of them that heads are trained on.

    Attributes
    ----------
    design : Design
    targets : ndarray of shape (n, k)
        A one for the class of each row of the design and zeros elsewhere, or a value.
    fold : ndarray of shape (n,)
        Number of each row's fold.
    without : sequence of int
        The fold that each part leaves out; -1 leaves out none.
    engine : Threads
    start : Head, optional
        A head whose weights to start from, which may save time; not one that has seen a fold to leave out.
    """

    design: Design
    targets: Array
    fold: Indices
    without: Sequence[int]
    engine: Threads
    start: Head | None = None


@dataclass(frozen=True)
class HeadFamily(ABC):
    """Heads that differ in how strongly they are regularised."""

    name: ClassVar[str]
    kinds: ClassVar[tuple[str, ...]] = ("vectors", "features", "both")  # inputs that they can take

    strengths: tuple[float, ...] = ()  # that are tried, in this order

    @abstractmethod
    def path(self, parts: TrainingParts) -> Iterator[list[Head]]:
        """For each strength, a head for each part."""
