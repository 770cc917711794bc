"""What people pass in by mistake: every door answers with an error of our own that says what is wrong."""

import json

import networkx as nx
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import scipy.sparse as sp

from hopscale import (
    MUSAE,
    PMI,
    SGNS,
    AttributedGraph,
    evaluate,
    from_edges,
    from_networkx,
    from_tables,
    load,
    read_graph,
)
from hopscale.datasets import describe, figure1
from hopscale.exceptions import FileFormatError, GraphError, HopscaleError, ParameterError, UnknownNodeError, in_short
from hopscale.io import from_igraph
from hopscale.io.vectors import write_vectors

pytestmark = pytest.mark.filterwarnings("ignore::hopscale.exceptions.HopscaleWarning")

PAIR = np.array([[0.0, 1.0], [1.0, 0.0]])
EDGES = [(0, 1), (1, 2)]
HUGE = 10**400  # no float
LONG = 10**5000  # no float, and no text


def masked(values, mask):
    return np.ma.masked_array(values, mask=mask)


def attributed(**attributes):
    """A networkx graph of one edge with attributes."""
    return nx.Graph([(0, 1, attributes)])


def arrow(**columns):
    return pa.table(columns)


class TestMessages:
    def test_are_short_whatever_they_show(self):
        assert in_short("x" * 10_000) == "'" + "x" * 199 + "..."
        assert in_short(LONG) == "a value of type int that is too long to show"

    def test_of_objects_that_cannot_be_shown(self):
        class Odd:
            def __repr__(self):
                raise RuntimeError

        assert in_short(Odd()) == "a value of type Odd"


MATRICES = {
    "text": "abc",
    "ragged": [[0, 1], [1]],
    "complex": PAIR * 1j,
    "complex, sparse": sp.csr_array(PAIR * 1j),
    "complex, COO": sp.coo_array(PAIR * 1j),
    "masked": masked(PAIR, [[0, 1], [0, 0]]),
    "one dimension, sparse": sp.coo_array(np.array([1.0, 2.0])),
    "past every float": [[0, HUGE], [HUGE, 0]],
    "objects": np.array([[0, {}], [{}, 0]], dtype=object),
    "dates": np.zeros((2, 2), dtype="M8[s]"),
    "spans of time": np.ones((2, 2), dtype="m8[s]"),
    "records": np.zeros((2, 2), dtype=[("a", int), ("b", int)]),
}


@pytest.mark.parametrize("matrix", MATRICES.values(), ids=MATRICES)
def test_matrices(matrix):
    with pytest.raises(GraphError):
        AttributedGraph(matrix)
    with pytest.raises(GraphError):
        from_edges([(0, 1)], matrix)
    with pytest.raises(GraphError):
        MUSAE(4).fit((PAIR, matrix))


NAMES = {
    "a number": 5,
    "a text": "ab",
    "lists": [["a"], ["b"]],
    "arrays": [np.array([1, 2]), np.array([1, 2])],
    "two dimensions": np.arange(4).reshape(2, 2),
    "two dimensions of floats": np.zeros((2, 2)),
    "no dimension": np.array(3),
    "masked": masked([1, 2], [0, 1]),
    "masked text": masked(["a", "b"], [0, 1]),
    "NaN": [float("nan"), 1],
    "NA": [pd.NA, 1],
    "no date": np.array(["NaT", "2020"], dtype="M8[D]"),
    "None": [None, 1],
    "twice": ["a", "a"],
    "twice, as numbers": [7, 7],
    "twice, of different types": [1, True],
    "twice, very long": [LONG, LONG],
    "unhashable, very long": [[LONG], 1],
    "too few": [LONG],
}


@pytest.mark.parametrize("names", NAMES.values(), ids=NAMES)
@pytest.mark.parametrize("place", ["node_ids", "feature_names"])
def test_names(names, place):
    with pytest.raises(GraphError):
        AttributedGraph(PAIR, PAIR, **{place: names})
    with pytest.raises(GraphError):
        from_edges([(0, 1)], {0: ["tea"]}, **{place: names})


def test_names_are_compared_and_not_only_their_hashes():
    assert hash(-1) == hash(-2)
    names = [-1, -2, "a", 2**61 - 1 + 5, 5.0]
    graph = AttributedGraph(np.ones((5, 5)) - np.eye(5), node_ids=names)
    assert graph.node_ids.tolist() == names
    with pytest.raises(GraphError, match=r"distinct, but -2 occurs twice"):
        AttributedGraph(np.ones((5, 5)), node_ids=[-1, -2, "a", 5, -2])


