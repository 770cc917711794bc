"""A second engine, whose tall arrays NumPy cannot read: what runs here asks nothing of NumPy that it may not ask."""

from contextlib import contextmanager
from numbers import Real

import numpy as np
import scipy.sparse as sp

from hopscale.compute import Operator

__all__ = ["ForeignEngine", "Opaque"]


class Opaque:
    """A tall array of another library: sums, multiples by plain numbers, some of the rows, and nothing else."""

    __slots__ = ("_held",)

    def __init__(self, held):
        self._held = np.array(held, dtype=np.float32, ndmin=2)

    @property
    def shape(self):
        return self._held.shape

    def __add__(self, other):
        return Opaque(self._held + other._held) if isinstance(other, Opaque) else NotImplemented

    def __sub__(self, other):
        return Opaque(self._held - other._held) if isinstance(other, Opaque) else NotImplemented

    def __mul__(self, number):
        plain = isinstance(number, Real) and not isinstance(number, np.generic)
        return Opaque(self._held * np.float32(number)) if plain else NotImplemented

    __rmul__ = __mul__

    def __getitem__(self, rows):
        if not isinstance(rows, slice):
            raise TypeError(f"only slices of rows can be taken, not {rows!r}")
        return Opaque(self._held[rows])

    def __array__(self, *_, **__):
        raise TypeError("NumPy cannot read this array")

    def __array_ufunc__(self, ufunc, *_, **__):
        raise TypeError(f"NumPy's {ufunc.__name__} knows nothing of this array")

    def __array_function__(self, function, *_, **__):
        raise TypeError(f"NumPy's {function.__name__} knows nothing of this array")


class ForeignEngine:
    """An :class:`~hopscale.compute.Engine` over opaque arrays, one piece of work after the other."""

    def map(self, function, tasks, *, at_once=None):
        return map(function, tasks)

    def at_once(self, each):
        return 1

    def normal(self, rows, columns, random):
        return Opaque(random.standard_normal((rows, columns), dtype=np.float32))

    def matmul(self, x, small):
        return Opaque(_held(x) @ _small(small))

    def gram(self, x, y, dtype=np.float64):
        return _held(x).astype(dtype).T @ _held(y).astype(dtype)

    def gram_later(self, x, y, dtype=np.float64):
        return lambda: self.gram(x, y, dtype)  # not before it is asked for

    def peaks(self, x):
        held = _held(x)
        return held[np.abs(held).argmax(axis=0), np.arange(held.shape[1])]

    def scale(self, x, factors):
        return Opaque(_held(x) * _small(factors).astype(np.float32))

    def widen(self, x, columns):
        held = _held(x)
        return Opaque(np.hstack([held, np.zeros((len(held), columns - held.shape[1]))]))

    def concatenate(self, parts):
        return Opaque(np.vstack([_held(part) for part in parts]))

    def empty(self, rows, columns):
        return Opaque(np.full((rows, columns), np.nan))

    def put(self, x, columns, part):
        x._held[:, columns] = _held(part)

    def double(self, x):
        return Opaque(_held(x))

    def tall(self, x):
        return Opaque(_small(x))

    def host(self, x):
        return _held(x).copy()

    def sparse(self, matrix):
        return _Sparse(matrix)

    @contextmanager
    def bar(self, total, description, unit):
        yield _Bar()

    def say(self, message):
        raise AssertionError("nobody asked")


class _Bar:
    def update(self, n=1):
        pass


class _Sparse(Operator):
    def __init__(self, matrix):
        self.shape, self._matrix = matrix.shape, sp.csr_array(matrix, dtype=np.float32)

    def _times(self, x):
        return Opaque(self._matrix @ _held(x))

    def _transposed_times(self, y):
        return Opaque(self._matrix.T @ _held(y))


def _held(x):
    if not isinstance(x, Opaque):
        raise TypeError(f"a tall array is an Opaque here, not a {type(x).__name__}")
    return x._held


def _small(x):
    if not isinstance(x, np.ndarray):
        raise TypeError(f"a small array is NumPy's, not a {type(x).__name__}")
    return x
