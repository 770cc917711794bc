"""A graph from files, with its names as a saved model has them: text does not say whether 7 is a number."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hopscale.cli.program import Console
from hopscale.cli.sources import GraphFiles, Predictor
from hopscale.graph import AttributedGraph
from hopscale.io.columns import is_whole
from hopscale.models import NodeEmbedding
from hopscale.names import name_array

__all__ = ["graph_for"]


def graph_for(model: NodeEmbedding | Predictor, files: GraphFiles, console: Console) -> AttributedGraph:
    """The graph in some files, with names of the type that those of the model have."""
    graph = files.read_for(model, say=console.say)
    ids, names = _like(graph.node_ids, model.node_ids_), _like(graph.feature_names, model.feature_names_)
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
    return name_array(listed)
