"""``hopscale classify`` and ``hopscale regress``: from the labels of some nodes to predictions for the others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from hopscale.cli.embedding import checked_outputs, described, timed
from hopscale.cli.options import chosen_model, given_parameters, was_given, with_parameters
from hopscale.cli.predicting import (
    FORMAT,
    counted,
    other_nodes,
    prediction_facts,
    shown_counts,
    write_predictions,
)
from hopscale.cli.program import Command, Console, decorated, with_console
from hopscale.cli.sources import GraphFiles, Predictor, file_option, with_graph
from hopscale.cli.wording import flag
from hopscale.exceptions import GraphError
from hopscale.graph import AttributedGraph
from hopscale.io.predictions import name_column, table_format
from hopscale.io.vectors import name_text
from hopscale.labels import has_value, likely_task
from hopscale.models import NodeEmbedding
from hopscale.supervised import GraphClassifier, GraphRegressor
from hopscale.supervised.selection import NOTHING_LEARNT
from hopscale.supervised.targets import as_classes

__all__ = ["classify", "regress"]

_HOW_TO_RUN = ("n_jobs", "random_state")  # parameters of the embedder and of the predictor
_DEFAULT_MODEL = "ae, or deepwalk where nodes have no features"


def _options(kind: type[Predictor]) -> Callable[[Command], Command]:
    """Options that both commands have, with what the class says of them."""
    default = kind()
    return decorated(
        with_graph(labels=True),
        file_option("--output", "-o", text="Where the predictions go: .csv, .tsv or .parquet; - for stdout."),
        FORMAT,
        click.option("--all", "everything", is_flag=True, help="Write the training nodes as well, with their labels."),
        file_option("--save", text="Where the model goes, for predict, explain and info: .safetensors."),
        click.option(
            "--inputs",
            type=click.Choice(["auto", "vectors", "features", "both"]),
            default=default.inputs,
            show_default=True,
            help="What is seen of a node: its vector, its own features, or both; auto lets cross-validation choose.",
        ),
        click.option(
            "--head",
            type=click.Choice(["auto", *kind.heads]),
            default=default.head,
            show_default=True,
            help="What predicts from that; auto lets cross-validation choose.",
        ),
        click.option(
            "--smooth/--no-smooth",
            default=default.smooth,
            show_default=True,
            help="Whether predictions may be smoothed over the edges, if cross-validation says so.",
        ),
        click.option("--folds", type=int, default=default.folds, show_default=True, help="Of the cross-validation."),
        click.option(
            "--landmarks",
            type=int,
            default=default.landmarks,
            show_default=True,
            help="Largest number of training nodes that a kernel compares all nodes with.",
        ),
        with_parameters(None, said=_DEFAULT_MODEL),
        with_console,
    )


@click.command()
@click.option(
    "--classes", "are_classes", is_flag=True, help="Labels are classes, even if they are numbers that look like values."
)
@_options(GraphClassifier)
def classify(are_classes: bool, **options: Any) -> None:
    """Learn from the classes of some nodes, and predict those of the others.

    Trains on the nodes that have a label. What is used of the graph (vectors, features or both, which head,
    whether to smooth over the edges) is chosen by cross-validation among these nodes; its score is printed beside
    what the commonest class would score. A row of predictions has the node's id, its most probable class, the
    probability of that class, and the probability of each class.

    \b
    hopscale classify --edges edges.csv --features features.json --labels labels.csv -o predictions.csv
    hopscale classify --edges edges.csv --nodes nodes.csv --label-column team -o predictions.parquet
    hopscale classify --edges e.csv --features f.json --labels l.csv --dimensions 256 --save model.safetensors
    hopscale classify --graph digits --inputs features --head kernel
    """
    _learn(GraphClassifier, _no_check if are_classes else _check_classes, **options)


@click.command()
@_options(GraphRegressor)
def regress(**options: Any) -> None:
    """Learn from the values of some nodes, and predict those of the others.

    As hopscale classify, for labels that are numbers such as ages, prices or page views. The score is R², the
    share of the variance of values that is predicted: 0 is what the mean would score. Values are taken as they are:
    write the logarithms of what varies by factors.

    \b
    hopscale regress --edges edges.csv --features features.json --labels ages.csv -o predictions.csv
    hopscale regress --edges edges.csv --nodes nodes.csv --label-column income --save model.safetensors
    """
    _learn(GraphRegressor, _no_check, **options)


def _learn(
    kind: type[Predictor],
    check_labels: Callable[[NDArray[Any]], None],
    *,
    files: GraphFiles,
    output: Path | None,
    format_name: str | None,
    everything: bool,
    save: Path | None,
    model: str | None,
    console: Console,
    inputs: str,
    head: str,
    smooth: bool,
    folds: int,
    landmarks: int,
    **parameters: Any,
) -> None:
    if files.edges and not files.have_labels:
        raise click.UsageError("there is nothing to learn from: give --labels, or --label-column of --nodes")
    if everything and output is None:
        raise click.UsageError("--all is for the predictions: give --output")
    learner = kind(inputs=inputs, head=head, smooth=smooth, folds=folds, landmarks=landmarks)
    learner.set_params(**{name: parameters[name] for name in given_parameters(parameters) if name in _HOW_TO_RUN})
    learner.set_params(verbose=not console.quiet).check_parameters()
    if inputs == "features":
        _refuse_embedder(parameters)
    else:
        learner.embedder = _embedder(model or "ae", parameters, console)
    tables = [output] if output else []
    formats = checked_outputs(tables, save, files.paths, format_name, table_format)
    graph = files.read(say=console.say)
    labels, train = _training_labels(graph, kind, files, check_labels)
    if output and not everything and len(train) == graph.n_nodes:
        raise GraphError(
            f"all {graph.n_nodes} nodes have a label: there is nothing to predict. --all writes predictions for these "
            "as well, and without --output their cross-validated score is printed"
        )
    name_column(graph.node_ids)  # refuses names that cannot be written
    if learner.embedder is not None and model is None and not graph.features.nnz:
        learner.embedder = _embedder("deepwalk", parameters, console)
    console.say(f"{described(graph)}; {len(train):,} nodes have a label")
    _, seconds = timed(lambda: learner.fit(graph, labels, train=train))
    for each in (learner, learner.embedder, learner.embedder_):
        if each is not None:
            each.set_params(verbose=False)  # a matter of this command, not of the model
    rows = np.arange(graph.n_nodes) if everything else other_nodes(learner)
    if save:
        learner.save(save)
    if output:
        known = _known(labels, train, graph.n_nodes)[rows].tolist() if everything else None
        write_predictions(learner, learner.node_ids_[rows], learner.outputs_[rows], output, formats[output], known)
    _answer(learner, labels[train], rows, seconds, {"output": output, "save": save}, console)


# Before the fit.


def _embedder(name: str, parameters: dict[str, Any], console: Console) -> NodeEmbedding:
    return chosen_model(name, parameters).set_params(verbose=not console.quiet)  # type: ignore[no-any-return]


def _refuse_embedder(parameters: dict[str, Any]) -> None:
    """Refuse settings of an embedder that would not be used."""
    for name in ("model", *parameters):
        if was_given(name) and name not in _HOW_TO_RUN:
            raise click.UsageError(f"{flag(name)} means nothing to --inputs features, which needs no vectors")


def _training_labels(
    graph: AttributedGraph, kind: type[Predictor], files: GraphFiles, check: Callable[[NDArray[Any]], None]
) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Labels of all nodes, and positions of those that have one."""
    if graph.labels is None:
        raise click.UsageError(
            f"there is nothing to learn from: {files.graph} has no labels; --labels goes with --edges"
        )
    labels = graph.labels
    if kind is GraphRegressor:
        train = np.flatnonzero(has_value(labels))
    else:
        check(labels)
        codes, classes = as_classes(labels)
        name_column(classes)  # refuses names that cannot be written
        labels, train = classes[codes], np.flatnonzero(codes >= 0)  # of other nodes nothing is read
    if not len(train):
        raise GraphError("no node has a label: there is nothing to learn from")
    return labels, train


