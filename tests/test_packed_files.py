"""Packed files: nothing is set aside for what they only claim, and offsets are checked before anything follows them."""

import gc
import gzip
import io
import subprocess
import sys
import warnings
import zipfile

import numpy as np
import pytest
from click.testing import CliRunner

from hopscale import read_graph
from hopscale.cli.commands import hopscale as main
from hopscale.exceptions import FileFormatError, ParameterError
from hopscale.io.content import unpacked_limit

GRAPH = {"edges": np.array([[0, 1], [1, 2]]), "n_nodes": np.int64(4)}
FEATURES = {
    "n_features": np.int64(3),
    "feature_indptr": np.array([0, 2, 2, 3, 3]),
    "feature_indices": np.array([0, 2, 2]),
}


@pytest.fixture(autouse=True)
def no_variable(monkeypatch):
    monkeypatch.delenv("HOPSCALE_MAX_UNPACKED", raising=False)


def refused(path, **settings):
    with pytest.raises(FileFormatError) as caught:
        read_graph(path, **settings)
    assert str(path) in str(caught.value)
    return str(caught.value)


def npy(array):
    """The bytes of a ``.npy`` file."""
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def archive(path, members, compression=zipfile.ZIP_DEFLATED):
    """An ``.npz`` file of arrays, or of the bytes that are to stand in their place."""
    with zipfile.ZipFile(path, "w", compression) as zipped:
        for name, content in members.items():
            zipped.writestr(f"{name}.npy", content if isinstance(content, bytes) else npy(content))
    return path


class TestOffsets:
    """SciPy's own check passes over the offsets of a matrix without entries."""

    CRASHES = FEATURES | {"feature_indptr": np.array([0, 50_000_000, 0, 0, 0]), "feature_indices": np.zeros(0, int)}

    @pytest.mark.parametrize("command", [["info"], ["datasets", "--data"]])
    def test_that_once_ended_the_process(self, tmp_path, command):
        path = archive(tmp_path / "g.npz", GRAPH | self.CRASHES)
        target = path if command == ["info"] else tmp_path
        found = subprocess.run([sys.executable, "-m", "hopscale", *command, target], capture_output=True, text=True)
        if command == ["info"]:
            assert (found.returncode, found.stdout) == (1, "")
            assert "'feature_indptr' must rise from 0 to 0" in found.stderr
        else:
            assert found.returncode == 0, found.stderr
            assert " g " in found.stdout.replace("\n", " ")

    @pytest.mark.parametrize(
        ("wrong", "why"),
        [
            ({"feature_indptr": np.array([1, 2, 2, 3, 3])}, "must rise from 0 to 3"),
            ({"feature_indptr": np.array([0, 3, 2, 3, 3])}, "must rise from 0 to 3"),
            ({"feature_indptr": np.array([0, 2, 2, 2, 2])}, "must rise from 0 to 3"),
            ({"feature_indptr": np.array([0, 2, 2, 9, 9])}, "must rise from 0 to 3"),
            ({"feature_indptr": np.array([0, 2**64 - 1, 2, 3, 3], np.uint64)}, "must rise from 0 to 3"),
            ({"feature_indptr": np.array([0, 2, 3, 3])}, "shapes"),
            ({"feature_indptr": np.array([[0, 2, 2, 3, 3]])}, "shapes"),
            ({"feature_indptr": np.array([0.0, 2, 2, 3, 3])}, "float64"),
            ({"feature_indices": np.array([0, 2, 3])}, "must lie between 0 and 2"),
            ({"feature_indices": np.array([0, -1, 2])}, "must lie between 0 and 2"),
            ({"feature_indices": np.array([0, 2**63, 2], np.uint64)}, "must lie between 0 and 2"),
            ({"feature_indices": np.array([0, 0.5, 2])}, "float64"),
            ({"feature_indices": np.array(["0", "1", "2"])}, "<U1"),
            ({"feature_values": np.ones(2)}, "shapes"),
            ({"feature_values": np.ones((3, 1))}, "shapes"),
            ({"feature_values": np.ones(3) * 1j}, "complex128"),
        ],
    )
    def test_that_fit_nothing(self, tmp_path, wrong, why):
        assert why in refused(archive(tmp_path / "g.npz", GRAPH | FEATURES | wrong))

    def test_that_fit(self, tmp_path):
        graph = read_graph(archive(tmp_path / "g.npz", GRAPH | FEATURES))
        assert graph.features.toarray().tolist() == [[1, 0, 1], [0, 0, 0], [0, 0, 1], [0, 0, 0]]


