"""networkx and igraph graphs, with networkx's own adjacency matrix as the oracle."""

import copy
import warnings

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopscale import DeepWalk
from hopscale.exceptions import GraphError, HopscaleWarning, ParameterError
from hopscale.io import from_igraph, from_networkx

PAIRS = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6), st.integers(1, 4)))


def refused(*args, **kwargs):
    with pytest.raises(GraphError) as caught:
        from_networkx(*args, **kwargs)
    return str(caught.value)


def friends():
    graph = nx.Graph([("bob", "ann"), ("bob", "eve")])
    graph.add_node("zoe")
    return graph


class FakeSequence:
    """Vertices or edges in the shape that igraph gives them."""

    def __init__(self, count, columns):
        self.count, self.columns = count, columns

    def __len__(self):
        return self.count

    def __getitem__(self, name):
        return list(self.columns[name])

    def attributes(self):
        return list(self.columns)


class FakeIgraph:
    """The part of ``igraph.Graph`` that the door uses; igraph is no dependency, not even of tests."""

    def __init__(self, n, edges, directed=False, vertex=None, edge=None):
        self.vs, self.es = FakeSequence(n, vertex or {}), FakeSequence(len(edges), edge or {})
        self._edges, self._directed = edges, directed

    def get_edgelist(self):
        return list(self._edges)

    def is_directed(self):
        return self._directed


class TestEdges:
    @given(PAIRS, st.permutations(range(7)))
    def test_same_matrix_as_networkx(self, pairs, order):
        graph = nx.Graph()
        graph.add_nodes_from(order)
        graph.add_weighted_edges_from(pairs)
        ours = from_networkx(graph, self_loops=True)
        assert ours.node_ids.tolist() == list(order)
        np.testing.assert_array_equal(ours.adjacency.toarray(), nx.to_numpy_array(graph))
        plain = from_networkx(graph, weight=None, self_loops=True)
        np.testing.assert_array_equal(plain.adjacency.toarray(), nx.to_numpy_array(graph, weight=None))

    @given(PAIRS)
    def test_parallel_edges_add_up_if_weighted_and_count_once_if_not(self, pairs):
        graph = nx.MultiGraph()
        graph.add_nodes_from(range(7))
        graph.add_weighted_edges_from(pairs)
        A = nx.to_numpy_array(graph)
        np.testing.assert_array_equal(from_networkx(graph, self_loops=True).adjacency.toarray(), A)
        plain = from_networkx(graph, weight=None, self_loops=True)
        np.testing.assert_array_equal(plain.adjacency.toarray(), A > 0)

    @given(PAIRS, st.sampled_from([nx.DiGraph, nx.MultiDiGraph]))
    def test_symmetrize_takes_the_larger_weight(self, pairs, kind):
        graph = kind()
        graph.add_nodes_from(range(7))
        graph.add_weighted_edges_from(pairs)
        A = nx.to_numpy_array(graph)
        ours = from_networkx(graph, directed="symmetrize", self_loops=True)
        np.testing.assert_array_equal(ours.adjacency.toarray(), np.maximum(A, A.T))

    def test_directed_graphs_are_refused_unless_every_arc_has_its_return(self):
        assert "directed='symmetrize'" in refused(nx.DiGraph([("a", "b")]))
        with pytest.raises(GraphError, match="directed='symmetrize', an argument of AttributedGraph, from_networkx"):
            DeepWalk(2).fit(nx.DiGraph([("a", "b")]))
        assert from_networkx(nx.DiGraph([("a", "b"), ("b", "a")])).n_edges == 1

    def test_edges_without_a_weight_weigh_one(self):
        graph = friends()
        graph["bob"]["ann"]["weight"] = 3
        ours = from_networkx(graph)
        assert ours.adjacency[ours.index_of("bob"), ours.index_of("ann")] == 3
        assert ours.adjacency[ours.index_of("bob"), ours.index_of("eve")] == 1

    def test_isolated_nodes_loops_and_ids_of_any_kind(self):
        graph = nx.grid_2d_graph(2, 2)
        graph.add_edge("x", "x")
        graph.add_node(7)
        ours = from_networkx(graph)
        assert ours.node_ids.tolist() == [(0, 0), (0, 1), (1, 0), (1, 1), "x", 7]
        assert ours.n_edges == 4
        assert from_networkx(graph, self_loops=True).n_edges == 5

    def test_views_are_graphs_too(self):
        assert from_networkx(friends().subgraph(["bob", "eve"])).n_edges == 1

    @pytest.mark.parametrize("weight", [-1, float("nan"), "far", None])
    def test_bad_weights_name_the_edge(self, weight):
        graph = friends()
        graph["bob"]["eve"]["weight"] = weight
        assert "the edge 'bob' to 'eve'" in refused(graph)

    def test_no_nodes(self):
        assert "no nodes" in refused(nx.Graph())


