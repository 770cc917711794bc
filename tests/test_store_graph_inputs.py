"""What the external sort refuses, with the file and the row, and what becomes of interrupted work."""

from __future__ import annotations

import datetime
import os
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from test_stored_graph import assert_same_graph

from hopscale import read_graph
from hopscale.compute.blocks import ThreadRunner
from hopscale.exceptions import FileFormatError, GraphError, HopscaleError, HopscaleWarning, OutputError, ParameterError
from hopscale.stored import StoredGraph, store_graph


@pytest.fixture(autouse=True)
def no_flush(monkeypatch):
    """Small graphs in many pieces would wait for the disk most of the time."""
    monkeypatch.setattr("hopscale.atomic.flush_to_disk", lambda path: None)


def parts(folder: Path, *tables: dict[str, Any] | pa.Table, row_group_size: int = 2) -> Path:
    folder.mkdir()
    for number, table in enumerate(tables):
        made = table if isinstance(table, pa.Table) else pa.table(table)
        pq.write_table(made, folder / f"part-{number}.parquet", row_group_size=row_group_size)
    return folder


EDGES = {"source": [1, 2, 3], "target": [2, 3, 4]}
MORE = {"source": [4, 5, 6], "target": [5, 6, 7]}


def with_weights(*weights: Any) -> dict[str, Any]:
    return {**EDGES, "weight": list(weights)}


BAD_EDGES: dict[str, tuple[list[Any], str]] = {
    "columns differ": ([EDGES, {"source": [1], "to": [2]}], r"part-1\.parquet has the columns .*part-0"),
    "a column more": ([EDGES, {**MORE, "weight": [1, 1, 1]}], r"part-1\.parquet has the columns"),
    "7 and '7'": ([EDGES, {"source": ["1"], "target": ["7"]}], r"part-1\.parquet.* types?"),
    "7 and '7' in the two ends": ([{"source": [7], "target": ["7"]}], r"'source' has numbers and 'target' text"),
    "1 and 1.0": (
        [EDGES, {"source": [1.0], "target": [2.0]}],
        r"part-1\.parquet: column 'source' holds double, but int",
    ),
    "dates": (
        [{"source": [datetime.date(2024, 1, 1)], "target": [datetime.date(2024, 1, 2)]}],
        r"holds date32.*convert",
    ),
    "booleans": ([{"source": [True], "target": [False]}], r"part-0\.parquet: column 'source' holds bool"),
    "all missing": ([{"source": pa.array([None], pa.null()), "target": [1]}], r"holds null"),
    "missing": (
        [EDGES, {"source": [4, 5, 6], "target": [5, 6, None]}],
        r"part-1\.parquet has 1 missing.*'target'.*row 2",
    ),
    "missing text": ([{"source": ["a", "b", "c"], "target": ["b", None, "c"]}], r"part-0\.parquet.*row 1"),
    "NaN": ([{"source": [1.0, 2.0, 3.0], "target": [2.0, 3.0, np.nan]}], r"part-0\.parquet, row 2.*NaN"),
    "a fraction": (
        [{"source": [1.0, 2.0, 3.0], "target": [2.0, 3.0, 4.5]}],
        r"part-0\.parquet, row 2: 4\.5 is neither",
    ),
    "too large": (
        [{"source": pa.array([1, 2**63], pa.uint64()), "target": pa.array([1, 1], pa.uint64())}],
        r"row 1: 9223",
    ),
    "negative weight": ([with_weights(1, 1, 1), with_weights(1, 1, -2)], r"part-1\.parquet, row 2, is -2.*negative"),
    "NaN as weight": ([with_weights(1.0, 1.0, np.nan)], r"part-0\.parquet, row 2, is nan.*not finite"),
    "no weight": ([with_weights(1.0, None, 1.0)], r"part-0\.parquet has 1 missing.*'weight'.*row 1"),
    "text as weight": ([with_weights("1", "many", "1")], r"part-0\.parquet, row 1, is 'many'"),
    "weights too large": ([with_weights(1e38, 1.0, 1.0), with_weights(3e38, 1, 1)], r"too large for float32"),
    "no rows": ([pa.table(EDGES).slice(0, 0), pa.table(EDGES).slice(0, 0)], r"no edges, for none of 2 file"),
    "one column": ([{"source": [1]}], r"at least 2 columns"),
}


