"""``hopscale extend``, ``transform`` and ``explain``: new nodes, and what is known of a node."""

import json

import numpy as np
import pytest
from command_line import answer, refused, run, succeeded, vectors_in

from hopscale import MUSAE, DeepWalk, from_edges, load_model, read_graph

EDGES = "source,target\nann,bob\nbob,eve\neve,joe\njoe,ann\njoe,kim\n"
TAGS = {"ann": ["chess", "tea"], "bob": ["tea"], "eve": ["go", "tea"], "joe": ["go"], "kim": ["chess"]}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "edges.csv").write_text(EDGES)
    (tmp_path / "tags.json").write_text(json.dumps(TAGS))
    (tmp_path / "new.csv").write_text("source,target\nzoe,ann\nmax,zoe\neve,max\n")
    (tmp_path / "new.json").write_text(json.dumps({"zoe": ["go"], "max": ["tea"]}))
    succeeded("embed", *old(tmp_path), "--dimensions", 8, "--window", 1, "--keep-graph", "--save", tmp_path / "kept")
    succeeded("embed", *old(tmp_path), "--dimensions", 8, "--window", 1, "--save", tmp_path / "plain")
    return tmp_path


def old(folder):
    return ["--edges", folder / "edges.csv", "--features", folder / "tags.json"]


def new(folder):
    return ["--edges", folder / "new.csv", "--features", folder / "new.json"]


class TestExtend:
    def test_vectors_are_those_of_the_model(self, folder):
        document = answer("extend", folder / "kept", *new(folder), "-o", folder / "v.csv")
        assert document["new_nodes"] == 2
        ids, vectors = vectors_in(folder / "v.csv")
        rows = read_graph(folder / "new.csv", folder / "new.json")
        expected = load_model(folder / "kept").extend(rows)
        assert ids == expected[0].tolist() == ["zoe", "max"]
        np.testing.assert_array_equal(vectors, expected[1])

    def test_rows_of_a_node_table(self, folder):
        people = "who,country,age\nann,FR,20\nbob,DE,31\neve,FR,40\njoe,DE,55\nkim,FR,28\n"
        newcomers = "who,country,age\nmax,DE,50\nzoe,FR,22\nann,DE,99\n"  # what ann is, is known
        (folder / "people.csv").write_text(people)
        (folder / "newcomers.csv").write_text(newcomers)
        edges = ["--edges", folder / "edges.csv", "--nodes", folder / "people.csv"]
        succeeded("embed", *edges, "--dimensions", 8, "--window", 1, "--keep-graph", "--save", folder / "m", "-q")
        rows = ["--edges", folder / "new.csv", "--nodes", folder / "newcomers.csv"]
        succeeded("extend", folder / "m", *rows, "-o", folder / "v.csv", "-q")
        ids, vectors = vectors_in(folder / "v.csv")
        (folder / "all.csv").write_text(EDGES + "zoe,ann\nmax,zoe\neve,max\n")
        (folder / "people.csv").write_text(people + "max,DE,50\nzoe,FR,22\n")
        whole = read_graph(folder / "all.csv", nodes=folder / "people.csv", encoder=load_model(folder / "m").encoder_)
        expected = dict(zip(whole.node_ids.tolist(), load_model(folder / "m").transform(whole), strict=True))
        np.testing.assert_allclose(vectors, [expected[node] for node in ids], atol=1e-6)
        assert set(ids) == {"zoe", "max"}

    def test_the_file_of_the_model_stays_as_it_is(self, folder):
        before = (folder / "kept").read_bytes()
        succeeded("extend", folder / "kept", *new(folder), "-o", folder / "v.npz")
        assert (folder / "kept").read_bytes() == before

    def test_a_model_without_its_graph(self, folder):
        found = run("extend", folder / "plain", *new(folder), "-o", folder / "v.csv", "-q")
        assert found.exit_code != 0
        assert "has not kept the graph" in found.stderr
        assert "--keep-graph" in found.stderr
        assert not (folder / "v.csv").exists()

    def test_a_model_that_cannot(self, folder):
        DeepWalk(4, keep_graph=True).fit(from_edges([("ann", "bob"), ("bob", "eve")])).save(folder / "m")
        assert "cannot embed other nodes" in refused("extend", folder / "m", *new(folder), "-o", folder / "v.csv", "-q")

    @pytest.mark.parametrize(
        ("before", "after"), [("1,2\n2,3\n3,1\n", "4,1\nx,3\n"), ("1,2\n2,x\nx,1\n", "4,1\n4,2\n")], ids=["int", "text"]
    )
    def test_ids_are_those_of_the_model_whatever_else_a_file_names(self, folder, before, after):
        """A file of whole numbers has numbers for ids, one with a word in it text."""
        (folder / "edges.csv").write_text(before)
        (folder / "tags.json").write_text('{"1": ["a", "b"], "2": ["b"]}')
        (folder / "new.csv").write_text(after)
        (folder / "new.json").write_text('{"4": ["a"]}')
        succeeded("embed", *old(folder), "--dimensions", 4, "--window", 1, "--keep-graph", "--save", folder / "m", "-q")
        result = succeeded("extend", folder / "m", *new(folder), "-o", folder / "v.csv", "-q")
        assert "no new edge leads to" not in result.stderr
        ids, vectors = vectors_in(folder / "v.csv")
        assert set(ids) == ({"4", "x"} if "x" in after else {"4"})
        assert vectors[ids.index("4")].any()

    def test_help_says_what_to_pass(self):
        for command, words in (("extend", "new rows only"), ("transform", "all of their edges and features")):
            assert words in " ".join(succeeded(command, "--help").stdout.split())


