"""Stages of a fit on one machine: what each costs, what it holds, and which form rows take."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from hopscale.checks import memory_bytes
from hopscale.compute import Threads
from hopscale.compute.aligned import padded
from hopscale.graph import AttributedGraph
from hopscale.models.walk.base import WalkEmbedding
from hopscale.planning.rows import CountedRows, ExactEntries, MeasuredRows
from hopscale.planning.sizes import GraphSize
from hopscale.solvers import PMI
from hopscale.solvers.costs import (
    Work,
    factorising,
    holding,
    preparing,
    projecting_sampled,
    sampling,
    streaming,
)
from hopscale.solvers.forms import Forms
from hopscale.solvers.sgns import SGNS, scales_at_once
from hopscale.solvers.training import TrainingCounts, expected_visits
from hopscale.walks import Scale, WalkSize
from hopscale.walks.sampling import CHUNK, RowCounts

__all__ = [
    "FORMS",
    "SPARE",
    "Outline",
    "Stage",
    "StageCost",
    "counted",
    "direct",
    "outlined",
    "trained",
    "training_counts",
]

LEARNT = ("streamed", "sampled")  # forms whose features' vectors are learnt from sampled rows
SPARE = 3 / 4  # of a memory limit is what a refusal counts with: threads may hold the rest
# What rows_ of a fitted model says of each form.
FORMS = {
    "own": "exact rows of the nodes' own features, held",
    "held": "exact rows, held",
    "streamed": "exact rows, streamed after learning from sampled ones",
    "sampled": "rows sampled from walks",
    "trained": "pairs of walks, trained",
}


@dataclass(frozen=True)
class Stage:
    """A part of a fit: its work, and the bytes that it holds beside the graph and the vectors."""

    name: str
    work: Work
    memory: float = 0.0


@dataclass(frozen=True)
class StageCost:
    """Expected seconds of one stage, and the bytes that it holds beside the graph and the vectors."""

    name: str
    seconds: float
    memory: float


@dataclass(frozen=True)
class Outline:
    """Stages of a fit in order, the form of each scale's rows, and the memory limit that it lacks, or 0."""

    stages: list[Stage]
    forms: dict[str, str]
    needs: float = 0.0

    @property
    def memory(self) -> float:
        """The most that is held at a time."""
        return max(stage.memory for stage in self.stages)


def chosen_forms(forms: Forms, scales: Sequence[Scale], exact_entries: ExactEntries) -> dict[Scale, str]:
    """The form of each scale, by the rules of the solver and in its order."""
    walked = [scale for scale in scales if not scale.is_self]
    found = {scale: "own" for scale in scales if scale.is_self}
    if len(walked) > 1 and _are_held(forms, walked, exact_entries, None):
        return found | dict.fromkeys(walked, "held")
    streamed = [scales[i] for i in forms.streams(scales)]
    for scale in walked:
        beside = forms.held.workspace(scale)
        if scale in streamed:
            found[scale] = "streamed"
        elif forms.holds_one_hop(scale, beside) or _are_held(forms, [scale], exact_entries, beside):
            found[scale] = "held"
        else:
            found[scale] = "sampled"
    return found


def _are_held(forms: Forms, scales: Sequence[Scale], exact_entries: ExactEntries, beside: float | None) -> bool:
    budget = forms.exact_budget(scales, beside)
    if budget is None:
        return False
    return budget.forced or sum(_panel_bytes(forms, exact_entries(scale)) for scale in scales) <= budget.rows


