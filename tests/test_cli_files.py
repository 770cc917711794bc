"""Files on the command line: which columns, which header, bad lines, standard input and output, lists with commas."""

import json
import os
import subprocess
import sys

import click
import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from hopscale.cli.commands import hopscale as main
from hopscale.io import read_graph

HOPSCALE = [sys.executable, "-m", "hopscale"]
SMALL = ["--model", "deepwalk", "--dimensions", "4"]


def run(*arguments, code=0, stdin=None):
    result = CliRunner().invoke(main, list(map(str, arguments)), input=stdin)
    assert result.exit_code == code, result.output
    return result


def answer(*arguments, stdin=None):
    return json.loads(run(*arguments, "--json", stdin=stdin).stdout)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pay.csv").write_text(
        "date,amount,from,to\nMon,1,ann,bob\nTue,2,bob,eve\nWed,3,eve,joe\nThu,4,joe,ann\nFri,5,ann,eve\n"
    )
    (tmp_path / "tags.csv").write_text("user,tag\nann,tea\nbob,tea\neve,go\njoe,go\n")
    (tmp_path / "groups.csv").write_text("ann,x\nbob,y\neve,x\njoe,y\n")
    return tmp_path


class TestColumns:
    def test_what_was_understood_is_said(self, folder):
        result = run("embed", "--edges", "pay.csv", "--features", "tags.csv", "--dimensions", 4, "-o", "v.csv")
        assert (
            "pay.csv: the first line names the columns; nodes are 'from' and 'to'; weights are 'amount'"
            in result.stderr
        )
        assert "passed over: 'date'" in result.stderr
        assert "tags.csv: the first line names the columns; nodes are 'user', features are 'tag'" in result.stderr
        assert "passed over" not in run("embed", "--edges", "pay.csv", *SMALL, "-o", "v.csv", "-q").stderr

    @pytest.mark.parametrize("way", [["pay.csv"], ["--edges", "pay.csv"]])
    def test_info_takes_the_options_of_the_others(self, folder, way):
        assert answer("info", *way)["weighted"]
        options = ["--source", "to", "--target", "date", "--weight", "amount", "--skip-bad-lines"]
        assert answer("info", *way, *options)["nodes"] == 9
        document = answer("info", *way, "--features", "tags.csv", "--labels", "groups.csv", "--no-labels-header")
        assert (document["features"], document["labels"]["labelled_nodes"]) == (2, 4)

    def test_info_of_nothing_or_of_two_things(self, folder):
        assert "give a graph" in run("info", code=2).stderr
        assert "give PATH, or --edges" in run("info", "pay.csv", "--edges", "pay.csv", code=2).stderr

    def test_transform_takes_them_too(self, folder):
        run("embed", "--edges", "pay.csv", "--features", "tags.csv", "--dimensions", 4, "--save", "m.safetensors")
        options = ["--source", "from", "--target", "to", "--weight", "amount", "--features", "tags.csv"]
        run("transform", "m.safetensors", "--edges", "pay.csv", *options, "-o", "v.csv")
        assert len(pd.read_csv("v.csv")) == 4

    def test_a_column_that_is_not_there(self, folder):
        assert "no column 'payer'" in run("info", "pay.csv", "--source", "payer", code=1).stderr


class TestHeaders:
    def test_the_question_names_the_options(self, folder):
        (folder / "e.csv").write_text("zoe,max\nann,bob\n")
        message = run("info", "e.csv", code=1).stderr
        assert "Give --header if it does, and --no-header if it is data" in message
        assert answer("info", "e.csv", "--no-header")["nodes"] == 4
        assert answer("info", "e.csv", "--header")["nodes"] == 2
        assert answer("info", "e.csv", "--edges-header", "--no-header")["nodes"] == 2
        assert answer("info", "e.csv", "--no-edges-header", "--header")["nodes"] == 4

    def test_one_file_with_and_one_without(self, folder):
        (folder / "e.csv").write_text("ann,bob\nbob,eve\n")
        options = ["--features", "tags.csv", "--no-edges-header", "--features-header"]
        assert answer("info", "e.csv", *options)["features"] == 2


class TestBadLines:
    def test_are_refused_or_skipped(self, folder):
        (folder / "e.csv").write_text("source,target\nann,bob\nbob\nbob,eve\n")
        assert "e.csv, line 3: 1 column(s) instead of 2" in run("info", "e.csv", code=1).stderr
        result = run("info", "e.csv", "--skip-bad-lines")
        assert "hopscale: warning: e.csv: 1 bad line(s) skipped, 2 row(s) read: line 3 (1 column(s)" in result.stderr


class TestStandardInput:
    @pytest.mark.parametrize("option", ["--edges", "--features", "--labels"])
    def test_any_one_of_the_files(self, folder, option):
        files = {"--edges": "pay.csv", "--features": "tags.csv", "--labels": "groups.csv"}
        expected = answer("info", *(word for pair in files.items() for word in pair))
        content = (folder / files[option]).read_bytes()
        files[option] = "-"
        assert answer("info", *(word for pair in files.items() for word in pair), stdin=content) == expected

    def test_as_the_path_of_info(self, folder):
        assert answer("info", "-", stdin="0,1\n1,2\n")["edges"] == 2

    def test_not_two(self, folder):
        assert "standard input" in run("info", "--edges", "-", "--features", "-", code=2).stderr

    def test_mistakes_are_those_of_a_file(self, folder):
        message = run("info", "--edges", "-", code=1, stdin="0,1\n1\n").stderr
        assert "standard input, line 2: 1 column(s)" in message or "line 2: 1 column(s)" in message
        assert "is empty" in run("info", "--edges", "-", code=1, stdin="").stderr

    def test_of_a_process(self, folder):
        done = subprocess.run(
            [*HOPSCALE, "info", "--edges", "-", "--json"], input=b"0,1\n1,2\n\n9", capture_output=True, check=False
        )
        assert done.returncode == 1
        refusal = (
            "hopscale: standard input, line 4: 1 column(s) instead of 2; to leave such lines out, give --skip-bad-lines"
        )
        assert done.stderr.decode() == f"{refusal}\n"


