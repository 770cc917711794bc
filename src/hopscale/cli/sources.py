"""What commands read: a graph from files or by name, a saved model."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from hopscale import datasets
from hopscale.cli.options import was_given
from hopscale.cli.program import Command, decorated
from hopscale.cli.wording import flag
from hopscale.exceptions import FileFormatError
from hopscale.features.encoded import KINDS, METHODS
from hopscale.graph import AttributedGraph, Directed
from hopscale.io import read_graph
from hopscale.io.content import existing
from hopscale.models import NodeEmbedding, load_model

__all__ = ["HEADER", "GraphFiles", "file_option", "looks_like_model", "model_size", "saved_model", "with_graph"]


@dataclass(frozen=True)
class GraphFiles:
    """Where a graph is to be read from."""

    edges: Path | None = None
    features: Path | None = None
    node_table: Path | None = None
    graph: Path | None = None
    labels: Path | None = None
    weight: str | None = None
    value: str | None = None
    id_column: str | None = None
    columns: dict[str, str] | None = None
    node_column: str | None = None
    label_column: str | None = None
    header: bool | None = None
    self_loops: bool = False
    directed: Directed = "error"

    @functools.cached_property
    def name(self) -> str | None:
        """Name of a data set, unless it is a file that was given."""
        if self.graph is None or self.graph.is_file() or self.graph.name != str(self.graph):
            return None
        name = self.graph.name
        # What looks like no file is answered by a list of names.
        return name if name in datasets.names() or not (self.graph.suffix or self.graph.exists()) else None

    @property
    def paths(self) -> list[Path]:
        """All files that will be read."""
        if self.name is not None:
            place = datasets.locate(self.name).path
            return [] if place is None else [place]
        return [
            path for path in (self.graph, self.edges, self.features, self.node_table, self.labels) if path is not None
        ]

    def check(self) -> None:
        """Refuse what makes no sense together."""
        if (self.edges is None) == (self.graph is None):
            raise click.UsageError("give a graph: either --edges (and --features or --nodes) or --graph")
        for option in ("id_column", "columns"):
            if getattr(self, option) and self.node_table is None:
                raise click.UsageError(f"{flag(option)} speaks of a node table: give --nodes")
        if self.name is not None:
            for option in self.__dataclass_fields__:
                if option != "graph" and getattr(self, option) not in (None, False, "error"):
                    raise click.UsageError(f"{flag(option)} means nothing to a data set that is given by its name")

    @property
    def have_labels(self) -> bool:
        """Whether labels were given, in a file of their own or as a column of the nodes."""
        return self.labels is not None or (self.node_table is not None and self.label_column is not None)

    def read(self, **more: Any) -> AttributedGraph:
        """The graph; what :func:`~hopscale.io.read_graph` takes besides is passed on."""
        if self.name is not None:
            return datasets.load(self.name)
        apart = ("edges", "graph", "node_table")
        settings = {name: getattr(self, name) for name in self.__dataclass_fields__ if name not in apart}
        return read_graph(self.paths[0], nodes=self.node_table, **settings, **more)

    def read_for(self, model: NodeEmbedding, **more: Any) -> AttributedGraph:
        """The graph, with a node table read as the one that the model was learnt from."""
        if self.node_table is None:
            return self.read(**more)
        if model.encoder_ is None:
            raise click.UsageError("--nodes means nothing to a model that was not learnt from a node table")
        return self.read(encoder=model.encoder_, **more)


def saved_model(path: Path) -> NodeEmbedding:
    """A model that ``embed --save`` has written."""
    if not looks_like_model(path):
        raise FileFormatError(f"{path} is no hopscale model; embed --save writes one")
    return load_model(path)


def model_size(model: NodeEmbedding) -> dict[str, Any]:
    """What a model is, and of what size."""
    n, d = model.embedding_.shape
    return {"model": type(model).__name__, "nodes": n, "features": len(model.feature_names_), "dimensions": d}


def looks_like_model(path: Path) -> bool:
    """By suffix, or by what follows the length that a safetensors file begins with."""
    if path.suffix == ".safetensors" or path.is_dir():
        return True
    with existing(path).open("rb") as file:
        return file.read(9)[8:] == b"{"


def file_option(*names: str, text: str, **settings: Any) -> Callable[[Command], Command]:
    """An option that takes a path; whether it exists is for the readers and writers to say."""
    return click.option(*names, type=click.Path(path_type=Path), help=text, **settings)


HEADER = click.option(
    "--header/--no-header",
    default=None,
    help="Text files begin with a line of names, or do not.  [default: as it looks]",
)
_GRAPH_OPTIONS = (
    file_option("--edges", text="Text with an edge a line: source,target or source,target,weight."),
    file_option("--features", text='JSON {"node": ["feature", ...]}, or text: node,feature or node,feature,value.'),
    file_option(
        "--nodes",
        "node_table",  # commands have nodes of their own
        text="Text with an ordinary table, a node a line: categories, numbers, dates, lists and text become features.",
    ),
    file_option(
        "--graph",
        text="A .npz, .graphml or .gml file that holds edges and features, or the name of a data set: one that "
        "hopscale datasets lists, or NAME for NAME.npz in the folder HOPSCALE_DATA.",
    ),
    click.option("--weight", help="Column of --edges with the weights.  [default: the third, if it is called so]"),
    click.option("--value", help="Column of --features with the values.  [default: the third, if it is called so]"),
    click.option(
        "--id", "id_column", help="Column of --nodes with the ids.  [default: that with most ids of the edges]"
    ),
    click.option(
        "--column",
        "columns",
        metavar="NAME=KIND",
        multiple=True,
        callback=lambda context, option, given: _kinds(given),
        help=f"What a column of --nodes holds, where the guess is wrong: {', '.join((*KINDS, *METHODS, 'drop'))}.",
    ),
    HEADER,
    click.option("--self-loops", is_flag=True, help="Keep self-loops."),
    click.option(
        "--directed",
        type=click.Choice(["error", "symmetrize"]),
        default="error",
        show_default=True,
        help="What to do with a directed graph in a GraphML or GML file: refuse it, or give each pair of nodes the "
        "larger of its two weights.",
    ),
)
_LABEL_OPTIONS = (
    file_option("--labels", text="Text with a node and its label a line; the vectors are scored on them."),
    click.option("--node-column", help="Column of --labels with the nodes.  [default: the first]"),
    click.option(
        "--label-column",
        help="Column of --labels, or else of --nodes, with the labels.  [default: the last of --labels]",
    ),
)


def _kinds(given: Sequence[str]) -> dict[str, str] | None:
    """Kinds by column, from NAME=KIND."""
    pairs = [(name, kind) for name, sign, kind in (text.rpartition("=") for text in given) if sign]
    if len(pairs) < len(given):
        raise click.UsageError("--column is given as NAME=KIND, such as --column age=number")
    return dict(pairs) or None


def with_graph(*, labels: bool, optional: bool = False) -> Callable[[Command], Command]:
    """Give a command options that lead to a graph, as one argument ``files``: None if it is optional and not given."""

    def with_files(command: Command) -> Command:
        @functools.wraps(command)
        def wrapped(*args: Any, **options: Any) -> None:
            given = {name: options.pop(name, None) for name in GraphFiles.__dataclass_fields__}
            files = GraphFiles(**given) if not optional or any(map(was_given, given)) else None
            if files is not None:
                files.check()
            command(*args, files=files, **options)

        return wrapped

    return decorated(*_GRAPH_OPTIONS, *(_LABEL_OPTIONS if labels else ()), with_files)
