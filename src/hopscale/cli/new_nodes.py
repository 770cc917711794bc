"""``hopscale extend``: vectors of nodes that join the graph of a saved model."""

from __future__ import annotations

from pathlib import Path

import click

from hopscale.cli.embedding import FORMAT, checked_outputs, described, output_file, summary, timed
from hopscale.cli.matching import named_as_in
from hopscale.cli.program import Console, with_console
from hopscale.cli.sources import GraphFiles, file_option, saved_model, with_graph
from hopscale.compute.threads import effective_jobs
from hopscale.io.vectors import check_exportable, write_vectors

__all__ = ["extend"]


@click.command()
@click.argument("model", type=click.Path(path_type=Path))
@with_graph(labels=False)
@file_option("--output", "-o", required=True, text="Where the vectors of the new nodes go.")
@FORMAT
@click.option("--n-jobs", type=int, default=-1, show_default=True, help="Threads; -1 for all cores.")
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
    formats = checked_outputs([output], None, [model, *files.paths], format_name)
    effective_jobs(n_jobs)  # refuses a number that makes no sense
    learner = saved_model(model).set_params(verbose=not console.quiet, n_jobs=n_jobs)
    rows = named_as_in(learner, files.read_for(learner, say=console.say))
    console.say(f"new rows: {described(rows)}")
    (ids, vectors), seconds = timed(lambda: learner.extend(rows))
    check_exportable(ids, formats[output])
    with output_file(output) as file:
        write_vectors(file, ids, vectors, columns=learner.get_feature_names_out(), format=formats[output])
    console.say(summary(vectors, seconds, str(output)))
    if console.as_json:
        size = {"new_nodes": len(ids), "dimensions": vectors.shape[1], "seconds": seconds}
        console.answer({"output": str(output), **size}, [])