class TestTransform:
    def test_new_rows_alone_are_warned_of(self, folder):
        result = succeeded("transform", folder / "plain", *new(folder), "-o", folder / "v.csv", "-q")
        assert "2 of 2 nodes that the model knows have come without edges or features" in result.stderr
        assert "--keep-graph" in result.stderr


class TestExplain:
    def test_estimates_say_that_they_are(self, folder):
        document = answer("explain", folder / "plain", "ann")
        assert document["exact"] is False
        assert document["captured"] == load_model(folder / "plain").captured_
        lines = succeeded("explain", folder / "plain", "ann").stdout.splitlines()
        assert lines[0].startswith("scale 0 (estimated: the vectors hold ")
        assert lines[0].endswith(" % of its matrix)")
        assert "may show features that are not there" in lines[-1]
        assert "--edges" in lines[-1]

    def test_exact_values_from_files(self, folder):
        document = answer("explain", folder / "plain", "ann", *old(folder))
        expected = load_model(folder / "plain").explain(
            "ann", graph=read_graph(folder / "edges.csv", folder / "tags.json")
        )
        assert document["exact"] is True
        assert {
            label: [(row["feature"], row["score"]) for row in rows] for label, rows in document["scales"].items()
        } == expected
        lines = succeeded("explain", folder / "plain", "ann", *old(folder)).stdout.splitlines()
        assert lines[0] == "scale 0 (exact)"
        assert [line.split()[0] for line in lines[1:3]] == ["chess", "tea"]
        assert "estimate" not in " ".join(lines)

    def test_exact_values_from_the_kept_graph(self, folder):
        from_files = answer("explain", folder / "plain", "ann", *old(folder))
        assert answer("explain", folder / "kept", "ann") == from_files

    def test_a_node_that_is_new(self, folder):
        document = answer("explain", folder / "plain", "zoe", *new(folder), "--scale", 0)
        assert [row["feature"] for row in document["scales"]["0"]] == ["go"]
        assert "no node 'ann' in this model" not in refused("explain", folder / "plain", "zoe", "-q")

    def test_features_need_edges(self, folder):
        found = refused("explain", folder / "plain", "ann", "--features", folder / "tags.json", code=2)
        assert "give a graph: either --edges" in found

    def test_models_of_older_files_do_not_know(self, folder):
        MUSAE(4, solver="sgns").fit(read_graph(folder / "edges.csv", folder / "tags.json")).save(folder / "m")
        lines = succeeded("explain", folder / "m", "ann", "-q").stdout.splitlines()
        assert lines[0] == "scale 0 (estimated: the vectors hold an unknown part of its matrix)"
