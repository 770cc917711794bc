"""Vectors of nodes by id, as a step of scikit-learn's pipelines over nodes."""

from __future__ import annotations

from functools import cached_property
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.utils.validation import check_is_fitted

from hopscale.exceptions import ParameterError, Setting
from hopscale.io import as_graph

__all__ = ["NodeVectors"]

_KEPT = 8  # fits of other settings


class NodeVectors(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """A transformer from ids of nodes to their vectors: the first step of a ``Pipeline`` whose samples are nodes.

    A model learns from a whole graph, while ``cross_val_score`` and ``GridSearchCV`` split samples. With this step,
    samples are ids of nodes, and the graph is a parameter: whatever part of the nodes is trained on, vectors are
    learnt from the whole graph. No label takes part in that, so that scores on the other part are fair, as long as the
    edges and features of its nodes will be known in use as well.

    Parameters
    ----------
    model : estimator
        A model such as :class:`hopscale.MUSAE`. Its parameters are ``model__dimensions`` and so on.
    graph : AttributedGraph or what a model's ``fit`` takes, optional
        What a clone of the model is fitted to. Without it, the model is fitted already, and is used as it is.

    Attributes
    ----------
    model_ : estimator
        The fitted model.

    Notes
    -----
    The last eight fits are kept for clones of this step with the same parameters, unless ``random_state`` of the model
    is no whole number: in a process, a search of k folds fits a setting of the model once, and not k times.

    Examples
    --------
    >>> from hopscale import MUSAE, NodeVectors, load
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.model_selection import cross_val_score
    >>> from sklearn.pipeline import make_pipeline
    >>> graph = load("digits")
    >>> classifier = make_pipeline(NodeVectors(MUSAE(), graph), LogisticRegression(max_iter=1000))
    >>> scores = cross_val_score(classifier, graph.node_ids, graph.labels, cv=3)
    >>> bool(scores.mean() > 0.9)
    True
    """

    def __init__(self, model: Any, graph: Any = None) -> None:
        self.model, self.graph = model, graph

    def __sklearn_clone__(self) -> NodeVectors:
        """Without copies of the graph, which does not change, and of a fitted model that could not be fitted again."""
        if self.graph is None:
            return type(self)(self.model)
        copy = type(self)(clone(self.model), self.graph)
        copy._fits = self._fits
        return copy

    @cached_property
    def _fits(self) -> dict[str, Any]:
        """The last fits by their settings, which all clones share."""
        return {}

    def __getstate__(self) -> Any:
        return {name: value for name, value in super().__getstate__().items() if name != "_fits"}

    def fit(self, nodes: Any, y: Any = None) -> NodeVectors:
        """Learn vectors from the graph; ``nodes`` and ``y`` say nothing about them."""
        if self.graph is None:
            check_is_fitted(self.model)
            changed = self.model.changed_parameters()
            if changed:
                raise ParameterError(
                    f"the model was fitted with other parameters ({', '.join(changed)}): to fit it again, pass ",
                    Setting("graph"),
                    " as well",
                )
            self.model_ = self.model
            return self
        settings = repr((type(self.model), sorted(self.model.get_params().items())))
        if settings not in self._fits or not isinstance(self.model.random_state, Integral):
            fitted = clone(self.model).fit(as_graph(self.graph))
            while len(self._fits) >= _KEPT:
                self._fits.pop(next(iter(self._fits)))  # the oldest
            self._fits[settings] = fitted
        self.model_ = self._fits[settings]
        return self

    def transform(self, nodes: ArrayLike) -> NDArray[np.float32]:
        """Vectors of nodes, by their ids: a list, an array, or a table with one column."""
        check_is_fitted(self, "model_")
        if getattr(nodes, "ndim", 1) == 2:
            nodes = np.asarray(nodes)
            if nodes.shape[1] != 1:
                raise ParameterError(f"ids of nodes must be a column, but have the shape {nodes.shape}")
            nodes = nodes[:, 0]
        return self.model_[nodes if hasattr(nodes, "to_numpy") else list(nodes)]  # type: ignore[arg-type]

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Names of the columns: scale and number."""
        check_is_fitted(self, "model_")
        return self.model_.get_feature_names_out()
