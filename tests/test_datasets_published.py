"""Published data sets: found, fetched and checked; nothing half-done whatever the network does."""

import os
import pickle
import re
import shutil
import socket
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from publisher import (
    CITED_FEATURES,
    CITED_GRAPH,
    CITED_LABELS,
    CLUB,
    CLUB_ADJACENCY,
    CLUB_FEATURES,
    CLUB_LABELS,
    VIEWS_LABELS,
    archive,
    cited_files,
    publish,
    serving,
)

from hopscale.datasets import fetch, load, locate, names, published, registry
from hopscale.datasets.pickled import unpickled
from hopscale.exceptions import DownloadError, FileFormatError, ParameterError
from hopscale.io import read_graph

DATA = Path(os.environ.get("HOPSCALE_DATA", Path(__file__).parents[2] / "shared" / "data"))
needs_files = pytest.mark.skipif(
    not (DATA / "raw").is_dir(), reason="the publishers' files are not here; HOPSCALE_DATA names their folder"
)


def files_in(folder):
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def is_club(graph):
    np.testing.assert_array_equal(graph.adjacency.toarray(), CLUB_ADJACENCY)
    np.testing.assert_array_equal(graph.features.toarray(), CLUB_FEATURES)
    assert graph.labels.tolist() == CLUB_LABELS


def is_cited(graph):
    expected = np.zeros((7, 7))
    for node, ends in CITED_GRAPH.items():
        expected[node, ends] = expected[ends, node] = node != np.array(ends)
    np.testing.assert_array_equal(graph.adjacency.toarray(), expected)
    np.testing.assert_array_equal(graph.features.toarray(), CITED_FEATURES.toarray() > 0)
    assert graph.labels.tolist() == CITED_LABELS


class TestDownload:
    def test_once_and_then_from_the_cache(self, server, cache):
        is_club(load("club"))
        assert server.asked == ["/club.zip"]
        assert files_in(cache) == ["club.zip"]
        is_club(load("club"))
        is_club(load("club", download=False))
        views = load("views")  # from the same archive
        assert (views.labels.dtype, views.labels.tolist()) == (np.float64, VIEWS_LABELS)
        assert views.n_features == 4  # the largest id tells
        assert server.asked == ["/club.zip"]

    def test_single_files(self, server, cache):
        is_cited(load("cited"))
        expected = [f"planetoid/ind.cited.{part}" for part in ("allx", "ally", "graph", "test.index", "tx", "ty")]
        assert files_in(cache) == expected
        assert sorted(server.asked) == [f"/{path}" for path in expected]
        (cache / expected[1]).unlink()
        is_cited(load("cited"))
        assert server.asked[6:] == [f"/{expected[1]}"]  # what is missing, and no more

    def test_into_a_folder_of_ones_choice(self, server, cache, tmp_path):
        is_club(load("club", cache=tmp_path / "elsewhere"))
        assert files_in(tmp_path / "elsewhere") == ["club.zip"]
        assert not cache.exists()

    def test_damage_in_the_cache_is_mended(self, server, cache):
        load("club")
        (cache / "club.zip").write_bytes(b"damaged")
        with pytest.raises(FileFormatError, match="is not a whole zip archive"):
            load("club", download=False)
        is_club(load("club"))
        is_club(load("club", download=False))

    def test_fetch_reports_the_place(self, server, cache):
        assert locate("club") == ("to download", None)
        assert fetch("club") == ("cached", cache / "club.zip")
        assert fetch("cited") == ("cached", cache / "planetoid")
        asked = len(server.asked)
        assert fetch("club").kind == "cached"
        assert len(server.asked) == asked
        (cache / "club.zip").write_bytes(b"damaged")
        fetch("club")
        is_club(load("club", download=False))

    def test_without_a_mirror_the_address_is_the_publishers(self, server, monkeypatch):
        monkeypatch.delenv("HOPSCALE_MIRROR")
        asked = []

        def download(address, *_, **__):
            asked.append(address)
            raise OSError("stop here")

        monkeypatch.setattr("hopscale.datasets.fetching.download", download)
        for name in ("club", "cited"):
            with pytest.raises(DownloadError, match="could not be downloaded: stop here"):
                load(name)
        assert asked == ["https://example.org/data/club.zip", "https://example.org/raw/ind.cited.allx"]


