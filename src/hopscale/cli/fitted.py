"""A fitted model and labels of its nodes, for commands that take a saved model, a graph, or both."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from hopscale.cli.embedding import checked_outputs, described, summary, timed
from hopscale.cli.matching import graph_for
from hopscale.cli.options import chosen_model, given_parameters
from hopscale.cli.program import Command, Console, decorated
from hopscale.cli.sources import STREAM, GraphFiles, file_option, saved_model, with_graph
from hopscale.cli.wording import flag
from hopscale.explore.layout import METHODS, chosen_method
from hopscale.explore.plots import new_figure
from hopscale.graph import AttributedGraph
from hopscale.models import NodeEmbedding
from hopscale.names import positions

__all__ = ["Fitted", "check_picture", "fitted", "for_pictures", "label_name", "seed", "shown_file"]

_HOW_TO_RUN = ("n_jobs", "random_state")  # parameters that mean something without a fit


@dataclass(frozen=True)
class Fitted:
    """A fitted model, the graph if one was given, and labels in the order of the model's nodes."""

    model: NodeEmbedding
    graph: AttributedGraph | None
    labels: NDArray[Any] | None
    seconds: float | None = None  # of the fit, if there was one
    said: list[str] = field(default_factory=list)  # what was understood of each file


@dataclass(frozen=True)
class _Listening(Console):
    """A console that keeps the lines that it is told."""

    heard: list[str] = field(default_factory=list)

    def say(self, line: str) -> None:
        """Keep and show a line."""
        self.heard.append(line)
        super().say(line)


def for_pictures(output: str) -> Callable[[Command], Command]:
    """Give a command an argument ``saved``, a model, options that lead to a graph with labels, and ``output``,
    ``title`` and ``method`` of a picture; the many parameters of models come last, by ``with_parameters``."""
    return decorated(
        click.argument("saved", metavar="[MODEL]", required=False, type=click.Path(path_type=Path)),
        with_graph(labels=True, optional=True),
        file_option("--output", "-o", required=True, text=output),
        click.option(
            "--title", help="Title of the picture.  [default: the name of the file or data set; none on a plot]"
        ),
        click.option(
            "--method",
            type=click.Choice(METHODS),
            default="auto",
            show_default="t-SNE, or principal components without openTSNE",
            help="How the map is laid out.",
        ),
    )


def seed(parameters: dict[str, Any]) -> Any:
    """The seed of maps, clusters and splits."""
    return given_parameters(parameters).get("random_state", 0)


def shown_file(saved: Path | None, files: GraphFiles | None) -> Path | None:
    """The file or data set that a picture shows: the model, or else the graph; None for the standard input."""
    place = saved if saved is not None or files is None else files.graph or files.edges
    return None if place == STREAM else place


def label_name(files: GraphFiles | None) -> str | None:
    """The name of the labels' column, where it was given as a name."""
    name = None if files is None else files.label_column
    return None if name is None or name.isdigit() else name


def check_picture(
    output: Path, saved: Path | None, files: GraphFiles | None, method: str, *, is_drawn: bool = True
) -> str:
    """The method of a map, once it is certain that it can be drawn and written: nothing is learnt in vain.

    With ``is_drawn``, it is drawn by matplotlib, which must be there.
    """
    checked_outputs([], output, [*(files.paths if files else []), *([saved] if saved else [])], None)
    if is_drawn:
        new_figure(None)
    return chosen_method(method)


def fitted(
    saved: Path | None, files: GraphFiles | None, model: str, parameters: dict[str, Any], console: Console
) -> Fitted:
    """The saved model, or one that is fitted to the graph that was given."""
    if saved is None and (files is None or files.only_labels):
        raise click.UsageError("give a saved MODEL, or a graph: --edges (and --features or --nodes) or --graph")
    if saved is not None:
        return _saved(saved, files, parameters, console)
    assert files is not None
    learner = chosen_model(model, parameters).set_params(verbose=not console.quiet)
    listening = _Listening(console.as_json, console.quiet, console.is_output_taken)
    graph = files.read(say=listening.say)
    console.say(described(graph))
    _, seconds = timed(lambda: learner.fit(graph))
    console.say(summary(learner.embedding_.shape, seconds))
    return Fitted(learner, graph, graph.labels, seconds, listening.heard)


def _saved(path: Path, files: GraphFiles | None, parameters: dict[str, Any], console: Console) -> Fitted:
    learner = saved_model(path)
    for option in given_parameters(parameters):
        if option not in _HOW_TO_RUN:
            raise click.UsageError(f"{flag(option)} is for learning: it means nothing to a model that was saved")
    learner.set_params(verbose=not console.quiet)
    if "n_jobs" in given_parameters(parameters):
        learner.set_params(n_jobs=parameters["n_jobs"])
    listening = _Listening(console.as_json, console.quiet, console.is_output_taken)
    if files is None or files.only_labels:
        graph = getattr(learner, "graph_", None)
    else:
        graph = graph_for(learner, files, listening)
    if files is not None and files.only_labels:
        labels: NDArray[Any] | None = files.read_labels(learner, say=listening.say)
    else:
        labels = None if graph is None else _labels_of(learner, graph)
    return Fitted(learner, graph, labels, said=listening.heard)


def _labels_of(model: NodeEmbedding, graph: AttributedGraph) -> NDArray[Any] | None:
    """Labels of the graph in the order of the model's nodes."""
    if graph.labels is None:
        return None
    at = positions(model.node_ids_, graph.node_ids)
    if at.min(initial=0) < 0:
        known = graph.labels.astype(object) if graph.labels.dtype.kind != "f" else graph.labels
        gap = np.nan if known.dtype.kind == "f" else None
        return np.append(known, np.array([gap], dtype=known.dtype))[at]
    return np.asarray(graph.labels[at])