@pytest.mark.parametrize(("tables", "message"), BAD_EDGES.values(), ids=BAD_EDGES)
@pytest.mark.parametrize("memory_limit", ["1GiB", 4096])
def test_bad_edges_are_refused_with_file_and_row(tables, message, memory_limit, tmp_path):
    edges = parts(tmp_path / "edges", *tables)
    with pytest.raises(HopscaleError, match=message):
        store_graph(
            edges,
            folder=tmp_path / "graph",
            memory_limit=memory_limit,
            weight="weight" if len(tables[0]) == 3 else None,
        )
    assert not (tmp_path / "graph").exists()


BAD_FEATURES: dict[str, tuple[list[Any], str]] = {
    "text for numbers": (
        [{"node": ["1", "x"], "feature": ["a", "b"]}],
        r"part-0\.parquet: node 'x' is not a whole number",
    ),
    "wide": ([{"node": [1], "age": [5], "height": [7]}], r"features has the columns|has the columns"),
    "missing": ([{"node": [1, 2], "feature": ["a", None]}], r"part-0\.parquet.*row 1"),
    "missing in a list": ([{"node": [1, 2], "feature": [["a"], ["b", None]]}], r"part-0\.parquet, row 1"),
    "vectors": ([{"node": [1, 2], "feature": [[0.5], [0.25]]}], r"vectors where lists of features are expected"),
    "fractions": ([{"node": [1, 2], "feature": [0.5, 1.0]}], r"part-0\.parquet, row 0: 0\.5 is neither"),
    "negative value": ([{"node": [1], "feature": ["a"], "value": [-1.0]}], r"part-0\.parquet, row 0, is -1"),
    "numbers past 64 bits": ([{"node": [1], "feature": ["9" * 30]}], r"does not fit into 64 bits"),
    "kinds differ": ([{"node": [1], "feature": ["a"]}, {"node": [1], "feature": [1]}], r"part-1\.parquet.* type"),
}


@pytest.mark.parametrize(("tables", "message"), BAD_FEATURES.values(), ids=BAD_FEATURES)
def test_bad_features_are_refused_with_file_and_row(tables, message, tmp_path):
    features = parts(tmp_path / "features", *tables)
    with pytest.raises(HopscaleError, match=message):
        store_graph(parts(tmp_path / "edges", EDGES), features, folder=tmp_path / "graph")
    assert not (tmp_path / "graph").exists()


def test_files_that_are_not_there(tmp_path):
    edges = parts(tmp_path / "edges", EDGES)
    (tmp_path / "empty").mkdir()
    for given, message in (
        (tmp_path / "none" / "*.parquet", r"no file matches .*none"),
        (tmp_path / "empty", r"no file that ends in \.parquet"),
        (edges / "part-9.parquet", r"there is no file .*part-9.* did you mean .*part-0"),
        ([], "empty list"),
        ([edges, edges / "part-0.parquet"], "twice"),
        (7, "must be a path, a glob or a list"),
        ([7], "must be a path, a glob or a list"),
    ):
        with pytest.raises(HopscaleError, match=message):
            store_graph(given, folder=tmp_path / "graph")
        with pytest.raises(HopscaleError, match=message):
            store_graph(edges, given, folder=tmp_path / "graph")
    assert {path.name for path in tmp_path.iterdir()} == {"edges", "empty"}


