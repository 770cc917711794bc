"""The target matrix M in the two forms that it is held in, and products with it.

Exact: compressed panels of columns. Sampled: CSR rows of some or all nodes. Either way every entry of a
product is summed in one fixed order, whichever threads do it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hopscale._core import _native
from hopscale.pairs import Pairs, Panel, Scale
from hopscale.parallel import Workers, ranges
from hopscale.solvers.tables import Array, crossed, padded, table_of, turned, zero_table

__all__ = ["DenseMatrix", "PanelMatrix", "RowMatrix", "RowSampler", "SampledMatrix", "project_panels"]

ROW_CHUNK = 512  # rows multiplied by one thread: their part of the product stays in its cache
PANEL_GROUP = 32  # panels of a streamed product that are alive at once
SAMPLE_CHUNK = 512  # nodes whose rows are sampled in one go
LEAST_ROWS = 4  # to learn a dimension from, however small the memory limit


class PanelMatrix:
    """M held as compressed panels of ``width`` columns."""

    def __init__(self, panels: list[Panel], n_features: int, width: int, workers: Workers) -> None:
        self.shape = (len(panels[0].offsets) - 1, n_features)
        self._width, self._workers = width, workers
        self._count, self._entries = len(panels), sum(len(panel.values) for panel in panels)
        self._panels = _native_panels(panels, self.shape[0], width)

    @property
    def description(self) -> str:
        """What is held, in words."""
        return f"exact rows, {self._entries:,} positive entries"

    def times(self, x: Array) -> Array:
        """M·x."""
        y = zero_table(self.shape[0], x.shape[1])
        _add_product(self._panels, table_of(x, self._count * self._width), y, self._workers)
        return y

    def transposed_times(self, y: Array) -> Array:
        """Mᵀ·y."""
        w = zero_table(self._count * self._width, y.shape[1])

        def one(j: int) -> None:
            _native.panel_transposed_times(self._panels, j, y, w[j * self._width : (j + 1) * self._width])

        self._workers.run(one, range(self._count))
        return w[: self.shape[1]]

    def every_row(self, b: Array, v: Array) -> Array:
        """M·v for all nodes, given b = M·v: all rows are here."""
        return b


def project_panels(
    pairs: Pairs,
    scale: Scale,
    scaling: NDArray[np.float32],
    basis: Array,
    workers: Workers,
    *,
    width: int,
    at_once: int,
) -> Array:
    """M·basis without holding M: panels are computed, used and dropped."""
    y = zero_table(pairs.n_nodes, padded(basis.shape[1]))
    count = -(-pairs.n_features // width)
    panels = (
        by_scale[0]
        for by_scale in pairs.panels(
            [scale], [scaling], width=width, order=range(count), workers=workers, at_once=at_once
        )
    )
    with workers.bar(count, f"scale {scale.label}: transform", "panel") as bar:
        for first in range(0, count, PANEL_GROUP):
            group = list(islice(panels, PANEL_GROUP))
            part = basis[first * width : (first + PANEL_GROUP) * width]
            part = table_of(part, len(group) * width)  # the last panel may be narrower
            _add_product(_native_panels(group, pairs.n_nodes, width), part, y, workers)
            bar.update(len(group))
    return np.ascontiguousarray(y[:, : basis.shape[1]])


@dataclass(frozen=True)
class RowSampler:
    """Rows of M, estimated from ``walks`` walks of each node."""

    pairs: Pairs
    scale: Scale
    scaling: NDArray[np.float32]
    walks: int
    seed: int
    workers: Workers

    def blocks(self, nodes: NDArray[np.int32]) -> Iterator[sp.csr_array]:
        """The nodes' rows, some at a time."""

        def one(piece: tuple[int, int]) -> sp.csr_array:
            return self.pairs.sampled_rows(
                self.scale,
                self.scaling,
                nodes[slice(*piece)],
                walks=self.walks,
                seed=self.seed,
                stop=self.workers.stop,
            )

        pieces = ranges(len(nodes), SAMPLE_CHUNK)
        with self.workers.bar(len(nodes), f"scale {self.scale.label}: sampled rows", "node") as bar:
            for block in self.workers.map(one, pieces):
                yield block
                bar.update(block.shape[0])

    def bytes_needed(self) -> float:
        """Memory that the rows of all nodes would take in a :class:`SampledMatrix`, told by some of them."""
        n = self.pairs.n_nodes
        trial = np.unique(np.linspace(0, n - 1, min(n, 256)).astype(np.int32))
        entries = sum(block.nnz for block in self.blocks(trial)) / len(trial)
        return n * (8 * 4 * max(1.0, entries) + 64)  # CSR, its transpose, and room to build them

    def project(self, basis: Array) -> Array:
        """M·basis for all nodes, rows sampled and dropped."""
        table = table_of(basis)
        nodes = np.arange(self.pairs.n_nodes, dtype=np.int32)
        products = [_Csr(block).times(table) for block in self.blocks(nodes)]
        return np.ascontiguousarray(np.concatenate(products)[:, : basis.shape[1]])


