"""Threads: the order and the number of tasks, the end of work, and the limit on BLAS that overlapping fits share."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from hopscale.compute import Threads
from hopscale.compute.threads import checkpoint
from hopscale.exceptions import GraphError


def blas_threads():
    np.ones((2, 2)) @ np.ones((2, 2))
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}


def test_results_come_in_the_order_of_the_tasks():
    with Threads(3) as engine:
        assert list(engine.map(lambda task: task * task, range(50), at_once=2)) == [i * i for i in range(50)]


@pytest.mark.parametrize(("n_jobs", "at_once", "expected"), [(4, 2, 2), (4, None, 4), (3, 8, 3), (4, 1, 1)])
def test_as_many_tasks_run_as_may_and_no_more(n_jobs, at_once, expected):
    """Every task waits for as many as may run at once to be running, and then a moment for one too many."""
    running, most, change = 0, 0, threading.Condition()

    def work(task):
        nonlocal running, most
        with change:
            running += 1
            most = max(most, running)
            change.notify_all()
            assert change.wait_for(lambda: most >= expected, timeout=30)
            change.wait_for(lambda: most > expected, timeout=0.02)
            running -= 1
        return task

    with Threads(n_jobs) as engine:
        assert list(engine.map(work, range(4 * expected), at_once=at_once)) == list(range(4 * expected))
    assert most == expected


@pytest.mark.parametrize("at_once", [1, 3])
def test_calls_that_run_work_of_their_own_come_back_in_order(at_once):
    with Threads(2) as engine:
        squares = engine.together(lambda n: sum(engine.map(lambda i: i * n, range(n))), range(9), at_once=at_once)
    assert squares == [n * n * (n - 1) // 2 for n in range(9)]


def test_calls_go_on_while_another_waits():
    """Each of three calls waits for the two others: one after the other they would wait forever."""
    barrier = threading.Barrier(3, timeout=30)
    with Threads(1) as engine:
        assert engine.together(lambda i: (barrier.wait(), i)[1], range(3), at_once=3) == [0, 1, 2]


def test_an_error_of_one_call_ends_the_others():
    def call(i):
        if i == 0:
            raise ValueError("the first")
        while True:  # until told to stop
            list(engine.map(lambda _: checkpoint(), range(4)))

    with pytest.raises(ValueError, match="the first"), Threads(2) as engine:
        engine.together(call, range(3), at_once=3)


def test_few_results_wait_to_be_taken():
    """A result may be large: no task starts before there is room for what it brings."""
    alive, most, lock = 0, 0, threading.Lock()

    def work(i):
        nonlocal alive, most
        with lock:
            alive += 1
            most = max(most, alive)
        np.linalg.norm(np.ones((50 * (8 - i % 8), 50)))
        return i

    with Threads(4) as engine:
        for i, result in enumerate(engine.map(work, range(60), at_once=2)):
            assert result == i
            with lock:
                alive -= 1
    assert most <= 3  # two, and the one that has just been taken


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_no_task_is_begun_once_work_is_told_to_stop(n_jobs):
    begun, tasks = [], range(1000)
    with Threads(n_jobs) as engine:
        engine.run(begun.append, tasks)
        assert sorted(begun) == list(tasks)
        begun.clear()

        def first_stops_the_rest(task):
            begun.append(task)
            engine.stop[0] = 1

        engine.run(first_stops_the_rest, tasks)
        assert 1 <= len(begun) <= n_jobs  # those that were running already
        begun.clear()
        engine.run(begun.append, tasks)
    assert begun == []


def test_kernels_are_told_to_stop_when_anything_fails():
    with pytest.raises(RuntimeError), Threads(2) as failed:
        raise RuntimeError
    with Threads(2) as fine:
        pass
    assert (failed.stop[0], fine.stop[0]) == (1, 0)


def test_overlapping_engines_keep_blas_single_threaded_until_the_last_has_left():
    with threadpool_limits(limits=2, user_api="blas"):
        first, second = Threads(1), Threads(1)
        first.__enter__()
        second.__enter__()
        assert blas_threads() == {1}
        first.__exit__(None, None, None)
        assert blas_threads() == {1}
        second.__exit__(None, None, None)
        assert blas_threads() == {2}


def test_blas_is_single_threaded_whichever_thread_the_engine_is_in():
    """threadpoolctl ignores limits from other threads than the first that has set one."""

    def inside():
        with Threads(1):
            return blas_threads()

    with threadpool_limits(limits=2, user_api="blas"):
        for _ in range(2):
            assert inside() == {1}
            assert blas_threads() == {2}
            with ThreadPoolExecutor(1) as pool:
                assert pool.submit(inside).result() == {1}
            assert blas_threads() == {2}


def test_peaks_are_the_first_of_the_largest_entries(monkeypatch):
    """As over the whole array, in however many chunks."""
    monkeypatch.setattr("hopscale.compute.threads.TALL_CHUNK", 4)
    x = np.array(
        [[0, 1, -3, 0], [2, -1, 3, 0], [-2, 1, 3, 0], [1, 0, 0, 0], [2, -1, -3, 0], [0, 0, 4, 0]], dtype=np.float32
    )
    np.testing.assert_array_equal(Threads(1).peaks(x), [2, 1, 4, 0])


def test_the_error_is_that_of_the_task_that_failed_and_not_of_one_that_it_has_stopped():
    def task(number):
        if number == 0:
            while True:
                checkpoint()
                time.sleep(0.01)
        with Threads(1):  # one engine within another: what ends this ends that
            raise GraphError("the cause")

    with pytest.raises(GraphError, match="the cause"), Threads(2) as engine:
        engine.run(task, [0, 1])
