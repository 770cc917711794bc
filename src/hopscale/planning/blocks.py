"""A fit in blocks: a graph in a folder, and tasks on the threads of one machine, or on workers of a cluster.

Stages are those of :func:`hopscale.store_graph` and :func:`hopscale.fit_stored`: the graph is sorted into a folder, one
task prepares what all need, V of each scale is learnt by a task of its own, and parts of the nodes are projected and
written; skip-gram trains shards in rounds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from hopscale.checks import memory_bytes
from hopscale.cluster.plan import part_size
from hopscale.compute import Threads
from hopscale.compute.aligned import padded
from hopscale.models.walk.base import WalkEmbedding
from hopscale.planning.machine import Machine
from hopscale.planning.sizes import GraphSize
from hopscale.planning.stages import SPARE, StageCost, counted, training_counts
from hopscale.solvers import PMI, SGNS
from hopscale.solvers.costs import Work, cost_model, factorising, merged, projecting_sampled, sampling
from hopscale.solvers.forms import Forms
from hopscale.solvers.held import Held
from hopscale.solvers.learning import learning_bytes, least_sampled
from hopscale.walks import Scale, WalkSize
from hopscale.walks.sampling import CHUNK, ENOUGH_ROWS, RowCounts

__all__ = ["BlockStage", "Blocks", "block_stages", "in_blocks"]

RowSource = Callable[[Scale], RowCounts]

WORKER = 250 * 2**20  # bytes of a process with Python and the libraries
KEPT = 2**30  # bytes of mapped files that a process keeps at most
ROW = 16.0  # bytes of a row of edges or features
PASSES = 3  # times that rows are written to the storage and read again while they are sorted
SHARDS, SAVED = 16, 20  # copies of the features in training, and times that vectors are saved on the way


@dataclass(frozen=True)
class BlockStage:
    """Work of one core, tasks at a time, machines that take part, bytes over the network, and held by a machine.

    Each task has as many ``threads``.
    """

    name: str
    work: Work
    tasks: int
    machines: int
    moved: float
    memory: float = 0.0
    threads: int = 1

    def cost(self, machine: Machine) -> StageCost:
        """Seconds: computing, and what has to be moved before and after."""
        computing = machine.speed * cost_model().of(self.work, self.threads) / self.tasks
        return StageCost(self.name, computing + self.moved / (self.machines * machine.network), self.memory)


@dataclass(frozen=True)
class Blocks:
    """Stages, bytes that a machine holds, and bytes that go to the storage and over the network.

    ``mapped`` are files of the graph, of which the system keeps in memory what there is room for.
    """

    stages: list[StageCost]
    forms: dict[str, str]
    memory: float
    mapped: float
    disk: float
    network: float
    notes: tuple[str, ...]
    needs: float = 0.0


@dataclass(frozen=True)
class _Folder:
    """What a fit in blocks reads and writes, in bytes."""

    rows: float  # the files that come in
    graph: float  # the graph in a folder
    vectors: float


def in_blocks(model: WalkEmbedding, size: GraphSize, machine: Machine) -> Blocks:
    """A fit in blocks on all cores of all machines: of a cluster each is a worker of one thread."""
    stages, files = block_stages(model, size, machine), _folder(model, size)
    trains = isinstance(model.chosen_solver(), SGNS)
    memory = max(stage.memory for stage in stages)
    room = files.graph if machine.memory is None else max(0.0, machine.memory - memory)
    sorting = 0.0 if size.kept_in == "folder" else PASSES * files.rows + files.graph
    return Blocks(
        [stage.cost(machine) for stage in stages],
        {s.label: "trained" if trains else "own" if s.is_self else "sampled" for s in model.scales()},
        memory,
        min(files.graph, room),
        sorting + files.graph + files.vectors,
        0.0 if machine.machines == 1 else sum(stage.moved for stage in stages),
        _notes(machine, files, room),
        _needed_limit(model, size),
    )


def block_stages(
    model: WalkEmbedding, size: GraphSize, machine: Machine, rows: RowSource | None = None
) -> list[BlockStage]:
    """Stages of such a fit; ``rows`` tells of sampled rows, where that is known better than by counts."""
    scales, walked = model.outline(size.n_nodes, size.n_edges, size.n_features, size.n_entries, weighted=size.weighted)
    solver, files = model.chosen_solver(), _folder(model, size)
    workers = machine.cores * machine.machines
    stages = [BlockStage("prepare", {"prepared": float(walked.steps + walked.entries)}, 1, 1, 2 * files.graph)]
    if size.kept_in != "folder":
        moved = (1 + 2 * PASSES) * files.rows
        stages.insert(0, BlockStage("store", {"sorted": float(size.rows)}, workers, machine.machines, moved))
    written = {"written": float(size.n_nodes) * model.dimensions}
    if isinstance(solver, PMI):
        return stages + _direct(solver, walked, scales, machine, files, written, rows or counted(solver, walked)[0])
    assert isinstance(solver, SGNS)
    return stages + _trained(solver, walked, scales, machine, files, written)


def _folder(model: WalkEmbedding, size: GraphSize) -> _Folder:
    _, walked = model.outline(size.n_nodes, size.n_edges, size.n_features, size.n_entries)
    edges = 4.0 * walked.steps * (4 if size.weighted else 1)
    graph = edges + 8.0 * walked.entries + 40.0 * walked.n_nodes
    return _Folder(ROW * size.rows, graph, 4.0 * model.dimensions * size.n_nodes)


def _direct(
    solver: PMI,
    size: WalkSize,
    scales: Sequence[Scale],
    machine: Machine,
    files: _Folder,
    written: Work,
    source: RowSource,
) -> list[BlockStage]:
    """V of each scale by one task, then parts of the nodes by as many as there are workers."""
    engine, limit = Threads(1), memory_bytes("memory_limit", solver.memory_limit)
    engine.memory = limit
    forms = Forms(solver, size, engine, source)
    n, q, workers = size.n_nodes, size.n_features, machine.cores * machine.machines
    threads = machine.cores if machine.machines == 1 else 1  # of a task that learns
    learnt, projected, taken = [], [written], 0.0
    for scale in scales:
        if scale.is_self:
            rows = n if forms.held.holds_own_rows(scale) else min(n, ENOUGH_ROWS)
            taken = max(taken, forms.held.base + forms.held.own_rows + forms.held.workspace(scale, rows))
            learnt.append(factorising(rows, q, rows * size.entries_per_node, scale))
            projected.append({"product": float(size.entries) * padded(scale.dimensions)})
            continue
        sampled = forms.rows(scale)
        rows = min(n, sampled.enough_rows(learning_bytes(sampled, _held(sampled, forms.held))))
        made = min(limit / 8, threads * min(rows, CHUNK) * sampled.made_bytes)
        held = forms.held.base + rows * sampled.row_bytes
        taken = max(taken, held + max(made, forms.held.workspace(scale, rows)))
        learnt.append(merged(sampling(sampled, rows), factorising(rows, q, rows * sampled.row_entries, scale)))
        projected.append(projecting_sampled(sampled))
    tables = 4.0 * q * sum(padded(scale.dimensions) for scale in scales) + min(KEPT, limit / 2, files.graph)
    each = 4.0 * part_size(n) * written["written"] / n
    parts = -(-n // part_size(n))
    return [
        _learning(learnt, machine, files, min(taken, float(limit))),
        BlockStage(
            "vectors",
            merged(*projected),
            min(workers, parts),
            machine.machines,
            machine.machines * files.graph + files.vectors,
            _held_by_cores(machine, tables, each),
        ),
    ]


def _learning(learnt: Sequence[Work], machine: Machine, files: _Folder, each: float) -> BlockStage:
    """V of all scales: one after the other on all threads of one machine, side by side on the workers of a cluster."""
    if machine.machines == 1:
        return BlockStage("learn", merged(*learnt), 1, 1, files.graph, WORKER + each, machine.cores)
    longest = max(learnt, key=cost_model().of)
    # The longest first: with as many workers as scales it alone counts.
    at_a_time = min(machine.cores * machine.machines, len(learnt))
    work = longest if at_a_time == len(learnt) else merged(*learnt)
    tasks, apart = (1 if work is longest else at_a_time), min(machine.machines, len(learnt))
    return BlockStage("learn", work, tasks, apart, apart * files.graph, -(-at_a_time // apart) * (WORKER + each))


def _held_by_cores(machine: Machine, shared: float, each: float) -> float:
    """Bytes of tasks on all cores: threads of one process on one machine, a process for each on a cluster."""
    processes = 1 if machine.machines == 1 else machine.cores
    return processes * (WORKER + shared) + machine.cores * each


def _held(sampled: RowCounts, held: Held) -> Held:
    """What a task that learns counts as held: files that can be dropped, where the rest leaves no room for them."""
    return held if least_sampled(sampled, held) <= held.room else replace(held, mapped=True)


def _needed_limit(model: WalkEmbedding, size: GraphSize) -> float:
    """The memory limit that a task which learns lacks, or 0."""
    solver = model.chosen_solver()
    if not isinstance(solver, PMI):
        return 0.0
    scales, walked = model.outline(size.n_nodes, size.n_edges, size.n_features, size.n_entries, weighted=size.weighted)
    engine = Threads(1)
    engine.memory = memory_bytes("memory_limit", solver.memory_limit)
    held, rows = Held(walked, engine, engine.memory, mapped=True), counted(solver, walked)[0]
    needed = max((least_sampled(rows(scale), held) for scale in scales if not scale.is_self), default=0.0)
    return needed / SPARE if needed > held.room else 0.0


def _trained(
    solver: SGNS, size: WalkSize, scales: Sequence[Scale], machine: Machine, files: _Folder, written: Work
) -> list[BlockStage]:
    """Shards in rounds; between two of them copies of the features' vectors go to the storage and come back."""
    counts = [training_counts(solver, size, scale, scales) for scale in scales]
    workers = machine.cores * machine.machines
    tables = 4.0 * size.n_features * max(padded(scale.dimensions) for scale in scales)
    nodes = 2 * files.vectors / len(scales) / SHARDS
    moved = 2.0 * sum(each.rounds * each.shards for each in counts) * tables + 2 * SAVED * files.vectors
    at_a_time = min(workers, SHARDS)
    each_machine = _held_by_cores(machine, 0.0, 3 * tables + nodes)
    return [
        BlockStage(
            "train",
            merged(*(each.work for each in counts)),
            at_a_time,
            min(machine.machines, at_a_time),
            moved + min(machine.machines, at_a_time) * files.graph,
            each_machine,
        ),
        BlockStage(
            "vectors",
            written,
            min(workers, -(-size.n_nodes // part_size(size.n_nodes))),
            machine.machines,
            2 * files.vectors,
        ),
    ]


def _notes(machine: Machine, files: _Folder, room: float) -> tuple[str, ...]:
    """What the figures of a fit in blocks rest on."""
    if machine.machines > 1:
        found = ["every core is a worker of one thread, and the storage serves each machine as fast as its network is"]
    else:
        found = [f"the disk is taken to read and to write {machine.network / 1e9:.1f} GB a second"]
    if files.graph > room:
        found.append(
            "the graph in its folder is larger than what a machine has left: it is read again and again, and the "
            "fit takes longer than this says"
        )
    return tuple(found)
