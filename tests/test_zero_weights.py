"""An edge of weight 0 is no edge, and a feature of value 0 none; their nodes and features stay. So at every door."""

from types import SimpleNamespace

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from hopscale import AttributedGraph, from_edges, from_networkx, from_tables, read_graph
from hopscale.exceptions import GraphError
from hopscale.io import as_graph, from_dgl, from_igraph, from_pyg

PAIRS, WEIGHTS = [("a", "b"), ("b", "c"), ("c", "d")], [1.0, 2.0, 0.0]
MATRIX = np.array([[0, 1, 0, 0], [1, 0, 2, 0], [0, 2, 0, 0], [0, 0, 0, 0]], dtype=float)
VALUES = {"a": {"x": 1.0, "y": 0.0}, "d": {"y": 0.0, "z": 3.0}}
LONG = [(node, feature, value) for node, own in VALUES.items() for feature, value in own.items()]


def explicit():
    """All weights, the zeros among them, as entries of a sparse matrix."""
    rows, columns = np.array([[0, 1], [1, 0], [1, 2], [2, 1], [2, 3], [3, 2]]).T
    return sp.csr_array(([1.0, 1, 2, 2, 0, 0], (rows, columns)), shape=(4, 4))


def networkx_graph(kind=nx.Graph):
    graph = kind()
    for (u, v), w in zip(PAIRS, WEIGHTS, strict=True):
        graph.add_edge(u, v, weight=w)
    return graph


class Sequence(dict):
    def __init__(self, count, **columns):
        super().__init__(columns)
        self.count = count

    def __len__(self):
        return self.count

    def attributes(self):
        return list(self.keys())


def igraph_graph():
    return SimpleNamespace(
        get_edgelist=lambda: [(0, 1), (1, 2), (2, 3)],
        vs=Sequence(4, name=list("abcd")),
        es=Sequence(3, weight=WEIGHTS),
        is_directed=lambda: False,
    )


def both_ways():
    pairs = np.array([[0, 1, 2], [1, 2, 3]])
    return np.concatenate([pairs, pairs[::-1]], axis=1), np.array(WEIGHTS * 2)


def pyg_data():
    pairs, weights = both_ways()
    return SimpleNamespace(edge_index=pairs, edge_weight=weights, num_nodes=4)


def dgl_graph():
    pairs, weights = both_ways()
    return SimpleNamespace(
        ndata={},
        edata={"weight": weights},
        num_nodes=lambda: 4,
        edges=lambda: tuple(pairs),
        ntypes=["_N"],
        etypes=["_E"],
    )


def files(tmp_path, edges, features=None):
    (tmp_path / "e.csv").write_text(edges)
    if features is not None:
        (tmp_path / "f.csv").write_text(features)
    return read_graph(tmp_path / "e.csv", None if features is None else tmp_path / "f.csv", header=True)


def graphml(tmp_path):
    nx.write_graphml(networkx_graph(), tmp_path / "g.graphml")
    return read_graph(tmp_path / "g.graphml")


def saved(tmp_path):
    AttributedGraph(explicit(), node_ids=list("abcd")).save(tmp_path / "g.npz")
    return read_graph(tmp_path / "g.npz")


EDGES = {
    "from_edges": lambda _: from_edges(PAIRS, weights=WEIGHTS),
    "from_edges, a Series": lambda _: from_edges(PAIRS, weights=pd.Series(WEIGHTS)),
    "a dense matrix": lambda _: AttributedGraph(MATRIX),
    "a sparse matrix with zeros": lambda _: AttributedGraph(explicit()),
    "as_graph, an array": lambda _: as_graph(MATRIX),
    "as_graph, a sparse matrix": lambda _: as_graph(explicit()),
    "as_graph, a data frame": lambda _: as_graph(pd.DataFrame(MATRIX, index=list("abcd"), columns=list("abcd"))),
    "networkx": lambda _: from_networkx(networkx_graph()),
    "networkx, multigraph": lambda _: from_networkx(networkx_graph(nx.MultiGraph)),
    "networkx, directed": lambda _: from_networkx(networkx_graph().to_directed()),
    "igraph": lambda _: from_igraph(igraph_graph()),
    "torch_geometric": lambda _: from_pyg(pyg_data()),
    "dgl": lambda _: from_dgl(dgl_graph()),
    "tables": lambda _: from_tables(pd.DataFrame(PAIRS, columns=["u", "v"]).assign(weight=WEIGHTS)),
    "files": lambda tmp_path: files(tmp_path, "source,target,weight\na,b,1\nb,c,2\nc,d,0\n"),
    "graphml": graphml,
    "npz": saved,
}


@pytest.mark.parametrize("door", EDGES)
def test_an_edge_of_weight_zero_is_none_and_its_nodes_stay(door, tmp_path):
    graph = EDGES[door](tmp_path)
    np.testing.assert_array_equal(graph.adjacency.toarray(), MATRIX)
    assert graph.adjacency.nnz == 4
    assert graph.n_edges == 2


FEATURES = {
    "mappings": lambda _: from_edges(PAIRS, VALUES),
    "networkx": lambda _: from_networkx(nx.Graph(PAIRS), features=VALUES),
    "tables": lambda _: from_tables(
        pd.DataFrame(PAIRS, columns=["u", "v"]), pd.DataFrame(LONG, columns=["node", "feature", "value"])
    ),
    "files": lambda tmp_path: files(
        tmp_path, "source,target\na,b\nb,c\nc,d\n", "node,feature,value\na,x,1\na,y,0\nd,y,0\nd,z,3\n"
    ),
    "data frame": lambda _: from_edges(PAIRS, pd.DataFrame(VALUES).T.fillna(0)),
}


@pytest.mark.parametrize("door", FEATURES)
def test_a_feature_of_value_zero_is_none_and_its_name_stays(door, tmp_path):
    graph = FEATURES[door](tmp_path)
    assert graph.feature_names.tolist() == ["x", "y", "z"]
    assert graph.features.nnz == 2
    assert graph.features.toarray().tolist() == [[1, 0, 0], [0, 0, 0], [0, 0, 0], [0, 0, 3]]


class TestArrays:
    """What a plain array means where a graph is expected."""

    def test_a_square_one_is_an_adjacency_matrix(self):
        assert as_graph(MATRIX).n_edges == 2
        assert as_graph(np.zeros((1, 1))).n_nodes == 1

    @pytest.mark.parametrize(
        ("array", "message"),
        [
            (np.array([[0, 1], [1, 2]]), "two edges"),
            (np.array([[0, 1], [1, 2], [2, 3]]), "from_edges"),
            (np.array([[0, 1, 2], [1, 2, 3]]), "from_edges"),
            (np.ones((3, 5)), "square"),
            (np.ones(4), "square"),
            (np.array(3), "square"),
            (pd.DataFrame({"u": [0, 1], "v": [1, 2]}), "from_tables"),
            (pd.DataFrame(np.ones((3, 5))), "from_tables"),
        ],
    )
    def test_others_are_refused(self, array, message):
        with pytest.raises(GraphError, match=message):
            as_graph(array)

    @pytest.mark.parametrize("features", [["a", "b"], ("a", "b"), {"a", "b"}, "ab", [["tea"], ["go"]], np.array(["a"])])
    def test_names_are_no_matrix_of_features(self, features):
        with pytest.raises(GraphError, match="must be a mapping"):
            from_edges(PAIRS, features)
