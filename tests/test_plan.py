"""Plans: the form of rows is that of the fit, figures grow with the graph, and input that makes no sense is refused."""

import dataclasses
import json
import warnings
from importlib import resources

import numpy as np
import pytest

import hopscale
from hopscale import AE, HOPE, MUSAE, PMI, SGNS, DeepWalk, Node2Vec, StoredGraph, Walklets, load, plan
from hopscale.exceptions import FileFormatError, GraphError, HopscaleWarning, ParameterError
from hopscale.planning import GraphSize, machine
from hopscale.planning.report import document, duration
from hopscale.planning.rows import positive_share
from hopscale.planning.sizes import size_of
from hopscale.planning.stages import outlined
from hopscale.solvers.costs import KINDS, cost_model, read_cost_model
from reference import random_graph

COUNTS = {"n_nodes": 1e6, "n_edges": 1e7, "n_features": 50_000, "n_entries": 2e7}
MACHINE = {"memory": "16GB", "cores": 8, "calibrate": False}


def taken(model):
    """Forms of rows, as a fitted model words them."""
    words = {
        "positive entries": "held",
        "after learning from": "streamed",
        "rows sampled": "sampled",
        "pairs of walks": "trained",
    }
    found = {label: next(form for text, form in words.items() if text in rows) for label, rows in model.rows_.items()}
    return {label: "own" if label == "0" and form == "held" else form for label, form in found.items()}


@pytest.fixture(scope="module")
def wide():
    """A graph whose exact rows are many times the smaller limits."""
    return load("erdos-renyi", n_nodes=6000, n_features=3000)


def small():
    return random_graph(60, 20, density=0.1, seed=1)


CASES = [
    ("wide", MUSAE(16), "held"),
    ("wide", MUSAE(16, solver=PMI(memory_limit="24MB")), "streamed"),
    ("wide", AE(16, solver=PMI(memory_limit="20MB")), "streamed"),
    ("wide", MUSAE(16, solver=PMI(rows="sampled")), "sampled"),
    ("wide", MUSAE(16, solver=PMI(memory_limit="24MB", walks=1)), "sampled"),  # exact rows are not worth it
    ("wide", MUSAE(8, window=2, ego=True, solver=PMI(memory_limit="30MB", walks=20)), "sampled"),
    ("wide", Walklets(16, solver=PMI(memory_limit="24MB", walks=50)), "sampled"),
    ("wide", MUSAE(16, window=2, solver=SGNS(walk_length=4, walks_per_node=1, epochs=1)), "trained"),
    ("small", MUSAE(8), "held"),
    ("small", MUSAE(8, self_scale=False, window=1), "held"),
    ("small", DeepWalk(8), "held"),
    ("small", Walklets(8, window=1), "held"),
    ("small", Node2Vec(8, window=2, q=0.5), "sampled"),
    ("small", AE(8, ego=True, solver=PMI(rows="exact")), "held"),
]


class TestFormOfRows:
    @pytest.mark.parametrize(("name", "model", "last"), CASES)
    def test_is_that_of_the_fit(self, wide, name, model, last):
        graph = wide if name == "wide" else small()
        planned = plan(graph, model=model, calibrate=False)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", HopscaleWarning)
            model.fit(graph)
        assert planned.rows == taken(model)
        assert list(planned.rows.values())[-1] == last  # the case is what it was made for

    @pytest.mark.parametrize(("name", "model", "last"), [case for case in CASES if case[0] == "wide"])
    def test_counts_tell_it_as_well(self, wide, name, model, last):
        size = size_of(wide)
        counts = {each: getattr(size, each) for each in ("n_nodes", "n_edges", "n_features", "n_entries")}
        assert plan(**counts, model=model, calibrate=False).rows == plan(wide, model=model, calibrate=False).rows

    def test_a_limit_that_a_fit_refuses_is_refused(self, wide):
        model = MUSAE(600, solver=PMI(memory_limit="9MB"))
        planned = plan(wide, model=model, calibrate=False)
        assert planned.needs > 9e6
        assert not planned.fits
        assert "would be refused: it needs a memory_limit" in str(planned)
        with pytest.raises(ParameterError, match="memory_limit"):
            model.fit(wide)

    def test_cores_beyond_those_here_can_be_planned(self):
        assert plan(**COUNTS, memory="16GB", cores=4000, calibrate=False).seconds > 0


