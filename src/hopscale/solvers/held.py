"""What the memory limit of the direct solver counts: all that is held at a time beside the graph and the vectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hopscale.checks import check_memory
from hopscale.compute import Threads
from hopscale.compute.aligned import padded
from hopscale.compute.svd import tall_bytes, triplets_bytes
from hopscale.walks import Scale, WalkSize
from hopscale.walks.panels import ExactRows
from hopscale.walks.sweep import WIDTHS, Sweep

__all__ = ["Held"]

SPARSE = 24.0  # bytes of an entry of a sparse matrix and its transpose, while they are made
NEVER_REFUSED = 8 * 2**20  # bytes


@dataclass(frozen=True)
class _ManyThreads:
    """As many threads as an engine of that limit lets work at once, however many cores there are."""

    limit: int

    def at_once(self, each: float) -> int:
        return max(1, int(self.limit / 8 / max(each, 1)))


@dataclass(frozen=True)
class Held:
    """Bytes that the parts of a fit take, and what the limit leaves for them."""

    size: WalkSize
    engine: Threads
    limit: int
    mapped: bool = False  # whether the graph and the context are maps of files, which can be dropped at any time

    @property
    def room(self) -> int:
        """Bytes beyond which work is refused."""
        return max(self.limit, NEVER_REFUSED)

    @property
    def base(self) -> float:
        """The graph and the context as kernels take them, and numbers of each node and feature."""
        size = self.size
        numbers = 48.0 * (size.n_nodes + size.n_features)
        if self.mapped:
            return numbers
        # Neighbours are copied where they are numbers of 64 bits.
        return numbers + 24.0 * size.entries + (24.0 if size.weighted else 4.0) * size.steps

    @property
    def own_rows(self) -> float:
        """The matrix of scale 0."""
        return SPARSE * float(self.size.entries)

    def holds_own_rows(self, scale: Scale) -> bool:
        """Whether the matrix of scale 0 fits with all its rows."""
        return self.base + self.workspace(scale) + self.own_rows <= self.room

    @property
    def one_hop(self) -> float:
        """The matrix of one hop between nodes."""
        return SPARSE * float(self.size.steps)

    @property
    def full(self) -> float:
        """Exact rows without a zero."""
        return float(self.size.n_nodes) * (5 * self.size.n_features + 4 * (self.size.n_features // 16 + 1))

    def workspace(self, scale: Scale, rows: int | None = None) -> float:
        """Factorising a matrix of so many rows, or of all, beside the matrix."""
        rows = self.size.n_nodes if rows is None else rows
        return triplets_bytes(rows, self.size.n_features, scale.dimensions, self.engine)

    def projecting(self, scale: Scale) -> float:
        """Multiplying sampled rows of all nodes by V: vectors of nodes, V, and V in the rows that kernels take."""
        return tall_bytes(self.size.n_nodes + 2 * self.size.n_features, scale.dimensions)

    @property
    def width(self) -> int:
        """Columns of a panel of exact rows: fewer where a block of 64 would take much of the limit."""
        width = 64
        while width > 16 and ExactRows.workspace(self.size, width) > self.limit // 8:
            width //= 2
        return width

    @property
    def at_once(self) -> int:
        """Panels that are computed at a time."""
        wanted = self.limit // 4 // max(1, ExactRows.workspace(self.size, self.width))
        return max(1, min(self.engine.n_jobs, int(wanted)))

    @property
    def blocks(self) -> int:
        """What computing panels takes beside them."""
        return self.at_once * ExactRows.workspace(self.size, self.width)

    def streamed(self, scales: Sequence[Scale], width: int) -> float:
        """Streaming exact rows, so many columns at a time: panels, what they are made from, and products."""
        wide = sum(padded(scale.dimensions) for scale in scales)
        products = 4.0 * wide * (self.size.n_nodes + 3 * self.size.n_features)
        return self.base + products + Sweep.workspace(self.size, scales, width)

    def stream_width(self, scales: Sequence[Scale]) -> int | None:
        """Columns that are streamed at a time, as many as the limit holds; None where it holds too few."""
        fitting = (w for w in WIDTHS if self.streamed(scales, w) <= self.room and w * self.size.n_nodes < 2**32)
        return next(fitting, None)

    def learning(self, scale: Scale, row: float, least_rows: int) -> float:
        """Bytes for rows to learn from, of so many bytes each: half of the limit, or what factorising them leaves.

        They are the same for any number of threads, which must not decide how many rows there are.
        """
        threads: Any = _ManyThreads(self.limit)
        space = triplets_bytes(least_rows, self.size.n_features, scale.dimensions, threads)
        room = self.room - self.base - space
        return min(self.limit // 2, room * row / (row + tall_bytes(2, scale.dimensions)))

    def refuse(self, scale: Scale, needed: float, instead: str = "ask for fewer dimensions") -> None:
        """Refuse a scale that needs more than there is room for."""
        if needed > self.room:
            n, q = self.size.n_nodes, self.size.n_features
            what = f"scale {scale.label} of {n:,} nodes and {q:,} columns in {scale.dimensions} dimensions"
            # A larger limit lets threads hold more at once, up to a quarter of it: that must fit as well.
            check_memory(what, needed / (1 - 1 / 4), self.limit, instead)