class RowMatrix:
    """M held as rows and, for products with its transpose, as columns."""

    def __init__(self, matrix: sp.csr_array, workers: Workers) -> None:
        self.shape = (int(matrix.shape[0]), int(matrix.shape[1]))
        self._rows = _Csr(matrix, workers)
        self._columns = _Csr(sp.csr_array(matrix.T), workers)

    @property
    def description(self) -> str:
        """What is held, in words."""
        return f"exact rows, {self._rows.entries:,} positive entries"

    def times(self, x: Array) -> Array:
        """M·x."""
        return self._rows.times(x)

    def transposed_times(self, y: Array) -> Array:
        """Mᵀ·y."""
        return self._columns.times(y)

    def every_row(self, b: Array, v: Array) -> Array:
        """M·v for all nodes, given b = M·v: all rows are here."""
        return b


class SampledMatrix(RowMatrix):
    """Sampled rows of as many nodes as fit ``memory`` bytes."""

    def __init__(self, sampler: RowSampler, memory: int) -> None:
        self._sampler = sampler
        nodes, weights = self._learning_rows(memory)
        self._complete = weights is None
        matrix = sp.csr_array(sp.vstack(list(sampler.blocks(nodes)), format="csr"))
        if weights is not None:
            matrix.data *= np.repeat(weights, np.diff(matrix.indptr))
        super().__init__(matrix, sampler.workers)

    @property
    def description(self) -> str:
        """What is held, in words."""
        which = "all rows" if self._complete else f"{self.shape[0]:,} of {self._sampler.pairs.n_nodes:,} rows"
        return f"rows sampled from {self._sampler.walks} walks a node, learning from {which}"

    def every_row(self, b: Array, v: Array) -> Array:
        """M·v for all nodes, given b = M·v for the rows that are here."""
        return b if self._complete else self._sampler.project(v)

    def _learning_rows(self, memory: int) -> tuple[NDArray[np.int32], NDArray[np.float32] | None]:
        """Nodes to learn from, and the weight of their rows; no weights if that is all nodes.

        Else drawn systematically with a probability π that grows with the degree; a row is divided by √π, so
        that MᵀM keeps its expectation.
        """
        sampler, n = self._sampler, self._sampler.pairs.n_nodes
        capacity = max(memory * n / sampler.bytes_needed(), LEAST_ROWS * sampler.scale.dimensions)
        if capacity >= n:
            return np.arange(n, dtype=np.int32), None
        degrees = sampler.pairs.walks.degrees
        share = degrees + degrees.mean()
        chance = np.minimum(1.0, share * (capacity / share.sum()))
        ticks = np.floor(np.cumsum(chance) + np.random.default_rng([sampler.seed, 1]).random())
        nodes = np.flatnonzero(np.diff(ticks, prepend=0.0) > 0).astype(np.int32)
        return nodes, (1.0 / np.sqrt(chance[nodes])).astype(np.float32)


class DenseMatrix:
    """A dense matrix, more rows than columns."""

    def __init__(self, matrix: Array, workers: Workers) -> None:
        self.shape = (int(matrix.shape[0]), int(matrix.shape[1]))
        self._matrix, self._workers = matrix, workers

    def times(self, x: Array) -> Array:
        """M·x."""
        return turned(self._matrix, x, self._workers)

    def transposed_times(self, y: Array) -> Array:
        """Mᵀ·y."""
        return crossed(self._matrix, y, self._workers, np.float32)


class _Csr:
    """Products with a CSR matrix."""

    def __init__(self, matrix: sp.csr_array, workers: Workers | None = None) -> None:
        self._matrix = _native.Csr(
            matrix.indptr.astype(np.int64),
            matrix.indices.astype(np.int32, copy=False),
            matrix.data.astype(np.float32, copy=False),
            matrix.shape[1],
        )
        self._workers = workers

    @property
    def entries(self) -> int:
        return self._matrix.nnz

    def times(self, x: Array) -> Array:
        rows = self._matrix.shape[0]
        x = table_of(x)
        y = zero_table(rows, x.shape[1])

        def one(piece: tuple[int, int]) -> None:
            _native.csr_times(self._matrix, x, y, *piece)

        if self._workers:
            self._workers.run(one, ranges(rows, ROW_CHUNK))
        else:
            one((0, rows))
        return y


def _native_panels(panels: list[Panel], n_rows: int, width: int) -> _native.Panels:
    """Panels as the kernels take them."""
    return _native.Panels([(p.offsets, p.columns, p.values) for p in panels], n_rows, width)


def _add_product(panels: _native.Panels, x: Array, y: Array, workers: Workers) -> None:
    """y += panels · x, threads over chunks of rows, panels in order within each."""

    def one(piece: tuple[int, int]) -> None:
        _native.panels_times(panels, x, y, *piece)

    workers.run(one, ranges(len(y), ROW_CHUNK))
