"""``hopscale embed`` in blocks: the table of one machine, and answers to commands that make no sense."""

import json
import logging

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from parts import vectors_in

from hopscale import load_model
from hopscale.atomic import only_writer
from hopscale.cli import blocks
from hopscale.cli.commands import hopscale
from reference import random_graph

SETTINGS = ["--dimensions", 8, "--walks", 30, "--rows", "sampled"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Edges and features in parts, and whole in ``edges.parquet`` and ``features.parquet``."""
    graph = random_graph(200, 20, density=0.05, seed=2)
    monkeypatch.chdir(tmp_path)
    for name, columns, matrix in (
        ("edges", ("source", "target"), graph.adjacency),
        ("features", ("node", "feature"), graph.features),
    ):
        (tmp_path / name).mkdir()
        entries = np.stack(matrix.tocoo().coords)
        entries = entries[:, entries[0] < entries[1]] if name == "edges" else entries
        table = pa.table({column: pa.array(values) for column, values in zip(columns, entries, strict=True)})
        pq.write_table(table, f"{name}.parquet")
        half = table.num_rows // 2
        pq.write_table(table.slice(0, half), f"{name}/0.parquet")
        pq.write_table(table.slice(half), f"{name}/1.parquet")
    return tmp_path


def embed(*arguments, code=0):
    result = CliRunner().invoke(hopscale, ["embed", *map(str, arguments)])
    assert result.exit_code == code, result.output
    return result


def test_a_glob_and_a_folder_give_the_vectors_of_one_file(folder):
    embed("--edges", "edges.parquet", "--features", "features.parquet", *SETTINGS, "-o", "whole.parquet")
    more = ["--save", "model.safetensors", "--feature-output", "f.parquet", "--json", "-q"]
    found = embed("--edges", "edges/*.parquet", "--features", "features", *SETTINGS, "-o", "vectors/", *more)
    assert json.loads(found.stdout)["nodes"] == 200
    ids, vectors = vectors_in("vectors")
    whole = pq.read_table("whole.parquet")
    assert ids == whole.column("id").to_pylist()
    assert pq.read_table("vectors").equals(whole)
    assert np.isfinite(vectors).all()
    assert load_model("model.safetensors").feature_vectors().shape == (pq.read_table("f.parquet").num_rows, 8)
    assert not [path.name for path in folder.iterdir() if path.name.startswith("vectors.")]


def test_lines_name_the_blocks(folder):
    found = embed("--edges", "edges/*.parquet", "--features", "features", *SETTINGS, "-o", "vectors")
    assert "learn: block 1 of 4 done" in found.stderr
    assert "200 vectors of 8 dimensions" in found.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["-o", "vectors.csv"], 2, "go to a folder of Parquet files"),
        ([], 2, "need a folder to go to"),
        (["-o", "-"], 2, "need a folder to go to"),
        (["-o", "features/vectors"], 2, "--output must be outside of"),
        (["-o", "features"], 1, "is not empty"),
        (["-o", "v", "--rows", "exact"], 2, "--rows exact cannot be computed in blocks"),
        (["-o", "v", "--model", "hope"], 2, "HOPE cannot be fitted in blocks"),
        (["-o", "v", "--score"], 2, "nothing to score on"),
        (["-o", "v", "--format", "csv"], 2, "their format is Parquet"),
        (["-o", "v", "--skip-bad-lines"], 2, "--skip-bad-lines means nothing to a graph in blocks"),
        (["-o", "v", "--scheduler", "tcp://127.0.0.1:9"], 1, "no Dask scheduler at"),
    ],
)
@pytest.mark.usefixtures("folder")
def test_what_makes_no_sense_is_refused_before_any_work(folder, arguments, code, message):
    before = {path.name for path in folder.iterdir()}
    found = embed("--edges", "edges/*.parquet", "--features", "features", *arguments, code=code)
    assert message in found.stderr
    assert {path.name for path in folder.iterdir()} == before


def test_one_run_at_a_time_writes_to_a_folder(folder):
    before = {path.name for path in folder.iterdir()}
    with only_writer(folder / "vectors"):
        found = embed("--edges", "edges/*.parquet", "--features", "features", *SETTINGS, "-o", "vectors", code=1)
    assert "another run is working in" in found.stderr
    assert {path.name for path in folder.iterdir()} == before


def test_files_that_are_not_parquet(folder):
    (folder / "edges.csv").write_text("source,target\n1,2\n")
    found = embed("--edges", "edges.csv", "--features", "features", "-o", "vectors", code=1)
    assert "edges.csv is not a Parquet file" in found.stderr


def test_a_work_folder_is_for_blocks(folder):
    found = embed("--edges", "edges.parquet", "-o", "v.csv", "--work-folder", "w", code=2)
    assert "--work-folder is for a graph in blocks" in found.stderr


def test_a_lost_connection_is_one_line_and_no_traceback(caplog):
    distributed = pytest.importorskip("distributed")
    log = logging.getLogger(f"{distributed.__name__}.client")
    before = log.level
    with blocks._without_tracebacks("tcp://127.0.0.1:9"):
        log.error("Traceback")
    assert not caplog.records
    assert log.level == before
