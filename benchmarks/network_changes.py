"""Changes that a network can be trained with: what the paper leaves open, and what code of its time did.

``changed`` is a context in which networks differ; ``Snapshots`` answers as after fewer epochs, of the same training.
"""

from __future__ import annotations

import copy
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import lru_cache
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray
from sklearn.decomposition import TruncatedSVD
from torch import Tensor

from hopscale import AttributedGraph, load
from hopscale.labels import class_codes
from hopscale.supervised import SUPERVISED
from hopscale.supervised.networks import propagation
from hopscale.supervised.networks.base import Network
from hopscale.supervised.networks.inputs import NodeInputs
from hopscale.supervised.networks.layers import training
from hopscale.supervised.networks.layers.passes import Pass

__all__ = [
    "AS_IT_IS", "EPOCHS", "Snapshots", "changed", "changed_graph", "keep_reduced_features", "reduced_features_in",
    "settings_of",
]  # fmt: skip

FOLDER = Path()  # of reduced features
EPOCHS = (10, 20, 50, 100, 200)
GAT, GraphSAGE, SGC, ClusterGCN = (SUPERVISED[name] for name in ("GAT", "GraphSAGE", "SGC", "ClusterGCN"))

AS_IT_IS = "as it is"

# What is tried for every network, and what for each.
ALL = (
    AS_IT_IS, "no dropout", "dropout of hidden layers", "128 reduced features", "no l2", "l2 .01", "no dropout + no l2",
    "features of sum 1 + no l2", "a quarter for validation", "128 reduced features + no dropout", "no self-loops",
    "128 reduced features + no l2", "rate .001", "edges one way", "early stopping",
)  # fmt: skip
MORE = {
    "SGCONV": (
        "power 1", "power 4", "two layers", "128 reduced features + no self-loops", "128 reduced features + power 1",
        "128 reduced features + edges one way", "128 reduced features + l2 .0005", "no bias", "means", "l2 .005",
        "features of sum 1 + no l2 + rate .1", "128 reduced features + two layers", "128 reduced features + l2 .01",
        "no self-loops + power 4",
    ),
    "GraphSAGE": (
        "own weights", "own weights + no dropout", "own weights + no l2", "own weights + dropout of hidden layers",
        "own weights + dropout of hidden layers + no l2", "own weights + no dropout + no l2", "layers of length 1",
        "layers of length 1 + no dropout", "layers of length 1 + 128 reduced features",
        "own weights + layers of length 1", "own weights + 128 reduced features",
        "own weights + 128 reduced features + no dropout", "128 reduced features + l2 .01",
        "128 reduced features + rate .001", "neighbours alone", "1 sample + sampled answers", "no edges",
    ),
    "GCN": ("means", "3 layers", "dropout of hidden layers + no l2"),
    "MixHop": (
        "dropout of hidden layers + no l2", "no dropout + no self-loops", "no dropout + no bias", "means", "rate .1",
        "dropout of hidden layers + no l2 + no self-loops", "no dropout + a quarter for validation",
    ),
    "GAT": ("no dropout of attention", "ReLU", "no dropout of attention + dropout of hidden layers"),
    "APPNP": (
        "teleport .1", "teleport .05", "dropout of hidden layers + no l2", "l2 of the first layer", "l2 .0005",
    ),
    "ClusterGCN": (
        "no self-loops + no dropout", "edges within clusters", "random clusters", "dropout of hidden layers + no l2",
        "random clusters + edges within clusters", "edges within clusters + no dropout + no l2", "3 layers",
        "random clusters + no dropout + no l2",
    ),
}  # fmt: skip
LESS = {  # what makes no difference; and fewer settings where a training takes several seconds
    "SGCONV": ("dropout of hidden layers",),
    "GraphSAGE": ("no self-loops",),
    "ClusterGCN": (
        "l2 .01", "early stopping", "edges one way", "no l2", "128 reduced features + no l2",
        "features of sum 1 + no l2",
    ),
    "GAT": ("l2 .01", "early stopping", "edges one way"),
    "APPNP": ("l2 .01", "early stopping", "edges one way", "128 reduced features + no l2"),
}  # fmt: skip

# Changes that are parameters.
PARAMETERS: dict[str, dict[str, Any]] = {
    "rate .001": {"learning_rate": 0.001},
    "rate .1": {"learning_rate": 0.1},
    "no dropout": {"dropout": 0.0},
    "no l2": {"regularization": 0.0},
    "l2 .005": {"regularization": 0.005},
    "l2 .01": {"regularization": 0.01},
    "l2 .0005": {"regularization": 0.0005},
    "features of sum 1": {"normalize_features": True},
    "early stopping": {"patience": 10},
    "3 layers": {"depth": 3},
    "1 sample": {"samples": 1},
    "power 1": {"power": 1},
    "power 4": {"power": 4},
    "teleport .1": {"teleport": 0.1},
    "teleport .05": {"teleport": 0.05},
}


