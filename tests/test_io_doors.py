"""The same graph through every door, and the one door that opens by itself."""

import json
import tempfile
from pathlib import Path

import networkx as nx
import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from hopscale import AttributedGraph
from hopscale.exceptions import GraphError
from hopscale.io import as_graph, from_edges, from_networkx, from_tables, read_graph

WHOLE = st.integers(-(2**40), 2**40)
# In files blank space around a name, and a header's words, are not the name's own.
TEXT = st.text("abcé,\"'-#%1", min_size=1, max_size=5).filter(lambda name: not name.lstrip("-").isdigit())


@st.composite
def graphs(draw):
    """Edges with whole weights, features with whole values, of nodes that are all in some edge."""
    names = draw(st.sampled_from([WHOLE, TEXT]))
    nodes = draw(st.lists(names, min_size=2, max_size=7, unique=True))
    pairs = draw(st.lists(st.tuples(*[st.sampled_from(nodes)] * 2), min_size=1, max_size=15))
    weights = [draw(st.integers(1, 5)) for _ in pairs]
    ends = sorted({end for pair in pairs for end in pair})
    values = st.dictionaries(draw(st.sampled_from([WHOLE, TEXT])), st.integers(1, 5), max_size=4)
    features = draw(st.dictionaries(st.sampled_from(ends), values, min_size=1))
    return pairs, weights, features


def as_plain(graph):
    """What the graph says, free of the order of rows and columns."""
    ids, names = graph.node_ids.tolist(), graph.feature_names.tolist()
    A, F = graph.adjacency.tocoo(), graph.features.tocoo()
    edges = {(ids[u], ids[v]): w for u, v, w in zip(*A.coords, A.data.tolist(), strict=True)}
    features = {(ids[u], names[f]): x for u, f, x in zip(*F.coords, F.data.tolist(), strict=True)}
    return set(ids), edges, features


@settings(max_examples=60, deadline=None)
@given(graphs())
def test_every_door_leads_to_the_same_graph(graph):
    pairs, weights, features = graph
    by_edges = from_edges(pairs, features, weights=weights)
    expected = as_plain(by_edges)

    twin = nx.MultiGraph()
    twin.add_weighted_edges_from((u, v, weight) for (u, v), weight in zip(pairs, weights, strict=True))
    nx.set_node_attributes(twin, features, "features")
    assert as_plain(from_networkx(twin)) == expected
    assert as_plain(as_graph(twin)) == expected

    by_matrices = AttributedGraph(
        by_edges.adjacency,
        by_edges.features,
        node_ids=by_edges.node_ids,
        feature_names=by_edges.feature_names,
    )
    assert as_plain(by_matrices) == expected

    sources, targets = zip(*pairs, strict=True)
    edge_table = pl.DataFrame({"u": sources, "v": targets, "weight": weights})
    entries = [(node, name, value) for node, own in features.items() for name, value in own.items()]
    if entries:  # a column without rows has no type
        entry_table = pl.DataFrame(entries, schema=["node", "feature", "value"], orient="row")
        assert as_plain(from_tables(edge_table, entry_table)) == expected

    with tempfile.TemporaryDirectory() as folder:
        edge_file, feature_file = Path(folder, "edges.csv"), Path(folder, "features.json")
        edge_table.write_csv(edge_file)
        feature_file.write_text(json.dumps(features))
        assert as_plain(read_graph(edge_file, feature_file, header=True)) == expected
        if entries:
            table_file = Path(folder, "features.tsv")
            entry_table.write_csv(table_file, separator="\t")
            assert as_plain(read_graph(edge_file, table_file, header=True)) == expected


class TestAsGraph:
    A = np.array([[0, 1], [1, 0]])

    def test_a_graph_is_returned_as_it_is(self):
        graph = AttributedGraph(self.A)
        assert as_graph(graph) is graph

    def test_matrices(self):
        assert as_graph(sp.csc_matrix(self.A)).n_edges == 1
        graph = as_graph((self.A, np.eye(2)))
        np.testing.assert_array_equal(graph.features.toarray(), np.eye(2))

    @pytest.mark.parametrize("form", [str, Path])
    def test_path(self, tmp_path, form):
        np.savez(tmp_path / "g.npz", edges=[[0, 1]], n_nodes=3)
        assert as_graph(form(tmp_path / "g.npz")).n_nodes == 3

    def test_igraph_by_its_shape(self):
        class Vertices(list):
            def attributes(self):
                return []

        class Shape:
            vs, es = Vertices([0, 1, 2]), Vertices([0])

            def get_edgelist(self):
                return [(0, 2)]

            def is_directed(self):
                return False

        np.testing.assert_array_equal(as_graph(Shape()).degrees, [1, 0, 1])

    @pytest.mark.parametrize("source", [[(0, 1)], 3, None, {"a": ["b"]}, (1, 2, 3)])
    def test_anything_else_is_told_where_to_go(self, source):
        with pytest.raises(GraphError, match=f"from {type(source).__name__}: .*from_edges"):
            as_graph(source)

    def test_other_files_are_told_where_to_go(self, tmp_path):
        (tmp_path / "e.csv").write_text("0,1\n")
        with pytest.raises(GraphError, match="read_graph"):
            as_graph(str(tmp_path / "e.csv"))
        with pytest.raises(FileNotFoundError):
            as_graph(str(tmp_path / "f.npz"))
