"""``neighbors``, ``suggest-links`` and ``suggest-features`` answer as the model does."""

import json

import pytest
from click.testing import CliRunner

from hopscale import MUSAE, AttributedGraph, DeepWalk, datasets, from_edges, load_model
from hopscale.cli.commands import hopscale as main

pytestmark = pytest.mark.filterwarnings("ignore::hopscale.exceptions.HopscaleWarning")


def succeeded(*arguments):
    result = CliRunner().invoke(main, list(map(str, arguments)))
    assert result.exit_code == 0, result.output
    return result


def answer(*arguments):
    return json.loads(succeeded(*arguments, "--json").stdout)


def refused(*arguments, code):
    result = CliRunner().invoke(main, list(map(str, arguments)))
    assert result.exit_code == code, result.output
    assert result.stdout == ""
    return result.stderr


@pytest.fixture(scope="module", name="graph")
def named():
    graph = datasets.figure1()
    return AttributedGraph(
        graph.adjacency, graph.features, node_ids=graph.node_ids, feature_names=["tea", "go", "-1", "["]
    )


@pytest.fixture(scope="module", name="files")
def written(tmp_path_factory, graph):
    """A model without its graph, the same with it, and files of the graph, lines in another order."""
    folder = tmp_path_factory.mktemp("files")
    MUSAE(8).fit(graph).save(folder / "bare.safetensors")
    MUSAE(8, keep_graph=True).fit(graph).save(folder / "model.safetensors")
    coo = graph.adjacency.tocoo()
    pairs = zip(*(graph.node_ids[ends].tolist() for ends in coo.coords), strict=True)
    (folder / "edges.csv").write_text("".join(f"{u},{v}\n" for u, v in reversed([*pairs]) if u < v))
    rows = {
        node: graph.feature_names[graph.features[[row]].indices].tolist() for row, node in enumerate(graph.node_ids)
    }
    (folder / "features.json").write_text(json.dumps(dict(reversed(rows.items()))))
    return folder


def pairs(rows, *fields):
    return [tuple(row[field] for field in fields) for row in rows]


class TestNeighbors:
    @pytest.mark.parametrize("scale", [None, "1"])
    def test_of_several(self, files, scale):
        model = load_model(files / "model.safetensors")
        options = ["-k", 3, *(["--scale", scale] if scale else [])]
        document = answer("neighbors", files / "model.safetensors", "D", "A", "D", *options)
        assert document["scale"] == scale
        assert [row["node"] for row in document["answers"]] == ["D", "A"]
        for row in document["answers"]:
            expected = model.neighbors(row["node"], k=3, scale=scale)
            assert pairs(row["neighbors"], "node", "similarity") == expected

    def test_of_features(self, files):
        model = load_model(files / "model.safetensors")
        document = answer("neighbors", files / "model.safetensors", "--feature", "tea", "--feature", "[", "-k", 2)
        for row, name in zip(document["answers"], ["tea", "["], strict=True):
            assert row["feature"] == name
            assert pairs(row["neighbors"], "feature", "similarity") == model.similar_features(name, k=2)
        [row] = answer("neighbors", files / "model.safetensors", "--nodes-of", "-1", "-k", 4)["answers"]
        assert pairs(row["neighbors"], "node", "score") == model.nodes_of("-1", k=4)

    def test_in_words(self, files):
        lines = succeeded("neighbors", files / "model.safetensors", "D", "A", "-k", 2).stdout.splitlines()
        assert [line.split()[0] for line in lines if not line.startswith(" ")] == ["D", "A"]
        assert len(lines) == 6

    def test_usage(self, files):
        path = files / "model.safetensors"
        assert "give nodes, or --feature, or --nodes-of" in refused("neighbors", path, code=2)
        refused("neighbors", path, "D", "--feature", "tea", code=2)
        assert "--colour" in refused("neighbors", path, "D", "--colour", code=2)
        assert "no feature 'coffee' in this model (features look like 'tea')" in refused(
            "neighbors", path, "--feature", "coffee", code=1
        )
        assert "no node 'coffee'" in refused("neighbors", path, "D", "coffee", code=1)