def everywhere(name: str, replacement: Callable[..., Any]) -> list[Any]:
    """A function replaced in all modules of the networks that know it."""
    loaded = [module for key, module in sys.modules.items() if key.startswith("hopscale.supervised.networks.")]
    return [patch.object(module, name, replacement) for module in loaded if hasattr(module, name)]


def without_dropout(method: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """A method of a pass, or of a network with a pass as argument, that drops nothing."""

    def called(self: Any, *arguments: Any) -> Tensor:
        net = self if isinstance(self, Pass) else arguments[0]
        share, net._dropout = net._dropout, 0.0
        try:
            return method(self, *arguments)
        finally:
            net._dropout = share

    return called


def l2_of_first_layer() -> list[Any]:
    adam = torch.optim.Adam

    def grouped(tensors: Any, *, weight_decay: float, **settings: Any) -> torch.optim.Adam:
        head, *others = tensors
        groups = [{"params": [head], "weight_decay": weight_decay}, {"params": others, "weight_decay": 0.0}]
        return adam(groups, **settings)

    return [patch("torch.optim.Adam", grouped)]


def means(adjacency: sp.csr_array) -> sp.csr_array:
    """D^(-1) A."""
    degrees = np.asarray(adjacency.sum(axis=1)).ravel()
    return sp.csr_array(sp.diags_array(1.0 / np.maximum(degrees, 1e-12)) @ adjacency).astype(np.float32)


def one_way() -> list[Any]:
    """Each edge in the direction of the higher number alone."""

    def cut(method: Callable[..., Any]) -> Callable[..., Any]:
        return lambda self, adjacency: method(self, sp.csr_array(sp.triu(adjacency)))

    return [patch.object(kind, "_matrices", cut(kind._matrices)) for kind in (Network, GraphSAGE, GAT)]


def fewer_labels() -> list[Any]:
    """A quarter of the training nodes set aside, for a validation that nobody looks at."""

    def cut(method: Callable[..., Any]) -> Callable[..., Any]:
        def batches(self: Any, inputs: Any, everything: Any, rows: Any, targets: Any, seed: int, place: Any) -> Any:
            kept = np.random.default_rng(seed).permutation(len(rows))[: round(0.75 * len(rows))]
            return method(self, inputs, everything, rows[kept], targets[kept], seed, place)

        return batches

    return [patch.object(kind, "_batches", cut(kind._batches)) for kind in (Network, ClusterGCN)]


def unit_outputs() -> list[Any]:
    """Every layer ends in vectors of length 1, the scores of the classes too."""
    biased = Pass.biased
    return [patch.object(Pass, "biased", lambda net, x: torch.nn.functional.normalize(biased(net, x), dim=1))]


def own_weights() -> list[Any]:
    """GraphSAGE whose nodes have weights of their own beside those of their neighbours' mean."""

    def layer(self: Any, net: Pass, both: Tensor) -> Tensor:
        own, others = both.chunk(2, dim=1)
        return net.biased(own + neighbors_mean(self, net, others))

    def scores(self: Any, net: Pass) -> Tensor:
        hidden = layer(self, net, net.first(2 * self.filters))
        return layer(self, net, net.linear(net.dropout(hidden.relu()), 2 * net.outputs))

    return [patch.object(GraphSAGE, "_scores", scores)]


def neighbors_mean(self: Any, net: Pass, hidden: Tensor) -> Tensor:
    """Mean of the neighbours, without the node itself."""
    neighbors = net.matrices["neighbors"]
    weights = neighbors.values if net.random is None else neighbors.sampled(self.samples, net.random)
    total = neighbors.times(hidden.new_ones(len(hidden), 1), weights)
    return neighbors.times(hidden, weights) / total.clamp(min=1e-12)


def sampled_answers() -> list[Any]:
    """GraphSAGE that samples neighbours for its answers, too."""
    mean = GraphSAGE._mean

    def sampled(self: Any, net: Pass, hidden: Tensor) -> Tensor:
        random, net.random = net.random, net.random or torch.Generator(hidden.device).manual_seed(0)
        try:
            return mean(self, net, hidden)
        finally:
            net.random = random

    return [patch.object(GraphSAGE, "_mean", sampled)]


def two_layers() -> list[Any]:
    """SGC twice, with 32 hidden values cut off at 0 in between."""

    def scores(self: Any, net: Pass) -> Tensor:
        step, hidden = net.matrices["step"], net.first(32)
        for _ in range(self.power):
            hidden = step @ hidden
        hidden = net.linear(net.dropout(net.biased(hidden).relu()), net.outputs)
        for _ in range(self.power):
            hidden = step @ hidden
        return net.biased(hidden)

    return [patch.object(SGC, "_scores", scores)]


def random_clusters(adjacency: sp.csr_array, count: int, seed: int) -> NDArray[np.int64]:
    """Clusters that are drawn."""
    return np.random.default_rng(0).integers(count, size=adjacency.shape[0])


# Changes of what is no parameter: functions that give patches.
PATCHES: dict[str, Callable[[], list[Any]]] = {
    "dropout of hidden layers": lambda: [patch.object(Pass, "first", without_dropout(Pass.first))],
    "l2 of the first layer": l2_of_first_layer,
    "no bias": lambda: [patch.object(Pass, "biased", lambda net, x: x)],
    "no self-loops": lambda: everywhere("with_self_loops", lambda adjacency: adjacency),
    "means": lambda: everywhere("normalized", means),
    "edges one way": one_way,
    "a quarter for validation": fewer_labels,
    "layers of length 1": unit_outputs,
    "own weights": own_weights,
    "neighbours alone": lambda: [patch.object(GraphSAGE, "_mean", neighbors_mean)],
    "sampled answers": sampled_answers,
    "two layers": two_layers,
    "no dropout of attention": lambda: [patch.object(GAT, "_attended", without_dropout(GAT._attended))],
    "ReLU": lambda: [patch("torch.nn.functional.elu", torch.relu)],
    "random clusters": lambda: everywhere("clusters", random_clusters),
}


def settings_of(network: str) -> list[str]:
    """What is tried for a network, the most plausible first."""
    return [each for each in (*ALL[:4], *MORE[network], *ALL[4:]) if each not in LESS.get(network, ())]


@contextmanager
def changed(dataset: str, changes: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Networks that differ in some ways; yields the parameters that they need."""
    parameters: dict[str, Any] = {}
    with ExitStack() as stack:
        for each in reduced_features(dataset) if "128 reduced features" in changes else []:
            stack.enter_context(each)
        for change in changes:
            parameters |= PARAMETERS.get(change, {})
            for each in PATCHES[change]() if change in PATCHES else []:
                stack.enter_context(each)
        yield parameters


@lru_cache(maxsize=8)
def loaded(dataset: str) -> AttributedGraph:
    return load(dataset)


def changed_graph(dataset: str, changes: Sequence[str]) -> AttributedGraph:
    """The graph that networks are trained on; to be called within ``changed``."""
    graph = loaded(dataset)
    if "edges within clusters" in changes:
        adjacency = graph.adjacency.tocoo()
        count = len(class_codes(np.asarray(graph.labels))[1])
        found = propagation.clusters(graph.adjacency, count, seed=0)
        rows, columns = adjacency.coords
        kept = found[rows] == found[columns]
        inside = sp.csr_array((adjacency.data[kept], (rows[kept], columns[kept])), adjacency.shape)
        graph = AttributedGraph(inside, graph.features, labels=graph.labels)
    if "no edges" in changes:
        nothing = sp.csr_array(graph.adjacency.shape, dtype=np.float32)
        graph = AttributedGraph(nothing, graph.features, labels=graph.labels)
    return graph


def reduced_features_in(folder: str) -> None:
    """Where reduced features are kept: for all processes, so that each need not compute them."""
    global FOLDER
    FOLDER = Path(folder)


def keep_reduced_features(dataset: str) -> None:
    """UΣ of the features, 128 columns."""
    reduced = TruncatedSVD(128, n_iter=2, random_state=0).fit_transform(loaded(dataset).features)
    np.save(FOLDER / f"{dataset}.npy", reduced.astype(np.float32))


def reduced_features(dataset: str) -> list[Any]:
    vectors = np.load(FOLDER / f"{dataset}.npy")
    return [patch.object(Network, "_inputs", lambda self, graph, none: NodeInputs(graph.adjacency, None, vectors))]


class Snapshots:
    """Answers after some numbers of epochs, all of one training: a context that fills ``outputs``."""

    def __init__(self, epochs: Sequence[int]) -> None:
        self.epochs = epochs
        self.outputs: dict[int, NDArray[np.float64]] = {}
        self._weights: dict[int, dict[str, Tensor]] = {}
        self._run, self._probabilities = training.Training.run, training.probabilities

    def __enter__(self) -> Snapshots:
        self._stack = ExitStack()
        run = lambda settings, *arguments: self._watched(settings, *arguments)  # noqa: E731 (a method of settings)
        self._stack.enter_context(patch.object(training.Training, "run", run))
        self._stack.enter_context(patch.object(training, "probabilities", self._all_probabilities))
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def _watched(
        self, settings: Any, network: Any, batches: Any, outputs: int, weights: Any, seed: int, bar: Any, *rest: Any
    ) -> int:
        """A training whose progress bar keeps the weights."""
        done = count()

        def update(_: int) -> None:
            epoch = next(done) + 1
            if epoch in self.epochs:
                self._weights[epoch] = {name: tensor.detach().clone() for name, tensor in weights.tensors.items()}

        watching = SimpleNamespace(update=update)
        return self._run(settings, network, batches, outputs, weights, seed, watching, *rest)

    def _all_probabilities(self, network: Any, batch: Any, outputs: int, weights: Any) -> NDArray[Any]:
        for epoch, tensors in self._weights.items():
            then = copy.copy(weights)
            then.tensors = tensors
            self.outputs[epoch] = self._probabilities(network, batch, outputs, then)
        return self._probabilities(network, batch, outputs, weights)
