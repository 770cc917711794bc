"""The external sort: what it stores is what ``read_graph`` reads from one file with all rows, bit by bit."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from parquet_parts import random_tables, whole_graph, write_parts
from test_stored_graph import assert_same_graph

from hopscale.compute.blocks import ThreadRunner
from hopscale.stored import store_graph


@pytest.fixture(autouse=True)
def no_flush(monkeypatch):
    """Small graphs in many pieces would wait for the disk most of the time."""
    monkeypatch.setattr("hopscale.atomic.flush_to_disk", lambda path: None)


@pytest.mark.parametrize("seed", range(60))
@pytest.mark.filterwarnings("ignore::hopscale.exceptions.HopscaleWarning")
def test_a_random_graph_is_that_of_read_graph(seed, tmp_path):
    random = np.random.default_rng(seed)
    edges, features = random_tables(random)
    self_loops = bool(random.random() < 0.5)
    expected = whole_graph(edges, features, tmp_path / "whole", self_loops=self_loops)
    options = {"row_group_size": int(random.integers(1, 40)), "use_dictionary": bool(random.random() < 0.5)}
    for name, table in (("edges", edges), ("features", features)):
        if table is not None:
            cuts = np.sort(random.integers(0, len(table) + 1, int(random.integers(0, 4)))).tolist()
            write_parts(table, tmp_path / name, cuts, **options)
    stored = store_graph(
        tmp_path / "edges",
        None if features is None else tmp_path / "features",
        folder=tmp_path / "graph",
        self_loops=self_loops,
        memory_limit=int(random.choice([4096, 10_000, 2**30])),
        runner=ThreadRunner(int(random.integers(1, 3))),
    )
    stored.validate()
    assert_same_graph(stored.to_graph(), expected)
    assert stored.n_edges == expected.n_edges
    assert stored.weighted == expected.is_weighted
    assert not (tmp_path / "graph.work").exists()


@pytest.mark.skipif(sys.platform != "linux", reason="resident memory is read from /proc")
def test_memory_stays_within_the_limit_on_a_graph_of_several_times_as_much(tmp_path):
    program = str(Path(__file__).with_name("store_memory.py"))
    subprocess.run([sys.executable, program, "write", str(tmp_path), "whole"], check=True, timeout=300)
    done = subprocess.run(
        [sys.executable, program, "store", str(tmp_path), "24MiB"], check=True, capture_output=True, timeout=300
    )
    # 3.2 million edges: 100 MiB as sorted keys in both directions. Arrow decodes a row group beside what is counted.
    assert int(done.stdout) < 64 * 2**20
