"""``hopscale embed``: options that reach the model, scores, and errors before the work."""

from itertools import count
from types import SimpleNamespace

import numpy as np
import pytest
from command_line import answer, refused, run, succeeded, vectors_in

from hopscale import AE, MUSAE, PMI, SGNS, DeepWalk, load_model
from hopscale.cli.commands import hopscale as main
from hopscale.cli.options import MODELS


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
        assert found == {**expected, "verbose": False, "keep_graph": False, "device": None}
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
        ):
            assert message in refused("embed", "--edges", edges, "-o", tmp_path / "v.csv")
        asked = ("embed", "--edges", tmp_path, "-o", tmp_path / "v.csv")
        assert "whose vectors go to a folder" in refused(*asked, code=2)  # a folder is a graph in blocks
        features = ["--features", tmp_path / "binary.csv"]
        found = refused("embed", "-q", "--edges", blocks / "edges.csv", *features, "-o", tmp_path / "v.csv")
        assert "no edges" not in found
        assert not (tmp_path / "v.csv").exists()

    def test_folder_without_permission_is_found_out_before_the_work(self, tmp_path, inputs, monkeypatch):
        def forbid(path, *_, **__):
            raise PermissionError(13, "Permission denied", str(path))

        monkeypatch.setattr("hopscale.atomic.Path.open", forbid)  # root, who runs many a test, may write everywhere
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
