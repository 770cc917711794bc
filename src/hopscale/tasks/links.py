"""Link prediction: edges that the model has not seen, told from pairs of nodes that are none."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.metrics import average_precision_score

from hopscale.checks import choice, number, whole
from hopscale.datasets.generators import unordered_pairs
from hopscale.exceptions import ParameterError
from hopscale.graph import AttributedGraph
from hopscale.io import as_graph
from hopscale.tasks.hiding import absent_positions, hidden_count
from hopscale.tasks.logistic import fit_logistic
from hopscale.tasks.metrics import roc_auc
from hopscale.tasks.splits import Record, in_pieces, matched

__all__ = ["link_prediction"]

Array = NDArray[np.float64]
Nodes = NDArray[np.int64]

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
    """Score a model by the edges it finds that were taken away before it learnt.

    In each split a share of the edges is removed and a copy of the model fitted to what is left. The removed edges,
    and as many pairs of nodes that are no edge of the whole graph, drawn uniformly, are divided into a training and a
    test part. A logistic regression on a vector for each pair learns to tell them apart, and is tested on the rest,
    beside scores that need no training.

    Parameters
    ----------
    model : estimator
        Copied, never changed.
    graph : AttributedGraph or what a model's ``fit`` takes
        Self-loops stay where they are and are not asked for. A node all of whose edges are removed stays too; what
        the model says of an isolated node, by rule a zero vector, is scored like the rest.
    share : float, default=0.5
        Share of the edges that is removed.
    operators : sequence of {"hadamard", "average", "l1", "l2"}
        Vector of a pair from those of its nodes, entry by entry: a·b, (a + b)/2, \\|a − b\\| and (a − b)².
    C, standardize
        Of the logistic regression, as for :func:`hopscale.tasks.node_classification`.
    splits : int, default=3
        How often edges are removed; each is a fit of the model.
    test_size : float, default=0.2
        Share of the pairs that is held out.
    max_edges : int, default=50000
        At most so many of the removed edges are asked for, drawn uniformly: enough for an error of the area below
        0.005, and memory stays bounded on large graphs.
    random_state : int, default=0
        Seed of all draws; the model keeps its own.
    n_jobs : int, optional
        Threads over the operators; the records are the same for any number.

    Returns
    -------
    list of dict
        One for each split and operator: ``task, split, operator, n_train, n_test, roc_auc, average_precision``, both
        0.5 for guesses. Beside `operators`, ``operator`` is ``"dot"`` or ``"cosine"``, the plain product and cosine
        of the two vectors, and ``"preferential_attachment"``, the baseline that knows no vectors: the product of
        the nodes' degrees in the graph that the model saw. These are not trained, and tested on the same pairs.

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
    number("C", C, least=0, above=True)
    whole("splits", splits, least=1)
    whole("max_edges", max_edges, least=2)
    whole("random_state", random_state, least=0)
    if not 0 < number("test_size", test_size, least=0) < 1:
        raise ParameterError(f"test_size must lie between 0 and 1, not {test_size!r}")
    for operator in operators:
        choice("operators", operator, list(_OPERATORS))
    lower = sp.tril(graph.adjacency, -1, format="csr")
    lower.sort_indices()
    ends = np.repeat(np.arange(graph.n_nodes, dtype=np.int64), np.diff(lower.indptr)), lower.indices.astype(np.int64)
    removed = hidden_count(share, lower.nnz, "edges")

    records = []
    for split in range(splits):
        rng = np.random.default_rng([random_state, split])
        hidden = np.zeros(lower.nnz, dtype=bool)
        hidden[rng.choice(lower.nnz, removed, replace=False, shuffle=False)] = True
        kept = _without(graph, ends, hidden)
        train, test = _questions(graph.n_nodes, ends, hidden, max_edges, test_size, rng)
        vectors, _ = matched(clone(model).fit(kept).embedding_, graph.node_ids)
        score = partial(_trained, vectors=vectors, train=train, test=test, C=C, standardize=standardize)
        found = in_pieces(score, list(operators), 1, n_jobs)
        for operator, scores in _untrained(vectors, kept.degrees, test).items():
            found.append({"operator": operator, "n_train": 0, **_areas(test, scores)})
        records += [{"task": "link_prediction", "split": split, **record} for record in found]
    return records


class _Questions(NamedTuple):
    """Pairs of nodes, and which of them are edges."""

    first: Nodes
    second: Nodes
    is_edge: NDArray[np.bool_]


def _without(graph: AttributedGraph, ends: tuple[Nodes, Nodes], hidden: NDArray[np.bool_]) -> AttributedGraph:
    """The graph less some of its edges, and without labels."""
    u, v = ends[0][hidden], ends[1][hidden]
    gone = sp.csr_array((np.ones(2 * len(u)), (np.append(u, v), np.append(v, u))), shape=graph.adjacency.shape)
    return AttributedGraph(
        graph.adjacency - graph.adjacency * gone,
        graph.features,
        node_ids=graph.node_ids,
        feature_names=graph.feature_names,
        self_loops=True,
    )


def _questions(
    n: int,
    ends: tuple[Nodes, Nodes],
    hidden: NDArray[np.bool_],
    max_edges: int,
    test_size: float,
    rng: np.random.Generator,
) -> tuple[_Questions, _Questions]:
    """Hidden edges and as many pairs that are no edge, divided alike into a training and a test part."""
    asked = rng.permutation(np.flatnonzero(hidden))[:max_edges]
    # The list of pairs (1,0), (2,0), (2,1), (3,0), ..., in which the rows of the lower triangle are in order.
    places = ends[0] * (ends[0] - 1) // 2 + ends[1]
    others = unordered_pairs(absent_positions(places, n * (n - 1) // 2, len(asked), rng))
    held = min(max(round(test_size * len(asked)), 1), len(asked) - 1)
    parts = []
    for part in (slice(held, None), slice(held)):
        first, second = (np.append(end[asked[part]], other[part]) for end, other in zip(ends, others, strict=True))
        parts.append(_Questions(first, second, np.arange(len(first)) < len(first) // 2))
    return parts[0], parts[1]


def _trained(
    operators: Sequence[str], *, vectors: Array, train: _Questions, test: _Questions, C: float, standardize: bool
) -> list[Record]:
    records = []
    for operator in operators:
        combine = _OPERATORS[operator]
        features, asked = (combine(vectors[part.first], vectors[part.second]) for part in (train, test))
        fit = fit_logistic(features, train.is_edge.astype(np.int64), 2, C=C, standardize=standardize)
        scores = fit.probabilities(asked)[:, 1]
        records.append({"operator": operator, "n_train": len(train.first), **_areas(test, scores)})
    return records


def _untrained(vectors: Array, degrees: Array, test: _Questions) -> dict[str, Array]:
    dot = np.einsum("ij,ij->i", vectors[test.first], vectors[test.second])
    lengths = np.linalg.norm(vectors, axis=1)
    both = lengths[test.first] * lengths[test.second]
    return {
        "dot": dot,
        "cosine": np.divide(dot, both, out=np.zeros_like(dot), where=both > 0),
        "preferential_attachment": degrees[test.first] * degrees[test.second],
    }


def _areas(test: _Questions, scores: Array) -> Record:
    precision = float(average_precision_score(test.is_edge, scores))
    return {"n_test": len(scores), "roc_auc": roc_auc(test.is_edge, scores), "average_precision": precision}
