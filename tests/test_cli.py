"""The command line: answers, exit codes, and nothing half-written whatever happens."""

import csv
import json
import os
import signal
import subprocess
import sys
from itertools import count
from types import SimpleNamespace

import numpy as np
import pytest
from click.testing import CliRunner

from hopscale import AE, MUSAE, PMI, SGNS, DeepWalk, __version__, from_edges, load, load_model
from hopscale.cli.commands import hopscale as main
from hopscale.cli.options import MODELS
from hopscale.cli.wording import as_option
from hopscale.datasets import erdos_renyi, figure1, planted_blocks
from hopscale.exceptions import HopscaleError, HopscaleWarning
from hopscale.io.vectors import vector_format

HOPSCALE = [sys.executable, "-m", "hopscale"]


def run(*arguments):
    return CliRunner().invoke(main, list(map(str, arguments)))


def succeeded(*arguments):
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    return result


def answer(*arguments):
    """The JSON document, which must be all there is on standard output."""
    return json.loads(succeeded(*arguments, "--json").stdout)


def refused(*arguments, code=1):
    """The one line of a refusal."""
    result = run(*arguments)
    assert result.exit_code == code, result.output
    assert result.stdout == ""
    assert "Traceback" not in result.stderr
    if code == 1:
        assert result.stderr.count("\n") == 1
        assert result.stderr.startswith("hopscale: ")
    return result.stderr


def vectors_in(path):
    with path.open(encoding="utf-8", newline="") as file:
        _, *rows = csv.reader(file)
    return [row[0] for row in rows], np.array([row[1:] for row in rows], dtype=np.float32)


@pytest.fixture(scope="session")
def blocks(tmp_path_factory):
    """A graph with labels as the files that people have."""
    folder = tmp_path_factory.mktemp("blocks")
    graph = planted_blocks(n_nodes=90, n_features=30)
    edges = np.argwhere(np.triu(graph.adjacency.toarray()))
    (folder / "edges.csv").write_text("id_1,id_2\n" + "".join(f"{u},{v}\n" for u, v in edges))
    features = {str(v): np.flatnonzero(graph.features.toarray()[v]).tolist() for v in range(graph.n_nodes)}
    (folder / "features.json").write_text(json.dumps(features))
    (folder / "labels.csv").write_text("id,block\n" + "".join(f"{v},{b}\n" for v, b in enumerate(graph.labels)))
    F = graph.features
    np.savez(
        folder / "graph.npz",
        edges=edges,
        n_nodes=90,
        n_features=30,
        feature_indptr=F.indptr,
        feature_indices=F.indices,
        target=graph.labels,
    )
    return folder


@pytest.fixture
def inputs(blocks):
    return ["--edges", blocks / "edges.csv", "--features", blocks / "features.json"]


@pytest.fixture(scope="session")
def model(tmp_path_factory):
    """A saved model of the toy graph, whose nodes have names."""
    path = tmp_path_factory.mktemp("model") / "figure1.safetensors"
    MUSAE(8).fit(figure1()).save(path)
    return path


