"""``hopscale embed``: from files to vectors."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from hopscale.atomic import check_writable
from hopscale.cli.blocks import BLOCK_OPTIONS, embedded_in_blocks, is_in_blocks
from hopscale.cli.options import chosen_model, with_parameters
from hopscale.cli.program import Console, decorated, with_console
from hopscale.cli.scoring import SCORE_OPTIONS, asks_for_scores, scored
from hopscale.cli.sources import STREAM, GraphFiles, file_option, model_size, with_graph
from hopscale.graph import AttributedGraph
from hopscale.io.vectors import FORMATS, check_exportable, vector_format
from hopscale.models import NodeEmbedding

__all__ = ["FORMAT", "checked_outputs", "described", "embed", "output_file", "summary", "timed"]

FORMAT = click.option(
    "--format",
    "format_name",
    type=click.Choice(FORMATS),
    help="Format of the vectors.  [default: by suffix; csv for -]",
)


@click.command()
@with_graph(labels=True)
@file_option(
    "--output",
    "-o",
    text="Where the nodes' vectors go: .csv, .tsv, .parquet, .npz, or word2vec .txt; - for the standard output.",
)
@file_option("--feature-output", text="Where the features' vectors go.")
@FORMAT
@file_option("--save", text="Where the model goes, for transform, extend, neighbors and explain: .safetensors.")
@SCORE_OPTIONS
@decorated(*BLOCK_OPTIONS)
@with_parameters()
@with_console
def embed(
    files: GraphFiles,
    output: Path | None,
    feature_output: Path | None,
    format_name: str | None,
    save: Path | None,
    score: bool | None,
    task: str,
    splits: int | None,
    standardize: bool,
    scheduler: str | None,
    work_folder: Path | None,
    model: str,
    console: Console,
    **parameters: Any,
) -> None:
    """Learn vectors for the nodes and the features of a graph.

    Parameters and outputs are checked before the work starts, and files appear whole or not at all. Scores
    go to the standard output.

    \b
    hopscale embed --edges edges.csv --features features.json -o vectors.csv
    hopscale embed --edges edges.csv --nodes nodes.csv --label-column team -o vectors.parquet
    hopscale embed --graph cora.npz -o vectors.parquet --save cora.safetensors --score --splits 100
    hopscale embed --edges edges.csv --model deepwalk --dimensions 64 -o vectors.txt
    hopscale embed --graph cora --model hope --score --standardize
    hopscale embed --edges e.csv --features f.json --solver sgns --epochs 1 --no-self-scale -o v.csv

    Parquet files that a folder or a glob names are not held in memory: the work is done in blocks, by threads of this
    machine or by the workers of a cluster, and vectors are written to a folder.

    \b
    hopscale embed --edges 'edges/*.parquet' --features 'features/*.parquet' --memory-limit 2GiB -o vectors/
    hopscale embed --edges edges/ --features features/ --scheduler tcp://10.0.0.1:8786 -o vectors/
    """
    if score is None:
        score = files.have_labels or asks_for_scores()
    if score and files.edges and not files.have_labels:
        raise click.UsageError("there is nothing to score on: give --labels, or --label-column of --nodes")
    learner = chosen_model(model, parameters).set_params(verbose=not console.quiet)
    if is_in_blocks(files, scheduler):
        if score or format_name:
            raise click.UsageError("vectors of a graph in blocks are not scored, and their format is Parquet")
        places = {"output": output, "feature_output": feature_output, "save": save}
        _in_blocks(files, learner, places, scheduler, work_folder, console)
        return
    if work_folder is not None:
        raise click.UsageError("--work-folder is for a graph in blocks: give its Parquet files as a folder or a glob")
    tables = [(path, what) for path, what in ((output, "nodes"), (feature_output, "features")) if path]
    if not (tables or save or score):
        raise click.UsageError("nothing to write: give --output, --feature-output, --save or --score")
    formats = checked_outputs([path for path, _ in tables], save, files.paths, format_name)
    graph = files.read(say=console.say)
    if score and graph.labels is None:
        raise click.UsageError(f"there is nothing to score on: {files.graph} has no labels; --labels goes with --edges")
    for path, what in tables:
        check_exportable(graph.node_ids if what == "nodes" else learner.context_names(graph), formats[path])
    console.say(described(graph))
    _, seconds = timed(lambda: learner.fit(graph))
    learner.set_params(verbose=False)  # a matter of this command, not of the model
    # Written before they are scored: nothing that goes wrong from here on costs the vectors.
    if save:
        learner.save(save)
    for path, what in tables:
        with output_file(path) as file:
            learner.export(file, what=what, format=formats[path])
    written = {"output": output, "feature_output": feature_output, "save": save}
    names = {name: str(path) for name, path in written.items() if path}
    console.say(summary(learner.embedding_.shape, seconds, *names.values()))
    made_from = {"scales": list(learner.scale_columns_), "rows": learner.rows_}
    scores: dict[str, Any] = {"task": None, "splits": None, "scores": None}
    lines: list[str] = []
    if score:
        scores, lines = scored(learner, graph, console, seconds, task=task, splits=splits, standardize=standardize)
    if score or console.as_json:
        console.answer({**model_size(learner), **made_from, "seconds": seconds, **names, **scores}, lines)


def _in_blocks(
    files: GraphFiles,
    learner: NodeEmbedding,
    places: dict[str, Path | None],
    scheduler: str | None,
    work_folder: Path | None,
    console: Console,
) -> None:
    """The command for a graph that is not held in memory."""
    feature_output, save = places["feature_output"], places["save"]
    formats = checked_outputs([feature_output] if feature_output else [], save, [], None)
    graph, seconds = timed(
        lambda: embedded_in_blocks(files, learner, places["output"], scheduler, work_folder, console)
    )
    learner.set_params(verbose=False)
    if save:
        learner.save(save)
    if feature_output:
        with output_file(feature_output) as file:
            learner.export(file, what="features", format=formats[feature_output])
    names = {name: str(path) for name, path in places.items() if path}
    size = {**model_size(learner), "nodes": graph.n_nodes}
    console.say(summary((size["nodes"], size["dimensions"]), seconds, *names.values()))
    if console.as_json:
        made_from = {"scales": list(learner.scale_columns_), "rows": learner.rows_}
        console.answer({**size, **made_from, "seconds": seconds, **names}, [])


def timed(run: Callable[[], Any]) -> tuple[Any, float]:
    """What a function returns, and the seconds that it took."""
    begin = time.perf_counter()
    return run(), time.perf_counter() - begin


def checked_outputs(
    tables: Sequence[Path],
    save: Path | None,
    inputs: Sequence[Path],
    format_name: str | None,
    format_of: Callable[[Path, str | None], str] = vector_format,
) -> dict[Path, str]:
    """Format of each table, once it is certain that every output can be written and none is in use."""
    taken = {os.path.realpath(path): "is read from" for path in inputs}
    for path in (*tables, *([save] if save else [])):
        if path == STREAM and path in tables:
            if tables.count(path) > 1:
                raise click.UsageError("only one table of vectors can go to the standard output")
            continue
        place = os.path.realpath(path)  # not Path.resolve, for which a loop of links is a RuntimeError
        if place in taken and (path.is_file() or not path.exists()):
            raise click.UsageError(f"cannot write {str(path)!r}: it {taken[place]} as well")
        taken[place] = "is written to"
        check_writable(path)
    return {path: format_of(path, format_name or ("csv" if path == STREAM else None)) for path in tables}


@contextmanager
def output_file(path: Path) -> Iterator[Path]:
    """The file to write to; what is written for the standard output is sent there when it is complete."""
    if path != STREAM:
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="hopscale-") as folder:
        file = Path(folder, "vectors")
        yield file
        with file.open("rb") as written:
            shutil.copyfileobj(written, sys.stdout.buffer)
        sys.stdout.buffer.flush()


def described(graph: AttributedGraph) -> str:
    """The size of a graph, in words."""
    size = f"{graph.n_nodes:,} nodes, {graph.n_edges:,} edges, {graph.n_features:,} features"
    return f"{size} ({graph.features.nnz:,} entries)"


def summary(shape: tuple[int, ...], seconds: float, *places: str) -> str:
    """What was made and written, in words."""
    made = f"{shape[0]:,} vectors of {shape[1]} dimensions in {seconds:.2f} s"
    return f"{made}: {', '.join(places)}" if places else made
