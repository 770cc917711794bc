"""Exact rows: the target matrix M in compressed panels of columns.

Propagating a few columns of F through the graph keeps the block in cache, and each hop is one step from the last, so
that all scales cost no more than the longest. Every entry of a product is summed in one fixed order, whichever threads
do it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, islice
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hopscale._core import _native
from hopscale.compute.aligned import Floats, aligned, aligned_zeros
from hopscale.compute.operators import Operator
from hopscale.compute.threads import ROW_CHUNK, Threads, kernel_csr, ranges
from hopscale.exceptions import ParameterError, Setting
from hopscale.walks.context import Scale, WalkContext, raised
from hopscale.walks.size import WalkSize

__all__ = ["ExactRows", "Panel", "PanelMatrix", "squares"]

SPARSE = 8  # an entry of F on its own is as much work as so many in a block
ROWS = 4096  # rows of a block that are compressed in one go; their scratch space fits the cache
PANEL_GROUP = 32  # panels of a streamed product that are alive at once
TRIAL_PANELS = 8  # panels after which the size of all of them is judged


class Panel(NamedTuple):
    """Positive entries of a block of consecutive columns, row by row."""

    offsets: NDArray[np.uint32]
    columns: NDArray[np.uint8]
    values: NDArray[np.float32]

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return sum(array.nbytes for array in self)


class ExactRows:
    """Computes panels of ``width`` columns of log(scaling · mean PʳF): their positive entries, to a power."""

    def __init__(self, context: WalkContext, width: int, power: float = 1.0) -> None:
        self.context, self.width, self.power = context, width, power
        self.count = -(-context.n_features // width)
        self._by_column = sp.csc_array(context.features)
        self._columns = kernel_csr(self._by_column)

    @staticmethod
    def work(size: WalkSize, scales: Sequence[Scale]) -> float:
        """Multiplications that exact panels of these scales take."""
        return float(max(max(s.hops) for s in scales)) * size.steps * size.n_features

    @staticmethod
    def workspace(size: WalkSize, width: int) -> int:
        """Bytes that one thread needs to compute a panel: three blocks, and the panel itself while it is made."""
        return (3 * 4 + 5) * size.n_nodes * width + 5 * ROWS * width

    def panels(
        self,
        scales: Sequence[Scale],
        scalings: Sequence[NDArray[np.float32]],
        engine: Threads,
        *,
        order: Sequence[int] | None = None,
        at_once: int | None = None,
    ) -> Iterator[list[Panel]]:
        """A panel for each scale, column block by column block, in the order asked for."""
        _ = self.context.transitions.kernel  # made once, before threads ask for it
        wanted = range(self.count) if order is None else order
        spare: deque[Floats] = deque()  # blocks that are used again: fresh memory costs as much as a hop
        return engine.map(lambda j: self._panel(scales, scalings, j, spare), wanted, at_once=at_once)

    def held(
        self,
        scales: Sequence[Scale],
        scalings: Sequence[NDArray[np.float32]],
        engine: Threads,
        *,
        at_once: int,
        budget: float,
        tell: Callable[[Sequence[float]], object],
    ) -> list[PanelMatrix] | float:
        """The matrix of each scale; or the bytes of all of them, as far as they are known, where they pass a budget.

        ``tell`` is called with the numbers of entries that they will have, as judged after each panel.
        """
        # Spread over the columns first, so that the first few panels tell how large all will be.
        stride = max(1, self.count // TRIAL_PANELS)
        order = [j for first in range(stride) for j in range(first, self.count, stride)]
        stored: list[list[Panel | None]] = [[None] * self.count for _ in scales]
        used, entries = 0, [0] * len(scales)
        label = ", ".join(scale.label for scale in scales)
        with engine.bar(self.count, f"scale {label}: exact rows", "panel") as bar:
            panels = self.panels(scales, scalings, engine, order=order, at_once=at_once)
            for done, (j, by_scale) in enumerate(zip(order, panels, strict=True), start=1):
                for i, panel in enumerate(by_scale):
                    stored[i][j] = panel
                    used += panel.nbytes
                    entries[i] += len(panel.values)
                expected = used if done < min(TRIAL_PANELS, self.count) else used * self.count / done
                if expected > budget:
                    return float(expected)
                tell([each * self.count / done for each in entries])
                bar.update(1)
        return [self._matrix([panel for panel in each if panel], engine) for each in stored]

    def project(
        self,
        scale: Scale,
        scaling: NDArray[np.float32],
        basis: Floats,
        engine: Threads,
        *,
        at_once: int,
        memory: int,
    ) -> Floats:
        """M·basis without holding M: panels are computed, used and dropped, as many at a time as the memory holds."""
        y = aligned_zeros(self.context.n_nodes, basis.shape[1])
        panels = (by_scale[0] for by_scale in self.panels([scale], [scaling], engine, at_once=at_once))
        full = self.context.n_nodes * (5 * self.width + 4)
        at_a_time = max(1, min(PANEL_GROUP, memory // full))
        with engine.bar(self.count, f"scale {scale.label}: transform", "panel") as bar:
            for first in range(0, self.count, at_a_time):
                group = self._matrix(list(islice(panels, at_a_time)), engine)
                group.add_product(basis[first * self.width : (first + at_a_time) * self.width], y)
                bar.update(group.n_panels)
        return y[:, : basis.shape[1]]

    def _matrix(self, panels: Sequence[Panel], engine: Threads) -> PanelMatrix:
        block = _native.Panels(panels, self.context.n_nodes, self.width)
        return PanelMatrix([block], self.context.n_features, self.width, engine)

    def _panel(
        self, scales: Sequence[Scale], scalings: Sequence[NDArray[np.float32]], j: int, spare: deque[Floats]
    ) -> list[Panel]:
        n, graph = self.context.n_nodes, self.context.transitions.kernel
        first, last = j * self.width, min((j + 1) * self.width, self.context.n_features)
        block, other = self._block(spare), self._block(spare)
        pooled: dict[int, Floats] = {}
        panels: dict[int, Panel] = {}
        F = self._by_column
        begin, end = F.indptr[first], F.indptr[last]
        sparse = SPARSE * (end - begin) < n * (last - first)
        hops = [hop for scale in scales for hop in scale.hops]
        for hop in range(1 if sparse and min(hops) > 0 else 0, max(hops) + 1):
            if hop == 0:
                block.fill(0.0)
                column = np.repeat(np.arange(last - first), np.diff(F.indptr[first : last + 1]))
                block[F.indices[begin:end], column] = F.data[begin:end]
            elif hop == 1 and sparse:
                _native.first_hop(graph, self._columns, first, last, block)
            else:
                _native.propagate(graph, block, other)
                block, other = other, block
            for i, scale in enumerate(scales):
                if hop not in scale.hops:
                    continue
                total = block
                if len(scale.hops) > 1:
                    total = pooled.setdefault(i, np.zeros_like(block))
                    np.add(total, block, out=total)
                if hop == scale.hops[-1]:
                    scaling = np.zeros(self.width, dtype=np.float32)
                    scaling[: last - first] = scalings[i][first:last] / len(scale.hops)
                    panels[i] = _compressed(total, scaling, self.power)
                    pooled.pop(i, None)
        spare.extend((block, other))
        return [panels[i] for i in range(len(scales))]

    def _block(self, spare: deque[Floats]) -> Floats:
        """A block of any content: one used before, if there is one."""
        try:
            return spare.pop()
        except IndexError:
            return np.empty((self.context.n_nodes, self.width), dtype=np.float32)


class PanelMatrix(Operator):
    """M held as compressed panels of ``width`` columns, of all rows or of one block of rows after the other."""

    def __init__(self, blocks: Sequence[_native.Panels], n_features: int, width: int, engine: Threads) -> None:
        self._begin = list(accumulate((block.n_rows for block in blocks), initial=0))
        self.shape = (self._begin[-1], n_features)
        self.entries = sum(block.entries for block in blocks)
        self.n_panels = blocks[0].count
        self._width, self._engine, self._blocks = width, engine, blocks

    def squared_norm(self) -> float:
        """‖M‖², Frobenius."""
        return sum(self._engine.map(_native.Panels.squared_norm, self._blocks))

    def filled_rows(self) -> NDArray[np.bool_]:
        """Whether each row has an entry."""
        filled = np.empty(self.shape[0], dtype=np.bool_)
        for block, begin, end in zip(self._blocks, self._begin, self._begin[1:], strict=False):
            block.filled_rows(filled[begin:end])
        return filled

    def _times(self, x: Floats) -> Floats:
        y = aligned_zeros(self.shape[0], x.shape[1])
        self.add_product(x, y)
        return y[:, : x.shape[1]]

    def _transposed_times(self, y: Floats) -> Floats:
        right = aligned(y)
        w = aligned_zeros(self.n_panels * self._width, y.shape[1])

        def one(j: int) -> None:
            _native.panel_transposed_times(self._blocks, j, right, w[j * self._width : (j + 1) * self._width])

        self._engine.run(one, range(self.n_panels))
        return w[: self.shape[1], : y.shape[1]]

    def add_product(self, x: Floats, y: Floats) -> None:
        """y += M·x, threads over chunks of rows, panels in order within each."""
        right = aligned(x, self.n_panels * self._width)  # the last panel may be narrower
        pieces = [
            (panels, slice(begin, end), piece)
            for panels, begin, end in zip(self._blocks, self._begin, self._begin[1:], strict=False)
            for piece in ranges(end - begin, ROW_CHUNK)
        ]

        def one(task: tuple[_native.Panels, slice, tuple[int, int]]) -> None:
            panels, rows, piece = task
            _native.panels_times(panels, right, y[rows], *piece)

        self._engine.run(one, pieces)


def squares(values: NDArray[np.float32]) -> float:
    """Sum of squares in double precision, in one order and without a copy."""
    return float(np.einsum("i,i->", values, values, dtype=np.float64))


def _compressed(block: Floats, scaling: NDArray[np.float32], power: float) -> Panel:
    n, width = block.shape
    offsets = np.zeros(n + 1, dtype=np.uint32)
    columns, values = [], []
    scratch_columns = np.empty(ROWS * width + 16, dtype=np.uint8)
    scratch_values = np.empty(ROWS * width + 16, dtype=np.float32)
    for begin, end in ranges(n, ROWS):
        piece = offsets[begin : end + 1]
        before = piece[0]
        count = _native.compress(block[begin:end], scaling, piece, scratch_columns, scratch_values)
        if int(before) + count > np.iinfo(np.uint32).max:
            raise ParameterError(
                f"{width} columns of the matrix have more than 2³² positive entries: a smaller ",
                Setting("memory_limit"),
                " makes panels narrower",
            )
        piece += before
        columns.append(scratch_columns[:count].copy())
        values.append(raised(scratch_values[:count].copy(), power))
    return Panel(offsets, np.concatenate(columns), np.concatenate(values))
