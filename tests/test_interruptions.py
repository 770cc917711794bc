"""Fits that end early, and what a fit says while it runs."""

import os
import signal
import sys
import threading

import pytest
from sklearn.exceptions import NotFittedError
from walk_models import every_model, every_solver, large, make, toy

from hopscale._core import _native
from hopscale.exceptions import DivergenceError


class TestInterruptions:
    @every_model
    def test_divergence_is_an_error_not_a_vector(self, name):
        model = make(name, "sgns", learning_rate=1e6, min_learning_rate=1e6)
        with pytest.raises(DivergenceError, match="smaller learning_rate"):
            model.fit(toy())
        with pytest.raises(NotFittedError):
            model.node_vectors()

    @pytest.mark.skipif(sys.platform == "win32", reason="no signal can be sent to oneself there")
    @pytest.mark.parametrize("n_jobs", [1, 2])
    def test_ctrl_c_ends_a_long_fit_and_leaves_no_model(self, n_jobs, request):
        model = make("DeepWalk", "sgns", walk_length=80, epochs=150, n_jobs=n_jobs)  # some twenty seconds
        before = signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where tests run in the background
        request.addfinalizer(lambda: signal.signal(signal.SIGINT, before))
        timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            model.fit(large())
        timer.join()
        with pytest.raises(NotFittedError):
            model.node_vectors()
        assert not [t for t in threading.enumerate() if t.name.startswith("hopscale")]

    @every_solver
    def test_a_failure_in_a_thread_reaches_the_caller(self, solver, monkeypatch):
        def broken(*_, **__):
            raise MemoryError(f"no more in {threading.current_thread().name}")

        where, kernel = (_native, "propagate") if solver == "pmi" else (_native.SkipGram, "train")
        monkeypatch.setattr(where, kernel, broken)
        model = make("MUSAE", solver, n_jobs=3)
        with pytest.raises(MemoryError, match="no more in hopscale"):  # the name of a worker, not the main thread
            model.fit(toy())
        with pytest.raises(NotFittedError):
            model.node_vectors()


class TestProgress:
    @every_solver
    def test_is_silent_unless_asked_for(self, solver, capfd):
        make("MUSAE", solver).fit(toy())
        assert capfd.readouterr() == ("", "")
        model = make("MUSAE", verbose=True).fit(toy())
        out, err = capfd.readouterr()
        assert out == ""
        assert all(f"scale {label}: {rows}" in err for label, rows in model.rows_.items())
