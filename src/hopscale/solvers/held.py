"""What the memory limit of the direct solver counts: all that is held at a time beside the graph and the vectors."""

from __future__ import annotations

from dataclasses import dataclass

from hopscale.checks import check_memory
from hopscale.compute import Threads
from hopscale.compute.svd import triplets_bytes
from hopscale.walks import Scale, WalkContext
from hopscale.walks.panels import ExactRows

__all__ = ["Held"]

SPARSE = 24.0  # bytes of an entry of a sparse matrix and its transpose, while they are made
NEVER_REFUSED = 8 * 2**20  # bytes


@dataclass(frozen=True)
class Held:
    """Bytes that the parts of a fit take, and what the limit leaves for them."""

    context: WalkContext
    engine: Threads
    limit: int

    @property
    def room(self) -> int:
        """Bytes beyond which work is refused."""
        return max(self.limit, NEVER_REFUSED)

    @property
    def base(self) -> float:
        """The graph and the context as kernels take them, and numbers of each node and feature."""
        n, q, edges = self.context.n_nodes, self.context.n_features, self.context.transitions.adjacency
        weighted = bool(edges.nnz) and bool((edges.data != edges.data[0]).any())
        return 48.0 * (n + q) + 24.0 * self.context.features.nnz + 24.0 * edges.nnz * weighted

    @property
    def own_rows(self) -> float:
        """The matrix of scale 0."""
        return SPARSE * float(self.context.features.nnz)

    @property
    def one_hop(self) -> float:
        """The matrix of one hop between nodes."""
        return SPARSE * float(self.context.transitions.adjacency.nnz)

    @property
    def full(self) -> float:
        """Exact rows without a zero."""
        return float(self.context.n_nodes) * (5 * self.context.n_features + 4 * (self.context.n_features // 16 + 1))

    def workspace(self, scale: Scale, rows: int | None = None) -> float:
        """Factorising a matrix of so many rows, or of all, beside the matrix."""
        rows = self.context.n_nodes if rows is None else rows
        return triplets_bytes(rows, self.context.n_features, scale.dimensions, self.engine)

    @property
    def width(self) -> int:
        """Columns of a panel of exact rows: fewer where a block of 64 would take much of the limit."""
        width = 64
        while width > 16 and ExactRows.workspace(self.context, width) > self.limit // 8:
            width //= 2
        return width

    @property
    def at_once(self) -> int:
        """Panels that are computed at a time."""
        wanted = self.limit // 4 // max(1, ExactRows.workspace(self.context, self.width))
        return max(1, min(self.engine.n_jobs, int(wanted)))

    @property
    def blocks(self) -> int:
        """What computing panels takes beside them."""
        return self.at_once * ExactRows.workspace(self.context, self.width)

    def refuse(self, scale: Scale, needed: float, instead: str = "ask for fewer dimensions") -> None:
        """Refuse a scale that needs more than there is room for."""
        if needed > self.room:
            n, q = self.context.n_nodes, self.context.n_features
            what = f"scale {scale.label} of {n:,} nodes and {q:,} columns in {scale.dimensions} dimensions"
            # A larger limit lets threads hold more at once, up to a quarter of it: that must fit as well.
            check_memory(what, needed / (1 - 1 / 4), self.limit, instead)
