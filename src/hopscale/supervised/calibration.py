"""Calibration of probabilities: of nodes with the probability .8, four in five should be of that class."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

__all__ = ["as_probabilities", "log_loss", "temperature", "with_temperature"]

Array = NDArray[np.float64]

_LEAST = 1e-9  # probability
_LARGEST_LOG = 4.0  # of a temperature, and of its inverse


def as_probabilities(scores: Array) -> Array:
    """Scores of classes as probabilities: none below zero, each row adding up to one.

    Least squares and spread errors may give scores below zero. How far they are below zero tells how far the others may
    be off: the mean of it over the row is added to all classes, so that none is impossible.

    >>> as_probabilities(np.array([[0.5, -0.3, 0.8]])).round(3)
    array([[0.375, 0.062, 0.562]])
    """
    below = np.maximum(-scores, 0.0).mean(axis=1, keepdims=True)
    positive = np.maximum(scores, 0.0) + np.maximum(below, _LEAST)
    return np.asarray(positive / positive.sum(axis=1, keepdims=True))


def with_temperature(probabilities: Array, temperature: float) -> Array:
    """p^(1/T), scaled to add up to one.

    >>> with_temperature(np.array([[0.2, 0.8]]), 0.5).round(3)
    array([[0.059, 0.941]])
    """
    logs = np.log(np.maximum(probabilities, _LEAST)) / temperature
    found = np.exp(logs - logs.max(axis=1, keepdims=True))
    return np.asarray(found / found.sum(axis=1, keepdims=True))


def log_loss(probabilities: Array, classes: NDArray[np.int64]) -> float:
    """Mean of -log p of the true class."""
    return float(-np.log(np.maximum(probabilities[np.arange(len(classes)), classes], _LEAST)).mean())


def temperature(probabilities: Array, classes: NDArray[np.int64]) -> float:
    """The temperature with the least log loss, to be learnt from held-out nodes."""
    found = minimize_scalar(
        lambda x: log_loss(with_temperature(probabilities, np.exp(x)), classes),
        bounds=(-_LARGEST_LOG, _LARGEST_LOG),
        method="bounded",
    )
    return float(np.exp(found.x))
