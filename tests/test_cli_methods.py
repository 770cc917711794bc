"""``hopscale methods``: the models as they describe themselves, and what they ask of a command."""

from command_line import answer, refused, succeeded

from hopscale import SGNS
from hopscale.cli.options import MODELS


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
        assert set(rows) == {*MODELS, "ae --ego", "musae --ego"}
        traits = ("kind", "memory", "time", "uses_features", "multi_scale", "inductive", "proximal", "higher_order")
        for name, model in MODELS.items():
            for trait in traits:
                assert rows[name][trait] == getattr(model(), trait)
        assert {name for name, row in rows.items() if row["inductive"]} == {"ae", "musae", "featurediffusion"}

    def test_properties_are_those_of_the_papers_first_table(self):
        """Seven columns, y for yes, in the paper's order; training counts as a way that a method has."""
        table = {
            "deepwalk": "--yyy-y", "line": "-yyyy-y", "node2vec": "--yyy-y", "walklets": "-yyyy-y", "netmf": "---yy--",
            "hope": "---yy--", "grarep": "-y-yy--", "tadw": "y---y--", "asne": "y--y---", "aane": "y--y--y",
            "bane": "y---y--", "tene": "y--y---", "ae": "y-y-yyy", "musae": "yyy-yyy", "ae --ego": "y-yyy-y",
            "musae --ego": "yyyyy-y",
        }  # fmt: skip
        columns = ("uses_features", "multi_scale", "implicit", "proximal", "higher_order", "inductive", "non_linear")
        rows = {row["name"]: row for row in answer("methods")["methods"]}
        assert {name: "".join("y" if rows[name][c] else "-" for c in columns) for name in table} == table

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
        assert sum(" --ego " in line for line in lines) == 2
