"""What every supervised model is: a graph and the labels of some nodes in, predictions for all nodes out."""

from __future__ import annotations

import os
from abc import abstractmethod
from copy import copy
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.metrics import r2_score
from sklearn.utils.validation import check_is_fitted

from hopscale.checks import KnownParameters, check_seed, checked_fields, parameter, seed_of, switch
from hopscale.compute.threads import checked_jobs
from hopscale.exceptions import GraphError, warn
from hopscale.features import FeatureEncoder
from hopscale.graph import AttributedGraph
from hopscale.io import as_graph
from hopscale.labels import check_different, has_class, has_value, target_values
from hopscale.names import positions
from hopscale.supervised.graph_digest import graph_digest
from hopscale.supervised.targets import as_classes, chosen_labels, chosen_nodes, label_array

__all__ = ["SUPERVISED", "NodeClassifier", "NodeRegressor", "SupervisedModel"]

SUPERVISED: dict[str, type[SupervisedModel]] = {}

_Model = TypeVar("_Model", bound="SupervisedModel")

Array = NDArray[np.float64]
Indices = NDArray[np.int64]


class _Fitted:
    """What every fit leaves; not among the fields of a dataclass, which are parameters."""

    node_ids_: NDArray[Any]
    train_: Indices  # positions of the nodes that were learnt from
    graph_digest_: str  # of the graph of the fit
    outputs_: Array  # of the nodes of the fit: probabilities of the classes, or values
    classes_: NDArray[Any]  # by classifiers
    encoder_: FeatureEncoder | None  # of the node table that the features came from
    _graph: AttributedGraph  # of the fit; not in files and pickles
    _y: Any  # as it was passed to fit, for score: what is not of training nodes is not read before


