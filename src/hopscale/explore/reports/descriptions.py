"""Sections of a report on the graph, on features of groups, on single nodes, and on how it was made."""

from __future__ import annotations

import importlib.metadata
import platform
import warnings
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from hopscale.datasets import describe
from hopscale.exceptions import HopscaleError, HopscaleWarning
from hopscale.explore.node_colors import Classes
from hopscale.explore.reports.document import Block, Heading, Listing, Paragraph, Section, Table
from hopscale.explore.reports.findings import feature_values, top_features, typical_rows
from hopscale.explore.shown_names import isolated, short_text
from hopscale.graph import AttributedGraph
from hopscale.labels import has_class, has_value, likely_task, target_values

__all__ = ["example_section", "graph_section", "group_section", "made_section", "read_section", "value_section"]

_PACKAGES = ("hopscale", "numpy", "scipy", "scikit-learn", "openTSNE", "umap-learn", "matplotlib")
_EXAMPLES = 3
_LISTED = 12  # classes in the table of the graph
_LONGEST = 48  # characters of a name among other text


def graph_section(graph: AttributedGraph, labels: NDArray[Any] | None, task: str | None) -> Section:
    """Statistics of a graph and of the labels of its nodes."""
    found, degrees = describe(graph), np.diff(graph.adjacency.indptr)
    per_node = np.diff(graph.features.indptr)
    parts, of_node = connected_components(graph.adjacency, directed=False)
    largest = int(np.bincount(of_node).max()) if len(of_node) else 0
    rows = [
        ("nodes", f"{found.nodes:,}"),
        ("edges", f"{found.edges:,}{' with weights' if graph.is_weighted else ''}"),
        ("mean number of neighbours", f"{degrees.mean():.2f}"),
        ("most neighbours", f"{degrees.max():,}"),
        ("nodes without neighbours", f"{int((degrees == 0).sum()):,}"),
        ("density", f"{found.density:.3g}"),
        ("clustering (transitivity)", f"{found.clustering:.3f}"),
        ("connected components", f"{parts:,}, the largest of {largest:,} nodes"),
        ("features", f"{found.unique_features:,}"),
        ("features of a node, on average", f"{found.features_per_node:.2f}"),
        ("nodes without features", f"{int((per_node == 0).sum()):,}"),
    ]
    blocks: list[Block] = [Table(["", "value"], rows, right=[1])]
    if labels is not None:
        blocks += _label_blocks(labels, task)
    return Section("The graph", blocks)


def _label_blocks(labels: NDArray[Any], task: str | None) -> list[Block]:
    likely, reason = likely_task(labels)
    if (task or likely) == "regression":
        values = target_values(labels)
        known = values[has_value(values)]
        spread = f"mean {known.mean():.4g}, standard deviation {known.std():.4g}"
        return [Paragraph(f"{len(known):,} nodes have a value, from {known.min():.4g} to {known.max():.4g}: {spread}.")]
    counts = Counter(labels[has_class(labels)].tolist())
    total = sum(counts.values())
    rows = [
        (short_text(name), f"{count:,}", f"{100 * count / total:.1f} %") for name, count in counts.most_common(_LISTED)
    ]
    if len(counts) > _LISTED:
        rest = sum(count for _, count in counts.most_common()[_LISTED:])
        rows.append((f"{len(counts) - _LISTED:,} others", f"{rest:,}", f"{100 * rest / total:.1f} %"))
    why = "as was asked for" if task else reason
    classes = f"one of {len(counts):,} classes" if len(counts) > 1 else "all of one class"
    text = f"{total:,} of {len(labels):,} nodes have a label, {classes} ({why})."
    return [Paragraph(text), Table(["class", "nodes", "share"], rows, right=[1, 2])]


def read_section(said: Sequence[str]) -> Section:
    """What was understood of the files."""
    return Section("What was read", [Listing(list(said))])


def group_section(graph: AttributedGraph, colors: Classes, word: str) -> Section:
    """Features that tell classes or clusters apart."""
    found = top_features(graph, colors.codes, len(colors.names))
    rows = [
        (
            short_text(name),
            f"{int((colors.codes == at).sum()):,}",
            ", ".join(f"{_in_line(feature)} ({times:.1f}×)" for feature, times in features) or "none",
        )
        for at, (name, features) in enumerate(zip(colors.names, found, strict=True))
    ]
    groups = "clusters" if word == "cluster" else "classes"
    text = (
        f"Features that nodes of a {word} have more often than all nodes do, those first that tell most, with how many "
        "times as often."
    )
    return Section(f"Features of {groups}", [Paragraph(text), Table([word, "nodes", "features"], rows, right=[1])])