class TestEmbed:
    def test_vectors_are_those_of_the_model(self, tmp_path, blocks, inputs):
        succeeded("embed", *inputs, "-o", tmp_path / "v.csv", "--dimensions", 16, "--save", tmp_path / "m.safetensors")
        ids, vectors = vectors_in(tmp_path / "v.csv")
        assert ids == list(map(str, range(90)))
        expected = MUSAE(16).fit(blocks / "graph.npz").embedding_
        np.testing.assert_allclose(np.abs(vectors), np.abs(expected), atol=1e-5)
        np.testing.assert_array_equal(load_model(tmp_path / "m.safetensors").embedding_, vectors)

    def test_graph_file_and_feature_vectors(self, tmp_path, blocks):
        succeeded("embed", "--graph", blocks / "graph.npz", "--feature-output", tmp_path / "h.csv", "--dimensions", 8)
        model = MUSAE(8).fit(blocks / "graph.npz")
        np.testing.assert_array_equal(vectors_in(tmp_path / "h.csv")[1], model.feature_embedding_)

    @pytest.mark.parametrize("name", MODELS)
    def test_every_model(self, tmp_path, inputs, name):
        document = answer("embed", *inputs, "-o", tmp_path / "v.parquet", "--model", name, "--dimensions", 8)
        assert document["model"].lower() == name
        assert (document["nodes"], document["dimensions"]) == (90, 8)
        assert document["output"] == str(tmp_path / "v.parquet")
        assert (tmp_path / "v.parquet").exists()

    def test_there_is_an_option_for_every_parameter_of_every_model(self):
        kinds = [*MODELS.values(), PMI, SGNS]
        parameters = {name for kind in kinds for name in kind().get_params(deep=False)}
        options = {option.name: option for option in main.get_command(None, "embed").params}
        assert parameters - {"verbose"} <= set(options)
        assert all(options[name].help for name in parameters - {"verbose"})

    def test_options_reach_the_model(self, tmp_path, inputs):
        given = {
            "dimensions": 12,
            "window": 2,
            "self_scale": False,
            "ego": True,
            "solver": "sgns",
            "walk_length": 9,
            "walks_per_node": 2,
            "start": "node",
            "epochs": 1,
            "negatives": 3,
            "share_negatives": False,
            "noise_exponent": 0.75,
            "subsample": 0.01,
            "learning_rate": 0.04,
            "min_learning_rate": 0.01,
            "n_jobs": 2,
            "random_state": 5,
        }
        own = {"dimensions", "window", "self_scale", "ego", "n_jobs", "random_state"}
        flags = []
        for name, value in given.items():
            word = name.replace("_", "-")
            flags += [f"--{word}" if value else f"--no-{word}"] if isinstance(value, bool) else [f"--{word}", value]
        succeeded("embed", *inputs, "--save", tmp_path / "m", "--model", "ae", *flags)
        again = load_model(tmp_path / "m")
        assert type(again) is AE
        expected = {name if name in own else f"solver__{name}": given[name] for name in given if name != "solver"}
        found = again.get_params()
        assert isinstance(found.pop("solver"), SGNS)
        assert found == {**expected, "verbose": False, "keep_graph": False}
        direct = {
            "shift": 2.0,
            "rows": "exact",
            "walks": 50,
            "memory_limit": "1GiB",
            "noise_exponent": 0.5,
            "power": 0.5,
        }
        flags = [word for name, value in direct.items() for word in (f"--{name.replace('_', '-')}", value)]
        succeeded("embed", *inputs, "--save", tmp_path / "m", "--dimensions", 8, *flags)
        assert load_model(tmp_path / "m").solver.get_params() == direct

    def test_labels_are_scored_beside_the_baseline(self, tmp_path, blocks, inputs):
        document = answer("embed", *inputs, "--labels", blocks / "labels.csv", "-o", tmp_path / "v.npz")
        scores = {metric: row["mean"] for metric, row in document["scores"].items()}
        assert scores["micro_f1"] > 0.8 > 0.5 > scores["majority_micro_f1"]
        result = succeeded("embed", "--graph", blocks / "graph.npz", "-o", tmp_path / "v.npz", "--score")
        assert "majority_micro_f1" in result.stdout
        assert "scored as classification: 3 different whole numbers on 90 labelled nodes" in result.stderr
        assert "--task regression" in result.stderr
        assert answer("embed", *inputs, "-o", tmp_path / "v.npz")["scores"] is None

    def test_scores_are_an_answer_even_when_quiet(self, tmp_path, blocks, inputs):
        scored = [*inputs, "--labels", blocks / "labels.csv", "-o", tmp_path / "v.npz", "--dimensions", 8]
        result = succeeded("embed", *scored, "-q")
        assert result.stderr == ""
        assert [line.split()[0] for line in result.stdout.splitlines()] == [
            "micro_f1",
            "macro_f1",
            "roc_auc",
            "majority_micro_f1",
        ]

    def test_scoring_takes_no_longer_than_embedding_unless_asked(self, tmp_path, blocks, inputs, monkeypatch):
        scored = [*inputs, "--labels", blocks / "labels.csv", "-o", tmp_path / "v.npz", "--dimensions", 8]
        everything = answer("embed", *scored)
        assert everything["splits"] == 10
        for seconds, taken in ((0.9, 2), (60, 1)):
            ticks = count()
            clock = SimpleNamespace(perf_counter=lambda ticks=ticks, tick=seconds: tick * next(ticks))
            monkeypatch.setattr("hopscale.tasks.scoring.time", clock)
            document = answer("embed", *scored)
            assert document["splits"] == taken
            result = succeeded("embed", *scored)
            assert f"{taken} of 10 splits (all would take" in result.stderr
            assert "; --splits 10 takes them)" in result.stderr
            assert result.stdout.count("±") == (4 if taken > 1 else 0)
            asked = answer("embed", *scored, "--splits", 10)
            assert asked["scores"] == everything["scores"]
            few = answer("embed", *scored, "--splits", taken)
            assert few["scores"] == document["scores"]
            assert "all would take" not in succeeded("embed", *scored, "--splits", 3).stderr

    def test_labels_with_gaps_are_classes_unless_told_otherwise(self, tmp_path, blocks, inputs):
        half = (blocks / "labels.csv").read_text().splitlines(keepends=True)[:46]
        (tmp_path / "labels.csv").write_text("".join(half))
        scored = [*inputs, "--labels", tmp_path / "labels.csv", "-o", tmp_path / "v.npz", "--dimensions", 8]
        assert answer("embed", *scored)["task"] == "classification"
        document = answer("embed", *scored, "--task", "regression", "--splits", 1)
        assert document["task"] == "regression"
        assert document["scores"]["r2"]["standard_error"] is None  # as of a single split

    def test_counts_are_values_unless_told_otherwise(self, tmp_path, inputs):
        (tmp_path / "views.csv").write_text("id,views\n" + "".join(f"{v},{v // 2 * 1000}\n" for v in range(90)))
        scored = [*inputs, "--labels", tmp_path / "views.csv", "-o", tmp_path / "v.npz", "--dimensions", 8]
        result = succeeded("embed", *scored)
        assert "scored as regression: 45 different whole numbers on 90 labelled nodes" in result.stderr
        assert result.stdout.startswith("r2 ")
        assert answer("embed", *scored, "--task", "classification", "--splits", 2)["task"] == "classification"

    @pytest.mark.parametrize("wish", [["--score"], ["--task", "regression"], ["--splits", 3]])
    def test_nothing_to_score_on_is_found_out_before_the_work(self, tmp_path, inputs, monkeypatch, wish):
        monkeypatch.setattr(MUSAE, "fit", lambda *_: pytest.fail("the long work was done in vain"))
        assert "give --labels" in refused("embed", *inputs, "-o", tmp_path / "v.csv", *wish, code=2)
        result = run("embed", "--graph", "figure1", "-o", tmp_path / "v.csv", *wish)
        assert result.exit_code == 2
        assert "figure1 has no labels; --labels goes with --edges" in result.stderr

    def test_parameters_are_checked_before_anything_is_read(self, tmp_path):
        nowhere = ["--edges", tmp_path / "none.csv", "-o", tmp_path / "v.csv"]
        assert "--dimensions 2 is too few" in refused("embed", *nowhere, "--dimensions", 2, code=2)
        assert "--n-jobs must be" in refused("embed", *nowhere, "--n-jobs", 0, code=2)
        assert "--epochs must be" in refused("embed", *nowhere, "--solver", "sgns", "--epochs", 0, code=2)
        assert "there is no file" in refused("embed", *nowhere)

    def test_parameters_that_the_solver_has_not_are_refused(self, tmp_path, inputs):
        fit = ["embed", *inputs, "--save", tmp_path / "m"]
        said = refused(*fit, "--epochs", 3, code=2)
        assert "--epochs means nothing to MUSAE with the solver pmi: it belongs to the solver sgns" in said
        said = refused(*fit, "--solver", "sgns", "--epochs", 1, "--shift", 5, code=2)
        assert "--shift means nothing to MUSAE with the solver sgns: it belongs to the solver pmi" in said
        assert "--solver means nothing to HOPE" in refused(*fit, "--model", "hope", "--solver", "pmi", code=2)
        assert "--epochs means nothing to NetMF" in refused(*fit, "--model", "netmf", "--epochs", 1, code=2)
        assert "--p means nothing to DeepWalk" in refused(*fit, "--model", "deepwalk", "--p", 2, code=2)
        assert not (tmp_path / "m").exists()

    def test_options_of_a_solver_leave_the_models_own_defaults(self, tmp_path, inputs):
        command = ["embed", *inputs, "--save", tmp_path / "m", "--model", "line", "--dimensions", 4]
        succeeded(*command, "--walks-per-node", 1)
        solver = load_model(tmp_path / "m").solver
        assert (solver.epochs, solver.noise_exponent, solver.walks_per_node) == (1, 0.75, 1)

    def test_help_says_which_solver_a_parameter_is_for(self):
        texts = {option.name: option.help or "" for option in main.get_command(None, "embed").params}
        assert texts["epochs"].startswith("sgns: ")
        assert texts["rows"].startswith("pmi: ")
        assert texts["noise_exponent"].startswith("pmi, sgns: ")
        assert texts["shift"].startswith("asne, sine, pmi: ")
        assert not texts["window"].startswith("musae")

    def test_data_sets_by_name(self, tmp_path, blocks, monkeypatch):
        monkeypatch.chdir(tmp_path)
        monkeypatch.delenv("HOPSCALE_DATA", raising=False)
        assert answer("embed", "--graph", "figure1", "-o", "v.csv", "--dimensions", 8)["nodes"] == 11
        assert "did you mean 'figure1'" in refused("embed", "--graph", "figure", "-o", "v.csv", code=2)
        assert "the variable HOPSCALE_DATA names" in refused("info", "graph", code=2)
        assert "no file figure1.npz" in refused("embed", "--graph", "figure1.npz", "-o", "v.csv")
        monkeypatch.setenv("HOPSCALE_DATA", str(blocks))
        assert answer("info", "graph")["nodes"] == 90
        assert answer("embed", "--graph", "graph", "-o", "v.csv", "--score")["task"] == "classification"
        before = (blocks / "graph.npz").read_bytes()
        assert "is read from as well" in refused("embed", "--graph", "graph", "-o", blocks / "graph.npz", code=2)
        assert (blocks / "graph.npz").read_bytes() == before
        features = ["--features", blocks / "features.json"]
        assert "--features means nothing" in refused("embed", "--graph", "graph", *features, "-o", "v.csv", code=2)
        (tmp_path / "figure1").write_text("a,b\nb,c\n")  # a file that is there comes first
        assert answer("info", "figure1")["nodes"] == 3

    def test_columns_and_headers(self, tmp_path):
        (tmp_path / "e.csv").write_text("ann,bob,strength\nbob,eve,2\neve,ann,3\n")
        (tmp_path / "n.csv").write_text("from,to,km\nbob,eve,2\neve,ann,3\n")
        with_names = ["info", tmp_path / "e.csv"]
        assert answer(*with_names, "--header")["edges"] == 2
        assert "weight" in refused(*with_names, "--no-header")
        embed = ["embed", "--model", "deepwalk", "--dimensions", 3, "-q", "--edges", tmp_path / "n.csv", "-o"]
        assert "give --weight km" in succeeded(*embed, tmp_path / "plain.csv").stderr
        assert "give --weight" not in succeeded(*embed, tmp_path / "weighted.csv", "--weight", "km").stderr
        assert (tmp_path / "plain.csv").read_text() != (tmp_path / "weighted.csv").read_text()

    def test_quiet_says_nothing_but_warnings(self, tmp_path, inputs):
        result = succeeded("embed", *inputs, "-o", tmp_path / "v.csv", "--dimensions", 8, "--quiet")
        assert (result.stdout, result.stderr) == ("", "")
        result = succeeded("embed", *inputs, "-o", tmp_path / "v.csv", "--dimensions", 256, "-q")
        assert result.stderr.startswith("hopscale: warning: scale 0: ")

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            (["-o", "nowhere/v.csv"], "no folder 'nowhere'"),
            (["-o", "v.csv", "--save", "nowhere/m"], "no folder 'nowhere'"),
            (["-o", "."], "is a folder"),
        ],
    )
    def test_mistakes_are_one_line(self, tmp_path, monkeypatch, inputs, options, message):
        monkeypatch.chdir(tmp_path)
        assert message in refused("embed", "-q", *inputs, *options)
        assert not list(tmp_path.iterdir())

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ([], "nothing to write"),
            (["-o", "v.csv", "--dimensions", "2"], "too few for 4 scales"),
            (["-o", "v.csv", "--solver", "sgns", "--learning-rate", "nan"], "--learning-rate must be"),
            (["-o", "v.csv", "--solver", "sgns", "--epochs", "9" * 400], "--epochs must be a whole number from 1 to"),
            (["-o", "v.csv", "--solver", "sgns", "--epochs", "9" * 5000], "not a valid integer"),
            (["-o", "v.csv", "--memory-limit", "9" * 400], "--memory-limit must be"),
            (["-o", "v.csv", "--model", "netmf", "--solver", "sgns"], "--solver sgns is not for --model netmf, which"),
            (["-o", "v.xlsx"], "does not say in which format"),
            (["-o", "v.csv", "--graph", "g.npz"], "either --edges"),
            (["-o", "v.csv", "--save", "./v.csv"], "is written to as well"),
            (["-o", "v.csv", "--model", "deepwalk", "--ego"], "--ego means nothing to DeepWalk"),
            (["-o", "v.csv", "--model", "gpt"], "'gpt' is not one of"),
            (["-o", "v.csv", "--window", "three"], "not a valid integer"),
            (["-o", "v.csv", "--colour"], "No such option"),
        ],
    )
    def test_commands_that_make_no_sense(self, tmp_path, monkeypatch, inputs, options, message):
        monkeypatch.chdir(tmp_path)
        assert message in refused("embed", *inputs, *options, code=2)
        assert not list(tmp_path.iterdir())

    def test_inputs_are_never_overwritten(self, tmp_path):
        edges = tmp_path / "edges.csv"
        edges.write_text("a,b\nb,c\n")
        assert "is read from as well" in refused("embed", "--edges", edges, "-o", edges, code=2)
        assert edges.read_text() == "a,b\nb,c\n"

    def test_wrong_inputs(self, tmp_path, blocks):
        (tmp_path / "binary.csv").write_bytes(bytes(range(256)) * 4)
        for edges, message in (
            (tmp_path / "binary.csv", "NUL byte"),
            (blocks / "edge.csv", "did you mean"),
            (tmp_path, "is a folder"),
        ):
            assert message in refused("embed", "--edges", edges, "-o", tmp_path / "v.csv")
        features = ["--features", tmp_path / "binary.csv"]
        found = refused("embed", "-q", "--edges", blocks / "edges.csv", *features, "-o", tmp_path / "v.csv")
        assert "no edges" not in found
        assert not (tmp_path / "v.csv").exists()

    def test_folder_without_permission_is_found_out_before_the_work(self, tmp_path, inputs, monkeypatch):
        def forbid(path, *_, **__):
            raise PermissionError(13, "Permission denied", str(path))

        monkeypatch.setattr("hopscale.io.atomic.Path.open", forbid)  # root, who runs many a test, may write everywhere
        monkeypatch.setattr(MUSAE, "fit", lambda *_: pytest.fail("the long work was done in vain"))
        found = refused("embed", *inputs, "-o", tmp_path / "v.csv")
        assert found == f"hopscale: cannot write in the folder {str(tmp_path)!r}: Permission denied\n"

    def test_names_are_checked_before_the_work(self, tmp_path, monkeypatch):
        (tmp_path / "edges.csv").write_text("source,target\nAda L,Bob\nBob,Eve\n")
        monkeypatch.setattr(DeepWalk, "fit", lambda *_: pytest.fail("the long work was done in vain"))
        found = refused(
            "embed", "--edges", tmp_path / "edges.csv", "--model", "deepwalk", "-o", tmp_path / "v.txt", code=2
        )
        assert "cannot hold the name 'Ada L'" in found