def _no_check(labels: NDArray[Any]) -> None:
    """Labels are what the command takes them for."""


def _check_classes(labels: NDArray[Any]) -> None:
    task, reason = likely_task(labels)
    if task == "regression":
        raise GraphError(
            f"the labels look like values, not classes: {reason}. hopscale regress predicts values; if they are "
            "classes all the same, give --classes"
        )


# After the fit.


def _answer(
    model: Predictor,
    labels: NDArray[Any],
    rows: NDArray[np.int64],
    seconds: float,
    paths: dict[str, Path | None],
    console: Console,
) -> None:
    """Print what was chosen and what is predicted for the nodes at ``rows``; ``labels`` are of the training nodes."""
    document, lines = _report(model, labels)
    if len(rows):
        facts, more = prediction_facts(model, model.outputs_[rows])
        document, lines = {**document, **facts}, lines + more
    written = {name: str(path) for name, path in paths.items() if path}
    if "save" in written:
        lines.append(f"saved               {written['save']}: {_reach(model)}")
    if console.as_json or not (console.quiet and written):
        console.answer({**document, "seconds": seconds, **written}, lines)


def _known(labels: NDArray[Any], train: NDArray[np.int64], n: int) -> NDArray[Any]:
    """Labels of the training nodes, None elsewhere."""
    known = np.full(n, None, dtype=object)
    known[train] = labels[train].tolist()
    return known


