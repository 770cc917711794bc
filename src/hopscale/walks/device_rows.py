"""Exact rows on a device of PyTorch: columns of the target matrix, some at a time, for all nodes or for some.

A block of columns of F is propagated through the graph; each hop is one step from the last. The first step starts from
the few entries that these columns have, further ones multiply dense blocks, the last one computes no more rows than are
asked for. Blocks in half precision halve what a step reads: columns are in units in which their largest value fits.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hopscale.walks.context import LARGEST, Scale, WalkContext, too_far_apart
from hopscale.walks.size import WalkSize

if TYPE_CHECKING:
    from torch import Tensor

    from hopscale.compute.torch import Torch
    from hopscale.compute.torch_plain import Csr

__all__ = ["DeviceContext", "DeviceRows"]

WORTH_SORTING = 1000  # multiplications of dense blocks that take as long as a product that is sorted
KEPT, SPARE = 8, 3  # bytes of an entry of PF, and times that much must be free to keep all
HALF_ROUNDING = 2.0**-11  # by which half precision may put a ratio of one above it
HALF_RANGE, HALF_DIGITS = 15, 14  # powers of two above 1 that half precision holds, and below with all digits


class DeviceContext:
    """Walks and what they see, feature f in the unit 2^exponents[f], copied to a device once."""

    def __init__(self, context: WalkContext, exponents: NDArray[np.int32], engine: Torch) -> None:
        import torch  # whoever has such an engine has it

        self.context, self.engine, F = context, engine, context.features
        self.offsets = engine.tensor(F.indptr.astype(np.int64))
        self.columns = engine.tensor(F.indices.astype(np.int32, copy=False))
        units = engine.tensor(exponents)[self.columns]
        self.values = torch.ldexp(engine.tensor(F.data).double(), -units).float()  # 2^units may be no float32
        self.largest = torch.zeros(context.n_features, device=engine.device)
        self.largest.scatter_reduce_(0, self.columns.to(torch.int64), self.values, "amax")
        if float(self.largest.max()) >= LARGEST:
            raise too_far_apart()
        self.rows = torch.arange(context.n_nodes, dtype=torch.int32, device=engine.device).repeat_interleave(
            self.offsets.diff()
        )

    def check_ratios(self, scaling: NDArray[np.float32]) -> None:
        """Refuse features whose largest value times their scaling is too large for single precision."""
        if float((self.largest.double() * self.engine.tensor(scaling)).max()) >= LARGEST:
            raise too_far_apart()

    def half_units(self, pooled: int) -> Tensor:
        """Exponents of units in which half precision holds sums of so many hops, for each feature."""
        import torch

        most = HALF_RANGE - (pooled - 1).bit_length()
        return (torch.frexp(self.largest).exponent - most).clamp_min_(0)

    def half_holds(self, scaling: NDArray[np.float32], pooled: int) -> bool:
        """Whether half precision holds all features' ratios near one beside the largest values.

        It does not where a feature is very rare: what walks meet of it everywhere would be rounded to nothing.
        """
        import torch

        there = self.engine.tensor(scaling)
        at_one = self.half_units(pooled) + torch.frexp(there).exponent
        return bool((at_one[there > 0] <= HALF_DIGITS).all())

    @cached_property
    def step(self) -> Csr:
        """P by rows: where weights are equal, no more than where its entries are."""
        transitions = self.context.transitions
        A = transitions.adjacency
        if transitions.weighted:
            return self.engine.csr(transitions.matrix())
        degrees = np.diff(A.indptr).astype(np.float64)
        inverse = np.divide(1.0, degrees, out=np.zeros_like(degrees), where=degrees > 0)
        return self.engine.csr(A, inverse, weighted=False)

    @cached_property
    def step_back(self) -> Csr:
        """Pᵀ by rows."""
        return self.step.transposed()

    def own_rows(self, scaling: NDArray[np.float32]) -> Csr:
        """Positive entries of log(scaling · F): scale 0, where no walk is taken."""
        import torch

        from hopscale.compute.torch_plain import Csr

        logs = (self.values * self.engine.tensor(scaling)[self.columns]).clamp_min_(1.0).log_()
        positive = logs > 0
        counts = torch.bincount(self.rows[positive], minlength=self.context.n_nodes)
        offsets = torch.nn.functional.pad(counts.cumsum(0), (1, 0))
        return Csr(offsets, self.columns[positive], logs[positive], None, self.context.n_features)


class DeviceRows:
    """Sums of PʳF over at most ``pooled`` hops, ``width`` columns at a time; PF is kept if there is room for it."""

    def __init__(
        self, there: DeviceContext, width: int, *, half: bool = False, pooled: int = 1, keep: bool = False
    ) -> None:
        import torch

        self.engine, self.width, self._there, self._torch = there.engine, width, there, torch
        self._n, features = there.context.n_nodes, there.context.n_features
        self.count = -(-features // width)
        self._dtype, self._rounding = (torch.float16, HALF_ROUNDING) if half else (torch.float32, 0.0)
        self._units = torch.zeros(self.count * width, dtype=torch.int32, device=self.engine.device)
        if half:
            self._units[:features] = there.half_units(pooled)
        self._kept: dict[int, tuple[Tensor, Tensor]] = {}
        self._keep = keep and SPARE * KEPT * sum(self._by_block[2]) < self.engine.room

    @staticmethod
    def workspace(size: WalkSize, scales: Sequence[Scale], width: int, *, half: bool) -> float:
        """Bytes that computing a block takes, with the graph."""
        n, edges, entries = size.n_nodes, size.steps, size.entries
        graph = 24.0 * edges + 48.0 * entries + 32.0 * (n + size.n_features)
        pooled = sum(len(scale.hops) > 1 for scale in scales)
        first = 64.0 * min(edges * width / WORTH_SORTING, entries / size.n_features * width * edges / n)
        return graph + first + float(n) * width * (2 + pooled) * (2 if half else 4)

    def scaling(self, scaling: NDArray[np.float32], scale: Scale) -> Tensor:
        """The scaling of a scale's sums, in the units of the blocks.

        In half precision less what rounding may add: a feature that is met everywhere has a ratio of one, and is not to
        pass for one that is met more often than elsewhere.
        """
        padded = np.zeros(self.count * self.width)
        padded[: len(scaling)] = scaling * (1.0 - self._rounding) / len(scale.hops)
        return self._torch.ldexp(self.engine.tensor(padded), self._units).float()

    def padded(self, basis: Tensor) -> Tensor:
        """Rows of zeros below a basis, so that each block has as many."""
        below = self.count * self.width - len(basis)
        return self._torch.nn.functional.pad(basis, (0, 0, 0, below)).contiguous()

    def blocks(self, scales: Sequence[Scale], nodes: Tensor | None = None) -> Iterator[tuple[slice, int, Tensor]]:
        """Sums of PʳF over the hops of each scale: which columns, the scale's number, and a block of all rows or some.

        A block holds until the next is asked for.
        """
        torch, product = self._torch, self.engine.kernels.product
        hops = {hop for scale in scales for hop in scale.hops}
        step, last = self._there.step, max(hops)
        final = step if nodes is None else step.rows(nodes)
        place = {"dtype": self._dtype, "device": self.engine.device}
        block, other = (torch.empty((self._n, self.width), **place) for _ in range(2))
        few = other if nodes is None else torch.empty((len(nodes), self.width), **place)
        for j in range(self.count):
            totals: dict[int, Tensor] = {}
            begin = 1 if 0 not in hops and self._is_worth_sorting(j) else 0
            (self._first_hop if begin else self._features)(j, block)
            for hop in range(begin, last + 1):
                cut = nodes is not None and hop == last > begin
                if cut:
                    product(final, block, few)
                elif hop > begin:
                    product(step, block, other)
                    block, other = other, block
                if hop not in hops:
                    continue
                here = few if cut else block if nodes is None else block[nodes]
                for i, scale in enumerate(scales):
                    if hop not in scale.hops:
                        continue
                    if len(scale.hops) > 1:
                        totals[i] = totals[i].add_(here) if i in totals else here.clone()
                    if hop == scale.hops[-1]:
                        yield slice(j * self.width, (j + 1) * self.width), i, totals.pop(i, here)

    @cached_property
    def _by_block(self) -> tuple[Tensor, list[int], list[int]]:
        """Entries of F in the order of the blocks, rows in order within each; where blocks begin; and their work.

        The work of a block is the number of products that PF takes there.
        """
        torch, there = self._torch, self._there
        block = torch.div(there.columns, self.width, rounding_mode="floor")
        order = block.argsort(stable=True)
        begins = [0, *torch.bincount(block, minlength=self.count).cumsum(0).tolist()]
        work = there.step_back.offsets.diff()[there.rows[order]].cumsum(0)
        until = torch.nn.functional.pad(work, (1, 0))[torch.tensor(begins, device=work.device)]
        return order, begins, until.diff().tolist()

    def _is_worth_sorting(self, j: int) -> bool:
        return WORTH_SORTING * self._by_block[2][j] < len(self._there.step.indices) * self.width

    def _entries(self, j: int) -> tuple[Tensor, Tensor, Tensor]:
        """Rows, columns within the block and values of its entries of F."""
        order, begins, _ = self._by_block
        entries = order[begins[j] : begins[j + 1]]
        columns = self._there.columns[entries]
        values = self._torch.ldexp(self._there.values[entries], -self._units[columns])
        return self._there.rows[entries], columns - j * self.width, values

    def _features(self, j: int, out: Tensor) -> None:
        """out = F."""
        rows, columns, values = self._entries(j)
        out.zero_()
        out[rows.long(), columns.long()] = values.to(out.dtype)

    def _first_hop(self, j: int, out: Tensor) -> None:
        """out = PF, from the products of their entries: sorted by where they belong, and added up in that order."""
        torch, back = self._torch, self._there.step_back
        assert back.values is not None
        if j not in self._kept:
            rows, columns, values = self._entries(j)
            counts = back.offsets.diff()[rows]
            which = torch.arange(len(rows), device=rows.device)
            which = which.repeat_interleave(counts, output_size=self._by_block[2][j])
            at = torch.arange(len(which), device=rows.device)
            at += (back.offsets[rows] - counts.cumsum(0) + counts)[which]
            wide = self._n * self.width >= 2**31
            nodes = back.indices[at].long() if wide else back.indices[at]
            places, order = (nodes * self.width + columns[which]).sort(stable=True)
            products = (back.values[at] * values[which])[order]
            places, counts = torch.unique_consecutive(places, return_counts=True)
            offsets = torch.nn.functional.pad(counts.cumsum(0), (1, 0))
            sums = self.engine.kernels.segment_sums(products, offsets)
            self._kept[j] = places, sums.to(out.dtype)
        places, sums = self._kept[j] if self._keep else self._kept.pop(j)
        out.zero_()
        out.view(-1)[places.long()] = sums
