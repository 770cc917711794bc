"""Matrices that are only ever multiplied with: they compose with ``@`` and ``.T``, and none is formed."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np

from hopscale.compute.engine import Engine, Tall

__all__ = ["Dense", "HStack", "Operator", "Residual", "Series", "Steps", "TwoSteps"]

MOST_POWERS = 50  # terms of a series of powers, beyond which Chebyshev's polynomials are summed


class Operator(ABC):
    """A matrix M of shape (n, q) through its products with tall arrays, as many columns out as in."""

    shape: tuple[int, int]

    @abstractmethod
    def _times(self, x: Tall) -> Tall:
        """M·x."""

    @abstractmethod
    def _transposed_times(self, y: Tall) -> Tall:
        """Mᵀ·y."""

    def __matmul__(self, x: Tall) -> Tall:
        if self.shape[1] != x.shape[0]:
            raise ValueError(f"a matrix of shape {self.shape} cannot be multiplied by one of {tuple(x.shape)}")
        return _Product(self, x) if isinstance(x, Operator) else self._times(x)

    @property
    def T(self) -> Operator:  # noqa: N802
        """Mᵀ."""
        return _Transposed(self)


class _Transposed(Operator):
    def __init__(self, matrix: Operator) -> None:
        self._matrix = matrix
        self.shape = matrix.shape[::-1]

    def _times(self, x: Tall) -> Tall:
        return self._matrix._transposed_times(x)

    def _transposed_times(self, y: Tall) -> Tall:
        return self._matrix._times(y)


class _Product(Operator):
    """L·R."""

    def __init__(self, left: Operator, right: Operator) -> None:
        self._left, self._right = left, right
        self.shape = (left.shape[0], right.shape[1])

    def _times(self, x: Tall) -> Tall:
        return self._left @ (self._right @ x)

    def _transposed_times(self, y: Tall) -> Tall:
        return self._right.T @ (self._left.T @ y)


class Dense(Operator):
    """A tall array with columns so few that a row for each of them is small."""

    def __init__(self, matrix: Tall, engine: Engine) -> None:
        self.shape = (int(matrix.shape[0]), int(matrix.shape[1]))
        self._matrix, self._engine = matrix, engine

    def _times(self, x: Tall) -> Tall:
        return self._engine.matmul(self._matrix, self._engine.host(x))

    def _transposed_times(self, y: Tall) -> Tall:
        return self._engine.tall(self._engine.gram(self._matrix, y, np.float32))


class HStack(Operator):
    """[M₁ M₂ …], matrices of the same rows side by side."""

    def __init__(self, parts: Sequence[Operator], engine: Engine) -> None:
        self._parts, self._engine = parts, engine
        self.shape = (parts[0].shape[0], sum(part.shape[1] for part in parts))

    def _times(self, x: Tall) -> Tall:
        first, *others = self._parts
        end = first.shape[1]
        total = first @ x[:end]
        for part in others:
            begin, end = end, end + part.shape[1]
            total += part @ x[begin:end]
        return total

    def _transposed_times(self, y: Tall) -> Tall:
        return self._engine.concatenate([part.T @ y for part in self._parts])


class Residual(Operator):
    """M − U·Vᵀ: what a factorisation leaves."""

    def __init__(self, matrix: Operator, u: Tall, v: Tall, engine: Engine) -> None:
        self._matrix, self._u, self._v, self._engine = matrix, u, v, engine
        self.shape = matrix.shape

    def _times(self, x: Tall) -> Tall:
        product = self._matrix @ x
        product -= self._engine.matmul(self._u, self._engine.gram(self._v, x, np.float32))
        return product

    def _transposed_times(self, y: Tall) -> Tall:
        product = self._matrix.T @ y
        product -= self._engine.matmul(self._v, self._engine.gram(self._u, y, np.float32))
        return product


class Series(Operator):
    """(1 − α)·Σ αᵏ·Pᵏ: where a walk stops that goes on with probability α.

    P is similar to a symmetric matrix of norm 1. Where powers would take too many terms, Chebyshev's polynomials T_k
    take fewer: with r = (1 − √(1 − α²))/α the same is √((1 − α)/(1 + α))·(I + 2·Σ rᵏ·T_k(P)), whose terms fall as
    1 − √(2(1 − α)) instead of α.
    """

    def __init__(self, step: Operator, decay: float) -> None:
        self._step, self._decay = step, float(np.float32(decay))
        self._stop = float(np.float32(1) - np.float32(decay))
        self._terms = _terms(decay)
        self._root = math.sqrt((1.0 - decay) * (1.0 + decay))
        self._rate = decay / (1.0 + self._root)
        self.shape = step.shape

    @property
    def terms(self) -> int:
        """Number of products with P that one with this matrix takes."""
        return self._terms if self._terms <= MOST_POWERS else _terms(self._rate)

    def _times(self, x: Tall) -> Tall:
        return self._sum(self._step, x)

    def _transposed_times(self, y: Tall) -> Tall:
        return self._sum(self._step.T, y)

    def _sum(self, step: Operator, x: Tall) -> Tall:
        if self._terms > MOST_POWERS:
            return self._chebyshev_sum(step, x)
        total, x = self._stop * x, self._stop * x
        for _ in range(self._terms):
            x = step @ x
            x *= self._decay
            total += x
        return total

    def _chebyshev_sum(self, step: Operator, x: Tall) -> Tall:
        factor = self._root / (1.0 + self._decay)
        total, last, here = factor * x, x, step @ x
        for k in range(1, self.terms + 1):
            total += (2.0 * factor * self._rate**k) * here
            new = step @ here
            new *= 2.0
            new -= last
            last, here = here, new
        return total


def _terms(rate: float) -> int:
    """Terms of a geometric series after which what is left is below float32's rounding."""
    return math.ceil(math.log(1e-6) / math.log(rate))


class Steps(Operator):
    """Pᵗ·M: what is t steps away."""

    def __init__(self, step: Operator, count: int, matrix: Operator) -> None:
        self._step, self._count, self._matrix = step, count, matrix
        self.shape = (step.shape[0], matrix.shape[1])

    def _times(self, x: Tall) -> Tall:
        x = self._matrix @ x
        for _ in range(self._count):
            x = self._step @ x
        return x

    def _transposed_times(self, y: Tall) -> Tall:
        for _ in range(self._count):
            y = self._step.T @ y
        return self._matrix.T @ y


class TwoSteps(Operator):
    """(P + P²)/2: where a walk is after one step or two."""

    def __init__(self, step: Operator) -> None:
        self._step = step
        self.shape = step.shape

    def _times(self, x: Tall) -> Tall:
        return self._mean(self._step, x)

    def _transposed_times(self, y: Tall) -> Tall:
        return self._mean(self._step.T, y)

    @staticmethod
    def _mean(step: Operator, x: Tall) -> Tall:
        once = step @ x
        once += step @ once
        once *= 0.5
        return once
