"""Truncated singular value decomposition of a matrix that is only ever multiplied with.

M ≈ B·Vᵀ with B = M·V: subspace iteration on MᵀM (Halko, Martinsson and Tropp 2011), orthonormalised at
each step and shifted by what the last one has shown (Feng, Yu, Xie and Tang, "dashSVD: faster randomized
SVD with dynamic shifts", 2024), closed by a Rayleigh-Ritz step. Only V is iterated on, so that the rows of B are
what projecting rows of M onto V gives: transforming nodes repeats the last product and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from functools import partial
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from hopscale.compute.aligned import Floats, padded
from hopscale.compute.chunks import TALL_CHUNK, gram_bytes, ranges
from hopscale.compute.engine import Engine, NormalNumbers, Tall
from hopscale.compute.operators import Operator

__all__ = [
    "MAX_RANK",
    "all_finished",
    "balanced",
    "finished",
    "leading_eigenpairs",
    "leading_triplets",
    "orthonormal",
    "product_eigenpairs",
    "start_width",
    "tall_bytes",
    "times_columns",
    "triplets_bytes",
    "triplets_in_steps",
    "truncated_svd",
    "wide_triplets",
    "without_noise",
]

Result = TypeVar("Result")
# A computation that stops wherever it needs numbers that the engine may still be computing, and is sent them.
Steps: TypeAlias = Generator[Callable[[], NDArray[Any]], Any, Result]

OVERSAMPLING = 8  # columns iterated on beyond the rank, before padding
ITERATIONS = 5
NOISE = 1e-6  # share of the largest singular value, below which others are rounding
LARGEST_CONDITION = 1e5  # of MᵀM times a random matrix, beyond which M is not squared
MAX_RANK = 1016  # a kernel's row holds 1,024 floats, and OVERSAMPLING is added


def finished(steps: Steps[Result]) -> Result:
    """The result of a computation that waits for some of its numbers."""
    return all_finished([steps])[0]


def all_finished(computations: Sequence[Steps[Result]]) -> list[Result]:
    """The results of several such computations, which take turns: one goes on while numbers of others are computed."""
    found: dict[int, Result] = {}
    waiting = dict(enumerate(computations))
    numbers: dict[int, Any] = {}
    while waiting:
        for i, steps in list(waiting.items()):
            try:
                numbers[i] = steps.send(numbers[i]() if i in numbers else None)
            except StopIteration as end:
                found[i] = end.value
                del waiting[i]
    return [found[i] for i in range(len(computations))]


def orthonormal(w: Tall, engine: Engine, *, times: int = 2) -> tuple[Tall, NDArray[np.float64]]:
    """Orthonormal basis of the columns' span, and the singular values of w, smallest first.

    Columns are zero where the rank is smaller. Nothing is done to a matrix that is not finite: its values are NaN.

    Whitening by the eigenvectors of wᵀw in double precision: products only, so it runs wherever matrices
    multiply, and unlike Householder's QR it says what the rank is. Once leaves float32's rounding times the
    condition of w; twice, rounding alone.
    """
    return finished(_orthonormal(w, engine, times))


def _orthonormal(w: Tall, engine: Engine, times: int) -> Steps[tuple[Tall, NDArray[np.float64]]]:
    singular = np.full(w.shape[1], np.nan)
    for time in range(times):
        gram = yield engine.gram_later(w, w)
        if not np.isfinite(gram).all():
            return w, singular
        values, vectors = np.linalg.eigh(gram)
        if time == 0:
            singular = np.sqrt(np.maximum(values, 0.0))
        full = values > max(values[-1], 0.0) * 1e-12
        scale = np.where(full, 1.0 / np.sqrt(np.where(full, values, 1.0)), 0.0)
        w = engine.matmul(w, (vectors[:, ::-1] * scale[::-1]).astype(np.float32))
    return w, singular


def leading_triplets(
    operator: Operator,
    rank: int,
    engine: Engine,
    *,
    random: NormalNumbers,
    iterations: int = ITERATIONS,
    start: Tall | None = None,
    doing: str | None = "factorise",
) -> tuple[Tall, NDArray[np.float64], Tall]:
    """Leading singular triplets as (U·Σ, Σ, V), ``rank`` columns each, zeros where the matrix has fewer.

    Few iterations are enough where ``start`` holds such a V of a matrix that is nearly the same. A progress bar is
    called ``doing``; None shows no bar.
    """
    return finished(
        triplets_in_steps(operator, rank, engine, random=random, iterations=iterations, start=start, doing=doing)
    )


def triplets_in_steps(
    operator: Operator,
    rank: int,
    engine: Engine,
    *,
    random: NormalNumbers,
    iterations: int = ITERATIONS,
    start: Tall | None = None,
    doing: str | None = "factorise",
) -> Steps[tuple[Tall, NDArray[np.float64], Tall]]:
    """The same, to be finished together with others: see :func:`all_finished`."""
    possible = min(rank, *operator.shape)
    if start is not None and start.shape[1] > possible:  # others are zero
        start = engine.matmul(start, np.eye(start.shape[1], possible, dtype=np.float32))
    solve = partial(
        truncated_svd,
        operator,
        possible,
        engine,
        width=start_width(rank, *operator.shape),
        iterations=iterations,
        random=random,
        start=start,
    )
    if doing is None:
        b, sigma, v = yield from solve()
    else:
        with engine.bar(iterations + 1, doing, "pass") as bar:
            b, sigma, v = yield from solve(tick=bar.update)
    sigma = without_noise(sigma, sigma[0])
    return engine.widen(b, rank), np.pad(sigma, (0, rank - possible)), engine.widen(v, rank)


def wide_triplets(columns: Tall, rank: int, engine: Engine) -> tuple[NDArray[np.float64], Tall]:
    """Leading singular triplets of the transpose of a tall array with few columns, as (U·Σ, V): U·Σ is small.

    Exact, since the array's Gram matrix is small.
    """
    possible = min(rank, *columns.shape)
    squared, rotation = np.linalg.eigh(engine.gram(columns, columns))
    sigma = np.sqrt(np.maximum(squared[::-1][:possible], 0.0))
    kept = without_noise(sigma, sigma[0]) > 0
    u = rotation[:, ::-1][:, :possible]
    v = engine.matmul(columns, (u * np.divide(1.0, sigma, out=np.zeros_like(sigma), where=kept)).astype(np.float32))
    signs = _signs(v, engine)
    scores = np.where(kept, u * sigma, 0.0) * signs
    return np.pad(scores, ((0, 0), (0, rank - possible))), engine.widen(engine.scale(v, signs), rank)


def without_noise(sigma: NDArray[np.float64], largest: float) -> NDArray[np.float64]:
    """Singular values, with zeros for those that are rounding: their vectors carry no information, only that noise.

    ``largest`` is that of the matrix that products were made with.
    """
    return np.where(sigma > NOISE * largest, sigma, 0.0)


def start_width(rank: int, rows: int, columns: int) -> int:
    """Columns of the random matrix from which :func:`leading_triplets` of a matrix of that shape start."""
    return padded(min(rank, rows, columns) + OVERSAMPLING)


def balanced(scores: Floats, sigma: NDArray[np.float64]) -> Floats:
    """U·√Σ from U·Σ, once that is NumPy's; in place."""
    root = np.sqrt(sigma)
    for begin, end in ranges(len(scores), TALL_CHUNK):
        part = scores[begin:end]
        part[:] = np.divide(part, root, out=np.zeros(part.shape), where=root > 0)
    return scores


