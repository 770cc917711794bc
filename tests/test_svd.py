"""Truncated decompositions against dense ones."""

from __future__ import annotations

import numpy as np
import pytest

from hopscale.compute import Threads
from hopscale.compute.operators import Dense
from hopscale.compute.svd import leading_triplets, wide_triplets


def leading(matrix: np.ndarray, rank: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    with Threads(1) as engine:
        operator = Dense(matrix.astype(np.float32), engine)
        return leading_triplets(operator, rank, engine, random=np.random.default_rng(0))


@pytest.mark.parametrize("largest", [1.0, 1e2, 1e3, 1e4])
def test_one_large_column_hides_no_other(largest: float) -> None:
    """Values such as a year or a price beside tags: directions of 1e-4 of the largest are still found."""
    random = np.random.default_rng(1)
    matrix = (random.random((600, 60)) < 0.1).astype(float)
    matrix[:, 0] = largest * random.random(600)
    scores, sigma, right = leading(matrix, 16)
    exact = np.linalg.svd(matrix, compute_uv=False)[:16]
    np.testing.assert_allclose(sigma, exact, rtol=0.03)
    np.testing.assert_allclose(right.T @ right, np.eye(16), atol=1e-4)
    np.testing.assert_allclose(scores, matrix @ right, atol=1e-4 * largest * 30)


def test_squares_beyond_float32_do_not_overflow() -> None:
    matrix = 1e19 * np.random.default_rng(2).random((200, 80))
    with np.errstate(over="ignore", invalid="ignore"):
        _, sigma, _ = leading(matrix, 4)
    np.testing.assert_allclose(sigma, np.linalg.svd(matrix, compute_uv=False)[:4], rtol=0.05)


def test_what_a_matrix_has_not_is_zero() -> None:
    random = np.random.default_rng(3)
    matrix = random.standard_normal((90, 3)) @ random.standard_normal((3, 70))
    scores, sigma, right = leading(matrix, 8)
    assert (sigma[3:] == 0).all()
    np.testing.assert_allclose(sigma[:3], np.linalg.svd(matrix, compute_uv=False)[:3], rtol=1e-4)
    np.testing.assert_allclose(scores[:, :3] @ right[:, :3].T, matrix, atol=1e-3)


@pytest.mark.parametrize("rank", [5, 20])
def test_few_long_rows_are_decomposed_exactly(rank: int) -> None:
    random = np.random.default_rng(4)
    matrix = random.standard_normal((12, 7)) @ np.diag(np.logspace(0, -3, 7)) @ random.standard_normal((7, 500))
    with Threads(1) as engine:
        scores, right = wide_triplets(matrix.T.astype(np.float32), rank, engine)
    u, sigma, vt = np.linalg.svd(matrix, full_matrices=False)
    found = min(rank, 7)
    assert scores.shape == (12, rank)
    assert right.shape == (500, rank)
    np.testing.assert_allclose(np.linalg.norm(scores, axis=0)[:found], sigma[:found], rtol=1e-4)
    np.testing.assert_allclose(right[:, :found].T @ right[:, :found], np.eye(found), atol=1e-3)
    best = (u[:, :found] * sigma[:found]) @ vt[:found]
    np.testing.assert_allclose(scores @ right.T, best, atol=1e-4 * sigma[0])
    assert not scores[:, found:].any()
    assert not right[:, found:].any()


def test_a_known_start_takes_the_place_of_iterations() -> None:
    """On a spectrum that falls slowly: from a start that is nearly right one pass finds what five do not."""
    random = np.random.default_rng(5)
    left, right = (np.linalg.qr(random.standard_normal((size, 150)))[0] for size in (400, 300))
    matrix = (left * np.linspace(1.0, 0.8, 150)) @ right.T
    start = np.linalg.qr(right[:, :10] + 1e-3 * random.standard_normal((300, 10)))[0].astype(np.float32)

    def missed(start: np.ndarray | None, iterations: int) -> float:
        with Threads(1) as engine:
            operator = Dense(matrix.astype(np.float32), engine)
            v = leading_triplets(
                operator, 10, engine, random=np.random.default_rng(0), iterations=iterations, start=start
            )[2]
        return float(np.linalg.norm(right[:, :10] - v @ (v.T @ right[:, :10])))

    assert missed(start, 1) < 0.1 < missed(None, 5)


def test_a_start_of_more_columns_than_the_matrix_has() -> None:
    """As a search gives it that asked for more vectors than there are: the others are zero."""
    matrix = np.random.default_rng(0).standard_normal((7, 5)).astype(np.float32)
    with Threads(1) as engine:
        operator = Dense(matrix, engine)
        start = leading_triplets(operator, 30, engine, random=np.random.default_rng(0))[2]
        scores, sigma, v = leading_triplets(
            operator, 30, engine, random=np.random.default_rng(0), iterations=2, start=start
        )
    np.testing.assert_allclose(scores @ v.T, matrix, atol=1e-5)
    np.testing.assert_allclose(sigma[:5], np.linalg.svd(matrix)[1], rtol=1e-5)
    assert not sigma[5:].any()
