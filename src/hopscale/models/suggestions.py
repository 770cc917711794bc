"""Links and features that a graph does not have, but should by what its vectors and neighbourhoods say."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from typing import Any, cast

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from hopscale.checks import whole
from hopscale.compute.nearest import Nearest
from hopscale.exceptions import ParameterError, Setting
from hopscale.graph import AttributedGraph
from hopscale.io import as_graph
from hopscale.models.neighbors import Answer, Neighbors, Scored
from hopscale.models.queries import largest, no_feature_vectors
from hopscale.models.surroundings import Surroundings, entries, features_in_columns

__all__ = ["Suggestions"]

Indices = NDArray[np.int64]
Array = NDArray[np.float64]

_PRIOR = 5  # neighbours that the vectors' estimate of a feature counts as


class Suggestions(Neighbors):
    """Suggestions of links and features, which need the graph beside the vectors."""

    context_: Any

    def suggest_links(
        self,
        nodes: Hashable | Iterable[Hashable] | None = None,
        *,
        k: int = 10,
        graph: Any = None,
        scale: int | str | None = None,
    ) -> Answer:
        r"""Pairs of nodes without an edge that are most likely to have one.

        The score of nodes u and v is

        .. math:: \cos(g_u, g_v) + \log\Bigl(1 + \sum_{w \in N(u) \cap N(v)} \frac{1}{\log |N(w)|}\Bigr),

        the cosine of their vectors, which knows features and nodes farther away, and the logarithm of the index of
        Adamic and Adar, which counts common neighbours. Weights of edges count in the vectors only.

        Parameters
        ----------
        nodes : hashable, or list or array of hashables, optional
            A node id, or several; by default the best pairs of all nodes are returned.
        k : int, default=10
            Number of pairs, of each node or of all.
        graph : AttributedGraph or what ``fit`` takes, optional
            The graph whose edges are left out, matched by the ids of the nodes. By default the one that the model was
            fitted to, if it was made with ``keep_graph=True``.
        scale : int or str, optional
            Take the cosine at one scale only: a number of hops, or a label as in ``scale_columns_``.

        Returns
        -------
        list of (node, score), dict of such lists by node, or list of (node, node, score)
            Highest scores first. Empty, with a warning, for a node whose vector is zero and that has no neighbours.

        Notes
        -----
        Measured by ``benchmarks/suggestions.py`` on edges that were removed before fitting: on cora, facebook and
        digits ten suggestions a node find more of them than either part does alone, by up to .05 of all. Which part
        is the better one differs: on facebook common neighbours find twice as many as vectors, on cora as many.
        Products of vectors, and cosines at one scale, are worse than the cosine.

        The best pairs of all nodes are looked for among those with common neighbours, ``Σ |N(w)|²`` of them, which hubs
        make many; and among all others only if these do not fill the list, which takes n²·d/2 multiplications. Memory
        is bounded in either case.

        References
        ----------
        L. A. Adamic and E. Adar, "Friends and neighbors on the Web", Social Networks 25(3), 2003.

        Examples
        --------
        >>> from hopscale import MUSAE, datasets
        >>> graph = datasets.figure1()
        >>> model = MUSAE(dimensions=16).fit(graph)
        >>> [node for node, score in model.suggest_links("A", k=2, graph=graph)]
        ['C', 'H']
        >>> len(model.suggest_links(k=3, graph=graph))
        3
        """
        vectors, k = self.node_vectors(scale), whole("k", k, least=1)
        around = Surroundings.of(self.node_ids_, self._known_graph(graph, "suggest_links"))
        near = Nearest(vectors, cosine=True)
        if nodes is None:
            i, j, scores = self._best_pairs(near, around, k)
            ends = self.node_ids_[i].tolist(), self.node_ids_[j].tolist()
            return list(zip(*ends, scores.tolist(), strict=True))
        asked = self._asked_nodes(nodes)
        excluded = sp.csr_array(around.edges[asked.rows] + asked.themselves(len(vectors)))
        found = [dict(each) for each in self._search(near, vectors[asked.rows], self.node_ids_, k, excluded)]
        for begin, end in around.pieces(asked.rows):
            rows = asked.rows[begin:end]
            common, known = entries(around.common(rows)), entries(excluded[begin:end])
            for each, row, (columns, index), (edges, _) in zip(found[begin:end], rows, common, known, strict=True):
                new = ~np.isin(columns, edges)
                columns = columns[new]
                scores = near.exact_pairs(np.full(len(columns), row), columns) + np.log1p(index[new])
                best = largest(scores, k)
                each.update(zip(self.node_ids_[columns[best]].tolist(), scores[best].tolist(), strict=True))
        ranked = [sorted(each.items(), key=lambda pair: (-pair[1], self._node_index[pair[0]]))[:k] for each in found]
        self._warn_of_zeros(
            asked, [not (each or vectors[row].any()) for each, row in zip(ranked, asked.rows, strict=True)], scale
        )
        return asked.answer(ranked)

    def _best_pairs(self, near: Nearest, around: Surroundings, k: int) -> tuple[Indices, Indices, Array]:
        """The best pairs i < j of all: those with common neighbours first, others if they can be among them."""
        i, j, scores = np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0)

        def merge(*more: NDArray[Any]) -> None:
            nonlocal i, j, scores
            i, j, scores = (np.append(old, new) for old, new in zip((i, j, scores), more, strict=True))
            order = np.lexsort((-scores, j, i))
            first = np.append(True, (np.diff(i[order]) != 0) | (np.diff(j[order]) != 0))[: len(order)]
            order = order[first]  # a pair that was found twice has its higher score
            order = order[np.lexsort((j[order], i[order], -scores[order]))][:k]
            i, j, scores = i[order], j[order], scores[order]

        every = np.arange(len(near.vectors))
        with self._engine() as engine:
            with engine.bar(len(every), "common neighbours", "node") as bar:
                for begin, end in around.pieces(every):
                    common = sp.coo_array(sp.triu(around.common(every[begin:end]), k=begin + 1))
                    left, right = common.coords[0] + begin, common.coords[1].astype(np.int64)
                    bound = np.log1p(common.data) + 1  # no cosine is larger
                    likely = largest(bound, k)
                    rest = np.setdiff1d(np.arange(len(bound)), likely)
                    for part in (likely, rest):  # after the likely ones fewer of the rest can be among the best
                        some = part[bound[part] >= (scores[-1] if len(scores) == k else -np.inf)]
                        some = some[~around.are_edges(left[some], right[some])]
                        merge(left[some], right[some], near.exact_pairs(left[some], right[some]) + bound[some] - 1)
                    bar.update(end - begin)
            if len(scores) < k or scores[-1] < 1 + 1e-9:
                merge(*near.pairs(k, engine, around.edges))
        return i, j, scores

    def suggest_features(self, nodes: Hashable | Iterable[Hashable], *, k: int = 10, graph: Any = None) -> Answer:
        r"""Features that a node does not have, but should by its neighbours and by the vectors.

        The score of node v and feature f is an estimate of the probability that v has f,

        .. math::

            \frac{d\, s + 5\, p}{d + 5}, \quad p = p(f)\, \exp\Bigl(\frac{1}{m} \sum_r g_v^r \cdot h_f^r\Bigr),

        where s is the weighted fraction of the d neighbours of v that have f, p(f) the fraction of all nodes that
        have it, and p, at most 1, what the vectors of the m scales say: the mean of their products estimates
        pointwise mutual information. The vectors count as five neighbours do.

        Parameters
        ----------
        nodes : hashable, or list or array of hashables
            A node id, or several.
        k : int, default=10
            Number of features of each.
        graph : AttributedGraph or what ``fit`` takes, optional
            The graph whose features are left out, matched by the ids of nodes and the names of features. By default
            the one that the model was fitted to, if it was made with ``keep_graph=True``.

        Returns
        -------
        list of (feature, score), or dict of such lists by node
            Highest scores first. Empty, with a warning, for a node whose vector is zero and that has no neighbours.

        Notes
        -----
        Measured by ``benchmarks/suggestions.py`` on features that were removed before fitting: ten suggestions a node
        find more of them than neighbours or vectors do alone on cora and facebook, as many as neighbours on digits,
        and fewer than vectors on planted blocks, by .02 of all.

        Examples
        --------
        >>> from hopscale import MUSAE, datasets
        >>> graph = datasets.digits()
        >>> model = MUSAE(dimensions=64).fit(graph)
        >>> [pixel for pixel, probability in model.suggest_features(7, k=3, graph=graph)]
        ['r7c3', 'r1c2', 'r1c3']
        """
        check_is_fitted(self)
        k, model = whole("k", k, least=1), cast(Any, self)
        if not (model.uses_features and model.has_feature_vectors):
            raise ParameterError(no_feature_vectors(self))
        known, asked = self._known_graph(graph, "suggest_features"), self._asked_nodes(nodes)
        around = Surroundings.of(self.node_ids_, known)
        # With ego, nodes come after the features.
        names = self.feature_names_[: len(self.feature_names_) - self.context_.endswith("+nodes") * len(self.node_ids_)]
        H, features = self.feature_embedding_[: len(names)], features_in_columns(known, names)
        logarithm = np.log((np.bincount(features.indices, minlength=len(names)) + 1) / (known.n_nodes + 1))
        answers: list[Scored] = []
        for begin, end in around.pieces(asked.rows):
            rows = asked.rows[begin:end]
            own, near = entries(around.own(features, rows)), entries(around.steps(rows) @ features.astype(bool))
            for row, (has, _), (met, share) in zip(rows.tolist(), own, near, strict=True):
                vector, n = self.embedding_[row], around.counts[row]
                estimate = self.estimated_pmi(vector, H) / len(self.scale_columns_) + self._shift() + logarithm
                scores = _PRIOR * np.exp(np.minimum(estimate, 0))
                scores[met] += n * share
                scores[has] = -np.inf
                best = largest(scores, k) if n or vector.any() else has[:0]
                best = best[scores[best] > -np.inf]
                answers.append(list(zip(names[best].tolist(), (scores[best] / (n + _PRIOR)).tolist(), strict=True)))
        self._warn_of_zeros(
            asked,
            [not (each or self.embedding_[row].any()) for each, row in zip(answers, asked.rows, strict=True)],
            None,
        )
        return asked.answer(answers)

    def _shift(self) -> float:
        """What products are smaller by than pointwise mutual information, for all nodes."""
        solver = getattr(self, "solver_", None)
        return math.log(getattr(solver, "negatives", getattr(solver, "shift", 1.0)))

    def _known_graph(self, graph: Any, question: str) -> AttributedGraph:
        check_is_fitted(self)
        if graph is not None:
            return as_graph(graph)
        if not hasattr(self, "graph_"):
            raise ParameterError(
                f"{question} has to know the graph, to leave out what is in it: pass it as ",
                Setting("graph"),
                ", or fit a model with ",
                Setting("keep_graph", True),
            )
        return self.graph_