LABELS = {
    "a number": 5,
    "ragged": [[1], [1, 2]],
    "deeply ragged": [[1, [2]], [1, 2]],
    "masked": masked([1, 2], [0, 1]),
    "records": np.zeros(2, dtype=[("a", int)]),
}


@pytest.mark.parametrize("labels", LABELS.values(), ids=LABELS)
def test_labels(labels):
    with pytest.raises(GraphError):
        AttributedGraph(PAIR, labels=labels)


def test_a_graph_without_edges_may_have_features():
    graph = from_edges([], sp.csr_array(np.eye(3)))
    assert (graph.n_nodes, graph.n_edges, graph.n_features) == (3, 0, 3)
    assert from_edges(np.zeros((0, 2), np.int32), np.eye(3)).n_nodes == 3


@pytest.mark.filterwarnings("error")
def test_edges_of_small_floats():
    assert from_edges(np.array([[3, 2], [2, 1]], np.float16)).node_ids.tolist() == [1, 2, 3]
    assert from_edges([("g", "a"), (2**62, "e"), (np.float16(2), "b")]).n_edges == 3


def test_several_labels_a_node_are_no_classes():
    assert describe(from_edges(EDGES, labels={0: [1], 1: [1, 2]})).classes is None


def test_labels_of_any_kind_in_a_mapping_stay_what_they_are():
    """Lists of one length, where a node has none, were once run together."""
    kept = from_edges(EDGES, labels={0: [1, 2], 1: [3, 4]}).labels
    assert kept.tolist() == [[1, 2], [3, 4], None]
    ragged = from_edges(EDGES, labels={0: [1], 1: [1, 2], 2: np.ones(2)}).labels
    assert [len(label) for label in ragged] == [1, 2, 2]


@pytest.mark.parametrize("labels", [[[1], [1, 2]], [HUGE] * 11, [LONG] * 11, 5, [[]] * 11, [{}, 1] * 5 + [2]])
def test_labels_that_cannot_be_scored(labels):
    column = np.empty(11, dtype=object)
    if isinstance(labels, list) and len(labels) == 11:
        column[:] = labels
        labels = column
    with pytest.raises(HopscaleError):
        evaluate(np.eye(11), labels)


WEIGHTS = {
    "a number": 5,
    "no dimension": np.array(5.0),
    "lists": [[1], [2]],
    "ragged": [[1], [2, 3]],
    "two dimensions": np.ones((2, 2)),
    "mapping": {1: 5, 2: 7},
    "mapping of edges": {(0, 1): 5, (1, 2): 7},
    "set": {1.0, 2.0},
    "text": "12",
    "complex": [1j, 2],
    "complex array": np.array([1j, 2]),
    "complex scalars": [np.complex128(1j), 2],
    "masked": masked([1.0, 2.0], [0, 1]),
    "sparse": sp.csr_array([[1.0, 2.0]]),
    "None": [None, 1],
    "objects": np.array([object(), 1], dtype=object),
    "records": np.zeros(2, dtype=[("a", int)]),
    "dates": np.array(["2020", "2021"], dtype="M8[Y]"),
    "spans of time": np.array([1, 2], dtype="m8[s]"),
    "past every float": [HUGE, 1],
    "past every text": [LONG, 1],
    "negative": [-LONG, 1],
}


@pytest.mark.parametrize("weights", WEIGHTS.values(), ids=WEIGHTS)
def test_weights(weights):
    with pytest.raises(GraphError, match="weight"):
        from_edges(EDGES, weights=weights)


OTHER_EDGES = {
    "None": None,
    "a number": 5,
    "no dimension": np.array(5),
    "numbers": [1, 2, 3],
    "texts": ["ab", "cd"],
    "unhashable": [([1], [2])],
    "NaN": [(float("nan"), 1)],
    "NA": [(pd.NA, 1)],
    "masked": masked([[0, 1], [1, 2]], [[0, 1], [0, 0]]),
    "records": np.zeros(2, dtype=[("a", int), ("b", int)]),
    "arrays without a dimension": [np.array(1), np.array(2)],
    "a third end, very long": [(LONG, 1), (1, 2, LONG)],
    "a missing end beside a very long one": [(LONG, None)],
}


