"""``hopscale classify``, ``regress`` and ``predict``: from files with labels to tables of predictions."""

import csv
import json
import os
import signal
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from command_line import answer, refused, run, succeeded

from hopscale import AE, MUSAE, DeepWalk, GraphClassifier, GraphRegressor, load_model, read_graph
from hopscale.datasets import planted_blocks

NAMES = ["north", 'so"uth, or so', "west"]
QUICK = ["--dimensions", 16, "--folds", 3, "-q"]


def write_graph(folder, stem, graph, ids=None):
    """Edges and features of a graph as files."""
    ids = range(graph.n_nodes) if ids is None else ids
    edges = np.argwhere(np.triu(graph.adjacency.toarray()))
    (folder / f"{stem}edges.csv").write_text("from,to\n" + "".join(f"{ids[u]},{ids[v]}\n" for u, v in edges))
    rows = {str(ids[v]): np.flatnonzero(row).tolist() for v, row in enumerate(graph.features.toarray())}
    (folder / f"{stem}features.json").write_text(json.dumps(rows))


def write_labels(path, labels):
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([["id", "label"], *labels])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Files of a graph of which every other node has a label, and of another graph."""
    folder = tmp_path_factory.mktemp("labelled")
    graph = planted_blocks(n_nodes=90, n_features=30)
    write_graph(folder, "", graph)
    write_graph(folder, "new-", planted_blocks(n_nodes=60, n_features=30, random_state=1))
    blocks = graph.labels.tolist()
    write_labels(folder / "names.csv", [(v, NAMES[blocks[v]]) for v in range(0, 90, 2)])
    write_labels(folder / "codes.csv", [(v, blocks[v]) for v in range(0, 90, 2)])
    write_labels(folder / "values.csv", [(v, blocks[v] + v / 1000) for v in range(0, 90, 2)])
    write_labels(folder / "all.csv", [(v, NAMES[blocks[v]]) for v in range(90)])
    return folder


@pytest.fixture(scope="module")
def model(folder, tmp_path_factory):
    """A saved classifier."""
    path = tmp_path_factory.mktemp("models") / "m.safetensors"
    labels = ["--labels", folder / "names.csv", "--head", "logistic"]
    succeeded("classify", *graph_of(folder), *labels, "--save", path, *QUICK)
    return path


def graph_of(folder, stem=""):
    return ["--edges", folder / f"{stem}edges.csv", "--features", folder / f"{stem}features.json"]


def rows_of(path):
    with path.open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    return header, rows


def fitted(folder, labels="names.csv", kind=GraphClassifier):
    graph = read_graph(folder / "edges.csv", folder / "features.json", folder / labels)
    return kind(embedder=AE(16), folds=3).fit(graph), graph


class TestClassify:
    def test_predictions_are_those_of_the_model(self, folder, tmp_path):
        succeeded("classify", *graph_of(folder), "--labels", folder / "names.csv", "-o", tmp_path / "p.csv", *QUICK)
        header, rows = rows_of(tmp_path / "p.csv")
        assert header == ["id", "prediction", "probability", *(f"p_{name}" for name in NAMES)]
        model, _ = fitted(folder)
        assert [row[0] for row in rows] == [str(v) for v in range(1, 90, 2)]
        assert [row[1] for row in rows] == model.predict()[1::2].tolist()
        expected = model.predict_proba()[1::2]
        found = np.array([row[2:] for row in rows], dtype=float)
        np.testing.assert_allclose(found[:, 1:], expected, rtol=1e-8)
        np.testing.assert_allclose(found[:, 0], expected.max(axis=1), rtol=1e-8)

    def test_training_nodes_are_written_when_asked_for(self, folder, tmp_path):
        labels = ["--labels", folder / "names.csv"]
        succeeded("classify", *graph_of(folder), *labels, "-o", tmp_path / "p.csv", "--all", *QUICK)
        header, rows = rows_of(tmp_path / "p.csv")
        assert header[:3] == ["id", "label", "prediction"]
        assert len(rows) == 90
        given = dict(rows_of(folder / "names.csv")[1])
        assert [row[1] for row in rows] == [given.get(str(v), "") for v in range(90)]

    def test_whole_numbers_stay_whole(self, folder, tmp_path):
        """Nodes without a label make the others' numbers floats."""
        succeeded("classify", *graph_of(folder), "--labels", folder / "codes.csv", "-o", tmp_path / "p.csv", *QUICK)
        header, rows = rows_of(tmp_path / "p.csv")
        assert header[3:] == ["p_0", "p_1", "p_2"]
        assert {row[1] for row in rows} == {"0", "1", "2"}

    def test_formats(self, folder, tmp_path):
        arguments = ["classify", *graph_of(folder), "--labels", folder / "names.csv", *QUICK]
        for name in ("p.csv", "p.tsv", "p.parquet"):
            succeeded(*arguments, "-o", tmp_path / name)
        expected = pd.read_csv(tmp_path / "p.csv")
        pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "p.tsv", sep="\t"), expected)
        pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "p.parquet"), expected, rtol=1e-8)
        result = succeeded(*arguments[:-1], "-o", "-")  # not quiet
        assert result.stdout.splitlines() == (tmp_path / "p.csv").read_text().splitlines()
        assert "accuracy" in result.stderr
        succeeded(*arguments, "-o", tmp_path / "p", "--format", "tsv")
        assert (tmp_path / "p").read_bytes() == (tmp_path / "p.tsv").read_bytes()
        assert "in which format predictions are" in refused(*arguments, "-o", tmp_path / "p.xyz", code=2)
        assert "npz" in refused(*arguments, "-o", tmp_path / "p.npz", "--format", "npz", code=2)

    def test_labels_of_all_nodes_in_parquet(self, folder, tmp_path):
        arguments = ["classify", *graph_of(folder), "--labels", folder / "codes.csv", "--all", *QUICK]
        succeeded(*arguments, "-o", tmp_path / "p.parquet")
        frame = pd.read_parquet(tmp_path / "p.parquet")
        assert frame.label.isna().sum() == 45
        assert (frame.label.dropna() == frame.prediction[frame.label.notna()]).mean() > 0.9

    def test_report(self, folder):
        arguments = ["classify", *graph_of(folder), "--labels", folder / "names.csv", *QUICK]
        document = answer(*arguments)
        model, _ = fitted(folder)
        report = model.report_
        assert document["metric"] == "accuracy"
        assert document["score"] == report.chosen.score
        assert document["baseline"] == report.baseline == 15 / 45
        assert document["chosen"]["head"] == report.chosen.head
        assert len(document["candidates"]) == len(report.candidates)
        assert (document["nodes"], document["training_nodes"], document["folds"]) == (90, 45, 3)
        assert {each["class"]: each["training_nodes"] for each in document["classes"]} == dict.fromkeys(NAMES, 15)
        assert sum(each["nodes"] for each in document["predictions"]) == 45
        lines = dict(line.split("  ", 1) for line in succeeded(*arguments).stdout.splitlines())
        assert lines["accuracy"].split()[0] == f"{report.chosen.score:.4f}"
        assert lines["commonest class"].split()[0] == "0.3333"
        assert lines["chosen"].strip() == str(report.chosen)

    def test_table_of_what_was_tried_goes_to_the_error_stream(self, folder):
        result = succeeded("classify", *graph_of(folder), "--labels", folder / "names.csv", "--folds", 3)
        assert "<- chosen" in result.stderr
        assert "without learning" in result.stderr
        assert "<- chosen" not in result.stdout

    def test_options_reach_the_model(self, folder, tmp_path):
        given = ["--inputs", "both", "--head", "kernel", "--no-smooth", "--folds", 4, "--landmarks", 11]
        given += ["--model", "musae", "--window", 2, "--dimensions", 9, "--random-state", 3, "--n-jobs", 1]
        labels = ["--labels", folder / "names.csv"]
        succeeded("classify", *graph_of(folder), *labels, *given, "--save", tmp_path / "m", "-q")
        model = load_model(tmp_path / "m")
        assert (model.inputs, model.head, model.smooth, model.folds, model.landmarks) == (
            "both",
            "kernel",
            False,
            4,
            11,
        )
        assert (model.random_state, model.n_jobs, model.verbose) == (3, 1, False)
        assert isinstance(model.embedder_, MUSAE)
        assert (model.embedder_.window, model.embedder_.dimensions, model.embedder_.random_state) == (2, 9, 3)
        assert not model.report_.chosen.smoothing

    def test_there_is_an_option_for_every_parameter(self):
        from hopscale.cli.commands import hopscale as program

        for command, kind in (("classify", GraphClassifier), ("regress", GraphRegressor)):
            options = {option.name for option in program.get_command(None, command).params}
            assert set(kind().get_params(deep=False)) - {"verbose", "embedder"} <= options

    def test_without_features(self, folder, tmp_path):
        edges = ["--edges", folder / "edges.csv"]
        result = succeeded("classify", *edges, "--labels", folder / "names.csv", "--save", tmp_path / "m", *QUICK[:-1])
        assert "of this graph alone, as DeepWalk cannot embed others" in result.stdout
        assert isinstance(load_model(tmp_path / "m").embedder_, DeepWalk)
        assert "DeepWalk cannot embed other nodes" in refused(
            "predict", tmp_path / "m", "--edges", folder / "new-edges.csv", "-o", tmp_path / "p.csv"
        )
        succeeded("predict", tmp_path / "m", "-o", tmp_path / "p.csv")

    def test_a_node_table_with_the_label(self, tmp_path):
        random = np.random.default_rng(0)
        town = random.choice(["Bonn", "Oslo", "Rome"], 60)
        team = [("red" if each == "Rome" else "blue") if i % 3 else "" for i, each in enumerate(town)]
        lines = [f"m{i},{town[i]},{20 + i % 7},{team[i]}\n" for i in range(60)]
        (tmp_path / "people.csv").write_text("member,town,age,team\n" + "".join(lines))
        (tmp_path / "new.csv").write_text("member,town,age\nx1,Rome,21\nx2,Oslo,23\n")
        pairs = random.integers(0, 60, (200, 2))
        (tmp_path / "edges.csv").write_text("a,b\n" + "".join(f"m{u},m{v}\n" for u, v in pairs))
        (tmp_path / "new-edges.csv").write_text("source,target\nx1,x2\n")
        arguments = ["--edges", tmp_path / "edges.csv", "--nodes", tmp_path / "people.csv", "--label-column", "team"]
        succeeded("classify", *arguments, "--inputs", "features", "--save", tmp_path / "m", "-q")
        new = ["--edges", tmp_path / "new-edges.csv", "--nodes", tmp_path / "new.csv", "--header"]
        succeeded("predict", tmp_path / "m", *new, "-o", tmp_path / "p.csv", "-q")
        _, rows = rows_of(tmp_path / "p.csv")
        assert [row[:2] for row in rows] == [["x1", "red"], ["x2", "blue"]]


