"""``hopscale transform`` and ``hopscale extend``: vectors of other nodes, by a saved model."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from hopscale.cli.embedding import FORMAT, checked_outputs, described, output_file, summary, timed
from hopscale.cli.matching import graph_for
from hopscale.cli.program import Console, with_console
from hopscale.cli.questions import MODEL
from hopscale.cli.sources import GraphFiles, file_option, saved_model, with_graph
from hopscale.compute.threads import effective_jobs
from hopscale.exceptions import HopscaleWarning, warn
from hopscale.graph import AttributedGraph
from hopscale.io.vectors import check_exportable, write_vectors
from hopscale.models import NodeEmbedding
from hopscale.names import positions, shown_name

__all__ = ["extend", "transform"]

_JOBS = click.option("--n-jobs", type=int, default=-1, show_default=True, help="Threads; -1 for all cores.")


@click.command()
@MODEL
@with_graph(labels=False)
@file_option("--output", "-o", required=True, text="Where the vectors go.")
@FORMAT
@_JOBS
@with_console
def transform(
    model: Path, files: GraphFiles, output: Path, format_name: str | None, n_jobs: int, console: Console
) -> None:
    """Vectors of the nodes of a whole graph, by a MODEL that was saved.

    A vector comes from what is around a node in the files that are given, and from nothing that the model
    remembers: for new nodes give their neighbours as well, with all of their edges and features. hopscale
    extend takes the new rows alone. Features are matched by name; their vectors stay as they are. A table of new
    --nodes is read as the one that the model was learnt from.

    \b
    hopscale transform model.safetensors --edges new.csv --features new.json -o vectors.csv
    hopscale transform model.safetensors --edges new.csv --nodes new-nodes.csv -o vectors.csv
    """
    file_format, learner = _checked(model, files, output, format_name, n_jobs, console)
    graph = graph_for(learner, files, console)
    check_exportable(graph.node_ids, file_format)
    console.say(described(graph))
    vectors, seconds = timed(lambda: learner.transform(graph))
    _write(learner, graph.node_ids, vectors, output, file_format)
    console.say(summary(vectors.shape, seconds, str(output)))
    if console.as_json:
        size = {"nodes": graph.n_nodes, "dimensions": vectors.shape[1], "seconds": seconds}
        console.answer({"output": str(output), **size}, [])


@click.command()
@MODEL
@with_graph(labels=False)
@file_option("--output", "-o", required=True, text="Where the vectors of the new nodes go.")
@FORMAT
@_JOBS
@with_console
def extend(
    model: Path, files: GraphFiles, output: Path, format_name: str | None, n_jobs: int, console: Console
) -> None:
    """Vectors of new nodes, from their rows alone, by a MODEL that was saved with its graph.

    The files have the new rows only: edges to nodes that the model knows and among new ones, and features
    of the new nodes, or --nodes as the table that the model was learnt from. They are joined by id to the
    graph that embed --keep-graph has saved in the model, whose file stays as it is: rows of today must be
    passed again tomorrow, until embed has run anew.

    \b
    hopscale embed --edges edges.csv --features features.json --keep-graph --save model.safetensors
    hopscale extend model.safetensors --edges new.csv --features new.json -o new_vectors.csv
    """
    file_format, learner = _checked(model, files, output, format_name, n_jobs, console)
    with warnings.catch_warnings():
        # Nodes that the model knows need no row in the table of the new ones.
        warnings.filterwarnings("ignore", ".* nodes in the edges are not in the node table", HopscaleWarning)
        rows = graph_for(learner, files, console)
    _warn_of_bare_nodes(rows, learner)
    console.say(f"new rows: {described(rows)}")
    (ids, vectors), seconds = timed(lambda: learner.extend(rows))
    check_exportable(ids, file_format)
    _write(learner, ids, vectors, output, file_format)
    console.say(summary(vectors.shape, seconds, str(output)))
    if console.as_json:
        size = {"new_nodes": len(ids), "dimensions": vectors.shape[1], "seconds": seconds}
        console.answer({"output": str(output), **size}, [])


def _warn_of_bare_nodes(rows: AttributedGraph, model: NodeEmbedding) -> None:
    """Warn of new nodes without features, where there are such with features."""
    is_new = positions(rows.node_ids, model.node_ids_) < 0
    bare = is_new & (np.diff(rows.features.indptr) == 0)
    if bare.any() and not bare[is_new].all():
        first = shown_name(rows.node_ids, int(np.argmax(bare)))
        warn(f"{int(bare.sum())} of the {int(is_new.sum())} new nodes have no features, such as {first}")


def _checked(
    model: Path, files: GraphFiles, output: Path, format_name: str | None, n_jobs: int, console: Console
) -> tuple[str, NodeEmbedding]:
    """Format of the output and the model, once it is certain that the output can be written."""
    formats = checked_outputs([output], None, [model, *files.paths], format_name)
    effective_jobs(n_jobs)  # refuses a number that makes no sense
    return formats[output], saved_model(model).set_params(verbose=not console.quiet, n_jobs=n_jobs)


def _write(
    model: NodeEmbedding, ids: NDArray[Any], vectors: NDArray[np.float32], output: Path, file_format: str
) -> None:
    with output_file(output) as file:
        write_vectors(file, ids, vectors, columns=model.get_feature_names_out(), format=file_format)
