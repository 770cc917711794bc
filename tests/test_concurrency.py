"""Fits that share a process, a model or a graph, and fits in other processes: the same bits as alone."""

import multiprocessing
import os
import signal
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache

import numpy as np
import pytest
from joblib import Parallel, delayed
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from walk_models import fitted, large, make, toy

from hopscale import BANE, FEATHER, HOPE, load_model
from hopscale.compute.threads import single_threaded_blas

RIVALS = {"BANE": BANE, "FEATHER": FEATHER, "HOPE": HOPE}
KINDS = [("MUSAE", "pmi"), ("MUSAE", "sgns"), ("DeepWalk", "pmi"), ("BANE", None), ("FEATHER", None), ("HOPE", None)]
HAS_FORK = "fork" in multiprocessing.get_all_start_methods()
DEADLINE = 300  # seconds; what takes longer has locked itself

forks = pytest.mark.skipif(not HAS_FORK, reason="there is no fork here")


def vectors(kind, graph=None):
    """Bytes of what a fit learns, by several threads."""
    name, solver = kind
    model = RIVALS[name](24, n_jobs=2) if solver is None else make(name, solver, n_jobs=2)
    return model.fit(toy() if graph is None else graph).embedding_.tobytes()


@lru_cache
def alone():
    return [vectors(kind) for kind in KINDS]


def in_processes(method, work):
    """Results of functions in processes of their own, which must end."""
    with multiprocessing.get_context(method).Pool(2) as pool:
        return pool.map_async(vectors, work).get(DEADLINE)


class TestThreads:
    def test_fits_at_once_in_one_process(self):
        with ThreadPoolExecutor(4) as pool:
            assert list(pool.map(vectors, KINDS * 2)) == alone() * 2

    def test_fits_of_one_graph(self):
        """What a graph computes when it is first asked for is asked for by all of them at once."""
        graph, ready = toy(), threading.Barrier(len(KINDS))

        def fit(kind):
            ready.wait(DEADLINE)
            return vectors(kind, graph)

        with ThreadPoolExecutor(len(KINDS)) as pool:
            assert list(pool.map(fit, KINDS)) == alone()

    @pytest.mark.parametrize("solver", ["pmi", "sgns"])
    def test_questions_to_one_model(self, solver, tmp_path):
        fitted("MUSAE", solver).save(tmp_path / "model")
        expected = load_model(tmp_path / "model")
        model, ready, graph = load_model(tmp_path / "model"), threading.Barrier(4), toy()

        def ask(node):
            ready.wait(DEADLINE)
            return model.transform(graph).tobytes(), model.neighbors(node), model.explain(node)

        nodes = [f"node {i}" for i in range(4)]
        with ThreadPoolExecutor(4) as pool:
            answers = list(pool.map(ask, nodes))
        same = expected.transform(graph).tobytes()
        assert answers == [(same, expected.neighbors(node), expected.explain(node)) for node in nodes]

    @pytest.mark.skipif(sys.platform == "win32", reason="no signal can be sent to oneself there")
    def test_ctrl_c_in_the_main_thread_leaves_a_fit_in_another_alone(self, request):
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        request.addfinalizer(lambda: signal.signal(signal.SIGINT, before))
        graph, begun, found = large(), threading.Event(), []

        def fit():
            begun.set()
            found.append(vectors(("MUSAE", "sgns"), graph))

        worker = threading.Thread(target=fit)
        worker.start()
        begun.wait(DEADLINE)
        timer = threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            threading.Event().wait(DEADLINE)
        worker.join(DEADLINE)
        assert found == [vectors(("MUSAE", "sgns"), graph)]


class TestProcesses:
    @forks
    def test_forked_after_a_fit(self):
        assert in_processes("fork", KINDS) == alone()

    @forks
    def test_forked_while_another_thread_fits(self):
        """The lock and the count of running fits are the parent's: a child must not wait for a thread it has not."""
        expected = alone()
        with single_threaded_blas._lock:  # as a thread has it that begins a fit
            child = in_processes("fork", KINDS[:2])
        assert child == expected[:2]

    def test_spawned(self):
        assert in_processes("spawn", KINDS) == alone()

    @pytest.mark.parametrize("backend", ["loky", "threading"])
    def test_joblib(self, backend):
        found = Parallel(n_jobs=2, backend=backend, timeout=DEADLINE)(delayed(vectors)(kind) for kind in KINDS)
        assert found == alone()


class OnVectors(ClassifierMixin, BaseEstimator):
    """Classifies nodes by their vectors; X holds numbers of nodes."""

    def __init__(self, model=None):
        self.model = model

    def fit(self, X, y):
        self.vectors_ = self.model.fit_transform(toy())
        self.classes_ = np.unique(y)
        self.classifier_ = LogisticRegression().fit(self.vectors_[X[:, 0]], y)
        return self

    def predict(self, X):
        return self.classifier_.predict(self.vectors_[X[:, 0]])


def test_a_grid_search_over_two_processes_finds_what_one_does():
    nodes, classes = np.arange(60)[:, None], np.arange(60) % 3
    grid = {"model__solver__shift": [1.0, 2.0, 5.0]}

    def search(n_jobs):
        found = GridSearchCV(OnVectors(make("MUSAE")), grid, cv=3, n_jobs=n_jobs, error_score="raise")
        return found.fit(nodes, classes)

    one, two = search(1), search(2)
    np.testing.assert_array_equal(one.cv_results_["mean_test_score"], two.cv_results_["mean_test_score"])
    np.testing.assert_array_equal(one.best_estimator_.vectors_, two.best_estimator_.vectors_)
