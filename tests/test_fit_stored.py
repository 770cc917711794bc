"""Fits in blocks on threads: the bits of fits in memory, work that goes on, and what is refused."""

import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from parts import QUICK, assert_same, stored, vectors_in
from sklearn.base import clone

from hopscale import (
    AE,
    HOPE,
    MUSAE,
    PMI,
    SGNS,
    AttributedGraph,
    DeepWalk,
    Node2Vec,
    StoredGraph,
    Walklets,
    fit_stored,
    load_model,
)
from hopscale.atomic import only_writer
from hopscale.cluster import maps, plan
from hopscale.cluster.maps import Maps, file_memory
from hopscale.compute.memory import resident_files
from hopscale.exceptions import GraphError, HopscaleWarning, OutputError, ParameterError
from hopscale.stored.arrays import save_array
from reference import random_graph

pytestmark = pytest.mark.filterwarnings("ignore::hopscale.exceptions.HopscaleWarning")

SAMPLED = PMI(rows="sampled", walks=30)
LIMIT = 120.0  # seconds that anything may take at most


@pytest.fixture(scope="module")
def weighted():
    graph = random_graph(60, 30, weighted=True, isolated=3, seed=5)
    values = sp.csr_array(graph.features * np.random.default_rng(1).uniform(0.2, 3, graph.features.shape))
    return AttributedGraph(graph.adjacency, values, node_ids=[f"n{i}" for i in range(60)])


@pytest.fixture(scope="module")
def graph():
    return random_graph(1500, 80, density=0.006, seed=3)


@pytest.fixture
def small_parts(monkeypatch):
    monkeypatch.setattr(plan, "FEWEST", 100)


@pytest.mark.usefixtures("small_parts")
class TestBits:
    """Vectors are those of a fit in memory."""

    @pytest.mark.parametrize(
        "model",
        [
            MUSAE(12, solver=SAMPLED),
            AE(12, self_scale=False, solver=PMI(rows="sampled", walks=30, power=0.5, shift=2.0)),
            MUSAE(12, ego=True, solver=SAMPLED),
            DeepWalk(12, solver=SAMPLED),
            Walklets(12, solver=SAMPLED),
            Node2Vec(12, p=0.5, q=2.0, solver=SAMPLED),
            MUSAE(12, solver=QUICK),
            AE(12, ego=True, solver=QUICK),
            AE(12, solver=SGNS(walk_length=8, walks_per_node=1, epochs=1, start="node", subsample=1e-2)),
            Walklets(12, solver=QUICK),
        ],
        ids=lambda model: f"{type(model).__name__}-{model.solver.name}{'-ego' if getattr(model, 'ego', 0) else ''}",
    )
    @pytest.mark.parametrize("kind", ["weighted", "graph"])
    def test_are_those_of_one_machine(self, model, kind, request, tmp_path):
        graph = request.getfixturevalue(kind)
        expected = clone(model).fit(graph)
        found = fit_stored(clone(model), stored(graph, tmp_path / "graph"), tmp_path / "vectors")
        assert_same(found, tmp_path / "vectors", expected)
        assert {path.name for path in tmp_path.iterdir()} == {"graph", "vectors"}

    @pytest.mark.parametrize("n_jobs", [1, 3])
    def test_where_not_all_rows_are_learnt_from(self, graph, n_jobs, tmp_path):
        model = MUSAE(12, solver=PMI(rows="sampled", walks=30, memory_limit="100KB"), n_jobs=n_jobs)
        expected = clone(model).fit(graph)
        assert "of 1,500 rows" in expected.rows_["2"]
        found = fit_stored(clone(model), stored(graph, tmp_path / "graph"), tmp_path / "vectors")
        assert_same(found, tmp_path / "vectors", expected)

    @pytest.mark.parametrize("pairs", [300.0, 20.0])
    def test_where_shards_are_tasks_of_their_own(self, weighted, pairs, monkeypatch, tmp_path):
        monkeypatch.setattr(plan, "PAIRS", pairs)
        monkeypatch.setattr(plan, "COPY", 0.0)
        model = AE(6, self_scale=False, solver=SGNS(walk_length=6, walks_per_node=1, epochs=1))
        expected = clone(model).fit(weighted)
        found = fit_stored(clone(model), stored(weighted, tmp_path / "graph"), tmp_path / "vectors")
        assert_same(found, tmp_path / "vectors", expected)

    @pytest.mark.parametrize(
        "model", [MUSAE(12, solver=SAMPLED), AE(12, ego=True, solver=QUICK), DeepWalk(12, solver=QUICK)]
    )
    @pytest.mark.parametrize(("limit", "size"), [("ROW_BLOCK", 128), ("ENTRY_BLOCK", 300)])
    def test_blocks_of_rows_do_not_matter(self, model, limit, size, graph, monkeypatch, tmp_path):
        """Statistics are sums over blocks, in memory as well."""
        monkeypatch.setattr(f"hopscale.walks.transitions.{limit}", size)
        expected = clone(model).fit(graph)
        found = fit_stored(clone(model), stored(graph, tmp_path / "graph"), tmp_path / "vectors")
        assert_same(found, tmp_path / "vectors", expected)


