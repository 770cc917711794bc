"""Node-feature statistics at each scale: what the solvers factorise or sample.

A adjacency, D degrees, c = ΣA, P = D⁻¹A, F context matrix (n×q), E = diag(1ᵀDF). The probability of
feature f under the stationary walk is p(f) = E_ff/c, and PMI(v, f) = log((PʳF)_vf / p(f)).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hopscale._core import _native
from hopscale.exceptions import ParameterError
from hopscale.parallel import Workers, ranges
from hopscale.walks import Start, WalkGraph

__all__ = ["Pairs", "Panel", "Scale", "positive_logs", "split_dimensions"]

Block = NDArray[np.float32]

SPARSE = 8  # an entry of F on its own is as much work as so many in a block
ROWS = 4096  # rows of a block that are compressed in one go; their scratch space fits the cache


@dataclass(frozen=True)
class Scale:
    """One block of dimensions: the mean over some numbers of hops.

    ``Scale((2,), 32)`` is the context two hops away, ``Scale((1, 2, 3), 128)`` pools three.
    """

    hops: tuple[int, ...]
    dimensions: int

    @property
    def label(self) -> str:
        """Name of the scale: ``"2"`` or ``"1-3"``."""
        return str(self.hops[0]) if len(self.hops) == 1 else f"{self.hops[0]}-{self.hops[-1]}"

    @property
    def mask(self) -> int:
        """Bit r is set when hop r counts; what the kernels read."""
        return sum(1 << hop for hop in self.hops)

    @property
    def is_self(self) -> bool:
        """Whether this is a node's own features, without any walk."""
        return self.hops == (0,)


def split_dimensions(dimensions: int, hop_groups: Sequence[tuple[int, ...]]) -> list[Scale]:
    """Share ``dimensions`` out as evenly as possible over hops; a pooled scale gets its hops' shares.

    >>> [s.dimensions for s in split_dimensions(128, [(1,), (2,), (3,)])]
    [43, 43, 42]
    >>> [s.dimensions for s in split_dimensions(128, [(0,), (1, 2, 3)])]
    [32, 96]
    """
    hops = sum(len(group) for group in hop_groups)
    base, extra = divmod(dimensions, hops)
    shares = iter([base + 1] * extra + [base] * (hops - extra))
    return [Scale(group, sum(next(shares) for _ in group)) for group in hop_groups]


@dataclass(frozen=True)
class Panel:
    """Positive entries of a block of consecutive columns, row by row."""

    offsets: NDArray[np.uint32]
    columns: NDArray[np.uint8]
    values: NDArray[np.float32]

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return self.offsets.nbytes + self.columns.nbytes + self.values.nbytes


