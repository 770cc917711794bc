"""Edge lists: against a graph built pair by pair in plain Python."""

import subprocess
import sys
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from hopscale.exceptions import GraphError, HopscaleWarning
from hopscale.io import from_edges

NAMES = st.one_of(st.integers(-5, 5), st.text("ab", max_size=2), st.tuples(st.integers(0, 2), st.integers(0, 2)))
BIG = st.integers(-(2**80), 2**80)
PAIRS = st.one_of(
    st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8)), min_size=1),
    st.lists(st.tuples(NAMES, NAMES), min_size=1),
    st.lists(st.tuples(BIG, BIG), min_size=1),
)


def weights_of(graph):
    """{unordered pair of ids: weight}, the graph as plain Python sees it."""
    entries = graph.adjacency.tocoo()
    ids = graph.node_ids.tolist()
    triples = zip(entries.coords[0].tolist(), entries.coords[1].tolist(), entries.data.tolist(), strict=True)
    return {frozenset((ids[u], ids[v])): weight for u, v, weight in triples}


def features_of(graph):
    """{node: {feature: value}} of the nodes that have any."""
    entries = graph.features.tocoo()
    found = {}
    for u, f, value in zip(entries.coords[0].tolist(), entries.coords[1].tolist(), entries.data.tolist(), strict=True):
        found.setdefault(graph.node_ids.tolist()[u], {})[graph.feature_names.tolist()[f]] = value
    return found


def refused(*args, **kwargs):
    with pytest.raises(GraphError) as caught:
        from_edges(*args, **kwargs)
    return str(caught.value)


class TestEdges:
    @given(PAIRS)
    def test_every_pair_counts_once(self, pairs):
        graph = from_edges(pairs, self_loops=True)
        assert weights_of(graph) == {frozenset(pair): 1.0 for pair in pairs}
        assert set(graph.node_ids.tolist()) == {end for pair in pairs for end in pair}

    @given(st.data(), PAIRS)
    def test_weights_of_repeated_edges_add_up(self, data, pairs):
        weights = data.draw(st.lists(st.integers(0, 9), min_size=len(pairs), max_size=len(pairs)))
        expected = {}
        for pair, weight in zip(pairs, weights, strict=True):
            expected[frozenset(pair)] = expected.get(frozenset(pair), 0) + weight
        graph = from_edges(pairs, weights=weights, self_loops=True)
        assert weights_of(graph) == {pair: weight for pair, weight in expected.items() if weight}

    @given(st.data(), PAIRS)
    def test_order_and_orientation_of_rows_do_not_matter(self, data, pairs):
        shuffled = [data.draw(st.permutations(pair)) for pair in data.draw(st.permutations(pairs))]
        assert weights_of(from_edges(shuffled)) == weights_of(from_edges(pairs))

    @given(PAIRS)
    def test_node_order(self, pairs):
        ends = list(dict.fromkeys(end for pair in pairs for end in pair))
        expected = sorted(ends) if all(isinstance(end, int) for end in ends) else ends
        assert from_edges(pairs).node_ids.tolist() == expected

    @given(st.lists(st.tuples(st.integers(0, 100), st.integers(0, 100)), min_size=1))
    def test_all_forms_of_the_same_pairs(self, pairs):
        expected = weights_of(from_edges(pairs))
        array = np.array(pairs)
        for form in (array, array.astype(np.uint8), array.astype(float), array.astype(object), iter(pairs)):
            graph = from_edges(form)
            assert weights_of(graph) == expected
            assert graph.node_ids.dtype == np.int64

    def test_self_loops(self):
        pairs = [("a", "a"), ("a", "b"), ("a", "a")]
        assert weights_of(from_edges(pairs)) == {frozenset("ab"): 1}
        assert weights_of(from_edges(pairs, self_loops=True)) == {frozenset("ab"): 1, frozenset("a"): 1}
        doubled = from_edges(pairs, weights=[1, 1, 2], self_loops=True)
        assert weights_of(doubled) == {frozenset("ab"): 1, frozenset("a"): 3}

    def test_one_and_text_one_are_two_nodes(self):
        graph = from_edges([(1, "1")])
        assert graph.node_ids.tolist() == [1, "1"]
        assert graph.n_edges == 1

    @pytest.mark.parametrize("dtype", [np.int32, np.uint32, np.int64, np.uint64])
    def test_ids_whose_product_leaves_int32(self, dtype):
        rng = np.random.default_rng(0)
        pairs = rng.integers(0, 2**31 - 1, (500, 2)).astype(dtype)
        expected = {frozenset(pair) for pair in pairs.tolist()}
        assert set(weights_of(from_edges(np.vstack([pairs, pairs[:, ::-1]])))) == expected
        rows = rng.integers(0, 70_000, (500, 2)).astype(dtype)
        graph = from_edges(rows, node_ids=np.arange(70_000, dtype=dtype))
        assert set(weights_of(graph)) == {frozenset(pair) for pair in rows.tolist() if pair[0] != pair[1]}

    def test_ids_past_int64(self):
        big = np.array([[2**64 - 1, 0], [2**63, 2**64 - 1]], dtype=np.uint64)
        assert from_edges(big).node_ids.tolist() == [0, 2**63, 2**64 - 1]

    def test_int32_arrays_of_node_rows(self):
        graph = from_edges([(0, 1)])
        assert graph.adjacency.indices.dtype == np.int32

    def test_spread_ids_take_the_searching_way(self):
        near = from_edges([(1, 2), (2, 3)], {3: ["x"]})
        far = from_edges([(10**15, 2 * 10**15), (2 * 10**15, 3 * 10**15)], {3 * 10**15: ["x"]})
        np.testing.assert_array_equal(near.adjacency.toarray(), far.adjacency.toarray())
        np.testing.assert_array_equal(near.features.toarray(), far.features.toarray())

    def test_no_edges(self):
        graph = from_edges([], {"a": ["x"], "b": []})
        assert graph.node_ids.tolist() == ["a", "b"]
        assert graph.n_edges == 0
        assert "no nodes" in refused([])


