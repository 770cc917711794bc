"""The sections of a report, from a fitted model, its graph and labels."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from hopscale.atomic import replacing
from hopscale.checks import as_path
from hopscale.exceptions import GraphError, HopscaleError, ParameterError
from hopscale.explore.layout import node_positions
from hopscale.explore.node_colors import Classes, Values, cluster_colors, label_colors
from hopscale.explore.reports import charts
from hopscale.explore.reports.descriptions import (
    example_section,
    graph_section,
    group_section,
    made_section,
    read_section,
    value_section,
)
from hopscale.explore.reports.document import Document, Paragraph, Picture, Section, html_page, write_markdown
from hopscale.explore.reports.findings import scored
from hopscale.explore.reports.scores import score_sections
from hopscale.graph import AttributedGraph
from hopscale.labels import has_value
from hopscale.names import positions

__all__ = ["Settings", "make_report", "report_format", "write_report"]

_MOST_DRAWN = 20_000  # nodes on the map
_CLUSTERS = 8


@dataclass(frozen=True)
class Settings:
    """How a report is made.

    Attributes
    ----------
    title : str
    task : {"classification", "regression"}, optional
        What labels are; by default as they look.
    label_name : str, optional
        What labels that are values are called on the map.
    method : {"auto", "tsne", "umap", "pca"}
        How the map is laid out.
    random_state : int
        Seed of samples, splits, clusters and the map.
    command : str, optional
        What made the report, as it was typed.
    said : sequence of str
        What was understood of each file that was read.
    seconds : float, optional
        Time that the model took to learn.
    progress : callable
        Told what is done next.
    """

    title: str = "Report"
    task: Literal["classification", "regression"] | None = None
    label_name: str | None = None
    method: Literal["auto", "tsne", "umap", "pca"] = "auto"
    random_state: int = 0
    command: str | None = None
    said: Sequence[str] = ()
    seconds: float | None = None
    progress: Callable[[str], None] = lambda line: None


def make_report(
    model: Any,
    graph: AttributedGraph | None = None,
    labels: NDArray[Any] | None = None,
    settings: Settings | None = None,
) -> Document:
    """A report on a fitted model.

    Parameters
    ----------
    model : fitted model
    graph : AttributedGraph, optional
        The graph that the model was fitted to; its nodes are matched by id. Without it there are no statistics, no
        features of groups, and explanations are estimates.
    labels : array-like of shape (n,), optional
        Classes or values in the order of ``node_ids_``; by default those of the graph.
    settings : Settings, optional

    Returns
    -------
    Document
        :func:`write_report` writes it to a file.

    Examples
    --------
    >>> from hopscale import MUSAE, datasets
    >>> from hopscale.explore.reports import Settings, make_report
    >>> graph = datasets.planted_blocks(100)
    >>> model = MUSAE(dimensions=16).fit(graph)
    >>> report = make_report(model, graph, settings=Settings(method="pca"))
    >>> [section.title for section in report.sections][:2]
    ['The graph', 'Map']
    """
    how = Settings() if settings is None else settings
    graph = None if graph is None else _in_order_of(model, graph)
    labels = graph.labels if labels is None and graph is not None else labels
    column = None if labels is None else np.asarray(labels)
    if column is not None and not has_value(column).any():
        column = None
    document = Document(how.title, _about(model, graph, column))
    if graph is not None:
        how.progress("statistics of the graph")
        document.sections.append(graph_section(graph, column, how.task))
    if how.said:
        document.sections.append(read_section(how.said))
    how.progress("map of the nodes")
    colors = _colors(model, column, how)
    document.sections.append(_map_section(model, colors, column is not None, how))
    if column is not None:
        how.progress("scores on the labels")
        document.sections += _scores(model, column, how)
    how.progress("features and examples")
    document.sections += _groups(model, graph, column, colors)
    document.sections.append(made_section(model, how.command, how.seconds))
    return document


def _in_order_of(model: Any, graph: AttributedGraph) -> AttributedGraph:
    """The graph with its nodes in the order of the model's, which must be the same."""
    if np.array_equal(graph.node_ids, model.node_ids_):
        return graph
    at = positions(model.node_ids_, graph.node_ids)
    if len(at) != graph.n_nodes or at.min(initial=0) < 0:
        raise GraphError(
            f"the graph is not that of the model: it has {graph.n_nodes:,} nodes, of which {int((at >= 0).sum()):,} "
            f"are among the {len(at):,} nodes of the model. Give the graph that the model was learnt from"
        )
    return AttributedGraph(
        graph.adjacency[at][:, at],
        graph.features[at],
        node_ids=model.node_ids_,
        feature_names=graph.feature_names,
        labels=None if graph.labels is None else graph.labels[at],
        self_loops=True,
        encoder=graph.encoder,
    )