class TestOddLabels:
    @pytest.fixture
    def labels(self, tmp_path):
        return tmp_path / "labels.csv"

    def classify(self, folder, labels, *more):
        return ["classify", *graph_of(folder), "--labels", labels, *QUICK, *more]

    def test_values_are_not_classes(self, folder, tmp_path):
        message = refused(*self.classify(folder, folder / "values.csv", "-o", tmp_path / "p.csv"))
        assert "look like values" in message
        assert "hopscale regress" in message
        assert not list(tmp_path.iterdir())

    def test_many_whole_numbers_are_not_classes(self, folder, labels):
        write_labels(labels, [(v, 1000 + v) for v in range(80)])
        assert "80 different whole numbers on 80 labelled nodes" in refused(*self.classify(folder, labels))
        assert "no classes" in refused(*self.classify(folder, labels, "--classes"))

    def test_numbers_that_are_classes_all_the_same(self, folder, labels):
        write_labels(labels, [(v, 100 + v % 25) for v in range(80)])
        refused(*self.classify(folder, labels))
        document = answer(*self.classify(folder, labels, "--classes"))
        assert len(document["classes"]) == 25

    def test_no_labels_at_all(self, folder):
        assert "nothing to learn from: give --labels" in refused("classify", *graph_of(folder), code=2)

    def test_none_of_the_nodes_has_one(self, folder, labels):
        write_labels(labels, [(v, "") for v in range(90)])
        assert "no node has a label" in refused(*self.classify(folder, labels))

    def test_one_class(self, folder, labels):
        write_labels(labels, [(v, "same") for v in range(40)])
        assert "all 40 labelled nodes are of class 'same'" in refused(*self.classify(folder, labels))

    def test_three_nodes(self, folder, labels):
        write_labels(labels, [(0, "a"), (1, "b"), (2, "b")])
        assert "3 training nodes, and 4 are needed" in refused(*self.classify(folder, labels))

    def test_all_nodes_have_one(self, folder, tmp_path):
        arguments = self.classify(folder, folder / "all.csv")
        message = refused(*arguments, "-o", tmp_path / "p.csv")
        assert "all 90 nodes have a label: there is nothing to predict" in message
        assert not (tmp_path / "p.csv").exists()
        assert "accuracy" in succeeded(*arguments).stdout
        succeeded(*arguments, "-o", tmp_path / "p.csv", "--all")
        assert len(rows_of(tmp_path / "p.csv")[1]) == 90
        succeeded(*arguments, "--save", tmp_path / "m")
        assert "all 90 nodes of the fit are training nodes" in refused("predict", tmp_path / "m", "-o", "-")

    def test_ids_that_no_node_has(self, folder, labels):
        given = rows_of(folder / "names.csv")[1]
        write_labels(labels, [*given, ("nobody", "north")])
        result = succeeded(*self.classify(folder, labels))
        assert "'nobody'" in result.stderr
        assert "training nodes" in result.stdout

    def test_a_class_with_one_node(self, folder, labels, tmp_path):
        given = rows_of(folder / "names.csv")[1]
        write_labels(labels, [*given, (1, "alone")])
        succeeded(*self.classify(folder, labels, "-o", tmp_path / "p.csv"))
        header, rows = rows_of(tmp_path / "p.csv")
        assert "p_alone" in header
        assert all(abs(sum(map(float, row[3:])) - 1) < 1e-6 for row in rows)


