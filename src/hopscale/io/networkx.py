"""The door for networkx graphs. networkx itself is never imported: its objects bring what is needed."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from typing import Any

from hopscale.exceptions import GraphError, in_short
from hopscale.graph import AttributedGraph, Directed
from hopscale.io.assemble import amounts, assemble
from hopscale.io.attributes import Attributes, check_known, check_weight, node_features
from hopscale.io.naming import Names, check_attributes
from hopscale.names import name_array

__all__ = ["from_networkx"]

_MISSING = object()


def from_networkx(
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
    """Graph from a ``networkx`` graph, which is left as it is.

    Parameters
    ----------
    graph : networkx.Graph, DiGraph, MultiGraph or MultiDiGraph
        Any node ids; their order is kept.
    features : str, list of str, mapping, data frame, Series or None, default="features"
        Node attribute that holds a list or set of features, a mapping ``{feature: value}`` or a NumPy
        vector; nodes without it, or with None, have no features. Or a list of node attributes of any kind
        (numbers, text, dates, ...), which are encoded as the columns of a table
        (:class:`hopscale.FeatureEncoder`). Or features by node: a mapping to lists, mappings or vectors, a
        data frame of numbers or a Series of lists with the nodes as index.
    weight : str or None, default="weight"
        Edge attribute. Edges without it weigh 1, those of weight 0 are none; if no edge has it, or with
        None, the graph is unweighted. Parallel edges of a multigraph add up if weighted and count once if not.
    label : str, optional
        Node attribute to keep as labels.
    columns : dict, optional
        Kinds of some of a list of attributes, as in :class:`hopscale.FeatureEncoder`.
    encoder : FeatureEncoder, optional
        A fitted one for a list of attributes, such as that of a model; by default one is fitted.
    self_loops : bool, default=False
        Keep self-loops.
    directed : {"error", "symmetrize"}, default="error"
        What to do with a directed graph that has an arc without its equal in return: refuse it, or
        give each pair of nodes the larger of its two weights.

    Returns
    -------
    AttributedGraph

    Warns
    -----
    HopscaleWarning
        If nodes have attributes, but none of them is ``"features"`` and none was asked for.

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
    check_attributes(weight=weight, label=label)
    nodes = list(graph.nodes)
    arcs = list(graph.edges(data=weight, default=_MISSING) if weight is not None else graph.edges(data=False))
    ends = Names.of(end for arc in arcs for end in arc[:2])
    weights = None
    if weight is not None:
        is_weighted = any(arc[2] is not _MISSING for arc in arcs)
        if not is_weighted and arcs:
            check_weight(weight, dict.fromkeys(name for *_, own in graph.edges(data=True) for name in own))
    if weight is not None and is_weighted:
        weights = amounts(
            [1.0 if arc[2] is _MISSING else arc[2] for arc in arcs],
            weight,
            lambda row: f"the edge {in_short(arcs[row][0])} to {in_short(arcs[row][1])}",
        )
    ids, attributes = name_array(nodes), _attributes(graph)
    check_known([label], attributes)
    found = node_features(features, attributes, ids, label=label, columns=columns, encoder=encoder)
    return assemble(
        ends.reshaped(2),
        weights,
        found.features,
        node_ids=nodes,
        feature_names=found.names,
        labels=None if label is None else dict(zip(ids.tolist(), attributes.cells(label), strict=True)),
        self_loops=self_loops,
        directed=directed if graph.is_directed() else None,
        encoder=found.encoder,
    )


def _attributes(graph: Any) -> Attributes:
    data = [own for _, own in graph.nodes(data=True)]
    names = dict.fromkeys(chain.from_iterable(data))
    return Attributes([name for name in names if isinstance(name, str)], lambda name: [own.get(name) for own in data])
