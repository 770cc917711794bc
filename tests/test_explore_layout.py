"""Maps: planted blocks are apart, results do not depend on threads, and odd input has an answer."""

import importlib.util

import numpy as np
import pytest

from hopscale import MUSAE, AttributedGraph, DeepWalk, datasets
from hopscale.exceptions import GraphError, HopscaleWarning, MissingPackageError, ParameterError
from hopscale.explore import feature_positions, layout, node_positions, projections


@pytest.fixture(scope="module")
def graph():
    return datasets.planted_blocks(240)


@pytest.fixture(scope="module")
def model(graph):
    return MUSAE(dimensions=32).fit(graph)


def agreement(positions, labels, k=5):
    """Share of the k nearest others on the map that have the label of the node."""
    apart = np.linalg.norm(positions[:, None] - positions[None], axis=2)
    np.fill_diagonal(apart, np.inf)
    return float((labels[np.argsort(apart, axis=1)[:, :k]] == labels[:, None]).mean())


class TestNodes:
    @pytest.mark.parametrize("method", ["tsne", "pca"])
    @pytest.mark.parametrize("scale", [None, 2])
    def test_blocks_are_apart(self, model, graph, method, scale):
        found = node_positions(model, method=method, scale=scale)
        shuffled = np.random.default_rng(0).permutation(graph.labels)
        assert found.shape == (240, 2)
        assert found.dtype == np.float32
        assert agreement(found, graph.labels) > 0.85 > 0.5 > agreement(found, shuffled)

    def test_the_mean_is_0_and_the_largest_distance_1(self, model):
        found = node_positions(model).astype(np.float64)
        np.testing.assert_allclose(found.mean(axis=0), 0, atol=1e-6)
        assert np.linalg.norm(found, axis=1).max() == pytest.approx(1, abs=1e-6)

    def test_bits_do_not_depend_on_threads(self, model):
        first, second = (node_positions(model, n_jobs=jobs) for jobs in (1, 3))
        assert first.tobytes() == second.tobytes()

    def test_another_seed_gives_another_map(self, model):
        assert not np.array_equal(node_positions(model), node_positions(model, random_state=1))

    def test_interpolation_for_many_nodes(self, model, graph, monkeypatch):
        monkeypatch.setattr(projections, "_MANY", 10)
        assert agreement(node_positions(model), graph.labels) > 0.85

    def test_others_are_placed_among_landmarks_of_their_block(self, model, graph, monkeypatch):
        monkeypatch.setattr(layout, "_ALL", 100)
        monkeypatch.setattr(layout, "_LANDMARKS", 80)
        found = node_positions(model)
        assert np.isfinite(found).all()
        assert agreement(found, graph.labels) > 0.85

    def test_maps_of_scales_have_one_orientation(self, model):
        maps = [node_positions(model, scale=scale, method="pca").astype(np.float64) for scale in (None, 1, 2, 3)]
        for found in maps[1:]:
            assert np.trace(found.T @ maps[0]) > 0.5 * np.linalg.norm(found) * np.linalg.norm(maps[0])

    def test_some_rows_only(self, model, graph):
        rows = np.arange(0, 240, 2)
        found = node_positions(model, rows=rows)
        assert found.shape == (120, 2)
        assert agreement(found, graph.labels[rows]) > 0.8

    def test_nodes_of_which_nothing_is_known_are_at_the_lower_left(self, graph):
        features = graph.features.tolil()
        features[:5] = 0
        model = MUSAE(dimensions=8, window=1).fit(AttributedGraph(graph.adjacency, features.tocsr()))
        zero = ~model.node_vectors(0).any(axis=1)
        assert zero.sum() >= 5
        found = node_positions(model, scale=0)
        assert np.linalg.norm(found[zero] + 0.95, axis=1).max() <= 0.051
        assert np.linalg.norm(found[~zero], axis=1).max() <= 1.0001

    @pytest.mark.filterwarnings("ignore::hopscale.exceptions.HopscaleWarning")
    def test_two_nodes_and_one_dimension(self):
        pair = AttributedGraph(np.array([[0, 1], [1, 0]]), np.array([[1, 0], [0, 1]]))
        model = MUSAE(dimensions=4).fit(pair)
        assert np.isfinite(node_positions(model)).all()
        line = DeepWalk(dimensions=1).fit(datasets.planted_blocks(60))
        assert np.isfinite(node_positions(line)).all()

    def test_vectors_that_are_all_alike(self, model):
        alike = MUSAE(dimensions=32).fit(datasets.planted_blocks(240))
        alike.embedding_ = np.ones_like(alike.embedding_)
        assert np.isfinite(node_positions(alike)).all()

    def test_no_vector_at_all_is_an_error(self, graph):
        model = MUSAE(dimensions=32).fit(graph)
        model.embedding_ = np.zeros_like(model.embedding_)
        with pytest.raises(GraphError, match="all 240 are zero"):
            node_positions(model)

    @pytest.mark.parametrize(
        "wrong", [{"method": "mds"}, {"scale": 9}, {"n_jobs": 0}, {"random_state": -1}, {"verbose": "yes"}]
    )
    def test_wrong_parameters(self, model, wrong):
        with pytest.raises(ParameterError):
            node_positions(model, **wrong)