class TestOwnFeatures:
    def test_are_learnt_from_some_rows_where_all_would_not_fit(self, tmp_path):
        """Four kinds of nodes make a matrix of rank four, which any rows of all kinds tell."""
        n, q = 40_000, 400
        kind = np.random.default_rng(0).integers(0, 4, n)
        kinds = (np.random.default_rng(1).random((4, q)) < 0.25).astype(np.float32)
        ring = sp.csr_array((np.ones(n, np.float32), (np.arange(n), (np.arange(n) + 1) % n)), shape=(n, n))
        graph = AttributedGraph(ring + ring.T, sp.csr_array(kinds)[kind])
        model = MUSAE(8, window=1, solver=PMI(rows="sampled", walks=2, memory_limit="20MB"))
        fit_stored(model, stored(graph, tmp_path / "graph"), tmp_path / "vectors")
        assert "after learning from" in model.rows_["0"]
        G = vectors_in(tmp_path / "vectors")[1][:200, :4]
        share = np.maximum(graph.features.mean(axis=0), 1e-9)  # some columns are nobody's
        expected = np.log(np.maximum(graph.features[:200].toarray() / share, 1))
        np.testing.assert_allclose(G @ model.feature_vectors(0).T, expected, atol=2e-3)


class TestModel:
    """What a model keeps of a fit in blocks."""

    @pytest.fixture(params=[SAMPLED, QUICK], ids=["pmi", "sgns"])
    def pair(self, request, weighted, tmp_path):
        model = MUSAE(8, solver=request.param)
        found = fit_stored(clone(model), stored(weighted, tmp_path / "graph"), tmp_path / "vectors")
        return found, clone(model).fit(weighted)

    def test_places_other_graphs_and_explains_them(self, pair, weighted):
        found, expected = pair
        assert np.array_equal(found.transform(weighted), expected.transform(weighted))
        assert found.explain("n4", graph=weighted) == expected.explain("n4", graph=weighted)

    def test_can_be_saved(self, pair, weighted, tmp_path):
        found, _ = pair
        found.save(tmp_path / "model.safetensors")
        again = load_model(tmp_path / "model.safetensors")
        assert np.array_equal(again.transform(weighted), found.transform(weighted))
        assert again.embedding_.shape == (0, 8)

    @pytest.mark.parametrize(
        "ask",
        [
            lambda model: model["n4"],
            lambda model: model[["n4"]],
            lambda model: model.neighbors("n4"),
            lambda model: model.explain("n4"),
            lambda model: model.clusters(2),
            lambda model: model.to_dict(),
        ],
    )
    def test_has_no_vectors_of_nodes(self, pair, ask):
        with pytest.raises(ParameterError, match="no vectors of nodes"):
            ask(pair[0])


