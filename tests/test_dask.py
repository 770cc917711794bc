"""Blocks on a Dask cluster of real processes: the results of threads, whatever happens to workers and scheduler."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from block_functions import always_killed, calls, failing, follows, killed_once, noted, odd, pause, pausing, slow
from dask_workers import LIMIT, connected, local_cluster, scaled
from parquet_parts import random_tables, write_parts
from test_stored_graph import assert_same_graph

import hopscale
from hopscale.compute.blocks import Checkpoints, ThreadRunner
from hopscale.compute.dask import DaskRunner
from hopscale.exceptions import ClusterError, GraphError, ParameterError
from hopscale.stored import store_graph

distributed = pytest.importorskip("distributed")

SQUARES = [[number, number**2] for number in range(8)]


@contextmanager
def scheduler(folder: Path):
    """A scheduler without workers, as a process that can be killed: its address and the process."""
    file = folder / "scheduler.json"
    command = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--port", "0", "--host", "127.0.0.1"]
    command += ["--no-dashboard", "--scheduler-file", str(file)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        end = time.monotonic() + LIMIT
        while not file.exists() and time.monotonic() < end:
            time.sleep(0.05)
        time.sleep(0.2)  # until all of it is written
        yield json.loads(file.read_text())["address"], process
    finally:
        process.kill()
        process.wait()


def tasks_in(folder: Path) -> list[tuple[str, int]]:
    return [(str(folder), number) for number in range(8)]


class TestResults:
    def test_they_are_those_of_threads_and_are_not_computed_twice(self, client, tmp_path):
        runner = DaskRunner(client)
        runner.check_folder(tmp_path / "work")
        assert not any((tmp_path / "work").iterdir())
        work = Checkpoints(tmp_path / "work", {})
        assert runner.run("square", noted, tasks_in(tmp_path), work) == SQUARES
        assert runner.run("square", noted, tasks_in(tmp_path), work) == SQUARES
        assert ThreadRunner().run("square", noted, tasks_in(tmp_path), work) == SQUARES
        assert set(calls(tmp_path).values()) == {1}

    def test_a_block_begins_once_the_one_before_it_has_ended(self, cluster, client, tmp_path):
        scaled(cluster, client, 2)
        after = [None if number < 3 else number - 3 for number in range(8)]
        work = Checkpoints(tmp_path / "work", {})
        assert DaskRunner(client).run("square", follows, tasks_in(tmp_path), work, after=after) == SQUARES

    def test_an_address_is_enough(self, cluster, tmp_path):
        with DaskRunner(cluster.scheduler_address) as runner:
            work = Checkpoints(tmp_path / "work", {})
            assert runner.n_workers >= 1
            assert runner.run("square", noted, tasks_in(tmp_path), work) == SQUARES

    def test_a_stored_graph_has_the_same_bytes_for_any_number_of_workers(self, cluster, client, tmp_path):
        edges, features = random_tables(np.random.default_rng(1))
        assert features is not None
        write_parts(edges, tmp_path / "edges", [10, 20])
        write_parts(features, tmp_path / "features", [5])

        def stored(runner, name):
            folder = tmp_path / name
            store_graph(tmp_path / "edges", tmp_path / "features", folder=folder, runner=runner, memory_limit=60_000)
            return {path.name: path.read_bytes() for path in folder.iterdir()}

        expected = stored(ThreadRunner(2), "threads")
        for workers in (1, 2, 4):
            scaled(cluster, client, workers)
            assert stored(DaskRunner(client), f"workers-{workers}") == expected


class TestFailures:
    def test_an_error_of_ours_stays_what_it_is(self, client, tmp_path):
        work = Checkpoints(tmp_path / "work", {})
        with pytest.raises(GraphError, match=r"^there is no third$"):
            DaskRunner(client).run("square", failing, tasks_in(tmp_path), work)
        assert "3" not in calls(tmp_path)
        assert DaskRunner(client).run("square", noted, tasks_in(tmp_path), work) == SQUARES

    def test_a_function_that_workers_cannot_find_is_refused(self, client, tmp_path):
        with pytest.raises(ParameterError, match="top level of a module"):
            DaskRunner(client).run("odd", lambda number: number, [(1,)], Checkpoints(tmp_path / "work", {}))

    def test_other_errors_reach_the_user(self, client, tmp_path):
        with pytest.raises(ZeroDivisionError, match="division by zero"):
            DaskRunner(client).run("odd", odd, tasks_in(tmp_path), Checkpoints(tmp_path / "work", {}))

    def test_a_worker_that_is_killed_loses_nothing(self, cluster, client, tmp_path):
        scaled(cluster, client, 2)
        work = Checkpoints(tmp_path / "work", {})
        assert DaskRunner(client).run("square", killed_once, tasks_in(tmp_path), work) == SQUARES
        assert calls(tmp_path)["2"] == 1

    def test_a_block_that_ends_three_workers_is_given_up(self, cluster, client, tmp_path):
        scaled(cluster, client, 2)
        work = Checkpoints(tmp_path / "work", {})
        with pytest.raises(ClusterError, match=r"square: block 2 of 8 was given up: 3 workers .*memory"):
            DaskRunner(client).run("square", always_killed, tasks_in(tmp_path), work)
        assert (tmp_path / "deaths").read_text().count("dead") == 3
        assert "1" not in calls(tmp_path)

    def test_a_worker_killed_at_any_moment_leaves_the_same_graph(self, cluster, client, tmp_path):
        scaled(cluster, client, 2)
        edges, features = random_tables(np.random.default_rng(1))
        write_parts(edges, tmp_path / "edges", [])
        write_parts(features, tmp_path / "features", [])
        options = {"memory_limit": 40_000}
        expected = store_graph(tmp_path / "edges", tmp_path / "features", folder=tmp_path / "threads", **options)

        class Killing(DaskRunner):
            def run(self, stage, *rest, **more):
                if stage in ("reading edges", "finding nodes", "sorting edges", "merging features"):
                    pids = client.run(os.getpid)
                    threading.Timer(0.02, os.kill, (min(pids.values()), signal.SIGKILL)).start()
                return super().run(stage, *rest, **more)

        found = store_graph(
            tmp_path / "edges", tmp_path / "features", folder=tmp_path / "killed", runner=Killing(client), **options
        )
        assert_same_graph(found.to_graph(), expected.to_graph())


class TestScheduler:
    def test_one_that_is_not_there_is_an_error_within_seconds(self, monkeypatch):
        monkeypatch.setattr("hopscale.compute.dask._ANSWER", 1.0)
        with pytest.raises(ClusterError, match=r"no Dask scheduler at 'tcp://127\.0\.0\.1:1'.*dask scheduler"):
            DaskRunner("tcp://127.0.0.1:1")
        for nonsense in ("nonsense://", "nonsense", "tcp://127.0.0.1"):
            with pytest.raises(ClusterError, match="no Dask scheduler"):
                DaskRunner(nonsense)

    def test_one_without_workers_is_an_error(self, tmp_path):
        with scheduler(tmp_path) as (address, _), DaskRunner(address, patience=1) as runner:
            with pytest.raises(ClusterError, match="has no workers: start some by 'dask worker"):
                runner.check_folder(tmp_path / "work")
            with pytest.raises(ClusterError, match="no workers for 1 seconds"):
                runner.run("square", noted, tasks_in(tmp_path), Checkpoints(tmp_path / "work", {}))

    def test_one_that_goes_away_is_an_error(self, tmp_path):
        with scheduler(tmp_path) as (address, process), DaskRunner(address, patience=2) as runner:
            threading.Timer(1.0, process.kill).start()
            with pytest.raises(ClusterError, match="where it stopped"):
                runner.run("square", noted, tasks_in(tmp_path), Checkpoints(tmp_path / "work", {}))

    def test_ctrl_c_keeps_the_markers(self, cluster, tmp_path):
        program = (
            "import signal, sys; sys.path.insert(0, sys.argv[1])\n"
            "signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where tests run in the background\n"
            "from block_functions import slow\n"
            "from hopscale.compute.blocks import Checkpoints\n"
            "from hopscale.compute.dask import DaskRunner\n"
            "tasks = [(sys.argv[3], number) for number in range(8)] * 30\n"
            "DaskRunner(sys.argv[2]).run('square', slow, tasks, Checkpoints(sys.argv[3] + '/work', {}))\n"
        )
        arguments = [str(Path(__file__).parent), cluster.scheduler_address, str(tmp_path)]
        process = subprocess.Popen([sys.executable, "-c", program, *arguments], stderr=subprocess.PIPE, text=True)
        try:
            marker = tmp_path / "work" / "done" / "square" / "000001.json"
            end = time.monotonic() + LIMIT
            while not marker.exists() and time.monotonic() < end:
                time.sleep(0.05)
            process.send_signal(signal.SIGINT)
            _, said = process.communicate(timeout=LIMIT)
        finally:
            process.kill()
            process.wait()
        assert "KeyboardInterrupt" in said
        assert marker.exists()
        assert len(list(marker.parent.iterdir())) < 240
        work = Checkpoints(tmp_path / "work", {})
        assert work.resumed
        assert work.result("square", 1, (str(tmp_path), 1)) == ([1, 1],)


@pytest.fixture(scope="class")
def alone():
    """A client of a worker that no other test has scaled or killed."""
    with local_cluster() as cluster, connected(cluster) as client:
        yield client


class TestPauses:
    """Workers that Dask has paused, as it does those that have little memory left."""

    def test_a_worker_ends_what_it_has_begun(self, alone, tmp_path):
        work = Checkpoints(tmp_path / "work", {})
        assert DaskRunner(alone, patience=0.5).run("square", pausing, tasks_in(tmp_path), work) == SQUARES

    def test_blocks_that_nobody_begins_are_an_error(self, alone, tmp_path):
        alone.run(pause, True)
        work = Checkpoints(tmp_path / "work", {})
        with pytest.raises(ClusterError, match=r"square: all workers have been paused for 1 seconds.*memory-limit"):
            DaskRunner(alone, patience=1).run("square", noted, tasks_in(tmp_path), work)
        assert calls(tmp_path) == {}


class TestWorkers:
    @pytest.mark.parametrize(
        ("answer", "message"),
        [
            ({"version": "0.0.9", "host": "far", "seen": True}, r"on far has hopscale 0\.0\.9, and the client has"),
            ({"version": hopscale.__version__, "host": "far", "seen": False}, "on far does not see the folder"),
            (ModuleNotFoundError("No module named 'hopscale'"), "cannot run hopscale: ModuleNotFoundError"),
        ],
    )
    def test_those_that_cannot_do_the_work_are_named(self, client, monkeypatch, tmp_path, answer, message):
        async def answers(*_, **__):
            return {"tcp://far:1": answer}

        monkeypatch.setattr(client, "_run", answers)
        with pytest.raises(ClusterError, match=rf"the worker tcp://far:1 .*{message}"):
            DaskRunner(client).check_folder(tmp_path)
        assert not any(tmp_path.iterdir())

    def test_another_version_is_refused_by_late_workers_as_well(self, client, monkeypatch, tmp_path):
        work = Checkpoints(tmp_path / "work", {})
        monkeypatch.setattr(hopscale, "__version__", "9.9")
        with pytest.raises(ClusterError, match=r"and the client has 9\.9"):
            DaskRunner(client).run("square", slow, tasks_in(tmp_path), work)