class TestStandardOutput:
    def test_vectors_and_nothing_else(self, folder):
        run("embed", "--edges", "pay.csv", *SMALL, "-o", "v.csv")
        done = subprocess.run(
            [*HOPSCALE, "embed", "--edges", "pay.csv", *SMALL, "-o", "-"], capture_output=True, check=True
        )
        assert done.stdout == (folder / "v.csv").read_bytes()
        assert b"4 vectors of 4 dimensions" in done.stderr

    @pytest.mark.parametrize("kind", ["tsv", "npz", "parquet", "word2vec"])
    def test_formats(self, folder, kind):
        file = folder / "v"
        run("embed", "--edges", "pay.csv", *SMALL, "-o", file, "--format", kind)
        with (folder / "out").open("wb") as out:
            subprocess.run(
                [*HOPSCALE, "embed", "--edges", "pay.csv", *SMALL, "-o", "-", "--format", kind, "-q"],
                stdout=out,
                check=True,
            )
        if kind == "npz":
            np.testing.assert_array_equal(np.load(file)["vectors"], np.load(folder / "out")["vectors"])
        else:
            assert (folder / "out").read_bytes() == file.read_bytes()

    def test_scores_go_to_the_error_stream(self, folder):
        edges = [(u, v) for u in range(20) for v in range(u) if (u % 2 == v % 2) or (u + v) % 9 == 0]
        (folder / "e.csv").write_text("".join(f"{u},{v}\n" for u, v in edges))
        (folder / "l.csv").write_text("id,side\n" + "".join(f"{u},{'ab'[u % 2]}\n" for u in range(20)))
        result = run("embed", "--edges", "e.csv", "--labels", "l.csv", "--splits", 2, *SMALL, "-o", "-")
        assert result.stdout.startswith("id,")
        assert len(result.stdout.splitlines()) == 21
        assert "micro_f1" in result.stderr

    def test_makes_no_sense_with_json_or_twice(self, folder):
        message = run("embed", "--edges", "pay.csv", *SMALL, "-o", "-", "--json", code=2).stderr
        assert "--json and a table cannot both go to the standard output" in message
        message = run(
            "embed", "--edges", "pay.csv", "--features", "tags.csv", "-o", "-", "--feature-output", "-", code=2
        ).stderr
        assert "only one table" in message

    @pytest.mark.skipif(os.name != "posix", reason="no pipes")
    def test_a_reader_that_leaves(self, folder):
        (folder / "e.csv").write_text("".join(f"{u},{u + 1}\n" for u in range(5000)))
        line = "embed --edges e.csv --model hope -q -o - | head -n 1; echo ${PIPESTATUS[0]}"
        done = subprocess.run(
            ["bash", "-c", f"{sys.executable} -m hopscale {line}"], capture_output=True, text=True, check=True
        )
        header, code = done.stdout.splitlines()
        assert header.startswith("id,")
        assert code == "1"
        assert done.stderr == ""


class TestParquet:
    def test_what_is_written_is_read(self, folder):
        for name in ("pay", "tags"):
            pd.read_csv(f"{name}.csv").sample(frac=1, random_state=0).to_parquet(f"{name}.parquet", index=False)
        ways = (["pay.csv", "--features", "tags.csv"], ["pay.parquet", "--features", "tags.parquet"])
        documents = [answer("info", *way) for way in ways]
        assert documents[0] == documents[1]
        graph = read_graph("pay.parquet", "tags.parquet")
        assert graph.features.toarray()[graph.node_ids.tolist().index("eve")].tolist() == [
            float(name == "go") for name in graph.feature_names.tolist()
        ]


class TestLists:
    @pytest.mark.parametrize("words", [["-m", "AE,MUSAE"], ["-m", "AE", "-m", "MUSAE"], ["--models", " AE, MUSAE ,"]])
    def test_with_commas(self, words):
        command = main.get_command(None, "reproduce")
        context = command.make_context(
            "reproduce", ["classification,theory", *words, "-d", "cora,pubmed", "-s", "pmi,sgns"]
        )
        assert context.params["models"] == ("AE", "MUSAE")
        assert context.params["datasets"] == ("cora", "pubmed")
        assert context.params["solvers"] == ("pmi", "sgns")
        assert context.params["experiments"] == ("classification", "theory")

    def test_one_that_is_not_known(self):
        message = run("reproduce", "classification", "--solvers", "pmi,svd", code=2).stderr
        assert "'svd' is not one of 'pmi', 'sgns'" in message


class TestHelp:
    def test_first_sentences_are_those_of_the_commands(self):
        context = click.Context(main)
        for name in main.list_commands(context):
            command = main.get_command(context, name)
            assert command.name == name
            assert main.first_sentence(name) == command.get_short_help_str(1000)

    def test_imports_no_command(self):
        read = (
            "import sys, contextlib\nfrom hopscale.cli import main\n"
            "with contextlib.suppress(SystemExit): main(args=['--help'])\n"
            "print(*{'numpy', 'scipy', 'sklearn', 'tqdm'} & set(sys.modules), file=sys.stderr)"
        )
        done = subprocess.run([sys.executable, "-c", read], capture_output=True, text=True, check=True)
        assert done.stderr == "\n"
        assert "suggest-links" in done.stdout

    def test_unknown_command(self):
        assert "No such command 'embde'" in run("embde", code=2).stderr
