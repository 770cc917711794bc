"""Scoring: its progress, its limit of time, and its pieces, none of which change a record."""

import io
import sys
import threading
from concurrent.futures import CancelledError
from itertools import count
from types import SimpleNamespace

import numpy as np
import pytest

from hopscale.compute.threads import Threads, checkpoint
from hopscale.exceptions import ParameterError
from hopscale.supervised.heads.logistic import fit_logistic
from hopscale.tasks import evaluate, summarize

TASKS = ["classification", "regression"]
every_task = pytest.mark.parametrize("task", TASKS)


@pytest.fixture(name="problem", scope="module")
def made():
    random = np.random.default_rng(0)
    vectors = random.normal(size=(200, 5))
    return vectors, (vectors @ random.normal(size=(5, 4)) + random.normal(size=(200, 4))).argmax(axis=1)


@pytest.fixture
def clock(monkeypatch):
    """Every look at the clock is a second after the last."""
    ticks = count()
    monkeypatch.setattr("hopscale.tasks.scoring.time", SimpleNamespace(perf_counter=lambda: float(next(ticks))))


@every_task
class TestLimit:
    @pytest.mark.usefixtures("clock")
    @pytest.mark.parametrize(("seconds", "taken"), [(0, 1), (0.5, 1), (1, 1), (3.9, 3), (10, 10), (1e9, 10)])
    def test_takes_the_first_splits_as_they_are(self, problem, task, seconds, taken):
        everything = evaluate(*problem, task)
        assert len(everything) == 10
        assert evaluate(*problem, task, max_seconds=seconds) == everything[:taken]
        assert evaluate(*problem, task, max_seconds=seconds, n_jobs=2) == everything[:taken]

    @pytest.mark.parametrize("seconds", [-1, "x", float("nan"), True])
    def test_that_makes_no_sense_is_named(self, problem, task, seconds):
        with pytest.raises(ParameterError, match="max_seconds must be a number"):
            evaluate(*problem, task, max_seconds=seconds)


@every_task
class TestProgress:
    def shown(self, monkeypatch, problem, task, *, terminal, **settings):
        stream = io.StringIO()
        stream.isatty = lambda: terminal
        monkeypatch.setattr(sys, "stderr", stream)
        return evaluate(*problem, task, splits=3, **settings), stream.getvalue()

    def test_is_shown_on_terminals_if_asked_for(self, monkeypatch, problem, task):
        plain, said = self.shown(monkeypatch, problem, task, terminal=True)
        assert said == ""
        records, said = self.shown(monkeypatch, problem, task, terminal=True, progress=True)
        assert "scoring" in said
        assert "/3" in said
        assert records == plain
        assert self.shown(monkeypatch, problem, task, terminal=False, progress=True) == (plain, "")

    def test_is_asked_for_by_true(self, problem, task):
        with pytest.raises(ParameterError, match="progress must be True or False"):
            evaluate(*problem, task, progress=3)


class TestPieces:
    @pytest.mark.parametrize("n_classes", [2, 4])
    @pytest.mark.parametrize("standardize", [False, True])
    def test_of_rows_change_logistic_regressions_by_rounding_only(self, monkeypatch, problem, n_classes, standardize):
        vectors, classes = problem[0], problem[1] % n_classes
        parts = np.random.default_rng(1).random((3, 200)) < 0.8
        whole = fit_logistic(vectors, classes, n_classes, parts, standardize=standardize)
        monkeypatch.setattr("hopscale.supervised.heads.logistic._MULTIPLICATIONS", 1000)
        pieces = fit_logistic(vectors, classes, n_classes, parts, standardize=standardize)
        np.testing.assert_allclose(pieces.coefficients, whole.coefficients, rtol=1e-5)
        np.testing.assert_allclose(pieces.intercepts, whole.intercepts, rtol=1e-5, atol=1e-8)

    @every_task
    def test_of_rows_change_records_by_rounding_only(self, monkeypatch, problem, task):
        whole = evaluate(*problem, task, splits=3)
        for module in ("logistic", "node_regression"):
            monkeypatch.setattr(sys.modules[f"hopscale.tasks.{module}"], "_MULTIPLICATIONS", 100)
        pieces = evaluate(*problem, task, splits=3)
        for metric, row in summarize(pieces).items():
            assert row == pytest.approx(summarize(whole)[metric], rel=1e-9)


class TestCheckpoint:
    def test_ends_work_whose_engine_was_stopped(self, monkeypatch):
        monkeypatch.setattr("hopscale.compute.threads._IDLE", 0.001)
        begun, ended = threading.Event(), threading.Event()

        def work(task):
            begun.set()
            try:
                while True:
                    checkpoint()
            except CancelledError:
                ended.set()
                raise

        def interrupt():
            raise KeyboardInterrupt

        def interrupted():
            with Threads(2) as engine:
                results = engine.map(work, range(4), idle=lambda: begun.is_set() and interrupt())
                return list(results)

        with pytest.raises(KeyboardInterrupt):
            interrupted()
        assert ended.is_set()

    def test_means_nothing_elsewhere(self):
        with pytest.raises(ValueError, match="x"), Threads(1):
            raise ValueError("x")
        checkpoint()
        with Threads(2) as engine:
            assert list(engine.map(lambda task: checkpoint() or task, range(5))) == list(range(5))

    def test_whoever_waits_is_heard_of(self, monkeypatch):
        monkeypatch.setattr("hopscale.compute.threads._IDLE", 0.001)
        heard = threading.Event()
        with Threads(1) as engine:
            assert list(engine.map(lambda _: heard.wait(30), [1], idle=heard.set)) == [True]
