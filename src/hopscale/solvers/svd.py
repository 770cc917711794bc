"""Truncated singular value decomposition of a matrix that is only ever multiplied with.

M ≈ B·Vᵀ with B = M·V: subspace iteration on MᵀM (Halko, Martinsson and Tropp 2011), orthonormalised at
each step and shifted by what the last one has shown (Feng, Yu, Xie and Tang, "dashSVD: faster randomized
SVD with dynamic shifts", 2024), closed by a Rayleigh-Ritz step. Only V is iterated on, so that the rows of B are
what projecting rows of M onto V gives: transforming nodes repeats the last product and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from hopscale.parallel import Workers
from hopscale.solvers.tables import Array, crossed, padded, turned

__all__ = [
    "MAX_RANK",
    "Operator",
    "balanced",
    "leading_eigenpairs",
    "leading_triplets",
    "orthonormal",
    "product_eigenpairs",
    "triplets_bytes",
    "truncated_svd",
]

OVERSAMPLING = 8  # columns iterated on beyond the rank, before padding
ITERATIONS = 5
LARGEST_CONDITION = 1e5  # of MᵀM times a random matrix, beyond which M is not squared
MAX_RANK = 1016  # a kernel's row holds 1,024 floats, and OVERSAMPLING is added


class Operator(Protocol):
    """A matrix of shape (n, q) through its products."""

    shape: tuple[int, int]

    def times(self, x: Array) -> Array:
        """M·x."""

    def transposed_times(self, y: Array) -> Array:
        """Mᵀ·y."""


def orthonormal(w: Array, workers: Workers, *, times: int = 2) -> tuple[Array, NDArray[np.float64]]:
    """Orthonormal basis of the columns' span, and the singular values of w, smallest first.

    Columns are zero where the rank is smaller. Nothing is done to a matrix that is not finite: its values are NaN.

    Whitening by the eigenvectors of wᵀw in double precision: products only, so it runs wherever matrices
    multiply, and unlike Householder's QR it says what the rank is. Once leaves float32's rounding times the
    condition of w; twice, rounding alone.
    """
    singular = np.full(w.shape[1], np.nan)
    for time in range(times):
        gram = crossed(w, w, workers)
        if not np.isfinite(gram).all():
            return w, singular
        values, vectors = np.linalg.eigh(gram)
        if time == 0:
            singular = np.sqrt(np.maximum(values, 0.0))
        full = values > max(values[-1], 0.0) * 1e-12
        scale = np.where(full, 1.0 / np.sqrt(np.where(full, values, 1.0)), 0.0)
        w = turned(w, (vectors[:, ::-1] * scale[::-1]).astype(np.float32), workers)
    return w, singular


def leading_triplets(
    operator: Operator,
    rank: int,
    workers: Workers,
    *,
    random: np.random.Generator,
    iterations: int = ITERATIONS,
    doing: str | None = "factorise",
) -> tuple[Array, NDArray[np.float64], Array]:
    """Leading singular triplets as (U·Σ, Σ, V), ``rank`` columns each, zeros where the matrix has fewer.

    A bar of that name shows how far it is, unless there is none or the workers are silent.
    """
    possible = min(rank, *operator.shape)
    width = padded(possible + OVERSAMPLING)
    solve = partial(truncated_svd, operator, possible, workers, width=width, iterations=iterations, random=random)
    if doing is None:
        b, sigma, v = solve()
    else:
        with workers.bar(iterations + 1, doing, "pass") as bar:
            b, sigma, v = solve(tick=bar.update)
    missing = ((0, 0), (0, rank - possible))
    # A direction whose singular value is rounding noise carries no information, only that noise.
    sigma = np.where(sigma > sigma[0] * 1e-6, sigma, 0.0)
    return np.pad(b, missing), np.pad(sigma, missing[1]), np.pad(v, missing)


def balanced(scores: Array, sigma: NDArray[np.float64]) -> Array:
    """U·√Σ from U·Σ."""
    root = np.sqrt(sigma)
    return np.divide(scores, root, out=np.zeros(scores.shape), where=root > 0).astype(np.float32)


def triplets_bytes(rows: int, columns: int, rank: int) -> float:
    """Memory that :func:`leading_triplets` takes beside the matrix, about: what it holds at once, as measured."""
    return 4.0 * padded(min(rank, rows, columns) + OVERSAMPLING) * 3.4 * (rows + columns)


def leading_eigenpairs(
    operator: Operator, rank: int, workers: Workers, *, random: np.random.Generator
) -> tuple[NDArray[np.float64], Array]:
    """Eigenvalues of a symmetric matrix, largest sizes first, with their signs, and eigenvectors.

    Singular vectors of λ and −λ may be mixed with each other (they are on a bipartite graph); Rayleigh and Ritz on what
    they span together tells them apart.
    """
    _, _, v = leading_triplets(operator, rank, workers, random=random)
    v, _ = orthonormal(v, workers)
    values, rotation = np.linalg.eigh(crossed(v, operator.times(v)[:, :rank], workers))
    order = np.argsort(-np.abs(values), kind="stable")
    vectors = turned(v, rotation[:, order].astype(np.float32), workers)
    return values[order], vectors * _signs(vectors)


def product_eigenpairs(g: Array, h: Array, rank: int, workers: Workers) -> tuple[NDArray[np.float64], Array]:
    """The largest eigenvalues of (G·Hᵀ + H·Gᵀ)/2 and their eigenvectors, at most ``rank``, without forming it.

    With X = [G H] it is X·K·Xᵀ, K exchanging the halves, and everything but X has the size of its Gram matrix.
    """
    d = g.shape[1]
    across = crossed(g, h, workers)
    spread, basis = np.linalg.eigh(np.block([[crossed(g, g, workers), across], [across.T, crossed(h, h, workers)]]))
    full = spread > max(spread[-1], 0.0) * 1e-12
    root, basis = np.sqrt(spread[full]), basis[:, full]
    exchanged = 0.5 * np.roll(basis, d, axis=0)
    values, rotation = np.linalg.eigh(root[:, None] * (basis.T @ exchanged) * root)
    wanted = np.argsort(-values, kind="stable")[:rank]
    turn = (basis @ (rotation[:, wanted] / root[:, None])).astype(np.float32)
    vectors = turned(g, turn[:d], workers)
    vectors += turned(h, turn[d:], workers)
    return values[wanted], vectors * _signs(vectors)


def truncated_svd(
    operator: Operator,
    rank: int,
    workers: Workers,
    *,
    width: int,
    iterations: int,
    random: np.random.Generator,
    tick: Callable[[], object] = lambda: None,
) -> tuple[Array, NDArray[np.float64], Array]:
    """Leading singular triplets as (U·Σ, Σ, V), ``rank`` columns each.

    ``width`` ≥ rank columns are iterated on; the surplus is what makes few iterations enough. ``tick`` is called after
    each, and once at the end.
    """
    v = random.standard_normal((operator.shape[1], width), dtype=np.float32)
    shift, squaring = 0.0, True
    for iteration in range(iterations):
        times = 2 if iteration + 1 == iterations else 1
        y = operator.times(v)
        if squaring:
            w = operator.transposed_times(y)
            if shift:
                w -= np.float32(shift) * v
            # MᵀM − shift has the same leading vectors as long as the shift stays below half the smallest wanted
            # eigenvalue, and separates them better: five steps are as accurate as seven plain ones.
            w, singular = orthonormal(w, workers, times=times)
            if iteration == 0:
                squaring = bool(singular[-1] < LARGEST_CONDITION * singular[0])
            else:  # before, v was not orthonormal and the value means nothing
                shift = max(shift, (float(singular[0]) + shift) / 2)
        if squaring:
            v = w
        else:  # values too far apart to be told in float32 once they are squared: half a step at a time
            y, _ = orthonormal(y, workers, times=1)
            v, _ = orthonormal(operator.transposed_times(y), workers, times=times)
        tick()
    b = operator.times(v)
    tick()
    squared, rotation = np.linalg.eigh(crossed(b, b, workers))
    sigma = np.sqrt(np.maximum(squared[::-1][:rank], 0.0))
    turn = rotation[:, ::-1][:, :rank].astype(np.float32)
    right = turned(v, turn, workers)
    signs = _signs(right)
    return turned(b, turn, workers) * signs, sigma, right * signs


def _signs(vectors: Array) -> Array:
    """One sign convention, else bits would hang on LAPACK's mood: the largest entry of a vector is positive."""
    signs = np.sign(vectors[np.argmax(np.abs(vectors), axis=0), np.arange(vectors.shape[1])])
    return np.where(signs == 0, 1, signs).astype(np.float32)