@pytest.mark.parametrize("damage", ["empty", "cut", "no footer", "text", "page"])
def test_a_damaged_file_is_named(damage, tmp_path):
    edges = parts(tmp_path / "edges", EDGES, {name: list(range(500)) for name in EDGES})
    path = edges / "part-1.parquet"
    content = bytearray(path.read_bytes())
    if damage == "page":
        content[4:400] = bytes(396)
    path.write_bytes(
        {"empty": b"", "cut": content[:-20], "no footer": content[:40], "text": b"1,2\n2,3\n"}.get(damage, content)
    )
    told = "is not a Parquet file" if damage == "text" else "cannot be read as Parquet: it is cut short or damaged"
    with pytest.raises(FileFormatError, match=rf"part-1\.parquet {told}"):
        store_graph(edges, folder=tmp_path / "graph")
    assert not (tmp_path / "graph").exists()


class Interfering(ThreadRunner):
    """Does something before one of the stages."""

    def __init__(self, stage, action):
        super().__init__()
        self.stage, self.action, self.stages = stage, action, []

    def run(self, stage, function, tasks, checkpoints):
        self.stages.append(stage)
        if stage == self.stage:
            self.action()
        return super().run(stage, function, tasks, checkpoints)


def test_a_file_that_vanishes_or_changes_meanwhile_is_named(tmp_path):
    edges = parts(tmp_path / "edges", EDGES, MORE)
    path = edges / "part-1.parquet"
    with pytest.raises(FileFormatError, match=r"part-1\.parquet has changed since"):
        store_graph(
            edges, folder=tmp_path / "graph", runner=Interfering("reading edges", lambda: os.utime(path, ns=(5, 5)))
        )
    with pytest.raises(FileFormatError, match=r"part-1\.parquet cannot be read"):
        store_graph(edges, folder=tmp_path / "graph", runner=Interfering("reading edges", path.unlink))
    assert not (tmp_path / "graph").exists()


def test_parts_without_rows_and_other_files_are_passed_over(tmp_path):
    nothing = pa.table({"source": pa.array([], pa.null()), "target": pa.array([], pa.null())})
    edges = parts(tmp_path / "edges", nothing, EDGES, nothing, MORE)
    (edges / "_SUCCESS").touch()
    (edges / "_temporary").mkdir()
    (edges / "_temporary" / "part-9.parquet").write_bytes(b"unfinished")
    (edges / ".part-0.parquet.crc").touch()
    graph = store_graph(edges, folder=tmp_path / "graph")
    assert graph.node_ids().tolist() == [1, 2, 3, 4, 5, 6, 7]
    assert graph.n_edges == 6


def test_columns_come_in_the_order_of_the_first_part(tmp_path):
    first = {"source": ["b", "a"], "target": ["a", "c"], "weight": [1.0, 2.0]}
    second = {"source": ["d", "a"], "target": ["b", "d"], "weight": [3.0, 4.0]}
    own, more = {"node": ["a"], "feature": ["x"]}, {"node": ["b"], "feature": ["y"]}
    same = store_graph(
        parts(tmp_path / "edges", first, second), parts(tmp_path / "features", own, more), folder=tmp_path / "same"
    )
    turned = store_graph(
        parts(tmp_path / "turned", first, dict(reversed(second.items()))),
        parts(tmp_path / "turned-features", own, dict(reversed(more.items()))),
        folder=tmp_path / "other",
    )
    assert_same_graph(turned.to_graph(), same.to_graph())


def test_one_file_a_glob_and_a_list_are_the_same(tmp_path):
    edges = parts(tmp_path / "edges", {"source": ["b"], "target": ["a"]}, {"source": ["c"], "target": ["b"]})
    expected = ["b", "a", "c"]
    files = [edges / "part-0.parquet", str(edges / "part-1.parquet")]
    for number, given in enumerate((edges, str(edges / "*.parquet"), files, [edges])):
        assert store_graph(given, folder=tmp_path / f"graph-{number}").node_ids().tolist() == expected
    assert store_graph(files[::-1], folder=tmp_path / "other").node_ids().tolist() == ["c", "b", "a"]
    assert store_graph(files[0], folder=tmp_path / "one").node_ids().tolist() == ["b", "a"]


