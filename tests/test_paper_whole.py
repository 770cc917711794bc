"""``hopscale reproduce all`` from an empty folder, on small graphs that have the names of the paper's data sets."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from hopscale import datasets
from hopscale.cli.commands import hopscale as command
from hopscale.paper import EXPERIMENTS, experiments
from hopscale.paper.store import records_of

NAMES = ("twitch-pt", "twitch-ru", "wiki-chameleon")


@pytest.fixture
def small(tmp_path, monkeypatch):
    """A folder of small graphs, and short grids of what is generated."""
    folder = tmp_path / "data"
    folder.mkdir()
    for seed, name in enumerate(NAMES):
        graph = datasets.planted_blocks(80, random_state=seed)
        labels = [float(label) + 1.0 for label in graph.labels] if name.startswith("wiki") else graph.labels
        type(graph)(graph.adjacency, graph.features, labels=labels).save(folder / f"{name}.npz")
    monkeypatch.setattr(experiments, "NODE_EXPONENTS", (5, 6))
    monkeypatch.setattr(experiments, "FEATURE_EXPONENTS", (1, 2))
    monkeypatch.setattr(experiments, "RUNTIME_NODES", 5)
    monkeypatch.setattr(experiments, "WALK_LENGTHS", (8,))
    monkeypatch.setattr(experiments, "DIMENSIONS", (2,))
    monkeypatch.setattr(experiments, "SAMPLES_PER_CLASS", (3, 6))
    return folder


def test_all_pages_of_one_code_from_an_empty_folder(tmp_path, small):
    words = ["-m", "AE", "-d", ",".join(NAMES), "--splits", "2", "--fits", "2"]
    words += ["--data", str(small), "--cache", str(tmp_path / "cache"), "-o", str(tmp_path / "out")]
    result = CliRunner().invoke(command, ["reproduce", "all", *words, "--json"], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    written = {path.name for path in (tmp_path / "out").glob("*.md")}
    assert written == {f"{name}.md" for name in (*EXPERIMENTS, "overview", "claims", "summary")}
    every = [record for name in EXPERIMENTS for record in records_of(tmp_path / "out", name).records()]
    cells = sum(len(records_of(tmp_path / "out", name).fits()) for name in EXPERIMENTS)
    assert len({record["sources"] for record in every}) == 1
    assert not any("‡" in path.read_text(encoding="utf-8") for path in (tmp_path / "out").glob("*.md"))
    trained = [r for r in every if r["cell"].get("solver") == "sgns" and r["cell"]["experiment"] == "classification"]
    assert trained
    for record in trained:
        assert record["fits"] == len(record["scores"]["micro_f1"]) == 2
    again = CliRunner().invoke(command, ["reproduce", "all", *words])
    assert f"{cells} of {cells} cells are there, 0 to measure" in again.stderr
    some = CliRunner().invoke(command, ["reproduce", "transfer", *words, "--again", "1", "--json"])
    assert some.exit_code == 0
    assert json.loads(some.stdout)["failures"] == []
