"""What a fit would take on one machine, on a GPU or on a cluster."""

from __future__ import annotations

from dataclasses import dataclass

from hopscale.cluster.refusals import checked_solver
from hopscale.exceptions import ParameterError, Setting
from hopscale.graph import AttributedGraph
from hopscale.models.walk.base import WalkEmbedding
from hopscale.planning.blocks import in_blocks
from hopscale.planning.machine import Machine
from hopscale.planning.report import lines
from hopscale.planning.sizes import GIVEN, GraphSize
from hopscale.planning.stages import StageCost, outlined
from hopscale.solvers import PMI
from hopscale.solvers.costs import cost_model, gpu_work, reading
from hopscale.solvers.device_targets import least_device_bytes

__all__ = ["PROCESS", "Plan", "WayOut", "estimated", "out_of_core", "vector_bytes"]

PROCESS = 200 * 2**20  # bytes of Python and the libraries


@dataclass(frozen=True)
class WayOut:
    """Something to change, what the fit would then take, and whether it would fit the memory."""

    change: str
    seconds: float
    memory: float
    fits: bool


@dataclass(frozen=True)
class Plan:
    """What a fit would take, as :func:`hopscale.plan` returns it; ``print`` shows it as a table and a sentence.

    Attributes
    ----------
    model, solver : str
    size : GraphSize
    machine : Machine
    rows : dict
        For each scale the form of its rows: ``"own"``, ``"held"``, ``"streamed"``, ``"sampled"`` or ``"trained"``.
    stages : tuple of StageCost
    graph, work, vectors : float
        Bytes of the graph, of what is held beside it at a time, and of the vectors; on a cluster those of one machine.
    memory : float
        Bytes of all of these, or of reading the files where that takes more.
    disk, network : float
        Bytes that a fit in blocks writes to the storage, and that go over the network of a cluster.
    ways_out : tuple of WayOut
        What to change where it does not fit, or to be quicker.
    needs : float
        The ``memory_limit`` that the fit lacks, without which it would be refused; 0 where it lacks none.
    notes : tuple of str
    """

    model: str
    solver: str
    size: GraphSize
    machine: Machine
    rows: dict[str, str]
    stages: tuple[StageCost, ...]
    graph: float
    work: float
    vectors: float
    memory: float
    disk: float = 0.0
    network: float = 0.0
    ways_out: tuple[WayOut, ...] = ()
    needs: float = 0.0
    notes: tuple[str, ...] = ()

    @property
    def seconds(self) -> float:
        """Expected seconds, the reading of the files among them."""
        return sum(stage.seconds for stage in self.stages)

    @property
    def fastest(self) -> float:
        """Seconds if all goes as it did in the fit that was quickest beside its prediction."""
        return self.seconds * cost_model().low

    @property
    def slowest(self) -> float:
        """Seconds if all goes as it did in the fit that was slowest beside its prediction."""
        return self.seconds * cost_model().high

    @property
    def reading(self) -> float:
        """Expected seconds of reading the files."""
        return sum(stage.seconds for stage in self.stages if stage.name == "read")

    @property
    def fits(self) -> bool:
        """Whether the fit would be done, within the memory."""
        available = self.machine.available
        return not self.needs and (available is None or self.memory <= available)

    @property
    def in_blocks(self) -> bool:
        """Whether the graph is in a folder while it is fitted, and never whole in memory."""
        return _is_in_blocks(self.size, self.machine)

    def __str__(self) -> str:
        return "\n".join(lines(self))


def estimated(model: WalkEmbedding, size: GraphSize, machine: Machine, graph: AttributedGraph | None = None) -> Plan:
    """The plan of a fit, without what could be changed; rows are those of a graph at hand."""
    if machine.gpu and machine.machines > 1:
        raise ParameterError("goes with one machine: leave out ", Setting("machines"), parameter="gpu", value=True)
    if machine.gpu and size.kept_in != "memory":
        raise ParameterError(
            "cannot be used with a graph in blocks: leave it out, or name one file of edges",
            parameter="gpu",
            value=True,
        )
    if machine.gpu:
        return _on_gpu(model, size, machine)
    if _is_in_blocks(size, machine):
        checked_solver(model)
        return _in_blocks(model, size, machine)
    costs, outline = cost_model(), outlined(model, size, graph=graph, cores=machine.cores)
    stages = [StageCost("read", machine.speed * costs.of(reading(size.rows)), costs.read_bytes * size.rows)]
    stages += [StageCost(s.name, machine.speed * costs.of(s.work, machine.cores), s.memory) for s in outline.stages]
    vectors = vector_bytes(model, size)
    held = size.bytes + max(outline.memory + vectors, stages[0].memory)
    return Plan(
        type(model).__name__,
        model.chosen_solver().name,
        size,
        machine,
        outline.forms,
        tuple(stages),
        size.bytes,
        outline.memory,
        vectors,
        held + PROCESS,
        needs=outline.needs,
        notes=_notes(size, machine, counted=graph is None),
    )