class TestFailedDownload:
    """One line that says what to do, and nothing in the cache."""

    def refused(self, cache, name="club"):
        with pytest.raises(DownloadError) as caught:
            load(name)
        message = str(caught.value)
        assert "\n" not in message
        assert message.startswith(f"{name}: http://127.0.0.1:")
        assert "by hand, into the folder that the variable HOPSCALE_DATA names" in message
        assert "fetch club.zip from https://example.org/data/" in message or name != "club"
        assert files_in(cache) == []
        assert locate(name).kind == "to download"
        return message

    def test_not_there(self, server, mirror, cache):
        (mirror / "club.zip").unlink()
        assert "/club.zip was answered with 404 File not found" in self.refused(cache)

    @pytest.mark.parametrize(
        ("fault", "reason"),
        [
            ("cut", "(came only in part|is not a whole zip archive)"),  # which of them is the HTTP library's matter
            ("silently cut", r"club\.zip is not a whole zip archive: .* try again"),
            ("portal", r"club\.zip is not a whole zip archive"),
        ],
    )
    def test_cut_short_or_something_else(self, server, cache, fault, reason):
        server.fault = fault
        assert re.search(reason, self.refused(cache))

    @pytest.mark.parametrize("fault", ["silently cut", "portal"])
    def test_single_file_cut_short_or_something_else(self, server, cache, fault):
        server.fault = fault
        assert "/ind.cited.allx is not the file that was published" in self.refused(cache, "cited")

    @pytest.mark.parametrize("changed", ["club_edges.csv", "club_features.json", "club_target.csv"])
    def test_changed_by_one_byte(self, server, mirror, cache, changed):
        (mirror / "club.zip").write_bytes(archive({**CLUB, changed: CLUB[changed] + " "}, "club"))
        assert f"club.zip: {changed} in it is not the file that was published" in self.refused(cache)

    def test_without_a_file(self, server, mirror, cache):
        (mirror / "club.zip").write_bytes(archive({"club_edges.csv": CLUB["club_edges.csv"]}, "club"))
        assert "club.zip has no file club_" in self.refused(cache)

    def test_no_network(self, server, cache, monkeypatch):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        monkeypatch.setenv("HOPSCALE_MIRROR", f"http://127.0.0.1:{port}")
        assert f"there is no connection to 127.0.0.1:{port}" in self.refused(cache)

    def test_a_set_that_fails_does_not_cost_its_neighbour(self, server, mirror, cache):
        (mirror / "club.zip").write_bytes(archive({**CLUB, "views_target.csv": "id,target\n"}, "club"))
        is_club(load("club"))
        with pytest.raises(DownloadError, match=r"views_target\.csv in it is not the file"):
            load("views")
        is_club(load("club", download=False))
        assert files_in(cache) == ["club.zip"]

    def test_cache_that_cannot_be(self, server, tmp_path, monkeypatch):
        (tmp_path / "file").touch()
        monkeypatch.setenv("HOPSCALE_CACHE", str(tmp_path / "file"))
        with pytest.raises(DownloadError, match=r"club cannot be kept in .*name another folder in HOPSCALE_CACHE"):
            load("club")

    def test_forbidden(self, server):
        with pytest.raises(DownloadError, match=r"club is not on this machine, and download=False.*HOPSCALE_DATA"):
            load("club", download=False)
        assert server.asked == []


