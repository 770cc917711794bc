"""How many entries rows have: measured on some nodes of a graph, or expected from counts.

A row of PʳF is what walks of r hops meet. By counts alone, a node has about degreeʳ such walks, each of which meets as
many features as a node has, drawn by their popularity; an entry is positive where a feature is met more often than in
the mean of all nodes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammainc

from hopscale.compute import Threads
from hopscale.solvers.pmi import MAX_WALKS, PMI
from hopscale.solvers.targets import units_near
from hopscale.walks import Scale, WalkContext, WalkSize
from hopscale.walks.sampling import RowCounts, RowSampler

__all__ = ["CountedRows", "ExactEntries", "MeasuredRows", "positive_share"]

POPULARITY = 0.75  # between the features of a generated graph and words of a language
EXACT_TRIAL = 32  # nodes whose exact rows are counted
EXACT_STEPS = 2e9  # edges that this may pass, beyond which sampled rows are counted instead


def positive_share(met: list[float], columns: int, popularity: float = POPULARITY) -> float:
    """Share of the columns of a row that are positive, where each hop meets so many features in all.

    Of one hop, feature f is met a Poisson-distributed number of times with the mean λ, and its entry is positive
    where it is met more often. Of T pooled hops, one of them has to meet it more than T·λ times. The feature of rank i
    is met in proportion to i to the power of minus ``popularity``.

    >>> round(positive_share([10.0], 10_000), 4)
    0.001
    """
    rank = np.geomspace(1, columns + 1, 400)
    middle, weight = np.sqrt(rank[1:] * rank[:-1]), np.diff(rank)
    chance = middle**-popularity
    chance /= float(chance @ weight)
    missed = np.ones(len(middle))
    for total in met:
        mean = total * chance
        missed *= 1.0 - gammainc(np.floor(len(met) * mean) + 1.0, mean)  # P(X > k·mean) of Poisson's distribution
    return float((1.0 - missed) @ weight) / columns


@dataclass(frozen=True, eq=False)
class CountedRows(RowCounts):
    """Rows of a scale from at most ``walks`` ways, as counts let expect them."""

    counts: WalkSize
    scale: Scale
    walks: float

    @property
    def size(self) -> WalkSize:
        """Counts of the graph and of what walks see."""
        return self.counts

    @cached_property
    def row_ways(self) -> list[float]:
        """Ways that the walks of a row take up to each hop, in the mean."""
        size = self.counts
        return [min(ways, float(size.n_nodes)) for ways in size.ways(self.scale.hops[-1], self.walks)]

    @cached_property
    def row_entries(self) -> float:
        """Entries of a row, in the mean."""
        size = self.counts
        met = [self.row_ways[hop - 1] * size.entries_per_node for hop in self.scale.hops if hop]
        return positive_share(met, size.n_features) * size.n_features if met else size.entries_per_node


ExactEntries = Callable[[Scale], float]


class MeasuredRows:
    """Rows of some nodes of a graph, computed as a fit would."""

    def __init__(self, solver: PMI, context: WalkContext, scales: list[Scale], engine: Threads) -> None:
        probabilities = context.feature_probabilities(scales)
        units = units_near(probabilities)
        self._solver, self._context, self._engine = solver, context.in_units(units), engine
        pairs = zip(scales, probabilities, strict=True)
        self._scalings = {scale: solver.scaling_in(units, probability) for scale, probability in pairs}
        self._samplers: dict[Scale, RowSampler] = {}

    def sampled(self, scale: Scale) -> RowSampler:
        """Sampled rows of a scale."""
        if scale not in self._samplers:
            solver, scaling = self._solver, self._scalings[scale]
            self._samplers[scale] = RowSampler(
                self._context, scale, scaling, solver.walks, 0, self._engine, solver.power
            )
        return self._samplers[scale]

    def exact_entries(self, scale: Scale) -> float:
        """Entries of an exact row in the mean, told by some; by sampled rows where that would take long."""
        sampler, size = self.sampled(scale), self._context.size
        if size.second_order or EXACT_TRIAL * scale.hops[-1] * float(size.steps) > EXACT_STEPS:
            return sampler.row_entries
        every_way = replace(sampler, walks=min(max(sampler.walks, size.steps), MAX_WALKS))
        nodes: NDArray[np.int32] = np.unique(np.linspace(0, size.n_nodes - 1, EXACT_TRIAL).astype(np.int32))
        return every_way.rows(nodes).nnz / len(nodes)
