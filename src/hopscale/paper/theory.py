"""The paper's theorems as a measurement: how far G·Hᵀ is from the matrix that it should factorise.

Theorems 1 (MUSAE) and 2 (AE): with as many dimensions as the matrix has, skip-gram with negative sampling tends to
log(c·PʳF·E⁻¹) − log b as the corpus grows. The direct solver takes the positive part of the matrix without log b
and cuts it to d dimensions; its distance is then what Eckart and Young allow.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hopscale.datasets import erdos_renyi
from hopscale.exceptions import HopscaleWarning
from hopscale.graph import AttributedGraph
from hopscale.paper.methods import Method

__all__ = ["DIMENSIONS", "WALK_LENGTHS", "distance_from_theory", "target_matrix"]

WALK_LENGTHS = tuple(2**k for k in range(3, 11))
DIMENSIONS = (1, 2, 4, 6, 8, 12, 16)  # of a scale
_FEATURES, _WINDOW, _NEGATIVES = 16, 3, 5
# Small steps, so that what is left is the corpus's doing and not the training's.
_TRAINING = {"walks_per_node": 20, "epochs": 5, "learning_rate": 0.02, "min_learning_rate": 1e-4}


def target_matrix(graph: AttributedGraph, hops: Iterable[int]) -> NDArray[np.float64]:
    """log(c·mean(PʳF)·E⁻¹), minus infinity where a feature is out of reach."""
    A, F = graph.adjacency.toarray().astype(float), graph.features.toarray().astype(float)
    degrees = A.sum(axis=1)
    P = A / degrees[:, None]
    seen = np.mean([np.linalg.matrix_power(P, hop) @ F for hop in hops], axis=0)
    with np.errstate(divide="ignore"):
        return np.log(seen / (degrees @ F / degrees.sum()))


def distance_from_theory(
    method: Method, solver: str, walk_length: int | None, dimensions: int | None, seeds: Iterable[int], n_jobs: int = -1
) -> dict[str, Any]:
    """Root mean square of the difference over that of the target, by scale; each seed has a graph of its own.

    ``walk_length`` and ``dimensions`` (of a scale) are the largest of the grid where they are None.
    """
    length, d = walk_length or WALK_LENGTHS[-1], dimensions or _FEATURES
    distances: dict[str, list[float]] = {}
    for seed in seeds:
        # Dense enough to be ergodic; as many features on every node, as the theorems take for granted.
        graph = erdos_renyi(64, 4, 2, _FEATURES, random_state=seed)
        settings: dict[str, Any] = {"window": _WINDOW, "self_scale": False, "random_state": seed, "n_jobs": n_jobs}
        if solver == "sgns":
            settings |= {"walk_length": length, "negatives": _NEGATIVES, **_TRAINING}
        model = method.build(solver, dimensions=d * _WINDOW, **settings)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", HopscaleWarning)
            model.fit(graph)
        for label in model.scale_columns_:
            first, _, last = label.partition("-")
            target = target_matrix(graph, range(int(first), int(last or first) + 1))
            target = target - np.log(_NEGATIVES) if solver == "sgns" else np.maximum(target, 0.0)
            G, H = model.node_vectors(label).astype(float), model.feature_vectors(label).astype(float)
            reach = np.isfinite(target)
            difference = (G @ H.T - target)[reach]
            distance = float(np.sqrt(np.mean(difference**2) / np.mean(target[reach] ** 2)))
            distances.setdefault(label, []).append(distance)
    return {"scores": {"distance": distances}}
