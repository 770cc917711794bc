"""From vectors, features and edges to predictions: the steps that classes and values share.

Graph and targets of some nodes → inputs (vectors, features, both) → a head → Correct and Smooth, or none. What is taken
of each is chosen by cross-validation inside the training part.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, get_args

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from hopscale.checks import choice, parameter, switch, whole
from hopscale.compute import Threads
from hopscale.exceptions import GraphError, ParameterError, Setting, in_short
from hopscale.graph import AttributedGraph
from hopscale.io import as_graph
from hopscale.models import MODELS
from hopscale.models.base import NodeEmbedding
from hopscale.models.surroundings import features_in_columns
from hopscale.supervised.base import SupervisedModel
from hopscale.supervised.evidence import Evidence, evidence
from hopscale.supervised.heads.base import Head, HeadFamily, LinearHead
from hopscale.supervised.inputs import Design, InputKind, Inputs
from hopscale.supervised.selection import Metric, Report, fold_numbers, ranked
from hopscale.supervised.trials import Folds, Trial

__all__ = ["GraphPredictor"]

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

LEAST_NODES = 4  # to learn from: two for each of two folds
KINDS: tuple[InputKind, ...] = get_args(InputKind)


def check_embedder(name: str, value: Any) -> Any:
    """A model that learns vectors, or None."""
    if value is not None and not isinstance(value, NodeEmbedding):
        raise ParameterError(
            f"must be a model of hopscale, such as AE(), or None, not {in_short(value)}", parameter=name
        )
    return value


class _Fitted:
    """What a fit leaves beside predictions."""

    embedder_: NodeEmbedding | None  # None where no vectors are used
    feature_names_: NDArray[Any]
    inputs_: Inputs
    head_: Head
    report_: Report


@dataclass(eq=False, repr=False)
class GraphPredictor(_Fitted, SupervisedModel, abstract=True):
    """Base of models that predict from the vectors of an embedder, from features, or from both."""

    embedder: Any = parameter(None, check_embedder)
    inputs: str = parameter("auto", choice, options=("auto", *KINDS))
    head: str = "auto"
    smooth: bool = parameter(True, switch)
    folds: int = parameter(5, whole, least=2, most=100)
    landmarks: int = parameter(2000, whole, least=2)

    heads: ClassVar[tuple[str, ...]]  # that can be asked for
    metric: ClassVar[Metric]  # by which candidates are compared

    # What classes and values do differently.

    @abstractmethod
    def _families(self, kind: InputKind, kinds: Sequence[InputKind], n_train: int, seed: int) -> Sequence[HeadFamily]:
        """Heads that are tried on so many training nodes, with one of the kinds of input."""

    @abstractmethod
    def _target_matrix(self, targets: NDArray[Any]) -> Array:
        """Targets with a row for each training node."""

    @abstractmethod
    def _transitions(self, graph: AttributedGraph) -> sp.csr_array:
        """The matrix that outputs are smoothed with."""

    @abstractmethod
    def _loss(self, outputs: Array, targets: Array) -> float:
        """Loss by which the strength of a head is chosen: the smaller, the better."""

    @abstractmethod
    def _cv_score(self, outputs: Array, targets: Array) -> float:
        """Score by which candidates are compared: the larger, the better."""

    @abstractmethod
    def _baseline(self, targets: Array) -> float:
        """Score of always predicting the commonest class, or the mean."""

    @abstractmethod
    def _finish(self, outputs: Array, held_out: Array, out_of_fold: Array, targets: Array) -> Array:
        """Outputs as ``predict`` returns them.

        Calibration is learnt from cross-validated outputs of the training nodes: ``held_out`` are smoothed,
        ``out_of_fold`` are not.
        """

    # Learning.

    def check_parameters(self) -> None:
        """Refuse parameters that make no sense, before a graph is read."""
        super().check_parameters()
        choice("head", self.head, ("auto", *self.heads))

    def _learn(self, graph: AttributedGraph, rows: Indices, targets: NDArray[Any], seed: int) -> Array:
        if len(rows) < LEAST_NODES:
            raise GraphError(f"there are {len(rows)} training nodes, and {LEAST_NODES} are needed at least")
        kinds = self._kinds(graph)
        self.embedder_ = None if kinds == ["features"] else self.fitted_embedder(graph)
        self.feature_names_ = graph.feature_names
        vectors = self._vectors_of_fit(graph)
        Y = self._target_matrix(targets)
        count = min(self.folds, len(rows) // 2)
        fold = fold_numbers(Y, count, seed)
        with Threads(self.n_jobs, verbose=bool(self.verbose)) as engine:
            transitions = self._transitions(graph) if self.smooth and graph.adjacency.nnz else None
            folds = Folds(graph.n_nodes, rows, Y, fold, count, transitions, engine)
            trials = []
            for kind in kinds:
                inputs = Inputs.learnt(kind, vectors, graph.features)
                design = inputs.design(vectors, graph.features)
                families = [each for each in self._families(kind, kinds, len(rows), seed) if kind in each.kinds]
                trials += [Trial(inputs, design, family, folds) for family in families]
            if not trials:
                raise ParameterError(f"cannot be used with inputs={self.inputs!r}", parameter="head", value=self.head)
            with engine.bar(sum(len(trial.family.strengths) for trial in trials), "cross-validation", "fit") as bar:
                for trial in trials:
                    trial.run(self._loss, self._cv_score, bar.update)
                    engine.say(f"{trial.best.score:.4f}  {trial.best}")
            order = ranked([candidate for trial in trials for candidate in trial.candidates])
            trial = next(trial for trial in trials if trial.best is order[0])
            self.report_ = Report(order, order[0], self._baseline(Y), len(rows), count, self.metric)
            engine.say(str(self.report_))
            self.inputs_ = trial.inputs
            self.head_, outputs = trial.final()
        if self.inputs_.kind == "features":
            self.embedder_ = None
        return self._finish(outputs, trial.held_out, trial.out_of_fold, Y)

    def _kinds(self, graph: AttributedGraph) -> list[InputKind]:
        """Inputs that the graph has and that may be chosen."""
        edges, features = graph.adjacency.nnz > 0, graph.features.nnz > 0
        there = {"vectors": edges, "features": features, "both": edges and features}
        kinds = [kind for kind in KINDS if there[kind] and self.inputs in ("auto", kind)]
        if not kinds:
            lacks = " and ".join(what for what, has in (("edges", edges), ("features", features)) if not has)
            raise GraphError(f"the graph has no {lacks}: there is nothing to predict from")
        return kinds

    # Explanation.

    def explain_prediction(self, node: Hashable, *, graph: Any = None, label: Any = None) -> Evidence:
        """Explain a prediction by evidence of each feature at each number of hops, which adds up to the head's score.

        Every feature that walks from the node meet counts for or against the prediction, at each number of hops; so do
        the node's own features. The score is that of the head; ``probability`` is that after smoothing and calibration.

        Parameters
        ----------
        node : hashable
            A node id.
        graph : AttributedGraph or what ``fit`` takes, optional
            The graph of the node. By default that of ``fit``; a model that was loaded does not have it.
        label : object, optional
            The class to explain; by default the predicted one. Regressors have none.

        Returns
        -------
        Evidence
            Its ``parts`` are (feature, hops, evidence), the largest first; ``print`` shows a table.

        Raises
        ------
        ParameterError
            If the head is not linear, or its vectors are not sums over features (``solver="sgns"``, ``ego=True``, other
            embedders).
        """
        check_is_fitted(self)
        graph = self._graph_or(graph)
        row = graph.index_of(node)
        if not isinstance(self.head_, LinearHead):
            raise ParameterError(
                f"a {self.report_.chosen.head} head is not linear, so that nothing can be taken apart: fit with ",
                Setting("head", self.heads[0]),
            )
        features = features_in_columns(graph, self.feature_names_)
        inside = self.is_fitted_graph(graph)
        vectors = self._vectors_of_fit(graph) if inside else self._vectors_of_other(graph)
        design = self.inputs_.design(vectors[[row]], features[[row]])
        outputs = self._outputs_of(graph)[row]
        prediction, column, probability = self._explained(outputs, label)
        weights, intercept = self.head_.weights_of(column)
        score = float(design.times(weights[:, None])[0, 0] + intercept)
        intercept -= float(weights[: len(self.inputs_.center)] @ self.inputs_.center) / self.inputs_.scale
        parts = evidence(
            graph,
            row,
            weights,
            inputs=self.inputs_,
            embedder=self.embedder_,
            feature_names=self.feature_names_,
            features=features,
        )
        unexplained = score - intercept - sum(value for *_, value in parts)
        return Evidence(node, prediction, score, intercept, parts, unexplained, probability)

    @abstractmethod
    def _explained(self, outputs: Array, label: Any) -> tuple[Any, int, float | None]:
        """What is explained of a node with such outputs: prediction, column of the head, and probability."""

    # Vectors.

    def fitted_embedder(self, graph: Any) -> NodeEmbedding:
        """The embedder that ``fit`` takes vectors from, fitted to a graph; no labels are read.

        Pass it as ``embedder`` to learn the vectors of a graph once for several fits.

        Parameters
        ----------
        graph : AttributedGraph or what ``fit`` takes

        Returns
        -------
        model
            ``embedder`` itself if it is fitted to this graph already, else a fitted copy of it, or of the default.
        """
        graph = as_graph(graph)
        if self.embedder is None:
            default = MODELS["AE" if graph.features.nnz else "DeepWalk"]()
            default.set_params(n_jobs=self.n_jobs, random_state=self.random_state, verbose=self.verbose)
            return default.fit(graph)
        if hasattr(self.embedder, "embedding_"):
            if not np.array_equal(self.embedder.node_ids_, graph.node_ids):
                raise GraphError(
                    "the embedder was fitted to a graph of other nodes, or in another order: pass the graph that it "
                    "was fitted to, or one that is not fitted yet"
                )
            return self.embedder
        return clone(self.embedder).fit(graph)  # type: ignore[no-any-return]

    def _vectors_of_fit(self, graph: AttributedGraph) -> NDArray[Any]:
        return np.zeros((graph.n_nodes, 0)) if self.embedder_ is None else self.embedder_.embedding_

    def _design(self, graph: AttributedGraph) -> Design:
        """What the head sees of the nodes of another graph; features are matched by name."""
        return self.inputs_.design(self._vectors_of_other(graph), features_in_columns(graph, self.feature_names_))

    def _vectors_of_other(self, graph: AttributedGraph) -> NDArray[Any]:
        return np.zeros((graph.n_nodes, 0)) if self.embedder_ is None else self.embedder_.transform(graph)
