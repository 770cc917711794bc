"""What every supervised model is: a graph and the labels of some nodes in, predictions for all nodes out."""

from __future__ import annotations

import os
from abc import abstractmethod
from copy import copy
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar
from weakref import ReferenceType, ref

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
from hopscale.labels import has_class, has_value
from hopscale.names import positions
from hopscale.supervised.targets import as_classes, as_values, chosen_labels, chosen_nodes, label_array

__all__ = ["SUPERVISED", "NodeClassifier", "NodeRegressor", "SupervisedModel"]

SUPERVISED: dict[str, type[SupervisedModel]] = {}

Array = NDArray[np.float64]
Indices = NDArray[np.int64]


class _Fitted:
    """What every fit leaves; not among the fields of a dataclass, which are parameters."""

    node_ids_: NDArray[Any]
    train_: Indices  # positions of the nodes that were learnt from
    outputs_: Array  # of the nodes of the fit: probabilities of the classes, or values
    classes_: NDArray[Any]  # by classifiers
    encoder_: FeatureEncoder | None  # of the node table that the features came from


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

    def fit(self, graph: Any, y: Any = None, *, train: Any = None) -> Any:
        """Learn from a graph and the labels of some of its nodes.

        Parameters
        ----------
        graph : AttributedGraph, (adjacency, features), a graph of another library or a path
            Whatever :func:`hopscale.io.as_graph` takes. All nodes of it and all their features are seen; labels
            are not, unless they are of training nodes.
        y : array-like, Series or mapping, optional
            Labels in the order of the nodes, or matched by id. By default those of the graph. A node without one has
            NaN or None.
        train : array-like, optional
            The training nodes: a mask, positions, or ids (text, or a pandas ``Index``). Labels of other nodes are never
            looked at. By default all nodes that have a label.

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
        fitted = copy(self)
        fitted.__dict__.update(checked_fields(self))
        fitted.node_ids_, fitted.train_ = graph.node_ids, rows
        fitted.encoder_ = graph.encoder
        targets = fitted._targets(labels)
        fitted.outputs_ = fitted._learn(graph, rows, targets, seed_of(self.random_state))
        for name in [name for name in vars(self) if name.endswith("_")]:
            delattr(self, name)  # of the last fit
        self.__dict__.update({name: value for name, value in vars(fitted).items() if name.endswith("_")})
        self._graph: ReferenceType[AttributedGraph] = ref(graph)
        return self

    @abstractmethod
    def _has_label(self, labels: NDArray[Any]) -> NDArray[np.bool_]:
        """Of which of some nodes the label is known."""

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
        check_is_fitted(self)
        if graph is None:
            return self.outputs_
        graph = as_graph(graph)
        return self.outputs_ if self._is_that_of_fit(graph) else self._outputs(graph)

    def _is_that_of_fit(self, graph: AttributedGraph) -> bool:
        return getattr(self, "_graph", lambda: None)() is graph

    @abstractmethod
    def predict(self, graph: Any = None) -> NDArray[Any]:
        """Predictions for all nodes of a graph."""

    @abstractmethod
    def _metric(self, labels: NDArray[Any], outputs: Array) -> float:
        """How well outputs predict the labels of the same nodes."""

    def score(self, graph: Any = None, y: Any = None, *, test: Any = None) -> float:
        """How well the labels of nodes are predicted: accuracy of classes, R² of values.

        Parameters
        ----------
        graph : AttributedGraph or what ``fit`` takes, optional
            By default the graph of ``fit``, as long as it is kept somewhere.
        y : array-like, Series or mapping, optional
            Labels, as for ``fit``.
        test : array-like, optional
            The nodes to score: a mask, positions or ids. By default all nodes that have a label and that the model was
            not trained on.

        Returns
        -------
        float
        """
        check_is_fitted(self)
        graph = self._graph_or(graph)
        rows = None if test is None else chosen_nodes(graph, test, "test")
        labels = label_array(chosen_labels(graph, y, rows))
        if rows is None:
            rows = np.flatnonzero(~self._trained_on(graph))
            labels = labels[rows]
        known = self._has_label(labels) if len(labels) else np.zeros(0, dtype=bool)
        if not known.any():
            raise GraphError("there is no node to score: none has a label that the model was not trained on")
        rows, labels = rows[known], labels[known]
        return self._metric(labels, self._outputs_of(graph)[rows])

    def _trained_on(self, graph: AttributedGraph) -> NDArray[np.bool_]:
        """Which nodes of a graph have the id of a training node."""
        if self._is_that_of_fit(graph):
            mask = np.zeros(graph.n_nodes, dtype=bool)
            mask[self.train_] = True
            return mask
        return np.asarray(positions(graph.node_ids, self.node_ids_[self.train_]) >= 0)

    def _graph_or(self, graph: Any) -> AttributedGraph:
        if graph is not None:
            return as_graph(graph)
        found: AttributedGraph | None = getattr(self, "_graph", lambda: None)()
        if found is None:
            raise GraphError("the graph of the fit is not there any more: pass it")
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
        state.pop("_graph", None)  # a reference within this process
        return state


@dataclass(eq=False, repr=False)
class NodeClassifier(ClassifierMixin, SupervisedModel, abstract=True):  # type: ignore[misc]
    """Base of models that predict classes of nodes."""

    task: ClassVar[str] = "classification"
    score = SupervisedModel.score  # not scikit-learn's, which knows no graphs

    def _has_label(self, labels: NDArray[Any]) -> NDArray[np.bool_]:
        return has_class(labels)

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
        return np.asarray(self.classes_[self._outputs_of(graph).argmax(axis=1)])

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
        truth = np.array([code.get(label, -1) for label in labels.tolist()])
        return float(np.mean(outputs.argmax(axis=1) == truth))


@dataclass(eq=False, repr=False)
class NodeRegressor(RegressorMixin, SupervisedModel, abstract=True):  # type: ignore[misc]
    """Base of models that predict values of nodes."""

    task: ClassVar[str] = "regression"
    score = SupervisedModel.score  # not scikit-learn's, which knows no graphs

    def _has_label(self, labels: NDArray[Any]) -> NDArray[np.bool_]:
        return has_value(labels)

    def _targets(self, labels: NDArray[Any]) -> Array:
        return as_values(labels)

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
        return float(r2_score(as_values(labels), outputs))