class TestFeatures:
    @given(
        st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1),
        st.dictionaries(st.integers(0, 9), st.lists(st.sampled_from(["x", "y", "z"]))),
    )
    def test_lists_sets_mappings_and_matrices_agree(self, pairs, listed):
        nodes = list(range(10))
        expected = {node: dict.fromkeys(names, 1.0) for node, names in listed.items() if names}
        F = np.array([[name in listed.get(node, ()) for name in "xyz"] for node in nodes], dtype=float)
        mappings = [
            listed,
            {node: set(names) for node, names in listed.items()},
            {node: dict.fromkeys(names, 1) for node, names in listed.items()},
        ]
        for features in mappings:
            graph = from_edges(pairs, features, node_ids=nodes, feature_names=["x", "y", "z"])
            assert features_of(graph) == expected
        for features in (F, sp.csr_array(F), sp.coo_matrix(F)):
            for ids in (nodes, None):
                graph = from_edges(pairs, features, node_ids=ids, feature_names=["x", "y", "z"])
                assert features_of(graph) == expected
        vectors = from_edges(pairs, dict(enumerate(F)), feature_names=[0, 1, 2])
        np.testing.assert_array_equal(vectors.features.toarray(), F)

    def test_values_are_kept_and_lists_count_once(self):
        graph = from_edges([(0, 1)], {0: {"x": 2.5, "y": 0}, 1: ["x", "x", "x"]})
        assert features_of(graph) == {0: {"x": 2.5}, 1: {"x": 1.0}}
        assert graph.feature_names.tolist() == ["x", "y"]

    def test_whole_number_features_are_sorted_and_keep_their_names(self):
        graph = from_edges([(0, 1)], {0: [90, 7], 1: [2**40]})
        assert graph.feature_names.tolist() == [7, 90, 2**40]
        assert features_of(graph) == {0: {7: 1, 90: 1}, 1: {2**40: 1}}

    def test_nodes_only_in_features_are_isolated(self):
        graph = from_edges([(0, 1)], {0: ["x"], 7: ["y"], 8: []})
        assert graph.node_ids.tolist() == [0, 1, 7, 8]
        np.testing.assert_array_equal(graph.degrees, [1, 1, 0, 0])

    def test_vectors_keep_columns_that_are_all_zero(self):
        graph = from_edges([("a", "b")], {"a": np.array([0, 2, 0]), "b": np.zeros(3)})
        np.testing.assert_array_equal(graph.features.toarray(), [[0, 2, 0], [0, 0, 0]])

    def test_none_is_no_features(self):
        listed = from_edges([("a", "b")], {"a": None, "b": ["x"], "c": None})
        assert listed.node_ids.tolist() == ["a", "b", "c"]
        assert features_of(listed) == {"b": {"x": 1.0}}
        vectors = from_edges([("a", "b")], {"a": None, "b": np.array([0, 2])})
        np.testing.assert_array_equal(vectors.features.toarray(), [[0, 0], [0, 2]])
        assert from_edges([("a", "b")], {"a": None}).n_features == 0

    def test_sets_do_not_bring_the_order_of_hashes_in(self):
        program = (
            "from hopscale.io import from_edges\n"
            "graph = from_edges([('a', 'b')], {'a': set('qwertyuiop'), 'b': {1, 'x', (2, 3), 0.5}})\n"
            "print(graph.feature_names.tolist(), graph.features.indices.tolist())"
        )
        runs = {
            subprocess.run(
                [sys.executable, "-c", program],
                env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
                capture_output=True,
                text=True,
                check=True,
            ).stdout
            for seed in ("1", "2")
        }
        assert len(runs) == 1

    def test_ids_of_two_kinds_raise_a_warning(self):
        with pytest.warns(HopscaleWarning, match="Edges have 0, features '0'"):
            from_edges([(0, 1)], {"0": ["x"], "1": ["y"]})

    def test_no_warning_where_some_nodes_meet(self):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            from_edges([(0, 1)], {1: ["x"], 2: ["y"]})


