"""The direct solver on a graph whose arrays are files: V of a scale from some rows, vectors of some nodes from V.

Bits are those of :class:`hopscale.solvers.targets.Targets` with ``rows="sampled"``. Own features of the nodes, scale 0,
are held as one sparse matrix where the memory limit allows it, as they are there; beyond, V is learnt from the rows of
nodes that are drawn as those of walks are.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hopscale.checks import memory_bytes
from hopscale.compute import Threads
from hopscale.compute.aligned import Floats, aligned_empty
from hopscale.compute.svd import times_columns
from hopscale.compute.threads import checkpoint, sparse_times
from hopscale.solvers.held import Held
from hopscale.solvers.learning import Target, Triplets, inverse_root, least_sampled, sampled_target, sparse_target
from hopscale.walks import Scale
from hopscale.walks.context import own_rows
from hopscale.walks.mapped import MappedContext
from hopscale.walks.sampling import ENOUGH_ROWS, LEAST_ROWS, RowSampler, drawn_nodes
from hopscale.walks.transitions import row_blocks

if TYPE_CHECKING:
    from hopscale.solvers.pmi import PMI

__all__ = ["MappedTargets"]

PIECE = 1024  # rows that are projected in one call of a kernel


class MappedTargets:
    """Rows of the target matrices over maps; ``context`` has its features in the units of ``scalings``."""

    def __init__(self, solver: PMI, context: MappedContext, engine: Threads, seed: int) -> None:
        self._solver, self._context, self._engine, self._seed = solver, context, engine, seed
        self._memory = engine.memory = memory_bytes("memory_limit", solver.memory_limit)

    def learn(self, scale: Scale, scaling: NDArray[np.float32]) -> tuple[Target, Triplets]:
        """Singular triplets of a scale, and what they were learnt from: rows of all nodes, or of some."""
        target = self._own(scale, scaling) if scale.is_self else self._walked(scale, scaling)
        return target, target.factorised(scale, self._engine, self._seed)

    def project(
        self, scale: Scale, scaling: NDArray[np.float32], v: Floats, sigma: NDArray[np.float64], begin: int, end: int
    ) -> Floats:
        """Vectors of some consecutive nodes, M·V·Σ^(-1/2); ``v`` in the padded rows that kernels take."""
        if scale.is_self:
            found = sparse_times(own_rows(self._context.features.rows(begin, end), scaling), v)
        else:
            found, sampler = aligned_empty(end - begin, v.shape[1]), self._sampler(scale, scaling)
            for first in range(begin, end, PIECE):
                last = min(first + PIECE, end)
                sampler.project_some(first, last, v, found[first - begin : last - begin])
                checkpoint()
        return times_columns(found[:, : scale.dimensions], inverse_root(sigma))

    def _sampler(self, scale: Scale, scaling: NDArray[np.float32]) -> RowSampler:
        solver = self._solver
        return RowSampler(self._context, scale, scaling, solver.walks, self._seed, self._engine, solver.power)

    def _walked(self, scale: Scale, scaling: NDArray[np.float32]) -> Target:
        sampler, held = self._sampler(scale, scaling), self._held()
        if least_sampled(sampler, held) > held.room:  # in memory it would be refused
            held = self._held(mapped=True)
            held.refuse(scale, least_sampled(sampler, held))
        return sampled_target(sampler, held)

    def _own(self, scale: Scale, scaling: NDArray[np.float32]) -> Target:
        held, n = self._held(), self._context.n_nodes
        if held.holds_own_rows(scale):
            rows = [own_rows(block, scaling) for _, block in row_blocks(self._context.features)]
            return sparse_target(sp.csr_array(sp.vstack(rows, format="csr")), self._engine)
        held, least = self._held(mapped=True), min(n, LEAST_ROWS * scale.dimensions)
        row = max(1.0, held.own_rows / n)
        held.refuse(scale, held.base + held.workspace(scale, least) + least * row)
        capacity = int(max(min(held.learning(scale, row, least) / row, ENOUGH_ROWS), least))
        nodes, weights = drawn_nodes(self._context.transitions.degrees, capacity, self._seed)
        matrix = self._drawn_rows(nodes, weights, scaling)
        target = sparse_target(matrix, self._engine)
        words = f"exact rows, after learning from {matrix.shape[0]:,} of {n:,} rows"
        filled = np.diff(self._context.features.indptr) > 0
        return replace(target, rows=words, filled=filled, complete=False)

    def _drawn_rows(
        self, nodes: NDArray[np.int32], weights: NDArray[np.float32], scaling: NDArray[np.float32]
    ) -> sp.csr_array:
        """The own rows of some nodes, in rising order, each times a weight."""
        found = []
        for some, block in row_blocks(self._context.features):
            first, last = np.searchsorted(nodes, [some.start, some.stop])
            rows = own_rows(block[nodes[first:last] - some.start], scaling)
            rows.data *= np.repeat(weights[first:last], np.diff(rows.indptr))
            found.append(rows)
        return sp.csr_array(sp.vstack(found, format="csr"))

    def _held(self, *, mapped: bool = False) -> Held:
        return Held(self._context.size, self._engine, self._memory, mapped)
