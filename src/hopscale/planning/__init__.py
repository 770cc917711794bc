"""What a fit would take before it is run: the form of rows, seconds, memory, and what to change."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hopscale.checks import memory_bytes, switch, whole
from hopscale.compute.memory import memory_here
from hopscale.compute.threads import effective_jobs
from hopscale.exceptions import ParameterError, in_short
from hopscale.io import as_graph
from hopscale.models import MODELS, NodeEmbedding
from hopscale.models.walk.base import WalkEmbedding
from hopscale.planning.estimates import Plan, WayOut, estimated
from hopscale.planning.files import size_of_stored
from hopscale.planning.machine import Machine, calibration_seconds
from hopscale.planning.sizes import GraphSize, size_of
from hopscale.planning.stages import StageCost
from hopscale.planning.ways_out import ways_out
from hopscale.solvers.costs import cost_model
from hopscale.stored import StoredGraph

__all__ = ["GraphSize", "Machine", "Plan", "StageCost", "WayOut", "plan"]


def plan(
    graph: Any = None,
    *,
    model: NodeEmbedding | None = None,
    n_nodes: float | None = None,
    n_edges: float | None = None,
    n_features: float | None = None,
    n_entries: float | None = None,
    memory: int | str | None = None,
    cores: int | None = None,
    machines: int = 1,
    gpu: bool = False,
    calibrate: bool = True,
) -> Plan:
    """What fitting a model would take: seconds, memory and the form of its rows, before anything is run.

    Parameters
    ----------
    graph : GraphSize, StoredGraph, AttributedGraph or what ``fit`` takes, optional
        Rows of some nodes of a graph are computed, which tells more than its size; for a stored one a fit in blocks is
        planned, as :func:`hopscale.fit_stored` does it. Without a graph, give counts.
    model : model that learns from walks, default=MUSAE()
        With its parameters and those of its solver: the form of rows follows from ``memory_limit``.
    n_nodes, n_edges, n_features, n_entries : int, optional
        Counts of a graph: edges are counted once, entries are the features of all nodes, added up.
    memory : int or str, optional
        Memory of a machine, such as 16GB; that of this one by default.
    cores : int, optional
        Cores of a machine; by default as many as ``n_jobs`` of the model asks for here.
    machines : int, default=1
        More than one plans a cluster of such machines, on a network of 10 Gbit/s.
    gpu : bool, default=False
        Plan for one GPU, by what was measured on an H200.
    calibrate : bool, default=True
        Scale seconds by a product that takes a fraction of a second here; else they are those of the machine that the
        cost model was fitted on.

    Returns
    -------
    Plan

    Raises
    ------
    ParameterError
        If a graph and counts are given, or neither, or the model does not learn from walks, or cannot be fitted in
        blocks where more machines or a stored graph ask for that.
    GraphError
        If counts do not go together.

    Examples
    --------
    >>> from hopscale import plan
    >>> found = plan(n_nodes=1e6, n_edges=1e7, n_features=50_000, n_entries=2e7, memory="16GB", cores=8)
    >>> found.fits, found.rows
    (True, {'0': 'own', '1': 'streamed', '2': 'streamed', '3': 'streamed'})
    """
    counts = {"n_nodes": n_nodes, "n_edges": n_edges, "n_features": n_features, "n_entries": n_entries}
    if (graph is None) == all(value is None for value in counts.values()):
        raise ParameterError("a plan needs either a graph or its counts, of which nodes and edges are the least")
    if graph is None and (n_nodes is None or n_edges is None):
        missing = "n_nodes" if n_nodes is None else "n_edges"
        raise ParameterError("is missing: a plan needs the number of nodes and of edges at least", parameter=missing)
    learner = MODELS["MUSAE"]() if model is None else model
    if not isinstance(learner, WalkEmbedding):
        raise ParameterError(
            f"must be a model that learns from walks, such as MUSAE, AE or DeepWalk, not {in_short(learner)}",
            parameter="model",
        )
    learner.check_parameters()
    machine = Machine(
        memory_here() if memory is None else memory_bytes("memory", memory),
        effective_jobs(learner.n_jobs) if cores is None else whole("cores", cores, least=1),
        whole("machines", machines, least=1),
        switch("gpu", gpu),
        calibration_seconds() / cost_model().calibration if switch("calibrate", calibrate) else 1.0,
    )
    if graph is None:
        size: Any = GraphSize(**{name: 0 if value is None else value for name, value in counts.items()})  # type: ignore[arg-type]
    elif isinstance(graph, GraphSize):
        size = graph
    elif isinstance(graph, StoredGraph):
        graph = size = size_of_stored(graph)
    else:
        graph = as_graph(graph)
        size = size_of(graph)
    at_hand = None if graph is size else graph
    found = estimated(learner, size, machine, at_hand)
    return replace(found, ways_out=tuple(ways_out(found, learner, at_hand)))