def _panel_bytes(forms: Forms, entries: float) -> float:
    """Exact rows of all nodes in panels."""
    panels = -(-forms.size.n_features // forms.held.width)
    return forms.size.n_nodes * (5.0 * entries + 4.0 * panels)


def direct(forms: Forms, scales: Sequence[Scale], exact_entries: ExactEntries) -> Outline:
    """A fit of the direct solver."""
    size, held = forms.size, forms.held
    stages = [Stage("prepare", preparing(size), held.base)]
    needed = max(map(forms.least, scales))
    if needed > held.room:
        return Outline(stages, {}, needed / SPARE)
    chosen = chosen_forms(forms, scales, exact_entries)
    n, q = size.n_nodes, size.n_features
    walked = [scale for scale in scales if not scale.is_self]
    all_held = len(walked) > 1 and all(chosen[scale] == "held" for scale in walked)  # in one sweep, one hop too
    together = [s for s in walked if chosen[s] == "held" and (all_held or not forms.is_one_hop(s))]
    kept = sum(_panel_bytes(forms, exact_entries(scale)) for scale in together)
    if together:
        stages.append(Stage("exact rows", holding(size, together), held.base + held.blocks + kept))
    streamed = [scale for scale in scales if chosen[scale] == "streamed"]
    for scale in scales:
        form, label = chosen[scale], f"scale {scale.label}: "
        if form == "own" or (form == "held" and scale not in together):
            entries, rows = (size.entries, held.own_rows) if form == "own" else (size.steps, held.one_hop)
            work = factorising(n, q, entries, scale)
            stages.append(Stage(label + "factorise", work, held.base + rows + held.workspace(scale) + kept))
        elif form == "held":
            work = factorising(n, q, n * exact_entries(scale), scale)
            stages.append(Stage(label + "factorise", work, held.base + held.workspace(scale) + kept))
        else:
            stages += _learning(forms, scale, label)
        if form == "sampled" and forms.learning_rows(scale) < n:
            memory = held.base + held.projecting(scale)
            stages.append(Stage(label + "project", projecting_sampled(forms.rows(scale)), memory))
    if streamed:
        width = held.stream_width(streamed)
        assert width is not None  # else none were streamed
        work = streaming(size, streamed, [exact_entries(scale) for scale in streamed])
        stages.append(Stage("project", work, held.streamed(streamed, width)))
    entries_held = sum(n * exact_entries(scale) for scale in together)
    entries_held += sum(forms.learning_rows(s) * forms.rows(s).row_entries for s in walked if chosen[s] in LEARNT)
    stages[0] = Stage("prepare", preparing(size, entries_held), held.base)
    return Outline(stages, {scale.label: chosen[scale] for scale in scales})


def _learning(forms: Forms, scale: Scale, label: str) -> list[Stage]:
    """Sampled rows to learn from, and their singular vectors."""
    sampled, rows = forms.rows(scale), forms.learning_rows(scale)
    entries, held = rows * sampled.row_entries, forms.held
    memory = held.base + rows * sampled.row_bytes
    work = factorising(rows, forms.size.n_features, entries, scale)
    made = min(held.limit / 8, held.engine.n_jobs * min(rows, CHUNK) * sampled.made_bytes)
    return [
        Stage(label + "rows", sampling(sampled, rows), memory + made),
        Stage(label + "factorise", work, memory + held.workspace(scale, rows)),
    ]


def trained(solver: SGNS, size: WalkSize, scales: Sequence[Scale], engine: Threads) -> Outline:
    """A fit of the sampled solver."""
    base = 8.0 * size.entries * (not size.sees_nodes) + 12.0 * size.steps * size.weighted + 40.0 * size.n_nodes
    at_once = scales_at_once(scales, size.n_features, engine.n_jobs)
    stages = [Stage("prepare", preparing(size), base)]
    for scale in scales:
        counts = training_counts(solver, size, scale, scales)
        width = padded(scale.dimensions)
        # Node vectors and their sum; features' vectors, their sum, the next ones, and a copy for each thread.
        tables = 4.0 * width * (2 * size.n_nodes + (3 + min(engine.n_jobs, counts.shards)) * size.n_features)
        stages.append(Stage(f"scale {scale.label}: train", counts.work, base + at_once * tables))
    return Outline(stages, {scale.label: "trained" for scale in scales})


def training_counts(solver: SGNS, size: WalkSize, scale: Scale, scales: Sequence[Scale]) -> TrainingCounts:
    """What the training of one of the scales is made of, from counts."""
    window = max(each.hops[-1] for each in scales)
    return TrainingCounts(solver, size, scale, expected_visits(solver, size, scale, window))


def counted(solver: PMI, size: WalkSize) -> tuple[Callable[[Scale], RowCounts], ExactEntries]:
    """Sampled rows of each scale, and entries of exact ones, as counts let expect them."""
    known: dict[Scale, CountedRows] = {}

    def sampled(scale: Scale) -> CountedRows:
        return known.setdefault(scale, CountedRows(size, scale, solver.walks))

    return sampled, lambda scale: CountedRows(size, scale, float(size.steps)).row_entries


def outlined(model: WalkEmbedding, size: GraphSize, *, graph: AttributedGraph | None = None, cores: int = 1) -> Outline:
    """Stages of a fit on one machine with so many cores; rows of some nodes of a graph at hand are computed."""
    scales, walked = model.outline(size.n_nodes, size.n_edges, size.n_features, size.n_entries, weighted=size.weighted)
    solver, engine = model.chosen_solver(), Threads(cores)
    if isinstance(solver, SGNS):
        return trained(solver, walked, scales, engine)
    assert isinstance(solver, PMI)
    engine.memory = memory_bytes("memory_limit", solver.memory_limit)
    if graph is None:
        sampled, exact_entries = counted(solver, walked)
        return direct(Forms(solver, walked, engine, sampled), scales, exact_entries)
    with Threads() as here:  # few rows, on one thread
        here.memory = engine.memory
        rows = MeasuredRows(solver, model.walk_context(graph), scales, here)
        return direct(Forms(solver, walked, engine, rows.sampled), scales, rows.exact_entries)