@dataclass(eq=False, repr=False)
class SupervisedModel(_Fitted, KnownParameters, BaseEstimator):  # type: ignore[misc]
    """Base of all models that learn from labels.

    A model is a dataclass whose fields are its parameters. Defining one registers it under its name; ``abstract=True``
    in the class statement keeps a base class out.
    """

    _: KW_ONLY
    n_jobs: int | None = parameter(-1, checked_jobs)
    random_state: Any = parameter(0, check_seed)
    verbose: bool = parameter(False, switch)

    task: ClassVar[str]

    def __init_subclass__(cls, *, abstract: bool = False, **settings: Any) -> None:
        super().__init_subclass__(**settings)
        known = SUPERVISED.get(cls.__name__)
        if not abstract and (known is None or not known.__module__.startswith("hopscale.")):
            SUPERVISED[cls.__name__] = cls

    # Learning.

    def check_parameters(self) -> None:
        """Refuse parameters that make no sense, before a graph is read."""
        checked_fields(self)

    def fit(self: _Model, graph: Any, y: Any = None, *, train: Any = None) -> _Model:
        """Learn from a graph and the labels of some of its nodes.

        Parameters
        ----------
        graph : AttributedGraph, (adjacency, features), a graph of another library or a path
            Whatever :func:`hopscale.io.as_graph` takes. The edges and features of all nodes are used, but only the
            labels of training nodes.
        y : array-like, Series or mapping, optional
            Labels in the order of the nodes, or matched by id. By default those of the graph. A node without one has
            NaN or None.
        train : array-like, optional
            The training nodes: a mask, positions, or ids (text, or a pandas ``Index``). Labels of other nodes are never
            read. By default all nodes that have a label.

        Returns
        -------
        self
        """
        self.check_parameters()
        graph = as_graph(graph)
        rows = None if train is None else chosen_nodes(graph, train, "train")
        labels = label_array(chosen_labels(graph, y, rows))
        rows = np.arange(graph.n_nodes) if rows is None else rows
        known = self._has_label(labels)
        if train is not None and not known.all():
            warn(f"{int((~known).sum())} of {len(rows)} training nodes have no label, and are left out")
        rows, labels = rows[known], labels[known]
        parameters = {name: value for name, value in vars(self).items() if not name.endswith("_") and name[0] != "_"}
        fitted = copy(self)
        fitted.__dict__ = {**parameters, **checked_fields(self)}  # nothing is left of the last fit
        fitted.node_ids_, fitted.train_, fitted.graph_digest_ = graph.node_ids, rows, graph_digest(graph)
        fitted.encoder_ = graph.encoder
        targets = fitted._targets(labels)
        fitted.outputs_ = fitted._learn(graph, rows, targets, seed_of(self.random_state))
        learnt = {name: value for name, value in vars(fitted).items() if name.endswith("_")}
        self.__dict__ = {**parameters, **learnt, "_graph": graph, "_y": y}  # at once: an interruption changes nothing
        return self

    @abstractmethod
    def _has_label(self, labels: NDArray[Any]) -> NDArray[np.bool_]:
        """Mask of the nodes that have a label."""

    def _can_be_scored(self, labels: NDArray[Any]) -> NDArray[np.bool_]:
        """Mask of the nodes that have a label, given the classes of the fit."""
        return self._has_label(labels)

    @abstractmethod
    def _targets(self, labels: NDArray[Any]) -> NDArray[Any]:
        """Labels as numbers to learn from; may set what ``fit`` learns of them."""

    @abstractmethod
    def _learn(self, graph: AttributedGraph, rows: Indices, targets: NDArray[Any], seed: int) -> Array:
        """Learn from the targets of the nodes at ``rows``; returns outputs for all nodes of the graph.

        Outputs are probabilities of the classes, a row per node, or a value per node.
        """

    @abstractmethod
    def _outputs(self, graph: AttributedGraph) -> Array:
        """Outputs for all nodes of another graph."""

    # Answers.

    def _outputs_of(self, graph: Any) -> Array:
        """Outputs for the nodes of a graph, by default that of the fit; a copy."""
        check_is_fitted(self)
        if graph is not None:
            graph = as_graph(graph)
            if not self.is_fitted_graph(graph):
                return self._outputs(graph)
        return self.outputs_.copy()

    def is_fitted_graph(self, graph: AttributedGraph) -> bool:
        """Whether a graph has the nodes, edges and features of that of ``fit``."""
        return self._fitted_graph() is graph or graph_digest(graph) == getattr(self, "graph_digest_", None)

    def _fitted_graph(self) -> AttributedGraph | None:
        """The graph of the fit; None if the model was loaded without it."""
        return getattr(self, "_graph", None)

    @abstractmethod
    def predict(self, graph: Any = None) -> NDArray[Any]:
        """Predictions for all nodes of a graph."""

    @abstractmethod
    def _metric(self, labels: NDArray[Any], outputs: Array) -> float:
        """How well outputs predict the labels of the same nodes."""

    def score(self, graph: Any = None, y: Any = None, *, test: Any = None) -> float:
        """Score the predictions: accuracy of classes, R² of values.

        Parameters
        ----------
        graph : AttributedGraph or what ``fit`` takes, optional
            By default the graph of ``fit``; a model that was loaded from a file or a pickle does not have it.
        y : array-like, Series or mapping, optional
            Labels, as for ``fit``. By default those that were passed to ``fit`` if the graph is the same, else those
            of the graph.
        test : array-like, optional
            The nodes to score: a mask, positions or ids. By default all nodes that have a label and that the model was
            not trained on.

        Returns
        -------
        float
        """
        check_is_fitted(self)
        graph = self._graph_or(graph)
        if y is None and self.is_fitted_graph(graph):
            y = getattr(self, "_y", None)
        rows = None if test is None else chosen_nodes(graph, test, "test")
        labels = label_array(chosen_labels(graph, y, rows))
        if rows is None:
            rows = np.flatnonzero(~self._trained_on(graph))
            labels = labels[rows]
        known = self._can_be_scored(labels)
        if not known.any():
            raise GraphError("there is no node to score: none has a label that the model was not trained on")
        rows, labels = rows[known], labels[known]
        return self._metric(labels, self._outputs_of(graph)[rows])

    def _trained_on(self, graph: AttributedGraph) -> NDArray[np.bool_]:
        """Which nodes of a graph have the id of a training node."""
        if self.is_fitted_graph(graph):
            mask = np.zeros(graph.n_nodes, dtype=bool)
            mask[self.train_] = True
            return mask
        return np.asarray(positions(graph.node_ids, self.node_ids_[self.train_]) >= 0)

    def _graph_or(self, graph: Any) -> AttributedGraph:
        if graph is not None:
            return as_graph(graph)
        found = self._fitted_graph()
        if found is None:
            raise GraphError("the model was loaded without the graph of its fit: pass it")
        return found

    # Files.

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save the model as a safetensors file; :func:`hopscale.load_model` brings it back.

        Models that predict from vectors and features can be saved, networks cannot.
        """
        from hopscale.supervised.files import save_predictor  # which knows the predictors

        save_predictor(self, path)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "outputs_")

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        for name in ("_graph", "_y"):
            state.pop(name, None)
        return state


@dataclass(eq=False, repr=False)
class NodeClassifier(ClassifierMixin, SupervisedModel, abstract=True):  # type: ignore[misc]
    """Base of models that predict classes of nodes."""

    task: ClassVar[str] = "classification"
    score = SupervisedModel.score  # not scikit-learn's, which knows no graphs

    def _has_label(self, labels: NDArray[Any]) -> NDArray[np.bool_]:
        return has_class(labels)

    def _can_be_scored(self, labels: NDArray[Any]) -> NDArray[np.bool_]:
        return has_value(labels) if -1 in self.classes_.tolist() else has_class(labels)

    def _targets(self, labels: NDArray[Any]) -> NDArray[np.int64]:
        codes, self.classes_ = as_classes(labels)
        return codes

    def predict(self, graph: Any = None) -> NDArray[Any]:
        """The most probable class of every node.

        Parameters
        ----------
        graph : AttributedGraph or what ``fit`` takes, optional
            By default the graph of ``fit``.

        Returns
        -------
        ndarray of shape (n,)
        """
        most_probable = self._outputs_of(graph).argmax(axis=1)
        return np.asarray(self.classes_[most_probable])

    def predict_proba(self, graph: Any = None) -> Array:
        """Probabilities of the classes, in the order of ``classes_``, a row for every node.

        Parameters
        ----------
        graph : AttributedGraph or what ``fit`` takes, optional
            By default the graph of ``fit``.

        Returns
        -------
        ndarray of shape (n, n_classes)
        """
        return self._outputs_of(graph)

    def _metric(self, labels: NDArray[Any], outputs: Array) -> float:
        code = {name: i for i, name in enumerate(self.classes_.tolist())}
        try:
            truth = np.array([code.get(label, -1) for label in labels.tolist()])
        except TypeError as error:
            raise GraphError(f"labels must be one class per node ({error})") from None
        return float(np.mean(outputs.argmax(axis=1) == truth))


@dataclass(eq=False, repr=False)
class NodeRegressor(RegressorMixin, SupervisedModel, abstract=True):  # type: ignore[misc]
    """Base of models that predict values of nodes."""

    task: ClassVar[str] = "regression"
    score = SupervisedModel.score  # not scikit-learn's, which knows no graphs

    def _has_label(self, labels: NDArray[Any]) -> NDArray[np.bool_]:
        return has_value(labels)

    def _targets(self, labels: NDArray[Any]) -> Array:
        values = target_values(labels)
        check_different(values)
        return values

    def predict(self, graph: Any = None) -> Array:
        """The expected value of every node.

        Parameters
        ----------
        graph : AttributedGraph or what ``fit`` takes, optional
            By default the graph of ``fit``.

        Returns
        -------
        ndarray of shape (n,)
        """
        return self._outputs_of(graph)

    def _metric(self, labels: NDArray[Any], outputs: Array) -> float:
        values = target_values(labels)
        if values.min() == values.max():
            raise GraphError(f"R² needs nodes of different values: the {len(values)} to score have {values[0]:g}")
        return float(r2_score(values, outputs))