def times_columns(x: Floats, factors: NDArray[np.float64]) -> Floats:
    """Each column of x times a number in double precision, once x is NumPy's; in place."""
    for begin, end in ranges(len(x), TALL_CHUNK):
        x[begin:end] = x[begin:end] * factors
    return x


def tall_bytes(rows: int, rank: int) -> float:
    """Memory of a tall array that is iterated on for so many singular triplets."""
    return 4.0 * rows * padded(rank + OVERSAMPLING)


def triplets_bytes(rows: int, columns: int, rank: int, engine: Engine) -> float:
    """Memory that :func:`leading_triplets` takes beside the matrix: tall arrays, and what threads hold."""
    rank = min(rank, rows, columns)
    each = gram_bytes(max(rows, columns), padded(rank + OVERSAMPLING))
    return tall_bytes(rows + columns + max(rows, columns), rank) + engine.at_once(each) * each


def leading_eigenpairs(
    operator: Operator, rank: int, engine: Engine, *, random: NormalNumbers
) -> tuple[NDArray[np.float64], Tall]:
    """Eigenvalues of a symmetric matrix, largest sizes first, with their signs, and eigenvectors.

    Singular vectors of λ and −λ may be mixed with each other (they are on a bipartite graph); a Rayleigh-Ritz step on
    what they span together tells them apart.
    """
    v = leading_triplets(operator, rank, engine, random=random)[2]
    v, _ = orthonormal(v, engine)
    values, rotation = np.linalg.eigh(engine.gram(v, operator @ v))
    order = np.argsort(-np.abs(values), kind="stable")
    vectors = engine.matmul(v, rotation[:, order].astype(np.float32))
    return values[order], engine.scale(vectors, _signs(vectors, engine))


