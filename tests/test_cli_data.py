"""``hopscale datasets``: what is listed, where it is said to be, and downloads by name."""

import json
import subprocess
import sys

import numpy as np
import pytest
from click.testing import CliRunner
from publisher import publish, serving

from hopscale.cli.commands import hopscale as main
from hopscale.datasets import describe, digits, load, names, published, registry


@pytest.fixture(autouse=True)
def _no_folder(monkeypatch):
    monkeypatch.delenv("HOPSCALE_DATA", raising=False)


@pytest.fixture
def server(tmp_path, monkeypatch):
    """A publisher that is online, whose data sets are those that the library knows, and an empty cache."""
    entries = publish(tmp_path / "mirror")
    monkeypatch.setattr(registry, "published", lambda: entries)
    monkeypatch.setenv("HOPSCALE_CACHE", str(tmp_path / "cache"))
    with serving(tmp_path / "mirror") as running:
        monkeypatch.setenv("HOPSCALE_MIRROR", running.address)
        yield running


def run(*arguments, code=0):
    result = CliRunner().invoke(main, ["datasets", *map(str, arguments)])
    assert result.exit_code == code, result.output
    return result


def answer(*arguments):
    return json.loads(run(*arguments, "--json").stdout)


def rows(*arguments):
    return {row["name"]: row for row in answer(*arguments)["datasets"]}


class TestList:
    def test_all_that_can_be_loaded(self):
        listed = rows()
        assert sorted(listed) == names()
        cora = listed["cora"]
        assert (cora["nodes"], cora["edges"], cora["unique_features"], cora["classes"]) == (2708, 5278, 1432, 7)
        assert (cora["features_per_node"], cora["task"], cora["where"]) == (18.174, "classification", "to download")
        chameleon = listed["wiki-chameleon"]
        assert (chameleon["task"], chameleon["classes"]) == ("regression", None)
        assert chameleon["edges"] == 31421 - 50
        assert listed["digits"]["where"] == "built-in"
        assert listed["digits"]["clustering"] == describe(digits()).clustering
        assert len({tuple(row) for row in listed.values()}) == 1  # the same keys for all

    def test_lines_for_people(self):
        header, *lines = run().stdout.splitlines()
        assert header.split() == ["name", "nodes", "edges", "features", "used", "per", "node", "task", "where"]
        assert [line.split()[0] for line in lines] == names()
        by_name = {line.split()[0]: line.split()[1:] for line in lines}
        assert by_name["github"] == ["37,700", "289,003", "4,005", "18.31", "2", "classes", "to", "download"]
        assert by_name["figure1"] == ["11", "15", "4", "1.91", "-", "built-in"]

    def test_where(self, server, tmp_path, monkeypatch):
        load("cited")
        assert {name: row["where"] for name, row in rows().items() if name in registry.published()} == {
            "club": "to download",
            "views": "to download",
            "cited": "cached",
        }
        listed = rows("--data", tmp_path / "mirror")
        assert (listed["views"]["where"], listed["views"]["path"]) == ("local", str(tmp_path / "mirror" / "club.zip"))
        monkeypatch.setenv("HOPSCALE_DATA", str(tmp_path / "mirror"))
        assert rows()["cited"]["path"] == str(tmp_path / "mirror" / "planetoid")

    def test_files_of_ones_own(self, tmp_path):
        features = {"feature_indptr": [0, 1, 1, 2], "feature_indices": [1, 0], "n_features": 5}
        np.savez(tmp_path / "mine.npz", edges=[[0, 1], [1, 2]], n_nodes=3, target=[0, 1, 0], **features)
        np.savez(tmp_path / "broken.npz", edges=[[0, 7]], n_nodes=3, **features)
        listed = rows("--data", tmp_path)
        mine = listed["mine"]
        assert (mine["nodes"], mine["edges"], mine["unique_features"], mine["classes"]) == (3, 2, 2, 2)
        assert (mine["where"], mine["path"]) == ("local", str(tmp_path / "mine.npz"))
        assert listed["broken"]["nodes"] is None
        assert "broken" in run("--data", tmp_path).stdout

    def test_asks_nothing_of_the_network(self, server):
        run()
        run("club")
        assert server.asked == []


def test_start_up_does_not_wait_for_what_downloads_need():
    asked = "import sys, hopscale.cli.commands; print({'pooch', 'requests'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


class TestOne:
    @pytest.mark.parametrize("name", published())
    def test_source_licence_and_statistics(self, name):
        document, entry = answer(name), published()[name]
        assert document["page"] == entry.page
        assert document["licence"] == entry.licence
        assert document["address"].startswith(entry.address)
        for statistic, difference in entry.differences.items():
            assert document[statistic] == difference.here
            assert document["differences"][statistic] == difference.reason

    def test_lines_for_people(self, server):
        lines = run("club").stdout.splitlines()
        assert "unique features      3; the paper has 4: a typing error" in lines
        assert "address              https://example.org/data/club.zip" in lines
        assert "licence              CC0" in lines
        assert "where                to download" in lines

    def test_built_in(self):
        document = answer("figure1")
        assert (document["nodes"], document["where"]) == (11, "built-in")
        assert "page" not in document

    def test_download(self, server, tmp_path):
        document = answer("club", "--download", "--quiet")
        assert (document["where"], document["path"]) == ("cached", str(tmp_path / "cache" / "club.zip"))
        assert load("club", download=False).n_nodes == 4
        run("club", "--download")
        assert server.asked == ["/club.zip"]
        assert answer("figure1", "--download")["where"] == "built-in"

    def test_commands_download_by_themselves(self, server):
        result = CliRunner().invoke(main, ["info", "club", "--json"])
        assert json.loads(result.stdout)["nodes"] == 4
        assert server.asked == ["/club.zip"]

    def test_failures_are_one_line(self, server, tmp_path):
        (tmp_path / "mirror" / "club.zip").unlink()
        message = run("club", "--download", "-q", code=1).stderr
        assert message.startswith("hopscale: club: http://127.0.0.1:")
        assert "404" in message
        assert message.endswith("by hand, into the folder that the variable HOPSCALE_DATA names\n")
        assert message.count("\n") == 1
        assert "did you mean 'club'" in run("clubb", code=2).stderr
        assert run("--data", tmp_path / "none", code=2).stderr.startswith("hopscale: --data must name a folder")
        assert "--download needs the name" in run("--download", code=2).stderr
