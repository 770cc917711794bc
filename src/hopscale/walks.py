"""Random walks on a graph: transition arrays for the kernels, and how often walks see a node.

A adjacency, D degrees, P = D⁻¹A. A walk never leaves a node without edges; it has no first step.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hopscale._core import _native

__all__ = ["AliasTable", "NoiseTable", "Start", "WalkGraph", "expected_visits"]

Start = Literal["degree", "node"]


@dataclass(frozen=True)
class AliasTable:
    """Draws from discrete distributions in constant time (Walker, Vose)."""

    keep: NDArray[np.float32]
    other: NDArray[np.int32]

    @classmethod
    def of(cls, weights: NDArray[Any], offsets: NDArray[np.int64] | None = None) -> AliasTable:
        """Table of one distribution, or of one per group of consecutive weights."""
        if offsets is None:
            offsets = np.array([0, len(weights)], dtype=np.int64)
        table = cls(np.empty(len(weights), dtype=np.float32), np.empty(len(weights), dtype=np.int32))
        _native.build_alias(offsets, np.asarray(weights, dtype=np.float64), table.keep, table.other)
        return table


@dataclass(frozen=True)
class NoiseTable:
    """A distribution over features laid out on the numbers 0..2³²-1, for systematic sampling.

    Features come in order of falling probability; the one at position i has the numbers up to ``last[i]``.
    ``guide`` holds the first position to look at for a number's leading bits.
    """

    last: NDArray[np.uint32]
    feature: NDArray[np.uint32]
    guide: NDArray[np.uint32]
    shift: int

    @classmethod
    def of(cls, weights: NDArray[Any]) -> NoiseTable:
        """Table of the distribution in proportion to ``weights``; uniform where none is positive."""
        if not weights.any():  # walks meet no feature at all: there will be no pair to draw noise for
            weights = np.ones(len(weights))
        order = np.argsort(-weights, kind="stable")
        share = np.cumsum(weights[order], dtype=np.float64)
        last = np.floor(share / share[-1] * 2.0**32) - 1
        last[weights[order].nonzero()[0][-1] :] = 2.0**32 - 1  # rounding must not leave numbers without a feature
        last = np.maximum(last, 0).astype(np.uint32)
        bits = int(np.clip(np.ceil(np.log2(4 * len(weights))), 8, 22))
        shift = 32 - bits
        guide = np.searchsorted(last, np.arange(2**bits, dtype=np.uint64) << np.uint64(shift), side="left")
        return cls(last, order.astype(np.uint32), guide.astype(np.uint32), shift)

    @cached_property
    def native(self) -> _native.Noise:
        """The table as the kernels take it."""
        return _native.Noise(self.last, self.feature, self.guide, self.shift)


@dataclass(frozen=True)
class WalkGraph:
    """Adjacency in the form that kernels walk on."""

    offsets: NDArray[np.int64]
    neighbors: NDArray[np.int32]
    weights: NDArray[np.float32] | None
    alias: AliasTable | None
    degrees: NDArray[np.float64]
    back: float = 1.0
    away: float = 1.0

    @classmethod
    def of(cls, adjacency: sp.csr_array, *, back: float = 1.0, away: float = 1.0) -> WalkGraph:
        """Arrays of a symmetric adjacency matrix; edge weights are dropped where all are equal.

        ``back`` and ``away`` are node2vec's 1/p and 1/q: what an edge counts that leads back to where the walk came
        from, or to a node that is no neighbour of that one.
        """
        offsets = adjacency.indptr.astype(np.int64)
        data = adjacency.data.astype(np.float32, copy=False)
        weighted = data.size > 0 and bool(np.any(data != data[0]))
        degrees = np.asarray(adjacency.sum(axis=1, dtype=np.float64)).ravel()
        return cls(
            offsets=offsets,
            neighbors=adjacency.indices.astype(np.int32, copy=False),
            weights=data if weighted else None,
            alias=AliasTable.of(data, offsets) if weighted else None,
            degrees=degrees,
            back=back,
            away=away,
        )

    @property
    def second_order(self) -> bool:
        """Whether a step depends on the last one."""
        return (self.back, self.away) != (1.0, 1.0)

    @property
    def n_nodes(self) -> int:
        """Number of nodes, n."""
        return len(self.offsets) - 1

    @property
    def inverse_degrees(self) -> NDArray[np.float32]:
        """What makes the rows of A (or of its pattern, if unweighted) sum to one; 0 for isolated nodes."""
        degrees = self.degrees if self.weights is not None else np.diff(self.offsets).astype(np.float64)
        return np.divide(1.0, degrees, out=np.zeros_like(degrees), where=degrees > 0).astype(np.float32)

    @cached_property
    def native(self) -> _native.Graph:
        """The graph as the kernels take it."""
        return _native.Graph(
            self.offsets,
            self.neighbors,
            inverse_degrees=self.inverse_degrees,
            weights=self.weights,
            keep=self.alias.keep if self.alias else None,
            other=self.alias.other if self.alias else None,
            back=self.back,
            away=self.away,
        )

    def sample(self, starts: NDArray[np.int32], count: int, steps: int, seed: int) -> NDArray[np.int32]:
        """Nodes at steps 1..``steps`` of ``count`` walks from every start; -1 from isolated ones."""
        out = np.empty((len(starts), count, steps), dtype=np.int32)
        _native.sample_walks(self.native, starts, count, seed, out)
        return out


def expected_visits(
    adjacency: sp.csr_array, *, start: Start, walks_per_node: int, positions: int
) -> NDArray[np.float64]:
    """Expected number of times that walks stand on each node at one of their first ``positions`` steps.

    With ``start="degree"`` a walk starts at v with probability deg(v)/c (the paper's algorithms), is
    stationary from the first step on, and sees v in proportion to its degree. With ``start="node"``,
    ``walks_per_node`` walks start at each node (the authors' code) and what they see is
    Σⱼ 1ᵀPʲ, which tends to the same thing. Both count walks from the nodes that have edges.
    """
    degrees = np.asarray(adjacency.sum(axis=1, dtype=np.float64)).ravel()
    active = degrees > 0
    walks = float(walks_per_node) * int(active.sum())
    if start == "degree":
        return walks * positions * degrees / max(degrees.sum(), 1e-300)
    inverse = np.divide(1.0, degrees, out=np.zeros_like(degrees), where=active)
    here = active * float(walks_per_node)
    total = np.zeros_like(degrees)
    for _ in range(positions):
        total += here
        here = adjacency.T @ (here * inverse)
    return total
