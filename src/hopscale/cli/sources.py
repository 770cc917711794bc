"""What commands read: a graph from files or by name, a saved model."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
from numpy.typing import NDArray

from hopscale import datasets
from hopscale.cli.program import Command, decorated
from hopscale.cli.wording import flag
from hopscale.exceptions import FileFormatError
from hopscale.features.encoded import KINDS, METHODS
from hopscale.graph import AttributedGraph, Directed
from hopscale.io import read_graph
from hopscale.io.content import content_kind, existing
from hopscale.io.files import ATTRIBUTED, read_node_labels
from hopscale.models import NodeEmbedding
from hopscale.supervised import GraphClassifier, GraphRegressor, load_model

__all__ = [
    "STREAM",
    "GraphFiles",
    "Predictor",
    "file_option",
    "looks_like_model",
    "model_size",
    "saved",
    "saved_model",
    "saved_predictor",
    "with_graph",
]

Predictor = GraphClassifier | GraphRegressor


STREAM = Path("-")  # standard input where it is read, standard output where it is written


@dataclass(frozen=True)
class GraphFiles:
    """Where a graph is to be read from, and how."""

    edges: Path | None = None
    features: Path | None = None
    node_table: Path | None = None
    graph: Path | None = None
    labels: Path | None = None
    source: str | None = None
    target: str | None = None
    weight: str | None = None
    no_weight: bool = False
    value: str | None = None
    id_column: str | None = None
    columns: dict[str, str] | None = None
    node_column: str | None = None
    label_column: str | None = None
    header: bool | None = None
    edges_header: bool | None = None
    features_header: bool | None = None
    labels_header: bool | None = None
    nodes_header: bool | None = None
    skip_bad_lines: bool = False
    self_loops: bool = False
    directed: Directed = "error"

    @functools.cached_property
    def name(self) -> str | None:
        """Name of a data set, unless it is a file that was given."""
        if self.graph in (None, STREAM) or self.graph.is_file() or self.graph.name != str(self.graph):
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
        return [path for path in self._given if path != STREAM]

    @property
    def _given(self) -> list[Path]:
        files = (self.graph, self.edges, self.features, self.node_table, self.labels)
        return [path for path in files if path is not None]

    @property
    def said(self) -> list[str]:
        """Options that were given."""
        return [name for name in self.__dataclass_fields__ if getattr(self, name) not in (None, False, "error")]

    @property
    def only_labels(self) -> bool:
        """Whether a file with labels was given, and nothing of the graph."""
        of_labels = ("labels", "node_column", "label_column", "labels_header", "header", "skip_bad_lines")
        return self.labels is not None and set(self.said) <= set(of_labels)

    def read_labels(self, model: NodeEmbedding, *, say: Callable[[str], None]) -> NDArray[Any]:
        """Labels of a model's nodes, where no graph was given."""
        return read_node_labels(
            sys.stdin.buffer if self.labels == STREAM else self.labels,  # type: ignore[arg-type]
            model.node_ids_,
            node_column=self.node_column,
            label_column=self.label_column,
            header=self.header if self.labels_header is None else self.labels_header,
            skip_bad_lines=self.skip_bad_lines,
            say=say,
        )

    def check(self) -> None:
        """Refuse what makes no sense together."""
        if (self.edges is None) == (self.graph is None):
            raise click.UsageError("give a graph: either --edges (and --features or --nodes) or --graph")
        for option, has_table in (("id_column", self.node_table is not None), ("columns", self.has_table)):
            if getattr(self, option) and not has_table:
                raise click.UsageError(f"{flag(option)} speaks of a node table: give --nodes")
        if self.no_weight and self.weight is not None:
            raise click.UsageError("give either --weight or --no-weight")
        if self._given.count(STREAM) > 1:
            raise click.UsageError("only one of the files can come from standard input")
        if self.name is not None:
            for option in self.said:
                if option != "graph":
                    raise click.UsageError(f"{flag(option)} means nothing to a data set that is given by its name")

    @property
    def has_table(self) -> bool:
        """Whether nodes come with a table, in a file of its own or as attributes in one of GraphML or GML."""
        return self.node_table is not None or (self.graph is not None and content_kind(self.graph) in ATTRIBUTED)

    @property
    def have_labels(self) -> bool:
        """Whether labels were given, in a file of their own or as a column of the nodes."""
        return self.labels is not None or (self.has_table and self.label_column is not None)

    def read(self, *, say: Callable[[str], None], **more: Any) -> AttributedGraph:
        """The graph; ``say`` is told what was understood of each file, and ``more`` passed on to ``read_graph``."""
        if self.name is not None:
            return datasets.load(self.name)
        files = {"edges": self._given[0], "features": self.features, "labels": self.labels, "nodes": self.node_table}
        headers = {name: getattr(self, f"{name}_header") for name in files}
        settings: dict[str, Any] = {
            name: getattr(self, name)
            for name in self.__dataclass_fields__
            if name not in (*files, "graph", "node_table") and not name.endswith("header")
        }
        settings |= {name: sys.stdin.buffer if path == STREAM else path for name, path in files.items()}
        settings["header"] = {name: self.header if header is None else header for name, header in headers.items()}
        if settings.pop("no_weight"):
            settings["weight"] = False
        return read_graph(**settings, say=say, **more)

    def read_for(self, model: NodeEmbedding | Predictor, *, say: Callable[[str], None]) -> AttributedGraph:
        """The graph, with a node table read as the one that the model was learnt from."""
        if not self.has_table or (self.node_table is None and model.encoder_ is None):
            return self.read(say=say)
        if model.encoder_ is None:
            raise click.UsageError("--nodes means nothing to a model that was not learnt from a node table")
        return self.read(encoder=model.encoder_, say=say)