class TestRefusals:
    @pytest.mark.parametrize(
        ("options", "message"),
        [
            (["--folds", 1], "--folds"),
            (["--folds", "x"], "--folds"),
            (["--landmarks", 0], "--landmarks"),
            (["--head", "elastic-net"], "--head"),
            (["--inputs", "all"], "--inputs"),
            (["--inputs", "features", "--dimensions", 8], "--dimensions means nothing to --inputs features"),
            (["--inputs", "features", "--model", "ae"], "--model means nothing to --inputs features"),
            (["--epochs", 3], "--epochs"),
            (["--n-jobs", 0], "--n-jobs"),
            (["--all"], "--all is for the predictions"),
            (["--json", "-o", "-"], "--json and a table"),
            (["--random-state", "x"], "--random-state"),
        ],
    )
    def test_commands_that_make_no_sense(self, folder, options, message):
        labels = ["--labels", folder / "names.csv"]
        assert message in refused("classify", *graph_of(folder), *labels, *options, code=2)

    def test_an_output_that_is_read_from(self, folder):
        arguments = ["classify", *graph_of(folder), "--labels", folder / "names.csv"]
        before = (folder / "names.csv").read_bytes()
        assert "is read from" in refused(*arguments, "-o", folder / "names.csv", code=2)
        assert "is read from" in refused(*arguments, "--save", folder / "names.csv", code=2)
        assert (folder / "names.csv").read_bytes() == before

    def test_an_output_that_cannot_be_written(self, folder, tmp_path, monkeypatch):
        monkeypatch.setattr(GraphClassifier, "fit", lambda *_, **__: pytest.fail("work was done first"))
        arguments = ["classify", *graph_of(folder), "--labels", folder / "names.csv"]
        assert "no folder" in refused(*arguments, "-o", tmp_path / "none" / "p.csv")
        assert "no folder" in refused(*arguments, "--save", tmp_path / "none" / "m")

    def test_a_failure_leaves_what_was_there(self, folder, tmp_path, monkeypatch):
        (tmp_path / "p.csv").write_text("before")

        def fail(*_, **__):
            raise MemoryError

        monkeypatch.setattr(GraphClassifier, "_learn", fail)
        labels = ["--labels", folder / "names.csv", "-o", tmp_path / "p.csv", "--save", tmp_path / "m", "-q"]
        assert "not enough memory" in refused("classify", *graph_of(folder), *labels)
        assert [file.name for file in tmp_path.iterdir()] == ["p.csv"]
        assert (tmp_path / "p.csv").read_text() == "before"

    def test_an_interruption_leaves_nothing(self, folder, tmp_path):
        program = (
            "import os, signal, sys, threading\n"
            "from hopscale import GraphClassifier\n"
            "from hopscale.cli import main\n"
            "def stopped(*_, **__):\n"
            "    os.kill(os.getpid(), number)\n"
            "    threading.Event().wait(60)\n"
            "number, GraphClassifier._learn = int(sys.argv.pop(1)), stopped\n"
            "main()\n"
        )
        arguments = ["classify", *graph_of(folder), "--labels", folder / "names.csv", "-o", tmp_path / "p.csv", "-q"]
        for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
            command = [sys.executable, "-c", program, str(int(number)), *map(str, arguments)]
            done = subprocess.run(
                command, capture_output=True, text=True, check=False, timeout=60, env=dict(os.environ)
            )
            assert done.returncode == code, done.stderr
            assert "Traceback" not in done.stderr
        assert not list(tmp_path.iterdir())


