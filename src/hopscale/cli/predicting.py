"""``hopscale predict``, and what all commands do with predictions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from hopscale.cli.embedding import checked_outputs, described, output_file, timed
from hopscale.cli.matching import graph_for
from hopscale.cli.program import Console, with_console
from hopscale.cli.questions import MODEL
from hopscale.cli.sources import GraphFiles, Predictor, file_option, saved_predictor, with_graph
from hopscale.compute.threads import effective_jobs
from hopscale.exceptions import GraphError
from hopscale.graph import AttributedGraph
from hopscale.io.predictions import FORMATS, name_column, table_format, write_table
from hopscale.io.vectors import name_text
from hopscale.supervised import GraphClassifier

__all__ = ["FORMAT", "counted", "other_nodes", "predict", "prediction_facts", "shown_counts", "write_predictions"]

FORMAT = click.option(
    "--format",
    "format_name",
    type=click.Choice(FORMATS),
    help="Format of the predictions.  [default: by suffix; csv for -]",
)

_SHOWN = 10  # classes that are counted in a line


@click.command()
@MODEL
@with_graph(labels=False, optional=True)
@file_option("--output", "-o", required=True, text="Where the predictions go: .csv, .tsv or .parquet; - for stdout.")
@FORMAT
@click.option("--all", "everything", is_flag=True, help="Of the graph of the fit, write the training nodes as well.")
@click.option("--n-jobs", type=int, default=-1, show_default=True, help="Threads; -1 for all cores.")
@with_console
def predict(
    model: Path,
    files: GraphFiles | None,
    output: Path,
    format_name: str | None,
    everything: bool,
    n_jobs: int,
    console: Console,
) -> None:
    """Predictions for another graph, or for the nodes of the fit, by a saved MODEL.

    For another graph give its files: features are matched by name, and a table of --nodes is read as the one
    that the model was learnt from. That needs an embedder which can place other nodes, as AE and MUSAE can, or
    a model that uses features alone. Without files the answers are those for the graph of the fit.

    \b
    hopscale classify --edges edges.csv --features features.json --labels labels.csv --save model.safetensors
    hopscale predict model.safetensors --edges new.csv --features new.json -o predictions.csv
    hopscale predict model.safetensors -o predictions.parquet
    """
    inputs = [model, *([] if files is None else files.paths)]
    file_format = checked_outputs([output], None, inputs, format_name, table_format)[output]
    effective_jobs(n_jobs)  # refuses a number that makes no sense
    learner = saved_predictor(model)
    is_of_fit, seconds = files is None, 0.0
    ids, outputs = learner.node_ids_, learner.outputs_
    if files is not None:
        run = {"n_jobs": n_jobs, "verbose": not console.quiet}
        learner.set_params(**run)
        if learner.embedder_ is not None:
            learner.embedder_.set_params(**run)
            learner.embedder_._check_inductive()  # before anything is read
        graph = graph_for(learner, files, console)
        ids = graph.node_ids
        name_column(ids)  # refuses names that cannot be written
        console.say(described(graph))
        is_of_fit = learner.is_fitted_graph(graph)
        if everything and not is_of_fit:
            raise click.UsageError("--all is for the graph of the fit: of another graph all nodes are written")
        if learner.report_.chosen.smoothing and not is_of_fit:
            console.say("another graph than that of the fit: its nodes are predicted without smoothing")
        outputs, seconds = timed(lambda: _outputs(learner, graph))
    if is_of_fit and not everything:
        rows = other_nodes(learner)
        if not len(rows):
            raise GraphError(f"all {len(ids)} nodes of the fit are training nodes: --all writes these as well")
        ids, outputs = ids[rows], outputs[rows]
    write_predictions(learner, ids, outputs, output, file_format)
    facts, lines = prediction_facts(learner, outputs)
    console.say("\n".join(lines))
    if console.as_json:
        size = {"model": type(learner).__name__, "nodes": len(ids), "seconds": seconds}
        console.answer({"output": str(output), **size, **facts}, [])


def _outputs(model: Predictor, graph: AttributedGraph) -> NDArray[np.float64]:
    """Probabilities of the classes, or values."""
    return model.predict_proba(graph) if isinstance(model, GraphClassifier) else model.predict(graph)


def other_nodes(model: Predictor) -> NDArray[np.int64]:
    """Positions of the nodes that were not trained on."""
    return np.setdiff1d(np.arange(len(model.node_ids_)), model.train_)


def write_predictions(
    model: Predictor,
    ids: NDArray[Any],
    outputs: NDArray[np.float64],
    path: Path,
    file_format: str,
    labels: list[Any] | None = None,
) -> None:
    """Write a row for each node: its id, perhaps its known label, the prediction and, of classes, probabilities."""
    columns: dict[str, NDArray[Any]] = {"id": name_column(ids)}
    if labels is not None:
        numbers = not isinstance(model, GraphClassifier)
        columns["label"] = np.asarray(labels, dtype=np.float64) if numbers else name_column(labels)
    if isinstance(model, GraphClassifier):
        names = model.classes_.tolist()
        best = outputs.argmax(axis=1)
        columns["prediction"] = name_column([names[i] for i in best.tolist()])
        columns["probability"] = outputs.max(axis=1)
        columns |= {f"p_{name_text(name)}": outputs[:, i] for i, name in enumerate(names)}
    else:
        columns["prediction"] = outputs
    with output_file(path) as file:
        write_table(file, columns, format=file_format)


def prediction_facts(model: Predictor, outputs: NDArray[np.float64]) -> tuple[dict[str, Any], list[str]]:
    """What was predicted, in numbers and in a line."""
    if not isinstance(model, GraphClassifier):
        low, middle, high = np.quantile(outputs, [0, 0.5, 1]).tolist()
        facts = {"smallest": low, "median": middle, "largest": high}
        return {"predictions": facts}, [f"predictions         {len(outputs):,}, from {low:.4g} to {high:.4g}"]
    counts = counted(model, outputs.argmax(axis=1))
    facts = {"predictions": [{"class": name, "nodes": count} for name, count in counts]}
    return facts, [f"predictions         {len(outputs):,}: {shown_counts(counts)}"]


def counted(model: GraphClassifier, codes: NDArray[np.int64]) -> list[tuple[Any, int]]:
    """Classes and how many nodes have them, the commonest first."""
    counts = np.bincount(codes, minlength=len(model.classes_)).tolist()
    return sorted(zip(model.classes_.tolist(), counts, strict=True), key=lambda pair: -pair[1])


def shown_counts(counts: list[tuple[Any, int]]) -> str:
    """Counts in a line.

    >>> shown_counts([("tea", 1200), ("go", 3)])
    'tea 1,200, go 3'
    """
    text = ", ".join(f"{name_text(name)} {count:,}" for name, count in counts[:_SHOWN])
    return text if len(counts) <= _SHOWN else f"{text} and {len(counts) - _SHOWN} other classes"