class TestExpectedRows:
    def test_positive_entries_are_those_of_independent_features(self):
        """On a random graph with features drawn alike, what counts tell is what rows have."""
        random = np.random.default_rng(0)
        n, q, each = 3000, 2000, 5
        edges = random.integers(0, n, (n * 4, 2))
        graph = hopscale.from_edges(
            edges, features={i: random.choice(q, each, replace=False).tolist() for i in range(n)}
        )
        model = MUSAE(8, self_scale=False, window=3).fit(graph)
        degree = 2 * graph.n_edges / n
        for hop in (1, 2, 3):
            entries = int(model.rows_[str(hop)].split()[2].replace(",", "")) / n
            assert positive_share([degree**hop * each], q, popularity=0.0) * q == pytest.approx(entries, rel=0.25)

    def test_pairs_of_training_are_those_that_were_seen(self, wide):
        solver = SGNS(walk_length=8, walks_per_node=2, epochs=1)
        model = MUSAE(8, window=2, solver=solver)
        stages = {stage.name: stage for stage in outlined(model, size_of(wide)).stages}
        model.fit(wide)
        for label, rows in model.rows_.items():
            pairs = int(rows.split()[0].replace(",", ""))
            counted = stages[f"scale {label}: train"].work["visit"] / max(1, int(label))
            assert counted * wide.features.nnz / wide.n_nodes == pytest.approx(pairs, rel=0.05)

    def test_memory_of_held_rows_is_what_they_take(self, wide):
        """Panels take five bytes an entry, and four a row and panel."""
        model = MUSAE(8, window=2, self_scale=False).fit(wide)
        entries = sum(int(rows.split()[2].replace(",", "")) for rows in model.rows_.values())
        stage = next(s for s in outlined(model, size_of(wide), graph=wide).stages if s.name == "exact rows")
        panels = 2 * -(-wide.n_features // 64)
        assert stage.memory > 5 * entries + 4 * wide.n_nodes * panels
        assert stage.memory < 1.5 * (5 * entries + 4 * wide.n_nodes * panels) + 2 * 17 * 64 * wide.n_nodes + 5e6


class TestFigures:
    LARGE = MUSAE(solver=PMI(rows="sampled", memory_limit="200GiB"))

    @pytest.mark.parametrize(
        "where", [{"model": LARGE}, {"machines": 4}, {"gpu": True}, {"model": MUSAE(solver="sgns")}]
    )
    def test_grow_with_the_graph(self, where):
        before = None
        for times in (1, 4, 16, 64):
            size = GraphSize(times * 10**5, times * 10**6, 50_000, times * 2 * 10**6)
            found = plan(size, **{**MACHINE, "memory": "900GB"}, **where)
            figures = [found.seconds, found.memory, found.graph, found.slowest, found.disk + found.network]
            if before is not None:
                assert all(a <= b for a, b in zip(before, figures, strict=True))
                assert before[:2] < figures[:2]
            before = figures

    def test_grow_with_the_window_and_the_dimensions(self):
        plain = plan(**COUNTS, **MACHINE)
        assert plan(**COUNTS, **MACHINE, model=MUSAE(256)).vectors == 2 * plain.vectors
        assert plan(**COUNTS, **MACHINE, model=MUSAE(window=5)).seconds > plain.seconds
        assert plan(**COUNTS, **MACHINE, model=MUSAE(256)).seconds > plain.seconds

    def test_fall_with_cores_and_machines(self):
        one, two, sixteen = (plan(**COUNTS, memory="16GB", cores=cores, calibrate=False) for cores in (1, 2, 16))
        assert one.seconds > two.seconds > sixteen.seconds
        assert sixteen.seconds > one.seconds / 16
        few, many = (plan(**COUNTS, **MACHINE, machines=machines) for machines in (2, 8))
        assert few.seconds > many.seconds

    def test_are_the_sum_of_the_stages_and_have_a_range(self):
        found = plan(**COUNTS, **MACHINE)
        assert found.seconds == pytest.approx(sum(stage.seconds for stage in found.stages))
        assert found.fastest <= found.seconds <= found.slowest
        assert found.work == max(stage.memory for stage in found.stages if stage.name != "read")
        assert found.memory >= found.graph + found.work + found.vectors

    def test_scale_with_the_calibration(self, monkeypatch):
        plain = plan(**COUNTS, **MACHINE)
        monkeypatch.setattr("hopscale.planning.calibration_seconds", lambda: 3 * cost_model().calibration)
        slower = plan(**COUNTS, **{**MACHINE, "calibrate": True})
        assert slower.seconds == pytest.approx(3 * plain.seconds)
        assert "scaled by 3.00" in str(slower)
        assert "scaled by" not in str(plain)

    def test_calibration_takes_a_moment_of_work(self):
        assert 0 < machine.calibration_seconds() < 10

    def test_vectors_and_graph_are_the_arrays_of_a_fit(self, wide):
        model = MUSAE(16, window=1, solver=PMI(rows="sampled")).fit(wide)
        planned = plan(wide, model=model, calibrate=False)
        assert planned.vectors == model.embedding_.nbytes + model.feature_embedding_.nbytes
        arrays = [getattr(m, part) for m in (wide.adjacency, wide.features) for part in ("data", "indices", "indptr")]
        assert planned.graph == pytest.approx(sum(array.nbytes for array in arrays), rel=0.15)


class TestWaysOut:
    def test_what_does_not_fit_has_one_that_does(self):
        found = plan(
            **{**COUNTS, "n_nodes": 1e8, "n_edges": 1e9, "n_entries": 2e9}, memory="64GB", cores=16, calibrate=False
        )
        assert not found.fits
        assert found.ways_out
        assert all(way.fits for way in found.ways_out)
        assert any("cluster" in way.change for way in found.ways_out)
        assert "What would help" in str(found)

    def test_a_smaller_memory_limit_is_named_and_works(self):
        found = plan(**COUNTS, memory="3GB", cores=4, calibrate=False)
        assert not found.fits
        limit = next(way.change.split()[1] for way in found.ways_out if way.change.startswith("--memory-limit"))
        again = plan(**COUNTS, memory="3GB", cores=4, calibrate=False, model=MUSAE(solver=PMI(memory_limit=limit)))
        assert again.fits

    def test_of_what_fits_they_are_quicker(self):
        found = plan(**COUNTS, **MACHINE)
        assert found.fits
        assert all(way.seconds < found.seconds for way in found.ways_out)

    def test_a_machine_without_known_memory_always_fits(self, monkeypatch):
        monkeypatch.setattr("hopscale.planning.memory_here", lambda: None)
        assert plan(**COUNTS, cores=2, calibrate=False).fits


class TestInBlocks:
    FILES = GraphSize(10**6, 10**7, 50_000, 2 * 10**7, kept_in="files")

    def test_files_are_stored_first_and_take_more_of_the_disk(self):
        stored = dataclasses.replace(self.FILES, kept_in="folder")
        files, folder = plan(self.FILES, **MACHINE), plan(stored, **MACHINE)
        assert [stage.name for stage in files.stages] == ["store", "prepare", "learn", "vectors"]
        assert files.stages[1:] == folder.stages
        assert files.disk > folder.disk > 0

    @pytest.mark.parametrize("model", [MUSAE(), MUSAE(solver="sgns")], ids=["pmi", "sgns"])
    def test_threads_of_one_machine_share_a_process(self, model):
        """Scales are learnt one at a time there; on a cluster every core is a process."""
        one, many = (plan(self.FILES, **MACHINE, model=model, machines=machines) for machines in (1, 2))
        assert one.work < many.work

    def test_a_small_graph_does_not_take_the_memory_limit(self):
        small = GraphSize(500, 1000, 16, 1000, kept_in="files")
        assert plan(small, cores=2, memory="1GB", calibrate=False, model=MUSAE(solver=PMI(memory_limit="4GiB"))).fits

    def test_ways_out_stay_in_blocks(self):
        found = plan(self.FILES, **{**MACHINE, "memory": "1GB"}, model=MUSAE(solver=PMI(memory_limit="8MB")))
        assert found.needs
        assert not found.fits
        changes = [way.change for way in plan(self.FILES, **MACHINE, model=MUSAE(256)).ways_out]
        assert changes
        assert not [change for change in changes if "in blocks" in change or "GPU" in change or "--rows" in change]

    def test_a_lacking_limit_is_named_and_works(self):
        model = MUSAE(solver=PMI(memory_limit="8MB"))
        found = plan(self.FILES, **MACHINE, model=model)
        assert found.needs > 8e6
        limit = next(way.change.split()[1] for way in found.ways_out if way.change.startswith("--memory-limit"))
        assert plan(self.FILES, **MACHINE, model=MUSAE(solver=PMI(memory_limit=limit))).fits

    def test_a_model_that_cannot_be_fitted_so_has_other_ways_out(self):
        found = plan(**COUNTS, **{**MACHINE, "memory": "1GB"}, model=MUSAE(keep_graph=True))
        assert not [way for way in found.ways_out if "blocks" in way.change or "cluster" in way.change]

    def test_a_stored_graph_is_planned_by_its_counts(self, tmp_path):
        graph = small()
        StoredGraph.save(graph, tmp_path / "graph")
        found = plan(StoredGraph.open(tmp_path / "graph"), model=MUSAE(8), calibrate=False)
        assert found.in_blocks
        assert (found.size.n_nodes, found.size.n_edges) == (graph.n_nodes, graph.n_edges)
        assert (found.size.n_features, found.size.n_entries) == (graph.n_features, graph.features.nnz)
        assert found.size.weighted == graph.is_weighted
        assert not plan(graph, model=MUSAE(8), calibrate=False).in_blocks

    @pytest.mark.parametrize(
        "model", [MUSAE(solver=PMI(rows="exact")), MUSAE(keep_graph=True)], ids=["exact", "keep_graph"]
    )
    @pytest.mark.parametrize("where", [{"graph": FILES}, {**COUNTS, "machines": 3}], ids=["files", "cluster"])
    def test_what_a_fit_refuses_is_refused(self, model, where):
        with pytest.raises(ParameterError, match="in blocks"):
            plan(**MACHINE, model=model, **where)

    def test_the_note_on_counts_names_what_is_closer(self):
        closer = "a plan from the files or the graph is closer"
        assert closer in str(plan(**COUNTS, **MACHINE))
        assert closer not in str(plan(**COUNTS, **MACHINE, machines=3))
        assert closer not in str(plan(dataclasses.replace(self.FILES, kept_in="memory", source="its files"), **MACHINE))


class TestRefused:
    @pytest.mark.parametrize(
        ("change", "error", "words"),
        [
            ({"n_edges": 0}, ParameterError, "n_edges must be a whole number of at least 1"),
            ({"n_edges": -3}, ParameterError, "n_edges"),
            ({"n_nodes": 0}, ParameterError, "n_nodes"),
            ({"n_nodes": 2.5}, ParameterError, "n_nodes"),
            ({"n_nodes": float("nan")}, ParameterError, "n_nodes"),
            ({"n_nodes": float("inf")}, ParameterError, "n_nodes"),
            ({"n_nodes": "many"}, ParameterError, "n_nodes"),
            ({"n_nodes": True}, ParameterError, "n_nodes"),
            ({"n_nodes": 2**31}, ParameterError, "n_nodes"),
            ({"n_nodes": None}, ParameterError, "n_nodes is missing"),
            ({"n_edges": None}, ParameterError, "n_edges is missing"),
            ({"n_nodes": 10, "n_edges": 100}, GraphError, "at most 55 edges"),
            ({"n_features": 0}, GraphError, "do not go together"),
            ({"n_features": None, "n_entries": None}, GraphError, "no node of the graph has a feature"),
            ({"n_features": 5}, GraphError, "at most 5,000,000 entries"),
            ({"cores": 0}, ParameterError, "cores"),
            ({"machines": 0}, ParameterError, "machines"),
            ({"memory": "much"}, ParameterError, "memory"),
            ({"gpu": 1}, ParameterError, "gpu"),
            ({"calibrate": "no"}, ParameterError, "calibrate"),
            ({"gpu": True, "machines": 2}, ParameterError, "one machine"),
            ({"gpu": True, "model": MUSAE(solver="sgns")}, ParameterError, "direct solver"),
            ({"model": HOPE()}, ParameterError, "learns from walks"),
            ({"model": MUSAE(window=0)}, ParameterError, "window"),
            ({"graph": GraphSize(10, 9)}, ParameterError, "either a graph or its counts"),
        ],
    )
    def test_what_makes_no_sense(self, change, error, words):
        with pytest.raises(error, match=words):
            plan(**{**COUNTS, **MACHINE, **change})

    def test_a_place_that_is_none(self):
        with pytest.raises(ParameterError, match="kept_in must be one of memory, files, folder, not 'disk'"):
            GraphSize(10, 9, kept_in="disk")

    def test_nothing_at_all(self):
        with pytest.raises(ParameterError, match="either a graph or its counts"):
            plan()

    def test_a_model_of_nodes_needs_no_features(self):
        found = plan(n_nodes=1e5, n_edges=1e6, model=DeepWalk(), **MACHINE)
        assert found.vectors == 2 * 4 * 128 * 10**5


class TestCosts:
    TEXT = resources.files("hopscale.solvers").joinpath("costs.json").read_text(encoding="utf-8")

    def test_are_those_of_a_machine_and_a_commit(self):
        model = cost_model()
        assert set(model.seconds) == set(KINDS)
        assert {"processor", "commit", "cores"} <= set(model.machine)
        assert 0 < model.low <= 1 <= model.high

    @pytest.mark.parametrize(
        "change",
        [
            lambda found: found["seconds"].pop("tall"),
            lambda found: found["seconds"].update(tall=-1e-9),
            lambda found: found["seconds"].update(tall=float("nan")),
            lambda found: found["seconds"].update(tall="quick"),
            lambda found: found["seconds"].update(unheard_of=1e-9),
            lambda found: found["gpu"].pop("streamed"),
            lambda found: found.pop("machine"),
            lambda found: found.update(low=1.5),
            lambda found: found.update(high=0.5),
            lambda found: found.update(serial={"2": 2}),
            lambda found: found.update(serial={}),
            lambda found: found.update(serial=0.1),
            lambda found: found.update(calibration=0),
            lambda found: found.update(seconds=[]),
        ],
    )
    def test_are_validated(self, change):
        found = json.loads(self.TEXT)
        read_cost_model(json.dumps(found))
        change(found)
        with pytest.raises(FileFormatError, match=r"costs\.json"):
            read_cost_model(json.dumps(found))

    @pytest.mark.parametrize("text", ["", "[]", "null", "{}", "7"])
    def test_another_file_is_refused(self, text):
        with pytest.raises(FileFormatError, match=r"costs\.json"):
            read_cost_model(text)


class TestWords:
    def test_of_a_time(self):
        assert [duration(seconds) for seconds in (0.004, 42, 119, 5399, 86400 * 3)] == [
            "0.004 s",
            "42 s",
            "2.0 min",
            "90.0 min",
            "3.0 days",
        ]

    @pytest.mark.parametrize("where", [{}, {"machines": 3}, {"gpu": True}, {"memory": "1MB"}])
    def test_a_plan_is_a_table_and_a_sentence(self, where):
        found = plan(**COUNTS, **{**MACHINE, **where})
        text = str(found)
        assert ("It fits: about" if found.fits else "It does not fit: about") in text
        assert all(stage.name in text for stage in found.stages)
        json.dumps(document(found), allow_nan=False)

    def test_is_a_value(self):
        found = plan(**COUNTS, **MACHINE)
        assert dataclasses.is_dataclass(found)
        with pytest.raises(dataclasses.FrozenInstanceError):
            found.graph = 0
