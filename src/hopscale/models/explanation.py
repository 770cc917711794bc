"""Which features stand out around a node: exactly, where the graph is at hand, or as the vectors estimate it."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from hopscale.checks import whole
from hopscale.exceptions import ParameterError, Setting, in_short, warn
from hopscale.graph import AttributedGraph
from hopscale.io import as_graph
from hopscale.models.queries import VectorQueries, largest, plain_name

__all__ = ["Explanation", "Explanations"]


class Explanation(dict[str, list[tuple[Any, float]]]):
    """Features that stand out around a node, highest scores first, by label of the scale.

    Attributes
    ----------
    exact : bool
        Whether the scores were computed from the graph. If not, they are products of vectors: estimates, which may show
        features that are not there.
    captured : dict of str to float or None
        Share of the squared norm of each scale's matrix that the vectors hold: how good estimates are on the whole.
        None where that is not known: for ``solver="sgns"``, and in files of older versions.

    Examples
    --------
    >>> Explanation({"1": [("tea", 0.7)]}, exact=False, captured={"1": 0.614})
    Explanation({'1': [('tea', 0.7)]}, exact=False, captured={'1': 0.61})
    """

    def __init__(
        self,
        scores: Mapping[str, list[tuple[Any, float]]],
        *,
        exact: bool,
        captured: Mapping[str, float | None],
    ) -> None:
        super().__init__(scores)
        self.exact, self.captured = exact, dict(captured)

    def __repr__(self) -> str:
        shares = {label: None if share is None else round(share, 2) for label, share in self.captured.items()}
        return f"Explanation({super().__repr__()}, exact={self.exact}, captured={shares})"

    def how_known(self, label: str) -> str:
        """How the scores of a scale are known, in words.

        >>> Explanation({"1": []}, exact=False, captured={"1": 0.614}).how_known("1")
        'estimated: the vectors hold 61 % of its matrix'
        """
        if self.exact:
            return "exact"
        share = self.captured.get(label)
        part = "an unknown part" if share is None else f"{100 * share:.0f} %"
        return f"estimated: the vectors hold {part} of its matrix"


class Explanations(VectorQueries):
    """What can be said of a node by features."""

    def explain(self, node: Hashable, *, graph: Any = None, k: int = 10, scale: int | str | None = None) -> Explanation:
        """Features that stand out around a node, scale by scale.

        A score is the natural logarithm of how many times more often a feature is met that many hops from this node
        than elsewhere: log((PʳF)_vf / p(f)), with p(f) as ``fit`` saw it.

        With the graph at hand, passed in or kept by ``keep_graph=True``, scores are exact, and of features that are
        really met. Without it they are **estimates**, products of the node's and the features' vectors: on a graph
        with many features these hold a small part of it, and a feature may be shown that the node does not have.
        ``exact`` of the result says which it is, ``captured`` how large that part is.

        Parameters
        ----------
        node : hashable
            A node id; with ``graph`` it may be one that the model does not know.
        graph : AttributedGraph or what ``fit`` takes, optional
            The graph around the node. By default ``graph_``, if the model has kept it.
        k : int, default=10
            Number of features per scale.
        scale : int or str, optional
            One scale only: a number of hops, or a label as in ``scale_columns_``.

        Returns
        -------
        Explanation
            A dict of str to list of (feature, score), highest scores first, by label of the scale. Empty, with a
            warning, where nothing is met, or where the node's vector is zero.

        Raises
        ------
        ParameterError
            If a graph is passed to a model whose walks have a bias (:class:`hopscale.Node2Vec`), which are known
            from samples only.

        Notes
        -----
        Estimates have what the solver does to its target in them: ``PMI(shift=b)`` subtracts log b, and
        ``solver="sgns"`` a constant per node and scale, log b + log(s_v/s̄), see :class:`hopscale.MUSAE`. Ranks within
        a node are not affected by that, but such scores of two nodes do not compare. Exact scores have none of it. A
        ``power`` of :class:`hopscale.PMI` is undone in estimates: scores are logarithms whatever it is.

        Examples
        --------
        >>> from hopscale import MUSAE, datasets
        >>> graph = datasets.figure1()
        >>> model = MUSAE(dimensions=8).fit(graph)
        >>> model.explain("D", scale=1).exact, model.explain("D", graph=graph, scale=1).exact
        (False, True)
        """
        check_is_fitted(self)
        self._check_feature_vectors()
        k = whole("k", k, least=1)
        asked = self.scale_columns_ if scale is None else {str(scale): self._columns(scale)}
        at_hand = getattr(self, "graph_", None) if graph is None else as_graph(graph)
        ratios = None if at_hand is None else self._log_ratios(at_hand, at_hand.index_of(node))
        if ratios is None and graph is not None:
            raise ParameterError(
                f"the walks of this {type(self).__name__} have a bias and are known from samples only: there are no "
                "exact values. Leave ",
                Setting("graph"),
                " out for those that the vectors estimate",
            )
        if ratios is None:
            found = self._estimated(node, asked, k)
        else:
            found = {label: self._leading(*ratios[label], k) for label in asked}
            _warn_of_nothing_met(node, [label for label, features in found.items() if not features])
        captured = {label: share for label, share in self.captured_.items() if label in asked}
        return Explanation(found, exact=ratios is not None, captured=captured)

    @property
    def captured_(self) -> dict[str, float | None]:
        """Share of the squared norm of each scale's matrix that the vectors hold; None where that is not known."""
        return dict.fromkeys(self.scale_columns_)

    def _log_ratios(
        self, graph: AttributedGraph, row: int
    ) -> dict[str, tuple[NDArray[Any], NDArray[np.float64]]] | None:
        """Positions in ``feature_names_`` of what is met around a node and log ratios, by scale; None if unknowable."""
        return None

    def _leading(self, columns: NDArray[Any], scores: NDArray[np.float64], k: int) -> list[tuple[Any, float]]:
        best = columns[:0] if not len(scores) else largest(scores, k)
        return [(plain_name(self.feature_names_[columns[i]]), float(scores[i])) for i in best]

    def _estimated(self, node: Hashable, asked: Mapping[str, slice], k: int) -> dict[str, list[tuple[Any, float]]]:
        row, every = self._row(node), np.arange(len(self.feature_names_))
        answer: dict[str, list[tuple[Any, float]]] = {}
        vector = self.embedding_[row]
        for label, columns in asked.items():
            scores = self.estimated_pmi(vector, self.feature_embedding_, label)
            answer[label] = self._leading(every, scores, k) if vector[columns].any() else []
        self._warn_of_nothing(node, [label for label, found in answer.items() if not found])
        return answer


def _warn_of_nothing_met(node: Hashable, labels: list[str]) -> None:
    if labels:
        warn(f"no feature that the model knows is met from node {in_short(node)} at scale {', '.join(labels)}")
