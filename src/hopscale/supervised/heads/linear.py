"""Logistic regression on vectors and sparse features side by side, along a path of regularisation strengths."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from hopscale.compute.threads import checkpoint
from hopscale.supervised.heads.base import HeadFamily, LinearHead
from hopscale.supervised.heads.logistic import minimum, softmax
from hopscale.supervised.inputs import Design

__all__ = ["Logistic", "LogisticHead"]

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

_TOLERANCE = 1e-4


@dataclass(frozen=True, eq=False)
class LogisticHead(LinearHead):
    """Weights (columns of the design, classes) and intercepts; for two classes there is one column of weights.

    ``strength`` is C, the inverse of the regularisation. ``seen`` says which classes occurred in training: the others
    have the probability 0.
    """

    strength: float
    weights: Array
    intercepts: Array
    seen: Mask

    def scores(self, design: Design) -> Array:
        """A score for each class, whose softmax the outputs are. Of two classes, the first has the score 0."""
        found = design.times(self.weights) + self.intercepts
        return np.hstack([np.zeros_like(found), found]) if found.shape[1] == 1 else found

    def weights_of(self, column: int) -> tuple[Array, float]:
        """Of the log odds of one of two classes; of more, of a class's score less the mean of all that were seen."""
        if len(self.intercepts) == 1:
            sign = 1.0 if column else -1.0
            return sign * self.weights[:, 0], sign * float(self.intercepts[0])
        weights = self.weights[:, column] - self.weights[:, self.seen].mean(axis=1)
        return weights, float(self.intercepts[column] - self.intercepts[self.seen].mean())

    def outputs(self, design: Design) -> Array:
        """Probability of each class for each row."""
        scores = self.scores(design)
        scores[:, ~self.seen] = -np.inf
        return np.ascontiguousarray(softmax(scores.T).T)


class Logistic(HeadFamily):
    r"""l2-regularised logistic regression. With weights w and intercepts b it minimises

    .. math:: C \sum_i -\log p(y_i \mid x_i; w, b) + \tfrac12 \lVert w \rVert^2,

    until no entry of the gradient, divided by C·m for m rows, is larger than 10⁻⁴, scikit-learn's tolerance.
    """

    name = "logistic"
    strengths = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0)

    def path(self, design: Design, targets: Array, part: Mask, strengths: tuple[float, ...]) -> Iterator[LogisticHead]:
        """Heads for each C, each of which starts from the one before."""
        n_classes, rows, m = targets.shape[1], part[:, None], max(1, int(part.sum()))
        seen = np.asarray((targets * rows).any(axis=0))
        truth = targets if n_classes > 2 else targets[:, 1:]
        W = np.zeros((truth.shape[1], 1, design.n_columns + 1))
        penalty = np.append(np.ones(design.n_columns), 0.0)
        gram = (design.dense * rows).T @ design.dense
        for C in strengths:
            weight = C * max(1, int(part.sum()))

            def gradient(
                W: Array, which: NDArray[np.int64], C: float = C, weight: float = weight
            ) -> tuple[Array, Array]:
                checkpoint()
                logits = design.times(W[:, 0, :-1].T) + W[:, 0, -1]
                if n_classes == 2:
                    residuals = expit(logits, out=logits)
                else:
                    logits[:, ~seen] = -np.inf
                    residuals = softmax(logits.T).T
                residuals = (residuals - truth) * rows
                slopes = np.vstack([design.transposed_times(residuals), residuals.sum(axis=0)]).T[:, None]
                slopes = C * slopes + penalty * W
                return slopes, np.abs(slopes).max(axis=(0, 2)) / (C * m)

            if seen.sum() > 1:  # else there is nothing to tell apart
                curvature = C / n_classes * (1 - 1 / n_classes)
                W = minimum(gradient, W.copy(), _Preconditioner(design, gram, curvature), _TOLERANCE)
            yield LogisticHead(C, W[:, 0, :-1].T.copy(), W[:, 0, -1].copy(), seen)


class _Preconditioner:
    """Inverse of one class's block of the Hessian at zero weights: whole for vectors, a diagonal for features."""

    def __init__(self, design: Design, gram: Array, curvature: float) -> None:
        self._d = len(gram)
        self._dense = np.linalg.inv(curvature * gram + np.eye(self._d))
        self._rest = 1 / np.append(curvature * design.sparse_squares + 1, curvature * len(design))

    def __call__(self, stacked: Array) -> Array:
        return np.concatenate([stacked[..., : self._d] @ self._dense, stacked[..., self._d :] * self._rest], axis=-1)
