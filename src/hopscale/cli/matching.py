"""Names that come from text, made those of a model: files do not say whether 7 is a number."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hopscale.graph import AttributedGraph
from hopscale.io.columns import is_whole
from hopscale.models import NodeEmbedding

__all__ = ["named_as_in"]


def named_as_in(model: NodeEmbedding, graph: AttributedGraph) -> AttributedGraph:
    """The graph with names of the kind that the model's have: whole numbers are numbers if all names of a file are."""
    ids, names = (
        _like(graph.node_ids, model.node_ids_),
        _like(graph.feature_names, model.feature_names_),
    )
    if ids is graph.node_ids and names is graph.feature_names:
        return graph
    return AttributedGraph(
        graph.adjacency,
        graph.features,
        node_ids=ids,
        feature_names=names,
        labels=graph.labels,
        self_loops=True,
        encoder=graph.encoder,
    )


def _like(names: NDArray[Any], known: NDArray[Any]) -> NDArray[Any]:
    """Names as text where the known ones are text, and as numbers, if they can be, where these are numbers.

    >>> _like(np.array([7, 8]), np.array(["7", "x"], dtype=object))
    array(['7', '8'], dtype=object)
    >>> _like(np.array(["7", "x"], dtype=object), np.array([7, 8]))
    array([7, 'x'], dtype=object)
    """
    if names.dtype == known.dtype or not len(names) or not len(known):
        return names
    if known.dtype == np.int64:
        listed = [int(name) if isinstance(name, str) and is_whole(name) else name for name in names.tolist()]
    elif all(isinstance(name, str) for name in known.tolist()):
        listed = [str(name) for name in names.tolist()]
    else:
        return names
    found = np.empty(len(listed), dtype=object)
    found[:] = listed
    return found
