"""Vectors of a few nodes by the direct solver: their rows of M alone, each from what walks from that node meet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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

__all__ = ["are_few", "entries_of_row", "over_singular_values", "project_few"]

# Columns of all rows that take as long as a row on its own: 6 on facebook and 12 on github with two threads, and with
# more threads more, since these compute columns.
FEW = 32
BYTES = 32  # of an entry of the graph or the context, at most, in what is held for a row


def are_few(solver: PMI, context: WalkContext, nodes: NDArray[np.int64]) -> bool:
    """Whether rows one by one are quicker than columns of all rows, and fit the memory limit."""
    needed = BYTES * (context.transitions.adjacency.nnz + context.features.nnz + context.n_nodes + context.n_features)
    return FEW * len(nodes) <= context.n_features and needed <= memory_bytes("memory_limit", solver.memory_limit)


def entries_of_row(
    solver: PMI, context: WalkContext, solutions: Sequence[Solution], node: int
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float64]]]:
    """The row of M of one node, for each scale: the columns where it is not zero, and its entries there.

    For walks without a bias.
    """
    places = mean_places(context.transitions, node, [solution.scale for solution in solutions])
    for solution, (here, share) in zip(solutions, places, strict=True):
        ratios = seen_at(context.features, here, share) * solver.scaling(solution.feature_probability)
        met = np.flatnonzero(ratios > 1)
        yield met, np.log(ratios[met]) ** solver.power_at(solution.scale)


def over_singular_values(solution: Solution, products: NDArray[np.float64]) -> NDArray[np.float64]:
    """Products with feature vectors, divided by the singular values: coordinates of node vectors."""
    sigma = solution.singular_values
    assert sigma is not None
    return np.divide(products, sigma, out=np.zeros_like(sigma), where=sigma > 0)


def project_few(solver: PMI, context: WalkContext, solutions: Sequence[Solution], nodes: NDArray[np.int64]) -> Floats:
    """M'·H·Σ⁻¹ of some nodes, all scales side by side; for walks without a bias."""
    found = np.zeros((len(nodes), sum(solution.scale.dimensions for solution in solutions)), dtype=np.float32)
    for row, node in enumerate(nodes.tolist()):
        begin, rows = 0, entries_of_row(solver, context, solutions, node)
        for solution, (met, entries) in zip(solutions, rows, strict=True):
            columns = slice(begin, begin := begin + solution.scale.dimensions)
            products = entries @ solution.feature_vectors[met].astype(np.float64)
            found[row, columns] = over_singular_values(solution, products)
    return found