@pytest.mark.parametrize("edges", OTHER_EDGES.values(), ids=OTHER_EDGES)
def test_edges(edges):
    with pytest.raises(GraphError):
        from_edges(edges)


@pytest.mark.parametrize("weights", [[-1], ["x"]])
def test_weights_of_an_edge_that_cannot_be_shown(weights):
    with pytest.raises(GraphError, match="too long to show"):
        from_edges([(LONG, 1)], weights=weights)


FEATURES = {
    "a number": 5,
    "a text": "abc",
    "ragged lists": [[1], [1, 2], [3]],
    "text of a node": {0: "tea"},
    "number of a node": {0: 5},
    "lists in lists": {0: [[1]]},
    "text as value": {0: {"a": "b"}},
    "list as value": {0: {"a": [1]}},
    "mapping as value": {0: {"a": {"b": 1}}},
    "complex value": {0: {"a": 1j}},
    "value past every float": {0: {"a": HUGE}},
    "value past every text": {0: {"a": LONG}},
    "negative, of a very long name": {0: {LONG: -1}},
    "of a very long node": {LONG: 5},
    "a very long number": {0: LONG},
    "None in a list": {0: [None]},
    "NaN in a list": {0: [float("nan")]},
    "NaN as a node": {float("nan"): ["a"]},
    "vectors of two lengths": {0: np.ones(2), 1: np.ones(3)},
    "complex vectors": {0: np.array([1j])},
    "masked vectors": {0: masked([1.0, 2.0], [0, 1])},
    "vector with NaN": {0: np.array([np.nan])},
}


@pytest.mark.parametrize("features", FEATURES.values(), ids=FEATURES)
def test_features(features):
    with pytest.raises(GraphError):
        from_edges(EDGES, features)


OTHERS = {
    "unknown id": lambda: from_edges([(LONG, "a")], node_ids=["a"]),
    "unknown label": lambda: from_edges(EDGES, labels={LONG: 0}),
    "a switch": lambda: from_edges(EDGES, self_loops=np.array([1, 2])),
    "a switch of a graph": lambda: AttributedGraph(PAIR, self_loops=np.array([1, 2])),
    "a choice": lambda: AttributedGraph(PAIR, directed=np.array([1, 2])),
    "index": lambda: AttributedGraph(PAIR).index_of(LONG),
    "index among others": lambda: AttributedGraph(PAIR, node_ids=[LONG, 1]).index_of(7),
    "a direction": lambda: AttributedGraph(np.triu(PAIR), node_ids=[LONG, 1]),
    "networkx, weight": lambda: from_networkx(attributed(weight=HUGE)),
    "networkx, list as weight": lambda: from_networkx(attributed(weight=[1])),
    "networkx, list as name": lambda: from_networkx(attributed(), weight=["a"]),
    "networkx, list as label": lambda: from_networkx(attributed(), label=["a"]),
    "networkx, list as features": lambda: from_networkx(attributed(), features=["a"]),
    "networkx, everything": lambda: from_networkx(attributed(), weight=True),
    "networkx, class": lambda: from_networkx(nx.Graph),
    "igraph": lambda: from_igraph(5),
    "table, list as column": lambda: from_tables(arrow(a=[1], b=[2]), source=["a"]),
    "table, list as weight": lambda: from_tables(arrow(a=[1], b=[2], weight=[[1]])),
    "table, code without a name": lambda: from_tables(
        arrow(a=pa.DictionaryArray.from_arrays(pa.array([0, 9]), pa.array(["x"]), safe=False), b=[1, 2])
    ),
    "table, negative code": lambda: from_tables(
        arrow(a=pa.DictionaryArray.from_arrays(pa.array([0, -5]), pa.array(["x"]), safe=False), b=[1, 2])
    ),
    "networkx, matrix as direction": lambda: from_networkx(nx.DiGraph([(0, 1)]), directed=np.ones((1, 2))),
    "networkx, list beside vectors": lambda: from_networkx(attributed(), features={0: np.ones(3), 1: [[1, 2], [3]]}),
    "table, columns of pandas that have no name": lambda: from_tables(pd.DataFrame({iter([1]): ["a"], "x": ["b"]})),
    "table, number past 64 bits": lambda: from_tables(pd.DataFrame({"a": ["x", "y"], "b": [1, 2**70]})),
    "table, its own code": lambda: from_tables(type("T", (), {"__arrow_c_stream__": lambda *_: {}["x"]})()),
    "sparse matrix as an edge": lambda: from_edges([sp.csr_array((2, 2)), (3, 1)]),
    "number as an edge, beside lists": lambda: from_edges([("x", [[1], [1, 2]]), HUGE]),
    "bytes beside a text as an edge": lambda: from_edges([("e", b"\xff"), '"']),
    "masked number as features": lambda: from_edges([("c", "d")], masked(np.array(1), False)),
    "no data set": lambda: load([]),
    "number as a data set": lambda: load(5),
    "long data set": lambda: load("x" * 70_000, data="."),
    "long folder": lambda: load("cora", data="x" * 70_000),
    "array as a column": lambda: read_graph("edges.csv", weight=np.ones((2, 2))),
    "complex vectors": lambda: evaluate(np.eye(8) * 1j, [0, 1] * 4),
    "type as labels": lambda: from_edges(EDGES, labels=int),
    "data set": lambda: load("9" * 5000),
    "folder of data sets": lambda: load("cora", data=5),
    "path": lambda: read_graph(5),
    "no path": lambda: read_graph(None),
    "bytes as a path": lambda: read_graph(b"edges.csv"),
    "NUL in a path": lambda: read_graph("a\0b"),
    "long path": lambda: read_graph("a" * 5000),
    "header": lambda: read_graph("edges.csv", header=np.array([1, 2])),
    "unknown": lambda: read_graph("edges.csv", unknown=["x"]),
    "dimensions": lambda: MUSAE(LONG).fit(figure1()),
    "epochs": lambda: MUSAE(4, solver=SGNS(epochs=HUGE)).fit(figure1()),
    "negative epochs": lambda: MUSAE(4, solver=SGNS(epochs=-LONG)).fit(figure1()),
    "shift": lambda: MUSAE(4, solver=PMI(shift=LONG)).fit(figure1()),
    "memory": lambda: MUSAE(4, solver=PMI(memory_limit=LONG)).fit(figure1()),
    "complex memory": lambda: MUSAE(4, solver=PMI(memory_limit=np.complex64(2**30))).fit(figure1()),
}