class TestRefusals:
    @pytest.fixture
    def folder(self, weighted, tmp_path):
        return stored(weighted, tmp_path / "graph")

    @pytest.mark.parametrize(
        ("model", "message"),
        [
            (HOPE(8), "HOPE cannot be fitted in blocks: take MUSAE or AE"),
            (MUSAE(8, solver=PMI(rows="exact")), "rows='exact' cannot be computed in blocks.*rows='sampled'"),
            (MUSAE(8, keep_graph=True), "keep_graph cannot be used"),
            (MUSAE(8, solver=PMI(rows="sampled", walks=0)), "walks must be"),
        ],
    )
    def test_of_models(self, model, message, folder, tmp_path):
        with pytest.raises(ParameterError, match=message):
            fit_stored(model, folder, tmp_path / "vectors")
        assert not (tmp_path / "vectors").exists()

    def test_of_an_output_that_is_not_empty_before_any_work(self, folder, tmp_path):
        (tmp_path / "vectors").mkdir()
        (tmp_path / "vectors" / "mine.txt").touch()
        with pytest.raises(OutputError, match="not empty"):
            fit_stored(MUSAE(8, solver=SAMPLED), folder, tmp_path / "vectors")
        assert not (tmp_path / "vectors.work").exists()

    def test_of_a_work_folder_within_the_output(self, folder, tmp_path):
        with pytest.raises(OutputError, match="must be outside"):
            fit_stored(MUSAE(8, solver=SAMPLED), folder, tmp_path / "v", work_folder=tmp_path / "v" / "work")

    def test_of_an_output_within_the_graph(self, folder, tmp_path):
        with pytest.raises(OutputError, match="must be outside of the graph's"):
            fit_stored(MUSAE(8, solver=SAMPLED), folder, folder / "vectors")

    def test_of_a_graph_in_memory(self, weighted, tmp_path):
        with pytest.raises(ParameterError, match=r"StoredGraph\.save"):
            fit_stored(MUSAE(8, solver=SAMPLED), weighted, tmp_path / "vectors")

    def test_of_a_folder_that_another_fit_works_in(self, folder, tmp_path):
        with only_writer(tmp_path / "vectors.work"), pytest.raises(OutputError, match="another run is working"):
            fit_stored(MUSAE(8, solver=SAMPLED), folder, tmp_path / "vectors")
        fit_stored(MUSAE(8, solver=SAMPLED), folder, tmp_path / "vectors")
        assert not (tmp_path / "vectors.work.lock").exists()

    def test_of_a_limit_that_nothing_fits(self, folder, tmp_path, monkeypatch):
        monkeypatch.setattr("hopscale.solvers.held.NEVER_REFUSED", 0)
        with pytest.raises(ParameterError, match="needs at least"):
            fit_stored(MUSAE(8, solver=PMI(rows="sampled", memory_limit=1000)), folder, tmp_path / "vectors")

    def test_of_a_graph_without_features(self, weighted, tmp_path):
        bare = stored(AttributedGraph(weighted.adjacency), tmp_path / "graph")
        with pytest.raises(GraphError, match="no node of the graph has a feature"):
            fit_stored(MUSAE(8, solver=SAMPLED), bare, tmp_path / "vectors")

    def test_of_training_that_diverges(self, folder, tmp_path):
        model = AE(8, solver=SGNS(learning_rate=1e8, walk_length=8, epochs=1))
        with pytest.raises(ArithmeticError, match="diverged"):
            fit_stored(model, folder, tmp_path / "vectors")
        assert not (tmp_path / "vectors").exists()

    def test_rows_that_are_sampled_without_being_asked_for_are_said(self, folder, tmp_path):
        with pytest.warns(HopscaleWarning, match="estimated from 800 walks"):
            fit_stored(MUSAE(8), folder, tmp_path / "vectors")


