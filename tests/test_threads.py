"""Threads: the order of results, and the limit on BLAS that overlapping fits share."""

import numpy as np
from threadpoolctl import threadpool_info, threadpool_limits

from hopscale.compute import Threads


def blas_threads():
    np.ones((2, 2)) @ np.ones((2, 2))
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}


def test_results_come_in_the_order_of_the_tasks():
    with Threads(3) as engine:
        assert list(engine.map(lambda task: task * task, range(50), at_once=2)) == [i * i for i in range(50)]


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
