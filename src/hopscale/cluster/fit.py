"""Fit a model to a graph in a folder, in blocks: on a cluster, or on this machine without holding the graph."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

import hopscale
from hopscale.atomic import only_writer
from hopscale.checks import as_path, seed_of
from hopscale.cluster import direct, parts, training
from hopscale.cluster import plan as plans
from hopscale.cluster.opened import close
from hopscale.cluster.plan import Plan
from hopscale.cluster.prepared import FOLDER, prepare
from hopscale.cluster.refusals import checked_solver, sampled
from hopscale.compute.blocks import BlockRunner, Checkpoints, Task, ThreadRunner, files_state
from hopscale.compute.dask import DaskRunner
from hopscale.compute.svd import times_columns
from hopscale.compute.threads import effective_jobs
from hopscale.exceptions import GraphError, OutputError, ParameterError, in_short, warn
from hopscale.models import NodeEmbedding
from hopscale.models.notices import say_empty, say_lost
from hopscale.models.outputs import dimension_names
from hopscale.models.walk.base import WalkEmbedding
from hopscale.solvers import PMI, Solution, Solver
from hopscale.stored import StoredGraph
from hopscale.stored.graph import check_new_folder

__all__ = ["fit_stored"]

Model = TypeVar("Model", bound=NodeEmbedding)


def fit_stored(
    model: Model,
    graph: StoredGraph | str | os.PathLike[str],
    output: str | os.PathLike[str],
    *,
    scheduler: Any = None,
    work_folder: str | os.PathLike[str] | None = None,
) -> Model:
    """Fit a model to a graph in a folder, and write the vectors of its nodes as Parquet files.

    The work is split into tasks that read and write files of a work folder: none holds the rows or the vectors of all
    nodes, and none but small values pass between processes. Work that was interrupted goes on where it stopped, when
    the function is called again with the same model, graph and folders. Vectors have the same bits for any number of
    workers: those of ``model.fit(graph)`` in memory with ``solver="sgns"``, or with ``PMI(rows="sampled")`` of the same
    ``memory_limit``, as far as that limit suffices there.

    Parameters
    ----------
    model : AE, MUSAE, DeepWalk, Walklets or another model of walks
        What to learn; it is fitted in place. :class:`hopscale.PMI` samples the rows of walks here, whatever their
        number: ``rows="exact"`` is refused. Its ``memory_limit`` is what one task may take.
    graph : StoredGraph or path-like
        A graph that :func:`hopscale.store_graph` has written, or its folder.
    output : path-like
        Folder for the vectors, new or empty: ``part-00000.parquet`` and so on, in the order of the nodes, with a column
        ``id`` and one for each dimension. It appears once everything is done.
    scheduler : str or distributed.Client, optional
        The address of a Dask scheduler, or a client: its workers do the work. They must see the folders under the same
        paths. By default ``n_jobs`` threads of this process do it.
    work_folder : path-like, optional
        Where tasks keep their files, ``output`` with ``.work`` after its name by default. It is removed at the end.

    Returns
    -------
    model
        The fitted model, with vectors of features and everything that ``transform``, ``explain`` with a graph and
        ``save`` need, but without those of the nodes: ``embedding_`` and ``node_ids_`` are empty.

    Raises
    ------
    ParameterError
        If the model or its solver cannot be fitted in blocks; the message says what can.
    OutputError
        If the output folder is not empty, before any work.

    See Also
    --------
    hopscale.store_graph : A graph in a folder, from Parquet files.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from hopscale import MUSAE, PMI, datasets, fit_stored
    >>> from hopscale.stored import StoredGraph
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     StoredGraph.save(datasets.figure1(), f"{folder}/graph")
    ...     model = MUSAE(dimensions=8, solver=PMI(rows="sampled"))
    ...     _ = fit_stored(model, f"{folder}/graph", f"{folder}/vectors")
    ...     [file.name for file in Path(folder, "vectors").iterdir()], model.feature_vectors().shape
    (['part-00000.parquet'], (4, 8))
    """
    place = check_new_folder(output)
    solver = sampled(checked_solver(model))
    assert isinstance(model, WalkEmbedding)
    if not isinstance(graph, (StoredGraph, str, os.PathLike)):
        raise ParameterError(
            f"must be a StoredGraph or its folder, not {in_short(graph)}: StoredGraph.save(graph, folder) stores one",
            parameter="graph",
        )
    stored = graph if isinstance(graph, StoredGraph) else StoredGraph.open(graph)
    if stored.folder == place or stored.folder in place.parents:
        raise OutputError(f"the output folder {str(place)!r} must be outside of the graph's, {str(stored.folder)!r}")
    if not stored.links:
        raise GraphError(f"the graph {str(stored.folder)!r} has no edges: there is nothing to walk on")
    names = model.names_in_context(stored.feature_names, stored.node_ids)
    folder = _work_folder(place, work_folder)
    with only_writer(folder), model.learning() as learner:
        assert isinstance(learner, WalkEmbedding)
        check_new_folder(output)  # another run may have ended meanwhile
        plan = _plan(learner, solver, stored, seed_of(model.random_state))
        work = Checkpoints(folder, _identity(plan, stored))
        plan.save(work.folder)
        with _Runners(scheduler, model, work) as runners:
            solutions, written = _stages(plan, runners)
        features = np.concatenate([solution.feature_vectors for solution in solutions], axis=1)
        learner.node_ids_, learner.feature_names_ = np.zeros(0, dtype=np.int64), names
        nodes = np.zeros((0, features.shape[1]), dtype=np.float32)
        none = np.zeros((0, 0), dtype=np.float32)
        bare = [replace(solution, feature_vectors=none) for solution in solutions]
        learner.keep_learnt(bare, nodes, features, solver, plan.seed)
        lengths = parts.vector_lengths(work.folder, len(plan.parts))
        work.end()  # without its vectors it could not be gone on with
        parts.move(work.folder, place)
        work.remove()
    _warn(model, written, lengths)
    return model


class _Runners:
    """Who runs the tasks: workers of a cluster, or threads."""

    def __init__(self, scheduler: Any, model: NodeEmbedding, work: Checkpoints) -> None:
        self.work = work
        verbose = bool(model.verbose)
        if scheduler is None:
            self._many: BlockRunner = ThreadRunner(model.n_jobs, verbose=verbose)
            self._alone: BlockRunner = ThreadRunner(1, verbose=verbose)
            self.n_jobs = effective_jobs(model.n_jobs)
        else:
            self._many = self._alone = DaskRunner(scheduler, verbose=verbose)
            self.n_jobs = 1

    def __enter__(self) -> _Runners:
        try:
            self._many.check_folder(self.work.folder)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *error: object) -> None:
        close(str(self.work.folder))
        if isinstance(self._many, DaskRunner):
            self._many.close()

    def run(
        self,
        stage: str,
        function: Callable[..., Any],
        tasks: Sequence[Task],
        *,
        marked: bool = True,
        after: Sequence[int | None] | None = None,
    ) -> list[Any]:
        """Results of tasks that take little memory, as many at a time as there are workers."""
        return self._many.run(stage, function, tasks, self.work, marked=marked, after=after) if tasks else []

    def run_large(self, stage: str, function: Callable[..., Any], tasks: Sequence[Task]) -> list[Any]:
        """Results of tasks that take up to the memory limit each: one at a time in a process, on ``n_jobs`` threads."""
        return self._alone.run(stage, function, [(*task, self.n_jobs) for task in tasks], self.work)


def _stages(plan: Plan, runners: _Runners) -> tuple[list[Solution], list[dict[str, Any]]]:
    """All stages: solutions without vectors of nodes, and what is known of the parts."""
    folder = str(runners.work.folder)
    runners.run("prepare", prepare, [(folder,)])
    if isinstance(plan.solver, PMI):
        # Scales of more hops take longer: they come first, lest one worker is left with the longest.
        order = sorted(range(len(plan.scales)), key=lambda i: -plan.scales[i].hops[-1])
        learnt = dict(zip(order, runners.run_large("learn", direct.learn, [(folder, i) for i in order]), strict=True))
        facts, write = [learnt[i] for i in range(len(order))], direct.project
    else:
        facts, write = training.train(plan, runners), training.write
    written = runners.run("vectors", write, [(folder, number) for number in range(len(plan.parts))])
    place = runners.work.folder
    probabilities = np.load(place / FOLDER / "probabilities.npy")
    found = [_solution(place, i, plan, facts[i], probabilities[i]) for i in range(len(plan.scales))]
    return found, written


def _solution(
    folder: Path, number: int, plan: Plan, facts: dict[str, Any], probability: NDArray[np.float64]
) -> Solution:
    """A scale as the model keeps it, without vectors of nodes."""
    scale, none = plan.scales[number], np.zeros((0, 0), dtype=np.float32)
    if not isinstance(plan.solver, PMI):
        H = np.load(folder / f"trained-features-{number}.npy")[:, : scale.dimensions]
        return Solution(scale, none, H, probability, rows=facts["rows"])
    sigma = np.load(folder / f"sigma-{number}.npy")
    H = times_columns(np.load(folder / f"v-{number}.npy")[:, : scale.dimensions], np.sqrt(sigma))
    return Solution(scale, none, H, probability, sigma, facts["rows"], facts["sampled"], facts["captured"])


def _plan(learner: WalkEmbedding, solver: Solver, stored: StoredGraph, seed: int) -> Plan:
    scales = learner.scales()
    return Plan(
        graph=str(stored.folder),
        n_nodes=stored.n_nodes,
        solver=solver,
        scales=scales,
        seed=seed,
        context=learner.context,
        start=learner.start,
        bias=(float(learner.bias[0]), float(learner.bias[1])),
        columns=dimension_names({scale.label: scale.dimensions for scale in scales}),
        pairs_per_task=plans.PAIRS,
        pairs_per_copy=plans.COPY,
    )


def _identity(plan: Plan, stored: StoredGraph) -> dict[str, Any]:
    """All that vectors depend on."""
    files = sorted(path for path in stored.folder.iterdir() if path.is_file())
    return {"model": plan.facts(), "graph": files_state(files), "hopscale": hopscale.__version__}


def _work_folder(output: Path, given: str | os.PathLike[str] | None) -> Path:
    """The work folder, which must not be the output or lie in it."""
    folder = output.with_name(f"{output.name}.work") if given is None else Path(os.path.abspath(as_path(given)))
    if folder == output or output in folder.parents:
        raise OutputError(f"the work folder {str(folder)!r} must be outside of the output folder {str(output)!r}")
    return folder


def _warn(model: NodeEmbedding, written: list[dict[str, Any]], lengths: NDArray[np.float64]) -> None:
    """Warnings that ``fit`` gives as well, and one of workers that differ."""
    empty = set.intersection(*(set(part["empty"]) for part in written))
    for label, columns in model.scale_columns_.items():
        within = range(columns.start, columns.stop)
        say_empty(label, len(empty.intersection(within)), len(within))
    say_lost(model, lengths)
    kinds = {part["instructions"] for part in written}
    if len(kinds) > 1:
        warn(
            f"workers have processors with different instructions ({', '.join(sorted(kinds))}): vectors may differ in "
            "their last bits from those of another run"
        )
