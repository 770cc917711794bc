"""``hopscale plot``, ``report`` and ``explore`` from files, names of graphs and saved models."""

import json
import re
import sys

import numpy as np
import pytest
from click.testing import CliRunner

from hopscale import MUSAE
from hopscale.cli.commands import hopscale as program
from hopscale.datasets import planted_blocks
from hopscale.explore.palette import PALETTE

PNG = b"\x89PNG"


@pytest.fixture(autouse=True)
def _in_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    graph = planted_blocks(90)
    edges = np.argwhere(np.triu(graph.adjacency.toarray()))
    (tmp_path / "edges.csv").write_text("".join(f"n{u},n{v}\n" for u, v in edges))
    rows = {f"n{v}": [f"f{j}" for j in np.flatnonzero(row)] for v, row in enumerate(graph.features.toarray())}
    (tmp_path / "features.json").write_text(json.dumps(rows))
    lines = [f"n{v},block {graph.labels[v]}\n" for v in range(0, 90, 2)]
    (tmp_path / "labels.csv").write_text("".join(["id,block\n", *lines]))


def run(*words, code=0):
    done = CliRunner().invoke(program, list(words))
    assert done.exit_code == code, done.output
    return done


def saved(tmp_path, **settings):
    graph = ("--edges", "edges.csv", "--features", "features.json")
    run("embed", *graph, "--dimensions", "16", "--save", "m.safetensors", "-q", *settings.get("more", ()))
    return "m.safetensors"


class TestPlot:
    def test_a_graph_by_name(self, tmp_path):
        run("plot", "--graph", "figure1", "-o", "map.png", "--dimensions", "8", "--method", "pca")
        assert (tmp_path / "map.png").read_bytes().startswith(PNG)

    def test_a_model_with_labels_from_a_file(self, tmp_path):
        model = saved(tmp_path)
        run("plot", model, "--labels", "labels.csv", "-o", "map.svg", "--method", "pca", "--names", "5")
        text = (tmp_path / "map.svg").read_text()
        assert all(color in text for color in PALETTE[:3])

    def test_a_model_with_its_graph(self, tmp_path):
        model = saved(tmp_path)
        more = ("--edges", "edges.csv", "--features", "features.json", "--labels", "labels.csv")
        run("plot", model, *more, "-o", "one.svg", "--method", "pca")
        run("plot", model, "--labels", "labels.csv", "-o", "two.svg", "--method", "pca")
        assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "two.svg").read_bytes()

    def test_features_and_clusters(self, tmp_path):
        model = saved(tmp_path)
        run("plot", model, "-o", "map.png", "--feature", "f3", "--scale", "1", "--method", "pca", "--title", "f3")
        found = run("plot", model, "-o", "map.pdf", "--clusters", "4", "--method", "pca", "--json", "-q")
        assert json.loads(found.stdout)["nodes"] == 90
        assert (tmp_path / "map.pdf").read_bytes().startswith(b"%PDF")

    def test_the_map_is_that_of_python(self, tmp_path):
        from hopscale import load_model
        from hopscale.explore.plots import save_picture

        model = saved(tmp_path)
        run("plot", model, "-o", "map.png", "--method", "tsne")
        save_picture(load_model(model).plot().figure, tmp_path / "same.png")
        assert (tmp_path / "map.png").read_bytes() == (tmp_path / "same.png").read_bytes()

    @pytest.mark.parametrize(
        ("words", "message"),
        [
            (("-o", "map.png"), "give a saved MODEL, or a graph"),
            (("--labels", "labels.csv", "-o", "map.png"), "give a saved MODEL, or a graph"),
            (("--graph", "figure1", "-o", "map.jpg"), ".png, .svg, .pdf"),
            (("--graph", "figure1"), "--output"),
            (("--graph", "figure1", "-o", "map.png", "--feature", "f", "--clusters", "2"), "one colour each"),
            (("--graph", "figure1", "-o", "map.png", "--method", "mds"), "mds"),
            (("--graph", "figure1", "-o", "map.png", "--clusters", "99"), "--clusters must be at most 11"),
        ],
    )
    def test_wrong_commands(self, tmp_path, words, message):
        assert message in run("plot", *words, code=2).output
        assert not (tmp_path / "map.png").exists()

    def test_parameters_of_learning_mean_nothing_to_a_saved_model(self, tmp_path):
        model = saved(tmp_path)
        assert "--dimensions is for learning" in run("plot", model, "-o", "map.png", "--dimensions", "8", code=2).output

    def test_an_unknown_feature(self, tmp_path):
        model = saved(tmp_path)
        assert "no feature 'tea'" in run("plot", model, "-o", "map.png", "--feature", "tea", code=1).output

    def test_nothing_is_written_over_what_is_read(self, tmp_path):
        (tmp_path / "model.png").write_bytes(b"")
        run("plot", "model.png", "-o", "model.png", code=2)

    def test_without_matplotlib_nothing_is_learnt(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "matplotlib", None)
        monkeypatch.setattr(MUSAE, "fit", lambda *_: pytest.fail("learnt in vain"))
        for command in (("plot", "-o", "map.png"), ("report", "-o", "report.html")):
            assert "hopscale[plots]" in run(*command, "--graph", "figure1", code=1).output


