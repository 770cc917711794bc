"""How far networks see, how deep they are, and what their answers do not depend on."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from hopscale import AttributedGraph, supervised
from hopscale.datasets import planted_blocks

torch = pytest.importorskip("torch")

# How many hops away a node can be and still count, by default and with other parameters.
REACH = [
    *((name, {}, 2) for name in ("GCN", "GraphSAGE", "GAT", "MixHop", "ClusterGCN", "SGC", "SIGN")),
    *((name, {"depth": depth}, depth) for name in ("GCN", "GraphSAGE", "GAT", "ClusterGCN") for depth in (1, 3)),
    *(("APPNP", {"steps": steps, "depth": depth}, steps) for steps, depth in ((0, 2), (4, 1), (4, 3))),
    ("MixHop", {"powers": 0}, 0),
    ("SGC", {"power": 4}, 4),
    ("SIGN", {"powers": 1}, 1),
]


def network(name, **settings):
    return supervised.SUPERVISED[name](**{"epochs": 3, "n_jobs": 1, "device": "cpu", **settings})


@pytest.mark.parametrize(("name", "settings", "reach"), REACH)
def test_a_node_counts_as_far_as_the_network_reaches(name, settings, reach):
    """On a path, whose nodes change their features one by one."""
    n = 8
    path = sp.diags_array([np.ones(n - 1)] * 2, offsets=[-1, 1], shape=(n, n))
    F = np.eye(n) + np.eye(n, k=1)
    model = network(name, **settings).fit(AttributedGraph(path, F, labels=np.arange(n) % 2))
    before = model.predict_proba(AttributedGraph(path, F))[0]
    for far in range(n):
        other = F.copy()
        other[far] = 1
        difference = np.abs(model.predict_proba(AttributedGraph(path, other))[0] - before).max()
        assert (difference > 0) == (far <= reach), f"{far} hops"


@pytest.mark.parametrize("name", ["GCN", "GraphSAGE", "GAT", "ClusterGCN", "APPNP"])
def test_layers_have_the_depth_that_is_asked_for(name):
    graph = planted_blocks(n_nodes=100)
    for depth in (1, 2, 4):
        model = network(name, depth=depth, filters=5).fit(graph)
        biases = [array for key, array in model.weights_.items() if key.endswith("bias")]
        assert [len(bias) for bias in biases] == [5] * (depth - 1) + [3]
        inputs = [array.shape for key, array in model.weights_.items() if "input" in key]
        assert inputs == [(graph.n_features, 5 if depth > 1 else 3)]


@pytest.mark.parametrize("name", ["GCN", "GraphSAGE", "GAT", "MixHop", "ClusterGCN", "APPNP", "SGC", "SIGN"])
def test_bits_do_not_depend_on_threads(name):
    """Neither ours nor PyTorch's, on a graph that is large enough to be cut into parts for each."""
    graph, threads = planted_blocks(n_nodes=3000, n_features=400), torch.get_num_threads()
    outputs = []
    try:
        for jobs, of_torch in ((1, 1), (2, 1), (3, 4)):
            torch.set_num_threads(of_torch)
            outputs.append(network(name, n_jobs=jobs, epochs=2).fit(graph, train=range(0, 3000, 2)).outputs_)
    finally:
        torch.set_num_threads(threads)
    np.testing.assert_array_equal(outputs[0], outputs[1])
    np.testing.assert_array_equal(outputs[0], outputs[2])


def test_early_stopping_returns_the_best_epoch():
    """The epochs of the best validation loss, and the weights that so many epochs give; never those of the last."""
    graph = planted_blocks(n_nodes=300, n_features=40)
    settings = {"learning_rate": 0.3, "regularization": 0.0, "dropout": 0.0, "validation_share": 0.5}
    stopped = network("GCN", epochs=100, patience=4, **settings).fit(graph)
    again = network("GCN", epochs=stopped.n_epochs_, patience=100, **settings).fit(graph)
    longer = network("GCN", epochs=stopped.n_epochs_ + 4, patience=100, **settings).fit(graph)
    assert stopped.n_epochs_ < 96
    assert again.n_epochs_ == longer.n_epochs_ == stopped.n_epochs_
    for other in (again, longer):
        np.testing.assert_array_equal(other.outputs_, stopped.outputs_)
