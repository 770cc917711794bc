"""Graphs in one ``.npz`` file: read whole, refused where arrays do not fit, never unpickled."""

import zipfile
from typing import ClassVar

import numpy as np
import pytest

from hopscale import DeepWalk, FeatureEncoder
from hopscale.exceptions import FileFormatError, ParameterError
from hopscale.graph import AttributedGraph
from hopscale.io import read_graph


def refused(path):
    with pytest.raises(FileFormatError) as caught:
        read_graph(path)
    return str(caught.value)


class TestNpz:
    ARRAYS: ClassVar = {
        "edges": np.array([[0, 1], [2, 2], [1, 0]], dtype=np.int32),
        "n_nodes": np.int64(4),
        "n_features": np.int64(3),
        "feature_indptr": np.array([0, 2, 2, 3, 3], dtype=np.int32),
        "feature_indices": np.array([0, 2, 2], dtype=np.int32),
        "target": np.array([1, 0, 1, 0]),
    }

    @pytest.fixture
    def save(self, tmp_path):
        def saver(**changes):
            arrays = {name: array for name, array in (self.ARRAYS | changes).items() if array is not None}
            np.savez_compressed(tmp_path / "g.npz", **arrays)
            return tmp_path / "g.npz"

        return saver

    def test_everything_in_one_file(self, save):
        graph = read_graph(save(), self_loops=True)
        assert graph.adjacency.toarray().tolist() == [[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 1, 0], [0, 0, 0, 0]]
        assert graph.features.toarray().tolist() == [[1, 0, 1], [0, 0, 0], [0, 0, 1], [0, 0, 0]]
        assert graph.labels.tolist() == [1, 0, 1, 0]
        assert read_graph(save()).n_edges == 1

    def test_class_names_values_and_missing_parts(self, save):
        named = read_graph(save(class_names=np.array(["no", "yes"]), feature_values=np.array([1.0, 2.0, 3.0])))
        assert named.labels.tolist() == ["yes", "no", "yes", "no"]
        assert named.features.toarray()[0].tolist() == [1, 0, 2]
        unlabelled = read_graph(save(class_names=np.array(["no", "yes"]), target=np.array([1, -1, 0, 0])))
        assert unlabelled.labels.tolist() == ["yes", None, "no", "no"]
        bare = read_graph(save(feature_indptr=None, feature_indices=None, n_features=None, target=None))
        assert (bare.n_features, bare.labels) == (0, None)

    @pytest.mark.parametrize(
        ("changes", "why"),
        [
            ({"edges": None}, "no array 'edges'"),
            ({"n_nodes": None}, "no array 'n_nodes'"),
            ({"edges": np.array([[0, 1], [4, 9]])}, "edges name 2 that are not among the 4 nodes"),
            ({"n_nodes": np.int64(2**40)}, "at most"),
            ({"n_nodes": np.float64(4)}, "'n_nodes' must be one whole number"),
            ({"n_features": np.int64(2)}, "not a CSR matrix of shape (4, 2)"),
            ({"feature_indptr": np.array([0, 3, 2, 3, 3])}, "not a CSR matrix"),
            ({"feature_indices": None}, "'feature_indices'"),
            ({"target": np.array([1, 2])}, "labels has shape (2,)"),
            ({"class_names": np.array(["no"])}, "must count into the 1 names"),
            ({"edges": np.array([[0, 1, 2]])}, "two columns"),
        ],
    )
    def test_arrays_that_do_not_fit(self, save, changes, why):
        path = save(**changes)
        message = refused(path)
        assert message.startswith(str(path))
        assert why in message

    def test_nothing_is_unpickled(self, tmp_path):
        np.savez(tmp_path / "p.npz", edges=np.array([{"a": 1}], dtype=object), n_nodes=1)
        assert "plain arrays" in refused(tmp_path / "p.npz")

    def test_damaged_files(self, save, tmp_path):
        whole = save().read_bytes()
        for name, content in [("cut", whole[: len(whole) // 2]), ("junk", b"\x00\x01junk" * 9), ("empty", b"")]:
            path = tmp_path / f"{name}.npz"
            path.write_bytes(content)
            assert "not a complete .npz file" in refused(path)
        with zipfile.ZipFile(tmp_path / "other.npz", "w") as archive:
            archive.writestr("edges.npy", "not an array")
        assert "other.npz" in refused(tmp_path / "other.npz")

    def test_no_other_files_beside_it(self, save, tmp_path):
        with pytest.raises(ParameterError, match="itself"):
            read_graph(save(), tmp_path / "features.json")


def random_graph(n=40, q=7, seed=0, **settings):
    rng = np.random.default_rng(seed)
    weights = np.triu(rng.random((n, n)) * (rng.random((n, n)) < 0.1))
    features = rng.random((n, q)) * (rng.random((n, q)) < 0.3)
    return AttributedGraph(weights + np.triu(weights, 1).T, features, **settings)


NAMES = {
    "row numbers": None,
    "whole numbers": [(-1) ** i * 2**i for i in range(40)],
    "text": [f'ü{i}, "quoted"\n' for i in range(40)],
    "half characters": [f"\udc80{i}" for i in range(40)],
    "mixed": [(f"t{i}", i) if i % 3 else (i if i % 2 else float(i) + 0.5) for i in range(40)],
}
LABELS = {
    "none": None,
    "whole": np.arange(40) % 3,
    "numbers": np.where(np.arange(40) % 4, np.linspace(0, 1, 40), np.nan),
    "text": np.array(["red", "blue"] * 20),
    "gaps": ["red", None, 3, 2.5, True, float("nan"), np.int64(7), "x"] * 5,
    "several": np.eye(40)[:, :2],
}


class TestSaved:
    @pytest.mark.parametrize("ids", NAMES)
    @pytest.mark.parametrize("self_loops", [False, True])
    def test_same_graph_again(self, tmp_path, ids, self_loops):
        graph = random_graph(node_ids=NAMES[ids], feature_names=list("gfedcba"), self_loops=self_loops)
        graph.save(tmp_path / "g.npz")
        again = read_graph(tmp_path / "g.npz")
        assert again.node_ids.tolist() == graph.node_ids.tolist()
        assert list(map(type, again.node_ids.tolist())) == list(map(type, graph.node_ids.tolist()))
        assert again.feature_names.tolist() == graph.feature_names.tolist()
        for one, other in ((again.adjacency, graph.adjacency), (again.features, graph.features)):
            for part in ("indptr", "indices", "data"):
                np.testing.assert_array_equal(getattr(one, part), getattr(other, part))
        assert again.encoder is again.labels is None

    @pytest.mark.parametrize("labels", LABELS)
    def test_labels(self, tmp_path, labels):
        graph = random_graph(labels=LABELS[labels])
        graph.save(tmp_path / "g.npz")
        again = read_graph(tmp_path / "g.npz").labels
        if graph.labels is None:
            assert again is None
        else:
            assert again.dtype == graph.labels.dtype
            assert repr(again.tolist()) == repr([getattr(x, "item", lambda x=x: x)() for x in graph.labels.tolist()])

    def test_unweighted_graphs_without_features(self, tmp_path):
        AttributedGraph(np.ones((5, 5)), node_ids=list("edcba")).save(tmp_path / "g.npz")
        with zipfile.ZipFile(tmp_path / "g.npz") as archive:
            assert set(archive.namelist()) == {"hopscale_graph.npy", "edges.npy", "n_nodes.npy", "node_ids.npy"}
        again = read_graph(tmp_path / "g.npz")
        assert (again.n_edges, again.n_features, again.is_weighted) == (10, 0, False)

    def test_the_encoder_goes_along(self, tmp_path):
        table = {"club": ["chess", "go"] * 20, "age": list(range(40))}
        encoder = FeatureEncoder()
        graph = random_graph()
        features = encoder.fit_transform(table)
        graph = AttributedGraph(
            graph.adjacency, features, feature_names=encoder.get_feature_names_out(), encoder=encoder
        )
        graph.save(tmp_path / "g.npz")
        again = read_graph(tmp_path / "g.npz")
        assert (again.encoder.transform(table) != again.features).nnz == 0

    def test_straight_into_a_model_and_the_same_bytes_every_time(self, tmp_path):
        graph = random_graph(node_ids=NAMES["text"])
        for name in ("a.npz", "b.npz"):
            graph.save(tmp_path / name)
        assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()
        there, here = DeepWalk(4).fit(str(tmp_path / "a.npz")), DeepWalk(4).fit(graph)
        np.testing.assert_array_equal(there.embedding_, here.embedding_)
        assert there.node_ids_.tolist() == here.node_ids_.tolist()

    @pytest.mark.parametrize(
        "wrong",
        [
            {"path": "g.zip"},
            {"node_ids": [object() for _ in range(40)]},
            {"labels": [b"x"] * 40},
            {"labels": np.array(["2020-01-01"] * 40, dtype="M8[D]")},
        ],
    )
    def test_what_cannot_be_saved_leaves_nothing(self, tmp_path, wrong):
        path = tmp_path / wrong.pop("path", "g.npz")
        with pytest.raises(ParameterError):
            random_graph(**wrong).save(path)
        assert not list(tmp_path.iterdir())

    @pytest.mark.parametrize(
        ("changes", "why"),
        [
            ({"hopscale_graph": np.int64(2)}, "upgrade hopscale"),
            ({"hopscale_graph": np.float64(1)}, "whole number"),
            ({"edges": np.array([[0, 40]])}, "count into 40 nodes"),
            ({"edges": np.array([[0, -1]])}, "count into 40 nodes"),
            ({"edges": np.zeros((2, 3), int)}, "pairs"),
            ({"edges": np.zeros((2, 2))}, "pairs"),
            ({"edge_weights": np.zeros(3)}, "edge_weights"),
            ({"edge_weights": -np.ones(1), "edges": np.array([[0, 1]])}, "-1"),
            ({"node_ids": np.arange(3)}, "3 names for 40"),
            ({"node_ids": np.zeros(40, int)}, "0 twice"),
            ({"node_ids": np.zeros(40)}, "row of bytes"),
            ({"node_ids": np.frombuffer(b"[[1,", np.uint8)}, "not JSON"),
            ({"node_ids": np.frombuffer(b'{"a": 1}', np.uint8)}, "list of names"),
            ({"node_ids": np.frombuffer(b"[" * 100_000, np.uint8)}, "not JSON"),
            ({"feature_names": np.frombuffer(b'["a"]', np.uint8)}, "1 names for 7"),
            ({"labels": np.frombuffer(b'["a"]', np.uint8)}, "40 plain values"),
            ({"labels": np.frombuffer(b"[" + b"[1]," * 39 + b"[1]]", np.uint8)}, "40 plain values"),
            ({"encoder": np.frombuffer(b"{}", np.uint8)}, "encoder"),
        ],
    )
    def test_damaged_files(self, tmp_path, changes, why):
        random_graph(node_ids=NAMES["text"]).save(tmp_path / "g.npz")
        with np.load(tmp_path / "g.npz") as arrays:
            changed = {**arrays, **changes}
        np.savez(tmp_path / "h.npz", **changed)
        assert why in refused(tmp_path / "h.npz")

    def test_other_arrays_of_these_names_mean_what_they_did(self, tmp_path):
        np.savez(tmp_path / "g.npz", edges=[[0, 1]], n_nodes=2, node_ids=np.zeros(9), labels=[1], self_loops=1)
        assert read_graph(tmp_path / "g.npz").node_ids.tolist() == [0, 1]