class TestRegress:
    def test_predictions_are_those_of_the_model(self, folder, tmp_path):
        labels = ["--labels", folder / "values.csv", "-o", tmp_path / "p.csv"]
        document = answer("regress", *graph_of(folder), *labels, *QUICK)
        model, _ = fitted(folder, "values.csv", GraphRegressor)
        header, rows = rows_of(tmp_path / "p.csv")
        assert header == ["id", "prediction"]
        np.testing.assert_allclose([float(row[1]) for row in rows], model.predict()[1::2], rtol=1e-8)
        assert document["metric"] == "r2"
        assert document["score"] == model.report_.chosen.score
        assert document["baseline"] == 0.0
        assert document["predictions"]["largest"] == model.predict()[1::2].max()

    def test_training_nodes_are_written_when_asked_for(self, folder, tmp_path):
        labels = ["--labels", folder / "values.csv", "--all", *QUICK]
        for name in ("p.csv", "p.parquet"):
            succeeded("regress", *graph_of(folder), *labels, "-o", tmp_path / name)
        _, rows = rows_of(tmp_path / "p.csv")
        assert [row[1] == "" for row in rows] == [bool(v % 2) for v in range(90)]
        assert pd.read_parquet(tmp_path / "p.parquet").label.isna().sum() == 45

    def test_text_is_refused(self, folder):
        message = refused("regress", *graph_of(folder), "--labels", folder / "names.csv", "-q")
        assert "labels must be numbers for a regression" in message

    def test_the_mean_is_shown_beside_the_score(self, folder):
        result = succeeded("regress", *graph_of(folder), "--labels", folder / "values.csv", *QUICK)
        lines = result.stdout.splitlines()
        assert any(line.startswith("R²") for line in lines)
        assert "R² of the mean      0.0000" in lines
        values = pd.read_csv(folder / "values.csv").iloc[:, 1]
        assert any(f"mean {values.mean():.6g}, deviation {values.std(ddof=0):.6g}" in line for line in lines)