class TestLabels:
    def test_by_node(self):
        graph = from_edges([("b", "a")], labels={"a": "red", "b": "blue"})
        assert graph.labels.tolist() == ["blue", "red"]
        assert graph.labels.dtype.kind == "U"

    def test_missing_ones(self):
        numbers = from_edges([(0, 1), (1, 2)], labels={0: 3, 2: 4}).labels
        np.testing.assert_array_equal(numbers, [3, np.nan, 4])
        assert from_edges([(0, 1), (1, 2)], labels={0: "x", 2: 4}).labels.tolist() == ["x", None, 4]

    def test_in_node_order(self):
        assert from_edges([(5, 3)], labels=["three", "five"]).labels.tolist() == ["three", "five"]

    def test_unknown_node(self):
        with pytest.warns(HopscaleWarning, match="1 of 2 labels belong to no node"):
            assert from_edges([(0, 1)], labels={0: 1, 9: 1}).labels.tolist()[0] == 1
        assert "nothing in common" in refused([(0, 1)], labels={8: 1, 9: 1})


class TestRefuses:
    def test_unknown_ids_with_their_number(self):
        message = refused([("a", "b"), ("x", "a"), ("y", "x")], node_ids=["a", "b"])
        assert "edges name 2 " in message
        assert "first is 'x'" in message
        message = refused([(0, 1)], {0: ["t"], 5: ["t"], 6: []}, node_ids=[0, 1])
        assert "features name 2 " in message
        assert "first is 5" in message

    def test_unknown_features(self):
        message = refused([(0, 1)], {0: ["t", "u"]}, feature_names=["t"])
        assert "feature entries name 1 " in message
        assert "'u'" in message

    def test_feature_matrix_without_an_order(self):
        assert "needs node_ids" in refused([("a", "b")], np.eye(2))
        assert "an edge names 2" in refused([(0, 2)], np.eye(2))
        assert "an edge names -1" in refused([(0, -1)], sp.eye_array(2))

    def test_feature_rows(self):
        assert "3 rows but the graph has 2 nodes" in refused([(0, 1)], np.eye(3), node_ids=[0, 1])

    @pytest.mark.parametrize(("weight", "why"), [(-1, "negative"), (np.nan, "not finite"), (np.inf, "not finite")])
    def test_weights(self, weight, why):
        message = refused([("a", "b"), ("b", "c")], weights=[1, weight])
        assert "edge 1, ('b', 'c')" in message
        assert why in message

    def test_a_repeated_edge_does_not_hide_a_negative_weight(self):
        assert "edge 1" in refused([(0, 1), (1, 0)], weights=[2, -1])

    def test_weights_of_another_length_or_kind(self):
        assert "1 weights for 2 edges" in refused([(0, 1), (1, 2)], weights=[1])
        assert "edge 1, (1, 2) is 'far', which is not a number" in refused([(0, 1), (1, 2)], weights=[1, "far"])
        assert "shape (2, 1)" in refused([(0, 1), (1, 2)], weights=[[1], [2]])

    @pytest.mark.parametrize("value", [-1, np.nan, "much", None])
    def test_feature_values(self, value):
        assert "feature 'x' of node 'b'" in refused([("a", "b")], {"a": {"y": 1}, "b": {"x": value}})
        if not isinstance(value, str) and value is not None:
            assert "feature 1 of node 'b'" in refused([("a", "b")], {"b": np.array([0, value])})

    @pytest.mark.parametrize("described", ["tea", 5, float("nan"), [["x"]]])
    def test_descriptions(self, described):
        assert "node 'b'" in refused([("a", "b")], {"a": ["x"], "b": described})

    def test_vectors_of_several_lengths(self):
        message = refused([("a", "b")], {"a": np.array([1, 2]), "b": np.array([1])})
        assert "node 'b'" in message
        assert "must be lists" in message
        assert "node 'b'" in refused([("a", "b")], {"a": np.array([1.0]), "b": ["x"]})

    def test_shapes(self):
        assert "transpose" in refused(np.zeros((2, 5), dtype=int))
        assert "(5, 3)" in refused(np.zeros((5, 3), dtype=int))
        assert "edge 1 must be a pair" in refused([("a", "b"), ("a", "b", "c")])
        assert "edge 0 must be a pair" in refused(["ab", "cd"])
        assert "adjacency matrix" in refused(sp.eye_array(2))
        assert "not dict" in refused({0: [1]})
        assert "not int" in refused(3)

    @pytest.mark.parametrize("missing", [None, float("nan")])
    def test_missing_ids(self, missing):
        assert "edge 1 has a missing node" in refused([("a", "b"), ("b", missing)])
        assert "edge 1 has a missing node" in refused(np.array([[0.0, 1.0], [1.0, np.nan]]))

    def test_ids_that_cannot_be_hashed(self):
        assert "hashable" in refused([([1], [2])])
        assert "hashable" in refused([("a", "b")], node_ids=["a", ["b"]])

    def test_node_ids_that_repeat(self):
        assert "'a' occurs twice" in refused([("a", "b")], node_ids=["a", "b", "a"])


