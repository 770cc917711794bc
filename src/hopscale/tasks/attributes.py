"""Attribute inference: features that were hidden, told from features that a node does not have."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.metrics import average_precision_score

from hopscale.checks import whole
from hopscale.compute.threads import ranges
from hopscale.exceptions import ParameterError
from hopscale.graph import AttributedGraph
from hopscale.io import as_graph
from hopscale.tasks.hiding import absent_positions, hidden_count
from hopscale.tasks.metrics import roc_auc
from hopscale.tasks.splits import Record

__all__ = ["attribute_inference"]

Array = NDArray[np.float64]
Rows = NDArray[np.int64]

_CHUNK = 1 << 16  # places scored at once
_NODES = 1 << 10  # nodes whose neighbours' features are added up at once


def attribute_inference(
    model: Any,
    graph: Any,
    *,
    share: float = 0.1,
    scale: int | str | None = None,
    splits: int = 3,
    random_state: int = 0,
) -> list[Record]:
    r"""Score a model by the features of nodes that it finds after they were hidden from it.

    In each split a share of all (node, feature) entries is taken away and a copy of the model fitted to what is left.
    The hidden entries, and as many places that hold no entry in the whole graph, drawn uniformly, are ranked.

    Parameters
    ----------
    model : estimator with feature vectors
        ``AE`` or ``MUSAE``, with or without ``ego``; copied, never changed. Only true features are hidden and asked
        for, not the nodes that ``ego`` adds to them.
    graph : AttributedGraph or what a model's ``fit`` takes
    share : float, default=0.1
        Share of the entries that is hidden.
    scale : int or str, optional
        Rank by one scale only: a number of hops, or a label as in ``scale_columns_``.
    splits : int, default=3
        How often entries are hidden; each is a fit of the model.
    random_state : int, default=0
        Seed of all draws; the model keeps its own.

    Returns
    -------
    list of dict
        One for each split and method: ``task, split, method, n_test, roc_auc, average_precision``, both 0.5 for
        guesses. The methods are

        ``"product"``
            :math:`g_v \cdot h_f`, the model's estimate of how much more likely the feature is around this node than
            elsewhere, added up over the scales;
        ``"likelihood"``
            its mean over the scales plus :math:`\log p(f)`: by the model's own formula, how likely the feature is
            around this node, which also knows which features are common;
        ``"popularity"``
            a baseline: how many nodes are left with the feature;
        ``"neighbors"``
            a baseline: share of the node's neighbours, by weight, with the feature.

    Examples
    --------
    >>> from hopscale import MUSAE
    >>> from hopscale.datasets import planted_blocks
    >>> from hopscale.tasks import attribute_inference, summarize
    >>> scores = summarize(attribute_inference(MUSAE(dimensions=16), planted_blocks()), by="method")
    >>> scores["product"]["roc_auc"]["mean"] > 0.65 > scores["popularity"]["roc_auc"]["mean"]
    True
    """
    if getattr(model, "_context", "features") == "nodes":
        raise ParameterError(
            f"{type(model).__name__} learns no vectors of features, only of nodes: use AE or MUSAE to infer attributes"
        )
    graph = as_graph(graph)
    whole("splits", splits, least=1)
    whole("random_state", random_state, least=0)
    F, q = graph.features, graph.n_features
    nodes = np.repeat(np.arange(graph.n_nodes, dtype=np.int64), np.diff(F.indptr))
    places = nodes * q + F.indices
    count = hidden_count(share, F.nnz, "feature entries")

    records = []
    for split in range(splits):
        rng = np.random.default_rng([random_state, split])
        hidden = np.zeros(F.nnz, dtype=bool)
        hidden[rng.choice(F.nnz, count, replace=False, shuffle=False)] = True
        others = absent_positions(places, graph.n_nodes * q, count, rng)
        node, feature = np.divmod(np.append(places[hidden], others), q)
        left = _without(graph, nodes, hidden)
        fitted = clone(model).fit(left)
        is_entry = np.arange(2 * count) < count
        for method, scores in _scores(fitted, left, node, feature, scale).items():
            record = {"task": "attribute_inference", "split": split, "method": method, "n_test": len(scores)}
            precision = float(average_precision_score(is_entry, scores))
            records.append({**record, "roc_auc": roc_auc(is_entry, scores), "average_precision": precision})
    return records


def _without(graph: AttributedGraph, nodes: Rows, hidden: NDArray[np.bool_]) -> AttributedGraph:
    """The graph less some of its feature entries, and without labels."""
    F, left = graph.features, ~hidden
    return AttributedGraph(
        graph.adjacency,
        sp.csr_array((F.data[left], (nodes[left], F.indices[left])), shape=F.shape),
        node_ids=graph.node_ids,
        feature_names=graph.feature_names,
        self_loops=True,
    )


def _scores(fitted: Any, left: AttributedGraph, node: Rows, feature: Rows, scale: int | str | None) -> dict[str, Array]:
    G, H = fitted.node_vectors(scale), fitted.feature_vectors(scale)  # of ego models, true features come first
    product = np.empty(len(node))
    for begin, end in ranges(len(node), _CHUNK):
        product[begin:end] = np.einsum("ij,ij->i", G[node[begin:end]], H[feature[begin:end]], dtype=np.float64)
    popularity = np.bincount(left.features.indices, minlength=left.n_features)[feature].astype(np.float64)
    scales = len(fitted.scale_columns_) if scale is None else 1
    return {
        "product": product,
        # One more of each feature: one all of whose entries are hidden is rare, not impossible.
        "likelihood": product / scales + np.log(popularity + 1),
        "popularity": popularity,
        "neighbors": _among_neighbors(left, node, feature),
    }


def _among_neighbors(graph: AttributedGraph, node: Rows, feature: Rows) -> Array:
    """Share of each node's neighbours, by weight, that have the feature; 0 for an isolated node."""
    held = graph.features.astype(bool).astype(np.float64)
    found = np.zeros(len(node))
    order = np.argsort(node, kind="stable")
    bounds = np.searchsorted(node[order], np.arange(0, graph.n_nodes + _NODES, _NODES))
    for first, (begin, end) in enumerate(pairwise(bounds.tolist())):
        asked = order[begin:end]
        if len(asked):
            rows = slice(first * _NODES, (first + 1) * _NODES)
            met = sp.csr_array(graph.adjacency[rows].astype(np.float64) @ held)
            found[asked] = met[node[asked] - rows.start, feature[asked]]
    degrees = graph.degrees[node]
    return np.asarray(np.divide(found, degrees, out=np.zeros_like(found), where=degrees > 0))
