"""The benchmarks' own book-keeping: what a record holds, when it stands for another, what the table says."""

from __future__ import annotations

import json
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

pytest.importorskip("resource")  # what the benchmarks measure memory with


@pytest.fixture
def quality(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The program, writing to a folder of its own."""
    monkeypatch.syspath_prepend(Path(__file__).resolve().parents[1] / "benchmarks")
    import quality

    monkeypatch.setattr(quality, "RESULTS", tmp_path)
    monkeypatch.setattr(quality, "RECORDS", tmp_path / "quality.jsonl")
    return quality


def record(dataset: str, **scores: float) -> dict[str, Any]:
    summary = {metric: {"mean": mean, "standard_error": 0.001} for metric, mean in scores.items()}
    same = {"model": "AE", "solver": "pmi", "parameters": {}, "splits": 10, "seconds": 1.0}
    return {**same, "dataset": dataset, "raw": summary, "standardised": summary}


def test_a_record_says_where_and_on_what_it_was_measured(quality: ModuleType) -> None:
    found = quality.measure("MUSAE", "pmi", "planted-blocks", 2, {"dimensions": 8})
    assert found["machine"]["versions"]["hopscale"]
    assert found["commit"] is None or re.fullmatch(r"[0-9a-f]{40}(-dirty)?", found["commit"])
    assert json.loads(json.dumps(found)) == found


def test_another_number_of_splits_is_another_measurement(quality: ModuleType) -> None:
    one = record("cora", micro_f1=0.8)
    assert quality.key(one) == quality.key(dict(one))
    for other in ({"splits": 3}, {"parameters": {"epochs": 1}}, {"dataset": "pubmed"}, {"solver": "sgns"}):
        assert quality.key(one) != quality.key({**one, **other})


def test_what_was_measured_is_not_measured_again(quality: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    measured: list[int] = []

    def measure(model: str, solver: str, dataset: str, splits: int, parameters: dict[str, Any]) -> dict[str, Any]:
        measured.append(splits)
        return {**record(dataset, micro_f1=0.8, majority_micro_f1=0.3), "splits": splits}

    monkeypatch.setattr(quality, "measure", measure)
    for splits in ("10", "10", "3"):
        arguments = ["quality.py", "--solvers", "pmi", "--models", "AE", "--datasets", "cora", "--splits", splits]
        monkeypatch.setattr("sys.argv", arguments)
        quality.main()
    assert measured == [10, 3]


def test_baselines_are_those_measured(quality: ModuleType, tmp_path: Path) -> None:
    records = [record("wiki-squirrel", r2=0.4, mean_r2=-0.012), record("cora", micro_f1=0.8, majority_micro_f1=0.31)]
    quality.RECORDS.write_text("".join(json.dumps(r) + "\n" for r in records))
    quality.render()
    table = (tmp_path / "quality.md").read_text()
    rows = {line.split("|")[1].strip(): line.split("|")[-2].strip() for line in table.splitlines() if "|" in line}
    assert (rows["wiki-squirrel"], rows["cora"]) == ("-0.012", "0.310")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["quality.jsonl", "quality.md"]
