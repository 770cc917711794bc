"""How large a graph is and what walks on it see: the counts that decide how rows are computed, and what that costs."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["WalkSize"]


@dataclass(frozen=True)
class WalkSize:
    """Counts of a :class:`~hopscale.walks.WalkContext`, or of one that is only planned.

    ``steps`` are the entries of A: two for each edge. ``entries`` are those of the context matrix F.
    """

    n_nodes: int
    n_features: int
    steps: int
    entries: int
    weighted: bool = False
    sees_nodes: bool = False
    second_order: bool = False

    @property
    def degree(self) -> float:
        """Neighbours of a node, in the mean."""
        return self.steps / max(1, self.n_nodes)

    def ways(self, hops: int, most: float) -> list[float]:
        """About how many ways there are to walk 1, 2, ..., ``hops`` hops from a node, at most ``most`` of them."""
        return [min(float(most), max(self.degree, 1.0) ** hop) for hop in range(1, hops + 1)]

    @property
    def entries_per_node(self) -> float:
        """What a walk sees at a node, in the mean."""
        return self.entries / max(1, self.n_nodes)