def test_nothing_is_changed():
    edges = np.array([[1, 0], [0, 2]], dtype=np.int32)
    F = sp.csr_array(np.eye(3))
    weights = np.array([1.0, 2.0])
    listed = {0: ["x", "x"], 1: {"y": 2}}
    copies = edges.copy(), F.toarray(), weights.copy()
    from_edges(edges, F, weights=weights)
    from_edges(edges, listed, weights=weights)
    for before, after in zip(copies, (edges, F.toarray(), weights), strict=True):
        np.testing.assert_array_equal(before, after)
    assert listed == {0: ["x", "x"], 1: {"y": 2}}


class Word(str):
    """Text of a type of its own."""


@pytest.mark.parametrize("odd", ["plain", "é", "日本", "", "a\nb", "\ud800", Word("word"), "x" * 100_001])
def test_text_is_the_same_in_lists_and_arrays(odd):
    pairs = [("b", "a"), ("a", odd), (odd, "c"), ("b", "c")]
    objects = np.empty((4, 2), dtype=object)
    objects[:] = pairs
    for edges in (pairs, tuple(map(list, pairs)), iter(pairs), objects, np.array(pairs), np.array(pairs).astype(">U")):
        graph = from_edges(edges)
        assert graph.node_ids.tolist() == ["b", "a", odd, "c"]
        assert graph.adjacency.toarray().tolist() == [[0, 1, 0, 1], [1, 0, 1, 0], [0, 1, 0, 1], [1, 0, 1, 0]]
    assert type(from_edges(pairs).node_ids[2]) is type(odd)
