"""Elastic net regression on vectors, the paper's head for values, along a path of penalties."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import enet_path

from hopscale.supervised.heads.base import Head, HeadFamily, LinearHead
from hopscale.supervised.inputs import Design

__all__ = ["ElasticNet", "ElasticNetHead"]

Array = NDArray[np.float64]
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


class ElasticNet(HeadFamily):
    r"""Elastic net on standardised vectors: with m rows, the weights minimise

    .. math::

        \frac{1}{2m} \lVert y - Xw - w_0 \rVert^2 + \frac{\alpha}{2} \lVert w \rVert_1
        + \frac{\alpha}{4} \lVert w \rVert^2.
    """

    name = "elastic-net"
    kinds = ("vectors",)
    strengths = (0.1, 0.03, 0.01, 0.003, 0.001)

    def path(self, design: Design, targets: Array, part: Mask, strengths: tuple[float, ...]) -> Iterator[Head]:
        """Heads for each α, in the order given."""
        X, y = design.dense[part], targets[part, 0]
        mean, deviation = X.mean(axis=0), X.std(axis=0)
        deviation[deviation < 1e-9 * max(1e-300, deviation.max(initial=0.0))] = np.inf  # constant columns
        Z, center, spread = (X - mean) / deviation, y.mean(), y.std() or 1.0
        # With a precomputed Gram matrix enet_path uses only the number of rows: one, as the Gram matrix is a mean.
        gram, products = Z.T @ Z / len(Z), Z.T @ ((y - center) / spread) / len(Z)
        for alpha in strengths:
            _, found, _ = enet_path(
                np.zeros((1, Z.shape[1]), order="F"),
                np.ones(1),
                alphas=[alpha],
                l1_ratio=_L1_RATIO,
                precompute=gram,
                Xy=products,
                max_iter=_MAX_ITERATIONS,
                check_input=False,
            )
            weights = found[:, :1] / deviation[:, None] * spread
            yield ElasticNetHead(alpha, weights, np.atleast_1d(center - mean @ weights[:, 0]))
