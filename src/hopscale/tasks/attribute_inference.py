"""Attribute inference: tell held-out features of nodes from features that they do not have."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import clone

from hopscale.compute.threads import ranges
from hopscale.exceptions import ParameterError
from hopscale.graph import AttributedGraph
from hopscale.io import as_graph
from hopscale.tasks.metrics import ranking_scores
from hopscale.tasks.splits import Record, graph_with, held_out_splits, negative_positions

__all__ = ["attribute_inference"]

Array = NDArray[np.float64]
Rows = NDArray[np.int64]

_CHUNK = 1 << 16  # (node, feature) pairs per chunk
_NODES = 1 << 10  # nodes per sparse product


def attribute_inference(
    model: Any,
    graph: Any,
    *,
    share: float = 0.1,
    scale: int | str | None = None,
    splits: int = 3,
    random_state: int = 0,
) -> list[Record]:
    r"""Score a model by how well it predicts (node, feature) entries that were removed before fitting.

    In each split a share of the entries is removed and a clone of the model is fitted to the remaining graph. The
    removed entries are ranked against as many pairs of a node and a feature that have no entry in the full graph, drawn
    uniformly. Features that no node has are left out: no model can learn anything of them.

    Parameters
    ----------
    model : estimator with feature vectors
        ``AE`` or ``MUSAE``, with or without ``ego``; cloned, never modified. The node identities that ``ego`` adds
        to the features are not predicted.
    graph : AttributedGraph or what a model's ``fit`` takes
    share : float, default=0.1
        Fraction of the entries to remove.
    scale : int or str, optional
        Use one scale only: a number of hops, or a label of ``scale_columns_``.
    splits : int, default=3
        Number of splits; the model is fitted once for each.
    random_state : int, default=0
        Seed of the splits; the model keeps its own.

    Returns
    -------
    list of dict
        One per split and method, with ``task, split, method, n_test, roc_auc, average_precision``; the latter two are
        0.5 for random guesses. The methods are

        ``"product"``
            :math:`g_v \cdot h_f`, the model's estimate of the pointwise mutual information, summed over the scales;
            raised back where the model was learnt from a power of it (``PMI(power=0.5)``);
        ``"likelihood"``
            the mean of the product over the scales plus :math:`\log p(f)`, the model's estimate of
            :math:`\log p(f \mid v)`, which takes the frequency of the feature into account;
        ``"popularity"``
            a baseline: number of nodes with the feature in the remaining graph;
        ``"neighbors"``
            a baseline: weighted fraction of the node's neighbours with the feature.

    Examples
    --------
    >>> from hopscale import MUSAE
    >>> from hopscale.datasets import planted_blocks
    >>> from hopscale.tasks import attribute_inference, summarize
    >>> scores = summarize(attribute_inference(MUSAE(dimensions=16), planted_blocks()), by="method")
    >>> scores["product"]["roc_auc"]["mean"] > 0.65 > scores["popularity"]["roc_auc"]["mean"]
    True
    """
    if not (model.uses_features and model.has_feature_vectors):
        raise ParameterError(
            f"{type(model).__name__} learns no vectors of features, only of nodes: use AE or MUSAE to infer attributes"
        )
    graph = as_graph(graph)
    F = graph.features
    nodes = np.repeat(np.arange(graph.n_nodes, dtype=np.int64), np.diff(F.indptr))
    used, columns = np.unique(F.indices, return_inverse=True)  # features that some node has
    q = len(used)
    positions = nodes * q + columns

    records = []
    for split, rng, hidden in held_out_splits(share, F.nnz, "feature entries", splits, random_state):
        others = negative_positions(positions, graph.n_nodes * q, int(hidden.sum()), rng)
        node, column = np.divmod(np.append(positions[hidden], others), q)
        feature = used[column]
        entries = F.data[~hidden], (nodes[~hidden], F.indices[~hidden])
        kept = graph_with(graph, graph.adjacency, sp.csr_array(entries, shape=F.shape))
        is_entry = np.arange(len(node)) < len(others)
        for method, scores in _scores(clone(model).fit(kept), kept, node, feature, scale).items():
            record = {"task": "attribute_inference", "split": split, "method": method}
            records.append({**record, **ranking_scores(is_entry, scores)})
    return records


def _scores(fitted: Any, kept: AttributedGraph, node: Rows, feature: Rows, scale: int | str | None) -> dict[str, Array]:
    product = np.empty(len(node))
    for some in (slice(*piece) for piece in ranges(len(node), _CHUNK)):
        G, H = fitted.embedding_[node[some]], fitted.feature_embedding_[feature[some]]  # ego: true features come first
        product[some] = fitted.estimated_pmi(G, H, scale)
    popularity = np.bincount(kept.features.indices, minlength=kept.n_features)[feature].astype(np.float64)
    scales = len(fitted.scale_columns_) if scale is None else 1
    return {
        "product": product,
        # Add-one smoothing: a feature all of whose entries are hidden is rare, not impossible.
        "likelihood": product / scales + np.log(popularity + 1),
        "popularity": popularity,
        "neighbors": _share_of_neighbors(kept, node, feature),
    }


def _share_of_neighbors(graph: AttributedGraph, node: Rows, feature: Rows) -> Array:
    """Weighted fraction of each node's neighbours that have the feature; 0 for isolated nodes."""
    indicator = graph.features.astype(bool).astype(np.float64)
    weight = np.zeros(len(node))
    order = np.argsort(node, kind="stable")
    for begin, end in ranges(graph.n_nodes, _NODES):
        pairs = order[slice(*np.searchsorted(node, (begin, end), sorter=order))]
        if len(pairs):
            counts = sp.csr_array(graph.adjacency[begin:end].astype(np.float64) @ indicator)
            weight[pairs] = counts[node[pairs] - begin, feature[pairs]]
    degrees = graph.degrees[node]
    return np.asarray(np.divide(weight, degrees, out=np.zeros_like(weight), where=degrees > 0))
