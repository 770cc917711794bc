"""Tasks of the direct solver: learn V of a scale from some rows, then compute the vectors of a part of the nodes."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from hopscale.cluster.opened import Opened, opened
from hopscale.cluster.parts import write_part
from hopscale.compute import Threads
from hopscale.compute.aligned import Floats, aligned
from hopscale.compute.svd import times_columns
from hopscale.solvers import PMI
from hopscale.solvers.learning import inverse_root
from hopscale.solvers.pmi_blocks import MappedTargets
from hopscale.stored.arrays import save_array

__all__ = ["learn", "project"]


def learn(folder: str, number: int, n_jobs: int) -> dict[str, Any]:
    """The task: V and Σ of a scale, and the vectors of all nodes where all rows were learnt from."""
    work = opened(folder)
    plan = work.plan
    scale = plan.scales[number]
    with work.maps.watched(), Threads(n_jobs) as engine:
        target, found = _targets(work, engine).learn(scale, work.scalings[number])
    save_array(work.folder / f"v-{number}.npy", aligned(found.v))
    save_array(work.folder / f"sigma-{number}.npy", found.sigma)
    save_array(work.folder / f"filled-{number}.npy", target.filled)
    if target.complete:
        vectors = times_columns(found.scores, inverse_root(found.sigma))
        save_array(work.folder / f"nodes-{number}.npy", aligned(vectors))
    facts = {"rows": target.rows, "captured": found.captured, "sampled": target.sampled}
    return {**facts, "complete": target.complete}


def project(folder: str, number: int) -> dict[str, Any]:
    """The task: vectors of the nodes of a part."""
    work = opened(folder)
    plan, (begin, end) = work.plan, work.plan.parts[number]
    found = np.empty((end - begin, len(plan.columns)), dtype=np.float32)
    known, first = np.zeros(end - begin, dtype=np.bool_), 0
    with work.maps.watched(), Threads(1) as engine:
        for i, scale in enumerate(plan.scales):
            found[:, first : first + scale.dimensions] = _vectors(work, engine, i, begin, end)
            first += scale.dimensions
            filled = work.once(f"filled-{i}", partial(work.maps.open, work.folder / f"filled-{i}.npy", np.bool_))
            known |= filled[begin:end]
        known &= work.context().transitions.degrees[begin:end] > 0
        return write_part(work, number, found, known)


def _vectors(work: Opened, engine: Threads, number: int, begin: int, end: int) -> Floats:
    """Vectors of some nodes at one scale."""
    scale, width = work.plan.scales[number], work.probabilities.shape[1]
    if (work.folder / f"nodes-{number}.npy").exists():
        return work.table(f"nodes-{number}", work.plan.n_nodes, scale.dimensions)[begin:end, : scale.dimensions]
    v, sigma = work.table(f"v-{number}", width, scale.dimensions), np.load(work.folder / f"sigma-{number}.npy")
    return _targets(work, engine).project(scale, work.scalings[number], v, sigma, begin, end)


def _targets(work: Opened, engine: Threads) -> MappedTargets:
    assert isinstance(work.plan.solver, PMI)
    return MappedTargets(work.plan.solver, work.context(), engine, work.plan.seed)