def test_columns_are_chosen_as_read_graph_chooses_them(tmp_path):
    table = {
        "when": ["2024-01-01", "2024-01-02"] * 3,
        "note": ["x"] * 6,
        "buyer": ["a", "b", "c", "a", "d", "e"],
        "seller": ["b", "c", "a", "c", "a", "a"],
        "count": [1.5, 2.0, 1.0, 1.0, 1.0, 3.0],
    }
    edges = parts(tmp_path / "edges", pa.table(table).slice(0, 3), pa.table(table).slice(3))
    pq.write_table(pa.table(table), tmp_path / "whole.parquet")
    lines: list[str] = []
    for number, options in enumerate(({}, {"weight": False}, {"source": "note", "weight": "count"})):
        said: list[str] = []
        stored = store_graph(edges, folder=tmp_path / f"graph-{number}", say=said.append, **options)
        whole = read_graph(tmp_path / "whole.parquet", say=lines.append, **options)
        assert_same_graph(stored.to_graph(), whole)
        assert said[0].removeprefix(str(edges)) in [
            line.removeprefix(str(tmp_path / "whole.parquet")) for line in lines
        ]
    with pytest.raises(GraphError, match="no column 'who'"):
        store_graph(edges, folder=tmp_path / "graph", source="who")


def test_an_index_of_pandas_names_the_nodes(tmp_path):
    index = pa.table({"feature": ["tea", "go"], "__index_level_0__": ["a", "b"]})
    features = parts(tmp_path / "features", index)
    edges = parts(tmp_path / "edges", {"source": ["a"], "target": ["b"]})
    graph = store_graph(edges, features, folder=tmp_path / "graph")
    whole = read_graph(edges / "part-0.parquet", features / "part-0.parquet")
    assert_same_graph(graph.to_graph(), whole)
    assert graph.n_features == 2


def test_nodes_that_no_edge_names(tmp_path):
    edges = parts(tmp_path / "edges", EDGES)
    features = parts(tmp_path / "features", {"node": [1, 99], "feature": ["a", "b"]})
    with pytest.raises(FileFormatError, match=r"features: 1 node.*such as '99'; give unknown='isolate'"):
        store_graph(edges, features, folder=tmp_path / "graph", unknown="error")
    assert store_graph(edges, features, folder=tmp_path / "graph").n_nodes == 5
    apart = parts(tmp_path / "apart", {"node": [98, 99], "feature": ["a", "b"]})
    with pytest.warns(HopscaleWarning, match="none of the 2 nodes with features is in an edge"):
        store_graph(edges, apart, folder=tmp_path / "apart-graph")


def test_the_output_is_left_alone_if_there_is_something(tmp_path):
    edges = parts(tmp_path / "edges", EDGES)
    (tmp_path / "graph").mkdir()
    (tmp_path / "graph" / "mine").touch()
    with pytest.raises(OutputError, match="not empty"):
        store_graph(edges, folder=tmp_path / "graph")
    with pytest.raises(OutputError, match="no folder"):
        store_graph(edges, folder=tmp_path / "no" / "graph")
    (tmp_path / "graph" / "mine").unlink()
    store_graph(edges, folder=tmp_path / "graph")  # an empty folder gives way
    assert {path.name for path in tmp_path.iterdir()} == {"edges", "graph"}


@pytest.mark.parametrize(
    "options",
    [
        {"memory_limit": 100},
        {"memory_limit": "much"},
        {"self_loops": 1},
        {"unknown": "drop"},
        {"source": 3},
        {"runner": "tcp://127.0.0.1:8786"},
        {"features": pd.DataFrame({"node": [1], "feature": [2]})},
    ],
    ids=str,
)
def test_parameters_that_make_no_sense(options, tmp_path):
    with pytest.raises(ParameterError):
        store_graph(parts(tmp_path / "edges", EDGES), folder=tmp_path / "graph", **options)
    assert [path.name for path in tmp_path.iterdir()] == ["edges"]


