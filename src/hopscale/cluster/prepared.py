"""The first stage of a fit: what all later tasks need of the graph, as files that they map.

Files in the folder ``prepared``: degrees and tables of the walk, the context matrix as the solver sees it, and
probabilities of its columns. Everything is read in blocks of rows, and written as it comes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hopscale.cluster.maps import Maps, file_memory
from hopscale.cluster.plan import Plan
from hopscale.compute.chunks import ranges
from hopscale.exceptions import GraphError, Setting
from hopscale.solvers import PMI
from hopscale.solvers.targets import units_near
from hopscale.stored import StoredGraph
from hopscale.stored.arrays import save_array, save_pieces
from hopscale.walks import WalkContext
from hopscale.walks.context import check_largest, in_units
from hopscale.walks.mapped import MappedCsr, MappedTransitions
from hopscale.walks.transitions import row_blocks, row_sums, walk_tables

__all__ = ["FOLDER", "TABLES", "edges_of", "prepare", "tables_of"]

FOLDER = "prepared"
# Tables of the walk by name: type, and whether they have a number for each node or for each edge.
TABLES: dict[str, tuple[Any, str]] = {
    "degrees": (np.float64, "nodes"),
    "inverse_degrees": (np.float32, "nodes"),
    "weights": (np.float32, "edges"),
    "keep": (np.float32, "edges"),
    "other": (np.int32, "edges"),
    "exponents": (np.int32, "nodes"),
}


@dataclass(frozen=True, eq=False)
class _ContextRows:
    """The context matrix of a stored graph: features, nodes or both; rows are made when they are asked for."""

    features: MappedCsr
    kind: str

    @property
    def shape(self) -> tuple[int, int]:
        n, q = self.features.shape
        return n, (self.kind != "nodes") * q + (self.kind != "features") * n

    @property
    def nnz(self) -> int:
        return (self.kind != "nodes") * self.features.nnz + (self.kind != "features") * self.features.shape[0]

    @property
    def dtype(self) -> np.dtype[np.float32]:
        return self.features.dtype

    @property
    def indptr(self) -> NDArray[np.int64]:
        """Where rows begin among all entries."""
        if self.kind == "features":
            return self.features.indptr
        own: NDArray[np.int64] = np.arange(self.shape[0] + 1, dtype=np.int64)
        return own if self.kind == "nodes" else own + self.features.indptr

    def rows(self, begin: int, end: int) -> sp.csr_array:
        """Some consecutive rows."""
        n, count = self.features.shape[0], end - begin
        own = (np.ones(count, np.float32), np.arange(begin, end), np.arange(count + 1))
        identity = sp.csr_array(own, shape=(count, n))
        if self.kind == "features":
            return self.features.rows(begin, end)
        if self.kind == "nodes":
            return identity
        return sp.csr_array(sp.hstack([self.features.rows(begin, end), identity], format="csr"))


def edges_of(graph: StoredGraph) -> MappedCsr:
    """The adjacency matrix of a stored graph."""
    return MappedCsr(graph.offsets, graph.neighbors, graph.weights, (graph.n_nodes, graph.n_nodes))


def prepare(work: str) -> dict[str, Any]:
    """The task: returns the size of the context, and whether edges are weighted."""
    folder = Path(work)
    plan = Plan.load(folder)
    graph, maps = StoredGraph.open(plan.graph, validate=False), Maps(file_memory(plan.memory))
    maps.add(*graph.maps)
    with maps.watched():
        return _prepared(plan, graph, folder / FOLDER)


def _prepared(plan: Plan, graph: StoredGraph, place: Path) -> dict[str, Any]:
    place.mkdir(exist_ok=True)
    weighted = _walk(graph, place)
    graph.release()
    features = MappedCsr(
        graph.feature_offsets, graph.feature_columns, graph.feature_values, (graph.n_nodes, graph.n_features)
    )
    rows: Any = _ContextRows(features, plan.context)
    if not rows.nnz:
        raise GraphError(
            "no node of the graph has a feature: use DeepWalk or Walklets (on the command line --model deepwalk), or ",
            Setting("ego", True),
            ", to learn from its edges alone",
        )
    tables = {"degrees": np.load(place / "degrees.npy")}
    context = WalkContext(MappedTransitions(edges_of(graph), tables=tables), rows, plan.start)
    probabilities = context.feature_probabilities(plan.scales)
    save_array(place / "probabilities.npy", np.stack(probabilities))
    graph.release()
    if isinstance(plan.solver, PMI):
        entries = _in_units(plan.solver, context, probabilities, place, graph)
    else:
        entries = rows.nnz
        _context(rows, entries, lambda block: block, place, own=plan.context == "features")
    graph.release()
    return {"weighted": weighted, "columns": rows.shape[1], "entries": entries}


def _walk(graph: StoredGraph, place: Path) -> bool:
    """Degrees, and the tables that kernels walk by; whether weights of edges differ."""
    edges: Any = edges_of(graph)
    degrees = row_sums(edges)
    save_array(place / "degrees.npy", degrees)
    weighted = graph.weights is not None and any(
        bool((graph.weights[slice(*piece)] != graph.weights[0]).any()) for piece in ranges(graph.links, 2**22)
    )
    inverse = MappedTransitions(edges, tables={"degrees": degrees}).inverse_degrees

    def pieces(name: str) -> Iterator[NDArray[Any]]:
        for some, rows in row_blocks(edges):
            yield walk_tables(rows, degrees[some], inverse[some], weighted=weighted)[name]

    for name in tables_of(weighted)[1:]:
        dtype, of = TABLES[name]
        count = graph.n_nodes if of == "nodes" else graph.links
        save_pieces(place / f"{name}.npy", dtype, (count,), pieces(name))
    return weighted


def tables_of(weighted: bool) -> list[str]:
    """Names of the tables of a walk, the degrees first."""
    return list(TABLES) if weighted else ["degrees", "inverse_degrees"]


def _in_units(
    solver: PMI, context: WalkContext, probabilities: list[NDArray[np.float64]], place: Path, graph: StoredGraph
) -> int:
    """The context in units near the probabilities of its columns; returns its entries."""
    units = units_near(probabilities)
    save_array(place / "units.npy", units)
    largest: NDArray[Any] = np.zeros(context.n_features, dtype=np.float32)
    entries = 0
    for _, block in row_blocks(context.features):
        rows = in_units(block, units)
        np.maximum.at(largest, rows.indices, rows.data)
        entries += rows.nnz
    scalings = [solver.scaling_in(units, probability) for probability in probabilities]
    for scaling in scalings:
        check_largest(largest, scaling)
    save_array(place / "scalings.npy", np.stack(scalings))
    graph.release()
    own = context.features.kind == "features" and entries == graph.entries
    _context(context.features, entries, lambda block: in_units(block, units), place, own=own)
    return entries


def _context(
    rows: Any, entries: int, change: Callable[[sp.csr_array], sp.csr_array], place: Path, *, own: bool
) -> None:
    """Values of the context, and its offsets and columns unless they are the graph's ``own``."""
    save_pieces(
        place / "context_values.npy", np.float32, (entries,), (change(block).data for _, block in row_blocks(rows))
    )
    if own:
        return
    counts = np.zeros(rows.shape[0] + 1, dtype=np.int64)

    def columns() -> Iterator[NDArray[Any]]:
        for some, block in row_blocks(rows):
            changed = change(block)
            counts[some.start + 1 : some.stop + 1] = np.diff(changed.indptr)
            yield changed.indices

    save_pieces(place / "context_columns.npy", np.int32, (entries,), columns())
    save_array(place / "context_offsets.npy", np.cumsum(counts))