@pytest.mark.parametrize("call", OTHERS.values(), ids=OTHERS)
def test_others(call):
    with pytest.raises(HopscaleError):
        call()


class TestFittedModels:
    @pytest.fixture
    def model(self):
        return MUSAE(4, window=1).fit(figure1())

    def test_nodes_and_scales(self, model):
        for node in (LONG, ["A", "X"], [["A"]], float("nan"), None):
            with pytest.raises(UnknownNodeError):
                model.neighbors(node)
        for scale in (LONG, [1], 1.0, None.__class__):
            with pytest.raises(ParameterError, match="no scale"):
                model.neighbors("A", scale=scale)
        assert model.neighbors("A", scale=np.int64(1)) == model.neighbors("A", scale="1")

    @pytest.mark.parametrize(
        "graph",
        [5, PAIR, (1, 2), ("a", "b"), "nothing", "no\0thing", (PAIR, PAIR), ([[1], [1, 2]], PAIR)],
        ids=["number", "array", "numbers", "texts", "no file", "NUL", "other features", "ragged"],
    )
    def test_transform(self, model, graph):
        with pytest.raises(HopscaleError):
            model.transform(graph)

    def test_features_of_very_long_names(self, model):
        with pytest.raises(GraphError, match="too long to show"):
            model.transform(AttributedGraph(PAIR, PAIR, feature_names=[LONG, 2]))


