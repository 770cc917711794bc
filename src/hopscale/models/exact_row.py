"""What walks from one node meet, exactly: a row of the matrix that a model learns from, without its other rows."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from hopscale.exceptions import warn
from hopscale.graph import AttributedGraph
from hopscale.walks import Transitions
from hopscale.walks.context import mean_places, seen_at

__all__ = ["ContextKind", "log_ratios"]

ContextKind = Literal["features", "features+nodes", "nodes"]  # what a walk sees at a node


def log_ratios(model: Any, graph: AttributedGraph, row: int) -> dict[str, tuple[NDArray[Any], NDArray[np.float64]]]:
    """log((PʳF)_vf / p(f)) of one node v and all that is met from it, by scale.

    Features come as positions in ``feature_names_``; what the model does not know is left out, with a warning.
    """
    scales, found, unknown = model.scales_, {}, 0
    places = mean_places(Transitions(graph.adjacency), row, scales)
    for scale, probability, (here, share) in zip(scales, model.feature_probability_, places, strict=True):
        seen = _seen(model, graph, here, share)
        met = np.flatnonzero(seen)
        columns = _columns(model, graph, met)
        known = columns >= 0
        known[known] &= probability[columns[known]] > 0  # else there is nothing to compare with
        unknown = max(unknown, int((~known).sum()))
        found[scale.label] = columns[known], np.log(seen[met[known]]) - np.log(probability[columns[known]])
    if unknown:
        warn(f"{unknown} feature(s) around the node are left out: the model was fitted without them")
    return found


def _width(model: Any, graph: AttributedGraph) -> int:
    """Columns of the context: features before nodes."""
    return (model.context_ != "nodes") * graph.n_features + (model.context_ != "features") * graph.n_nodes


def _seen(model: Any, graph: AttributedGraph, here: NDArray[Any], share: NDArray[np.float64]) -> NDArray[np.float64]:
    """What a walk sees that is at one of some nodes."""
    seen = np.zeros(_width(model, graph))
    if model.context_ != "features":
        seen[len(seen) - graph.n_nodes + here] = share
    if model.context_ != "nodes":
        seen[: graph.n_features] = seen_at(graph.features, here, share)
    return seen


def _columns(model: Any, graph: AttributedGraph, met: NDArray[Any]) -> NDArray[Any]:
    """Columns of the model for those of a graph's context, -1 where it has none of that name."""
    if graph is getattr(model, "graph_", None) and _width(model, graph) == len(model.feature_names_):
        return met
    features = 0 if model.context_ == "nodes" else graph.n_features
    names = graph.feature_names[met[met < features]].tolist()
    nodes = graph.node_ids[met[met >= features] - features].tolist()
    names += nodes if model.context_ == "nodes" else [("node", node) for node in nodes]
    return np.array([model.feature_index.get(name, -1) for name in names], dtype=np.int64)
