"""Truncated decompositions against dense ones."""

from __future__ import annotations

import numpy as np
import pytest

from hopscale.compute import Threads
from hopscale.compute.operators import Dense
from hopscale.compute.svd import leading_triplets


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
