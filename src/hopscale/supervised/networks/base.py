"""What every network is: an estimator with one hook, the pass of the nodes through its layers."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hopscale.checks import choice, number, parameter, switch, whole
from hopscale.compute import Threads
from hopscale.exceptions import MissingPackageError, ParameterError, Setting, in_short
from hopscale.graph import AttributedGraph
from hopscale.models import NodeEmbedding
from hopscale.supervised.base import NodeClassifier
from hopscale.supervised.networks.inputs import NodeInputs, VectorInput, known_features, normalized_rows, own_features
from hopscale.supervised.networks.propagation import Matrices, normalized, with_self_loops

if TYPE_CHECKING:
    from torch import Tensor

    from hopscale.supervised.networks.layers.passes import Batch, Pass
    from hopscale.supervised.networks.layers.place import Place

__all__ = ["Network", "optional_whole"]

Inputs = Literal["features", "vectors", "both"]
Floats = NDArray[np.float32]
Indices = NDArray[np.int64]


def optional_whole(name: str, value: Any, *, least: int) -> int | None:
    """A whole number, or None."""
    return None if value is None else whole(name, value, least=least)


def device_name(name: str, value: Any) -> str:
    """Name of a device; whether it is there is known when PyTorch is."""
    if not isinstance(value, str):
        raise ParameterError(f"must be 'auto', 'cpu' or 'cuda', not {in_short(value)}", parameter=name)
    return value


def embedder_or_vectors(name: str, value: Any) -> Any:
    """A model that learns vectors, an array of them, or None."""
    if value is None or isinstance(value, NodeEmbedding):
        return value
    array = np.asarray(value)
    if array.ndim != 2 or array.dtype.kind not in "biuf":
        raise ParameterError("must be a model that learns vectors, or an array with a row per node", parameter=name)
    return value


class _Trained:
    """What a fit leaves beside predictions."""

    weights_: dict[str, Floats]  # of the layers, in the order of the pass
    n_epochs_: int
    feature_names_: NDArray[Any]
    vectors_: VectorInput | None


@dataclass(eq=False, repr=False)
class Network(_Trained, NodeClassifier, abstract=True):
    """Base of the networks."""

    _: KW_ONLY
    epochs: int = parameter(200, whole, least=1)
    learning_rate: float = parameter(0.01, number, least=0, above=True)
    dropout: float = parameter(0.5, number, least=0, below=1)
    regularization: float = parameter(0.001, number, least=0)
    inputs: Inputs = parameter("features", choice, options=get_args(Inputs))
    embedder: Any = parameter(None, embedder_or_vectors)
    normalize_features: bool = parameter(False, switch)
    patience: int | None = parameter(None, optional_whole, least=1)
    validation_share: float = parameter(0.1, number, least=0, above=True, below=1)
    device: str = parameter("auto", device_name)

    # What makes one network differ from another.

    @abstractmethod
    def _scores(self, net: Pass) -> Tensor:
        """Scores of the classes for each node: the layers of the network, from the input to the last."""

    def _matrices(self, adjacency: sp.csr_array) -> Matrices:
        """Matrices that the layers multiply with, by name."""
        return {"step": normalized(with_self_loops(adjacency))}

    # Learning.

    def check_parameters(self) -> None:
        """Refuse parameters that make no sense, before a graph is read."""
        super().check_parameters()
        if self.embedder is None and self.inputs != "features":
            raise ParameterError(
                "needs an embedder, such as MUSAE(), or vectors", parameter="inputs", value=self.inputs
            )
        if self.embedder is not None and self.inputs == "features":
            raise ParameterError("is of no use without ", Setting("inputs", "both"), parameter="embedder")

    def _learn(self, graph: AttributedGraph, rows: Indices, targets: Indices, seed: int) -> NDArray[np.float64]:
        self.feature_names_ = own_features(graph)[1]
        self.vectors_ = None if self.embedder is None else VectorInput(self.embedder, graph)
        inputs = self._inputs(graph, None if self.vectors_ is None else self.vectors_.of_fit)
        held_out = np.zeros(len(rows), dtype=bool)
        if self.patience is not None and len(rows) > 1:
            size = min(max(1, round(self.validation_share * len(rows))), len(rows) - 1)
            held_out[np.random.default_rng(seed).permutation(len(rows))[:size]] = True
        with self._place() as place:
            from hopscale.supervised.networks.layers.passes import Weights
            from hopscale.supervised.networks.layers.training import Training, probabilities

            weights, outputs = Weights(place.device, seed), len(self.classes_)
            everything = place.batch(inputs, self._matrices(inputs.adjacency))
            batches = self._batches(inputs, everything, rows[~held_out], targets[~held_out], seed, place)
            validation = everything.labelled(rows[held_out], targets[held_out]) if held_out.any() else None
            training = Training(**{name: getattr(self, name) for name in Training.__dataclass_fields__})
            with place.engine.bar(self.epochs, "train", "epoch") as bar:
                self.n_epochs_ = training.run(self._scores, batches, outputs, weights, seed, bar, validation)
            self.weights_ = weights.arrays()
            return probabilities(self._scores, everything, outputs, weights)

    def _outputs(self, graph: AttributedGraph) -> NDArray[np.float64]:
        inputs = self._inputs(graph, None if self.vectors_ is None else self.vectors_.of(graph))
        with self._place() as place:
            from hopscale.supervised.networks.layers.passes import Weights
            from hopscale.supervised.networks.layers.training import probabilities

            everything = place.batch(inputs, self._matrices(inputs.adjacency))
            return probabilities(
                self._scores, everything, len(self.classes_), Weights(place.device, known=self.weights_)
            )

    def _inputs(self, graph: AttributedGraph, vectors: Floats | None) -> NodeInputs:
        features = None
        if self.inputs != "vectors":
            features = known_features(graph, self.feature_names_)
            features = normalized_rows(features) if self.normalize_features else features
        return NodeInputs(graph.adjacency, features, vectors)

    def _batches(
        self, inputs: NodeInputs, everything: Batch, rows: Indices, targets: Indices, seed: int, place: Place
    ) -> list[Batch]:
        """What is trained on, one step of the optimizer each: by default all nodes at once."""
        return [everything.labelled(rows, targets)]

    @contextmanager
    def _place(self) -> Iterator[Place]:
        """Where to compute; PyTorch's settings are the caller's again afterwards."""
        try:
            import torch  # noqa: F401
        except ImportError as error:
            name = type(self).__name__
            raise MissingPackageError(f'{name} needs PyTorch ({error}): pip install "hopscale[gnn]"') from error
        from hopscale.supervised.networks.layers.place import Place, chosen_device, one_thread

        with Threads(self.n_jobs, verbose=self.verbose) as engine, one_thread():
            yield Place(chosen_device(self.device), engine)
