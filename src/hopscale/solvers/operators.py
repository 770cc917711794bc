"""Matrices that are sums, products or neighbours of others, and only ever multiplied with."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hopscale.parallel import Workers
from hopscale.solvers.matrices import RowMatrix
from hopscale.solvers.svd import Operator
from hopscale.solvers.tables import Array, crossed, turned

__all__ = [
    "Beside",
    "Product",
    "Series",
    "Transposed",
    "TwoSteps",
    "Without",
    "half_transitions",
    "smoothing",
    "transitions",
    "unit_rows",
]


class Beside:
    """[M₁ M₂ …], matrices of the same rows side by side."""

    def __init__(self, parts: Sequence[Operator]) -> None:
        self._parts = parts
        self._ends = np.cumsum([part.shape[1] for part in parts])
        self.shape = (parts[0].shape[0], int(self._ends[-1]))

    def times(self, x: Array) -> Array:
        """M·x."""
        pieces = np.split(x, self._ends[:-1])
        return _sum([part.times(piece)[:, : x.shape[1]] for part, piece in zip(self._parts, pieces, strict=True)])

    def transposed_times(self, y: Array) -> Array:
        """Mᵀ·y."""
        return np.vstack([part.transposed_times(y)[:, : y.shape[1]] for part in self._parts])


class Product:
    """M₁·M₂·…."""

    def __init__(self, factors: Sequence[Operator]) -> None:
        self._factors = factors
        self.shape = (factors[0].shape[0], factors[-1].shape[1])

    def times(self, x: Array) -> Array:
        """M·x."""
        width = x.shape[1]
        for factor in reversed(self._factors):
            x = factor.times(x)[:, :width]
        return x

    def transposed_times(self, y: Array) -> Array:
        """Mᵀ·y."""
        width = y.shape[1]
        for factor in self._factors:
            y = factor.transposed_times(y)[:, :width]
        return y


class Without:
    """M − U·Vᵀ: what a factorisation leaves."""

    def __init__(self, matrix: Operator, u: Array, v: Array, workers: Workers) -> None:
        self._matrix, self._u, self._v, self._workers = matrix, u, v, workers
        self.shape = matrix.shape

    def times(self, x: Array) -> Array:
        """(M − U·Vᵀ)·x."""
        return self._less(self._matrix.times(x)[:, : x.shape[1]], self._u, self._v, x)

    def transposed_times(self, y: Array) -> Array:
        """(M − U·Vᵀ)ᵀ·y."""
        return self._less(self._matrix.transposed_times(y)[:, : y.shape[1]], self._v, self._u, y)

    def _less(self, product: Array, left: Array, right: Array, x: Array) -> Array:
        product -= turned(left, crossed(right, x, self._workers, np.float32), self._workers)
        return product


class Transposed:
    """Mᵀ."""

    def __init__(self, matrix: Operator) -> None:
        self._matrix = matrix
        self.shape = matrix.shape[::-1]

    def times(self, x: Array) -> Array:
        """Mᵀ·x."""
        return self._matrix.transposed_times(x)

    def transposed_times(self, y: Array) -> Array:
        """M·y."""
        return self._matrix.times(y)


class Series:
    """(1 − α)·Σ αᵏ·Pᵏ: where a walk stops that goes on with probability α."""

    def __init__(self, step: Operator, decay: float) -> None:
        self._step, self._decay = step, np.float32(decay)
        self._terms = int(np.ceil(np.log(1e-6) / np.log(decay)))  # what is left is below float32's rounding
        self.shape = step.shape

    def times(self, x: Array) -> Array:
        """M·x."""
        return self._sum(self._step.times, x)

    def transposed_times(self, y: Array) -> Array:
        """Mᵀ·y."""
        return self._sum(self._step.transposed_times, y)

    def _sum(self, step: Callable[[Array], Array], x: Array) -> Array:
        total = x = (np.float32(1) - self._decay) * x
        for _ in range(self._terms):
            x = self._decay * step(x)[:, : x.shape[1]]
            total = total + x
        return total


class TwoSteps:
    """(P + P²)/2: where a walk is after one step or two."""

    def __init__(self, adjacency: sp.csr_array, workers: Workers) -> None:
        self._p = RowMatrix(transitions(adjacency), workers)
        self.shape = self._p.shape

    def times(self, x: Array) -> Array:
        """M·x."""
        once = self._p.times(x)
        return (np.float32(0.5) * (once + self._p.times(once)))[:, : x.shape[1]]

    def transposed_times(self, y: Array) -> Array:
        """Mᵀ·y."""
        once = self._p.transposed_times(y)
        return (np.float32(0.5) * (once + self._p.transposed_times(once)))[:, : y.shape[1]]


def smoothing(adjacency: sp.csr_array, strength: float, workers: Workers) -> RowMatrix:
    """(1 − γ)·I + γ·D̃^(-1/2)(A + I)D̃^(-1/2): a share γ of the way to the neighbours' mean."""
    closed = adjacency.astype(np.float64) + sp.eye_array(adjacency.shape[0], format="csr")
    root = np.sqrt(_inverse(_row_sums(closed)))
    normalised = sp.diags_array(root) @ closed @ sp.diags_array(root)
    kept = (1.0 - strength) * sp.eye_array(adjacency.shape[0], format="csr")
    return RowMatrix(sp.csr_array(kept + strength * normalised).astype(np.float32), workers)


def transitions(adjacency: sp.csr_array) -> sp.csr_array:
    """P = D⁻¹A, with empty rows for isolated nodes."""
    return _weighted_rows(adjacency, _inverse(_row_sums(adjacency)))


def half_transitions(adjacency: sp.csr_array) -> sp.csr_array:
    """D^(-1/2)·A, with empty rows for isolated nodes."""
    return _weighted_rows(adjacency, np.sqrt(_inverse(_row_sums(adjacency))))


def unit_rows(matrix: sp.csr_array) -> sp.csr_array:
    """The matrix with rows of length one, or zero."""
    return _weighted_rows(matrix, _inverse(np.sqrt(_row_sums(matrix.multiply(matrix)))))


def _weighted_rows(matrix: sp.csr_array, weights: NDArray[np.float64]) -> sp.csr_array:
    """The matrix with each row multiplied by a number."""
    return sp.csr_array(sp.diags_array(weights) @ matrix).astype(np.float32)


def _row_sums(matrix: sp.sparray) -> NDArray[np.float64]:
    return np.asarray(matrix.sum(axis=1, dtype=np.float64)).ravel()


def _inverse(x: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.divide(1.0, x, out=np.zeros_like(x), where=x > 0)


def _sum(parts: list[Array]) -> Array:
    total = parts[0].copy()
    for part in parts[1:]:
        total += part
    return total
