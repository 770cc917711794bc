"""Products with exact rows that are never held: one sweep over the columns serves every scale.

A panel of columns is taken through the graph hop by hop, by all threads together. The first hop leaves it sparse; from
the second on it is dense, in half precision. While a row of it is at hand, its positive logarithms are multiplied by
the columns' rows of another matrix, and dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hopscale._core import _native
from hopscale.compute.aligned import Floats, aligned, aligned_zeros
from hopscale.compute.threads import Threads, kernel_csr, ranges
from hopscale.walks.context import Scale, WalkContext
from hopscale.walks.size import WalkSize

__all__ = ["WIDTHS", "Sweep"]

Halves = NDArray[np.uint16]

Calls = list[tuple[Any, int, int, dict[str, Any]]]  # kernels, the columns that they are for, and what else they take

WIDTHS = (256, 128, 64, 32, 16)  # columns of a panel
DENSE = 128  # of these, columns that one pass over the edges adds up where a panel is dense
AHEAD = 4  # panels whose first hop is taken before they are needed
LAST_PIECE = 32  # pieces of rows for each thread if all were as small as the last one
LEAST_PIECE = 256  # rows of it, in the mean
ROW_WORK = 4  # what a row takes beside its edges, as if it had so many more
SPARSE = 16  # columns for each entry of a row, from which on it pays to go by the entries
LARGEST = 15  # exponent of the largest number in half precision
SMALLEST = -14  # and of the smallest one with all its digits
ROUNDING = 2.0**-11  # by which half precision may put a ratio of one above it


@dataclass(eq=False)
class Sweep:
    """M·x for the rows of all nodes, M the positive entries of log(scaling · mean PʳF) to a power."""

    context: WalkContext
    engine: Threads
    power: float = 1.0
    width: int = WIDTHS[0]

    @staticmethod
    def workspace(size: WalkSize, scales: Sequence[Scale], width: int) -> float:
        """Bytes of the dense panels, and of sparse ones that threads make ahead of their use."""
        n, entries = size.n_nodes, size.entries
        dense = 2.0 * n * width * _dense_panels(scales)
        met = min(1.0, size.steps * entries / max(n, 1) ** 2 / max(size.n_features, 1))  # share of a sparse panel
        return dense + (AHEAD + 1) * n * (8 * met * width * 2 + 16) + 24.0 * entries

    @staticmethod
    def serves(scale: Scale) -> bool:
        """Whether a sweep can compute a scale: one of a single hop, or of all hops up to the last."""
        return scale.hops[0] > 0 and len(scale.hops) in (1, scale.hops[-1])

    def holds(self, scaling: NDArray[np.float32]) -> bool:
        """Whether half precision holds ratios near one of all features."""
        seen = scaling > 0
        at_one = -np.frexp(scaling[seen])[1] + (LARGEST - 5) - self._exponents[seen]
        return bool((at_one >= SMALLEST).all())

    def products(
        self, scales: Sequence[Scale], scalings: Sequence[NDArray[np.float32]], bases: Sequence[Floats]
    ) -> list[Floats]:
        """M·basis of each scale; those that pool hops are swept one by one."""
        if len(scales) > 1 and any(len(scale.hops) > 1 for scale in scales):
            each = zip(scales, scalings, bases, strict=True)
            return [self.products([scale], [scaling], [basis])[0] for scale, scaling, basis in each]
        pools = len(scales[0].hops)
        # No sum over hops may pass the largest number: columns have units of their own.
        units = LARGEST - int(np.ceil(np.log2(pools + 1))) - self._exponents
        factors = np.ldexp(np.ones(len(units), dtype=np.float32), units)
        free = [self._dense() for _ in range(_dense_panels(scales))]
        late: Calls = []
        under_way: Callable[[], object] = list  # nothing to wait for
        ends = {scale.hops[-1]: i for i, scale in enumerate(scales)}
        found = [aligned_zeros(self.context.n_nodes, basis.shape[1]) for basis in bases]
        rights = [aligned(basis) for basis in bases]
        pooled = scales[0].hops if pools > 1 else ()
        graph = self.context.transitions.kernel
        _ = self._columns  # made once, before threads ask for it

        def first_hop(piece: tuple[int, int]) -> tuple[tuple[int, int], Any]:
            return piece, _native.first_panel(graph, self._columns, *piece, factors)

        pieces = ranges(self.context.n_features, self.width)
        with self.engine.bar(len(pieces), f"scale {', '.join(s.label for s in scales)}: project", "panel") as bar:
            for (first, last), panel in self.engine.map(first_hop, pieces, at_once=AHEAD):

                def product(hop: int, first: int = first, last: int = last) -> dict[str, Any]:
                    """What the scale that ends with a hop, if any, makes of it."""
                    if hop not in ends:
                        return {}
                    i, scaling = ends[hop], np.zeros(self.width, dtype=np.float32)
                    less = np.float32(1.0 - ROUNDING if hop > 1 else 1.0)
                    scaling[: last - first] = scalings[i][first:last] * less / (factors[first:last] * np.float32(pools))
                    return {"scale": scaling, "x": aligned(rights[i][first:last], self.width), "y": found[i]}

                stages, free = self._stages(panel, product, free, max(ends), pooled)
                *begin, end = stages
                # The last hop of a panel is taken together with the first ones of the next: threads wait for each other
                # once a panel. Sums over hops leave no room for that.
                for calls in begin:
                    under_way = self._start(late + calls, under_way)
                    late = []
                late += end
                if pooled or not begin:
                    under_way = self._start(late, under_way)
                    late = []
                bar.update(1)
            self._start(late, under_way)()
        return [y[:, : basis.shape[1]] for y, basis in zip(found, bases, strict=True)]

    def _stages(
        self, panel: Any, product: Any, dense: Sequence[Halves], hops: int, pooled: Sequence[int]
    ) -> tuple[list[Calls], list[Halves]]:
        """All hops of a panel, from the first on: what all rows must have seen before the next stage begins.

        And the dense panels in the order in which the next one is to use them, last ones first: that which the last
        stage reads is used last.
        """
        n, stages = self.context.n_nodes, []
        block: dict[str, Any] = {"sparse": _native.Panels([panel], n, self.width)}
        calls: Calls = []
        if at_one := product(1):
            calls.append((_native.no_hop, 0, self.width, block | at_one))
        free = list(dense)
        sums = {"pooled": free.pop()} if pooled else {}
        if hops > 1 and SPARSE * len(panel[2]) > n * self.width:
            places = [sums["pooled"], free[-1]] if sums else [free[-1]]
            calls += [(_native.fill, 0, self.width, block | {"out": place}) for place in places]
            block = {"dense": free.pop()}
        if hops == 1 or "dense" in block:
            stages.append(calls)
            calls = []
        for hop in range(2, hops + 1):
            out = {} if hop == hops else {"out": free.pop()}
            also = product(hop)
            width = self.width if "sparse" in block else min(DENSE, self.width)
            for begin in range(0, self.width, width):
                part = {key: also[key][begin : begin + width] for key in ("scale", "x") if also}
                calls.append((_native.one_hop, begin, width, block | out | sums | also | part))
            stages.append(calls)
            calls = []
            free[:0] = block.values() if "dense" in block else ()
            block = {"dense": out["out"]} if out else {}
        return stages, [*sums.values(), *free] if sums else free

    def _start(self, calls: Calls, before: Callable[[], object]) -> Callable[[], None]:
        """Kernels one after the other over the rows of all nodes, by all threads, once those ``before`` are done.

        What is returned waits until they are done; the caller prepares the next ones meanwhile.
        """
        graph, bounds, stop = self.context.transitions.kernel, self._bounds, self.engine.stop
        hops = [
            kernel(graph, first=first, width=width, power=self.power, **given) for kernel, first, width, given in calls
        ]
        taken = np.zeros(1, dtype=np.int64)
        threads = range(min(self.engine.n_jobs, len(bounds) - 1))
        before()
        return self.engine.start(lambda _: _native.take_hops(hops, bounds, taken, stop), threads)

    @cached_property
    def _bounds(self) -> NDArray[np.int64]:
        """Where ranges of rows begin, and the last one ends; what a row is does not depend on them.

        Each is what half of a thread's share of the rest would be, so that there are few, and the last ones are small:
        threads end together.
        """
        n, offsets = self.context.n_nodes, self.context.transitions.adjacency.indptr
        least = 1.0 / max(1, min(-(-n // LEAST_PIECE), LAST_PIECE * self.engine.n_jobs))
        ends, rest = [], 1.0
        while rest > least:
            rest -= max(least, rest / (2 * self.engine.n_jobs))
            ends.append(1.0 - rest)
        work = offsets + ROW_WORK * np.arange(n + 1, dtype=np.int64)
        cuts = np.searchsorted(work, work[-1] * np.array(ends[:-1]))
        return np.unique(np.concatenate([[0], cuts, [n]])).astype(np.int64)

    def _dense(self) -> Halves:
        """A panel in parts of columns that one pass over the edges reads: parts, rows and columns."""
        n, part = self.context.n_nodes, min(DENSE, self.width)
        numbers = aligned_zeros(-(-n * self.width // 32), 16).reshape(-1).view(np.uint16)
        return numbers[: n * self.width].reshape(self.width // part, n, part)

    @cached_property
    def _by_column(self) -> sp.csc_array:
        return sp.csc_array(self.context.features)

    @cached_property
    def _columns(self) -> _native.Csr:
        return kernel_csr(self._by_column)

    @cached_property
    def _exponents(self) -> NDArray[np.int32]:
        """Of the largest value of each column."""
        F = self._by_column
        largest = np.ones(F.shape[1], dtype=np.float32)
        filled = np.diff(F.indptr) > 0
        largest[filled] = np.maximum.reduceat(F.data, F.indptr[:-1][filled])
        return np.frexp(largest)[1].astype(np.int32)


def _dense_panels(scales: Sequence[Scale]) -> int:
    """Dense panels that are held at a time: one hop reads one and writes another, and sums over hops are a third."""
    return 2 + any(len(scale.hops) > 1 for scale in scales)
