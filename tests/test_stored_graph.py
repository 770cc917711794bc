"""Graphs in folders: what is written is what is read, and what is damaged is refused."""

from __future__ import annotations

import json

import numpy as np
import pytest

from hopscale import AttributedGraph, from_edges
from hopscale.exceptions import FileFormatError, OutputError, ParameterError
from hopscale.stored import StoredGraph


def assert_same_graph(one: AttributedGraph, other: AttributedGraph) -> None:
    """Bit by bit, id by id."""
    for matrix in ("adjacency", "features"):
        a, b = getattr(one, matrix), getattr(other, matrix)
        assert a.shape == b.shape
        for part in ("indptr", "indices", "data"):
            x, y = getattr(a, part), getattr(b, part)
            assert x.dtype == y.dtype
            assert np.array_equal(x, y)
    for names in ("node_ids", "feature_names"):
        x, y = getattr(one, names), getattr(other, names)
        assert x.dtype == y.dtype
        assert x.tolist() == y.tolist()


GRAPHS = {
    "whole ids": from_edges([(5, 3), (3, 9)], {5: [2, 7], 9: [7]}),
    "text": from_edges([("ann", "bob"), ("bob", "éva")], {"ann": ["tea", "go"], "zoe": ["tea"]}),
    "weights and values": from_edges([("a", "b"), ("b", "c")], {"a": {"x": 0.1}}, weights=[2.5, 1.0]),
    "self-loop": from_edges([(0, 0), (0, 1)], self_loops=True),
    "no features": from_edges([(0, 1)]),
    "isolated nodes alone": AttributedGraph(np.zeros((3, 3)), np.eye(3)),
    "empty names": from_edges([("", "b")], {"": ["x"]}),
}


@pytest.mark.parametrize("graph", GRAPHS.values(), ids=GRAPHS)
def test_a_saved_graph_comes_back_bit_by_bit(graph, tmp_path):
    StoredGraph.save(graph, tmp_path / "graph")
    stored = StoredGraph.open(tmp_path / "graph")
    assert_same_graph(stored.to_graph(), graph)
    assert (stored.n_nodes, stored.n_edges, stored.n_features) == (graph.n_nodes, graph.n_edges, graph.n_features)
    assert (stored.weights is not None) == stored.weighted == graph.is_weighted
    assert stored.node_ids(1, 2).tolist() == graph.node_ids[1:2].tolist()
    assert [path.name for path in tmp_path.iterdir()] == ["graph"]


def test_mapped_memory_can_be_given_back(tmp_path):
    StoredGraph.save(GRAPHS["text"], tmp_path / "graph")
    stored = StoredGraph.open(tmp_path / "graph")
    before = stored.neighbors.tolist()
    stored.release()
    assert stored.neighbors.tolist() == before


@pytest.mark.parametrize("ids", [["a", 1], [0.5, 1.5], [("a", "b"), "c"]])
def test_names_of_other_kinds_are_refused_and_nothing_is_left(ids, tmp_path):
    graph = AttributedGraph(np.ones((2, 2)), node_ids=ids)
    with pytest.raises(ParameterError, match="node_ids"):
        StoredGraph.save(graph, tmp_path / "graph")
    assert not any(tmp_path.iterdir())