STAGES = [
    "reading edges",
    "reading features",
    "finding nodes",
    "numbering nodes",
    "looking up nodes",
    "finding features",
]
STAGES += [
    "sorting edges",
    "sorting features",
    "merging edges",
    "merging features",
    "writing arrays",
    "writing offsets",
]


@pytest.mark.parametrize("stage", STAGES)
def test_interrupted_work_goes_on_where_it_stopped(stage, tmp_path):
    names = [f"n{number}" for number in range(40)]
    edges = parts(tmp_path / "edges", {"source": names[:-1], "target": names[1:], "weight": [0.1] * 39})
    features = parts(tmp_path / "features", {"node": names, "feature": ["a", "b"] * 20})
    options = {"memory_limit": 20_000}
    expected = store_graph(edges, features, folder=tmp_path / "expected", **options)

    def stop():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        store_graph(edges, features, folder=tmp_path / "graph", runner=Interfering(stage, stop), **options)
    assert not (tmp_path / "graph").exists()
    done = {path.parent.name for path in (tmp_path / "graph.work" / "done").rglob("*.json")}
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "graph.work" / "done").rglob("*.json")}
    said: list[str] = []

    def check():
        for path, changed in before.items():
            assert path.stat().st_mtime_ns == changed

    again = store_graph(
        edges,
        features,
        folder=tmp_path / "graph",
        runner=Interfering("writing offsets", check),
        say=said.append,
        **options,
    )
    assert any("going on with the unfinished work" in line for line in said)
    assert bool(done) == (stage != "reading edges")
    assert_same_graph(again.to_graph(), expected.to_graph())
    assert not (tmp_path / "graph.work").exists()


@pytest.mark.parametrize("change", ["limit", "input", "loops"])
def test_unfinished_work_of_something_else_is_not_used(change, tmp_path):
    edges = parts(tmp_path / "edges", {"source": [1, 2, 3, 3], "target": [2, 3, 4, 3]})

    def stop():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        store_graph(edges, folder=tmp_path / "graph", runner=Interfering("merging edges", stop))
    options: dict[str, Any] = {"limit": {"memory_limit": "1MiB"}, "loops": {"self_loops": True}}.get(change, {})
    if change == "input":
        pq.write_table(pa.table({"source": [1, 8], "target": [2, 9]}), edges / "part-0.parquet")
    said: list[str] = []
    runner = Interfering(None, None)
    graph = store_graph(edges, folder=tmp_path / "graph", say=said.append, runner=runner, **options)
    assert any("work starts anew" in line for line in said)
    assert_same_graph(
        graph.to_graph(),
        read_graph(edges / "part-0.parquet", **{key: options[key] for key in options if key == "self_loops"}),
    )
    assert StoredGraph.open(tmp_path / "graph").n_nodes == graph.n_nodes


def test_a_number_that_is_left_out_is_said_for_a_part_may_be_missing(tmp_path):
    folder = parts(tmp_path / "edges", EDGES, MORE, EDGES, MORE)
    (folder / "part-1.parquet").unlink()
    with pytest.warns(HopscaleWarning, match=r"between part-0\.parquet and part-2\.parquet 1 part\(s\) may be missing"):
        store_graph(folder, folder=tmp_path / "graph")


@pytest.mark.filterwarnings("error")
def test_numbers_that_are_no_counts_are_not_missed(tmp_path):
    folder = parts(tmp_path / "edges", EDGES, MORE)
    (folder / "part-1.parquet").rename(folder / "part-77.parquet")
    assert store_graph(folder, folder=tmp_path / "graph").n_edges == 6
