"""Logistic regression on vectors and sparse features side by side, along a path of regularisation strengths."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from hopscale.compute import Threads
from hopscale.compute.threads import TALL_CHUNK, checkpoint, ranges
from hopscale.supervised.heads.base import Head, HeadFamily, LinearHead, TrainingParts
from hopscale.supervised.heads.lbfgs import minimum
from hopscale.supervised.heads.logistic import softmax
from hopscale.supervised.inputs import Design

__all__ = ["Logistic", "LogisticHead"]

Array = NDArray[np.float64]
Indices = NDArray[np.int64]
Mask = NDArray[np.bool_]

_MEMORY = 8  # steps that L-BFGS remembers
_FEW_COLUMNS = 1024  # whose curvature is held as a matrix


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


@dataclass(frozen=True)
class Logistic(HeadFamily):
    r"""l2-regularised logistic regression. With weights w and intercepts b it minimises

    .. math:: C \sum_i -\log p(y_i \mid x_i; w, b) + \tfrac12 \lVert w \rVert^2,

    until it is above its minimum, divided by C·m for m rows, by half of the tolerance or so. Unlike a bound on the
    gradient's entries this is as strict for features that few nodes have.
    """

    strengths: tuple[float, ...] = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
    tolerance: float = 1e-4

    name = "logistic"

    def path(self, parts: TrainingParts) -> Iterator[list[Head]]:
        """Heads for each C, all parts at once; each starts from the one before."""
        problem, design, count = _Problem(parts), parts.design, len(parts.without)
        W = np.zeros((problem.n_scores, count, design.n_columns + 1))
        if isinstance(parts.start, LogisticHead):
            W += np.vstack([parts.start.weights, parts.start.intercepts]).T[:, None]
        for C in self.strengths:
            P, excess = problem.preconditioner(C), self.tolerance * C * len(design)
            W = minimum(partial(problem.gradient, C), W.copy(), P, 0.0, excess=excess, memory=_MEMORY)
            yield [
                LogisticHead(C, W[:, part, :-1].T.copy(), W[:, part, -1].copy(), problem.seen[part])
                for part in range(count)
            ]


class _Problem:
    """Logistic regressions on several training parts of the same rows: all of them, or all but a fold.

    Products are made in single precision, for all parts at once; weights have the shape (K, S, columns + 1) for K
    scores and S parts.
    """

    def __init__(self, parts: TrainingParts) -> None:
        design, targets, engine = parts.design, parts.targets, parts.engine
        self.n_classes = targets.shape[1]
        self._engine, self._d = engine, design.dense.shape[1]
        self._dense = design.dense.astype(np.float32)
        self._sparse = engine.sparse(design.sparse.astype(np.float32)) if design.sparse.shape[1] else None
        rows = parts.fold[:, None] != np.asarray(parts.without)
        self.seen = np.asarray(rows.T.astype(np.float64) @ targets > 0)
        # With a single class there is nothing to tell apart: without rows, all weights are zero.
        rows &= self.seen.sum(axis=1) > 1
        self._rows, self._m = rows.astype(np.float32), np.maximum(1, rows.sum(axis=0))
        self._truth = (targets if self.n_classes > 2 else targets[:, 1:]).astype(np.float32)
        self.n_scores = self._truth.shape[1]
        self._curvatures = _Curvatures(design, engine)

    def gradient(self, C: float, W: Array, which: Indices) -> tuple[Array, Array]:
        """Of the objectives of some parts, and its largest entry divided by C·m."""
        checkpoint()
        shape = (-1, self.n_scores, len(which))
        weights = np.ascontiguousarray(W.transpose(2, 0, 1).reshape(W.shape[2], -1), dtype=np.float32)
        scores = self._engine.matmul(self._dense, weights[: self._d])
        if self._sparse is not None:
            scores += self._sparse @ weights[self._d : -1]

        def residuals(piece: tuple[int, int]) -> Array:
            rows = slice(*piece)
            part = scores[rows]
            part += weights[-1]
            by_class = part.reshape(shape)
            if self.n_classes == 2:
                expit(by_class, out=by_class)
            else:
                by_class[:, ~self.seen[which].T] = -np.inf
                softmax(by_class, axis=1)
            by_class -= self._truth[rows, :, None]
            by_class *= self._rows[rows, None, which]
            return np.asarray(part.sum(axis=0, dtype=np.float64))

        total = sum(self._engine.map(residuals, ranges(len(scores), TALL_CHUNK)))
        blocks = [self._engine.gram(self._dense, scores, np.float32)]
        if self._sparse is not None:
            blocks.append(self._sparse.T @ scores)
        slopes = np.vstack([*blocks, total]).reshape(W.shape[2], *W.shape[:2]).transpose(1, 2, 0) * C
        slopes[..., :-1] += W[..., :-1]
        return slopes, np.abs(slopes).max(axis=(0, 2)) / (C * self._m[which])

    def preconditioner(self, C: float) -> Callable[[Array], Array]:
        """Inverse of one class's block of the Hessian at zero weights, nearly."""
        return self._curvatures.inverse(C / self.n_classes * (1 - 1 / self.n_classes))


class _Curvatures:
    """XᵀX of a design: the whole of it if there are few columns, else that of its vectors and the others' squares."""

    def __init__(self, design: Design, engine: Threads) -> None:
        dense = design.dense
        if design.n_columns <= _FEW_COLUMNS:
            dense = np.hstack([dense, design.sparse.toarray()])
        self._d, self._n = dense.shape[1], len(design)
        self._squares = design.sparse_squares if self._d < design.n_columns else np.zeros(0)
        self._values, self._vectors = np.linalg.eigh(engine.gram(dense, dense))

    def inverse(self, curvature: float) -> Callable[[Array], Array]:
        """What multiplies rows by the inverse of curvature·XᵀX + 1; the last column, of the intercept, has no 1."""
        d, values = self._d, 1 / (curvature * np.maximum(self._values, 0) + 1)
        whole = (self._vectors * values) @ self._vectors.T
        rest = 1 / np.append(curvature * self._squares + 1, curvature * self._n)
        return lambda stacked: np.concatenate([stacked[..., :d] @ whole, stacked[..., d:] * rest], axis=-1)
