"""Kernel ridge regression on landmarks, for values and, by least squares on indicators, for classes.

The kernel of two nodes is exp(-‖x - y‖² / s) of their vectors' directions x and y, s the median of such distances,
plus a share of the cosine of their features. With landmarks L among the training nodes, a function K(·, L)·a minimises

    ‖Y - K(X, L)·a‖² + λ·aᵀ·K(L, L)·a,

which is kernel ridge regression itself where every training node is a landmark, and Nyström's approximation else.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from operator import add

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from hopscale.compute.threads import checkpoint, ranges
from hopscale.supervised.heads.base import Head, HeadFamily, TrainingParts
from hopscale.supervised.inputs import Design

__all__ = ["Kernel", "KernelHead"]

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

FEATURE_SHARE = 0.2  # of the cosine of the features beside the kernel of the vectors
_ROWS = 2048  # rows of the kernel that are held at a time
_SAMPLE = 1000  # landmarks whose distances the scale is taken from
_JITTER = 1e-12  # relative to the trace: rounding must not make a singular matrix indefinite
_ROUNDING = 4e-15  # of a squared distance of unit vectors, which the kernel divides by its scale
_SAME = 1e-10  # squared distance of directions that are the same


@dataclass(frozen=True, eq=False)
class KernelHead(Head):
    """Coefficients of the landmarks (m, k) and the mean that they start from; ``strength`` is λ."""

    strength: float
    landmarks: Design
    scale: float
    coefficients: Array
    mean: Array

    def outputs(self, design: Design) -> Array:
        """K(design, landmarks)·a + mean."""
        found = np.empty((len(design), self.coefficients.shape[1]))
        for begin, end in ranges(len(design), _ROWS):
            checkpoint()
            rows = _directions(design.take(slice(begin, end)))
            found[begin:end] = _kernel(rows, self.landmarks, self.scale) @ self.coefficients + self.mean
        return found


@dataclass(frozen=True)
class Kernel(HeadFamily):
    """Kernel ridge regression; ``landmarks`` is their largest number, and ``seed`` that of drawing them."""

    landmarks: int = 2000
    seed: int = 0
    strengths: tuple[float, ...] = (10.0, 3.0, 1.0, 0.3, 0.1, 0.03, 0.01)

    name = "kernel"

    def path(self, parts: TrainingParts) -> Iterator[list[Head]]:
        """Heads for each λ; the landmarks of all of them are the same, drawn without a look at the targets."""
        design, fold, engine = parts.design, parts.fold, parts.engine
        random = np.random.default_rng([self.seed, len(design)])
        chosen = np.sort(random.choice(len(design), min(self.landmarks, len(design)), replace=False))
        landmarks = _directions(design.take(chosen))
        scale = _median_distance(landmarks)
        Y = np.hstack([parts.targets, np.ones((len(design), 1))])
        folds = [np.flatnonzero(fold == k) for k in range(int(fold.max()) + 1)]
        sums = list(engine.map(lambda rows: _sums(design, Y, rows, landmarks, scale), folds))
        # Added up for each part, and not subtracted from the total, whose rounding a fold of large values would decide.
        totals = [reduce(add, [each for k, each in enumerate(sums) if k != left_out]) for left_out in parts.without]
        own = _kernel(landmarks, landmarks, scale)
        jitter = max(_JITTER, _ROUNDING / scale)
        for strength in self.strengths:

            def solved(part: _Sums, strength: float = strength) -> Head:
                checkpoint()
                system = part.gram + strength * own
                system[np.diag_indices_from(system)] += jitter * (np.trace(system) or 1.0)
                mean = part.totals[:-1] / part.totals[-1]
                products = part.products[:, :-1] - part.products[:, -1:] * mean
                return KernelHead(strength, landmarks, scale, cho_solve(cho_factor(system), products), mean)

            yield list(engine.map(solved, totals))


@dataclass(frozen=True, eq=False)
class _Sums:
    """Sums over rows, with their kernel K and targets Y, which end in a column of ones: KᵀK, KᵀY and 1ᵀY."""

    gram: Array
    products: Array
    totals: Array

    def __add__(self, other: _Sums) -> _Sums:
        return _Sums(self.gram + other.gram, self.products + other.products, self.totals + other.totals)


def _sums(design: Design, Y: Array, rows: Indices, landmarks: Design, scale: float) -> _Sums:
    pieces = []
    for begin, end in ranges(len(rows), _ROWS):
        checkpoint()
        some = rows[begin:end]
        K = _kernel(_directions(design.take(some)), landmarks, scale)
        pieces.append(_Sums(K.T @ K, K.T @ Y[some], Y[some].sum(axis=0)))
    return reduce(add, pieces)


def _directions(design: Design) -> Design:
    """The design with vectors of length 1; zero vectors stay."""
    lengths = np.linalg.norm(design.dense, axis=1, keepdims=True)
    return Design(np.divide(design.dense, lengths, out=np.zeros_like(design.dense), where=lengths > 0), design.sparse)


def _distances(x: Array, y: Array) -> Array:
    squares = (x**2).sum(axis=1)[:, None] + (y**2).sum(axis=1) - 2 * (x @ y.T)
    return np.maximum(squares, 0.0)


def _median_distance(landmarks: Design) -> float:
    if not landmarks.dense.shape[1]:
        return 1.0
    step = -(-len(landmarks) // _SAMPLE)
    some = landmarks.dense[::step]
    median = float(np.median(_distances(some, some)))
    return median if median > _SAME else 1.0


def _kernel(x: Design, y: Design, scale: float) -> Array:
    found = np.zeros((len(x), len(y)))
    if x.dense.shape[1]:
        found = np.exp(_distances(x.dense, y.dense) / -scale)
    if x.sparse.shape[1]:
        share = FEATURE_SHARE if x.dense.shape[1] else 1.0
        found += share * (x.sparse @ y.sparse.T).toarray()
    return found