class TestArchives:
    def test_an_array_under_another_name(self, tmp_path):
        (tmp_path / "g.npz").write_bytes(npy(np.eye(3)))
        assert "not a complete .npz file" in refused(tmp_path / "g.npz")

    @pytest.mark.parametrize("content", [b"", b"words", b"\x93NUMPY\x09\x00xx", npy(np.zeros((2, 2)))[:-3]])
    def test_members_that_are_no_arrays(self, tmp_path, content):
        assert "not a complete .npz file" in refused(archive(tmp_path / "g.npz", GRAPH | {"edges": content}))

    def test_headers_that_claim_too_much(self, tmp_path):
        """No memory is asked for: the member's own size is compared first."""
        for shape in ("(2, 1000000000000)", "(-1, 2)", "(9" + "9" * 30 + ",)", "('a',)"):
            claim = npy(GRAPH["edges"]).replace(b"(2, 2), }" + b" " * (len(shape) - 6), shape.encode() + b", }")
            assert "not a complete .npz file" in refused(archive(tmp_path / "g.npz", GRAPH | {"edges": claim}))

    def test_members_that_are_encrypted(self, tmp_path):
        whole = bytearray(archive(tmp_path / "g.npz", GRAPH).read_bytes())
        for sign, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
            at = whole.find(sign)
            while at >= 0:
                whole[at + flags] |= 1
                at = whole.find(sign, at + 1)
        (tmp_path / "g.npz").write_bytes(whole)
        assert "encrypted" in refused(tmp_path / "g.npz")

    @pytest.mark.parametrize("method", [1, 6, 97, 255])
    def test_members_that_are_packed_in_other_ways(self, tmp_path, method):
        whole = bytearray(archive(tmp_path / "g.npz", GRAPH).read_bytes())
        for sign, place in ((b"PK\x03\x04", 8), (b"PK\x01\x02", 10)):
            at = whole.find(sign)
            while at >= 0:
                whole[at + place] = method
                at = whole.find(sign, at + 1)
        (tmp_path / "g.npz").write_bytes(whole)
        assert "not a complete .npz file" in refused(tmp_path / "g.npz")

    @pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
    def test_damage_in_every_packing(self, tmp_path, compression):
        path = archive(tmp_path / "g.npz", GRAPH, compression)
        assert read_graph(path).n_edges == 2
        whole, random = path.read_bytes(), np.random.default_rng(0)
        for _ in range(60):
            changed = bytearray(whole)
            changed[random.integers(len(whole))] ^= 1 << int(random.integers(8))
            path.write_bytes(changed)
            try:
                assert read_graph(path).n_nodes > 0  # what the change leaves alone
            except FileFormatError as error:
                assert str(path) in str(error)  # noqa: PT017

    def test_damaged_files_are_closed(self, tmp_path):
        path = archive(tmp_path / "g.npz", GRAPH)
        path.write_bytes(path.read_bytes()[:-30])
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            refused(path)
            gc.collect()
        assert [str(each.message) for each in caught if each.category is ResourceWarning] == []

    @pytest.mark.parametrize(
        "labels",
        [
            {"target": np.zeros(4, dtype=[("a", int)])},
            {"target": np.zeros(4, dtype=complex)},
            {"target": np.int64(0), "class_names": np.array(["a"])},
            {"target": np.zeros((4, 1), int), "class_names": np.array(["a"])},
            {"target": np.zeros(4, int), "class_names": np.array("a")},
            {"target": np.zeros(4, int), "class_names": np.zeros(2, dtype=[("a", int)])},
        ],
    )
    def test_labels_that_are_none(self, tmp_path, labels):
        refused(archive(tmp_path / "g.npz", GRAPH | labels))


