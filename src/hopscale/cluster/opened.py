"""The work folder as one process sees it: the plan, and a context over maps. Opened once for all tasks of a fit."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from hopscale.cluster.maps import Maps, file_memory
from hopscale.cluster.plan import Plan
from hopscale.cluster.prepared import FOLDER, TABLES, edges_of, tables_of
from hopscale.compute.aligned import Floats, padded
from hopscale.stored import StoredGraph
from hopscale.walks.mapped import MappedContext, MappedCsr, MappedTransitions

__all__ = ["Opened", "close", "opened"]

Made = TypeVar("Made")


class Opened:
    """What tasks read."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.plan = Plan.load(folder)
        self.maps = Maps(file_memory(self.plan.memory))
        self.graph = StoredGraph.open(self.plan.graph, validate=False)
        self.maps.add(*self.graph.maps)
        self._lock = threading.RLock()
        self._made: dict[str, Any] = {}

    def context(self) -> MappedContext:
        """Walks, and what they see; made once, and ready for kernels."""
        with self._lock:
            return self._context

    @cached_property
    def _context(self) -> MappedContext:
        edges: Any = edges_of(self.graph)
        weighted = self.path("weights").exists()
        n, plan = self.graph.n_nodes, self.plan
        tables = {
            name: self.map(name, TABLES[name][0], (n if TABLES[name][1] == "nodes" else self.graph.links,))
            for name in tables_of(weighted)
        }
        transitions = MappedTransitions(edges, *plan.bias, tables=tables)
        values = self.map("context_values", np.float32)
        if self.path("context_columns").exists():
            offsets = self.map("context_offsets", np.int64, (n + 1,))
            columns = self.map("context_columns", np.int32, (len(values),))
        else:
            offsets, columns = self.graph.feature_offsets, self.graph.feature_columns
        width = self.probabilities.shape[1]
        features: Any = MappedCsr(np.asarray(offsets), np.asarray(columns), values, (n, width))
        context = MappedContext(transitions, features, plan.start)
        _ = transitions.kernel, context.kernel_features  # made once, before threads ask for them
        return context

    @cached_property
    def probabilities(self) -> NDArray[np.float64]:
        """p(f) of each scale."""
        return np.load(self.path("probabilities"))

    @cached_property
    def scalings(self) -> NDArray[np.float32]:
        """What the direct solver multiplies by, of each scale."""
        return np.load(self.path("scalings"))

    def path(self, name: str) -> Path:
        """A file of the first stage."""
        return self.folder / FOLDER / f"{name}.npy"

    def map(self, name: str, dtype: Any, shape: tuple[int, ...] | None = None) -> NDArray[Any]:
        """A file of the first stage as an array."""
        return self.maps.open(self.path(name), dtype, shape)

    def table(self, name: str, rows: int, dimensions: int) -> Floats:
        """Vectors that a task has written, in rows as kernels take them; mapped once."""
        shape = (rows, padded(dimensions))
        return self.once(name, lambda: self.maps.open(self.folder / f"{name}.npy", np.float32, shape))

    def once(self, name: str, make: Callable[[], Made]) -> Made:
        """What a function makes, which is called once in this process."""
        with self._lock:
            if name not in self._made:
                self._made[name] = make()
            found: Made = self._made[name]
            return found


_opened: dict[str, Opened] = {}
_opening = threading.Lock()


def opened(work: str) -> Opened:
    """The work folder; a process has one fit open at a time."""
    with _opening:
        if work not in _opened:
            _opened.clear()
            _opened[work] = Opened(Path(work))
        return _opened[work]


def close(work: str) -> None:
    """Forget a work folder that is no longer needed."""
    with _opening:
        _opened.pop(work, None)
