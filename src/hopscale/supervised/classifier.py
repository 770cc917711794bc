"""Classes of nodes from vectors, features and edges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hopscale.checks import parameter, whole
from hopscale.exceptions import ParameterError, in_short, warn
from hopscale.graph import AttributedGraph
from hopscale.supervised.base import NodeClassifier
from hopscale.supervised.calibration import as_probabilities, log_loss, temperature, with_temperature
from hopscale.supervised.heads.base import HeadFamily
from hopscale.supervised.heads.kernel import Kernel
from hopscale.supervised.heads.logistic_head import Logistic
from hopscale.supervised.inputs import InputKind
from hopscale.supervised.predictor import GraphPredictor
from hopscale.supervised.smoothing import symmetric_transitions

__all__ = ["GraphClassifier"]

Array = NDArray[np.float64]

KERNEL_NODES = 5000  # training nodes beyond which a kernel is tried only if it is asked for


class _Fitted:
    temperatures_: tuple[float, float]  # of outputs on the graph of the fit, and on others, which are not smoothed


@dataclass(eq=False, repr=False)
class GraphClassifier(_Fitted, GraphPredictor, NodeClassifier):
    """Predicts the classes of nodes from vectors of an embedder, from features and from edges.

    A head is trained on vectors, on features or on both side by side, and what it predicts may be smoothed over the
    edges by Correct and Smooth [1]_. Which of these is best depends on the graph: it is chosen by cross-validation
    inside the training nodes, and ``report_`` says what was tried, what was chosen, and what the commonest class would
    have scored. Labels of other nodes are never looked at.

    Parameters
    ----------
    embedder : model, optional
        Learns the vectors, without labels. By default :class:`hopscale.AE`, or :class:`hopscale.DeepWalk` where nodes
        have no features. One that was fitted to the same graph before is used as it is.
    inputs : {"auto", "vectors", "features", "both"}, default="auto"
        What the head sees of a node; ``"auto"`` lets cross-validation choose.
    head : {"auto", "logistic", "kernel"}, default="auto"
        Logistic regression; or least squares with a Gaussian kernel, which takes longer and can separate classes that
        no hyperplane can. ``"auto"`` tries logistic regression on each kind of input and, on up to 5,000 training
        nodes, the kernel on the last kind: ``"both"`` if the graph has features and edges.
    smooth : bool, default=True
        Whether smoothing may be chosen.
    folds : int, default=5
        Folds of the cross-validation. On more than 5,000 training nodes, two of them choose how strongly a head is
        regularised; all of them compare inputs, heads and smoothing.
    landmarks : int, default=1000
        Largest number of training nodes, drawn at random, that the kernel compares all nodes with. With more of them
        the boundary can be finer; time grows with their square.
    n_jobs : int, default=-1
        Number of threads. The result does not depend on it.
    random_state : int, default=0
        Seed of the folds and landmarks, and of the default embedder.
    verbose : bool, default=False
        Show progress and the report, on the error stream.

    Attributes
    ----------
    classes_ : ndarray
        Names of the classes, sorted.
    report_ : Report
        What was tried, and what was chosen: ``print(model.report_)``.
    outputs_ : ndarray of shape (n, n_classes)
        Calibrated probabilities of all nodes of the graph.
    embedder_ : model or None
        The fitted embedder; None if features alone are used.
    node_ids_, train_ : ndarray
        Ids of the nodes of the graph, and positions of those that were learnt from.

    Notes
    -----
    Features are weighted by their inverse document frequency and scaled to unit length per node, vectors are centred
    and scaled to a mean length of one. For each kind of input and each head, the strength of regularisation is the one
    with the least log loss on held-out training nodes; inputs, heads and smoothing are then compared by accuracy.

    Probabilities are calibrated by a temperature: the one with the least log loss on held-out training nodes.

    On another graph nothing is smoothed, and the head predicts alone: there are no labels to spread over its edges.

    References
    ----------
    .. [1] Q. Huang, H. He, A. Singh, S. Lim and A. Benson, "Combining Label Propagation and Simple Models
       Out-performs Graph Neural Networks", ICLR 2021.

    Examples
    --------
    >>> import numpy as np
    >>> from hopscale import GraphClassifier, datasets
    >>> graph = datasets.planted_blocks(n_nodes=300)
    >>> train = np.arange(0, 300, 3)
    >>> model = GraphClassifier().fit(graph, train=train)
    >>> model.score(graph) > 0.9
    True
    >>> model.predict_proba().shape
    (300, 3)
    """

    landmarks: int = parameter(1000, whole, least=2)

    heads = ("logistic", "kernel")
    metric = "accuracy"

    def _families(self, kind: InputKind, kinds: Sequence[InputKind], n_train: int, seed: int) -> Sequence[HeadFamily]:
        tried = {"logistic": Logistic(), "kernel": Kernel(landmarks=self.landmarks, seed=seed)}
        if self.head != "auto":
            return [tried[self.head]]
        return list(tried.values()) if n_train <= KERNEL_NODES and kind == kinds[-1] else [tried["logistic"]]

    def _target_matrix(self, targets: NDArray[Any]) -> Array:
        alone = np.flatnonzero(np.bincount(targets, minlength=len(self.classes_)) == 1)
        if len(alone):
            names = ", ".join(in_short(name) for name in self.classes_[alone[:5]].tolist())
            warn(
                f"{len(alone)} class(es) have a single training node ({names}): how well they are predicted cannot be "
                "told by cross-validation"
            )
        return np.asarray(np.eye(len(self.classes_))[targets])

    def _transitions(self, graph: AttributedGraph) -> sp.csr_array:
        return symmetric_transitions(graph.adjacency)

    def _loss(self, outputs: Array, targets: Array) -> float:
        return log_loss(as_probabilities(outputs), targets.argmax(axis=1))

    def _cv_score(self, outputs: Array, targets: Array) -> float:
        return float(np.mean(outputs.argmax(axis=1) == targets.argmax(axis=1)))

    def _baseline(self, targets: Array) -> float:
        return float(targets.mean(axis=0).max())

    def _finish(self, outputs: Array, held_out: Array, out_of_fold: Array, targets: Array) -> Array:
        truth = targets.argmax(axis=1)
        self.temperatures_ = (
            temperature(as_probabilities(held_out), truth),
            temperature(as_probabilities(out_of_fold), truth),
        )
        return with_temperature(as_probabilities(outputs), self.temperatures_[0])

    def _outputs(self, graph: AttributedGraph) -> Array:
        return with_temperature(as_probabilities(self.head_.outputs(self._design(graph))), self.temperatures_[1])

    def _explained(self, outputs: Array, label: Any) -> tuple[Any, int, float | None]:
        names = self.classes_.tolist()
        column = int(outputs.argmax())
        if label is not None:
            if label not in names:
                raise ParameterError(
                    f"must be one of the classes, {', '.join(map(in_short, names[:20]))}, not {in_short(label)}",
                    parameter="label",
                )
            column = names.index(label)
        return names[column], column, float(outputs[column])
