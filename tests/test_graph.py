"""The room in which all checking happens: what it accepts, what it makes of it, what it refuses."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from hopscale import AttributedGraph
from hopscale.exceptions import GraphError, UnknownNodeError
from hopscale.names import name_array

PAIR = np.array([[0.0, 1.0], [1.0, 0.0]])


def refused(*args, **kwargs):
    """Message with which a graph is refused."""
    with pytest.raises(GraphError) as caught:
        AttributedGraph(*args, **kwargs)
    return str(caught.value)


class TestAccepts:
    @given(
        arrays(np.int64, (6, 6), elements=st.integers(0, 3)),
        arrays(np.int64, (6, 4), elements=st.integers(0, 2)),
    )
    def test_any_symmetric_matrix_is_kept_as_it_is(self, half, F):
        A = np.triu(half, 1) + np.triu(half, 1).T
        for form in (np.asarray, sp.csr_array, sp.coo_matrix, sp.csc_array):
            graph = AttributedGraph(form(A), form(F))
            np.testing.assert_array_equal(graph.adjacency.toarray(), A)
            np.testing.assert_array_equal(graph.features.toarray(), F)
            assert graph.n_edges == np.count_nonzero(np.triu(A))
            np.testing.assert_array_equal(graph.degrees, A.sum(axis=1))
            assert graph.volume == A.sum()

    def test_matrices_are_canonical(self):
        messy = sp.coo_array(([1.0, 1.0, 2.0, 0.0], ([0, 0, 1, 0], [1, 1, 0, 0])), shape=(2, 2))
        graph = AttributedGraph(messy)
        assert graph.adjacency.nnz == 2  # the stored zero is gone, the duplicates are one entry
        assert graph.adjacency[0, 1] == 2
        assert graph.adjacency.dtype == np.float32
        assert graph.adjacency.has_canonical_format

    def test_one_node(self):
        graph = AttributedGraph([[0]], [[1, 0]])
        assert (graph.n_nodes, graph.n_edges, graph.volume) == (1, 0, 0.0)

    def test_isolated_nodes_and_nodes_without_features_stay(self):
        A = np.zeros((4, 4))
        A[0, 1] = A[1, 0] = 1
        graph = AttributedGraph(A, np.zeros((4, 0)))
        np.testing.assert_array_equal(graph.degrees, [1, 1, 0, 0])
        assert graph.index_of(3) == 3

    def test_what_is_passed_in_is_neither_changed_nor_kept(self):
        A = sp.coo_array(([1.0, 1.0, 1.0], ([0, 1, 1], [1, 0, 1])), shape=(2, 2)).tocsr()
        F = np.ones((2, 3))
        labels = np.array([1, 2])
        before = A.toarray().copy()
        graph = AttributedGraph(A, F, labels=labels)
        np.testing.assert_array_equal(A.toarray(), before)
        A.data[:] = 7
        F[:] = 7
        labels[:] = 7
        assert graph.adjacency.max() == 1
        assert graph.features.max() == 1
        np.testing.assert_array_equal(graph.labels, [1, 2])

    def test_weights(self):
        assert not AttributedGraph(PAIR).is_weighted
        assert AttributedGraph(PAIR / 2).is_weighted


class TestSelfLoops:
    A = np.array([[2.0, 1.0], [1.0, 0.0]])

    def test_dropped_by_default(self):
        graph = AttributedGraph(self.A)
        np.testing.assert_array_equal(graph.adjacency.toarray(), PAIR)
        assert graph.n_edges == 1

    def test_kept_on_demand(self):
        graph = AttributedGraph(self.A, self_loops=True)
        np.testing.assert_array_equal(graph.adjacency.toarray(), self.A)
        assert graph.n_edges == 2
        np.testing.assert_array_equal(graph.degrees, [3, 1])


class TestDirected:
    A = np.array([[0, 3, 0], [1, 0, 0], [0, 0, 0]])

    def test_refused_with_the_pair_and_the_way_out(self):
        message = refused(self.A, node_ids=["a", "b", "c"])
        assert "'a' to 'b' is 3" in message
        assert "back it is 1" in message
        assert "symmetrize" in message

    def test_symmetrize_takes_the_larger_weight(self):
        graph = AttributedGraph(self.A, directed="symmetrize")
        np.testing.assert_array_equal(graph.adjacency.toarray(), np.maximum(self.A, self.A.T))

    def test_rounding_is_not_a_direction(self):
        noisy = PAIR.copy()
        noisy[0, 1] += 1e-7
        graph = AttributedGraph(noisy)
        assert graph.adjacency[0, 1] == graph.adjacency[1, 0]

    @pytest.mark.parametrize("size", [1e-4, 1.0, 1e4])
    @pytest.mark.parametrize(("relative", "directed"), [(0.01, True), (1e-5, True), (5e-7, False)])
    def test_how_much_is_a_direction(self, size, relative, directed):
        """More than a millionth of the largest weight, whatever the unit: float32 rounds by a tenth of that."""
        A = size * np.array([[0, 1, 0.25], [1, 0, 0], [0.25, 0, 0]])
        A[2, 0] += relative * size
        if directed:
            message = refused(A)
            assert "directed" in message
            assert "from 0 to 2" in message or "from 2 to 0" in message
        else:
            graph = AttributedGraph(A)
            assert graph.adjacency[0, 2] == graph.adjacency[2, 0] == np.float32(A[2, 0])

    def test_other_words_are_refused(self):
        assert "'error' or 'symmetrize'" in refused(PAIR, directed="yes")


class TestRefuses:
    def test_empty_graph(self):
        assert "no nodes" in refused(np.zeros((0, 0)))

    def test_not_square(self):
        assert "(2, 3)" in refused(np.zeros((2, 3)))

    def test_not_two_dimensional(self):
        assert "two-dimensional" in refused(np.zeros(3))

    def test_not_numbers(self):
        assert "numeric" in refused([["a", "b"], ["c", "d"]])

    @pytest.mark.parametrize(("value", "why"), [(-1.0, "negative"), (np.nan, "not finite"), (np.inf, "not finite")])
    def test_values_that_mean_nothing(self, value, why):
        A, F = PAIR.copy(), np.ones((2, 3))
        A[1, 0] = value
        F[1, 2] = value
        for message in (refused(A), refused(sp.csr_array(A))):
            assert why in message
            assert "node row 1, node column 0" in message
        message = refused(PAIR, F)
        assert why in message
        assert ("hopscale.features.signed" in message) is (why == "negative")
        assert "node row 1, feature column 2" in message

    def test_duplicates_do_not_hide_a_negative_weight(self):
        A = sp.coo_array(([2.0, -1.0, 1.0], ([0, 0, 1], [1, 1, 0])), shape=(2, 2))
        assert "negative" in refused(A)

    def test_values_too_large_for_the_inside(self):
        assert "float32" in refused(PAIR * 1e39)

    def test_feature_rows(self):
        message = refused(PAIR, np.ones((3, 1)))
        assert "3 rows" in message
        assert "2 nodes" in message

    @pytest.mark.parametrize(
        ("ids", "why"),
        [
            (["a"], "1 names for 2 nodes"),
            (["a", "a"], "'a' occurs twice"),
            (["a", None], "missing name: None"),
            (["a", float("nan")], "missing name: nan"),
            (["a", ["b"]], "hashable"),
        ],
    )
    def test_node_ids(self, ids, why):
        assert why in refused(PAIR, node_ids=ids)

    def test_feature_names(self):
        assert "2 names for 3 features" in refused(PAIR, np.ones((2, 3)), feature_names=["x", "y"])

    def test_labels(self):
        assert "(3,)" in refused(PAIR, labels=[1, 2, 3])


class TestNames:
    def test_mixed_ids_stay_apart(self):
        ids = [1, "1", (1, 1), 2**70]
        graph = AttributedGraph(np.zeros((4, 4)), node_ids=ids)
        assert [graph.index_of(node) for node in ids] == [0, 1, 2, 3]

    def test_unknown_node(self):
        graph = AttributedGraph(PAIR, node_ids=["a", "b"])
        with pytest.raises(UnknownNodeError, match="no node 'c' in this graph") as caught:
            graph.index_of("c")
        assert "'a'" in str(caught.value)
        with pytest.raises(UnknownNodeError, match="ids look like 0"):
            AttributedGraph(PAIR).index_of(9)
        with pytest.raises(KeyError):
            graph.index_of(["a"])

    @pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.uint32, np.int64, np.uint64])
    def test_whole_numbers_become_int64(self, dtype):
        names = name_array(np.array([0, 100], dtype=dtype))
        assert names.dtype == np.int64
        assert names.tolist() == [0, 100]

    def test_numbers_past_int64_do_not_wrap_around(self):
        big = np.array([1, 2**64 - 1], dtype=np.uint64)
        assert name_array(big).tolist() == [1, 2**64 - 1]
        assert name_array([1, 2**64 - 1]).tolist() == [1, 2**64 - 1]

    def test_numpy_scalars_are_plain_names(self):
        assert name_array([np.int32(3), 4]).dtype == np.int64
        assert type(name_array([np.str_("a"), 4])[0]) is str


def test_rows_times_columns_past_int32():
    # 70,000² > 2³²: any key row·n + column in 32 bits would collide.
    n = 70_000
    u, v = np.array([69_998, 1, 0]), np.array([69_999, 69_999, 2], dtype=np.int32)
    A = sp.coo_array((np.ones(6), (np.append(u, v), np.append(v, u))), shape=(n, n))
    graph = AttributedGraph(A)
    assert graph.n_edges == 3
    assert np.flatnonzero(graph.degrees).tolist() == [0, 1, 2, 69_998, 69_999]
