"""Which models can be fitted in blocks; the others are refused with what to take instead."""

from __future__ import annotations

from typing import Any

from hopscale.exceptions import ParameterError, Setting, warn
from hopscale.models.walk.base import WalkEmbedding
from hopscale.solvers import PMI, SGNS, Solver

__all__ = ["checked_solver", "sampled"]


def checked_solver(model: Any) -> Solver:
    """The solver of a model that can be fitted in blocks."""
    if not isinstance(model, WalkEmbedding):
        raise ParameterError(
            f"{type(model).__name__} cannot be fitted in blocks: take MUSAE or AE, or DeepWalk or Walklets for a graph "
            "without features"
        )
    model.check_parameters()
    if model.device is not None:
        raise ParameterError("cannot be used with a graph in blocks: leave it out", parameter="device")
    if model.keep_graph:
        raise ParameterError(
            "cannot be used with a graph in blocks: it is in its folder already", parameter="keep_graph"
        )
    solver = model.chosen_solver()
    if type(solver) not in (PMI, SGNS):
        raise ParameterError(
            f"must be 'pmi', 'sgns', PMI or SGNS for a graph in blocks, not {type(solver).__name__}", parameter="solver"
        )
    if isinstance(solver, PMI) and solver.rows == "exact":
        raise ParameterError(
            "cannot be computed in blocks: an exact row needs what walks from all nodes meet at once. Take ",
            Setting("rows", "sampled"),
            ", whose rows come from walks of one node each, or fit in memory",
            parameter="rows",
            value="exact",
        )
    return solver


def sampled(solver: Solver) -> Solver:
    """The solver as blocks need it: the direct one samples rows of walks, and says so where it was free to choose."""
    if isinstance(solver, PMI) and solver.rows == "auto":
        warn(
            f"rows of a graph in blocks are estimated from {solver.walks} walks a node. ",
            Setting("rows", "sampled"),
            " silences this",
        )
        solver.rows = "sampled"
    return solver
