"""``neighbors``, ``explain`` and ``info``: what is told of a model, its nodes and a graph."""

import json

import pytest
from command_line import answer, refused, succeeded

from hopscale import MUSAE, DeepWalk, from_edges, load_model
from hopscale.datasets import erdos_renyi, planted_blocks


class TestQuestions:
    def test_neighbors(self, model):
        expected = load_model(model).neighbors("D", k=3, scale=2)
        document = answer("neighbors", model, "D", "-k", 3, "--scale", 2)
        assert document["scale"] == "2"
        [found] = document["answers"]
        assert found["node"] == "D"
        assert [(row["node"], row["similarity"]) for row in found["neighbors"]] == expected
        lines = succeeded("neighbors", model, "D", "-k", 3).stdout.splitlines()
        assert [line.split()[0] for line in lines] == [node for node, _ in load_model(model).neighbors("D", k=3)]

    def test_explain(self, model):
        expected = load_model(model).explain("D", k=2)
        document = answer("explain", model, "D", "-k", 2)
        assert {
            label: [(row["feature"], row["score"]) for row in rows] for label, rows in document["scales"].items()
        } == expected
        assert list(answer("explain", model, "D", "--scale", 1)["scales"]) == ["1"]
        assert succeeded("explain", model, "D").stdout.splitlines()[0].startswith("scale 0 (estimated: ")

    @pytest.mark.parametrize(
        ("names", "text", "meant"),
        [
            ([5, -3, 7, 8], "-3", -3),
            (["5", "x y", "7", "8"], "5", "5"),
            (["5", "x y", "7", "8"], "x y", "x y"),
            ([1, "2", (3, "a"), 4.5], "1", 1),
            ([1, "2", (3, "a"), 4.5], '[3,"a"]', (3, "a")),
            ([1, "2", (3, "a"), 4.5], '[3, "a"]', (3, "a")),
            ([1, "[2]", (2,), 4.5], "[2]", "[2]"),
            ([(0, 0), (0, (1, 2)), (1, 1)], "[0, [1, 2]]", (0, (1, 2))),
            ([1, "1x", 2, 4.5], "4.5", 4.5),
        ],
    )
    def test_node_is_given_as_text(self, tmp_path, names, text, meant):
        ring = list(zip(names, [*names[1:], names[0]], strict=True))
        DeepWalk(2, window=1).fit(from_edges(ring)).save(tmp_path / "m")
        found = answer("neighbors", tmp_path / "m", text)["answers"][0]["node"]
        assert found == json.loads(json.dumps(meant))

    def test_nodes_of_which_nothing_is_known(self, tmp_path):
        graph = from_edges([("a", "b"), ("b", "c")], {"a": ["x"], "b": ["y"], "lone": ["x"], "empty": []})
        MUSAE(8, window=1).fit(graph).save(tmp_path / "m")
        result = succeeded("neighbors", tmp_path / "m", "empty")
        assert result.stdout == ""
        assert result.stderr.startswith("hopscale: warning: nothing is known of node 'empty': ")
        result = succeeded("explain", tmp_path / "m", "lone", "-k", 1)
        assert [line.split()[0] for line in result.stdout.splitlines()] == [
            "scale",
            "x",
            "scale",
            "nothing",
            "Estimates",
        ]
        assert "of node 'lone' at scale 1" in result.stderr
        assert answer("explain", tmp_path / "m", "lone", "--scale", 1)["scales"] == {"1": []}

    def test_unknown_node_or_scale(self, model, tmp_path):
        assert "no node 'Z' in this model (ids look like 'A')" in refused("neighbors", model, "Z")
        assert "no node 'Z'" in refused("explain", model, "Z")
        assert "no scale '9'; this model has 0, 1, 2, 3" in refused("explain", model, "D", "--scale", 9, code=2)
        DeepWalk(8).fit(erdos_renyi(16, 2)).save(tmp_path / "m")
        assert "no node 99" in refused("neighbors", tmp_path / "m", "99")
        assert "no node 'x'" in refused("neighbors", tmp_path / "m", "x")

    def test_usage(self, model):
        refused("neighbors", model, "D", "-k", 0, code=2)
        refused("neighbors", model, code=2)
        refused("neighbors", model, "D", "--colour", code=2)

    def test_info_of_a_model(self, model):
        document = answer("info", model)
        assert (document["model"], document["nodes"], document["features"]) == ("MUSAE", 11, 4)
        assert [row["scale"] for row in document["scales"]] == ["0", "1", "2", "3"]
        assert document["parameters"] == MUSAE(8).get_params()
        assert "exact rows" in succeeded("info", model).stdout

    def test_info_of_a_graph(self, blocks, inputs):
        graph = planted_blocks(n_nodes=90, n_features=30)
        document = answer("info", blocks / "graph.npz")
        assert document["edges"] == graph.n_edges
        assert document["feature_entries"] == graph.features.nnz
        classes = {"task": "classification", "classes": 3, "share_of_largest_class": 1 / 3}
        assert document["labels"] == {"labelled_nodes": 90, **classes}
        assert answer("info", inputs[1], *inputs[2:])["labels"] is None
        assert "most neighbors" in succeeded("info", blocks / "graph.npz").stdout

    def test_info_counts_what_is_odd(self, tmp_path):
        (tmp_path / "e.csv").write_text("a,b\nc,d\n")
        (tmp_path / "f.json").write_text('{"a": ["x"], "z": ["y"]}')
        document = answer("info", tmp_path / "e.csv", "--no-header", "--features", tmp_path / "f.json")
        assert (document["components"], document["isolated_nodes"], document["nodes_without_features"]) == (3, 1, 3)

    def test_info_of_something_else(self, tmp_path):
        (tmp_path / "x.safetensors").write_bytes(b"nothing")
        assert "not a complete safetensors file" in refused("info", tmp_path / "x.safetensors")
        (tmp_path / "x.csv").write_bytes(b"\x89PNG\0")
        assert "NUL byte" in refused("info", tmp_path / "x.csv")
        assert "there is no file" in refused("info", tmp_path / "none.csv")
