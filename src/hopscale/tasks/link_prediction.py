"""Link prediction: tell held-out edges from pairs of nodes that are not connected."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import clone

from hopscale.checks import choice, number, whole
from hopscale.compute.threads import checkpoint, ranges
from hopscale.datasets.generators import unordered_pairs
from hopscale.io import as_graph
from hopscale.supervised.heads.logistic import fit_logistic
from hopscale.tasks.metrics import ranking_scores
from hopscale.tasks.splits import Record, check_vectors, graph_with, held_out_splits, in_parallel, negative_positions

__all__ = ["link_prediction"]

Array = NDArray[np.float64]
Nodes = NDArray[np.int64]
Pairs = tuple[Nodes, Nodes, NDArray[np.bool_]]  # both ends, and which pairs are edges

_PAIRS = 1 << 13  # combined at once: bounds the copies of vectors, and an interruption is heeded after each such piece
_OPERATORS: dict[str, Callable[[Array, Array], Array]] = {
    "hadamard": lambda a, b: a * b,
    "average": lambda a, b: (a + b) / 2,
    "l1": lambda a, b: np.abs(a - b),
    "l2": lambda a, b: (a - b) ** 2,
}


def link_prediction(
    model: Any,
    graph: Any,
    *,
    share: float = 0.5,
    operators: Sequence[str] = ("hadamard", "average", "l1", "l2"),
    C: float = 1.0,
    splits: int = 3,
    test_size: float = 0.2,
    standardize: bool = False,
    max_edges: int = 50_000,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> list[Record]:
    """Score a model by how well its vectors predict edges that were removed before fitting.

    In each split a share of the edges is removed and a clone of the model is fitted to the remaining graph. The
    removed edges, and as many uniformly drawn pairs of nodes without an edge in the full graph, are split into a
    training and a test part. A logistic regression on the combined vectors of each pair is trained on the one and
    tested on the other, next to scores that need no training.

    Parameters
    ----------
    model : estimator
        Cloned, never modified.
    graph : AttributedGraph or what a model's ``fit`` takes
        Self-loops are kept and not predicted. Nodes that lose all their edges are kept; whatever vector the model
        gives them, usually zero, is scored like the others.
    share : float, default=0.5
        Fraction of the edges to remove.
    operators : sequence of {"hadamard", "average", "l1", "l2"}
        How the vectors of two nodes are combined, elementwise: a·b, (a + b)/2, \\|a − b\\| and (a − b)².
    C, standardize
        Options of the logistic regression, as for :func:`hopscale.tasks.node_classification`.
    splits : int, default=3
        Number of splits; the model is fitted once for each.
    test_size : float, default=0.2
        Fraction of the pairs in the test part.
    max_edges : int, default=50000
        Largest number of removed edges to predict, drawn uniformly. It bounds memory on large graphs; the default
        keeps the standard error of the ROC-AUC below 0.005.
    random_state : int, default=0
        Seed of the splits; the model keeps its own.
    n_jobs : int, optional
        Number of threads over the operators. The records do not depend on it.

    Returns
    -------
    list of dict
        One per split and operator, with ``task, split, operator, n_train, n_test, roc_auc, average_precision``; the
        latter two are 0.5 for random guesses. In addition to `operators` there are ``"dot"`` and ``"cosine"``, the dot
        product and cosine of the two vectors, and the baseline ``"preferential_attachment"``, the product of the
        degrees in the graph that the model was fitted to. These need no training and use the same test pairs.

    References
    ----------
    A. Grover and J. Leskovec, "node2vec: scalable feature learning for networks", KDD 2016: the operators.

    Examples
    --------
    >>> from hopscale import MUSAE
    >>> from hopscale.datasets import digits
    >>> from hopscale.tasks import link_prediction, summarize
    >>> scores = summarize(link_prediction(MUSAE(dimensions=32), digits(), splits=1), by="operator")
    >>> scores["hadamard"]["roc_auc"]["mean"] > 0.9 > 0.7 > scores["preferential_attachment"]["roc_auc"]["mean"]
    True
    """
    graph = as_graph(graph)
    C = number("C", C, least=1e-12, most=1e12)
    whole("max_edges", max_edges, least=2)
    number("test_size", test_size, least=0, above=True, below=1)
    for operator in operators:
        choice("operators", operator, _OPERATORS)
    A = graph.adjacency
    ends = np.asarray(sp.tril(A, -1, format="csr").nonzero(), dtype=np.int64)

    records = []
    for split, rng, hidden in held_out_splits(share, ends.shape[1], "edges", splits, random_state):
        u, v = ends[:, hidden]
        gone = sp.csr_array((np.ones(2 * len(u)), (np.append(u, v), np.append(v, u))), shape=A.shape)
        kept = graph_with(graph, A - A * gone, graph.features)
        train, test = _train_and_test_pairs(graph.n_nodes, ends, hidden, max_edges, test_size, rng)
        vectors, _ = check_vectors(clone(model).fit(kept).embedding_, graph.node_ids)
        score = partial(_trained, vectors=vectors, train=train, test=test, C=C, standardize=standardize)
        trained = zip(operators, in_parallel(score, operators, n_jobs), strict=True)
        for n_train, scored in ((len(train[0]), trained), (0, _untrained(vectors, kept.degrees, test).items())):
            for operator, scores in scored:
                record = {"task": "link_prediction", "split": split, "operator": operator, "n_train": n_train}
                records.append({**record, **ranking_scores(test[2], scores)})
    return records


def _train_and_test_pairs(
    n: int, ends: Nodes, hidden: NDArray[np.bool_], max_edges: int, test_size: float, rng: np.random.Generator
) -> list[Pairs]:
    """Hidden edges and as many unconnected pairs, each split into a training and a test part."""
    edges = rng.permutation(np.flatnonzero(hidden))[:max_edges]
    # Positions in the row-major lower triangle: (1,0), (2,0), (2,1), (3,0), ...
    positions = ends[0] * (ends[0] - 1) // 2 + ends[1]
    others = np.asarray(unordered_pairs(negative_positions(positions, n * (n - 1) // 2, len(edges), rng)))
    n_test = min(max(round(test_size * len(edges)), 1), len(edges) - 1)
    parts = []
    for part in (slice(n_test, None), slice(n_test)):
        u, v = np.hstack([ends[:, edges[part]], others[:, part]])
        parts.append((u, v, np.arange(len(u)) < len(u) // 2))
    return parts


def _trained(operator: str, *, vectors: Array, train: Pairs, test: Pairs, C: float, standardize: bool) -> Array:
    X_train, X_test = (_combined(operator, vectors, pairs) for pairs in (train, test))
    fit = fit_logistic(X_train, train[2].astype(np.int64), 2, C=C, standardize=standardize)
    return fit.probabilities(X_test)[:, 1]


def _combined(operator: str, vectors: Array, pairs: Pairs) -> Array:
    u, v, _ = pairs
    combined = np.empty((len(u), vectors.shape[1]))
    for begin, end in ranges(len(u), _PAIRS):
        checkpoint()
        combined[begin:end] = _OPERATORS[operator](vectors[u[begin:end]], vectors[v[begin:end]])
    return combined


def _untrained(vectors: Array, degrees: Array, test: Pairs) -> dict[str, Array]:
    u, v, _ = test
    dot = np.einsum("ij,ij->i", vectors[u], vectors[v])
    lengths = np.linalg.norm(vectors, axis=1)
    norms = lengths[u] * lengths[v]
    cosine = np.divide(dot, norms, out=np.zeros_like(dot), where=norms > 0)
    return {"dot": dot, "cosine": cosine, "preferential_attachment": degrees[u] * degrees[v]}