class TestResuming:
    SCRIPT = """
import sys, time
from hopscale import AE, MUSAE, PMI, SGNS, fit_stored
from hopscale.cluster import plan, training
from hopscale.compute import blocks
plan.PAIRS, plan.COPY, training.EVERY = 12e3, 0.0, 0.1
run = blocks.run_block
def run_block(folder, stage, index, *others, **more):
    if stage == "vectors" and index == {last}:
        time.sleep(600)  # until it is killed
    return run(folder, stage, index, *others, **more)
blocks.run_block = run_block
model = {model}
fit_stored(model.set_params(n_jobs=1), sys.argv[1], sys.argv[2])
"""

    @pytest.mark.parametrize(
        ("model", "sign", "last"),
        [
            (MUSAE(12, solver=PMI(rows="sampled", walks=100)), "done/vectors/000000.json", 1),
            (AE(12, self_scale=False, solver=SGNS(walk_length=8, walks_per_node=1, epochs=1)), "steps.json", 0),
        ],
        ids=["pmi", "sgns"],
    )
    def test_a_killed_process_loses_little(self, model, sign, last, tmp_path, monkeypatch):
        graph = random_graph(6000, 40, density=0.001, seed=4)
        folder, work = stored(graph, tmp_path / "graph"), tmp_path / "vectors.work"
        script = self.SCRIPT.format(model=repr(model), last=last)
        process = subprocess.Popen([sys.executable, "-W", "ignore", "-c", script, folder, tmp_path / "vectors"])
        end = time.monotonic() + LIMIT
        while not (work / sign).exists() and process.poll() is None and time.monotonic() < end:
            time.sleep(0.01)
        process.kill()
        process.wait(LIMIT)
        assert not (tmp_path / "vectors").exists()
        learnt = work / "done" / "prepare" / "000000.json"
        before = learnt.stat().st_mtime_ns
        monkeypatch.setattr(plan, "PAIRS", 12e3)
        monkeypatch.setattr(plan, "COPY", 0.0)
        seen = []
        monkeypatch.setattr("hopscale.cluster.parts.move", _noting(seen, learnt))
        found = fit_stored(clone(model), folder, tmp_path / "vectors")
        assert seen == [before]  # what was done was not done again
        assert_same(found, tmp_path / "vectors", model.fit(graph))

    def test_other_parameters_start_anew(self, weighted, tmp_path, monkeypatch):
        folder = stored(weighted, tmp_path / "graph")
        with monkeypatch.context() as patched:
            patched.setattr("hopscale.cluster.parts.move", _failing)
            with pytest.raises(OSError, match="no space"):
                fit_stored(MUSAE(8, solver=SAMPLED), folder, tmp_path / "vectors")
        model = MUSAE(8, solver=PMI(rows="sampled", walks=31))
        found = fit_stored(clone(model), folder, tmp_path / "vectors")
        assert_same(found, tmp_path / "vectors", model.fit(weighted))


def _noting(seen, marker):
    from hopscale.cluster.parts import move

    def noting(*arguments):
        seen.append(marker.stat().st_mtime_ns)
        move(*arguments)

    return noting


def _failing(*_):
    raise OSError("no space")


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="the system does not tell")
class TestMaps:
    def test_pages_are_given_back_past_the_limit(self, tmp_path):
        size = 2**26
        save_array(tmp_path / "large.npy", np.ones(size // 4, dtype=np.float32))
        before = resident_files()
        watched = Maps(size // 8)
        array = watched.open(tmp_path / "large.npy", np.float32)
        most = 0
        with watched.watched():
            for begin in range(0, len(array), 2**18):
                assert array[begin : begin + 2**18].sum() == 2**18
                time.sleep(0.01)
                most = max(most, resident_files() - before)
        assert most < size // 2

    @pytest.mark.parametrize(
        ("worker", "machine", "expected"),
        [
            (None, 16 * 2**30, 4 * 2**30),  # the system drops pages by itself: a share of the machine's memory
            (None, 2**30, 2**29),  # the limit, where that is more
            (None, None, 2**29),
            (3 * 2**30, 16 * 2**30, 2**29),  # Dask would end a worker for its pages: never more than the limit
            (2**30 + 4 * 2**20, 16 * 2**30, 2**20),  # and a share of what the worker has left
            (2**20, 16 * 2**30, 0),
        ],
    )
    def test_what_files_may_take(self, worker, machine, expected, monkeypatch):
        monkeypatch.setattr(maps, "worker_memory", lambda: worker)
        monkeypatch.setattr(maps, "memory_here", lambda: machine)
        monkeypatch.setattr(maps, "resident", lambda: 2**30)
        assert file_memory(2**29) == expected

    def test_a_stored_graph_has_all_its_maps_watched(self, weighted, tmp_path):
        graph = StoredGraph.open(stored(weighted, tmp_path / "graph"))
        names = {Path(array.filename).stem for array in graph.maps}
        assert {"offsets", "neighbors", "weights", "feature_offsets", "feature_columns", "feature_values"} <= names
