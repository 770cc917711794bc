"""What to change where a fit does not fit the memory, or takes long: each change with what it would then take."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

from sklearn.base import clone

from hopscale.checks import in_words
from hopscale.exceptions import HopscaleError
from hopscale.graph import AttributedGraph
from hopscale.models.walk.base import WalkEmbedding
from hopscale.planning.estimates import PROCESS, Plan, WayOut, estimated, out_of_core
from hopscale.planning.machine import GPU_MEMORY, Machine
from hopscale.solvers import PMI

__all__ = ["ways_out"]

QUICKER = 0.7  # of the seconds that a change has to bring where the fit fits
FEW_WALKS = 300
MOST_MACHINES = 1024
SMALLEST_LIMIT = 2**26


def ways_out(plan: Plan, model: WalkEmbedding, graph: AttributedGraph | None) -> Iterator[WayOut]:
    """Changes that help: all that fit where the plan does not, else those that are much quicker."""
    for change, found in _changes(plan, model, graph):
        helps = found.fits if not plan.fits else found.fits and found.seconds < QUICKER * plan.seconds
        if helps:
            yield WayOut(change, found.seconds, found.memory, found.fits)


def _changes(plan: Plan, model: WalkEmbedding, graph: AttributedGraph | None) -> Iterator[tuple[str, Plan]]:
    for change, changed in _models(plan, model):
        try:
            changed.check_parameters()
            yield change, estimated(changed, plan.size, plan.machine, graph)
        except HopscaleError:
            continue
    alone = replace(plan.machine, machines=1, gpu=False)
    if plan.machine.machines == 1 and not plan.machine.gpu:
        blocks = out_of_core(model, plan.size, alone)
        if blocks is not None:
            larger, words = _with_limit(model, blocks.needs)
            if not plan.in_blocks:
                again = out_of_core(larger, plan.size, alone)
                assert again is not None
                yield f"in blocks on this machine, with the graph in a folder (hopscale.fit_stored){words}", again
            yield from _clusters(plan, larger, alone, words)
        if isinstance(model.chosen_solver(), PMI) and model.bias == (1.0, 1.0) and not plan.in_blocks:
            gpu = estimated(model, plan.size, replace(alone, gpu=True))
            yield f"a GPU with {in_words(GPU_MEMORY)} (--gpu, device='cuda')", gpu


def _models(plan: Plan, model: WalkEmbedding) -> Iterator[tuple[str, WalkEmbedding]]:
    """Other parameters of the model or its solver."""
    solver, available = model.chosen_solver(), plan.machine.available
    if plan.needs and plan.in_blocks:
        changed, words = _with_limit(model, plan.needs)
        yield words.removeprefix(", with "), changed
    if isinstance(solver, PMI) and plan.in_blocks and solver.walks > FEW_WALKS:
        yield f"--walks {FEW_WALKS}, which tells less at the last scale", _changed(model, walks=FEW_WALKS)
    if isinstance(solver, PMI) and not plan.in_blocks and not plan.machine.gpu:
        if available is not None and (plan.memory > available or plan.needs):
            limit = int(available - plan.graph - plan.vectors - PROCESS)
            if limit >= SMALLEST_LIMIT:
                yield f"--memory-limit {limit >> 20}MiB", _changed(model, memory_limit=limit)
        if solver.rows != "sampled":
            yield "--rows sampled", _changed(model, rows="sampled")
        if solver.walks > FEW_WALKS:
            few = _changed(model, rows="sampled", walks=FEW_WALKS)
            yield f"--rows sampled --walks {FEW_WALKS}, which tells less at the last scale", few
    if model.window > 1:
        yield f"--window {model.window - 1}", _changed(model, window=model.window - 1)
    if model.dimensions > 32:
        yield f"--dimensions {model.dimensions // 2}", _changed(model, dimensions=model.dimensions // 2)


def _changed(model: WalkEmbedding, **settings: object) -> WalkEmbedding:
    found: WalkEmbedding = clone(model).configure(**settings)
    return found


def _with_limit(model: WalkEmbedding, needs: float) -> tuple[WalkEmbedding, str]:
    """The model with a memory limit that it lacks, in whole GiB, and what to add to say so."""
    if not needs:
        return model, ""
    limit = f"{math.ceil(needs / 2**30)}GiB"
    return _changed(model, memory_limit=limit), f", with --memory-limit {limit}"


def _clusters(plan: Plan, model: WalkEmbedding, alone: Machine, words: str) -> Iterator[tuple[str, Plan]]:
    """The smallest cluster that fits, and is quicker where the plan fits."""
    machines = 2
    while machines <= MOST_MACHINES:
        found = estimated(model, plan.size, replace(alone, machines=machines))
        if found.fits and (not plan.fits or found.seconds < QUICKER * plan.seconds):
            yield f"a cluster of {machines} such machines (--machines {machines}){words}", found
            return
        machines *= 2