class TestSizes:
    def test_what_a_packed_file_may_hold(self, monkeypatch):
        assert unpacked_limit(500) == 2**28
        assert unpacked_limit(2**30) == 100 * 2**30
        monkeypatch.setenv("HOPSCALE_MAX_UNPACKED", "2GiB")
        assert unpacked_limit(500) == 2**31
        assert unpacked_limit(500, "3GiB") == 3 * 2**30

    def test_a_limit_that_is_none(self, tmp_path, monkeypatch):
        path = archive(tmp_path / "g.npz", GRAPH)
        with pytest.raises(ParameterError, match="max_unpacked must be"):
            read_graph(path, max_unpacked="much")
        monkeypatch.setenv("HOPSCALE_MAX_UNPACKED", "much")
        with pytest.raises(ParameterError, match="HOPSCALE_MAX_UNPACKED must be"):
            read_graph(path)

    @pytest.mark.parametrize("claim", [{"n_nodes": np.int64(2**29)}, FEATURES | {"n_features": np.int64(2**31 - 1)}])
    def test_names_for_more_than_is_there(self, tmp_path, claim):
        path = archive(tmp_path / "g.npz", GRAPH | claim)
        assert path.stat().st_size < 3000
        assert "HOPSCALE_MAX_UNPACKED" in refused(path)

    def test_arrays_of_zeros(self, tmp_path):
        """Zeros pack to a thousandth."""
        path = archive(tmp_path / "g.npz", GRAPH | {"target": np.zeros((4, 2**20))})
        assert "unpacks to more than 1 MiB" in refused(path, max_unpacked="1MiB")
        assert read_graph(path, max_unpacked="64MiB").labels.shape == (4, 2**20)

    @pytest.mark.parametrize("role", ["edges", "features", "labels"])
    def test_text(self, tmp_path, role, monkeypatch):
        texts = {"edges": "0,1\n1,2\n", "features": "0,1\n", "labels": "0,1\n"}
        paths = []
        for name, text in texts.items():
            paths.append(tmp_path / f"{name}.csv.gz")
            paths[-1].write_bytes(gzip.compress(text.encode() * (5000 if name == role else 1)))
        with pytest.raises(FileFormatError, match=rf"{role}.csv.gz unpacks to more than 1 KiB.*HOPSCALE_MAX_UNPACKED"):
            read_graph(*paths, max_unpacked=1024)
        assert read_graph(*paths).n_edges == 2
        monkeypatch.setenv("HOPSCALE_MAX_UNPACKED", "1KiB")
        result = CliRunner().invoke(main, ["info", *map(str, (paths[0], "--features", paths[1], "--labels", paths[2]))])
        assert result.exit_code == 1
        assert "set the environment variable HOPSCALE_MAX_UNPACKED to a larger size" in result.stderr

    @pytest.mark.skipif(sys.platform != "linux", reason="the peak is told in other units elsewhere")
    def test_memory_stays_near_the_limit(self, tmp_path):
        """A megabyte that unpacks to a gigabyte: no more than the limit is ever held, give or take its copies."""
        path = tmp_path / "bomb.csv.gz"
        block = gzip.compress(b"0,1\n" * 2**22, 6)
        path.write_bytes(block * 64)
        program = (
            "import resource, sys, hopscale, hopscale.io\n"
            "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
            "try: hopscale.read_graph(sys.argv[1], max_unpacked='64MiB')\n"
            "except hopscale.exceptions.FileFormatError: pass\n"
            "else: sys.exit('read')\n"
            "print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)\n"
        )
        found = subprocess.run([sys.executable, "-c", program, path], capture_output=True, text=True, check=True)
        assert int(found.stdout) < 3 * 64
