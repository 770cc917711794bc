"""What docs/paper/errata.md says is wrong with the paper's formulas, against pairs counted exactly."""

from __future__ import annotations

import numpy as np
import pytest

from hopscale import datasets
from reference import dense


@pytest.fixture(scope="module")
def graph():
    """As many features on every node: then a pair of a node and a feature has a probability as the lemmas say."""
    return datasets.erdos_renyi(40, 4, 1, 6, random_state=3)


def pair_shares(A: np.ndarray, F: np.ndarray, hops: range) -> np.ndarray:
    """Shares of the pairs of a corpus of infinitely long stationary walks, both directions, all hops."""
    P, stationary = A / A.sum(axis=1, keepdims=True), A.sum(axis=1) / A.sum()
    total = np.zeros((len(A), F.shape[1]))
    for hop in hops:
        steps = np.linalg.matrix_power(P, hop)
        total += (stationary[:, None] * steps) @ F  # what comes after
        total += (stationary[:, None] * steps).T @ F  # what came before
    return total / total.sum()


def test_the_lemma_on_ae_needs_one_over_c_times_t(graph):
    A, F = dense(graph)
    c, D, P, t = A.sum(), np.diag(A.sum(axis=1)), A / A.sum(axis=1, keepdims=True), 3
    powers = sum(np.linalg.matrix_power(P, hop) for hop in range(1, t + 1))
    shares = pair_shares(A, F, range(1, t + 1))
    np.testing.assert_allclose(D @ powers @ F / (c * t), shares, atol=1e-12)
    assert (c / t * (D @ powers @ F)).sum() == pytest.approx(c**2)  # as printed: no probabilities


def test_the_theorem_on_ae_is_right(graph):
    A, F = dense(graph)
    c, degrees, P, t = A.sum(), A.sum(axis=1), A / A.sum(axis=1, keepdims=True), 3
    powers = sum(np.linalg.matrix_power(P, hop) for hop in range(1, t + 1))
    shares = pair_shares(A, F, range(1, t + 1))
    ratio = shares / shares.sum(axis=1, keepdims=True) / shares.sum(axis=0, keepdims=True)
    np.testing.assert_allclose(c / t * powers @ F / (degrees @ F), ratio, atol=1e-12)


def test_walks_from_every_node_are_not_reversible():
    """``start="node"``: what came before a node is not what an equal number of walks from it would meet."""
    A, F = dense(datasets.erdos_renyi(40, 3, 1, 6, random_state=4))
    P, start = A / A.sum(axis=1, keepdims=True), np.full(len(A), 1 / len(A))
    before = (start[:, None] * P).T @ F  # (v, f): f at the node before v, on the first step
    visits = start @ P
    assert np.abs(before - visits[:, None] * (P @ F)).max() > 0.1 * before.max()