class TestReport:
    def test_files_with_labels(self, tmp_path):
        words = ("--edges", "edges.csv", "--features", "features.json", "--labels", "labels.csv", "--dimensions", "16")
        run("report", *words, "-o", "report.html", "--method", "pca")
        page = (tmp_path / "report.html").read_text()
        assert "labels are &#x27;block&#x27;" in page  # what was understood of the file
        assert "hopscale report --edges edges.csv --features features.json --labels labels.csv" in page
        assert "micro-F1 of the commonest class" in page

    def test_a_saved_model_without_labels_as_markdown(self, tmp_path):
        model = saved(tmp_path, more=("--keep-graph",))
        found = run("report", model, "-o", "report.md", "--method", "pca", "--title", "Mine", "--json", "-q")
        assert len(json.loads(found.stdout)["files"]) == 2
        text = (tmp_path / "report.md").read_text()
        assert text.startswith("# Mine")
        assert "## Features of clusters" in text
        assert "(exact)" in text

    def test_a_model_and_a_graph_whose_nodes_have_another_order(self, tmp_path):
        model = saved(tmp_path)
        lines = (tmp_path / "edges.csv").read_text().splitlines()
        (tmp_path / "other.csv").write_text("\n".join(lines[::-1]) + "\n")
        words = ("--features", "features.json", "--labels", "labels.csv", "-o")
        run("report", model, "--edges", "edges.csv", *words, "one.md", "--method", "pca")
        run("report", model, "--edges", "other.csv", *words, "two.md", "--method", "pca")
        parts = [(tmp_path / name).read_text().split("## Map")[1].split("## How")[0] for name in ("one.md", "two.md")]
        assert parts[0] == parts[1].replace("two-figures", "one-figures")

    def test_values(self, tmp_path):
        rows = "".join(f"n{v},{v / 7}\n" for v in range(90))
        (tmp_path / "ages.csv").write_text("id,age\n" + rows)
        words = ("--edges", "edges.csv", "--features", "features.json", "--labels", "ages.csv")
        run("report", *words, "-o", "report.html", "--method", "pca", "--dimensions", "16")
        assert "R² of the mean" in (tmp_path / "report.html").read_text()

    def test_wrong_commands(self):
        assert ".html" in run("report", "--graph", "figure1", "-o", "report.txt", code=2).output
        assert "give a saved MODEL" in run("report", "-o", "report.html", code=2).output


def facts(path):
    """What the explorer's page says of itself."""
    return json.loads(re.search(r'id="facts">(.*?)</script>', path.read_text())[1])


class TestExplore:
    def test_a_graph_with_labels_of_a_named_column(self, tmp_path):
        words = ("--edges", "edges.csv", "--features", "features.json", "--labels", "labels.csv", "--dimensions", "16")
        run("explore", *words, "--label-column", "block", "-o", "map.html", "--method", "pca", "--scale", "all,1")
        found = facts(tmp_path / "map.html")
        assert (found["title"], found["nNodes"]) == ("edges", 90)
        assert [each["label"] for each in found["maps"]] == ["all", "1"]
        assert [each["name"] for each in found["colorings"]] == ["block", "Cluster", "Number of neighbours"]
        assert found["colorings"][0]["classes"] == ["block 0", "block 1", "block 2"]

    def test_a_model_without_its_graph_needs_no_matplotlib(self, tmp_path, monkeypatch):
        monkeypatch.setitem(sys.modules, "matplotlib", None)
        model = saved(tmp_path)
        found = run("explore", model, "-o", "map.html", "--method", "pca", "--title", "Mine", "--json", "-q")
        assert json.loads(found.stdout)["nodes"] == 90
        shown = facts(tmp_path / "map.html")
        assert (shown["title"], [each["name"] for each in shown["colorings"]]) == ("Mine", ["Cluster"])

    @pytest.mark.parametrize("name", ["map.png", "map", "-"])
    def test_a_page_has_the_name_of_one(self, name, monkeypatch):
        monkeypatch.setattr(MUSAE, "fit", lambda *_: pytest.fail("learnt in vain"))
        assert "a page is written as .html" in run("explore", "--graph", "figure1", "-o", name, code=2).output

    def test_nothing_is_written_over_what_is_read(self, tmp_path):
        (tmp_path / "model.html").write_bytes(b"")
        run("explore", "model.html", "-o", "model.html", code=2)
