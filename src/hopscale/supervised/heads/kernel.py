"""Kernel ridge regression on landmarks, for values and, by least squares on indicators, for classes.

The kernel of two nodes is exp(-‖x - y‖² / s) of their vectors' directions x and y, s the median of such distances,
plus a share of the cosine of their features. With landmarks L among the training nodes, a function K(·, L)·a minimises

    ‖Y - K(X, L)·a‖² + λ·aᵀ·K(L, L)·a,

which is kernel ridge regression itself where every training node is a landmark, and Nyström's approximation else.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from hopscale.compute.threads import checkpoint, ranges
from hopscale.supervised.heads.base import Head, HeadFamily
from hopscale.supervised.inputs import Design

__all__ = ["Kernel", "KernelHead"]

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

FEATURE_SHARE = 0.2  # of the cosine of the features beside the kernel of the vectors
_ROWS = 2048  # rows of the kernel that are held at a time
_SAMPLE = 1000  # landmarks whose distances the scale is taken from
_JITTER = 1e-12  # relative to the trace: rounding must not make a singular matrix indefinite


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

    name = "kernel"
    strengths = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0)

    def path(self, design: Design, targets: Array, part: Mask, strengths: tuple[float, ...]) -> Iterator[KernelHead]:
        """Heads for each λ; the landmarks are the same."""
        train = np.flatnonzero(part)
        random = np.random.default_rng([self.seed, len(train)])
        chosen = np.sort(random.choice(train, min(self.landmarks, len(train)), replace=False))
        landmarks = _directions(design.take(chosen))
        scale = _median_distance(landmarks)
        mean = targets[train].mean(axis=0)
        gram, products = np.zeros((len(chosen), len(chosen))), np.zeros((len(chosen), targets.shape[1]))
        for begin, end in ranges(len(train), _ROWS):
            checkpoint()
            rows = train[begin:end]
            K = _kernel(_directions(design.take(rows)), landmarks, scale)
            gram += K.T @ K
            products += K.T @ (targets[rows] - mean)
        own = _kernel(landmarks, landmarks, scale)
        for strength in strengths:
            checkpoint()
            system = gram + strength * own
            system[np.diag_indices_from(system)] += _JITTER * (np.trace(system) or 1.0)
            yield KernelHead(strength, landmarks, scale, cho_solve(cho_factor(system), products), mean)


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
    return float(np.median(_distances(some, some))) or 1.0


def _kernel(x: Design, y: Design, scale: float) -> Array:
    found = np.zeros((len(x), len(y)))
    if x.dense.shape[1]:
        found = np.exp(_distances(x.dense, y.dense) / -scale)
    if x.sparse.shape[1]:
        share = FEATURE_SHARE if x.dense.shape[1] else 1.0
        found += share * (x.sparse @ y.sparse.T).toarray()
    return found