class TestTransform:
    def test_vectors_are_those_of_the_model(self, tmp_path, inputs, blocks):
        model = MUSAE(16).fit(planted_blocks(n_nodes=60, n_features=30, random_state=3))
        model.save(tmp_path / "m")
        document = answer("transform", tmp_path / "m", *inputs, "-o", tmp_path / "v.csv")
        assert document["nodes"] == 90
        np.testing.assert_array_equal(
            vectors_in(tmp_path / "v.csv")[1], load_model(tmp_path / "m").transform(blocks / "graph.npz")
        )

    def test_unknown_features_are_a_one_line_warning(self, tmp_path, inputs):
        MUSAE(16).fit(planted_blocks(n_nodes=60, n_features=20, random_state=3)).save(tmp_path / "m")
        result = succeeded("transform", tmp_path / "m", *inputs, "-o", tmp_path / "v.csv", "-q")
        assert result.stderr.count("\n") == 1
        assert result.stderr.startswith("hopscale: warning: 10 feature(s)")

    def test_what_is_no_model(self, tmp_path, inputs, blocks):
        for command in (
            ["transform", blocks / "labels.csv", *inputs, "-o", tmp_path / "v.csv"],
            ["explain", blocks / "labels.csv", 1],
        ):
            assert "labels.csv is no hopscale model; embed --save writes one" in refused(*command)

    def test_model_that_cannot(self, tmp_path, inputs):
        DeepWalk(8).fit(figure1()).save(tmp_path / "m")
        result = run("transform", tmp_path / "m", *inputs, "-o", tmp_path / "v.csv", "-q")
        assert result.exit_code == 1
        assert "cannot embed other nodes" in result.stderr
        assert "AE and MUSAE with --no-ego can" in result.stderr
        assert not (tmp_path / "v.csv").exists()


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


