"""Built-in graphs against what they are said to be; loading by name."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

from hopscale import AttributedGraph
from hopscale.datasets import digits, erdos_renyi, figure1, load, names, planted_blocks, published
from hopscale.datasets.generators import unordered_pairs
from hopscale.exceptions import ParameterError


def _features_of(graph, node):
    return set(graph.feature_names[graph.features[[graph.index_of(node)]].indices])


def _neighbours_of(graph, node):
    return set(graph.node_ids[graph.adjacency[[graph.index_of(node)]].indices])


def _same(one, other):
    return (one.adjacency != other.adjacency).nnz == 0 and (one.features != other.features).nnz == 0


def _within_five_deviations(successes, draws, p):
    return abs(successes - draws * p) <= 5 * np.sqrt(draws * p * (1 - p))


class TestFigure1:
    def test_degrees_as_drawn(self):
        graph = figure1()
        drawn = {"A": 3, "B": 4, "C": 2, "D": 2, "E": 4, "F": 5, "G": 2, "H": 3, "I": 3, "J": 1, "K": 1}
        assert dict(zip(graph.node_ids, graph.degrees, strict=True)) == drawn

    def test_neighbours_as_drawn(self):
        graph = figure1()
        assert _neighbours_of(graph, "F") == set("BJKIH")
        assert _neighbours_of(graph, "E") == set("ADBC")

    def test_features_as_drawn(self):
        graph = figure1()
        assert _features_of(graph, "K") == {"club", "heart", "diamond", "spade"}
        assert _features_of(graph, "C") == {"club", "heart", "diamond"}
        assert _features_of(graph, "B") == {"diamond", "spade"}
        assert _features_of(graph, "F") == {"spade"}
        assert _features_of(graph, "J") == {"club"}

    def test_caption_d_and_g_agree_up_to_their_neighbours_and_differ_beyond(self):
        graph = figure1()
        assert _features_of(graph, "D") == _features_of(graph, "G") == {"heart"}
        around_D, around_G = (
            sorted(sorted(_features_of(graph, v)) for v in _neighbours_of(graph, node)) for node in "DG"
        )
        assert around_D == around_G == [["club", "diamond"], ["heart", "spade"]]
        second = graph.adjacency @ graph.adjacency @ graph.features
        assert (second[[graph.index_of("D")]] != second[[graph.index_of("G")]]).nnz > 0


class TestDigits:
    def test_chosen_neighbours_are_the_nearest(self):
        pixels = load_digits().data
        graph = digits(n_neighbors=4)
        for node in (0, 900, 1796):
            distance = ((pixels - pixels[node]) ** 2).sum(axis=1)
            distance[node] = np.inf
            fourth = np.sort(distance)[3]
            nearer = np.flatnonzero(distance < fourth)
            assert set(nearer) <= _neighbours_of(graph, node)
        assert graph.degrees.min() >= 4
        assert (graph.adjacency != graph.adjacency.T).nnz == 0

    def test_neighbours_mostly_show_the_same_digit(self):
        graph = digits()
        edges = graph.adjacency.tocoo()
        assert np.mean(graph.labels[edges.row] == graph.labels[edges.col]) > 0.9

    def test_features_are_the_dark_pixels(self):
        graph, images = digits(), load_digits().images
        assert _features_of(graph, 7) == {f"r{r}c{c}" for r, c in np.argwhere(images[7] >= 8)}

    def test_refuses_more_neighbours_than_images(self):
        with pytest.raises(ParameterError, match="n_neighbors must be a whole number from 1 to 1796"):
            digits(n_neighbors=1797)


class TestPlantedBlocks:
    @pytest.mark.parametrize(("p_in", "p_out"), [(0.1, 0.01), (0.02, 0.1), (1.0, 0.0), (0.0, 0.3)])
    def test_densities_are_the_probabilities(self, p_in, p_out):
        graph = planted_blocks(n_nodes=500, n_blocks=4, p_in=p_in, p_out=p_out, random_state=3)
        edges = graph.adjacency.tocoo()
        within = int((graph.labels[edges.row] == graph.labels[edges.col]).sum()) // 2
        pairs_within = 4 * 125 * 124 // 2
        pairs_between = 500 * 499 // 2 - pairs_within
        assert _within_five_deviations(within, pairs_within, p_in)
        assert _within_five_deviations(graph.n_edges - within, pairs_between, p_out)
        assert not graph.is_weighted

    def test_feature_densities_are_the_probabilities(self):
        graph = planted_blocks(n_nodes=602, n_blocks=3, n_features=90, feature_p_in=0.3, feature_p_out=0.05)
        entries = graph.features.tocoo()
        own = int((graph.labels[entries.row] == entries.col // 30).sum())
        assert _within_five_deviations(own, 602 * 30, 0.3)
        assert _within_five_deviations(entries.nnz - own, 602 * 60, 0.05)
        assert set(entries.data) == {1.0}

    def test_every_pair_is_as_likely_as_its_neighbours(self):
        # 400 graphs of 6 nodes in 2 blocks: each of the 15 pairs on its own against its probability.
        counts = sum(
            planted_blocks(6, 2, 0, p_in=0.7, p_out=0.2, random_state=seed).adjacency.toarray() for seed in range(400)
        )
        same = np.equal.outer(np.arange(6) // 3, np.arange(6) // 3)
        for u, v in zip(*np.triu_indices(6, 1), strict=True):
            assert _within_five_deviations(counts[u, v], 400, 0.7 if same[u, v] else 0.2)

    def test_blocks_as_even_as_possible(self):
        assert np.bincount(planted_blocks(n_nodes=101, n_blocks=3).labels).tolist() in (
            [33, 34, 34],
            [34, 33, 34],
            [34, 34, 33],
        )

    def test_large_and_sparse_is_no_matter(self):
        # 2·10¹⁰ pairs: anything quadratic would end the test run.
        graph = planted_blocks(n_nodes=200_000, n_blocks=10, n_features=50, p_in=1e-5, p_out=1e-6)
        expected = 10 * (20_000 * 19_999 / 2) * 1e-5 + 45 * 20_000**2 * 1e-6
        assert abs(graph.n_edges - expected) < 5 * np.sqrt(expected)

    def test_seed_decides(self):
        assert _same(planted_blocks(random_state=5), planted_blocks(random_state=5))
        assert not _same(planted_blocks(random_state=5), planted_blocks(random_state=6))

    @pytest.mark.parametrize("parameters", [{"p_in": 1.5}, {"feature_p_out": -0.1}, {"n_blocks": 601}])
    def test_refuses_what_cannot_be(self, parameters):
        with pytest.raises(ParameterError, match=next(iter(parameters))):
            planted_blocks(**parameters)


class TestErdosRenyi:
    def test_edges_and_features_per_node(self):
        graph = erdos_renyi(n_nodes=2000)
        assert graph.n_edges == 8 * 2000
        assert set(np.diff(graph.features.indptr)) == {8}
        assert set(graph.features.data) == {1.0}

    def test_degrees_spread_like_a_binomial(self):
        graph = erdos_renyi(n_nodes=4000)
        # Mean 16, variance about 16; the deviation of a variance estimate is about 16·√(2/n).
        assert graph.degrees.mean() == 16
        assert abs(graph.degrees.var() - 16) < 5 * 16 * np.sqrt(2 / 4000)

    @pytest.mark.parametrize("k", [3, 40])
    def test_features_are_uniform(self, k):
        graph = erdos_renyi(n_nodes=3000, features_per_node=k, n_features=50)
        for count in graph.features.sum(axis=0):
            assert _within_five_deviations(count, 3000, k / 50)

    def test_all_pairs_and_all_features_at_most(self):
        graph = erdos_renyi(n_nodes=9, edges_per_node=4, features_per_node=5, n_features=5)
        assert (graph.adjacency.toarray() == 1 - np.eye(9)).all()
        assert (graph.features.toarray() == 1).all()
        with pytest.raises(ParameterError, match="edges_per_node must be a whole number from 0 to 4"):
            erdos_renyi(n_nodes=9, edges_per_node=5)

    def test_seed_decides(self):
        assert _same(erdos_renyi(200, random_state=1), erdos_renyi(200, random_state=1))
        assert not _same(erdos_renyi(200, random_state=1), erdos_renyi(200, random_state=2))


def test_pair_numbers_are_undone_even_where_the_root_is_rounded():
    u = np.array([1, 2, 3, 94906267, 2_000_000_011, 2_147_483_646])
    for v in (np.zeros_like(u), u - 1):
        decoded = unordered_pairs(u * (u - 1) // 2 + v)
        assert decoded[0].tolist() == u.tolist()
        assert decoded[1].tolist() == v.tolist()


class TestLoad:
    @pytest.fixture(autouse=True)
    def _no_folder(self, monkeypatch):
        monkeypatch.delenv("HOPSCALE_DATA", raising=False)

    @pytest.fixture
    def folder(self, tmp_path):
        arrays = {
            "edges": np.array([[0, 1], [1, 2]], np.int32),
            "n_nodes": np.int64(3),
            "n_features": np.int64(2),
            "feature_indptr": np.array([0, 1, 1, 2], np.int32),
            "feature_indices": np.array([1, 0], np.int32),
            "target": np.array([1, 0, 1]),
            "note": np.array("{}"),
        }
        np.savez(tmp_path / "tiny-path.npz", **arrays)
        np.savez(tmp_path / "not-a-graph.npz", values=np.ones(3))
        return tmp_path

    def test_built_in_names_give_their_graphs(self):
        assert sorted(set(names()) - set(published())) == ["digits", "erdos-renyi", "figure1", "planted-blocks"]
        assert _same(load("figure1"), figure1())
        assert _same(load("planted-blocks", n_nodes=50, random_state=2), planted_blocks(50, random_state=2))

    def test_unknown_name_suggests_and_lists(self):
        with pytest.raises(ParameterError, match=r"did you mean 'planted-blocks'\?.*digits, erdos-renyi"):
            load("planted_block")
        with pytest.raises(ParameterError, match="HOPSCALE_DATA"):
            load("nothing-like-it")

    def test_unknown_parameter_lists_the_right_ones(self):
        with pytest.raises(ParameterError, match="no parameter 'neighbours'; it takes n_neighbors"):
            load("digits", neighbours=3)

    def test_names_of_a_folder_are_its_graphs_only(self, folder, monkeypatch):
        assert "tiny-path" in names(data=folder)
        assert "not-a-graph" not in names(data=folder)
        monkeypatch.setenv("HOPSCALE_DATA", str(folder))
        assert "tiny-path" in names()
        with pytest.raises(ParameterError, match="did you mean 'tiny-path'"):
            load("tinypath")

    def test_reads_the_file_of_that_name(self, folder, monkeypatch):
        pytest.importorskip("hopscale.io.files")
        monkeypatch.setenv("HOPSCALE_DATA", str(folder))
        graph = load("tiny-path")
        expected = AttributedGraph([[0, 1, 0], [1, 0, 1], [0, 1, 0]], [[0, 1], [0, 0], [1, 0]])
        assert _same(graph, expected)
        assert graph.labels.tolist() == [1, 0, 1]
        assert _same(load("tiny-path", data=folder), expected)
        with pytest.raises(ParameterError, match="takes no parameters"):
            load("tiny-path", n_nodes=3)

    def test_never_leaves_the_folder(self, folder):
        (folder / "inner").mkdir()
        with pytest.raises(ParameterError, match="no data set"):
            load("../tiny-path", data=folder / "inner")

    def test_missing_folder_is_named(self, tmp_path, monkeypatch):
        with pytest.raises(ParameterError, match=r"data must name a folder.*absent"):
            load("cora", data=tmp_path / "absent")
        monkeypatch.setenv("HOPSCALE_DATA", str(tmp_path / "absent"))
        with pytest.raises(ParameterError, match="HOPSCALE_DATA must name a folder"):
            names()
        assert load("figure1").n_nodes == 11
