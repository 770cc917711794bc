"""Rows of the target matrix that are estimated from sampled walks, and the noise that training draws."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hopscale._core import _native
from hopscale.compute.aligned import Floats, aligned
from hopscale.compute.threads import Threads, ranges, sparse_product
from hopscale.walks.context import Scale, WalkContext, raised

__all__ = ["NoiseLayout", "RowSampler", "noise_layout"]

SAMPLE_CHUNK = 512  # nodes whose rows are sampled in one go, or fewer where memory is short
LEAST_ROWS = 4  # to learn a dimension from, however small the memory limit


class NoiseLayout(NamedTuple):
    """A distribution over features, laid out on the numbers 0..2³²-1 for systematic sampling.

    Features come in order of falling probability; the one at position i has the numbers up to ``last[i]``. ``guide``
    holds the first position to look at for a number's leading bits.
    """

    last: NDArray[np.uint32]
    feature: NDArray[np.uint32]
    guide: NDArray[np.uint32]
    shift: int


def noise_layout(weights: NDArray[Any]) -> NoiseLayout:
    """The distribution in proportion to ``weights``; uniform where none is positive."""
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
    return NoiseLayout(last, order.astype(np.uint32), guide.astype(np.uint32), shift)


@dataclass(frozen=True, eq=False)
class RowSampler:
    """Positive entries of log(scaling · mean PʳF) to a power, with PʳF estimated from ``walks`` walks of each node.

    Rows that are being sampled take an eighth of the engine's memory.
    """

    context: WalkContext
    scale: Scale
    scaling: NDArray[np.float32]
    walks: int
    seed: int
    engine: Threads
    power: float = 1.0

    def rows(self, nodes: NDArray[np.int32]) -> sp.csr_array:
        """The rows of some nodes."""
        offsets, columns, values = _native.sample_rows(
            self.context.transitions.kernel,
            self.context.kernel_features,
            nodes,
            walks=self.walks,
            hops=self.scale.mask,
            scale=self.scaling,
            seed=self.seed,
            stream=self.scale.hops[-1],
            stop=self.engine.stop,
        )
        values = raised(values, self.power)
        return sp.csr_array((values, columns, offsets), shape=(len(nodes), self.context.n_features))

    def blocks(self, nodes: NDArray[np.int32]) -> Iterator[sp.csr_array]:
        """The nodes' rows, some at a time."""
        _ = self.context.transitions.kernel, self.context.kernel_features  # made once, before threads ask for them
        memory, at_once = self.engine.memory, self.engine.at_once(self.row_bytes)
        chunk = SAMPLE_CHUNK if memory is None else max(1, min(SAMPLE_CHUNK, memory // 8 // at_once // self.row_bytes))
        with self.engine.bar(len(nodes), f"scale {self.scale.label}: sampled rows", "node") as bar:
            pieces = ranges(len(nodes), chunk)
            for block in self.engine.map(lambda piece: self.rows(nodes[slice(*piece)]), pieces, at_once=at_once):
                yield block
                bar.update(block.shape[0])

    @cached_property
    def row_bytes(self) -> int:
        """Memory that a row can take at most while it is sampled."""
        widest = int(np.diff(self.context.features.indptr).max(initial=1))
        return 16 * max(1, min(self.context.n_features, self.walks * len(self.scale.hops) * widest))

    @cached_property
    def bytes_needed(self) -> float:
        """Memory that the rows of all nodes would take, told by some of them."""
        n = self.context.n_nodes
        trial = np.unique(np.linspace(0, n - 1, min(n, 256)).astype(np.int32))
        entries = sum(block.nnz for block in self.blocks(trial)) / len(trial)
        return n * (8 * 4 * max(1.0, entries) + 64)  # CSR, its transpose, and room to build them

    @property
    def least_rows(self) -> int:
        """Rows that are learnt from at least."""
        return min(self.context.n_nodes, LEAST_ROWS * self.scale.dimensions)

    def learning_rows(self, memory: float) -> tuple[sp.csr_array, bool]:
        """Rows to learn from, as many as fit ``memory`` bytes, and whether these are the rows of all nodes.

        Where not all fit, nodes are drawn systematically with a probability π that grows with the degree; a row is
        divided by √π, so that MᵀM keeps its expectation.
        """
        n = self.context.n_nodes
        capacity = max(memory * n / self.bytes_needed, LEAST_ROWS * self.scale.dimensions)
        if capacity >= n:
            return self._matrix(np.arange(n, dtype=np.int32)), True
        degrees = self.context.transitions.degrees
        share = degrees + degrees.mean()
        chance = np.minimum(1.0, share * (capacity / share.sum()))
        ticks = np.floor(np.cumsum(chance) + np.random.default_rng([self.seed, 1]).random())
        nodes = np.flatnonzero(np.diff(ticks, prepend=0.0) > 0).astype(np.int32)
        matrix = self._matrix(nodes)
        matrix.data *= np.repeat((1.0 / np.sqrt(chance[nodes])).astype(np.float32), np.diff(matrix.indptr))
        return matrix, False

    def project(self, basis: Floats) -> Floats:
        """M·basis for all nodes, rows sampled and dropped."""
        right, width = aligned(basis), basis.shape[1]
        out, done = np.empty((self.context.n_nodes, width), dtype=np.float32), 0
        for block in self.blocks(np.arange(self.context.n_nodes, dtype=np.int32)):
            out[done : done + block.shape[0]] = sparse_product(block, right)[:, :width]
            done += block.shape[0]
        return out

    def _matrix(self, nodes: NDArray[np.int32]) -> sp.csr_array:
        return sp.csr_array(sp.vstack(list(self.blocks(nodes)), format="csr"))
