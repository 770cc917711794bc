"""Stages of tasks with markers: results in order, nothing done twice, nothing mixed."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path

import pytest
from block_functions import calls, failing, follows, noted

from hopscale.compute.blocks import Checkpoints, ThreadRunner, files_state
from hopscale.exceptions import GraphError, OutputError, ParameterError


@pytest.mark.parametrize("n_jobs", [1, 2, 4])
def test_results_come_in_order(n_jobs, tmp_path):
    tasks = [(str(tmp_path), number) for number in range(20)]
    results = ThreadRunner(n_jobs).run("square", noted, tasks, Checkpoints(tmp_path / "work", {}))
    assert results == [[number, number**2] for number in range(20)]


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_a_task_begins_once_the_one_before_it_has_ended(n_jobs, tmp_path):
    tasks = [(str(tmp_path), number) for number in range(12)]
    after = [None if number < 3 else number - 3 for number in range(12)]
    results = ThreadRunner(n_jobs).run("square", follows, tasks, Checkpoints(tmp_path / "work", {}), after=after)
    assert results == [[number, number**2] for number in range(12)]


def test_what_is_done_is_not_done_again(tmp_path):
    tasks = [(str(tmp_path), number) for number in range(5)]
    with pytest.raises(GraphError, match="no third"):
        ThreadRunner(1).run("square", failing, tasks, Checkpoints(tmp_path / "work", {"window": 1}))
    done = set(calls(tmp_path))
    assert done
    assert "3" not in done
    said: list[str] = []
    work = Checkpoints(tmp_path / "work", {"window": 1}, say=said.append)
    assert work.resumed
    assert "going on" in said[0]
    assert ThreadRunner(2).run("square", noted, tasks, work) == [[number, number**2] for number in range(5)]
    assert calls(tmp_path) == dict.fromkeys("01234", 1)


def test_other_parameters_start_anew_or_are_refused(tmp_path):
    tasks = [(str(tmp_path), 1)]
    ThreadRunner().run("square", noted, tasks, Checkpoints(tmp_path / "work", {"window": 1, "depth": 2}))
    with pytest.raises(ParameterError, match=r"differs in window.*remove"):
        Checkpoints(tmp_path / "work", {"window": 2, "depth": 2}, stale="refuse")
    said: list[str] = []
    work = Checkpoints(tmp_path / "work", {"window": 2, "depth": 2}, say=said.append)
    assert not work.resumed
    assert "differs in window" in said[0]
    ThreadRunner().run("square", noted, tasks, work)
    assert calls(tmp_path) == {"1": 2}


def test_a_marker_counts_for_its_own_task_alone(tmp_path):
    work = Checkpoints(tmp_path / "work", {})
    assert ThreadRunner().run("square", noted, [(str(tmp_path), 1)], work) == [[1, 1]]
    assert ThreadRunner().run("square", noted, [(str(tmp_path), 2)], work) == [[2, 4]]
    marker = tmp_path / "work" / "done" / "square" / "000000.json"
    for damaged in (marker.read_bytes()[:10], b"[]", b""):
        marker.write_bytes(damaged)
        assert ThreadRunner().run("square", noted, [(str(tmp_path), 2)], work) == [[2, 4]]
    assert calls(tmp_path) == {"1": 1, "2": 4}


def test_results_are_those_of_markers(tmp_path):
    work = Checkpoints(tmp_path / "work", {})
    fresh = ThreadRunner().run("pair", divmod, [(7, 2)], work)
    assert fresh == ThreadRunner().run("pair", divmod, [(7, 2)], work) == [[3, 1]]  # a list, as JSON has it
    with pytest.raises(TypeError, match="JSON"):
        ThreadRunner().run("complex", complex, [(1, 2)], work)


def test_changed_inputs_are_seen(tmp_path):
    source = tmp_path / "edges.parquet"
    source.write_bytes(b"1234")
    before = files_state([source])
    assert before == files_state([source])
    os.utime(source, ns=(1, 1))
    assert files_state([source]) != before
    source.unlink()
    with pytest.raises(ParameterError, match=r"edges\.parquet"):
        files_state([source])


def test_folders_of_others_are_left_alone(tmp_path):
    mine = tmp_path / "mine.txt"
    mine.write_text("mine")
    for folder in (tmp_path, mine):
        with pytest.raises(OutputError, match="something else"):
            Checkpoints(folder, {})
    (tmp_path / "work.json").write_text(json.dumps({"format": "another"}))
    with pytest.raises(OutputError, match="something else"):
        Checkpoints(tmp_path, {})
    assert mine.read_text() == "mine"


def test_removing_leaves_nothing(tmp_path):
    work = Checkpoints(tmp_path / "work", {})
    ThreadRunner().run("square", noted, [(str(tmp_path / "work"), 1)], work)
    work.remove()
    assert not any(tmp_path.iterdir())


def waiting(folder: str, number: int) -> int:
    Path(folder, "started").touch()
    if number == 1:
        raise KeyboardInterrupt
    return number


def test_an_interruption_keeps_the_markers(tmp_path):
    work = Checkpoints(tmp_path / "work", {})
    with pytest.raises(KeyboardInterrupt):
        ThreadRunner().run("wait", waiting, [(str(tmp_path), number) for number in range(3)], work)
    assert work.result("wait", 0, (str(tmp_path), 0)) == (0,)
    assert work.result("wait", 1, (str(tmp_path), 1)) is None
    assert not any(thread.name.startswith("hopscale") for thread in threading.enumerate())


def test_what_a_killed_removal_has_left_is_not_gone_on_with(tmp_path, monkeypatch):
    work = Checkpoints(tmp_path / "work", {"window": 1})
    tasks = [(str(tmp_path), number) for number in range(3)]
    ThreadRunner().run("square", noted, tasks, work)

    def killed(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("shutil.rmtree", killed)
        with pytest.raises(KeyboardInterrupt):
            work.remove()
    again = Checkpoints(tmp_path / "work", {"window": 1}, stale="refuse")
    assert not again.resumed
    assert again.result("square", 0, tasks[0]) is None