class TestPredict:
    def test_another_graph(self, folder, model, tmp_path):
        document = answer("predict", model, *graph_of(folder, "new-"), "-o", tmp_path / "p.csv")
        other = read_graph(folder / "new-edges.csv", folder / "new-features.json")
        expected = load_model(model).predict_proba(other)
        header, rows = rows_of(tmp_path / "p.csv")
        assert header == ["id", "prediction", "probability", *(f"p_{name}" for name in NAMES)]
        assert [row[0] for row in rows] == [str(node) for node in other.node_ids.tolist()]
        np.testing.assert_allclose(np.array([row[3:] for row in rows], dtype=float), expected, rtol=1e-8)
        assert document["nodes"] == len(rows)

    def test_the_nodes_of_the_fit(self, folder, model, tmp_path):
        labels = ["--labels", folder / "names.csv", "--head", "logistic"]
        succeeded("classify", *graph_of(folder), *labels, "-o", tmp_path / "p.csv", *QUICK)
        succeeded("predict", model, "-o", tmp_path / "again.csv")
        assert (tmp_path / "again.csv").read_bytes() == (tmp_path / "p.csv").read_bytes()
        succeeded("predict", model, "-o", tmp_path / "all.csv", "--all")
        assert len(rows_of(tmp_path / "all.csv")[1]) == 90

    def test_the_graph_of_the_fit_is_known_again(self, folder, model, tmp_path):
        for more in ([], ["--all"]):
            succeeded("predict", model, *graph_of(folder), "-o", tmp_path / "p.csv", "-q", *more)
            succeeded("predict", model, "-o", tmp_path / "same.csv", "-q", *more)
            assert (tmp_path / "p.csv").read_bytes() == (tmp_path / "same.csv").read_bytes()
        assert len(rows_of(tmp_path / "p.csv")[1]) == 90

    def test_another_graph_is_said_to_be_predicted_without_smoothing(self, folder, model, tmp_path):
        result = succeeded("predict", model, *graph_of(folder, "new-"), "-o", tmp_path / "p.csv")
        is_smoothed = bool(load_model(model).report_.chosen.smoothing)
        assert ("are predicted without smoothing" in result.stderr) == is_smoothed
        assert "--all is for the graph of the fit" in refused(
            "predict", model, *graph_of(folder, "new-"), "-o", tmp_path / "p.csv", "--all", code=2
        )

    def test_values(self, folder, tmp_path):
        succeeded("regress", *graph_of(folder), "--labels", folder / "values.csv", "--save", tmp_path / "m", *QUICK)
        succeeded("predict", tmp_path / "m", *graph_of(folder, "new-"), "-o", tmp_path / "p.tsv", "-q")
        other = read_graph(folder / "new-edges.csv", folder / "new-features.json")
        found = pd.read_csv(tmp_path / "p.tsv", sep="\t")
        np.testing.assert_allclose(found.prediction, load_model(tmp_path / "m").predict(other), rtol=1e-8)

    def test_what_makes_no_sense(self, folder, model, tmp_path):
        new = graph_of(folder, "new-")
        assert "--all is for the graph of the fit" in refused("predict", model, *new, "--all", "-o", "-", code=2)
        assert "is read from" in refused("predict", model, "-o", model, "--format", "csv", code=2)
        assert "--output" in refused("predict", model, code=2)
        refused("predict", model, *new, "-o", "-", "--n-jobs", 0, code=2)
        assert "none.safetensors" in refused("predict", tmp_path / "none.safetensors", "-o", "-")

    def test_a_model_without_labels(self, folder, tmp_path):
        succeeded("embed", *graph_of(folder), "--save", tmp_path / "m", "--dimensions", 8, "-q")
        assert "has seen no labels" in refused("predict", tmp_path / "m", "-o", "-")
        assert "is no hopscale model; classify --save writes one" in refused(
            "predict", folder / "names.csv", "-o", tmp_path / "p.csv"
        )

    @pytest.mark.parametrize("command", [["neighbors", 7], ["clusters", 2], ["suggest-links", 7]])
    def test_commands_for_vectors_refuse_it(self, model, command):
        name, *rest = command
        assert "is a GraphClassifier, which predicts" in refused(name, model, *rest)

    def test_info(self, model):
        document = answer("info", model)
        assert document["kind"] == "predictor"
        assert (document["model"], document["nodes"], document["classes"]) == ("GraphClassifier", 90, 3)
        assert document["accuracy"] == load_model(model).report_.chosen.score
        assert "commonest class" in succeeded("info", model).stdout