class TestFeatures:
    EXPECTED = np.array([[1, 0], [1, 1], [0, 0], [0, 0]])  # bob, ann, eve, zoe by tea, go

    @pytest.mark.parametrize(
        ("bob", "ann"),
        [
            (["tea"], ["tea", "go", "tea"]),
            (("tea",), {"tea": 1, "go": 1}),
            ({"tea"}, ["tea", "go"]),
        ],
    )
    def test_from_an_attribute_or_a_mapping(self, bob, ann):
        graph = friends()
        by_mapping = from_networkx(graph, features={"bob": bob, "ann": ann})
        nx.set_node_attributes(graph, {"bob": bob, "ann": ann}, "likes")
        for ours in (by_mapping, from_networkx(graph, features="likes")):
            assert ours.feature_names.tolist() == ["tea", "go"]
            np.testing.assert_array_equal(ours.features.toarray(), self.EXPECTED)

    def test_vectors(self):
        graph = friends()
        nx.set_node_attributes(graph, {"ann": np.array([0.0, 2.0, 0.5])}, "features")
        expected = np.zeros((4, 3))
        expected[1] = [0, 2, 0.5]
        np.testing.assert_array_equal(from_networkx(graph).features.toarray(), expected)

    @pytest.mark.parametrize("bob", [["tea", "go"], {"tea": 1.0, "go": 1.0}, np.array([1.0, 1.0])])
    def test_an_attribute_that_is_none(self, bob):
        graph = friends()
        nx.set_node_attributes(graph, {"bob": bob, "ann": None, "zoe": None}, "features")
        np.testing.assert_array_equal(from_networkx(graph).features.toarray(), [[1, 1], [0, 0], [0, 0], [0, 0]])

    def test_none_by_default_but_an_attribute_asked_for_must_exist(self):
        assert from_networkx(friends()).n_features == 0
        assert "no node has the attribute 'likes'" in refused(friends(), features="likes")
        assert "no node has the attribute 'team'" in refused(friends(), label="team")

    def test_attributes_that_are_not_used_are_named(self):
        graph = friends()
        nx.set_node_attributes(graph, {"bob": 31, "ann": 27}, "age")
        nx.set_node_attributes(graph, "chess", "club")
        with pytest.warns(HopscaleWarning, match=r"'age', 'club'.*features=\['age', 'club'\]"):
            assert from_networkx(graph).n_features == 0
        with pytest.warns(HopscaleWarning, match=r"attribute\(s\) 'age', but"):
            from_networkx(graph, label="club")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            from_networkx(graph, features=None)
            from_networkx(friends())
        assert "nodes have 'age', 'club'" in refused(graph, features="ages")
        assert "features=['club']" in refused(graph, features="club")

    @pytest.mark.parametrize("wrong", [[], ["age", 3], ["height"], 3, [["age"]]])
    def test_lists_that_name_no_attributes(self, wrong):
        graph = friends()
        nx.set_node_attributes(graph, {"bob": 31, "ann": 27}, "age")
        with pytest.raises((GraphError, ParameterError)):
            from_networkx(graph, features=wrong)

    def test_a_list_of_attributes_is_a_table(self):
        graph = friends()
        nx.set_node_attributes(graph, {"bob": "chess", "ann": "chess", "eve": "go", "zoe": "go"}, "club")
        nx.set_node_attributes(graph, {"bob": True, "ann": False, "eve": False, "zoe": True}, "member")
        ours = from_networkx(graph, features=["club", "member"])
        names = ["club=chess", "club=go", "member=no", "member=yes"]
        assert ours.feature_names.tolist() == names
        np.testing.assert_array_equal(ours.features.toarray(), [[1, 0, 0, 1], [1, 0, 1, 0], [0, 1, 1, 0], [0, 1, 0, 1]])
        other = nx.Graph([("kim", "lea")])
        nx.set_node_attributes(other, {"kim": "go", "lea": "judo"}, "club")
        nx.set_node_attributes(other, True, "member")
        new = from_networkx(other, features=["club", "member"], encoder=ours.encoder)
        assert new.feature_names.tolist() == names
        np.testing.assert_array_equal(new.features.toarray(), [[0, 1, 0, 1], [0, 0, 0, 1]])

    def test_mapping_with_a_stranger(self):
        assert "first is 'kim'" in refused(friends(), features={"ann": ["tea"], "kim": ["tea"]})

    def test_text_instead_of_a_list(self):
        graph = friends()
        graph.nodes["eve"]["features"] = "tea"
        assert "node 'eve'" in refused(graph)

    def test_labels(self):
        graph = friends()
        nx.set_node_attributes(graph, {"bob": 1, "ann": 2, "eve": 3}, "team")
        np.testing.assert_array_equal(from_networkx(graph, label="team").labels, [1, 2, 3, np.nan])


