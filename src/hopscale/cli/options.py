"""Options that are read off the models, and options that lead to a graph."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

import click
from click.core import ParameterSource

from hopscale.graph import AttributedGraph
from hopscale.io import read_graph
from hopscale.models import MUSAE, NodeEmbedding, registry

__all__ = [
    "MODELS",
    "PARAMETER_HELP",
    "GraphFiles",
    "chosen_model",
    "file_option",
    "with_graph",
    "with_parameters",
]

Command = Callable[..., None]

MODELS = {name.lower(): model for name, model in registry.MODELS.items()}

# What is not here is not an option; names, types and defaults come from the models themselves.
PARAMETER_HELP = {
    "dimensions": "Length of the vectors, all scales together.",
    "window": "Largest number of hops.",
    "self_scale": "Scale 0, the node's own features (ae and musae).",
    "ego": "Every node is a feature of its own as well (ae and musae).",
    "solver": "Factorise the matrix, or train on sampled walks.",
    "shift": "pmi: divide ratios by it before the logarithm.",
    "rows": "pmi: compute the matrix, or estimate its rows from walks.",
    "memory_limit": "pmi: memory for the matrix, such as 500MB.",
    "walk_length": "Length of the walks.",
    "walks_per_node": "Number of walks a node.",
    "start": "sgns: start walks in proportion to degree, or at every node.",
    "epochs": "sgns: passes over the walks.",
    "negatives": "sgns: noise features per pair.",
    "share_negatives": "sgns: small batches of pairs share their noise.",
    "noise_exponent": "sgns: noise is drawn from p(f) to this power.",
    "subsample": "sgns: sub-sample frequent features; 0 keeps all.",
    "learning_rate": "sgns: first learning rate.",
    "min_learning_rate": "sgns: last learning rate.",
    "n_jobs": "Threads; -1 for all cores. Changes no bit of the result.",
    "random_state": "Seed.",
}


def with_parameters(command: Command) -> Command:
    """Give a command ``--model`` and an option for every parameter that a model can have."""
    hints = get_type_hints(MUSAE.__init__)
    parameters = inspect.signature(MUSAE).parameters
    for name in reversed(PARAMETER_HELP):
        command = _option(name, parameters[name].default, hints[name])(command)
    return click.option(
        "--model", type=click.Choice(list(MODELS)), default="musae", show_default=True, help="What to learn."
    )(command)


def _option(name: str, default: Any, hint: Any) -> Callable[[Command], Command]:
    flag = "--" + name.replace("_", "-")
    kind: Any = type(default)
    if isinstance(default, bool):
        flag, kind = f"{flag}/--no-{flag[2:]}", None
    elif get_origin(hint) is Literal:
        kind = click.Choice(get_args(hint))
    return click.option(flag, name, type=kind, default=default, show_default=True, help=PARAMETER_HELP[name])


def chosen_model(name: str, options: dict[str, Any]) -> NodeEmbedding:
    """Model with the parameters that were given; one that it does not have must not have been given."""
    context = click.get_current_context()
    known = inspect.signature(MODELS[name]).parameters
    for option in options:
        if option not in known and context.get_parameter_source(option) is ParameterSource.COMMANDLINE:
            raise click.UsageError(f"--{option.replace('_', '-')} means nothing to the model {name}")
    return MODELS[name](**{option: value for option, value in options.items() if option in known})


@dataclass(frozen=True)
class GraphFiles:
    """The files that a graph is to be read from."""

    edges: Path | None
    features: Path | None
    graph: Path | None
    labels: Path | None
    node_column: str | None
    label_column: str | None
    self_loops: bool

    @property
    def paths(self) -> list[Path]:
        """All files that will be read."""
        return [path for path in (self.graph, self.edges, self.features, self.labels) if path is not None]

    def read(self) -> AttributedGraph:
        """The graph."""
        return read_graph(
            self.paths[0],
            self.features,
            self.labels,
            node_column=self.node_column,
            label_column=self.label_column,
            self_loops=self.self_loops,
        )


def file_option(*names: str, text: str, **settings: Any) -> Callable[[Command], Command]:
    """An option that takes a path; whether it exists is for the readers and writers to say."""
    return click.option(*names, type=click.Path(path_type=Path), help=text, **settings)


_GRAPH_OPTIONS = (
    file_option("--edges", text="Text with an edge a line: source,target or source,target,weight."),
    file_option("--features", text='JSON {"node": ["feature", ...]}, or text: node,feature or node,feature,value.'),
    file_option("--graph", text="A .npz file that holds edges and features."),
    click.option("--self-loops", is_flag=True, help="Keep self-loops."),
)
_LABEL_OPTIONS = (
    file_option("--labels", text="Text with a node and its label a line; the vectors are scored on them."),
    click.option("--node-column", help="Column of --labels with the nodes.  [default: the first]"),
    click.option("--label-column", help="Column of --labels with the labels.  [default: the last]"),
)


def with_graph(*, labels: bool) -> Callable[[Command], Command]:
    """Give a command options that lead to a graph, as one argument ``files``."""

    def decorate(command: Command) -> Command:
        @functools.wraps(command)
        def wrapped(*args: Any, **options: Any) -> None:
            given = {name: options.pop(name, None) for name in GraphFiles.__dataclass_fields__}
            if (given["edges"] is None) == (given["graph"] is None):
                raise click.UsageError("give a graph: either --edges (and --features) or --graph")
            command(*args, files=GraphFiles(**given), **options)

        with_options: Command = wrapped
        for option in reversed(_GRAPH_OPTIONS + (_LABEL_OPTIONS if labels else ())):
            with_options = option(with_options)
        return with_options

    return decorate
