"""Clusters of nodes: planted ones are found, whatever the order of rows and the number of threads."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score
from threadpoolctl import threadpool_limits

import hopscale.models.clusters as module
from hopscale import MUSAE, AttributedGraph, DeepWalk, datasets
from hopscale.exceptions import HopscaleWarning, ParameterError

pytestmark = pytest.mark.filterwarnings("ignore::hopscale.exceptions.HopscaleWarning")


@pytest.fixture(scope="module", name="graph")
def planted():
    graph = datasets.planted_blocks(300)
    order = np.random.default_rng(0).permutation(300)
    return AttributedGraph(
        graph.adjacency[order][:, order],
        graph.features[order],
        node_ids=[f"n{i}" for i in order],
        labels=graph.labels[order],
    )


@pytest.mark.parametrize("many", [False, True])
def test_blocks_are_found(monkeypatch, graph, many):
    if many:
        monkeypatch.setattr(module, "_MANY", 100)
    model, k = MUSAE(32).fit(graph), len(set(graph.labels.tolist()))
    found = model.clusters(k)
    assert adjusted_rand_score(graph.labels, found) > 0.6
    sizes = np.bincount(found)
    assert len(sizes) == k
    assert (np.diff(sizes) <= 0).all()
    for threads in (1, 3):
        with threadpool_limits(threads):
            np.testing.assert_array_equal(model.clusters(k), found)
    assert len(np.unique(model.clusters(k, scale=1))) == k
    np.testing.assert_array_equal(model.clusters(1), 0)


def test_lengths_of_vectors_do_not_count(graph):
    model = MUSAE(16).fit(graph)
    expected = model.clusters(3)
    scales = 2.0 ** np.random.default_rng(0).integers(-5, 5, (300, 1))
    model.embedding_ = (model.embedding_ * scales).astype(np.float32)
    np.testing.assert_array_equal(model.clusters(3), expected)


def test_nodes_of_which_nothing_is_known_belong_nowhere():
    graph = datasets.planted_blocks(60)
    A = graph.adjacency.toarray()
    A[:2] = A[:, :2] = 0
    model = DeepWalk(8).fit(AttributedGraph(A))
    assert np.flatnonzero(model.clusters(4) == -1).tolist() == np.flatnonzero(~model.embedding_.any(axis=1)).tolist()


def test_numbers_that_make_no_sense_are_named(graph):
    model = MUSAE(8).fit(graph)
    for wrong in (0, -1, 1.5, None, 301):
        with pytest.raises(ParameterError, match="n_clusters must be"):
            model.clusters(wrong)
    model.embedding_ = np.ones_like(model.embedding_)
    with pytest.warns(HopscaleWarning, match="only 1 of 3 clusters have nodes"):
        assert not model.clusters(3).any()
