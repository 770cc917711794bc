"""``hopscale plan``: files, a graph or counts in; a table and a sentence, or JSON, out."""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from hopscale import MUSAE, PMI, StoredGraph, datasets, plan, read_graph
from hopscale.cli.commands import hopscale as main
from hopscale.io import counting

COUNTS = ("--nodes", "1e6", "--edges-count", "1e7", "--features-count", "50000", "--entries", "2e7")
HERE = ("--memory", "16GB", "--cores", 8, "--no-calibration")


def run(*arguments, code=0):
    result = CliRunner().invoke(main, ["plan", *map(str, arguments)])
    assert result.exit_code == code, result.output
    return result


def answer(*arguments):
    return json.loads(run(*arguments, "--json").stdout)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "edges.csv").write_text("from,to\n" + "".join(f"{i},{(i * 7 + 1) % 500}\n" for i in range(500)))
    (tmp_path / "features.csv").write_text("node,tag\n" + "".join(f"{i},t{i % 11}\n{i},t{i % 5}\n" for i in range(500)))
    return tmp_path


class TestCounts:
    def test_a_table_and_a_sentence(self):
        text = run(*COUNTS, *HERE).stdout
        assert "It fits: about" in text
        assert "scale 1, 2, 3: exact rows, streamed after learning from sampled ones" in text
        assert "on 8 cores" in text
        assert "there are 16.0 GiB" in text

    def test_json_is_what_python_returns(self):
        document = answer(*COUNTS, *HERE, "--memory-limit", "1GiB", "--dimensions", 64, "--window", 2)
        model = MUSAE(64, window=2, solver=PMI(memory_limit="1GiB"))
        found = plan(
            n_nodes=1e6,
            n_edges=1e7,
            n_features=50_000,
            n_entries=2e7,
            model=model,
            memory="16GB",
            cores=8,
            calibrate=False,
        )
        assert document["seconds"] == found.seconds
        assert document["memory"]["all"] == found.memory
        assert document["rows"] == found.rows
        assert [way["change"] for way in document["ways_out"]] == [way.change for way in found.ways_out]

    def test_nodes_may_be_given_by_either_name(self):
        other = ("--nodes-count", "1e6", *COUNTS[2:])
        assert answer(*COUNTS, *HERE) == answer(*other, *HERE)

    def test_a_cluster_and_a_gpu(self):
        cluster = answer(*COUNTS, *HERE, "--machines", 10)
        assert cluster["network"] > 0
        assert [stage["name"] for stage in cluster["stages"]] == ["store", "prepare", "learn", "vectors"]
        assert answer(*COUNTS, *HERE, "--gpu")["machine"]["gpu"]

    def test_calibration_is_on_unless_it_is_turned_off(self):
        assert answer(*COUNTS, "--cores", 2)["machine"]["speed"] != 1.0
        assert answer(*COUNTS, *HERE)["machine"]["speed"] == 1.0


class TestFiles:
    def test_small_ones_are_read(self, folder):
        document = answer("--edges", "edges.csv", "--features", "features.csv", *HERE)
        graph = read_graph("edges.csv", "features.csv")
        assert document["size"]["source"] == "the graph"
        assert document["size"]["n_edges"] == graph.n_edges
        assert document["rows"] == plan(graph, calibrate=False).rows

    def test_of_large_ones_a_part(self, folder, monkeypatch):
        monkeypatch.setattr(counting, "WHOLE", 100)
        monkeypatch.setattr(counting, "PIECE", 64)
        result = run("--edges", "edges.csv", "--features", "features.csv", *HERE)
        assert "% of the rows of its files" in result.stdout
        assert "counts are estimated" in result.stderr
        assert "counts are estimated" not in run("--edges", "edges.csv", *HERE, "--model", "deepwalk", "-q").stderr

    def test_a_data_set_by_name(self):
        assert answer("--graph", "digits", *HERE)["size"]["n_nodes"] == datasets.load("digits").n_nodes


@pytest.fixture
def parts(tmp_path, monkeypatch):
    """Edges and features in three parts each, of which some are written anew by the tests."""
    monkeypatch.chdir(tmp_path)
    nodes = np.arange(500)
    for part in range(3):
        own = nodes[part::3]
        write_part("edges", part, source=own, target=(own * 7 + 1) % 500)
        write_part("features", part, node=np.repeat(own, 2), feature=np.stack([own % 11, own % 5 + 20], axis=1).ravel())
    return tmp_path


def write_part(folder, part, **columns):
    Path(folder).mkdir(exist_ok=True)
    pq.write_table(pa.table(columns), f"{folder}/part-{part}.parquet")


PARTS = ("--edges", "edges", "--features", "features/*.parquet")
IN_BLOCKS = ["store", "prepare", "learn", "vectors"]


