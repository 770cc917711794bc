"""The supervised rows of the paper's table."""

from __future__ import annotations

import numpy as np
import pytest

from hopscale import supervised
from hopscale.datasets import planted_blocks
from hopscale.exceptions import ParameterError
from hopscale.paper import Options, reference_values, render, reproduce
from hopscale.paper import options as options_module
from hopscale.paper import supervised as rows
from hopscale.paper.methods import row_name
from hopscale.paper.store import records_of
from hopscale.tasks.splits import seeded_splits

pytest.importorskip("torch")


@pytest.fixture
def small_world(monkeypatch):
    monkeypatch.setitem(options_module.DATASETS, "classification", ("planted-blocks",))


def options(tmp_path, **settings):
    parameters = {"epochs": 5, "device": "cpu", **settings.pop("parameters", {})}
    return Options(cache=tmp_path, **{"methods": ("GCN", "SGCONV"), "splits": 2, "parameters": parameters, **settings})


def test_rows_are_those_of_the_paper():
    published = {row["method"] for row in reference_values("classification")}
    assert published >= set(rows.SUPERVISED_ROWS) - {"SIGN", *rows.OURS}
    assert set(rows.SUPERVISED_ROWS.values()) <= set(supervised.SUPERVISED)
    assert [row_name(name) for name in ("gcn", "SGC", "sgconv", "musae")] == ["GCN", "SGCONV", "SGCONV", "MUSAE"]


@pytest.mark.usefixtures("small_world")
def test_cells_are_scored_on_the_splits_of_the_vectors(tmp_path):
    assert reproduce(["classification"], options(tmp_path, n_jobs=1), tmp_path) == []
    records = records_of(tmp_path, "classification").records()
    assert [record["cell"]["method"] for record in records] == ["GCN", "SGCONV"]
    graph = planted_blocks()
    for record, name in zip(records, ("GCN", "SGC"), strict=True):
        expected = []
        for split, (train, test) in enumerate(seeded_splits(graph.n_nodes, 2, 0.2, 0)):
            model = supervised.SUPERVISED[name](epochs=5, device="cpu", random_state=split)
            expected.append(model.fit(graph, train=train).score(graph, test=test))
        np.testing.assert_allclose(record["scores"]["micro_f1"], expected)
        assert record["fit"]["device"] == "cpu"
        assert len(record["scores"]["seconds"]) == record["repeats"] == 2
    render(["classification"], tmp_path)
    page = (tmp_path / "classification.md").read_text()
    assert "## Supervised" in page
    assert f"| GCN | – / {np.mean(records[0]['scores']['micro_f1']):.3f}" in page


def test_a_class_without_training_nodes_is_never_predicted():
    graph = planted_blocks(n_nodes=100)
    labels = np.array(graph.labels, dtype=object)
    labels[0], labels[1] = "alone", None  # one node in a class of its own, and one without
    lonely = type(graph)(graph.adjacency, graph.features, labels=labels)
    records = rows.scores_of_splits("SGCONV", lonely, lonely.labels, {"epochs": 2}, splits=8, n_jobs=1)
    assert all(0 < record["micro_f1"] <= 1 for record in records)


def test_what_is_asked_for(tmp_path, monkeypatch):
    assert options(tmp_path, methods=None, parameters={"teleport": 0.1}).asked_supervised == ("APPNP", "SIGN")
    assert options(tmp_path, methods=("AE", "GAT")).asked_supervised == ("GAT",)
    assert options(tmp_path, methods=("AE", "GAT")).asked_methods == ("AE",)
    with pytest.raises(ParameterError, match="GCN has no parameter 'teleport'"):
        reproduce(["classification"], options(tmp_path, parameters={"teleport": 0.1}), tmp_path)
    monkeypatch.setattr(rows, "find_spec", lambda name: None)
    assert options(tmp_path, methods=None).asked_supervised == ()
    assert Options(cache=tmp_path).asked_supervised == rows.OURS
