"""Which code made a measurement: what the hash covers, and what records, kept fits and pages do with it."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest
from click.testing import CliRunner

import hopscale
from hopscale import datasets
from hopscale.cli.commands import hopscale as command
from hopscale.exceptions import FileFormatError, ParameterError
from hopscale.paper import Options, experiments, render, reproduce, runner, sources
from hopscale.paper import options as options_module
from hopscale.paper.fits import Fit, FitError
from hopscale.paper.machine import cores
from hopscale.paper.pages import mixed_sources
from hopscale.paper.pages.records import Records
from hopscale.paper.store import Agreements, Measurements, Store, records_of

PACKAGE = Path(hopscale.__file__).parent
MACHINE = {"processor": "p", "cores": 1, "python": "3", "versions": {}}
# What computing modules take of idle ones: a model draws itself, and a device is used where one is asked for.
TAKEN = {
    ("hopscale/models/base.py", "hopscale.models.pictures"),
    ("hopscale/compute/devices.py", "hopscale.compute.torch"),
    ("hopscale/solvers/pmi.py", "hopscale.solvers.device_targets"),
    ("hopscale/solvers/sgns.py", "hopscale.solvers.device_training"),
}


def test_what_computes_imports_nothing_that_is_left_out():
    idle = {f"hopscale.{name.removesuffix('.py').replace('/', '.')}" for name in sources.IDLE if "__" not in name}
    for path in sources.computing_files():
        if path.suffix != ".py":
            continue
        here = path.relative_to(PACKAGE.parent).as_posix()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            for name in names:
                found = next((each for each in idle if name == each or name.startswith(f"{each}.")), None)
                assert found is None or (here, found) in TAKEN, f"{here} imports {name}"


def test_no_vectors_are_measured_on_a_device(tmp_path):
    with pytest.raises(ParameterError, match="'device' is a parameter of networks only"):
        reproduce(["classification"], asked(tmp_path, parameters={"device": "cuda"}), tmp_path)


def test_covers_kernels_solvers_and_tasks_but_no_pages():
    names = {path.relative_to(PACKAGE).as_posix() for path in sources.computing_files()}
    assert {"_core/kernels.cpp", "_core/skipgram.hpp", "solvers/pmi.py", "tasks/splits.py", "paper/methods.py"} <= names
    assert not [name for name in names if name.startswith(("cli/", "explore/", "paper/pages/"))]


@pytest.fixture
def other_code(monkeypatch):
    """From now on, measurements are made by other code."""

    def change(name: str) -> None:
        monkeypatch.setattr(runner, "sources", lambda: name)
        monkeypatch.setattr("hopscale.paper.fits.sources", lambda: name)
        monkeypatch.setattr("hopscale.paper.fits._is_of_this_code", lambda answer: True)

    return change


@pytest.fixture
def fit_ends(monkeypatch):
    """The fit of this number, from now on, ends with an error."""

    def at(number: int, error: BaseException) -> None:
        real, calls = experiments.fitted, []

        def fitted(*words, **more):
            calls.append(words)
            if len(calls) == number:
                raise error
            return real(*words, **more)

        monkeypatch.setattr(experiments, "fitted", fitted)

    return at


def asked(tmp_path, **changes):
    settings = {"methods": ("AE",), "solvers": ("pmi",), "splits": 2, "fits": 1, "parameters": {"dimensions": 8}}
    return Options(cache=tmp_path / "cache", **settings | changes)


@pytest.fixture
def small_world(monkeypatch):
    monkeypatch.setitem(options_module.DATASETS, "classification", ("planted-blocks",))


@pytest.mark.usefixtures("small_world")
def test_what_other_code_measured_is_measured_again(tmp_path, other_code):
    said = []
    reproduce(["classification"], asked(tmp_path), tmp_path, say=said.append)
    other_code("abc")
    reproduce(["classification"], asked(tmp_path), tmp_path, say=said.append)
    reproduce(["classification"], asked(tmp_path), tmp_path, say=said.append)
    counts = [line for line in said if "cells are there" in line]
    assert counts == ["0 of 2 cells are there, 2 to measure"] * 2 + ["2 of 2 cells are there, 0 to measure"]
    assert [record["sources"] for record in records_of(tmp_path, "classification").records()] == ["abc"] * 2
    assert len(list((tmp_path / "cache").glob("*.safetensors"))) == 2  # one of each code


@pytest.mark.usefixtures("small_world")
def test_more_fits_are_measured_on_top(tmp_path):
    settings = {"solvers": ("sgns",), "parameters": {"dimensions": 8, "epochs": 1, "walks_per_node": 1}}
    reproduce(["classification"], asked(tmp_path, fits=1, **settings), tmp_path)
    (one, _) = records_of(tmp_path, "classification").records()
    reproduce(["classification"], asked(tmp_path, fits=2, **settings), tmp_path)
    (two, _) = records_of(tmp_path, "classification").records()
    assert two["fits"] == 2
    assert two["scores"]["micro_f1"][0] == one["scores"]["micro_f1"]
    assert two["scores"]["micro_f1"][1] != one["scores"]["micro_f1"]
    assert render(["classification"], tmp_path)


@pytest.mark.usefixtures("small_world")
def test_cells_are_measured_again_and_compared(tmp_path):
    asked_for = ["-m", "AE", "-s", "pmi", "--splits", "2", "--fits", "1", "-p", "dimensions=8"]
    folders = ["-o", str(tmp_path / "out"), "--cache", str(tmp_path / "cache")]
    common = ["reproduce", "classification", *asked_for, *folders]
    assert "no record" in CliRunner().invoke(command, [*common, "--again", "5"]).output
    assert CliRunner().invoke(command, common).exit_code == 0
    assert {r["fit"]["n_jobs"] for r in records_of(tmp_path / "out", "classification").records()} == {cores()}
    result = CliRunner().invoke(command, [*common, "--again", "5"])
    assert result.exit_code == 0
    assert "all scores are the same" in result.stdout
    path = records_of(tmp_path / "out", "classification").path
    first, *others = path.read_text().splitlines(keepends=True)
    changed = json.loads(first)
    changed["scores"]["micro_f1"][0] += 1e-9
    path.write_text(json.dumps(changed) + "\n" + "".join(others))
    result = CliRunner().invoke(command, [*common, "--again", "5"])
    assert result.exit_code == 1
    assert result.stdout.count("differ from those of the record") == 1
    assert "OPENBLAS_CORETYPE" not in result.output  # the difference has another cause
    changed["fit"]["device"] = "a GPU"
    path.write_text(json.dumps(changed) + "\n" + "".join(others))
    result = CliRunner().invoke(command, [*common, "--again", "5"])
    assert "1 cells that were trained on a device that is not here are left out" in result.stderr
    assert "all scores are the same" in result.stdout
    del changed["fit"]["device"]
    changed["machine"]["blas"] = "openblas for Prescott"
    path.write_text(json.dumps(changed) + "\n" + "".join(others))
    result = CliRunner().invoke(command, [*common, "--again", "5"])
    assert "1 of them were measured with other kernels of BLAS" in result.output


@pytest.mark.usefixtures("small_world")
def test_code_that_is_changed_during_a_run_measures_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr("hopscale.paper.fits.sources", lambda: "abc")  # of the process that fits it is another
    failures = reproduce(["classification"], asked(tmp_path), tmp_path)
    assert len(failures) == 2
    assert "the code was changed after this run had started; start it again" in failures[0]
    assert records_of(tmp_path, "classification").records() == []
    assert not list((tmp_path / "cache").glob("*.safetensors"))


def test_kept_fits_of_other_code_have_other_names(other_code):
    before = Fit("AE", "pmi", "cora").stem
    other_code("abc")
    assert Fit("AE", "pmi", "cora").stem != before


def record(code: str | None, method: str = "AE", repeats: int = 2, **more):
    cell = {"method": method, "solver": "pmi", "dataset": "cora", "standardize": False, "parameters": {}}
    scores = {"micro_f1": [0.7, 0.9] * (repeats // 2), "majority_micro_f1": [0.3, 0.3] * (repeats // 2)}
    known = {"sources": code} if code else {}
    return {"cell": cell, "repeats": repeats, "scores": scores, "machine": MACHINE, **known, **more}


def test_of_records_by_different_code_the_later_one_counts(tmp_path):
    store = Store(tmp_path / "r.jsonl")
    for code, repeats in ((None, 10), ("abc", 4), ("abc", 2)):
        store.append(record(code, repeats=repeats))
    (kept,) = store.records()
    assert (kept["sources"], kept["repeats"]) == ("abc", 4)


def test_pages_mark_what_other_code_measured(tmp_path):
    for code, method in (("abc", "AE"), ("abc", "MUSAE"), (None, "AE-EGO")):
        records_of(tmp_path, "classification").append(record(code, method))
    marks = {
        r["cell"]["method"]: r["marks"] for r in Measurements(records_of(tmp_path, "classification").records()).records
    }
    assert marks == {"AE": "", "MUSAE": "", "AE-EGO": "‡"}
    render(["classification"], tmp_path)
    page = (tmp_path / "classification.md").read_text(encoding="utf-8")
    assert "‡ measured by other code than most cells of all pages: 1 of 3." in page
    assert "2 records are by sources `abc`." in page
    assert "1 records are by sources that were not recorded." in page


@pytest.mark.usefixtures("small_world")
def test_the_command_refuses_to_mix(tmp_path):
    records_of(tmp_path / "out", "classification").append(record("abc", "MUSAE"))
    assert mixed_sources(tmp_path / "out") is None
    arguments = ["reproduce", "classification", "-m", "AE", "-s", "pmi", "--splits", "2", "-p", "dimensions=8"]
    folders = ["--cache", str(tmp_path / "cache"), "-o", str(tmp_path / "out")]
    result = CliRunner().invoke(command, [*arguments, *folders])
    assert result.exit_code == 1
    assert "made by different code" in result.stdout
    assert not (tmp_path / "out" / "classification.md").exists()
    assert CliRunner().invoke(command, ["reproduce", "classification", "--only-render", *folders]).exit_code == 0
    assert (tmp_path / "out" / "classification.md").exists()


class TestAgreements:
    """Other code that measures the same, as far as cells that are drawn at random can tell."""

    pytestmark = pytest.mark.usefixtures("small_world")

    def again(self, tmp_path, count, **changes):
        said = []
        failures = runner.measure_again(
            ["classification"], asked(tmp_path, **changes), tmp_path, count, say=said.append
        )
        return failures, said

    def test_let_records_of_both_count_as_one(self, tmp_path, other_code):
        reproduce(["classification"], asked(tmp_path), tmp_path)
        before = sources.sources()
        other_code("abc")
        failures, said = self.again(tmp_path, 1)
        assert failures == []
        told = f"this code agrees with sources {before} in classification: their records count as one"
        assert said[-1] == told
        said = []
        reproduce(["classification"], asked(tmp_path, methods=("AE", "MUSAE")), tmp_path, say=said.append)
        assert said[0] == "2 of 4 cells are there, 2 to measure"
        assert mixed_sources(tmp_path) is None
        render(["classification"], tmp_path)
        page = (tmp_path / "classification.md").read_text(encoding="utf-8")
        assert f"2 records are by sources `{before}`" in page
        assert f"Those by `{before}`, `abc` count as one." in page
        assert f"`abc` measured 1 cells of `{before}` again, 1 of this page and 0 of others, with the same" in page
        assert "‡" not in page

    def test_are_none_where_a_score_differs(self, tmp_path, other_code):
        reproduce(["classification"], asked(tmp_path), tmp_path)
        path = records_of(tmp_path, "classification").path
        records = [json.loads(line) for line in path.read_text().splitlines()]
        for each in records:
            each["scores"]["micro_f1"][0] += 1e-9
        path.write_text("".join(json.dumps(each) + "\n" for each in records))
        other_code("abc")
        failures, _ = self.again(tmp_path, 2)
        assert len(failures) == 2
        (line,) = Agreements(tmp_path).lines()
        assert (line["cells"], line["experiments"]) == ([], [])
        assert Agreements(tmp_path).first("abc") == "abc"

    def test_need_every_solver_method_and_data_set(self, tmp_path, other_code, monkeypatch):
        names = ("twitch-pt", "twitch-ru")
        for seed, name in enumerate(names):
            datasets.planted_blocks(60, random_state=seed).save(tmp_path / f"{name}.npz")
        monkeypatch.setitem(options_module.DATASETS, "classification", names)
        both = {"solvers": ("pmi", "sgns"), "methods": ("AE", "MUSAE"), "data": str(tmp_path)}
        reproduce(["classification"], asked(tmp_path, **both), tmp_path)
        before = sources.sources()
        other_code("abc")
        narrow = {**both, "solvers": ("pmi",), "methods": ("AE",), "datasets": ("twitch-pt",)}
        failures, said = self.again(tmp_path, 9, **narrow)
        assert failures == []
        assert said[-1].startswith(f"classification: to tell whether this code agrees with sources {before}, cells of")
        missing = "AE by sgns, MUSAE by pmi, MUSAE by sgns, classification by sgns, twitch-ru"
        assert f"cells of {missing} would have" in said[-1]
        assert Agreements(tmp_path, "classification").first("abc") == "abc"
        failures, said = self.again(tmp_path, 2, **{**both, "solvers": ("sgns",), "datasets": ("twitch-ru",)})
        assert "cells of MUSAE by " in said[-1]
        failures, said = self.again(tmp_path, 9, **{**both, "methods": ("MUSAE",)})
        assert "their records count as one" in said[-1]  # with those of the first calls
        assert Agreements(tmp_path, "classification").first("abc") == before

    def test_a_method_on_a_data_set_may_be_of_another_experiment(self, tmp_path, other_code, monkeypatch):
        for experiment in ("classification", "few-shot"):
            monkeypatch.setitem(options_module.DATASETS, experiment, ("planted-blocks",))
        both, said = asked(tmp_path, methods=("AE", "MUSAE")), []
        reproduce(["classification", "few-shot"], both, tmp_path)
        before = sources.sources()
        other_code("abc")
        assert self.again(tmp_path, 9, methods=("AE", "MUSAE"))[0] == []
        assert Agreements(tmp_path, "few-shot").first("abc") == "abc"
        assert runner.measure_again(["few-shot"], both, tmp_path, 1, say=said.append) == []
        assert said[-1].startswith(f"this code agrees with sources {before} in classification, few-shot:")

    def test_are_of_an_experiment(self, tmp_path):
        agreements = Agreements(tmp_path)
        agreements.add("a", "b", {"classification AE": True}, ["classification"])
        agreements.add("a", "c", {"regression AE": True}, [])
        assert [Agreements(tmp_path, name).first("b") for name in ("classification", "regression")] == ["a", "b"]
        assert Agreements(tmp_path).first("b") == "a"
        assert Agreements(tmp_path).first("c") == "c"  # too few cells so far

    def test_what_was_trained_on_a_device_is_not_asked_for(self, tmp_path, other_code):
        reproduce(["classification"], asked(tmp_path), tmp_path)
        store = records_of(tmp_path, "classification")
        device = {"fit": {"seconds": 1.0, "device": "a GPU"}}
        cell = {**store.fits()[0]["cell"], "method": "GCN", "solver": "labels", "dataset": "cora"}
        store.append({**record(sources.sources()), "cell": cell, **device})
        other_code("abc")
        failures, said = self.again(tmp_path, 9)
        assert failures == []
        assert "their records count as one" in said[-1]
        render(["classification"], tmp_path)
        page = (tmp_path / "classification.md").read_text(encoding="utf-8")
        assert "1 records were trained on a GPU, and can be compared on such a device alone" in page

    def test_cells_that_fail_are_told_and_the_others_compared(self, tmp_path, other_code, fit_ends):
        reproduce(["classification"], asked(tmp_path), tmp_path)
        other_code("abc")
        fit_ends(1, FitError("no memory"))
        failures, said = self.again(tmp_path, 9)
        assert [each.split(": ")[-1] for each in failures] == ["no memory"]
        (line,) = Agreements(tmp_path).lines()
        assert len(line["cells"]) == 1
        assert f"{line['cells'][0]}: the same" in said

    def test_what_was_compared_before_an_interruption_counts(self, tmp_path, other_code, fit_ends):
        reproduce(["classification"], asked(tmp_path), tmp_path)
        other_code("abc")
        fit_ends(2, KeyboardInterrupt())
        with pytest.raises(KeyboardInterrupt):
            self.again(tmp_path, 9)
        assert len(Agreements(tmp_path).lines()[0]["cells"]) == 1

    def test_a_cell_that_differs_speaks_against_both_codes_until_it_is_the_same(self, tmp_path, other_code):
        reproduce(["classification"], asked(tmp_path), tmp_path)
        path = records_of(tmp_path, "classification").path
        right = path.read_text(encoding="utf-8")
        first, *others = map(json.loads, right.splitlines())
        first["scores"]["micro_f1"][0] += 1e-9
        path.write_text("".join(json.dumps(each) + "\n" for each in (first, *others)))
        other_code("abc")
        assert len(self.again(tmp_path, 2)[0]) == 1
        (line,) = Agreements(tmp_path).lines()
        assert (len(line["cells"]), len(line["differing"]), line["experiments"]) == (1, 1, [])
        Agreements(tmp_path).add(first["sources"], "abc", {line["cells"][0]: True}, ["classification"])
        assert Agreements(tmp_path, "classification").first("abc") == "abc"
        path.write_text(right)
        assert self.again(tmp_path, 2)[0] == []
        assert Agreements(tmp_path, "classification").first("abc") == first["sources"]

    def test_code_that_counts_as_another_has_the_other_s_records_to_show(self, tmp_path, other_code):
        """A second code agrees and adds one record: a third that repeats this one alone does not count as the first."""
        reproduce(["classification"], asked(tmp_path, methods=("AE", "MUSAE")), tmp_path)
        before = sources.sources()
        Agreements(tmp_path).add(before, "second", {}, ["classification"])
        other_code("second")
        reproduce(["classification"], asked(tmp_path, methods=("HOPE",)), tmp_path)
        other_code("third")
        _, said = self.again(tmp_path, 9, methods=("HOPE",))
        assert "cells of AE by pmi, MUSAE by pmi, classification by pmi would have" in said[-1]
        assert Agreements(tmp_path, "classification").first("third") == "third"
        _, said = self.again(tmp_path, 2, methods=("AE", "MUSAE", "HOPE"))
        assert "their records count as one" in said[-1]  # of what was drawn before nothing is drawn first
        assert Agreements(tmp_path, "classification").first("third") == before

    def test_seconds_by_code_that_agrees_have_no_mark(self, tmp_path):
        for method in ("AE", "MUSAE"):
            records_of(tmp_path, "classification").append(record("abc", method))
        size = {"varied": "nodes", "nodes": 128, "features_per_node": 8, "threads": 1}
        cell = {"method": "AE", "solver": "pmi", "parameters": {}, **size}
        seconds = {**record("new"), "cell": cell, "scores": {"seconds": [0.5, 0.5]}}
        records_of(tmp_path, "runtime").append(seconds)
        assert Records(tmp_path).of("runtime").records[0]["marks"] == "‡"
        Agreements(tmp_path).add("abc", "new", {"cell": True}, ["classification", "runtime"])
        (found,) = Records(tmp_path).of("runtime").records
        assert (found["marks"], found["code"]) == ("", "new")
        assert Records(tmp_path).of("classification").records[0]["marks"] == ""

    def test_lead_through_others_to_the_first(self, tmp_path):
        agreements = Agreements(tmp_path)
        for older, newer in (("b", "c"), ("a", "b"), ("x", "y"), ("c", "a"), ("d", "c")):  # there is a circle
            agreements.add(older, newer, {"cell": True}, ["classification"])
        assert agreements.first("y") == "x"
        assert agreements.first(None) is None
        assert {agreements.first(code) for code in "abcd"} == {"b"}  # the first that is named

    def test_are_not_about_seconds(self, tmp_path):
        store = records_of(tmp_path, "runtime")
        cell = {"method": "AE", "solver": "pmi", "varied": "nodes", "nodes": 64, "threads": 1}
        store.append({"cell": cell, "repeats": 1, "scores": {"seconds": [1.0]}, "sources": "abc", "machine": MACHINE})
        Agreements(tmp_path).add("old", "abc", {"cell": True}, ["classification", "runtime"])
        assert store.records()[0]["sources"] == "abc"
        store = records_of(tmp_path, "classification")
        store.append(record("abc"))
        assert store.records()[0]["sources"] == "old"

    def test_a_foreign_line_is_named(self, tmp_path):
        agreements = Agreements(tmp_path)
        agreements.add("a", "b", {}, [])
        agreements.path.write_text(agreements.path.read_text() + '{"sources": ["a"]}\n')
        with pytest.raises(FileFormatError, match="line 2"):
            agreements.first("b")