@pytest.mark.usefixtures("parts")
class TestParts:
    """A folder or a glob, which embed reads in blocks."""

    def test_are_counted(self):
        size = answer(*PARTS, *HERE, "--machines", 2)["size"]
        assert (size["n_entries"], size["n_nodes"], size["n_features"]) == (1000, 500, 16)
        assert size["n_edges"] == len({frozenset((i, (i * 7 + 1) % 500)) for i in range(500)})
        assert "no file matches" in run("--edges", "none/*.parquet", code=1).stderr

    @pytest.mark.parametrize("machines", [1, 2])
    def test_mean_a_fit_in_blocks(self, machines):
        document = answer(*PARTS, *HERE, "--machines", machines)
        assert [stage["name"] for stage in document["stages"]] == IN_BLOCKS
        assert document["rows"] == {"0": "own", "1": "sampled", "2": "sampled", "3": "sampled"}
        assert document["disk"] > 0
        assert (document["network"] > 0) == (machines > 1)
        text = run(*PARTS, *HERE, "--machines", machines).stdout
        assert ("The disk takes up to" in text) == (machines == 1)
        assert "in blocks on this machine" not in text
        assert "--gpu" not in text

    def test_what_was_read_whole_is_not_estimated(self):
        result = run(*PARTS, *HERE)
        assert "by the rows of its files" in result.stdout
        assert "estimated" not in result.output
        assert "rows are expected from counts" in result.stdout
        assert "is closer" not in result.stdout

    def test_a_part_of_them_is_told_in_percent(self, monkeypatch):
        monkeypatch.setattr(counting, "PIECE_ROWS", 5)
        result = run(*PARTS, *HERE)
        assert "by 16 % of the rows of its files" in result.stdout
        assert "counts are estimated from 16 %" in result.stderr

    def test_whole_numbers_may_have_fewer_bits_in_some(self):
        whole = answer(*PARTS, *HERE)["size"]
        own = np.arange(500, dtype=np.int32)[1::3]
        write_part("edges", 1, source=own, target=(own * 7 + 1) % 500)
        assert answer(*PARTS, *HERE)["size"] == whole

    @pytest.mark.parametrize(
        ("columns", "words"),
        [
            ({"source": ["a", "b"], "target": [1, 2]}, "part-1.parquet: column 'source' holds string, but int64 in"),
            ({"from": [0, 1], "to": [1, 2]}, "part-1.parquet has the columns ['from', 'to'], but"),
            ({"source": [*range(9), None], "target": range(10)}, "part-1.parquet has 1 missing value(s) in column"),
        ],
    )
    def test_a_wrong_one_is_named_as_embed_does(self, columns, words):
        write_part("edges", 1, **columns)
        message = run(*PARTS, *HERE, code=1).stderr
        assert words in message
        assert "damaged" not in message
        embedded = CliRunner().invoke(main, ["embed", *PARTS, "-o", "vectors", "-q"])
        assert message.splitlines()[-1] == embedded.stderr.splitlines()[-1]

    @pytest.mark.parametrize("name", ["edges", "features"])
    def test_a_missing_value_is_named_with_its_own_row(self, name):
        first = "source" if name == "edges" else "node"
        other = "target" if name == "edges" else "feature"
        write_part(name, 1, **{first: [0, 1, 2, 3, 4, None, 6], other: [1, 2, 3, 4, 5, 6, 7]})
        message = run(*PARTS, *HERE, code=1).stderr
        assert f"part-1.parquet has 1 missing value(s) in column '{first}'; the first is in row 5" in message

    @pytest.mark.parametrize(
        ("arguments", "code", "words"),
        [
            (("--rows", "exact"), 2, "--rows exact cannot be computed in blocks"),
            (("--gpu",), 2, "--gpu cannot be used with a graph in blocks"),
            (("--model", "hope"), 2, "learns from walks"),
            (("--nodes", "nodes.csv"), 2, "--nodes"),
        ],
    )
    def test_what_embed_refuses_in_blocks_is_refused(self, arguments, code, words):
        assert words in run(*PARTS, *HERE, *arguments, code=code).stderr


class TestStored:
    def test_a_folder_is_planned_in_blocks(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        graph = datasets.load("digits")
        StoredGraph.save(graph, "stored")
        document = answer("--graph", "stored", *HERE)
        assert [stage["name"] for stage in document["stages"]] == IN_BLOCKS[1:]
        assert document["size"]["source"] == "the stored graph"
        assert document["size"]["n_entries"] == graph.features.nnz
        assert "is closer" not in run("--graph", "stored", *HERE).stdout


class TestRefused:
    @pytest.mark.parametrize(
        ("arguments", "code", "words"),
        [
            ((), 2, "give either a graph"),
            ((*COUNTS, "--graph", "digits"), 2, "give either a graph"),
            (("--nodes", "1e6"), 2, "--edges-count is missing"),
            (("--edges-count", "1e6"), 2, "--nodes-count is missing"),
            (("--nodes", "-5", "--edges-count", "4"), 2, "--nodes-count must be a whole number"),
            (("--nodes", "10", "--edges-count", "0"), 2, "--edges-count must be a whole number"),
            (("--nodes", "nan", "--edges-count", "4"), 2, "--nodes-count"),
            (("--nodes", "10", "--nodes-count", "10", "--edges-count", "4"), 2, "once"),
            (("--nodes", "10", "--edges-count", "4"), 1, "--model deepwalk"),
            (("--edges", "nowhere.csv"), 1, "there is no file"),
            ((*COUNTS, "--model", "hope"), 2, "learns from walks"),
            ((*COUNTS, "--cores", "0"), 2, "--cores"),
            ((*COUNTS, "--memory", "lots"), 2, "--memory"),
            ((*COUNTS, "--gpu", "--solver", "sgns"), 2, "--solver pmi"),
            ((*COUNTS, "--gpu", "--machines", "3"), 2, "--machines"),
            ((*COUNTS, "--rows", "some"), 2, "--rows"),
            ((*COUNTS, "--rows", "exact", "--machines", "3"), 2, "--rows exact cannot be computed in blocks"),
        ],
    )
    def test_what_makes_no_sense(self, arguments, code, words):
        assert words in run(*arguments, code=code).stderr
