"""Graphs that need no file: the paper's toy graph, digits, planted blocks, Erdős–Rényi.

Every function is deterministic: the same arguments give the same graph.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hopscale.checks import number, whole
from hopscale.graph import AttributedGraph

__all__ = ["digits", "erdos_renyi", "figure1", "planted_blocks"]

_SUITS = ("club", "heart", "diamond", "spade")
_FIGURE1_EDGES = "AB BC AD AE DE BE CE BF JF KF IF IG HG FH IH"
_FIGURE1_FEATURES = "A:cd B:ds C:chd D:h E:hs F:s G:h H:cd I:hs J:c K:chds"  # initials of the suits

# Dark enough to belong to the stroke: half of the 16 grey levels.
_INK = 8

# Cells of the membership table held at once while features are drawn without replacement.
_TABLE_CELLS = 1 << 24


def figure1() -> AttributedGraph:
    """Toy graph of the paper's figure 1a: eleven nodes A..K whose features are card suits.

    D and G lie far apart, have the same features, and the features of their neighbours are the same;
    those of the nodes two steps away differ. Vectors at scales 0 and 1 should put D and G
    together, vectors at scale 2 should not.

    Returns
    -------
    AttributedGraph
        Without labels.

    Examples
    --------
    >>> from hopscale.datasets import figure1
    >>> graph = figure1()
    >>> graph
    AttributedGraph(nodes=11, edges=15, features=4, feature_entries=21)
    >>> step = graph.adjacency / graph.degrees[:, None]
    >>> one, two = (step @ graph.features).toarray(), (step @ step @ graph.features).toarray()
    >>> D, G = graph.index_of("D"), graph.index_of("G")
    >>> bool((one[D] == one[G]).all()), bool((two[D] == two[G]).all())
    (True, False)
    """
    held = dict(entry.split(":") for entry in _FIGURE1_FEATURES.split())
    nodes = list(held)
    u, v = np.array([[nodes.index(end) for end in edge] for edge in _FIGURE1_EDGES.split()]).T
    features = [[suit[0] in suits for suit in _SUITS] for suits in held.values()]
    return AttributedGraph(_adjacency(u, v, len(nodes)), features, node_ids=nodes, feature_names=_SUITS)


def digits(n_neighbors: int = 10) -> AttributedGraph:
    """1,797 handwritten digits, each joined to those that look most like it.

    Two images are joined if either is among the `n_neighbors` nearest of the other, by Euclidean
    distance of the pixels. The features of a node are its dark pixels, half of the grey scale or
    more, named by row and column: ``"r3c5"``. The label is the digit.

    Parameters
    ----------
    n_neighbors : int, default=10
        Nearest neighbours each image chooses.

    Returns
    -------
    AttributedGraph
        Node ids are the rows of :func:`sklearn.datasets.load_digits`.

    Examples
    --------
    >>> from hopscale.datasets import digits
    >>> graph = digits(n_neighbors=5)
    >>> graph.n_nodes, graph.n_features, graph.labels[:5].tolist()
    (1797, 64, [0, 1, 2, 3, 4])
    """
    from sklearn.datasets import load_digits  # which takes long to import
    from sklearn.neighbors import kneighbors_graph

    pixels, labels = load_digits(return_X_y=True)
    whole("n_neighbors", n_neighbors, least=1, most=len(pixels) - 1)
    chosen = kneighbors_graph(pixels, n_neighbors, include_self=False)
    names = [f"r{row}c{column}" for row in range(8) for column in range(8)]
    return AttributedGraph(chosen, pixels >= _INK, feature_names=names, labels=labels, directed="symmetrize")


def planted_blocks(
    n_nodes: int = 600,
    n_blocks: int = 3,
    n_features: int = 120,
    *,
    p_in: float = 0.05,
    p_out: float = 0.005,
    feature_p_in: float = 0.1,
    feature_p_out: float = 0.02,
    random_state: int = 0,
) -> AttributedGraph:
    r"""Attributed stochastic block model: edges and features both know the block.

    Nodes and features are divided into `n_blocks` blocks, as evenly as possible. With b(·) for the
    block, every pair of nodes and every pair of node and feature is drawn independently:

    .. math::

        P(A_{uv} = 1) = \begin{cases} p_{in} & b(u) = b(v) \\ p_{out} & \text{else} \end{cases}
        \qquad
        P(F_{vf} = 1) = \begin{cases} p^F_{in} & b(v) = b(f) \\ p^F_{out} & \text{else} \end{cases}

    Parameters
    ----------
    n_nodes, n_blocks, n_features : int
        At least one node a block; there may be fewer features than blocks.
    p_in, p_out : float
        Probability of an edge within a block and between blocks.
    feature_p_in, feature_p_out : float
        Probability that a node has a feature of its own block and of another.
    random_state : int, default=0
        Seed.

    Returns
    -------
    AttributedGraph
        Labels are the blocks, 0..n_blocks-1.

    Notes
    -----
    Time and memory are linear in the edges and feature entries drawn, not in the pairs.

    Examples
    --------
    >>> from hopscale.datasets import planted_blocks
    >>> graph = planted_blocks(n_nodes=9, n_blocks=3, n_features=3, p_in=1, p_out=0, feature_p_in=1,
    ...                        feature_p_out=0)
    >>> graph.labels.tolist()
    [0, 0, 0, 1, 1, 1, 2, 2, 2]
    >>> graph.n_edges, graph.features.nnz
    (9, 9)
    """
    whole("n_nodes", n_nodes, least=1)
    whole("n_blocks", n_blocks, least=1, most=n_nodes)
    whole("n_features", n_features, least=0)
    number("p_in", p_in, least=0, most=1)
    number("p_out", p_out, least=0, most=1)
    number("feature_p_in", feature_p_in, least=0, most=1)
    number("feature_p_out", feature_p_out, least=0, most=1)
    rng = np.random.default_rng(random_state)
    starts = np.arange(n_blocks + 1)[:, None] * (n_nodes, n_features) // n_blocks
    sizes = np.diff(starts, axis=0)
    node_block, feature_block = (np.repeat(np.arange(n_blocks), size) for size in sizes.T)

    # Pairs of all blocks are drawn with p_out and those inside a block dropped again: at most twice the work.
    u, v = unordered_pairs(_bernoulli(rng, n_nodes * (n_nodes - 1) // 2, p_out))
    across = node_block[u] != node_block[v]
    edges = [(u[across], v[across])]
    node, feature = np.divmod(_bernoulli(rng, n_nodes * n_features, feature_p_out), max(n_features, 1))
    across = node_block[node] != feature_block[feature]
    entries = [(node[across], feature[across])]
    for (first, first_feature), (size, held) in zip(starts[:-1].tolist(), sizes.tolist(), strict=True):
        u, v = unordered_pairs(_bernoulli(rng, size * (size - 1) // 2, p_in))
        edges.append((u + first, v + first))
        node, feature = np.divmod(_bernoulli(rng, size * held, feature_p_in), max(held, 1))
        entries.append((node + first, feature + first_feature))

    rows, columns = (np.concatenate(part) for part in zip(*entries, strict=True))
    F = sp.csr_array((np.ones(len(rows), np.float32), (rows, columns)), shape=(n_nodes, n_features))
    u, v = (np.concatenate(part) for part in zip(*edges, strict=True))
    return AttributedGraph(_adjacency(u, v, n_nodes), F, labels=node_block)


def erdos_renyi(
    n_nodes: int = 1024,
    edges_per_node: int = 8,
    features_per_node: int = 8,
    n_features: int = 2**11,
    *,
    random_state: int = 0,
) -> AttributedGraph:
    """Random graph with random features, as in the paper's runtime experiment.

    `n_nodes` · `edges_per_node` distinct edges are chosen uniformly among all pairs, so that the mean
    degree is twice `edges_per_node`. Every node gets `features_per_node` distinct features, uniformly
    among `n_features`. There is nothing to learn here: use it to measure time.

    Parameters
    ----------
    n_nodes : int, default=1024
    edges_per_node : int, default=8
    features_per_node : int, default=8
    n_features : int, default=2048
    random_state : int, default=0
        Seed.

    Returns
    -------
    AttributedGraph
        Without labels.

    Examples
    --------
    >>> from hopscale.datasets import erdos_renyi
    >>> erdos_renyi(n_nodes=128)
    AttributedGraph(nodes=128, edges=1024, features=2048, feature_entries=1024)
    """
    whole("n_nodes", n_nodes, least=1)
    whole("edges_per_node", edges_per_node, least=0, most=(n_nodes - 1) // 2)
    whole("n_features", n_features, least=0)
    whole("features_per_node", features_per_node, least=0, most=n_features)
    rng = np.random.default_rng(random_state)
    pairs = n_nodes * (n_nodes - 1) // 2
    u, v = unordered_pairs(rng.choice(pairs, n_nodes * edges_per_node, replace=False, shuffle=False))
    columns = _distinct_columns(rng, n_nodes, features_per_node, n_features)
    ends = np.arange(n_nodes + 1) * features_per_node
    F = sp.csr_array((np.ones(columns.size, np.float32), columns.ravel(), ends), shape=(n_nodes, n_features))
    return AttributedGraph(_adjacency(u, v, n_nodes), F)


def _adjacency(u: NDArray[np.int64], v: NDArray[np.int64], n: int) -> sp.csr_array:
    ones = np.ones(2 * len(u), dtype=np.float32)
    return sp.csr_array((ones, (np.concatenate([u, v]), np.concatenate([v, u]))), shape=(n, n))


def _bernoulli(rng: np.random.Generator, count: int, p: float) -> NDArray[np.int64]:
    """Which of `count` independent draws with probability `p` succeed, in time linear in the successes."""
    successes = rng.binomial(count, p)
    # Generator.choice draws by Floyd's algorithm unless a twentieth or more is wanted.
    return rng.choice(count, successes, replace=False, shuffle=False) if successes else np.empty(0, np.int64)


def unordered_pairs(index: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Pairs u > v at positions of the list (1,0), (2,0), (2,1), (3,0), ...; inverse of u(u−1)/2 + v."""
    u = ((1 + np.sqrt(1 + 8 * index.astype(np.float64))) / 2).astype(np.int64)
    # The root is rounded: past 2⁵² pairs it may be off by one either way.
    u -= u * (u - 1) // 2 > index
    u += u * (u + 1) // 2 <= index
    return u, index - u * (u - 1) // 2


def _distinct_columns(rng: np.random.Generator, rows: int, k: int, q: int) -> NDArray[np.int64]:
    """In each row, `k` distinct columns of `q`: Floyd's algorithm on many rows at once."""
    columns = np.empty((rows, k), dtype=np.int64)
    block = max(1, _TABLE_CELLS // max(q, 1))
    for start in range(0, rows, block):
        part = columns[start : start + block]
        row = np.arange(len(part))
        taken = np.zeros((len(part), q), dtype=bool)
        for drawn, last in enumerate(range(q - k, q)):
            column = rng.integers(0, last, size=len(part), endpoint=True)
            part[:, drawn] = np.where(taken[row, column], last, column)
            taken[row, part[:, drawn]] = True
    return columns
