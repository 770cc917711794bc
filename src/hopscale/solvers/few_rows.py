"""Vectors of a few nodes by the direct solver: their rows of M alone, each from what walks from that node meet."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hopscale.checks import memory_bytes
from hopscale.compute.aligned import Floats
from hopscale.solvers.base import Solution
from hopscale.walks import WalkContext
from hopscale.walks.context import mean_places, seen_at

if TYPE_CHECKING:
    from hopscale.solvers.pmi import PMI

__all__ = ["are_few", "project_few"]

# Columns of all rows that take as long as a row on its own: 6 on facebook and 12 on github with two threads, and with
# more threads more, since these compute columns.
FEW = 32
BYTES = 32  # of an entry of the graph or the context, at most, in what is held for a row


def are_few(solver: PMI, context: WalkContext, nodes: NDArray[np.int64]) -> bool:
    """Whether rows one by one are quicker than columns of all rows, and fit the memory limit."""
    needed = BYTES * (context.transitions.adjacency.nnz + context.features.nnz + context.n_nodes + context.n_features)
    return FEW * len(nodes) <= context.n_features and needed <= memory_bytes("memory_limit", solver.memory_limit)


def project_few(solver: PMI, context: WalkContext, solutions: Sequence[Solution], nodes: NDArray[np.int64]) -> Floats:
    """M'·H·Σ⁻¹ of some nodes, all scales side by side; for walks without a bias."""
    scales = [solution.scale for solution in solutions]
    scalings = [solver.scaling(solution.feature_probability) for solution in solutions]
    found = np.zeros((len(nodes), sum(scale.dimensions for scale in scales)), dtype=np.float32)
    for row, node in enumerate(nodes.tolist()):
        begin, places = 0, mean_places(context.transitions, node, scales)
        for solution, scaling, (here, share) in zip(solutions, scalings, places, strict=True):
            end = begin + solution.scale.dimensions
            ratios = seen_at(context.features, here, share) * scaling
            met = np.flatnonzero(ratios > 1)
            sigma = solution.singular_values
            assert sigma is not None
            logs = np.log(ratios[met]) ** solver.power_at(solution.scale)
            products = logs @ solution.feature_vectors[met].astype(np.float64)
            found[row, begin:end] = np.divide(products, sigma, out=np.zeros_like(sigma), where=sigma > 0)
            begin = end
    return found