@dataclass(frozen=True)
class Pairs:
    """A graph's walks and the context that they see; see :meth:`WalkGraph.of` for ``back`` and ``away``."""

    adjacency: sp.csr_array
    context: sp.csr_array
    back: float = 1.0
    away: float = 1.0
    walks: WalkGraph = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "walks", WalkGraph.of(self.adjacency, back=self.back, away=self.away))

    @classmethod
    def of_nodes(cls, adjacency: sp.csr_array, back: float = 1.0, away: float = 1.0) -> Pairs:
        """Walks that see the nodes themselves, F = I."""
        n = adjacency.shape[0]
        return cls(adjacency, sp.csr_array(sp.eye_array(n, dtype=np.float32, format="csr")), back, away)

    @property
    def sees_nodes(self) -> bool:
        """Whether the context of a walk is the nodes themselves."""
        F = self.context
        one_each = F.shape[0] == F.shape[1] == F.nnz and bool((F.data == 1).all())
        return one_each and bool((F.indices == np.arange(F.nnz)).all() and (np.diff(F.indptr) == 1).all())

    @property
    def n_nodes(self) -> int:
        """Number of nodes, n."""
        return int(self.context.shape[0])

    @property
    def n_features(self) -> int:
        """Number of columns of the context, q."""
        return int(self.context.shape[1])

    @cached_property
    def _by_column(self) -> sp.csc_array:
        return sp.csc_array(self.context)

    @cached_property
    def native_context(self) -> _native.Csr:
        """The context as the kernels take it."""
        return _native_csr(self.context, self.n_features)

    @cached_property
    def _native_by_column(self) -> _native.Csr:
        return _native_csr(self._by_column, self.n_nodes)

    def feature_probability(self, scale: Scale, start: Start = "degree") -> NDArray[np.float64]:
        """Probability p(f) of each feature for walks that start in proportion to degree, E_ff/c, or at every node.

        No walk is taken at scale 0, so nodes count equally there, isolated ones too (measured:
        better than weighting them by degree).
        """
        n, degrees = self.n_nodes, self.walks.degrees
        if scale.is_self:
            weights = np.full(n, 1.0 / n)
        elif start == "degree":
            weights = degrees / max(degrees.sum(), 1e-300)  # where walks are stays the same, hop after hop
        else:
            weights, here = np.zeros(n), np.full(n, 1.0 / n)
            inverse = np.divide(1.0, degrees, out=np.zeros(n), where=degrees > 0)
            for hop in range(1, scale.hops[-1] + 1):
                here = np.asarray((here * inverse) @ self.adjacency)
                weights += here * (hop in scale.hops) / len(scale.hops)
        return np.asarray(weights @ self.context.astype(np.float64)).ravel()

    def own_rows(self, scaling: NDArray[np.float32]) -> sp.csr_array:
        """Positive entries of log(scaling · F): scale 0, where no walk is taken."""
        F = self.context
        return positive_logs(F, F.data * scaling[F.indices])

    def neighbor_rows(self, scaling: NDArray[np.float32]) -> sp.csr_array:
        """Positive entries of log(scaling · P): one hop between nodes, where the matrix is as sparse as A."""
        A = self.adjacency
        inverse = np.divide(1.0, self.walks.degrees, out=np.zeros(self.n_nodes), where=self.walks.degrees > 0)
        return positive_logs(A, np.repeat(inverse, np.diff(A.indptr)) * A.data * scaling[A.indices])

    def sees_features(self, scale: Scale) -> NDArray[np.bool_]:
        """Whether a walk from each node can meet any feature at this scale."""
        here = np.diff(self.context.indptr) > 0
        seen = np.zeros(self.n_nodes, dtype=np.bool_)
        for hop in range(scale.hops[-1] + 1):
            if hop:
                here = (self.adjacency @ here.astype(np.float32)) > 0
            if hop in scale.hops:
                seen |= here
        return seen

    def work(self, scales: Sequence[Scale]) -> float:
        """Multiplications that exact panels of these scales take."""
        return float(max(max(s.hops) for s in scales)) * self.adjacency.nnz * self.n_features

    def panel_workspace(self, width: int) -> int:
        """Bytes that one thread needs to compute a panel."""
        return 3 * 4 * self.n_nodes * width + 5 * ROWS * width

    def panels(
        self,
        scales: Sequence[Scale],
        scalings: Sequence[NDArray[np.float32]],
        *,
        width: int,
        order: Sequence[int],
        workers: Workers,
        at_once: int | None = None,
    ) -> Iterator[list[Panel]]:
        """Exact positive entries of log(scaling · mean PʳF), a panel of ``width`` columns at a time.

        Propagating a few columns of F through the graph keeps the block in cache, and each hop is one
        step from the last, so all scales cost no more than the longest. Panels come in ``order``.
        """

        _ = self._native_by_column, self.walks.native  # made once, before threads ask for them
        spare: deque[Block] = deque()  # blocks that are used again: fresh memory costs as much as a hop

        def compute(j: int) -> list[Panel]:
            return self._panel(scales, scalings, j * width, width, spare)

        return workers.map(compute, order, at_once=at_once)

    def _panel(
        self,
        scales: Sequence[Scale],
        scalings: Sequence[NDArray[np.float32]],
        first: int,
        width: int,
        spare: deque[Block],
    ) -> list[Panel]:
        n, last = self.n_nodes, min(first + width, self.n_features)
        block, other = (_block(spare, n, width) for _ in range(2))
        pooled: dict[int, NDArray[np.float32]] = {}
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
                _native.first_hop(self.walks.native, self._native_by_column, first, last, block)
            else:
                _native.propagate(self.walks.native, block, other)
                block, other = other, block
            for i, scale in enumerate(scales):
                if hop not in scale.hops:
                    continue
                total = block
                if len(scale.hops) > 1:
                    total = pooled.setdefault(i, np.zeros_like(block))
                    np.add(total, block, out=total)
                if hop == scale.hops[-1]:
                    scaling = np.zeros(width, dtype=np.float32)
                    scaling[: last - first] = scalings[i][first:last] / len(scale.hops)
                    panels[i] = _compressed(total, scaling)
                    pooled.pop(i, None)
        spare.extend((block, other))
        return [panels[i] for i in range(len(scales))]

    def sampled_rows(
        self,
        scale: Scale,
        scaling: NDArray[np.float32],
        nodes: NDArray[np.int32],
        *,
        walks: int,
        seed: int,
        stop: NDArray[np.uint8],
    ) -> sp.csr_array:
        """The same entries for some nodes, with PʳF estimated from ``walks`` walks of each node."""
        offsets, columns, values = _native.sample_rows(
            self.walks.native,
            self.native_context,
            nodes,
            walks,
            scale.mask,
            scaling,
            seed,
            scale.hops[-1],
            stop,
        )
        return sp.csr_array((values, columns, offsets), shape=(len(nodes), self.n_features))


def _block(spare: deque[Block], rows: int, width: int) -> Block:
    """A block of any content: one used before, if there is one."""
    try:
        return spare.pop()
    except IndexError:
        return np.empty((rows, width), dtype=np.float32)


def _compressed(block: NDArray[np.float32], scaling: NDArray[np.float32]) -> Panel:
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
                f"{width} columns of the matrix have more than 2³² positive entries: a smaller memory_limit makes "
                "panels narrower"
            )
        piece += before
        columns.append(scratch_columns[:count].copy())
        values.append(scratch_values[:count].copy())
    return Panel(offsets, np.concatenate(columns), np.concatenate(values))


def _native_csr(matrix: sp.csr_array | sp.csc_array, n_columns: int) -> _native.Csr:
    """A compressed matrix as the kernels take it; one by columns is its transpose by rows."""
    return _native.Csr(
        matrix.indptr.astype(np.int64),
        matrix.indices.astype(np.int32, copy=False),
        matrix.data.astype(np.float32, copy=False),
        n_columns,
    )


def positive_logs(pattern: sp.csr_array, ratios: NDArray[Any]) -> sp.csr_array:
    """Logarithms of the ratios above 1, one for each entry of the pattern, where it has them."""
    values = np.log(np.maximum(ratios, 1.0)).astype(np.float32)
    found = sp.csr_array((values, pattern.indices, pattern.indptr), shape=pattern.shape, copy=True)
    found.eliminate_zeros()
    return found
