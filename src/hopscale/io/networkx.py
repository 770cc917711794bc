"""The door for networkx graphs. networkx itself is never imported: its objects bring what is needed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hopscale.exceptions import GraphError, in_short
from hopscale.graph import AttributedGraph, Directed
from hopscale.indexed import feature_rows, has_index, is_keyed
from hopscale.io.assemble import amounts, assemble
from hopscale.io.edges import entries_by_node, lists_by_id
from hopscale.io.naming import Names, as_names, check_attributes

__all__ = ["from_networkx"]

_MISSING = object()


def from_networkx(
    graph: Any,
    *,
    features: str | Mapping[Any, Any] | None = "features",
    weight: str | None = "weight",
    label: str | None = None,
    self_loops: bool = False,
    directed: Directed = "error",
) -> AttributedGraph:
    """Graph from a ``networkx`` graph, which is left as it is.

    Parameters
    ----------
    graph : networkx.Graph, DiGraph, MultiGraph or MultiDiGraph
        Any node ids; their order is kept.
    features : str, mapping or None, default="features"
        Node attribute that holds a list or set of features, a mapping ``{feature: value}`` or a NumPy
        vector; or a mapping from node to such. Nodes without it, or with None, have no features.
    weight : str or None, default="weight"
        Edge attribute. Edges without it weigh 1; if no edge has it, or with None, the graph is
        unweighted. Parallel edges of a multigraph add up if weighted and count once if not.
    label : str, optional
        Node attribute to keep as labels.
    self_loops : bool, default=False
        Keep self-loops.
    directed : {"error", "symmetrize"}, default="error"
        What to do with a directed graph that has an arc without its equal in return: refuse it, or
        give each pair of nodes the larger of its two weights.

    Returns
    -------
    AttributedGraph

    Examples
    --------
    >>> import networkx as nx
    >>> from hopscale.io import from_networkx
    >>> friends = nx.Graph([("ann", "bob"), ("bob", "eve")])
    >>> friends.nodes["ann"]["features"] = ["chess", "tea"]
    >>> from_networkx(friends)
    AttributedGraph(nodes=3, edges=2, features=2, feature_entries=2)
    """
    if isinstance(graph, type) or not all(hasattr(graph, name) for name in ("nodes", "edges", "is_directed")):
        raise GraphError(f"expected a networkx graph, not {type(graph).__name__}")
    check_attributes(features=None if is_keyed(features) else features, weight=weight, label=label)
    nodes = list(graph.nodes)
    arcs = list(graph.edges(data=weight, default=_MISSING) if weight is not None else graph.edges(data=False))
    ends = Names.of(end for arc in arcs for end in arc[:2])
    weights = None
    if weight is not None and any(arc[2] is not _MISSING for arc in arcs):
        weights = amounts(
            [1.0 if arc[2] is _MISSING else arc[2] for arc in arcs],
            weight,
            lambda row: f"the edge {in_short(arcs[row][0])} to {in_short(arcs[row][1])}",
        )
    feature_names = None
    if has_index(features) and hasattr(features, "columns"):
        given, feature_names = feature_rows(features, as_names(nodes), None)
    elif has_index(features):
        given = entries_by_node(lists_by_id(features, as_names(nodes)))
    else:
        by_node = features if isinstance(features, Mapping) else _attribute(graph, features, default="features")
        given = entries_by_node(by_node) if by_node is not None else None
    return assemble(
        ends.reshaped(2),
        weights,
        given,
        node_ids=nodes,
        feature_names=feature_names,
        labels=_attribute(graph, label),
        self_loops=self_loops,
        directed=directed if graph.is_directed() else None,
    )


def _attribute(graph: Any, name: str | None, default: str | None = None) -> dict[Any, Any] | None:
    """Values of a node attribute; one that was asked for by name must exist somewhere."""
    if name is None:
        return None
    found = {node: value for node, value in graph.nodes(data=name, default=_MISSING) if value is not _MISSING}
    if not found and name != default and len(graph):
        raise GraphError(f"no node has the attribute {in_short(name)}")
    return found or None