class TestProgram:
    def test_demo(self):
        document = answer("demo")
        scores = {metric: row["mean"] for metric, row in document["digits"]["scores"].items()}
        assert scores["micro_f1"] > 0.9 > 0.2 > scores["majority_micro_f1"]
        near = document["figure1"]["similarity"]
        assert near["0"] == pytest.approx(1) == near["1"]
        assert near["2"] < 0.9
        text = succeeded("demo").stdout
        assert "majority_micro_f1" in text
        assert "figure 1" in text

    def test_help_has_examples(self):
        for command in main.commands:
            assert f"hopscale {command}" in succeeded(command, "--help").stdout.split("Options:")[0].split("\n\n", 1)[1]

    @pytest.mark.parametrize(
        ("provoke", "words"),
        [
            (lambda: MUSAE().fit(from_edges([("a", "b")])), "(on the command line --model deepwalk), or --ego,"),
            (lambda: MUSAE().fit(from_edges([("a", "a")])), "made with --self-loops"),
            (
                lambda: DeepWalk(solver=SGNS(walk_length=2)).fit(figure1()),
                "--walk-length 2 must be larger than --window 3",
            ),
            (lambda: DeepWalk(solver=PMI(walks=2**40)).fit(figure1()), "--walks must be a whole number from 1 to"),
            (lambda: MUSAE(ego=True).fit(figure1()).transform(figure1()), "AE and MUSAE with --no-ego can"),
            (lambda: vector_format("vectors.xlsx"), "or give --format"),
            (lambda: vector_format("walk_length"), "'walk_length' does not say"),
            (lambda: load("nothing"), "the folder that the variable HOPSCALE_DATA names"),
        ],
    )
    def test_messages_speak_of_options(self, provoke, words, monkeypatch):
        monkeypatch.delenv("HOPSCALE_DATA", raising=False)
        with pytest.raises(HopscaleError) as caught:
            provoke()
        assert words in caught.value.worded(as_option)

    def test_warnings_speak_of_options(self):
        with pytest.warns(HopscaleWarning, match="estimated") as caught:
            MUSAE(8, solver=PMI(memory_limit=2000)).fit(erdos_renyi(200, 4))
        words = caught[0].message.worded(as_option)
        assert "more than --memory-limit (2,000 bytes)" in words
        assert "--rows exact forces exact ones, --rows sampled silences this" in words

    def test_columns_of_labels_are_spoken_of_as_options(self, tmp_path, blocks, inputs):
        (tmp_path / "l.csv").write_text("name,id,block\n" + "".join(f"n{v},{v},{v % 2}\n" for v in range(90)))
        embed = ["embed", *inputs, "--labels", tmp_path / "l.csv", "-o", tmp_path / "v.npz", "--dimensions", 8]
        assert "name it with --node-column" in refused(*embed, "-q")
        assert answer(*embed, "--node-column", "id")["task"] == "classification"

    def test_version(self):
        assert __version__ in succeeded("--version").stdout

    def test_full_disk_or_no_memory(self, monkeypatch, model):
        for error, message in (
            (OSError(28, "No space left on device", "v.csv"), "hopscale: v.csv: No space left on device\n"),
            (MemoryError(), "hopscale: not enough memory: give a smaller --memory-limit"),
        ):

            def fail(*_, error=error):
                raise error

            monkeypatch.setattr("hopscale.cli.sources.load_model", fail)
            assert refused("neighbors", model, "D").startswith(message)


