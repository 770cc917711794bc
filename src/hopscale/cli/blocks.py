"""``hopscale embed`` for graphs that are not held in memory: Parquet files in, a folder of Parquet files out."""

from __future__ import annotations

import json
import logging
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click

from hopscale.atomic import only_writer, replacing
from hopscale.checks import as_path, memory_bytes
from hopscale.cli.program import Console
from hopscale.cli.sources import GraphFiles, file_option
from hopscale.cli.wording import flag
from hopscale.cluster.fit import fit_stored
from hopscale.cluster.refusals import checked_solver
from hopscale.compute.blocks import BlockRunner, ThreadRunner, files_state
from hopscale.compute.dask import DaskRunner
from hopscale.exceptions import FileFormatError, OutputError
from hopscale.models import NodeEmbedding
from hopscale.models.base import SolverChoice
from hopscale.stored import StoredGraph, store_graph
from hopscale.stored.graph import check_new_folder
from hopscale.stored.sources import parquet_files

__all__ = ["BLOCK_OPTIONS", "embedded_in_blocks", "is_in_blocks"]

BLOCK_OPTIONS = (
    click.option(
        "--scheduler",
        metavar="ADDRESS",
        help="Learn on the workers of a Dask cluster, such as tcp://10.0.0.1:8786; see docs/cluster.md.",
    ),
    file_option(
        "--work-folder",
        text="Where a graph in blocks keeps its files meanwhile; all workers must see it.  [default: beside --output]",
    ),
)

_READ = ("edges", "features", "graph", "source", "target", "weight", "no_weight", "value", "self_loops")
_MEMORY = "1GiB"  # of a task that sorts, where the solver has no limit


def is_in_blocks(files: GraphFiles, scheduler: str | None) -> bool:
    """Whether a graph is not to be held in memory: on a cluster, or if it lies in several files or in a stored form."""
    if scheduler is not None:
        return True
    if files.graph is not None:
        return _is_stored(files.graph)
    return any(path is not None and _is_several(path) for path in (files.edges, files.features))


def _is_stored(path: Path) -> bool:
    return path.is_dir() and (path / "manifest.json").is_file()


def _is_several(path: Path) -> bool:
    return path.is_dir() or (not path.exists() and any(sign in str(path) for sign in "*?["))


def embedded_in_blocks(
    files: GraphFiles,
    learner: NodeEmbedding,
    output: Path | None,
    scheduler: str | None,
    work_folder: Path | None,
    console: Console,
) -> StoredGraph:
    """Fit the model, and write the vectors of the nodes; returns the graph, whose arrays are no longer there."""
    for option in files.said:
        if option not in _READ:
            raise click.UsageError(
                f"{flag(option)} means nothing to a graph in blocks, which is read from Parquet files"
            )
    if files.graph is not None and not _is_stored(files.graph):
        raise click.UsageError("a graph in blocks is given as --edges and --features, or --graph with a stored one")
    if output is None or str(output) == "-":
        raise click.UsageError("vectors of a graph in blocks need a folder to go to: give --output")
    if output.suffix and not output.is_dir():
        raise click.UsageError(
            "a folder, several files, a stored graph or --scheduler mean a graph in blocks, whose vectors go to a "
            f"folder of Parquet files, but {str(output)!r} is the name of a file: give a folder to --output, or "
            "one file of edges"
        )
    place = check_new_folder(output)
    for path in filter(None, (files.edges, files.features)):
        if path.is_dir() and (root := Path(os.path.abspath(path))) in (place, *place.parents):
            raise click.UsageError(f"--output must be outside of {str(root)!r}: its vectors would be read as input")
    checked_solver(learner)  # before anything is read
    with _logged(console), _without_tracebacks(scheduler), _resumable(place, console), only_writer(place):
        graph, is_ours = _graph(files, learner, place, scheduler, work_folder, console)
        size = f"{graph.n_nodes:,} nodes, {graph.n_edges:,} edges, {graph.n_features:,} features"
        console.say(f"{size} ({graph.entries:,} entries)")
        fit_stored(learner, graph, output, scheduler=scheduler, work_folder=_within(work_folder, "vectors"))
        if is_ours:
            shutil.rmtree(graph.folder, ignore_errors=True)
            _sources(graph.folder).unlink(missing_ok=True)
    return graph


