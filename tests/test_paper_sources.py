"""Which code made a measurement: what the hash covers, and what records, kept fits and pages do with it."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest
from click.testing import CliRunner

import hopscale
from hopscale.cli.commands import hopscale as command
from hopscale.exceptions import ParameterError
from hopscale.paper import Options, render, reproduce, runner, sources
from hopscale.paper import options as options_module
from hopscale.paper.fits import Fit
from hopscale.paper.machine import cores
from hopscale.paper.pages import mixed_sources
from hopscale.paper.store import Measurements, Store, records_of

PACKAGE = Path(hopscale.__file__).parent
MACHINE = {"processor": "p", "cores": 1, "python": "3", "versions": {}}
# What computing modules take of idle ones: a model draws itself, and a device is used where one is asked for.
TAKEN = {
    ("hopscale/models/base.py", "hopscale.models.pictures"),
    ("hopscale/compute/devices.py", "hopscale.compute.torch"),
    ("hopscale/solvers/pmi.py", "hopscale.solvers.device_targets"),
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

    return change


def asked(tmp_path, **changes):
    settings = {"methods": ("AE",), "solvers": ("pmi",), "splits": 2, "parameters": {"dimensions": 8}}
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
    common = ["-m", "AE", "-s", "pmi", "--splits", "2", "-p", "dimensions=8", "-o", str(tmp_path / "out")]
    common = ["reproduce", "classification", *common, "--cache", str(tmp_path / "cache")]
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
    assert "‡ measured by other sources than most cells: 1 of 3." in page
    assert "2 cells were measured by sources `abc`." in page
    assert "1 cells were measured by sources that were not recorded." in page


@pytest.mark.usefixtures("small_world")
def test_the_command_refuses_to_mix(tmp_path):
    records_of(tmp_path / "out", "classification").append(record("abc", "MUSAE"))
    assert mixed_sources(["classification"], tmp_path / "out") is None
    arguments = ["reproduce", "classification", "-m", "AE", "-s", "pmi", "--splits", "2", "-p", "dimensions=8"]
    folders = ["--cache", str(tmp_path / "cache"), "-o", str(tmp_path / "out")]
    result = CliRunner().invoke(command, [*arguments, *folders])
    assert result.exit_code == 1
    assert "made by different code" in result.stdout
    assert not (tmp_path / "out" / "classification.md").exists()
    assert CliRunner().invoke(command, ["reproduce", "classification", "--only-render", *folders]).exit_code == 0
    assert (tmp_path / "out" / "classification.md").exists()
