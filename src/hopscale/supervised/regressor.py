"""Values of nodes from vectors, features and edges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hopscale.exceptions import ParameterError
from hopscale.graph import AttributedGraph
from hopscale.supervised.base import NodeRegressor
from hopscale.supervised.heads.base import HeadFamily
from hopscale.supervised.heads.elastic_net import ElasticNet
from hopscale.supervised.heads.kernel import Kernel
from hopscale.supervised.inputs import InputKind
from hopscale.supervised.predictor import GraphPredictor
from hopscale.supervised.smoothing import transitions

__all__ = ["GraphRegressor"]

Array = NDArray[np.float64]


@dataclass(eq=False, repr=False)
class GraphRegressor(GraphPredictor, NodeRegressor):
    """Predicts values of nodes from vectors of an embedder, from features and from edges.

    As :class:`hopscale.GraphClassifier`, with heads for values: an elastic net on vectors, the paper's choice, or
    kernel ridge regression on vectors, on features or on both.

    Parameters
    ----------
    embedder : model, optional
        As for :class:`hopscale.GraphClassifier`.
    inputs : {"auto", "vectors", "features", "both"}, default="auto"
        What the head sees of a node; ``"auto"`` lets cross-validation choose.
    head : {"auto", "elastic-net", "kernel"}, default="auto"
        ``"auto"`` lets cross-validation choose. The elastic net takes vectors only.
    smooth : bool, default=True
        Whether smoothing may be chosen.
    folds : int, default=5
        Folds of the cross-validation, as for :class:`hopscale.GraphClassifier`.
    landmarks : int, default=2000
        Largest number of training nodes, drawn at random, that the kernel compares all nodes with.
    n_jobs, random_state, verbose
        As for :class:`hopscale.GraphClassifier`.

    Attributes
    ----------
    report_ : Report
        What was tried, with R² of nodes that were held out, and what was chosen.
    outputs_ : ndarray of shape (n,)
        Values of all nodes of the graph.
    embedder_, node_ids_, train_
        As for :class:`hopscale.GraphClassifier`.

    Notes
    -----
    Values are used as they are: take the logarithm first of what varies by factors, such as traffic or prices. On
    another graph nothing is smoothed.

    Examples
    --------
    >>> import numpy as np
    >>> from hopscale import GraphRegressor, datasets
    >>> graph = datasets.planted_blocks(n_nodes=300)
    >>> values = np.asarray(graph.labels) * 2.0 + 1.0
    >>> model = GraphRegressor().fit(graph, values, train=np.arange(0, 300, 2))
    >>> model.score(graph, values) > 0.8
    True
    """

    heads = ("elastic-net", "kernel")
    metric = "r2"

    def _families(self, kind: InputKind, kinds: Sequence[InputKind], n_train: int, seed: int) -> Sequence[HeadFamily]:
        tried = {"elastic-net": ElasticNet(), "kernel": Kernel(landmarks=self.landmarks, seed=seed)}
        return list(tried.values()) if self.head == "auto" else [tried[self.head]]

    def _target_matrix(self, targets: NDArray[Any]) -> Array:
        return np.asarray(targets, dtype=np.float64)[:, None]

    def _transitions(self, graph: AttributedGraph) -> sp.csr_array:
        return transitions(graph.adjacency)

    def _loss(self, outputs: Array, targets: Array) -> float:
        return float(((outputs - targets) ** 2).mean())

    def _cv_score(self, outputs: Array, targets: Array) -> float:
        return 1 - self._loss(outputs, targets) / float(targets.var())

    def _baseline(self, targets: Array) -> float:
        return 0.0

    def _finish(self, outputs: Array, held_out: Array, out_of_fold: Array, targets: Array) -> Array:
        return outputs[:, 0]

    def _outputs(self, graph: AttributedGraph) -> Array:
        return self.head_.outputs(self._design(graph))[:, 0]

    def _explained(self, outputs: Array, label: Any) -> tuple[Any, int, float | None]:
        if label is not None:
            raise ParameterError("is for classes: a regressor has none", parameter="label")
        return float(outputs), 0, None
