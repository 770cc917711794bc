"""The door for igraph graphs. igraph is never imported, so that its licence stays with its users."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from hopscale.exceptions import GraphError
from hopscale.graph import AttributedGraph, Directed
from hopscale.io.assemble import amounts, assemble
from hopscale.io.attributes import Attributes, check_known, check_weight, node_features
from hopscale.io.naming import Names, check_attributes
from hopscale.names import name_array, shown_name

__all__ = ["from_igraph"]


def from_igraph(
    graph: Any,
    *,
    features: Any = "features",
    weight: str | None = "weight",
    label: str | None = None,
    columns: Mapping[str, Any] | None = None,
    encoder: Any = None,
    self_loops: bool = False,
    directed: Directed = "error",
) -> AttributedGraph:
    """Graph from an ``igraph.Graph``, which is left as it is.

    Parameters
    ----------
    graph : igraph.Graph
        Nodes are called by their vertex attribute ``name`` if there is one, else 0..n-1.
    features : str, list of str, mapping, data frame, Series or None, default="features"
        Vertex attribute that holds a list or set of features, a mapping ``{feature: value}`` or a
        NumPy vector, None where a node has none. All else is as in :func:`hopscale.io.from_networkx`.
    weight : str or None, default="weight"
        Edge attribute; None where an edge weighs 1, 0 where there is none. Parallel edges add up
        if weighted and count once if not.
    label : str, optional
        Vertex attribute to keep as labels.
    columns, encoder : optional
        As in :func:`hopscale.io.from_networkx`.
    self_loops : bool, default=False
        Keep self-loops.
    directed : {"error", "symmetrize"}, default="error"
        As in :func:`hopscale.io.from_networkx`.

    Returns
    -------
    AttributedGraph

    Examples
    --------
    >>> import igraph  # doctest: +SKIP
    >>> from_igraph(igraph.Graph.Ring(4))  # doctest: +SKIP
    AttributedGraph(nodes=4, edges=4, features=0, feature_entries=0)
    """
    if isinstance(graph, type) or not all(hasattr(graph, name) for name in ("get_edgelist", "vs", "es", "is_directed")):
        raise GraphError(f"expected an igraph graph, not {type(graph).__name__}")
    pairs = np.array(graph.get_edgelist(), dtype=np.int64).reshape(-1, 2)
    check_attributes(weight=weight, label=label)
    vertex = [name for name in graph.vs.attributes() if isinstance(name, str)]
    names = name_array(graph.vs["name"] if "name" in vertex else range(len(graph.vs)))
    weights = None
    if weight is not None and len(pairs) and weight not in graph.es.attributes():
        check_weight(weight, graph.es.attributes())
    elif weight is not None and len(pairs):
        weights = amounts(
            [1.0 if value is None else value for value in graph.es[weight]],
            weight,
            lambda row: f"the edge {shown_name(names, pairs[row, 0])} to {shown_name(names, pairs[row, 1])}",
        )
    attributes = Attributes([name for name in vertex if name != "name"], graph.vs.__getitem__)
    check_known([label], attributes)
    found = node_features(features, attributes, names, label=label, columns=columns, encoder=encoder)
    return assemble(
        Names(pairs, names),
        weights,
        found.features,
        node_ids=names,
        feature_names=found.names,
        labels=None if label is None else dict(zip(names.tolist(), graph.vs[label], strict=True)),
        self_loops=self_loops,
        directed=directed if graph.is_directed() else None,
        encoder=found.encoder,
    )
