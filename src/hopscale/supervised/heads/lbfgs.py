"""L-BFGS for many convex functions at once, each with its own weights and all with one preconditioner.

Weights and gradients of S functions have the shape (K, S, d + 1), as in :mod:`hopscale.supervised.heads.logistic`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from hopscale.exceptions import warn

__all__ = ["Preconditioner", "minimum", "product"]

Array = NDArray[np.float64]
Preconditioner = Array | Callable[[Array], Array]

_ROUNDING = 1e-14  # gᵀPg where rounding prevents further progress, see _lbfgs
_MAX_ITERATIONS = 2000
_MEMORY = 20  # steps that L-BFGS remembers


def minimum(
    gradient: Callable[[Array, NDArray[np.int64]], tuple[Array, Array]],
    W: Array,
    P: Preconditioner,
    tolerance: float,
    *,
    excess: float = _ROUNDING,
    memory: int = _MEMORY,
    advice: str = "",
) -> Array:
    """Minima of convex functions, see ``_lbfgs``; a warning, with advice, counts those that were not reached."""
    W, unfinished = _lbfgs(gradient, W, P, tolerance, excess, memory)
    if unfinished:
        warn(f"{unfinished} logistic regression(s) did not converge in {_MAX_ITERATIONS} iterations{advice}")
    return W


def _lbfgs(
    gradient: Callable[[Array, NDArray[np.int64]], tuple[Array, Array]],
    W: Array,
    P: Preconditioner,
    tolerance: float,
    excess: float,
    memory: int,
) -> tuple[Array, int]:
    """Minimise S convex functions by L-BFGS from W (K, S, d + 1), with the scaled initial inverse Hessian P.

    `gradient` also returns what is compared with the tolerance. A step is accepted by its slopes alone: along a line
    the slope of a convex function only grows, and its values are lost in rounding long before the gradient is.

    Returns the minima, and for how many of them neither the tolerance was reached nor gᵀPg, about twice the distance
    of the function from its minimum, fell to ``excess``.
    """
    active = np.arange(W.shape[1])
    at, (g, size) = W, gradient(W, active)
    steps: list[tuple[Array, Array, Array]] = []
    Pg = product(g, P)
    direction, length, scale = -Pg, np.ones(len(active)), np.ones(len(active))
    for _ in range(_MAX_ITERATIONS):
        going = (size > tolerance) & (_dot(g, Pg) > excess)
        if not going.all():
            W[:, active] = at
            active, length, scale, size = active[going], length[going], scale[going], size[going]
            at, g, Pg, direction = at[:, going], g[:, going], Pg[:, going], direction[:, going]
            steps = [(s[:, going], y[:, going], rho[going]) for s, y, rho in steps]
        if not len(active):
            break
        step = length[:, None] * direction
        g_there, size_there = gradient(at + step, active)
        Pg_there = product(g_there, P)
        slope, slope_there = _dot(g, direction), _dot(g_there, direction)
        taken = slope_there <= 0.5 * np.abs(slope)
        s, y = step * taken[:, None], (g_there - g) * taken[:, None]
        curvature = _dot(s, y)
        rho = np.divide(1, curvature, out=np.zeros_like(curvature), where=curvature > 0)
        steps = [*steps[1 - memory :], (s, y, rho)]
        change = _dot(y, Pg_there - Pg)
        scale = np.divide(curvature, change, out=scale, where=(curvature > 0) & (change > 0))
        at, size = at + s, np.where(taken, size_there, size)
        g, Pg = np.where(taken[:, None], g_there, g), np.where(taken[:, None], Pg_there, Pg)
        # A step that was too long is cut to where a straight line through the two slopes crosses zero.
        crossing = np.divide(slope, slope - slope_there, out=np.ones_like(slope), where=~taken & (slope != slope_there))
        direction = np.where(taken[:, None], -_two_loops(steps, scale, P, g), direction)
        length = np.where(taken, 1.0, length * np.clip(crossing, 0.1, 0.9))
    W[:, active] = at
    return W, len(active)


def _two_loops(steps: list[tuple[Array, Array, Array]], scale: Array, P: Preconditioner, g: Array) -> Array:
    """The two-loop recursion of L-BFGS over steps s, changes y of the gradient, and ρ = 1/sy, 0 for rejected steps."""
    q = g.copy()
    alphas = []
    for s, y, rho in reversed(steps):
        alpha = rho * _dot(s, q)
        q -= alpha[:, None] * y
        alphas.append(alpha)
    q = scale[:, None] * product(q, P)
    for (s, y, rho), alpha in zip(steps, reversed(alphas), strict=True):
        q += (alpha - rho * _dot(y, q))[:, None] * s
    return q


def _dot(a: Array, b: Array) -> Array:
    return np.asarray(np.einsum("ksd,ksd->s", a, b))


def product(stacked: Array, matrix: Preconditioner) -> Array:
    """One matrix product for the whole stack, where NumPy would make one for each; a vector stands for a diagonal."""
    if callable(matrix):
        return matrix(stacked)
    if matrix.ndim == 1:
        return stacked * matrix
    return (stacked.reshape(-1, stacked.shape[-1]) @ matrix).reshape(*stacked.shape[:-1], -1)