def vector_bytes(model: WalkEmbedding, size: GraphSize) -> float:
    """Memory of the vectors of nodes and features."""
    _, walked = model.outline(size.n_nodes, size.n_edges, size.n_features, size.n_entries)
    return 4.0 * model.dimensions * (walked.n_nodes + walked.n_features)


def _on_gpu(model: WalkEmbedding, size: GraphSize, machine: Machine) -> Plan:
    """One fit on a GPU: exact rows, whatever its size; memory is that of the device."""
    solver = model.chosen_solver()
    if not isinstance(solver, PMI):
        raise ParameterError(
            "plans the direct solver only: give ", Setting("solver", "pmi"), parameter="gpu", value=True
        )
    scales, walked = model.outline(size.n_nodes, size.n_edges, size.n_features, size.n_entries, weighted=size.weighted)
    costs, walking = cost_model(), [scale for scale in scales if not scale.is_self]
    work = gpu_work(walked, scales)
    seconds = sum(costs.gpu[kind] * amount for kind, amount in work.items())
    memory, vectors = least_device_bytes(walked, walking, half=True), vector_bytes(model, size)
    read = machine.speed * costs.of(reading(size.rows))
    return Plan(
        type(model).__name__,
        solver.name,
        size,
        machine,
        {scale.label: "own" if scale.is_self else "streamed" for scale in scales},
        (StageCost("read", read, costs.read_bytes * size.rows), StageCost("fit on the GPU", seconds, memory)),
        size.bytes,
        memory,
        vectors,
        memory,
        notes=(
            "memory is the GPU's; the first fit of a process compiles kernels, which takes some seconds more",
            *_notes(size, machine, counted=False),
        ),
    )


def out_of_core(model: WalkEmbedding, size: GraphSize, machine: Machine) -> Plan | None:
    """A fit in blocks on one machine; None where the model cannot be fitted so."""
    try:
        checked_solver(model)
    except ParameterError:
        return None
    return _in_blocks(model, size, machine)


def _is_in_blocks(size: GraphSize, machine: Machine) -> bool:
    return machine.machines > 1 or size.kept_in != "memory"


def _in_blocks(model: WalkEmbedding, size: GraphSize, machine: Machine) -> Plan:
    """A fit of a graph in a folder, by the workers of a cluster, or by one machine."""
    found = in_blocks(model, size, machine)
    return Plan(
        type(model).__name__,
        model.chosen_solver().name,
        size,
        machine,
        found.forms,
        tuple(found.stages),
        found.mapped,
        found.memory,
        0.0,
        found.mapped + found.memory,
        disk=found.disk,
        network=found.network,
        needs=found.needs,
        notes=(*found.notes, *_notes(size, machine, counted=True)),
    )


def _notes(size: GraphSize, machine: Machine, *, counted: bool) -> tuple[str, ...]:
    """What the figures rest on."""
    costs, found = cost_model(), []
    if counted:
        closer = ", and a plan from the files or the graph is closer"
        # Rows of a graph at hand are not computed for a fit in blocks, so that a plan from it is no closer.
        is_closest = size.source != GIVEN or _is_in_blocks(size, machine)
        found.append(
            "rows are expected from counts: where neighbours share their features, they have fewer entries"
            + ("" if is_closest else closer)
        )
    if size.n_nodes > costs.most_nodes:
        found.append(f"extrapolated: the largest graph that costs were fitted to has {costs.most_nodes:,} nodes")
    if machine.speed == 1.0:
        found.append(f"seconds are those of {costs.machine.get('processor', 'the machine of the cost model')}")
    else:
        found.append(f"seconds are scaled by {machine.speed:.2f}, which a product took here beside the fitted machine")
    return tuple(found)
