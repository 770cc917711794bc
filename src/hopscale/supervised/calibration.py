"""Probabilities that mean what they say: of nodes with the probability .8, four in five are of that class."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

__all__ = ["log_loss", "shares", "sharpened", "temperature"]

Array = NDArray[np.float64]

_LEAST = 1e-9  # probability
_MOST_SHARP = 4.0  # natural logarithm of the largest and smallest temperature


def shares(scores: Array) -> Array:
    """Scores of classes as probabilities: none below zero, each row adding up to one.

    Least squares and spread errors may give scores below zero. These tell by how much the other scores of the row are
    off: their mean is added to all of them, or a class that is a little less likely would seem impossible.

    >>> shares(np.array([[0.5, -0.3, 0.8]])).round(3)
    array([[0.375, 0.062, 0.562]])
    """
    below = np.maximum(-scores, 0.0).mean(axis=1, keepdims=True)
    positive = np.maximum(scores, 0.0) + np.maximum(below, _LEAST)
    return np.asarray(positive / positive.sum(axis=1, keepdims=True))


def sharpened(probabilities: Array, temperature: float) -> Array:
    """p^(1/T), scaled to add up to one.

    >>> sharpened(np.array([[0.2, 0.8]]), 0.5).round(3)
    array([[0.059, 0.941]])
    """
    logs = np.log(np.maximum(probabilities, _LEAST)) / temperature
    found = np.exp(logs - logs.max(axis=1, keepdims=True))
    return np.asarray(found / found.sum(axis=1, keepdims=True))


def log_loss(probabilities: Array, classes: NDArray[np.int64]) -> float:
    """Mean of -log p of the true class."""
    return float(-np.log(np.maximum(probabilities[np.arange(len(classes)), classes], _LEAST)).mean())


def temperature(probabilities: Array, classes: NDArray[np.int64]) -> float:
    """The temperature at which probabilities of nodes that were held out have the least log loss."""
    found = minimize_scalar(
        lambda x: log_loss(sharpened(probabilities, np.exp(x)), classes),
        bounds=(-_MOST_SHARP, _MOST_SHARP),
        method="bounded",
    )
    return float(np.exp(found.x))
