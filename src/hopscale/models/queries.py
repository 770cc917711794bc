"""What all questions to a fitted model share: vectors by scale, and rows by name."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from hopscale.exceptions import ParameterError, UnknownNodeError, in_short, warn

__all__ = ["VectorQueries", "largest", "no_feature_vectors", "plain_name"]


class VectorQueries:
    """What can be read off node and feature vectors that share one space per scale."""

    embedding_: NDArray[np.float32]
    feature_embedding_: NDArray[np.float32]
    node_ids_: NDArray[Any]
    feature_names_: NDArray[Any]

    def node_vectors(self, scale: int | str | None = None) -> NDArray[np.float32]:
        """``embedding_``, or its columns of one scale."""
        check_is_fitted(self)
        self._check_node_vectors()
        return self.embedding_[:, self._columns(scale)]

    def feature_vectors(self, scale: int | str | None = None) -> NDArray[np.float32]:
        """``feature_embedding_``, or its columns of one scale."""
        check_is_fitted(self)
        self._check_feature_vectors()
        return self.feature_embedding_[:, self._columns(scale)]

    @property
    def scale_columns_(self) -> dict[str, slice]:
        """Columns of each scale in ``embedding_`` and ``feature_embedding_``, by label."""
        columns, first = {}, 0
        for label, width in self._widths().items():
            columns[label] = slice(first, first + width)
            first += width
        return columns

    @abstractmethod
    def _widths(self) -> dict[str, int]:
        """Dimensions of each scale, by label, in the order of the columns."""

    def estimated_pmi(
        self, nodes: NDArray[np.float32], features: NDArray[np.float32], scale: int | str | None = None
    ) -> NDArray[np.float64]:
        """Products of vectors of nodes with vectors of features, of all dimensions: sums over the scales, or at one.

        They estimate pointwise mutual information. Where they estimate a power of it, they are raised back scale by
        scale; signs are kept.
        """
        powers = self._powers()
        if scale is None and any(power != 1 for power in powers.values()):
            return np.sum([self.estimated_pmi(nodes, features, label) for label in powers], axis=0)
        columns = self._columns(scale)
        found = _products(nodes[..., columns], features[..., columns])
        power = 1.0 if scale is None else powers[self._label(scale)]
        return found if power == 1 else np.sign(found) * np.abs(found) ** (1 / power)

    def _powers(self) -> dict[str, float]:
        """The power of pointwise mutual information that products of vectors estimate, by label of the scale."""
        return dict.fromkeys(self.scale_columns_, 1.0)

    def _check_node_vectors(self) -> None:
        if not len(self.node_ids_):
            raise ParameterError(
                "this model has no vectors of nodes: it was fitted to a graph in blocks, and they are in the folder "
                "that they were written to"
            )

    def _check_feature_vectors(self) -> None:
        if not len(self.feature_embedding_):
            raise ParameterError(no_feature_vectors(self))

    def _warn_of_nothing(self, node: Hashable, labels: list[str]) -> None:
        if labels:
            where = "" if len(labels) == len(self.scale_columns_) else f" at scale {', '.join(labels)}"
            warn(
                f"nothing is known of node {in_short(node)}{where}: its vector is zero, since no feature stands out "
                "there or none is met"
            )

    def _columns(self, scale: int | str | None) -> slice:
        if scale is None:
            return slice(None)
        columns = self.scale_columns_
        label = self._label(scale)
        if label not in columns:
            raise ParameterError(f"no scale {in_short(scale)}; this model has {', '.join(columns)}")
        return columns[label]

    @staticmethod
    def _label(scale: int | str) -> str:
        return scale if isinstance(scale, str) else in_short(plain_name(scale))

    @cached_property
    def _node_index(self) -> dict[Hashable, int]:
        return {node: row for row, node in enumerate(self.node_ids_.tolist())}

    @cached_property
    def feature_index(self) -> dict[Hashable, int]:
        """Row of each feature in ``feature_names_``."""
        return {feature: row for row, feature in enumerate(self.feature_names_.tolist())}

    def _row(self, node: Hashable) -> int:
        self._check_node_vectors()
        try:
            return self._node_index[node]
        except (KeyError, TypeError):
            raise UnknownNodeError(
                f"no node {in_short(node)} in this model (ids look like {in_short(plain_name(self.node_ids_[0]))})"
            ) from None

    def _feature_row(self, feature: Hashable) -> int:
        try:
            return self.feature_index[feature]
        except (KeyError, TypeError):
            like = in_short(plain_name(self.feature_names_[0]))
            raise UnknownNodeError(
                f"no feature {in_short(feature)} in this model (features look like {like})"
            ) from None


def no_feature_vectors(model: Any) -> str:
    """What to say of a model that has none."""
    return f"{type(model).__name__} learns no vectors of features: AE and MUSAE do"


def _products(one: NDArray[np.float32], other: NDArray[np.float32]) -> NDArray[np.float64]:
    """Row by row, in double precision: no product of float32 numbers is too large for it."""
    return np.asarray(np.einsum("...j,...j->...", one, other, dtype=np.float64))


def largest(scores: NDArray[np.float64], k: int) -> NDArray[np.int64]:
    """Positions of the k largest scores, largest first; ties by position.

    >>> largest(np.array([1.0, 3.0, 2.0, 3.0]), 3)
    array([1, 3, 2])
    """
    k = min(k, len(scores))
    if not k:
        return np.zeros(0, dtype=np.int64)
    threshold = np.partition(scores, len(scores) - k)[len(scores) - k]
    candidates = np.flatnonzero(scores >= threshold)
    return candidates[np.argsort(-scores[candidates], kind="stable")][:k]


def plain_name(name: Any) -> Any:
    """A Python object for a NumPy scalar."""
    return name.item() if isinstance(name, np.generic) else name