@contextmanager
def _resumable(place: Path, console: Console) -> Iterator[None]:
    """Say how an interrupted run goes on."""
    try:
        yield
    except KeyboardInterrupt:
        console.say(f"interrupted: the same command goes on from here, with what lies beside {str(place)!r}")
        raise


def _graph(
    files: GraphFiles,
    learner: NodeEmbedding,
    place: Path,
    scheduler: str | None,
    work_folder: Path | None,
    console: Console,
) -> tuple[StoredGraph, bool]:
    """The stored graph, and whether it was made here: from the files, or by a run that was interrupted."""
    if files.graph is not None:
        return StoredGraph.open(files.graph), False
    folder = _within(work_folder, "graph") or place.with_name(f"{place.name}.graph")
    settings: dict[str, Any] = {name: getattr(files, name) for name in ("source", "target", "weight", "value")}
    settings |= {"self_loops": files.self_loops, "weight": False if files.no_weight else files.weight}
    paths = {name: getattr(files, name) for name in ("edges", "features") if getattr(files, name) is not None}
    states = {name: files_state(parquet_files(path, name)) for name, path in paths.items()}
    inputs = json.loads(json.dumps({**states, **settings}))
    if folder.is_dir() and any(folder.iterdir()):
        if _known(folder) != inputs:
            raise OutputError(
                f"the folder {str(folder)!r} holds another graph: remove it, or name another --work-folder"
            )
        try:
            graph = StoredGraph.open(folder)
            console.say(f"using the graph that an earlier run has stored in {str(folder)!r}")
            return graph, True
        except FileFormatError:  # what a run has left that was killed while it removed the graph
            shutil.rmtree(folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    limit = getattr(learner.chosen_solver() if isinstance(learner, SolverChoice) else None, "memory_limit", _MEMORY)
    verbose = not console.quiet
    runner: BlockRunner
    runner = DaskRunner(scheduler, verbose=verbose) if scheduler else ThreadRunner(learner.n_jobs, verbose=verbose)
    try:
        # Before the graph, which appears whole: one that is there without this would be taken for that of others.
        with replacing(_sources(folder)) as temporary:
            temporary.write_text(json.dumps(inputs))
        each = memory_bytes("memory_limit", limit) // (1 if scheduler else runner.n_workers)  # threads share the limit
        graph = store_graph(**paths, folder=folder, runner=runner, memory_limit=each, say=console.say, **settings)
    except BaseException:
        if not folder.exists() and not folder.with_name(f"{folder.name}.work").exists():  # nothing to go on with
            _sources(folder).unlink(missing_ok=True)
        raise
    finally:
        if isinstance(runner, DaskRunner):
            runner.close()
    return graph, True


def _sources(folder: Path) -> Path:
    """The file that says what a stored graph was made from."""
    return folder.with_name(f"{folder.name}.json")


def _known(folder: Path) -> Any:
    try:
        return json.loads(_sources(folder).read_text())
    except (OSError, ValueError):
        return None


def _within(work_folder: Path | None, name: str) -> Path | None:
    return None if work_folder is None else Path(os.path.abspath(as_path(work_folder)), name)


@contextmanager
def _logged(console: Console) -> Iterator[None]:
    """A line for each block that is done, where no progress bar is shown."""
    if console.quiet or sys.stderr.isatty():
        yield
        return
    log, handler = logging.getLogger("hopscale"), _Lines(console)
    level = log.level
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    try:
        yield
    finally:
        log.removeHandler(handler)
        log.setLevel(level)


@contextmanager
def _without_tracebacks(scheduler: str | None) -> Iterator[None]:
    """Keep Dask from logging how a connection was lost: an error of ours says it in a line."""
    if scheduler is None or find_spec("distributed") is None:
        yield
        return
    import distributed  # noqa: F401  (which sets the levels of its loggers)

    logs = [logging.getLogger(f"distributed.{name}") for name in ("client", "core", "comm")]
    levels = [log.level for log in logs]
    for log in logs:
        log.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for log, level in zip(logs, levels, strict=True):
            log.setLevel(level)


class _Lines(logging.Handler):
    def __init__(self, console: Console) -> None:
        super().__init__(logging.INFO)
        self._console = console

    def emit(self, record: logging.LogRecord) -> None:
        if record.levelno < logging.ERROR:  # errors are shown at the end
            self._console.say(record.getMessage())
