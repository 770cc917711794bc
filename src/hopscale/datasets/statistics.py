"""Statistics of a graph, as the paper's table of data sets has them."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components, dijkstra

from hopscale.graph import AttributedGraph

__all__ = ["Statistics", "describe"]


@dataclass(frozen=True)
class Statistics:
    """What :func:`describe` finds, under the paper's names.

    Attributes
    ----------
    nodes, edges : int
        Edges without self-loops.
    unique_features : int
        Features that some node has; a vocabulary may hold more.
    features_per_node : float
        Mean number of distinct features of a node.
    density : float
        Edges among all pairs of nodes.
    clustering : float
        Transitivity: three times the triangles among all paths of two edges.
    diameter : int or None
        Longest of the shortest paths in the largest component, if it was asked for.
    classes : int or None
        Distinct labels; None without labels, or if they are floating-point numbers, that is, values.
        −1 among whole numbers and None among others mean that there is no label.
    """

    nodes: int
    edges: int
    unique_features: int
    features_per_node: float
    density: float
    clustering: float
    diameter: int | None
    classes: int | None


def describe(graph: AttributedGraph, *, diameter: bool = False) -> Statistics:
    """Statistics of a graph: size, features, density, clustering and, if asked for, the diameter.

    Weights, feature values and self-loops do not count.

    Parameters
    ----------
    graph : AttributedGraph
    diameter : bool, default=False
        Find the diameter of the largest component as well. It is exact: a few searches through graphs as the
        paper's, but up to one from every node where all nodes lie alike, as on a ring.

    Returns
    -------
    Statistics

    References
    ----------
    The diameter is found by bounding eccentricities: F. W. Takes and W. A. Kosters, Determining the
    diameter of small world networks, CIKM 2011.

    Examples
    --------
    >>> from hopscale.datasets import describe, figure1
    >>> found = describe(figure1(), diameter=True)
    >>> found.nodes, found.edges, found.unique_features, found.diameter, found.classes
    (11, 15, 4, 5, None)
    >>> round(found.clustering, 3)
    0.441
    """
    A = _simple(graph)
    n, edges = graph.n_nodes, A.nnz // 2
    return Statistics(
        nodes=n,
        edges=edges,
        unique_features=int(np.unique(graph.features.indices).size),
        features_per_node=graph.features.nnz / max(n, 1),
        density=2 * edges / max(n * (n - 1), 1),
        clustering=_transitivity(A),
        diameter=_diameter(A) if diameter else None,
        classes=_classes(graph.labels),
    )


def _simple(graph: AttributedGraph) -> sp.csr_array:
    """Pattern of the adjacency matrix without its diagonal, nodes of high degree first."""
    coo = graph.adjacency.tocoo()
    u, v = coo.coords
    apart = u != v
    u, v = u[apart], v[apart]
    place = np.empty(graph.n_nodes, dtype=np.int32)
    place[np.argsort(-np.bincount(u, minlength=graph.n_nodes), kind="stable")] = np.arange(graph.n_nodes)
    ones = np.ones(len(u), dtype=np.int64)
    return sp.csr_array((ones, (place[u], place[v])), shape=coo.shape)


def _transitivity(A: sp.csr_array) -> float:
    degrees = np.diff(A.indptr).astype(np.int64)
    paths = int((degrees * (degrees - 1)).sum()) // 2
    # Each triangle is seen once, from its node of lowest degree: few paths lead up from any node.
    up = sp.csr_array(sp.tril(A))
    triangles = int((up @ up).multiply(up).sum())
    return 3 * triangles / paths if paths else 0.0


def _diameter(A: sp.csr_array) -> int:
    _, component = connected_components(A, directed=False)
    if not len(component):
        return 0
    largest = np.flatnonzero(component == np.bincount(component).argmax())
    A = A[largest][:, largest]
    n = len(largest)
    longest, least, most = 0, np.zeros(n, dtype=np.int64), np.full(n, n)
    for turn in itertools.count():
        candidates = np.flatnonzero(most > longest)
        if not candidates.size:
            break
        # In turns a node in the middle, which bounds all others from above, and one at the rim.
        chosen = np.argmin(least[candidates]) if turn % 2 == 0 else np.argmax(most[candidates])
        distance = dijkstra(A, indices=int(candidates[chosen]), unweighted=True).astype(np.int64)
        eccentricity = int(distance.max())
        longest = max(longest, eccentricity)
        np.minimum(most, eccentricity + distance, out=most)
        np.maximum(least, np.maximum(eccentricity - distance, distance), out=least)
    return longest


def _classes(labels: NDArray[np.generic] | None) -> int | None:
    if labels is None or labels.dtype.kind == "f":
        return None
    try:
        return len(set(labels.tolist()) - {-1 if labels.dtype.kind == "i" else None})
    except TypeError:  # several labels a node
        return None
