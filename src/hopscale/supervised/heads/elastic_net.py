"""Elastic net regression on vectors, the paper's head for values, along a path of penalties."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from operator import methodcaller

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import enet_path

from hopscale.compute.threads import checkpoint
from hopscale.supervised.heads.base import Head, HeadFamily, LinearHead, TrainingParts
from hopscale.supervised.inputs import Design

__all__ = ["ElasticNet", "ElasticNetHead"]

Array = NDArray[np.float64]
Indices = NDArray[np.int64]
Mask = NDArray[np.bool_]

_MAX_ITERATIONS = 10_000
_L1_RATIO = 0.5


@dataclass(frozen=True, eq=False)
class ElasticNetHead(LinearHead):
    """Weights (columns, 1) of the design's vectors, and an intercept; ``strength`` is α."""

    strength: float
    weights: Array
    intercepts: Array

    def weights_of(self, column: int) -> tuple[Array, float]:
        """Of the value."""
        return self.weights[:, 0], float(self.intercepts[0])

    def outputs(self, design: Design) -> Array:
        """A value for each row."""
        return np.asarray(design.dense @ self.weights + self.intercepts)


@dataclass(frozen=True)
class ElasticNet(HeadFamily):
    r"""Elastic net on standardised vectors: with m rows, the weights minimise

    .. math::

        \frac{1}{2m} \lVert y - Xw - w_0 \rVert^2 + \frac{\alpha}{2} \lVert w \rVert_1
        + \frac{\alpha}{4} \lVert w \rVert^2.
    """

    strengths: tuple[float, ...] = (1.0, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001)

    name = "elastic-net"
    kinds = ("vectors",)

    def path(self, parts: TrainingParts) -> Iterator[list[Head]]:
        """Heads for each α."""
        X, y = parts.design.dense, parts.targets[:, 0]
        moments = [_Part(X, y, parts.fold != left_out) for left_out in parts.without]
        for alpha in self.strengths:
            yield list(parts.engine.map(methodcaller("head", alpha), moments))


class _Part:
    """Moments of the training rows: standardised columns, and their products with each other and with the values."""

    def __init__(self, X: Array, y: Array, rows: Mask) -> None:
        X, y = X[rows].astype(np.float64), y[rows]
        self._mean, deviation = X.mean(axis=0), X.std(axis=0)
        deviation[deviation < 1e-9 * max(1e-300, deviation.max(initial=0.0))] = np.inf  # constant columns
        self._deviation, self._center, self._spread = deviation, float(y.mean()), float(y.std()) or 1.0
        Z = (X - self._mean) / deviation
        self._gram, self._products = Z.T @ Z / len(Z), Z.T @ ((y - self._center) / self._spread) / len(Z)

    def head(self, alpha: float) -> ElasticNetHead:
        """The head of one α."""
        checkpoint()
        # With a precomputed Gram matrix enet_path uses only the number of rows: one, as the Gram matrix is a mean.
        _, found, _ = enet_path(
            np.zeros((1, len(self._gram)), order="F"),
            np.ones(1),
            alphas=[alpha],
            l1_ratio=_L1_RATIO,
            precompute=self._gram,
            Xy=self._products,
            max_iter=_MAX_ITERATIONS,
            check_input=False,
        )
        weights = found[:, :1] / self._deviation[:, None] * self._spread
        return ElasticNetHead(alpha, weights, np.atleast_1d(self._center - self._mean @ weights[:, 0]))