def test_a_folder_with_something_in_it_is_not_written_to(tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(OutputError, match="not empty"):
        StoredGraph.save(GRAPHS["text"], tmp_path)
    with pytest.raises(OutputError, match="is a file"):
        StoredGraph.save(GRAPHS["text"], tmp_path / "mine.txt")
    with pytest.raises(OutputError, match="no folder"):
        StoredGraph.save(GRAPHS["text"], tmp_path / "no" / "such")
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


MANIFESTS = {
    "no json": "{",
    "another format": '{"format": "another"}',
    "a list": "[]",
    "newer": {"version": 2},
    "true is no version": {"version": True},
    "negative": {"n_nodes": -1},
    "too many": {"n_nodes": 2**31},
    "no nodes": {"n_nodes": 0},
    "more nodes": {"n_nodes": 5},
    "more edges than links": {"n_edges": 5},
    "float": {"entries": 2.0},
    "weights without a file": {"weighted": True},
    "kind": {"node_ids": "pickle"},
    "numbers for text": {"node_ids": "int64"},
    "fewer features": {"n_features": 1},
}


@pytest.mark.parametrize("change", MANIFESTS.values(), ids=MANIFESTS)
def test_a_damaged_manifest_is_refused(change, tmp_path):
    StoredGraph.save(GRAPHS["text"], tmp_path / "graph")
    manifest = tmp_path / "graph" / "manifest.json"
    manifest.write_text(
        change if isinstance(change, str) else json.dumps({**json.loads(manifest.read_text()), **change})
    )
    with pytest.raises(FileFormatError, match="graph"):
        StoredGraph.open(tmp_path / "graph")


ARRAYS = {
    "neighbor too large": ("neighbors", lambda a: a + 2),
    "neighbor negative": ("neighbors", lambda a: a - 1),
    "too short": ("neighbors", lambda a: a[:-1]),
    "another type": ("neighbors", lambda a: a.astype(np.int64)),
    "two dimensions": ("neighbors", lambda a: a.reshape(2, -1)),
    "objects": ("neighbors", lambda a: a.astype(object)),
    "offsets fall": ("offsets", lambda a: a[[0, 2, 1, *range(3, len(a))]]),
    "offsets end early": ("offsets", lambda a: np.minimum(a, a[-1] - 1)),
    "offsets begin late": ("offsets", lambda a: np.maximum(a, 1)),
    "features out of range": ("feature_columns", lambda a: a + 2),
    "offsets of names": ("node_ids_offsets", lambda a: a[::-1].copy()),
    "bytes of names": ("node_ids", lambda a: a + np.uint8(0x80)),
    "a name twice": ("feature_names", lambda a: np.frombuffer(b"gogo", dtype=np.uint8)),
}


@pytest.mark.parametrize(("name", "change"), ARRAYS.values(), ids=ARRAYS)
def test_damaged_arrays_are_refused(name, change, tmp_path):
    StoredGraph.save(GRAPHS["text"], tmp_path / "graph")
    path = tmp_path / "graph" / f"{name}.npy"
    changed = change(np.load(path))
    if name == "feature_names":  # "tea" and "go" become "go" twice
        np.save(tmp_path / "graph" / "feature_names_offsets.npy", np.array([0, 2, 4]))
    np.save(path, changed, allow_pickle=True)
    with pytest.raises(FileFormatError):
        StoredGraph.open(tmp_path / "graph").node_ids()


@pytest.mark.parametrize("weight", [np.nan, np.inf, -1.0, 0.0])
def test_weights_that_cannot_be_are_refused(weight, tmp_path):
    StoredGraph.save(GRAPHS["weights and values"], tmp_path / "graph")
    weights = np.load(tmp_path / "graph" / "weights.npy")
    weights[1] = weight
    np.save(tmp_path / "graph" / "weights.npy", weights)
    with pytest.raises(FileFormatError, match="weights"):
        StoredGraph.open(tmp_path / "graph")


@pytest.mark.parametrize("kept", [0, 5, 60, 100, -1])
def test_an_array_that_is_cut_short_is_refused(kept, tmp_path):
    StoredGraph.save(GRAPHS["text"], tmp_path / "graph")
    path = tmp_path / "graph" / "offsets.npy"
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(FileFormatError, match="offsets"):
        StoredGraph.open(tmp_path / "graph")


def test_what_is_not_there_is_said(tmp_path):
    with pytest.raises(FileFormatError, match="no folder"):
        StoredGraph.open(tmp_path / "none")
    with pytest.raises(FileFormatError, match=r"no manifest\.json"):
        StoredGraph.open(tmp_path)
