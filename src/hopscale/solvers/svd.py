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
from hopscale.solvers.tables import Array, padded

__all__ = [
    "MAX_RANK",
    "Operator",
    "leading_eigenpairs",
    "leading_triplets",
    "orthonormal",
    "product_eigenpairs",
    "truncated_svd",
]

OVERSAMPLING = 8  # columns iterated on beyond the rank, before padding
ITERATIONS = 5
MAX_RANK = 1016  # a kernel's row holds 1,024 floats, and OVERSAMPLING is added


class Operator(Protocol):
    """A matrix of shape (n, q) through its products."""

    shape: tuple[int, int]

    def times(self, x: Array) -> Array:
        """M·x."""

    def transposed_times(self, y: Array) -> Array:
        """Mᵀ·y."""


def orthonormal(w: Array, *, times: int = 2) -> tuple[Array, float]:
    """Orthonormal basis of the columns' span, and the smallest singular value of w.

    Columns are zero where the rank is smaller.

    Whitening by the eigenvectors of wᵀw in double precision: products only, so it runs wherever matrices
    multiply, and unlike Householder's QR it says what the rank is. Once leaves float32's rounding times the
    condition of w; twice, rounding alone.
    """
    smallest = 0.0
    for time in range(times):
        values, vectors = np.linalg.eigh(_gram(w))
        if time == 0:
            smallest = float(np.sqrt(max(values[0], 0.0)))
        full = values > max(values[-1], 0.0) * 1e-12
        scale = np.where(full, 1.0 / np.sqrt(np.where(full, values, 1.0)), 0.0)
        w = w @ (vectors[:, ::-1] * scale[::-1]).astype(np.float32)
    return w, smallest


def leading_triplets(
    operator: Operator,
    rank: int,
    *,
    random: np.random.Generator,
    iterations: int = ITERATIONS,
    workers: Workers | None = None,
    doing: str = "factorise",
) -> tuple[Array, NDArray[np.float64], Array]:
    """Leading singular triplets as (U·Σ, Σ, V), ``rank`` columns each, zeros where the matrix has fewer.

    With ``workers`` a bar shows how far it is, unless they are silent.
    """
    possible = min(rank, *operator.shape)
    width = padded(possible + OVERSAMPLING)
    solve = partial(truncated_svd, operator, possible, width=width, iterations=iterations, random=random)
    if workers is None:
        b, sigma, v = solve()
    else:
        with workers.bar(iterations + 1, doing, "pass") as bar:
            b, sigma, v = solve(tick=bar.update)
    missing = ((0, 0), (0, rank - possible))
    # A direction whose singular value is rounding noise carries no information, only that noise.
    sigma = np.where(sigma > sigma[0] * 1e-6, sigma, 0.0)
    return np.pad(b, missing), np.pad(sigma, missing[1]), np.pad(v, missing)


def leading_eigenpairs(
    operator: Operator, rank: int, *, random: np.random.Generator, workers: Workers | None = None
) -> tuple[NDArray[np.float64], Array]:
    """Eigenvalues of a symmetric matrix, largest sizes first, with their signs, and eigenvectors.

    Singular vectors of λ and −λ may be mixed with each other (they are on a bipartite graph); Rayleigh and Ritz on what
    they span together tells them apart.
    """
    _, _, v = leading_triplets(operator, rank, random=random, workers=workers)
    v, _ = orthonormal(v)
    values, rotation = np.linalg.eigh(v.T.astype(np.float64) @ operator.times(v)[:, :rank].astype(np.float64))
    order = np.argsort(-np.abs(values), kind="stable")
    vectors = v @ rotation[:, order].astype(np.float32)
    signs = np.sign(vectors[np.argmax(np.abs(vectors), axis=0), np.arange(rank)])
    return values[order], vectors * np.where(signs == 0, 1, signs).astype(np.float32)


def product_eigenpairs(g: Array, h: Array) -> tuple[NDArray[np.float64], Array]:
    """Eigenvalues and eigenvectors of (G·Hᵀ + H·Gᵀ)/2, largest sizes first, without forming it."""
    d = g.shape[1]
    q, r = np.linalg.qr(np.hstack([g, h]).astype(np.float64))
    small = 0.5 * r[:, :d] @ r[:, d:].T
    values, rotation = np.linalg.eigh(small + small.T)
    order = np.argsort(-np.abs(values), kind="stable")
    return values[order], (q @ rotation[:, order]).astype(np.float32)


def truncated_svd(
    operator: Operator,
    rank: int,
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
    shift = 0.0
    for iteration in range(iterations):
        w = operator.transposed_times(operator.times(v))
        if shift:
            w -= np.float32(shift) * v
        # MᵀM − shift has the same leading vectors as long as the shift stays below half the smallest wanted
        # eigenvalue, and separates them better: five steps are as accurate as seven plain ones.
        v, smallest = orthonormal(w, times=2 if iteration + 1 == iterations else 1)
        if iteration:  # before, v was not orthonormal and the value means nothing
            shift = max(shift, (smallest + shift) / 2)
        tick()
    b = operator.times(v)
    tick()
    squared, rotation = np.linalg.eigh(_gram(b))
    sigma = np.sqrt(np.maximum(squared[::-1][:rank], 0.0))
    turn = rotation[:, ::-1][:, :rank].astype(np.float32)
    right = v @ turn
    # One sign convention, else bits would hang on LAPACK's mood: the largest entry of V is positive.
    signs = np.sign(right[np.argmax(np.abs(right), axis=0), np.arange(rank)])
    signs = np.where(signs == 0, 1, signs).astype(np.float32)
    return (b @ turn) * signs, sigma, right * signs


def _gram(w: Array) -> NDArray[np.float64]:
    """wᵀw in double precision, a slice of rows at a time, in order."""
    gram = np.zeros((w.shape[1], w.shape[1]))
    for begin in range(0, len(w), 8192):
        piece = w[begin : begin + 8192].astype(np.float64)
        gram += piece.T @ piece
    return gram