def product_eigenpairs(g: Tall, h: Tall, rank: int, engine: Engine) -> tuple[NDArray[np.float64], Tall]:
    """The largest eigenvalues of (G·Hᵀ + H·Gᵀ)/2 and their eigenvectors, at most ``rank``, without forming it.

    With X = [G H] it is X·K·Xᵀ, K exchanging the halves, and everything but X has the size of its Gram matrix.
    """
    d, gram = g.shape[1], engine.gram
    across = gram(g, h)
    spread, basis = np.linalg.eigh(np.block([[gram(g, g), across], [across.T, gram(h, h)]]))
    full = spread > max(spread[-1], 0.0) * 1e-12
    root, basis = np.sqrt(spread[full]), basis[:, full]
    exchanged = 0.5 * np.roll(basis, d, axis=0)
    values, rotation = np.linalg.eigh(root[:, None] * (basis.T @ exchanged) * root)
    wanted = np.argsort(-values, kind="stable")[:rank]
    turn = (basis @ (rotation[:, wanted] / root[:, None])).astype(np.float32)
    vectors = engine.matmul(g, turn[:d]) + engine.matmul(h, turn[d:])
    return values[wanted], engine.scale(vectors, _signs(vectors, engine))


def truncated_svd(
    operator: Operator,
    rank: int,
    engine: Engine,
    *,
    width: int,
    iterations: int,
    random: NormalNumbers,
    start: Tall | None = None,
    tick: Callable[[], object] = lambda: None,
) -> Steps[tuple[Tall, NDArray[np.float64], Tall]]:
    """Leading singular triplets as (U·Σ, Σ, V), ``rank`` columns each.

    ``width`` ≥ rank columns are iterated on; the surplus is what makes few iterations enough. The first are those of
    ``start``, if it is given, and others are random. ``tick`` is called after each iteration, and once at the end.
    """
    rows, known = operator.shape[1], 0 if start is None else start.shape[1]
    v = engine.normal(rows, width - known, random)
    if start is not None:
        v, surplus = engine.widen(start, width), v
        engine.put(v, slice(known, width), surplus * rows**-0.5)  # about unit vectors, like those of the start
    shift, squaring = 0.0, True
    for iteration in range(iterations):
        is_last = iteration + 1 == iterations
        y = operator @ v
        if squaring:
            w = operator.T @ y
            if iteration:
                del y  # tall arrays are dropped as soon as they can be: they are what takes memory
            if shift:
                v *= shift
                w -= v
            del v
            # MᵀM − shift has the same leading vectors as long as the shift stays below half the smallest wanted
            # eigenvalue, and separates them better: five steps are as accurate as seven plain ones.
            v, singular = yield from _orthonormal(w, engine, 1)
            del w
            if is_last:  # here, where nothing else is held
                v, _ = yield from _orthonormal(v, engine, 1)
            if iteration == 0:
                squaring = bool(singular[-1] < LARGEST_CONDITION * singular[0])
            else:  # before, v was not orthonormal and the value means nothing
                shift = max(shift, (float(singular[0]) + shift) / 2)
        if not squaring:  # values too far apart to be told in float32 once they are squared: half a step at a time
            del v
            y, _ = yield from _orthonormal(y, engine, 1)
            v, _ = yield from _orthonormal(operator.T @ y, engine, 2 if is_last else 1)
            del y
        tick()
    b = operator @ v
    tick()
    squared, rotation = np.linalg.eigh((yield engine.gram_later(b, b)))
    sigma = np.sqrt(np.maximum(squared[::-1][:rank], 0.0))
    turn = rotation[:, ::-1][:, :rank].astype(np.float32)
    b = engine.matmul(b, turn)
    v = engine.matmul(v, turn)
    signs = _signs(v, engine)
    return engine.scale(b, signs), sigma, engine.scale(v, signs)


def _signs(vectors: Tall, engine: Engine) -> NDArray[np.float32]:
    """Singular vectors have arbitrary signs: fixed here by making the largest entry of each positive."""
    signs = np.sign(engine.peaks(vectors))
    return np.where(signs == 0, 1, signs).astype(np.float32)