def _report(model: Predictor, labels: NDArray[Any]) -> tuple[dict[str, Any], list[str]]:
    """What was chosen, its cross-validated score and the baseline, as a document and as lines."""
    report, is_classifier = model.report_, isinstance(model, GraphClassifier)
    where = f"in {report.n_folds}-fold cross-validation on {report.n_train:,} training nodes"
    document: dict[str, Any] = {
        "model": type(model).__name__,
        "embedder": None if model.embedder_ is None else type(model.embedder_).__name__,
        "nodes": len(model.node_ids_),
        "training_nodes": report.n_train,
        "metric": report.metric,
        "score": report.chosen.score,
        "baseline": report.baseline,
        "folds": report.n_folds,
        "chosen": asdict(report.chosen),
        "candidates": [asdict(each) for each in report.candidates],
    }
    lines = [f"chosen              {report.chosen}"]
    if not is_classifier:
        lines += [
            f"R²                  {report.chosen.score:.4f} {where}",
            f"R² of the mean      {report.baseline:.4f}",
            f"trained on          {report.n_train:,}, mean {labels.mean():.6g}, deviation {labels.std():.6g}",
        ]
        return document, lines if report.is_better else [*lines, NOTHING_LEARNT]
    code = {name: i for i, name in enumerate(model.classes_.tolist())}
    counts = counted(model, np.array([code[label] for label in labels.tolist()]))
    document["classes"] = [{"class": name, "training_nodes": count} for name, count in counts]
    lines += [
        f"accuracy            {report.chosen.score:.4f} {where}",
        f"commonest class     {report.baseline:.4f} ({name_text(counts[0][0])})",
        f"trained on          {report.n_train:,}: {shown_counts(counts)}",
    ]
    return document, lines if report.is_better else [*lines, NOTHING_LEARNT]


def _reach(model: Predictor) -> str:
    """Which nodes a saved model can answer for."""
    if model.embedder_ is None or model.embedder_.inductive:
        alone = ", there without smoothing" if model.report_.chosen.smoothing else ""
        return f"predicts for the nodes of this graph, and for those of others{alone}"
    return f"predicts for the nodes of this graph alone, as {type(model.embedder_).__name__} cannot embed others"
