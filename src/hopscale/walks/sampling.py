"""Rows of the target matrix that are estimated from sampled walks, and the noise that training draws."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hopscale._core import _native
from hopscale.compute.aligned import Floats, aligned, aligned_empty
from hopscale.compute.operators import Operator
from hopscale.compute.threads import Threads, checkpoint, ranges
from hopscale.walks.context import Scale, WalkContext
from hopscale.walks.panels import PanelMatrix, squares
from hopscale.walks.size import WalkSize

__all__ = [
    "ENOUGH_ROWS",
    "LEAST_ROWS",
    "ListedRows",
    "NoiseLayout",
    "RowCounts",
    "RowSampler",
    "drawn_nodes",
    "noise_layout",
]

Task = TypeVar("Task")

CHUNK = 128  # rows that become panels in one go
PANEL_WIDTH = 256  # columns of a panel
PROJECTED = 1024  # rows that a thread projects in one go
TOGETHER = 2**18  # their entries that are multiplied at once
LISTED = 24.0  # bytes of an entry of rows that are lists, and of their transpose, while they are made
TRIAL = 256  # rows that tell how many entries all have
LEAST_ROWS = 4  # to learn a dimension from, however small the memory limit
ENOUGH_ROWS = 2**14  # to learn from, however large it is


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


class RowCounts:
    """Memory that sampled rows of a scale take, and how many are learnt from: known from the entries of a row."""

    scale: Scale

    @property
    def size(self) -> WalkSize:
        """Counts of the graph and of what walks see."""
        raise NotImplementedError

    @property
    def row_entries(self) -> float:
        """Entries of a row, in the mean."""
        raise NotImplementedError

    @property
    def row_ways(self) -> list[float]:
        """Ways that the walks of a row take up to each hop, in the mean."""
        raise NotImplementedError

    @property
    def row_met(self) -> float:
        """Features that the walks of a row meet at the hops of the scale, and nodes that they pass on the way."""
        seen = max(1.0, self.size.entries_per_node)
        return sum(ways * (seen if hop in self.scale.hops else 1.0) for hop, ways in enumerate(self.row_ways, start=1))

    @property
    def row_bytes(self) -> float:
        """Memory of a row, in the mean."""
        return min(self._panelled_bytes, self._listed_bytes)

    @property
    def are_listed(self) -> bool:
        """Whether rows are held as lists of entries: panels, with an offset for every row in each, would take more."""
        return self._listed_bytes < self._panelled_bytes

    @property
    def _panelled_bytes(self) -> float:
        return 5.0 * self.row_entries + 4 * self._panels_of_row

    @property
    def _listed_bytes(self) -> float:
        return LISTED * self.row_entries + 8

    @property
    def made_bytes(self) -> float:
        """Memory of a row while it is made, as part of a list or of panels."""
        return 32.0 * self.row_entries + 64

    @property
    def bytes_needed(self) -> float:
        """Memory that the rows of all nodes would take."""
        return self.size.n_nodes * self.row_bytes

    @property
    def most_bytes(self) -> float:
        """Memory that a row can take at most."""
        return 5.0 * self.size.n_features + 4 * self._panels_of_row

    @property
    def _panels_of_row(self) -> int:
        return -(-self.size.n_features // PANEL_WIDTH)

    @property
    def least_rows(self) -> int:
        """Rows that are learnt from at least."""
        return min(self.size.n_nodes, LEAST_ROWS * self.scale.dimensions)

    def enough_rows(self, memory: float) -> int:
        """Rows that are learnt from, as many as so many bytes hold, but no more than are of use."""
        capacity = memory * self.size.n_nodes / self.bytes_needed
        return int(max(min(capacity, ENOUGH_ROWS), LEAST_ROWS * self.scale.dimensions))


def drawn_nodes(
    degrees: NDArray[np.float64], capacity: int, seed: int
) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    """About so many nodes to learn from, and what their rows are multiplied by.

    Nodes are drawn systematically with a probability π that grows with the degree; a row is divided by √π, so that MᵀM
    keeps its expectation.
    """
    share = degrees + degrees.mean()
    chance = np.minimum(1.0, share * (capacity / share.sum()))
    ticks = np.floor(np.cumsum(chance) + np.random.default_rng([seed, 1]).random())
    nodes = np.flatnonzero(np.diff(ticks, prepend=0.0) > 0).astype(np.int32)
    return nodes, (1.0 / np.sqrt(chance[nodes])).astype(np.float32)


class ListedRows(Operator):
    """Rows with few entries for their number of columns, as a sparse matrix and its transpose."""

    def __init__(self, blocks: list[sp.csr_array], engine: Threads) -> None:
        matrix = sp.csr_array(sp.vstack(blocks, format="csr"))
        blocks.clear()  # before the transpose is made
        self.shape, self.entries = (int(matrix.shape[0]), int(matrix.shape[1])), int(matrix.nnz)
        self._squared_norm, self._filled = squares(matrix.data), np.diff(matrix.indptr) > 0
        self._products = engine.sparse(matrix)

    def squared_norm(self) -> float:
        """‖M‖², Frobenius."""
        return self._squared_norm

    def filled_rows(self) -> NDArray[np.bool_]:
        """Whether each row has an entry."""
        return self._filled

    def _times(self, x: Floats) -> Floats:
        return self._products @ x

    def _transposed_times(self, y: Floats) -> Floats:
        return self._products.T @ y


@dataclass(frozen=True, eq=False)
class RowSampler(RowCounts):
    """Positive entries of log(scaling · mean PʳF) to a power, row by row: PʳF from ``walks`` ways to walk at most.

    A node's row is exact where there are no more ways than that. Rows that are being made take an eighth of the memory
    of the engine.
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
        offsets, columns, values = _native.sample_rows(nodes=nodes, **self._task)
        checkpoint()  # told to stop, the kernel returns fewer rows
        return sp.csr_array((values, columns, offsets), shape=(len(nodes), self.context.n_features))

    @property
    def _task(self) -> dict[str, Any]:
        """What the kernels make rows from."""
        return {
            "graph": self.context.transitions.kernel,
            "features": self.context.kernel_features,
            "walks": self.walks,
            "hops": self.scale.mask,
            "scale": self.scaling,
            "power": self.power,
            "seed": self.seed,
            "stream": self.scale.hops[-1],
            "stop": self.engine.stop,
        }

    def _lists(self, nodes: NDArray[np.int32], weights: NDArray[np.float32] | None) -> sp.csr_array:
        """The rows of some nodes, each times a weight, as they are."""
        found = self.rows(nodes)
        if weights is not None:
            found.data *= np.repeat(weights, np.diff(found.indptr))
        return found

    def _panels(self, nodes: NDArray[np.int32], weights: NDArray[np.float32] | None = None) -> _native.Panels:
        """The rows of some nodes in panels of columns, which take least memory and multiply both ways."""
        found = _native.sample_panels(nodes=nodes, width=PANEL_WIDTH, weights=weights, **self._task)
        checkpoint()  # told to stop, the kernel returns fewer rows
        return found

    @property
    def size(self) -> WalkSize:
        """Counts of the graph and of what walks see."""
        return self.context.size

    @cached_property
    def row_entries(self) -> float:
        """Entries of a row in the mean, told by some of them."""
        trial = self._trial
        pieces = [trial[slice(*piece)] for piece in ranges(len(trial), TRIAL // 16)]
        return sum(self.engine.map(lambda nodes: self.rows(nodes).nnz, self._ready(pieces))) / len(trial)

    @cached_property
    def row_ways(self) -> list[float]:
        """Ways that the walks of a row take up to each hop, told by some of them."""
        return self.context.ways(self._trial, self.scale.hops[-1], self.walks)

    @property
    def _trial(self) -> NDArray[np.int32]:
        """Some nodes that tell of all."""
        n = self.context.n_nodes
        return np.unique(np.linspace(0, n - 1, min(n, TRIAL)).astype(np.int32))

    def _ready(self, tasks: Sequence[Task]) -> Sequence[Task]:
        _ = self.context.transitions.kernel, self.context.kernel_features  # made once, before threads ask for them
        return tasks

    @property
    def most_bytes(self) -> float:
        """Memory that a row of this matrix can take at most."""
        widest = int(np.diff(self.context.features.indptr).max(initial=1))
        entries = min(self.context.n_features, (self.walks + 1) * len(self.scale.hops) * widest)
        return 5.0 * entries + 4 * self._panels_of_row

    def learning_rows(self, memory: float) -> tuple[PanelMatrix | ListedRows, bool]:
        """Rows to learn from, as many as fit ``memory`` bytes, and whether these are the rows of all nodes.

        Where not all are taken, they are those of :func:`drawn_nodes`.
        """
        n, capacity = self.context.n_nodes, self.enough_rows(memory)
        if capacity >= n:
            return self.all_rows(), True
        return self._matrix(*drawn_nodes(self.context.transitions.degrees, capacity, self.seed)), False

    def all_rows(self) -> PanelMatrix | ListedRows:
        """The rows of all nodes."""
        return self._matrix(np.arange(self.context.n_nodes, dtype=np.int32))

    def project(self, basis: Floats) -> Floats:
        """M·basis for all nodes, rows made and dropped."""
        right, n = aligned(basis), self.context.n_nodes
        out = aligned_empty(n, basis.shape[1])
        at_once = self.engine.at_once(8.0 * (self._together + 2 * self.context.n_features))
        with self.engine.bar(n, f"scale {self.scale.label}: project", "node") as bar:

            def one(piece: tuple[int, int]) -> int:
                self.project_some(*piece, right, out[slice(*piece)])
                return piece[1] - piece[0]

            for done in self.engine.map(one, self._ready(ranges(n, PROJECTED)), at_once=at_once):
                bar.update(done)
        return out[:, : basis.shape[1]]

    def project_some(self, begin: int, end: int, right: Floats, out: Floats) -> None:
        """M·right for some consecutive nodes, into ``out``; both in the padded rows that kernels take."""
        nodes = np.arange(begin, end, dtype=np.int32)
        _native.project_rows(nodes=nodes, x=right, y=out, together=self._together, **self._task)

    @property
    def _together(self) -> int:
        """Entries of rows that are multiplied at once."""
        memory = self.engine.memory
        return TOGETHER if memory is None else int(np.clip(memory / 16 / 8, 1, TOGETHER))

    def _matrix(self, nodes: NDArray[np.int32], weights: NDArray[np.float32] | None = None) -> PanelMatrix | ListedRows:
        """The rows of some nodes, each times a weight."""
        make: Callable[..., Any] = self._lists if self.are_listed else self._panels

        def one(piece: tuple[int, int]) -> tuple[Any, int]:
            some = slice(*piece)
            return make(nodes[some], None if weights is None else weights[some]), piece[1] - piece[0]

        blocks = []
        with self.engine.bar(len(nodes), f"scale {self.scale.label}: rows", "node") as bar:
            pieces = self._ready(ranges(len(nodes), self._chunk))
            at_once = self.engine.at_once(self._chunk * self.made_bytes)
            for block, count in self.engine.map(one, pieces, at_once=at_once, kept=True):
                blocks.append(block)
                bar.update(count)
        if self.are_listed:
            return ListedRows(blocks, self.engine)
        return PanelMatrix(blocks, self.context.n_features, PANEL_WIDTH, self.engine)

    @property
    def _chunk(self) -> int:
        """Rows that become panels together: fewer where memory is short."""
        memory = self.engine.memory
        return CHUNK if memory is None else int(np.clip(memory / 8 / self.made_bytes, 1, CHUNK))