class TestLocalFolder:
    """Files of a publisher that someone has put into the data folder."""

    @pytest.mark.parametrize("under", [".", "raw"])
    def test_as_a_mirror_has_them(self, server, mirror, tmp_path, under, monkeypatch):
        folder = tmp_path / "data"
        shutil.copytree(mirror, folder / under)
        is_club(load("club", data=folder))
        monkeypatch.setenv("HOPSCALE_DATA", str(folder))
        is_cited(load("cited"))
        assert locate("club") == ("local", folder / under / "club.zip")
        assert locate("cited") == ("local", folder / under / "planetoid")
        assert server.asked == []

    def test_single_files_without_their_folder(self, server, mirror):
        is_cited(load("cited", data=mirror / "planetoid"))
        assert server.asked == []

    def test_some_files_are_not_all(self, server, mirror, tmp_path):
        (tmp_path / "data").mkdir()
        (mirror / "planetoid" / "ind.cited.tx").rename(tmp_path / "data" / "ind.cited.tx")
        assert locate("cited", data=tmp_path / "data").kind == "to download"

    def test_npz_comes_first(self, server, mirror):
        np.savez(mirror / "club.npz", edges=[[0, 1]], n_nodes=2)
        assert load("club", data=mirror).n_nodes == 2
        assert locate("club", data=mirror) == ("local", mirror / "club.npz")

    def test_damage_is_named_and_not_passed_over(self, server, mirror):
        (mirror / "club.zip").write_bytes(archive({**CLUB, "club_target.csv": "id\n"}, "club"))
        with pytest.raises(FileFormatError, match=r"mirror.club\.zip: club_target\.csv in it is not the file"):
            load("club", data=mirror)
        (mirror / "club.zip").write_bytes(b"PK")
        with pytest.raises(FileFormatError, match=r"mirror.club\.zip is not a whole zip archive"):
            load("club", data=mirror)
        assert server.asked == []


def test_names_and_parameters(server):
    assert {"club", "views", "cited", "digits"} <= set(names())
    with pytest.raises(ParameterError, match="did you mean 'cited'"):
        load("citet")
    with pytest.raises(ParameterError, match="'club' is read from a file and takes no parameters"):
        load("club", n_nodes=3)
    assert server.asked == []