class TestSuggestions:
    def given(self, files, kept):
        """A model that has kept its graph, or one and the files."""
        if kept:
            return [files / "model.safetensors"]
        return [files / "bare.safetensors", "--edges", files / "edges.csv", "--features", files / "features.json"]

    @pytest.mark.parametrize("kept", [True, False])
    def test_links(self, files, graph, kept):
        model, source = load_model(files / "model.safetensors"), self.given(files, kept)
        document = answer("suggest-links", *source, "-k", 5)
        expected = model.suggest_links(k=5, graph=graph)
        assert pairs(document["links"], "source", "target") == [(u, v) for u, v, _ in expected]
        assert [row["score"] for row in document["links"]] == pytest.approx([score for *_, score in expected])
        assert len(succeeded("suggest-links", *source, "-k", 5).stdout.splitlines()) == 5
        document = answer("suggest-links", source[0], "D", "A", *source[1:], "-k", 2, "--scale", 1)
        for row, node in zip(document["answers"], ["D", "A"], strict=True):
            expected = model.suggest_links(node, k=2, graph=graph, scale=1)
            assert row["node"] == node
            assert dict(pairs(row["links"], "node", "score")) == pytest.approx(dict(expected))

    @pytest.mark.parametrize("kept", [True, False])
    def test_features(self, files, graph, kept):
        model, source = load_model(files / "model.safetensors"), self.given(files, kept)
        document = answer("suggest-features", source[0], "D", "A", *source[1:], "-k", 2)
        for row, node in zip(document["answers"], ["D", "A"], strict=True):
            expected = model.suggest_features(node, k=2, graph=graph)
            assert row["node"] == node
            assert dict(pairs(row["features"], "feature", "score")) == pytest.approx(dict(expected))
        assert "D" in succeeded("suggest-features", source[0], "D", "A", *source[1:]).stdout

    def test_the_graph_is_asked_for(self, files):
        for question in (["suggest-links"], ["suggest-features"]):
            said = refused(*question, files / "bare.safetensors", "D", code=2)
            assert "has to know the graph, to leave out what is in it: pass it as --graph" in said
            assert "with --keep-graph" in said

    def test_usage(self, files):
        refused("suggest-features", files / "model.safetensors", code=2)
        refused("suggest-links", files / "model.safetensors", "D", "-k", 0, code=2)
        assert "no node 'x'" in refused("suggest-links", files / "model.safetensors", "x", code=1)

    def test_whole_numbers_in_files_are_the_models(self, tmp_path):
        edges = [(i, (i + step) % 12) for i in range(12) for step in (1, 2)]
        DeepWalk(4).fit(from_edges(edges)).save(tmp_path / "m")
        (tmp_path / "e.csv").write_text("".join(f"{u},{v}\n" for u, v in edges))
        [row] = answer("suggest-links", tmp_path / "m", 3, "--edges", tmp_path / "e.csv")["answers"]
        assert {other["node"] for other in row["links"]}.isdisjoint({1, 2, 4, 5})


def test_clusters(files, graph):
    model = load_model(files / "model.safetensors")
    document = answer("clusters", files / "model.safetensors", 3, "--scale", 1)
    expected = model.clusters(3, scale=1).tolist()
    assert pairs(document["clusters"], "node", "cluster") == list(zip(graph.node_ids.tolist(), expected, strict=True))
    lines = succeeded("clusters", files / "model.safetensors", 3).stdout.splitlines()
    assert [line.split()[0] for line in lines] == graph.node_ids.tolist()
    refused("clusters", files / "model.safetensors", 0, code=2)
    assert "clusters must be at most 11" in refused("clusters", files / "model.safetensors", 99, code=2)
