"""Graphs in one ``.npz`` file: read whole, refused where arrays do not fit, never unpickled."""

import zipfile
from typing import ClassVar

import numpy as np
import pytest

from hopscale.exceptions import FileFormatError, ParameterError
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
