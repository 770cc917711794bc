"""Fits in blocks on a Dask cluster of real processes: the bits of threads, whatever happens to workers and client."""

import os
import random
import signal
import subprocess
import sys
import threading
import time

import pytest
from dask_workers import LIMIT, scaled
from parts import assert_same, stored
from sklearn.base import clone

from hopscale import AE, MUSAE, PMI, SGNS, fit_stored
from hopscale.cluster import plan
from hopscale.exceptions import ClusterError
from reference import random_graph

distributed = pytest.importorskip("distributed")
pytestmark = pytest.mark.filterwarnings("ignore::hopscale.exceptions.HopscaleWarning")

MODELS = {
    "pmi": MUSAE(8, solver=PMI(rows="sampled", walks=40, memory_limit="1MB")),
    "sgns": AE(8, self_scale=False, solver=SGNS(walk_length=8, walks_per_node=1, epochs=1)),
}


@pytest.fixture(scope="module")
def graph():
    return random_graph(6000, 40, density=0.001, seed=3)


@pytest.fixture(scope="module")
def expected(graph):
    return {name: clone(model).fit(graph) for name, model in MODELS.items()}


@pytest.fixture(autouse=True)
def several_tasks(monkeypatch):
    """Training in tasks of few pairs: two groups of shards in a round."""
    monkeypatch.setattr(plan, "PAIRS", 12e3)
    monkeypatch.setattr(plan, "COPY", 0.0)


@pytest.mark.parametrize("name", MODELS)
class TestBits:
    @pytest.mark.parametrize("workers", [1, 2, 4])
    def test_are_those_of_one_machine(self, name, workers, cluster, client, graph, expected, tmp_path):
        scaled(cluster, client, workers)
        found = fit_stored(
            clone(MODELS[name]), stored(graph, tmp_path / "graph"), tmp_path / "vectors", scheduler=client
        )
        assert_same(found, tmp_path / "vectors", expected[name])

    @pytest.mark.parametrize("seed", [0, 1])
    def test_survive_a_worker_that_is_killed_at_a_random_moment(
        self, name, seed, cluster, client, graph, expected, tmp_path
    ):
        scaled(cluster, client, 2)
        folder, done = stored(graph, tmp_path / "graph"), threading.Event()
        chance, killed = random.Random(seed), []

        def kill():
            work = tmp_path / "vectors.work" / "done" / "prepare"
            end = time.monotonic() + LIMIT
            while not work.exists() and time.monotonic() < end and not done.is_set():
                time.sleep(0.01)
            if not done.wait(chance.uniform(0, 1.0)):
                pids = list(client.run(os.getpid).values())
                killed.append(chance.choice(pids))
                os.kill(killed[-1], signal.SIGKILL)

        killer = threading.Thread(target=kill)
        killer.start()
        try:
            found = fit_stored(clone(MODELS[name]), folder, tmp_path / "vectors", scheduler=client)
        finally:
            done.set()
            killer.join(LIMIT)
        assert_same(found, tmp_path / "vectors", expected[name])

    def test_survive_a_client_that_is_killed(self, name, cluster, client, graph, expected, tmp_path):
        scaled(cluster, client, 2)
        script = (
            "import sys\nfrom hopscale import AE, MUSAE, PMI, SGNS, fit_stored\n"
            "from hopscale.cluster import plan, training\n"
            f"plan.PAIRS, plan.COPY, training.EVERY = 12e3, 0.0, 0.1\nmodel = {MODELS[name]!r}\n"
            "fit_stored(model, sys.argv[1], sys.argv[2], scheduler=sys.argv[3])\n"
        )
        folder, output = stored(graph, tmp_path / "graph"), tmp_path / "vectors"
        process = subprocess.Popen(
            [sys.executable, "-W", "ignore", "-c", script, folder, output, cluster.scheduler_address],
            stderr=subprocess.DEVNULL,
        )
        work, end = tmp_path / "vectors.work", time.monotonic() + LIMIT
        signs = [work / "done" / "learn" / "000000.json", work / "steps.json"]
        while not any(sign.exists() for sign in signs) and process.poll() is None and time.monotonic() < end:
            time.sleep(0.01)
        process.kill()
        process.wait(LIMIT)
        assert work.exists()
        found = fit_stored(clone(MODELS[name]), folder, output, scheduler=client)
        assert_same(found, output, expected[name])


def test_scales_whose_shards_stay_together_do_not_wait_for_each_other(cluster, client, graph, monkeypatch, tmp_path):
    monkeypatch.setattr(plan, "COPY", 1e9)
    scaled(cluster, client, 2)
    model = MUSAE(8, solver=SGNS(walk_length=8, walks_per_node=1, epochs=1))
    found = fit_stored(clone(model), stored(graph, tmp_path / "graph"), tmp_path / "vectors", scheduler=client)
    assert_same(found, tmp_path / "vectors", clone(model).fit(graph))


def test_a_scheduler_that_is_not_there_is_said(graph, tmp_path):
    with pytest.raises(ClusterError, match="no Dask scheduler at"):
        fit_stored(
            clone(MODELS["pmi"]), stored(graph, tmp_path / "graph"), tmp_path / "vectors", scheduler="tcp://127.0.0.1:9"
        )
    assert not (tmp_path / "vectors").exists()


def test_an_error_on_a_worker_is_the_one_of_threads(client, graph, tmp_path):
    model = AE(8, self_scale=False, solver=SGNS(learning_rate=1e8, walk_length=8, epochs=1))
    with pytest.raises(ArithmeticError, match="training diverged at scale 1-3"):
        fit_stored(model, stored(graph, tmp_path / "graph"), tmp_path / "vectors", scheduler=client)


def test_a_worker_that_ends_while_it_is_asked_what_it_sees_is_no_error(client, graph, expected, monkeypatch, tmp_path):
    ask = client.sync

    def closed(function, *arguments, **settings):
        found = ask(function, *arguments, **settings)
        return dict.fromkeys(found, distributed.comm.CommClosedError("closed")) if function == client._run else found

    monkeypatch.setattr(client, "sync", closed)
    found = fit_stored(clone(MODELS["pmi"]), stored(graph, tmp_path / "graph"), tmp_path / "vectors", scheduler=client)
    assert_same(found, tmp_path / "vectors", expected["pmi"])