class TestProcess:
    """What only a process of its own can show."""

    @pytest.mark.skipif(os.name != "posix", reason="no signals")
    def test_ctrl_c(self, tmp_path):
        graph = erdos_renyi(20_000, 8)
        u, v = graph.adjacency.tocoo().coords
        np.savez(
            tmp_path / "graph.npz",
            edges=np.stack([u, v], axis=1)[u < v],
            n_nodes=graph.n_nodes,
            n_features=graph.n_features,
            feature_indptr=graph.features.indptr,
            feature_indices=graph.features.indices,
        )
        command = ["embed", "--graph", "graph.npz", "-o", "v.csv", "--save", "m", "--solver", "sgns"]
        with subprocess.Popen(
            [*HOPSCALE, *command, "--epochs", "1000"],
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        ) as process:
            assert process.stderr.readline().startswith("20,000 nodes")  # read; the long work begins
            with pytest.raises(subprocess.TimeoutExpired):
                process.wait(timeout=1)
            process.send_signal(signal.SIGINT)
            try:
                stdout, stderr = process.communicate(timeout=30)
            finally:
                process.kill()
        assert process.returncode == 130
        assert stdout == ""
        assert stderr.splitlines()[-1] == "hopscale: interrupted"
        assert "Traceback" not in stderr
        assert [path.name for path in tmp_path.iterdir()] == ["graph.npz"]

    @pytest.mark.skipif(os.name != "posix", reason="no signals")
    @pytest.mark.parametrize("start", [["-m", "hopscale"], ["-c", "from hopscale.cli import main; main()"]])
    def test_ctrl_c_while_modules_are_read(self, tmp_path, start):
        # A NumPy that takes long to import and lets no exception through.
        (tmp_path / "numpy.py").write_text(
            "import contextlib, os, signal, time\n"
            "with contextlib.suppress(BaseException):\n"
            "    os.kill(os.getpid(), signal.SIGINT)\n"
            "    time.sleep(60)\n"
        )
        done = subprocess.run(
            [sys.executable, *start, "embed", "--help"],
            env={**os.environ, "PYTHONPATH": str(tmp_path)},
            capture_output=True,
            text=True,
            timeout=30,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        )
        assert (done.returncode, done.stdout, done.stderr) == (130, "", "hopscale: interrupted\n")

    def test_nothing_that_takes_long_is_read_before_ctrl_c_is_seen_to(self):
        read = "import sys, hopscale.cli; print(*{'numpy', 'scipy', 'sklearn', 'click'} & set(sys.modules))"
        assert subprocess.run([sys.executable, "-c", read], capture_output=True, text=True).stdout == "\n"

    def test_all_names_are_there_for_all_that(self):
        ask = "import hopscale; print(*[getattr(hopscale, name) for name in hopscale.__all__], hopscale.io.from_igraph)"
        done = subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (0, "")
        nonsense = subprocess.run([sys.executable, "-c", "import hopscale; hopscale.x"], capture_output=True, text=True)
        assert "module 'hopscale' has no attribute 'x'" in nonsense.stderr

    def test_answers_and_errors_keep_to_their_streams(self, model):
        good = subprocess.run([*HOPSCALE, "explain", model, "D", "--json"], capture_output=True, text=True)
        assert (good.returncode, good.stderr) == (0, "")
        assert json.loads(good.stdout)["node"] == "D"
        bad = subprocess.run([*HOPSCALE, "explain", model, "Z", "--json"], capture_output=True, text=True)
        assert (bad.returncode, bad.stdout) == (1, "")
        assert bad.stderr.startswith("hopscale: no node 'Z'")

    def test_reader_that_goes_away(self, model):
        with subprocess.Popen(
            [*HOPSCALE, "explain", model, "D"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as process:
            process.stdout.close()
            assert process.stderr.read() == ""


class TestMethods:
    def test_feature_vectors_that_will_not_be_there_are_refused_before_the_work(self, tmp_path, inputs):
        outputs = ("-o", tmp_path / "v.csv", "--feature-output", tmp_path / "h.csv")
        said = refused("embed", *inputs, "--model", "hope", "--dimensions", 8, *outputs, code=2)
        assert "HOPE learns no vectors of features" in said
        assert not (tmp_path / "v.csv").exists()

    def test_memory_that_is_not_given_is_refused_in_the_words_of_the_command(self):
        hope = ["embed", "-q", "--graph", "digits", "--model", "hope", "--score"]
        said = refused(*hope, "--memory-limit", "1MB", code=2)
        assert "more than --memory-limit (1 MiB): raise it" in said

    def test_are_the_models_as_they_describe_themselves(self):
        rows = {row["name"]: row for row in answer("methods")["methods"]}
        assert set(rows) == set(MODELS)
        for name, model in MODELS.items():
            for trait in ("kind", "memory", "time", "uses_features", "multi_scale", "inductive"):
                assert rows[name][trait] == getattr(model(), trait)
        assert {name for name, row in rows.items() if row["inductive"]} == {"ae", "musae", "featurediffusion"}

    def test_one_is_shown_with_its_options(self):
        assert "DeepWalk with a bias" in succeeded("methods", "Node2Vec").stdout
        told = answer("methods", "line")["options"]
        for owner, part in {"line": MODELS["line"](), "sgns": SGNS(epochs=1, noise_exponent=0.75)}.items():
            found = {option["option"]: option["default"] for option in told if option["of"] == owner}
            defaults = part.get_params(deep=False)
            assert found == {f"--{key.replace('_', '-')}": defaults[key] for key in defaults if key != "verbose"}
        assert all(option["help"] for option in told)
        assert "is not one of" in refused("methods", "word2vec", code=2)

    def test_scoring_needs_no_file(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        common = ("embed", "--graph", "planted-blocks", "--model", "HOPE", "--dimensions", 2, "--splits", 3)
        raw, standardised = answer(*common), answer(*common, "--standardize")
        assert standardised["scores"]["micro_f1"]["mean"] > standardised["scores"]["majority_micro_f1"]["mean"] + 0.1
        assert raw["scores"] != standardised["scores"]
        assert not list(tmp_path.iterdir())

    def test_table(self):
        header, *lines = succeeded("methods").stdout.splitlines()
        assert header.split()[:3] == ["name", "kind", "features"]
        assert {line.split()[0] for line in lines} == set(MODELS)