class TestExtras:
    def test_without_the_extra_the_error_names_it(self, model, monkeypatch):
        monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
        with pytest.raises(MissingPackageError, match=r"hopscale\[explore\]"):
            node_positions(model, method="tsne")
        with pytest.raises(MissingPackageError, match=r"hopscale\[umap\]"):
            node_positions(model, method="umap")

    def test_without_the_extra_the_default_is_principal_components(self, model, monkeypatch):
        expected = node_positions(model, method="pca")
        monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
        with pytest.warns(HopscaleWarning, match=r"hopscale\[explore\]"):
            found = node_positions(model)
        np.testing.assert_array_equal(found, expected)

    @pytest.mark.skipif(importlib.util.find_spec("umap") is None, reason="umap-learn is not installed")
    def test_umap(self, model, graph):
        found = node_positions(model, method="umap")
        assert agreement(found, graph.labels) > 0.85
        assert found.tobytes() == node_positions(model, method="umap", n_jobs=1).tobytes()


class TestFeatures:
    def test_features_are_among_the_nodes_of_their_block(self, model, graph):
        nodes = node_positions(model)
        found = feature_positions(model, nodes)
        has = graph.features.toarray() > 0
        share = np.array([has[graph.labels == block].mean(axis=0) for block in range(3)])
        clear = np.flatnonzero(share.max(axis=0) > 2 * np.sort(share, axis=0)[-2] + 0.05)
        assert len(clear) > 20
        near = np.linalg.norm(found[clear][:, None] - nodes[None], axis=2).argsort(axis=1)[:, :5]
        assert (graph.labels[near] == share.argmax(axis=0)[clear][:, None]).mean() > 0.85

    def test_bits_do_not_depend_on_threads(self, model):
        nodes = node_positions(model, method="pca")
        first, second = (feature_positions(model, nodes, n_jobs=jobs) for jobs in (1, 3))
        assert first.tobytes() == second.tobytes()

    def test_few_of_many_nodes_are_enough(self, model, monkeypatch):
        monkeypatch.setattr(layout, "_ALL", 100)
        nodes = node_positions(model, method="pca")
        assert np.isfinite(feature_positions(model, nodes)).all()

    def test_positions_of_other_nodes_are_refused(self, model):
        with pytest.raises(GraphError, match="240 rows of two finite numbers"):
            feature_positions(model, np.zeros((3, 2)))
        with pytest.raises(GraphError, match="finite"):
            feature_positions(model, np.full((240, 2), np.nan))


def test_a_mode_lies_in_the_larger_group():
    points = np.array([[0.0, 0.0], [0.01, 0.0], [0.0, 0.01], [1.0, 1.0], [1.01, 1.0]])
    rows, weights = np.array([[0, 1, 2, 3, 4]]), np.ones((1, 5))
    assert np.linalg.norm(layout._modes(points, rows, weights)[0]) < 0.05
    weights[0, 3:] = 10
    assert np.linalg.norm(layout._modes(points, rows, weights)[0] - 1) < 0.05


def test_rotation_back_to_a_target():
    target = np.random.default_rng(0).normal(size=(30, 2))
    target -= target.mean(axis=0)
    angle = 2.0
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]) @ np.diag([1, -1])
    np.testing.assert_allclose(projections.rotated_to(target @ turn + 5, target), target, atol=1e-12)