class _Attack:
    """Creates a file when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


class TestPickles:
    @pytest.mark.parametrize("role", ["allx", "ally", "tx", "ty", "graph"])
    def test_code_in_a_data_set_does_not_run(self, role, tmp_path, mirror, cache, monkeypatch):
        attack = pickle.dumps(_Attack(tmp_path / "victim"), protocol=2)
        entries = publish(mirror, {**cited_files(), role: attack})
        monkeypatch.setattr(registry, "published", lambda: entries)
        with pytest.raises(FileFormatError, match=rf"ind\.cited\.{role} asks for (posix|nt)\.mkdir, .* refused"):
            load("cited", data=mirror)
        assert not (tmp_path / "victim").exists()
        pickle.loads(attack)  # it would have
        assert (tmp_path / "victim").exists()

    @pytest.mark.parametrize("protocol", [3, 4])
    def test_python_3_wrote_it(self, protocol, mirror, monkeypatch):
        entries = publish(mirror, cited_files(lambda value: pickle.dumps(value, protocol)))
        monkeypatch.setattr(registry, "published", lambda: entries)
        is_cited(load("cited", data=mirror))

    @pytest.mark.parametrize(
        "named",
        ["builtins eval", "__builtin__ getattr", "numpy load", "numpy.core.multiarray scalar", "scipy.sparse.csr np"],
    )
    def test_other_names_are_refused_even_where_they_do_no_harm(self, named):
        module, name = named.split()
        with pytest.raises(FileFormatError, match="refused"):
            unpickled(f"c{module}\n{name}\n.".encode(), "file")

    def test_dotted_names_do_not_reach_through(self):
        content = b"\x80\x04\x8c\x05numpy\x8c\x10ndarray.__init__\x93."
        with pytest.raises(FileFormatError, match=r"numpy\.ndarray\.__init__.*refused"):
            unpickled(content, "file")

    @pytest.mark.parametrize(
        "value",
        [np.array([print], dtype=object), np.array(["text"]), [1, 2], "text", np.zeros(2, [("a", "i4")])],
    )
    def test_only_numbers(self, value):
        with pytest.raises(FileFormatError):
            unpickled(pickle.dumps(value, protocol=4), "file")

    @pytest.mark.parametrize("content", [b"", b"\x80\x02", b"nonsense", b"\x80\x02N.", b"Pname\n."])
    def test_broken(self, content):
        with pytest.raises(FileFormatError, match="file"):
            unpickled(content, "file")

    def test_cut_anywhere(self):
        content = cited_files()["allx"]
        for end in range(0, len(content), 7):
            with pytest.raises(FileFormatError):
                unpickled(content[:end], "file")

    def test_matrix_that_points_outside_itself(self):
        matrix = sp.csr_matrix(np.eye(3))
        matrix.indices[1] = 10**6
        with pytest.raises(FileFormatError, match="not a pickle of numbers"):
            unpickled(pickle.dumps(matrix, protocol=4), "file")


class TestRegistry:
    def test_all_data_sets_of_the_paper(self):
        wiki = [f"wiki-{animal}" for animal in ("chameleon", "crocodile", "squirrel")]
        twitch = [f"twitch-{language}" for language in ("de", "en", "es", "fr", "pt", "ru")]
        others = ["cora", "citeseer", "pubmed", "facebook", "github", "lastfm-asia", "deezer-europe"]
        assert list(published()) == others + wiki + twitch

    @pytest.mark.parametrize("name", published())
    def test_entries_are_complete(self, name):
        entry = published()[name]
        assert entry.address.startswith("https://")
        assert entry.address.endswith("/")
        assert entry.page.startswith("https://")
        assert all([entry.title, entry.about, entry.target, entry.licence])
        for file in entry.files.values():
            assert [len(file.sha256 or ""), len(file.git_blob or "")] in ([64, 0], [0, 40])
            assert file.size > 0
        assert all(entry.size(unit) > 0 for unit in entry.units)
        columns = {"nodes", "clustering", "density", "diameter", "unique_features", "features_per_node"}
        assert set(entry.paper) == (columns if entry.task == "regression" else columns | {"classes"})
        assert set(entry.differences) <= set(entry.paper)
        assert entry.statistics["nodes"] == entry.paper["nodes"]

    def test_hash_of_git(self):
        # As `printf 'hello\n' | git hash-object --stdin` has it.
        file = registry.SourceFile("hello", 6, git_blob="ce013625030ba8dba906f756967f9e9ca394464a")
        assert file.is_published(b"hello\n")
        assert not file.is_published(b"hello")

    def test_a_file_without_a_hash_is_never_the_published_one(self):
        assert not registry.SourceFile("hello", 5).is_published(b"hello")


@pytest.fixture(scope="module")
def mirror_address():
    with serving(DATA / "raw") as running:
        yield running.address


@needs_files
class TestPublishersOwnFiles:
    """The real files, through the real door: over HTTP into a cache."""

    @pytest.mark.parametrize("name", [name for name in published() if name != "lastfm-asia"])
    def test_same_graph_as_the_packed_form(self, name, mirror_address, cache, monkeypatch):
        monkeypatch.setenv("HOPSCALE_MIRROR", mirror_address)
        monkeypatch.delenv("HOPSCALE_DATA", raising=False)
        graph, packed = load(name), read_graph(DATA / f"{name}.npz")
        assert graph.adjacency.shape == packed.adjacency.shape
        assert (graph.adjacency != packed.adjacency).nnz == 0
        assert graph.features.shape == packed.features.shape
        assert (graph.features != packed.features).nnz == 0
        np.testing.assert_array_equal(graph.node_ids, packed.node_ids)
        np.testing.assert_array_equal(graph.feature_names, packed.feature_names)
        assert graph.labels.dtype == packed.labels.dtype
        np.testing.assert_array_equal(graph.labels, packed.labels)

    def test_edges_and_countries_of_lastfm(self):
        with np.load(DATA / "lastfm-asia.partial.npz") as part:
            edges = "".join(f"{u},{v}\n" for u, v in part["edges"].tolist())
            target = "".join(f"{node},{country}\n" for node, country in enumerate(part["target"].tolist()))
        files = published()["lastfm-asia"].files
        assert files["edges"].is_published(f"node_1,node_2\n{edges}".encode())
        assert files["target"].is_published(f"id,target\n{target}".encode())