VECTORS = {
    "ragged": ([1, 2], [[1], [1, 2]], {}),
    "text": ([1, 2], [["a"], ["b"]], {}),
    "too large": ([1, 2], [[1e300], [1]], {}),
    "past every float": ([1, 2], [[HUGE], [1]], {}),
    "complex": ([1, 2], np.array([[1j], [2]]), {}),
    "masked": ([1, 2], masked([[1.0], [2.0]], [[0], [1]]), {}),
    "sparse": ([1, 2], sp.csr_array([[1.0], [2.0]]), {}),
    "none": ([1, 2], None, {}),
    "number as names": (5, [[1.0], [2.0]], {}),
    "very long name": ([LONG, 1], [[1.0], [2.0]], {}),
    "very long name in a tuple": ([(LONG,), 1], [[1.0], [2.0]], {}),
    "half a character": (["\ud800", "a"], [[1.0], [2.0]], {}),
    "number as columns": ([1, 2], [[1.0], [2.0]], {"columns": 5}),
    "half a character as column": ([1, 2], [[1.0], [2.0]], {"columns": ["\ud800"]}),
    "list as format": ([1, 2], [[1.0], [2.0]], {"format": ["csv"]}),
}


@pytest.mark.parametrize(("ids", "vectors", "settings"), VECTORS.values(), ids=VECTORS)
@pytest.mark.parametrize("suffix", ["csv", "npz", "parquet"])
def test_vectors(tmp_path, suffix, ids, vectors, settings):
    with pytest.raises(ParameterError):
        write_vectors(tmp_path / f"v.{suffix}", ids, vectors, **settings)
    assert not list(tmp_path.iterdir())


def test_vectors_to_what_is_no_path():
    for path in (5, None, b"v.csv"):
        with pytest.raises(ParameterError, match="path"):
            write_vectors(path, ["a"], [[1.0]])


class TestFiles:
    @pytest.fixture
    def read(self, tmp_path):
        def reader(edges="0,1\n1,2\n", features=None, labels=None, **settings):
            paths = []
            for name, content in (("edges.csv", edges), ("features", features), ("labels.csv", labels)):
                paths.append(None if content is None else tmp_path / name)
                if content is not None:
                    (tmp_path / name).write_text(content)
            return read_graph(*paths, **settings)

        return reader

    @pytest.mark.parametrize(
        "files",
        [
            {"features": json.dumps({"9" * 5000: [1]})},
            {"features": '{"1": [' + "9" * 5000 + "]}"},
            {"features": '{"1": {"a": ' + "9" * 400 + "}}"},
            {"features": '{"1": {"a": ' + "9" * 5000 + "}}"},
            {"features": '{"1": {"a": 1' + "0" * 309 + '}, "2": ["a"]}'},
            {"features": '{"1": ["a", ' + "9" * 5000 + "]}"},
            {"features": '{"1": {"a": 1e400}}'},
            {"features": '{"1": ' + "[" * 100_000 + "]" * 100_000 + "}"},
            {"features": '{"1": ' * 100_000},
            {"features": '{"1": [' + "[" * 900 + "]" * 900 + "]}"},
            {"features": '{"6": [1, ' + '{"a":' * 5000 + "1" + "}" * 5000 + "]}"},
            {"features": "9" * 5000 + ",1\n2,3\n"},
            {"edges": "0,1," + "9" * 400 + "\n1,2,1\n"},
            {"edges": "0,1," + "9" * 5000 + "\n1,2,1\n"},
            {"edges": "source,target,weight\n0,1\n1,2\n", "weight": "weight"},
            {"features": "node,feature,value\n0,1\n1,2\n", "value": "value"},
            {"labels": "0," + "9" * 400 + "\n1,2.5\n"},
            {"labels": "0," + "9" * 5000 + "\n1,2\n"},
            {"labels": "0,inf\n1,2\n"},
        ],
        ids=lambda files: f"{next(iter(files))}-{len(str(files))}",
    )
    def test_are_refused_by_name(self, tmp_path, read, files):
        with pytest.raises(FileFormatError, match=str(tmp_path)):
            read(**files)

    def test_very_long_numbers_are_text(self, read):
        long = "9" * 5000
        assert read(f"{long},1\n1,2\n").node_ids.tolist() == [long, "1", "2"]
        assert read(features=f"1,{long}\n2,3\n").feature_names.tolist() == [long, "3"]
        assert read(features=json.dumps({"1": [long, "1"]})).feature_names.tolist() == [long, "1"]

    def test_labels_of_very_long_nodes_are_left_out(self, read):
        assert read(labels="9" * 5000 + ",1\n1,2\n").labels.tolist()[1] == 2

    def test_labels_past_64_bits_are_floats(self, read):
        assert read(labels=f"0,{2**70}\n1,2\n2,3\n").labels.tolist() == [2.0**70, 2.0, 3.0]
