"""Figure 6 of the paper: seconds against the number of nodes, and of features a node."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from hopscale.datasets import erdos_renyi
from hopscale.models.base import NodeEmbedding

__all__ = ["FEATURE_EXPONENTS", "NODE_EXPONENTS", "seconds_to_fit"]

NODE_EXPONENTS = tuple(range(7, 15))
FEATURE_EXPONENTS = tuple(range(3, 9))
_EDGES_PER_NODE, _FEATURES = 8, 2**11


def seconds_to_fit(
    build: Callable[[], NodeEmbedding], nodes: int, features_per_node: int, runs: int, seed: int
) -> dict[str, Any]:
    """Wall-clock seconds of ``runs`` fits, each to another Erdős–Rényi graph of the paper's kind.

    Making the graph is not counted, nor is a first small fit, which loads what later ones find loaded.
    """
    build().fit(erdos_renyi(64, _EDGES_PER_NODE, 8, _FEATURES))
    seconds = []
    for run in range(runs):
        graph = erdos_renyi(nodes, _EDGES_PER_NODE, features_per_node, _FEATURES, random_state=seed + run)
        model = build()
        start = time.perf_counter()
        model.fit(graph)
        seconds.append(time.perf_counter() - start)
    return {"scores": {"seconds": seconds}}