def test_nothing_is_changed():
    graph = friends()
    graph.add_edge("eve", "eve", weight=2.0)
    graph.nodes["ann"]["features"] = ["tea", "tea"]
    before = copy.deepcopy(graph)
    from_networkx(graph)
    assert dict(graph.nodes(data=True)) == dict(before.nodes(data=True))
    assert list(graph.edges(data=True)) == list(before.edges(data=True))


def test_what_is_no_graph():
    assert "not list" in refused([("a", "b")])


class TestIgraph:
    @given(PAIRS)
    def test_same_as_networkx(self, pairs):
        twin = nx.MultiGraph()
        twin.add_nodes_from(range(7))
        twin.add_weighted_edges_from(pairs)
        ends, weights = [pair[:2] for pair in pairs], [pair[2] for pair in pairs]
        ours = from_igraph(FakeIgraph(7, ends, edge={"weight": weights}), self_loops=True)
        np.testing.assert_array_equal(ours.adjacency.toarray(), nx.to_numpy_array(twin))

    def test_names_features_labels(self):
        vertex = {"name": ["a", "b", "c"], "features": [["x"], None, {"y": 2}], "team": [1, 2, None]}
        ours = from_igraph(FakeIgraph(3, [(0, 2)], vertex=vertex, edge={"weight": [None]}), label="team")
        assert ours.node_ids.tolist() == ["a", "b", "c"]
        np.testing.assert_array_equal(ours.features.toarray(), [[1, 0], [0, 0], [0, 2]])
        np.testing.assert_array_equal(ours.degrees, [1, 0, 1])
        np.testing.assert_array_equal(ours.labels, [1, 2, np.nan])

    def test_attributes_that_are_not_used_are_named(self):
        vertex = {"name": ["a", "b"], "age": [3, 4]}
        with pytest.warns(HopscaleWarning, match=r"attribute\(s\) 'age', but"):
            from_igraph(FakeIgraph(2, [(0, 1)], vertex=vertex))

    def test_directed(self):
        with pytest.raises(GraphError, match="symmetrize"):
            from_igraph(FakeIgraph(2, [(0, 1)], directed=True))
        assert from_igraph(FakeIgraph(2, [(0, 1)], directed=True), directed="symmetrize").n_edges == 1

    def test_refuses(self):
        with pytest.raises(GraphError, match="no node has the attribute 'team'"):
            from_igraph(FakeIgraph(2, [(0, 1)]), label="team")
        with pytest.raises(GraphError, match="the edge 0 to 1 is -1"):
            from_igraph(FakeIgraph(2, [(0, 1)], edge={"weight": [-1]}))
