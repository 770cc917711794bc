"""Warnings about vectors that carry little information, and an error about an argument that would be ignored."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hopscale.exceptions import GraphError, Setting, warn
from hopscale.graph import AttributedGraph
from hopscale.names import positions, shown_name

__all__ = [
    "check_second",
    "say_empty",
    "say_lost",
    "warn_of_empty_dimensions",
    "warn_of_lost_nodes",
    "warn_of_missing_rows",
]

SOME = 4096  # rows that are looked at first: they mostly tell
SMALLEST = 1e-25  # mean square below which, or above whose inverse, single precision is not used
LOST = 1e-3  # of the usual length; on cora and citeseer no node of the largest component is that short


def check_second(graph: Any, second: Any, method: str) -> None:
    """Refuse a matrix as the second argument, which nothing would read.

    Labels of several columns are allowed where features are part of the first argument: pipelines of scikit-learn pass
    labels to every step.
    """
    shape = getattr(second, "shape", None)
    if isinstance(shape, tuple) and len(shape) == 2 and not isinstance(graph, (AttributedGraph, tuple)):
        raise GraphError(
            f"{method} takes one graph, and its second argument, here a {type(second).__name__} of shape "
            f"{tuple(shape)}, is not read. Pass an adjacency matrix and features as a pair: "
            f"{method}((adjacency, features))"
        )


def warn_of_empty_dimensions(model: Any) -> None:
    """Count dimensions without content, scale by scale."""
    for label, columns in model.scale_columns_.items():
        block = model.embedding_[:, columns]
        if block[:SOME].any(axis=0).all():
            continue
        say_empty(label, int((~block.any(axis=0)).sum()), columns.stop - columns.start)


def say_empty(label: str, empty: int, of: int) -> None:
    """Warn of dimensions of a scale that are zero, if there are any."""
    if empty:
        warn(f"scale {label}: {empty} of {of} dimensions are zero: what it learns from has no more directions")


def warn_of_lost_nodes(model: Any, graph: AttributedGraph, knowable: NDArray[np.bool_] | None) -> None:
    """Count nodes that are (nearly) zero though there was something to learn of them.

    By default that is nodes with edges and, where a model reads features, with features. Isolated nodes are not meant.
    """
    if knowable is None:
        knowable = np.diff(graph.features.indptr) > 0 if model.uses_features else np.ones(graph.n_nodes, dtype=np.bool_)
    knowable = knowable & (graph.degrees > 0)
    say_lost(model, _lengths(model.embedding_)[knowable])


def _lengths(vectors: NDArray[np.float32]) -> NDArray[np.float64]:
    """Lengths of rows, by single precision unless it could not hold their squares: it takes a quarter of the time."""
    with np.errstate(over="ignore"):
        squares = np.einsum("ij,ij->i", vectors, vectors)
    if len(squares) and not SMALLEST < squares.mean(dtype=np.float64) < 1 / SMALLEST:
        squares = np.einsum("ij,ij->i", vectors, vectors, dtype=np.float64)
    return np.sqrt(squares, dtype=np.float64)


def say_lost(model: Any, lengths: NDArray[np.float64]) -> None:
    """Warn of vectors much shorter than usual, by the lengths of those that should not be."""
    usual = np.sqrt(np.mean(lengths**2)) if len(lengths) else 0.0  # not the median: most of them may be lost
    lost = int((lengths < LOST * usual).sum())
    if lost:
        warn(
            f"{lost:,} of {len(lengths):,} nodes that the graph tells something about have vectors of (nearly) zero: "
            f"the {model.embedding_.shape[1]} dimensions went to others, mostly those of larger components. More ",
            Setting("dimensions"),
            " help, or a method that reads features, such as MUSAE" if not model.uses_features else " help",
        )


def warn_of_missing_rows(model: Any, graph: AttributedGraph, found: NDArray[np.float32]) -> None:
    """Count nodes that seem to have come to ``transform`` without their surroundings.

    By name: where ids are row numbers, they say nothing of whether nodes are the same.
    """
    is_numbered = graph.node_ids.dtype == np.int64 and bool((graph.node_ids == np.arange(graph.n_nodes)).all())
    if is_numbered or graph is getattr(model, "graph_", None):
        return
    old = positions(graph.node_ids, model.node_ids_)
    known = old >= 0
    lacking = np.zeros(graph.n_nodes, dtype=np.bool_)
    if hasattr(model, "graph_"):
        for now, then in ((graph.adjacency, model.graph_.adjacency), (graph.features, model.graph_.features)):
            lacking[known] |= np.diff(now.indptr)[known] < np.diff(then.indptr)[old[known]]
    else:  # what had a vector then, and has none now
        for columns in model.scale_columns_.values():
            had = model.embedding_[old[known], columns].any(axis=1)
            lacking[known] |= had & ~found[known, columns].any(axis=1)
    if not lacking.any():
        return
    has_features = (np.diff(graph.features.indptr) > 0).astype(np.float32)
    without = ~known & (graph.adjacency @ lacking.astype(np.float32) > 0) & (graph.adjacency @ has_features == 0)
    then = f"; {int(without.sum()):,} new nodes meet no feature at their neighbours for that" if without.any() else ""
    warn(
        f"{int(lacking.sum()):,} of {int(known.sum()):,} nodes that the model knows have come without edges or "
        f"features that they had when it was fitted, such as {shown_name(graph.node_ids, int(np.argmax(lacking)))}"
        f"{then}. A vector comes from what is around a node in the graph that is passed: pass old neighbours with all "
        "of their edges and features, or use extend, which knows them if the model was fitted with ",
        Setting("keep_graph", True),
    )