def saved(path: Path, by: str = "embed") -> NodeEmbedding | Predictor:
    """A model of any kind that a command's ``--save`` has written."""
    if not looks_like_model(path):
        raise FileFormatError(f"{path} is no hopscale model; {by} --save writes one")
    return load_model(path)  # type: ignore[no-any-return]


def saved_model(path: Path) -> NodeEmbedding:
    """A model that ``embed --save`` has written."""
    model = saved(path)
    if isinstance(model, Predictor):
        raise FileFormatError(
            f"{path} is a {type(model).__name__}, which predicts: hopscale predict takes it. This command takes what "
            "embed --save has written"
        )
    return model


def saved_predictor(path: Path) -> Predictor:
    """A model that ``classify --save`` or ``regress --save`` has written."""
    model = saved(path, "classify")
    if not isinstance(model, Predictor):
        raise FileFormatError(
            f"{path} is a {type(model).__name__}, which has seen no labels: classify --save and regress --save write "
            "models that predict"
        )
    return model


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


def _header(file: str | None) -> Callable[[Command], Command]:
    """An option that says whether a file, or all of them, begin with the names of their columns."""
    name = "header" if file is None else f"{file}-header"
    what = "Text files begin" if file is None else f"--{file} begins"
    default = "as it looks" if file is None else "as --header says"
    ends = ", or do not" if file is None else ", or does not"
    return click.option(
        f"--{name}/--no-{name}", default=None, help=f"{what} with the names of the columns{ends}.  [default: {default}]"
    )


_GRAPH_OPTIONS = (
    file_option("--edges", text="Text with an edge a line, or Parquet; - for the standard input."),
    file_option("--features", text='JSON {"node": ["feature", ...]}, or text or Parquet: node,feature,value.'),
    file_option(
        "--nodes",
        "node_table",  # commands have nodes of their own
        text="Text or Parquet with an ordinary table, a node a line: categories, numbers, dates, lists and text become "
        "features.",
    ),
    file_option(
        "--graph",
        text="A .npz, .graphml or .gml file that holds edges and features, or the name of a data set: one that "
        "hopscale datasets lists, or NAME for NAME.npz in the folder HOPSCALE_DATA.",
    ),
    click.option("--source", help="Column of --edges with one node.  [default: by its name, else the first]"),
    click.option("--target", help="Column of --edges with the other node.  [default: by its name, else the second]"),
    click.option("--weight", help="Column of --edges with the weights.  [default: by its name]"),
    click.option("--no-weight", is_flag=True, help="Edges have no weights, whatever the names of columns say."),
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
        help="What a column of --nodes, or an attribute in a GraphML file, holds, where the guess is wrong: "
        f"{', '.join((*KINDS, *METHODS, 'drop'))}.",
    ),
    _header(None),
    _header("edges"),
    _header("features"),
    _header("nodes"),
    click.option("--skip-bad-lines", is_flag=True, help="Skip lines that cannot be read, and list them."),
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
    file_option("--labels", text="Text or Parquet with a node and its label a line."),
    click.option("--node-column", help="Column of --labels with the nodes.  [default: the first]"),
    click.option(
        "--label-column",
        help="Column of --labels, or else of --nodes or a GraphML file, with the labels.  "
        "[default: the last of --labels]",
    ),
    _header("labels"),
)


def _kinds(given: Sequence[str]) -> dict[str, str] | None:
    """Kinds by column, from NAME=KIND."""
    pairs = [(name, kind) for name, sign, kind in (text.rpartition("=") for text in given) if sign]
    if len(pairs) < len(given):
        raise click.UsageError("--column is given as NAME=KIND, such as --column age=number")
    return dict(pairs) or None


def with_graph(*, labels: bool, optional: bool = False, argument: str | None = None) -> Callable[[Command], Command]:
    """Give a command options that lead to a graph, as one argument ``files``: None if it is optional and not given.

    With an ``argument`` the graph, or its edges, may be named without an option, too.
    """

    def with_files(command: Command) -> Command:
        @functools.wraps(command)
        def wrapped(*args: Any, **options: Any) -> None:
            given = {name: options.pop(name, None) for name in GraphFiles.__dataclass_fields__}
            if argument is not None and (place := options.pop(argument)) is not None:
                if given["edges"] or given["graph"]:
                    raise click.UsageError(f"give {argument.upper()}, or --edges or --graph")
                given["graph"] = place
            files = GraphFiles(**given)
            is_left_out = optional and not files.said
            if not is_left_out and not (optional and files.only_labels):
                files.check()
            command(*args, files=None if is_left_out else files, **options)

        return wrapped

    places = [click.argument(argument, required=False, type=click.Path(path_type=Path))] if argument else []
    return decorated(*places, *_GRAPH_OPTIONS, *(_LABEL_OPTIONS if labels else ()), with_files)
