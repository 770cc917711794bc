"""Which features stand out around a node."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from sklearn.utils.validation import check_is_fitted

from hopscale.checks import whole
from hopscale.models.queries import VectorQueries, largest, plain_name, products

__all__ = ["Explanations"]


class Explanations(VectorQueries):
    """What can be said of a node by features."""

    def explain(
        self, node: Hashable, *, k: int = 10, scale: int | str | None = None
    ) -> dict[str, list[tuple[Any, float]]]:
        """Features that stand out around a node, scale by scale.

        The product of a node's and a feature's vector estimates their pointwise mutual information: how
        much more often (natural log) the feature is met that many hops from this node than elsewhere.
        Scores of ``solver="sgns"`` are shifted by a constant per node and scale, −log b − log(s_v/s̄), see
        :class:`hopscale.MUSAE`: ranks within a node are not affected, but scores of two nodes do not compare.

        Parameters
        ----------
        node : hashable
            A node id.
        k : int, default=10
            Number of features per scale.
        scale : int or str, optional
            One scale only: a number of hops, or a label as in ``scale_columns_``.

        Returns
        -------
        dict of str to list of (feature, score)
            Highest scores first, by label of the scale. Empty, with a warning, where the node's vector is
            zero: nothing is known of it there.
        """
        check_is_fitted(self)
        self._check_feature_vectors()
        row, k = self._row(node), whole("k", k, least=1)
        asked = self.scale_columns_ if scale is None else {str(scale): self._columns(scale)}
        answer: dict[str, list[tuple[Any, float]]] = {}
        for label, columns in asked.items():
            vector, answer[label] = self.embedding_[row, columns], []
            if vector.any():
                scores = products(self.feature_embedding_[:, columns], vector)
                answer[label] = [(plain_name(self.feature_names_[f]), float(scores[f])) for f in largest(scores, k)]
        self._warn_of_nothing(node, [label for label, found in answer.items() if not found])
        return answer
