"""``hopscale plan``: files, a graph or counts in; a table and a sentence, or JSON, out."""

import json

import pytest
from click.testing import CliRunner

from hopscale import MUSAE, PMI, datasets, plan, read_graph
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

    def test_of_a_folder_or_a_glob_a_part(self, folder):
        pd = pytest.importorskip("pandas")
        for name, other in (("edges", "to"), ("features", "tag")):
            table = pd.read_csv(f"{name}.csv", dtype=str if other == "tag" else None)
            (folder / name).mkdir()
            for part in range(3):
                table[part::3].to_parquet(folder / name / f"part-{part}.parquet", index=False)
        document = answer("--edges", "edges", "--features", "features/*.parquet", *HERE, "--machines", 2)
        assert (document["size"]["n_edges"], document["size"]["n_entries"]) == (500, 1000)
        assert document["size"]["n_nodes"] == 500
        assert "no file matches" in run("--edges", "none/*.parquet", code=1).stderr

    def test_a_data_set_by_name(self):
        assert answer("--graph", "digits", *HERE)["size"]["n_nodes"] == datasets.load("digits").n_nodes


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
        ],
    )
    def test_what_makes_no_sense(self, arguments, code, words):
        assert words in run(*arguments, code=code).stderr