def value_section(graph: AttributedGraph, values: NDArray[np.float64]) -> Section:
    """Features whose nodes have other values than the rest."""
    rows = [
        (short_text(name), f"{count:,}", f"{mean:.4g}", f"{rest:.4g}")
        for name, count, mean, rest in feature_values(graph, values)
    ]
    text = "Features whose nodes differ most in their values from the others, by the t statistic."
    table = Table(["feature", "nodes", "their mean", "mean of others"], rows, right=[1, 2, 3])
    return Section("Features of values", [Paragraph(text), table])


def example_section(
    model: Any, graph: AttributedGraph | None, groups: NDArray[np.int64], labels: NDArray[Any] | None
) -> Section:
    """A typical node of each of the largest groups: what stands out around it, and what is like it."""
    largest = np.argsort(-np.bincount(groups[groups >= 0]), kind="stable")[:_EXAMPLES]
    ranks = np.full(len(groups), -1)
    for rank, group in enumerate(largest):
        ranks[groups == group] = rank
    rows = typical_rows(model.embedding_, ranks, len(largest))
    return Section("Examples", [block for row in rows for block in _example(model, graph, row, labels)])


def _example(model: Any, graph: AttributedGraph | None, row: int, labels: NDArray[Any] | None) -> list[Block]:
    node = model.node_ids_[row]
    name = node.item() if hasattr(node, "item") else node
    label = "" if labels is None else f", labelled {_label(labels, row)}"
    blocks: list[Block] = [Heading(f"Node {_in_line(name)}{label}")]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HopscaleWarning)  # of scales at which nothing is known
        if model.has_feature_vectors:
            blocks += _explanation(model, graph, name)
        near = model.neighbors(name, k=5)
    table = [
        (short_text(other), f"{similarity:.3f}", *([] if labels is None else [_label(labels, model._row(other))]))
        for other, similarity in near
    ]
    header = ["most similar nodes", "cosine", *([] if labels is None else ["label"])]
    if table:
        blocks.append(Table(header, table, right=[1]))
    return blocks


def _explanation(model: Any, graph: AttributedGraph | None, node: Any) -> list[Block]:
    """Features that stand out around a node, exactly where the graph is at hand and the model allows it."""
    try:
        found = model.explain(node, graph=graph, k=5)
    except HopscaleError:
        found = model.explain(node, k=5)
    rows = [
        (label, ", ".join(f"{_in_line(feature)} ({score:+.2f})" for feature, score in features) or "nothing")
        for label, features in found.items()
    ]
    known = "exact" if found.exact else "estimates by the vectors, which may show features that are not there"
    text = (
        "Features that are met more often so many hops from the node than elsewhere, with the natural logarithm of how "
        f"many times more often ({known})."
    )
    return [Paragraph(text), Table(["scale", "features"], rows)]


def _in_line(name: Any) -> str:
    """A name among other text."""
    return isolated(short_text(name, _LONGEST))


def _label(labels: NDArray[Any], row: int) -> str:
    value = labels[row]
    if isinstance(value, (float, np.floating)):
        return "–" if np.isnan(value) else f"{value:.6g}"
    return "–" if value is None else short_text(value)


def made_section(model: Any, command: str | None, seconds: float | None) -> Section:
    """Command, parameters and versions."""
    versions = [("python", platform.python_version())]
    for package in _PACKAGES:
        with suppress(importlib.metadata.PackageNotFoundError):
            versions.append((package, importlib.metadata.version(package)))
    blocks: list[Block] = [] if command is None else [Listing([command])]
    if seconds is not None:
        blocks.append(Paragraph(f"{type(model).__name__} learnt its vectors in {seconds:.1f} s."))
    settings = [(name, short_text(str(value), 60)) for name, value in model.settings().items() if name != "verbose"]
    blocks.append(Table([f"parameter of {type(model).__name__}", "value"], settings))
    blocks.append(Table(["package", "version"], versions))
    return Section("How this was made", blocks)
