"""What goes into a network: features of the nodes, vectors of an embedder, or both, and the edges."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from hopscale.exceptions import GraphError, NotInductiveError, warn
from hopscale.graph import AttributedGraph
from hopscale.models import NodeEmbedding
from hopscale.names import positions

__all__ = ["NodeInputs", "VectorInput", "known_features", "normalized_rows", "own_features"]


@dataclass
class NodeInputs:
    """Some nodes, the edges among them, and what is known of each."""

    adjacency: sp.csr_array
    features: sp.csr_array | None
    vectors: NDArray[np.float32] | None

    def part(self, nodes: NDArray[np.int64]) -> NodeInputs:
        """Some of the nodes."""
        features = None if self.features is None else sp.csr_array(self.features[nodes])
        vectors = None if self.vectors is None else self.vectors[nodes]
        return NodeInputs(sp.csr_array(self.adjacency[nodes][:, nodes]), features, vectors)


def own_features(graph: AttributedGraph) -> tuple[sp.csr_array, NDArray[Any]]:
    """Features and their names; in a graph without features every node is one, by its id."""
    if graph.n_features:
        return graph.features, graph.feature_names
    return sp.csr_array(sp.eye_array(graph.n_nodes, dtype=np.float32)), graph.node_ids


def known_features(graph: AttributedGraph, names: NDArray[Any]) -> sp.csr_array:
    """Features of a graph in columns of those names; others are dropped, with a warning that counts them."""
    features, own = own_features(graph)
    if own is names:
        return features
    at = positions(own, names)
    if (at < 0).all():
        raise GraphError("the network knows none of the features of this graph: they are matched by name")
    if (at < 0).any():
        warn(f"{int((at < 0).sum())} of {len(own)} features are not known to the network, and are left out")
    coo = features.tocoo()
    rows, columns = coo.coords
    kept = at[columns] >= 0
    return sp.csr_array((coo.data[kept], (rows[kept], at[columns[kept]])), (graph.n_nodes, len(names)))


def normalized_rows(features: sp.csr_array) -> sp.csr_array:
    """Rows that add up to 1; empty ones stay empty."""
    sums = np.asarray(features.sum(axis=1, dtype=np.float64)).ravel()
    scale = np.divide(1.0, sums, out=np.zeros_like(sums), where=sums > 0)
    return sp.csr_array(sp.diags_array(scale) @ features).astype(np.float32)


class VectorInput:
    """Vectors of an embedder, or given ones, each dimension with mean 0 and variance 1 on the graph of the fit."""

    def __init__(self, embedder: Any, graph: AttributedGraph) -> None:
        self.embedder: NodeEmbedding | None = None
        if not isinstance(embedder, NodeEmbedding):
            vectors = np.asarray(embedder, dtype=np.float64)
            if len(vectors) != graph.n_nodes:
                raise GraphError(f"there are {len(vectors)} vectors for {graph.n_nodes} nodes: one is needed per node")
            if not np.isfinite(vectors).all():
                raise GraphError("some of the vectors are not finite")
        else:
            self.embedder = embedder if _is_fitted_to(embedder, graph) else clone(embedder).fit(graph)
            vectors = self.embedder.embedding_.astype(np.float64)
        self._mean, deviation = vectors.mean(axis=0), vectors.std(axis=0)
        self._scale = np.divide(1.0, deviation, out=np.zeros_like(deviation), where=deviation > 1e-12)
        self.of_fit = self._standardised(vectors)

    def of(self, graph: AttributedGraph) -> NDArray[np.float32]:
        """Vectors of the nodes of another graph."""
        if self.embedder is None:
            raise NotInductiveError(
                "the network learnt from an array of vectors, and knows none for the nodes of another graph: give it "
                "an embedder that can embed them, such as MUSAE()"
            )
        return self._standardised(self.embedder.transform(graph))

    def _standardised(self, vectors: NDArray[Any]) -> NDArray[np.float32]:
        return ((vectors - self._mean) * self._scale).astype(np.float32)


def _is_fitted_to(embedder: NodeEmbedding, graph: AttributedGraph) -> bool:
    try:
        check_is_fitted(embedder)
    except NotFittedError:
        return False
    return np.array_equal(embedder.node_ids_, graph.node_ids)