class TestExplain:
    def test_evidence_adds_up(self, folder, tmp_path):
        labels = ["--labels", folder / "names.csv", "--head", "logistic", "--inputs", "both"]
        succeeded("classify", *graph_of(folder), *labels, "--save", tmp_path / "m", *QUICK)
        document = answer("explain", tmp_path / "m", 7, *graph_of(folder), "-k", 3)
        assert len(document["parts"]) == 3
        parts = sum(part["evidence"] for part in document["parts"]) + document["other_parts"]["evidence"]
        assert parts + document["intercept"] + document["unexplained"] == pytest.approx(document["score"], abs=1e-9)
        graph = read_graph(folder / "edges.csv", folder / "features.json")
        expected = load_model(tmp_path / "m").explain_prediction(7, graph=graph)
        assert document["prediction"] == expected.prediction
        assert [part["feature"] for part in document["parts"]] == [feature for feature, *_ in expected.parts[:3]]
        lines = succeeded("explain", tmp_path / "m", 7, *graph_of(folder), "-k", 3, "-q").stdout.splitlines()
        assert lines[0].startswith(f"{expected.prediction}, probability ")
        assert lines[-1].split()[-1] == f"{expected.score:+.4f}"

    def test_needs_the_graph(self, folder, tmp_path):
        labels = ["--labels", folder / "names.csv", "--head", "logistic", "--inputs", "vectors"]
        succeeded("classify", *graph_of(folder), *labels, "--save", tmp_path / "m", *QUICK)
        assert "from the graph: give --edges" in refused("explain", tmp_path / "m", 7, code=2)
        assert "--scale is for vectors" in refused(
            "explain", tmp_path / "m", 7, "--scale", 1, *graph_of(folder), code=2
        )
        succeeded("classify", *graph_of(folder), *labels, "--save", tmp_path / "m", "--keep-graph", *QUICK)
        assert answer("explain", tmp_path / "m", 7)["node"] == 7

    def test_heads_that_are_not_linear(self, folder, tmp_path):
        labels = ["--labels", folder / "names.csv", "--head", "kernel"]
        succeeded("classify", *graph_of(folder), *labels, "--save", tmp_path / "m", *QUICK)
        message = run("explain", tmp_path / "m", 7, *graph_of(folder))
        assert message.exit_code == 2
        assert "--head logistic" in message.stderr