def _about(model: Any, graph: AttributedGraph | None, labels: NDArray[Any] | None) -> str:
    n, d = model.embedding_.shape
    size = f"{n:,} nodes" if graph is None else f"{n:,} nodes, {graph.n_edges:,} edges, {graph.n_features:,} features"
    known = "no labels" if labels is None else f"labels of {int(has_value(labels).sum()):,} nodes"
    return f"{size}, {known}; vectors of {d} dimensions by {type(model).__name__}"


def _scores(model: Any, labels: NDArray[Any], how: Settings) -> list[Section]:
    """Sections on scores, or one that says why there are none: labels of a single class or of too few nodes."""
    try:
        found = scored(model, labels, how.task, seed=how.random_state, progress=bool(model.verbose))
        return score_sections(model, labels, found, how.random_state)
    except HopscaleError as error:
        return [Section("Scores", [Paragraph(f"Vectors could not be scored on the labels: {error}.")])]


def _colors(model: Any, labels: NDArray[Any] | None, how: Settings) -> Classes | Values:
    if labels is not None:
        return label_colors(labels, model.node_ids_, task=how.task, name=how.label_name)
    known = int(model.embedding_.any(axis=1).sum())
    return cluster_colors(model, max(1, min(_CLUSTERS, known // 2)), random_state=how.random_state)


def _map_section(model: Any, colors: Classes | Values, labelled: bool, how: Settings) -> Section:
    n = len(model.node_ids_)
    rows = np.arange(n)
    if n > _MOST_DRAWN:
        rows = np.sort(np.random.default_rng(how.random_state).choice(n, _MOST_DRAWN, replace=False))
    settings = {"method": how.method, "random_state": how.random_state, "n_jobs": model.n_jobs}
    places = node_positions(model, rows=rows, verbose=bool(model.verbose), **settings)  # type: ignore[arg-type]
    if isinstance(colors, Classes):
        shown: Classes | Values = Classes(colors.codes[rows], colors.names, colors.others, colors.none)
    else:
        shown = Values(colors.values[rows], colors.what, colors.logarithmic)
    what = "labels" if labelled else "clusters: k-means on vectors of length one"
    sample = "" if n <= _MOST_DRAWN else f" {_MOST_DRAWN:,} of {n:,} nodes are shown, drawn at random."
    text = (
        f"Nodes with similar vectors, by cosine, are close to each other. Colours are {what}.{sample} Distances "
        "between groups, and the space between them, mean little."
    )
    picture = Picture("map", charts.map_chart(places, shown, how.random_state), f"Map of nodes, coloured by {what}")
    return Section("Map", [Paragraph(text), picture])


def _groups(
    model: Any,
    graph: AttributedGraph | None,
    labels: NDArray[Any] | None,
    colors: Classes | Values,
) -> list[Section]:
    """What features tell of classes, clusters or values, and examples of nodes."""
    sections: list[Section] = []
    if isinstance(colors, Classes):
        word = "cluster" if labels is None else "class"
        if graph is not None and graph.features.nnz:
            sections.append(group_section(graph, colors, word))
        return [*sections, example_section(model, graph, colors.codes, labels)]
    if graph is not None and graph.features.nnz:
        sections.append(value_section(graph, colors.values))
    order = np.argsort(np.nan_to_num(colors.values, nan=-np.inf), kind="stable")
    known = order[np.isnan(colors.values).sum() :]
    groups = np.full(len(colors.values), -1)
    for group, rows in enumerate(np.array_split(known, 3)):  # lowest, middle and highest third
        groups[rows] = group
    return [*sections, example_section(model, graph, groups, labels)]


def report_format(path: str | os.PathLike[str]) -> str:
    """The format of a report, by the suffix of its file.

    >>> report_format("report.htm")
    'html'
    """
    formats = {".html": "html", ".htm": "html", ".md": "markdown"}
    suffix = as_path(path).suffix.lower()
    if suffix not in formats:
        raise ParameterError(
            f"a report is written as .html, or as .md with a folder of pictures, by the suffix of its file, not "
            f"{Path(path).name!r}"
        )
    return formats[suffix]


def write_report(document: Document, path: str | os.PathLike[str]) -> list[Path]:
    """Write a report to one HTML page, or to Markdown with a folder of pictures, by suffix; returns all files."""
    if report_format(path) == "markdown":
        return write_markdown(document, as_path(path))
    with replacing(path) as temporary:
        temporary.write_text(html_page(document), encoding="utf-8")
    return [as_path(path)]
