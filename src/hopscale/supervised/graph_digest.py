"""A digest of a graph, by which a model recognises the one that it was fitted to."""

from __future__ import annotations

from hashlib import blake2b

from hopscale.graph import AttributedGraph

__all__ = ["graph_digest"]


def graph_digest(graph: AttributedGraph) -> str:
    """A digest of the nodes, edges, features and names of a graph; not of its labels.

    >>> from hopscale.datasets import figure1, planted_blocks
    >>> graph_digest(figure1()) == graph_digest(figure1())
    True
    >>> graph_digest(planted_blocks(random_state=0)) == graph_digest(planted_blocks(random_state=1))
    False
    """
    found = blake2b(digest_size=16)
    for matrix in (graph.adjacency, graph.features):
        found.update(repr(matrix.shape).encode())
        for part in (matrix.indptr.astype("<i8"), matrix.indices.astype("<i8"), matrix.data.astype("<f4")):
            found.update(part.data)
    for names in (graph.node_ids, graph.feature_names):
        found.update(repr(names.tolist()).encode("utf-8", "surrogatepass"))
    return found.hexdigest()
