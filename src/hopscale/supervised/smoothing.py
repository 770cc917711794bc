"""Correct and Smooth: errors of predictions, then predictions themselves, are spread over the edges.

Huang, He, Singh, Lim and Benson, "Combining Label Propagation and Simple Models Out-performs Graph Neural Networks",
ICLR 2021 (arXiv 2010.13993). To spread x is to find the fixed point of z = (1 - α)·x + α·S·z, where S is D⁻¹A or its
symmetric form.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hopscale.compute import Operator, Threads

__all__ = ["Smoothing", "corrected", "smoothed", "symmetric_transitions", "transitions"]

Array = NDArray[np.float64]

CORRECT_ALPHAS, SMOOTH_ALPHAS = (0.0, 0.5, 0.8), (0.0, 0.3, 0.5, 0.7)  # that are tried
_TOLERANCE = 1e-3  # of the error relative to that of x


@dataclass(frozen=True)
class Smoothing:
    """α of spreading errors (``correct``) and of spreading predictions (``smooth``); 0 leaves that step out.

    >>> str(Smoothing(0.5, 0)), str(Smoothing(0, 0))
    ('errors 0.5', 'none')
    """

    correct: float = 0.0
    smooth: float = 0.0

    def __bool__(self) -> bool:
        return bool(self.correct or self.smooth)

    def __str__(self) -> str:
        parts = (("errors", self.correct), ("predictions", self.smooth))
        return ", ".join(f"{what} {alpha:g}" for what, alpha in parts if alpha) or "none"


def symmetric_transitions(adjacency: sp.csr_array) -> sp.csr_array:
    """D^(-1/2)·A·D^(-1/2), with a one on the diagonal for isolated nodes; for probabilities."""
    inverse, isolated = _inverse_degrees(adjacency)
    root = sp.diags_array(np.sqrt(inverse))
    return sp.csr_array(root @ adjacency.astype(np.float64) @ root + sp.diags_array(isolated))


def transitions(adjacency: sp.csr_array) -> sp.csr_array:
    """D⁻¹·A, with a one on the diagonal for isolated nodes; for values, which become means of the neighbours'."""
    inverse, isolated = _inverse_degrees(adjacency)
    return sp.csr_array(sp.diags_array(inverse) @ adjacency.astype(np.float64) + sp.diags_array(isolated))


def _inverse_degrees(adjacency: sp.csr_array) -> tuple[Array, Array]:
    degrees = np.asarray(adjacency.sum(axis=1, dtype=np.float64)).ravel()
    inverse = np.divide(1.0, degrees, out=np.zeros_like(degrees), where=degrees > 0)
    return inverse, (degrees == 0).astype(np.float64)


def _spread(S: Operator, x: Array, alpha: float, engine: Threads) -> Array:
    """The fixed point of z = (1 - α)·x + α·S·z, by Chebyshev's semi-iteration.

    S is similar to a symmetric matrix with eigenvalues between -1 and 1. Each step multiplies the error by about
    α / (1 + √(1 - α²)), where plain iteration multiplies it by α.
    """
    unit = float(np.abs(x).max(initial=0.0)) or 1.0  # values may be larger or smaller than single precision holds
    start = engine.tall((x / unit).astype(np.float32))
    own = (1 - alpha) * start
    before, z, weight = start, own + alpha * (S @ start), 2.0
    error, rate = alpha, alpha / (1 + math.sqrt(1 - alpha * alpha))
    while error > _TOLERANCE:
        weight = 1 / (1 - alpha * alpha * weight / 4)
        before, z = z, weight * (own + alpha * (S @ z) - before) + before
        error *= rate
    return engine.host(z).astype(np.float64) * unit


def corrected(
    S: Operator, base: Array, known: NDArray[np.bool_], residuals: Array, alpha: float, engine: Threads
) -> Array:
    """Predictions, to which the errors of known nodes, spread over the edges, are added.

    Parameters
    ----------
    S : Operator
        One of the matrices above.
    base : ndarray of shape (n, k)
        Predictions of a head.
    known : ndarray of bool of shape (n,) or (n, k)
        Nodes whose targets may be used.
    residuals : ndarray of shape (n, k)
        Targets less predictions of heads that were trained without the node; only rows of known nodes are used.
    alpha : float
        Share of what comes from neighbours; 0 returns the predictions themselves.
    engine : Threads
        What the products run on.
    """
    if not alpha:
        return base
    return base + _spread(S, np.where(_column(known), residuals, 0.0), alpha, engine)


def smoothed(
    S: Operator, found: Array, known: NDArray[np.bool_], targets: Array, alpha: float, engine: Threads
) -> Array:
    """Predictions, and targets in place of those of known nodes, spread over the edges; see :func:`corrected`."""
    if not alpha:
        return found
    return _spread(S, np.where(_column(known), targets, found), alpha, engine)


def _column(known: NDArray[np.bool_]) -> NDArray[np.bool_]:
    return known[:, None] if known.ndim == 1 else known
