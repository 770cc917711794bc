"""Tables of several makers, all by one path, against the edge-list door."""

import builtins
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from hopscale.exceptions import GraphError, HopscaleError, HopscaleWarning, ParameterError
from hopscale.io import from_edges, from_tables

MAKERS = pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table], ids=["pandas", "polars", "pyarrow"])
EDGES = {"from": ["a", "b", "b", "d"], "to": ["b", "a", "c", "d"]}
LIKES = {"who": ["a", "a", "c", "a", "z"], "what": ["tea", "go", "tea", "tea", "go"]}


def same(graph, other):
    np.testing.assert_array_equal(graph.node_ids, other.node_ids)
    np.testing.assert_array_equal(graph.feature_names, other.feature_names)
    np.testing.assert_array_equal(graph.adjacency.toarray(), other.adjacency.toarray())
    np.testing.assert_array_equal(graph.features.toarray(), other.features.toarray())


def pairs(table):
    return list(zip(*list(table.values())[:2], strict=True))


def refused(*args, **kwargs):
    with pytest.raises(GraphError) as caught:
        from_tables(*args, **kwargs)
    return str(caught.value)


@MAKERS
class TestEveryMaker:
    def test_edges_and_long_features(self, make):
        expected = from_edges(pairs(EDGES), {"a": ["tea", "go"], "c": ["tea"], "z": ["go"]})
        same(from_tables(make(EDGES), make(LIKES)), expected)

    def test_whole_numbers(self, make):
        edges = {"u": [5, 2**40, 5], "v": [2**40, 7, 5]}
        graph = from_tables(make(edges), self_loops=True)
        same(graph, from_edges(pairs(edges), self_loops=True))
        assert graph.node_ids.dtype == np.int64

    def test_weights_and_values_add_up(self, make):
        weighted = EDGES | {"weight": [1.5, 2.0, 1.0, 9.0]}
        valued = LIKES | {"value": [1, 2, 3, 4, 5]}
        features = {"a": {"tea": 5, "go": 2}, "c": {"tea": 3}, "z": {"go": 5}}
        expected = from_edges(pairs(EDGES), features, weights=weighted["weight"])
        same(from_tables(make(weighted), make(valued)), expected)
        assert expected.adjacency[0, 1] == 3.5

    def test_columns_by_name_in_any_order(self, make):
        table = {"how": [2.0, 3.0], "to": ["b", "c"], "from": ["a", "b"]}
        likes = {"n": [2, 3], "what": ["tea", "go"], "who": ["a", "b"]}
        graph = from_tables(
            make(table),
            make(likes),
            source="from",
            target="to",
            weight="how",
            node_column="who",
            feature="what",
            value="n",
        )
        expected = from_edges([("a", "b"), ("b", "c")], {"a": {"tea": 2}, "b": {"go": 3}}, weights=[2, 3])
        same(graph, expected)

    @pytest.mark.parametrize("name", ["Weight", "w", "value", "count", "strength"])
    def test_weights_and_values_by_their_usual_names(self, make, name):
        graph = from_tables(make(EDGES | {name: [1.5, 2.0, 1.0, 9.0]}), make(LIKES | {name: [1, 2, 3, 4, 5]}))
        features = {"a": {"tea": 5, "go": 2}, "c": {"tea": 3}, "z": {"go": 5}}
        same(graph, from_edges(pairs(EDGES), features, weights=[1.5, 2.0, 1.0, 9.0]))

    def test_a_column_of_another_name_is_passed_over_with_a_warning(self, make):
        table = make(EDGES | {"year": [1990, 1991, 1992, 1993], "trips": [3, 1, 2, 2]})
        with pytest.warns(HopscaleWarning, match="'trips' of edges is passed over; .*weight='trips'") as caught:
            graph = from_tables(table)
        assert caught[0].filename == __file__
        same(graph, from_edges(pairs(EDGES)))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            same(from_tables(table, source="from", target="to"), graph)
            same(from_tables(make(EDGES | {"kind": ["x", "y", "x", "y"]})), graph)

    def test_a_column_called_weight_must_hold_weights(self, make):
        assert "edges, row 0, is 'low'" in refused(make(EDGES | {"weight": ["low", "low", "high", "low"]}))

    def test_an_index_is_not_taken_for_nodes(self, make):
        graph = from_tables(make({"id": [0, 1], "source": ["a", "b"], "target": ["b", "c"]}))
        same(graph, from_edges([("a", "b"), ("b", "c")]))

    def test_columns_are_found_by_their_names(self, make):
        columns = {"date": ["May", "June"], "amount": [2.0, 3.0], "from": ["a", "b"], "to": ["b", "c"]}
        same(from_tables(make(columns)), from_edges([("a", "b"), ("b", "c")], weights=[2, 3]))

    def test_wide_tables_are_told_where_to_go(self, make):
        wide = make({"who": ["a", "b"], "age": [33, 50], "income": [1000, 900]})
        message = refused(make(EDGES), wide)
        assert "['who', 'age', 'income']" in message
        assert "from_edges(edges, matrix, node_ids=..., feature_names=...)" in message
        assert "wide table" in refused(make(EDGES), make(LIKES | {"value": [1] * 5, "year": [1990] * 5}))
        same(from_tables(make(EDGES), make(LIKES | {"year": [1990] * 5}), feature="what"), self.plain(make))

    def test_lists_of_features(self, make):
        lists = {"who": ["a", "c", "d", "z"], "what": [["tea", "go", "tea"], ["tea"], [], ["go"]]}
        same(from_tables(make(EDGES), make(lists)), self.plain(make))
        nothing = lists | {"what": [["tea", "go"], ["tea"], None, ["go"]]}
        same(from_tables(make(EDGES), make(nothing)), self.plain(make))
        numbers = from_tables(make(EDGES), make({"who": ["a", "b"], "what": [[7, 3], [3]]}))
        same(numbers, from_edges(pairs(EDGES), {"a": [7, 3], "b": [3]}))
        assert from_tables(make(EDGES), make({"who": ["a", "b"], "what": [[], []]})).n_features == 0

    def test_lists_that_make_no_sense(self, make):
        assert "features, row 1: a feature" in refused(
            make(EDGES), make({"who": ["a", "b", "c"], "what": [["tea"], ["go", None], ["tea"]]})
        )
        assert "vectors where lists" in refused(
            make(EDGES), make({"who": ["a", "b"], "what": [[0.5, 1.0], [1.0, 0.0]]})
        )
        valued = make({"who": ["a"], "what": [["tea", "go"]], "value": [2.0]})
        assert "cannot share the values" in refused(make(EDGES), valued)
        assert "edges cannot be read through Arrow" in refused(make({"u": [["a"], ["b"]], "v": ["b", "c"]}))

    def plain(self, make):
        return from_tables(make(EDGES), make(LIKES))

    def test_nodes_that_the_edges_do_not_know(self, make):
        labels = make({"n": ["a", "q", "b", "r"], "l": [1, 2, 3, 4]})
        with pytest.warns(HopscaleWarning, match=r"labels of 2 node\(s\) are left out: 'q', 'r'") as caught:
            graph = from_tables(make(EDGES), labels=labels)
        assert caught[0].filename == __file__
        np.testing.assert_array_equal(graph.labels, [1, 3, np.nan, np.nan])
        assert "first is 'q'" in refused(make(EDGES), labels=labels, unknown="error")
        assert "first is 'z'" in refused(make(EDGES), make(LIKES), unknown="error")
        with pytest.raises(ParameterError, match="'isolate' or 'error'"):
            from_tables(make(EDGES), unknown="ignore")

    def test_labels(self, make):
        labels = {"id": ["c", "a", "b", "d", "a"], "age": [1, 2, 3, 4, 2], "kind": ["x", "y", "x", None, "y"]}
        graph = from_tables(make(EDGES), labels=make(labels))
        assert dict(zip(graph.node_ids, graph.labels, strict=True)) == {
            "a": "y",
            "b": "x",
            "c": "x",
            "d": None,
        }
        by_name = from_tables(make(EDGES), labels=make(labels), node_column="id", label_column="age")
        assert dict(zip(by_name.node_ids, by_name.labels, strict=True)) == {"a": 2, "b": 3, "c": 1, "d": 4}

    def test_missing_values_are_refused_with_their_row(self, make):
        edges = {"u": ["a", "b", None], "v": ["b", "c", "d"]}
        message = refused(make(edges))
        assert "edges has 1 missing value(s) in column 'u'" in message
        assert "row 2" in message
        numbers = {"u": [1.0, None, 3.0], "v": [1.0, 2.0, 3.0]}
        assert "row 1" in refused(make(numbers))
        message = refused(make(EDGES), make({"node": ["a", "b"], "feature": ["tea", None]}))
        assert "features has 1 missing value(s) in column 'feature'" in message

    def test_amounts_are_refused_with_their_row(self, make):
        assert "edges, row 2, is -1" in refused(make(EDGES | {"weight": [1, 1, -1, 1]}))
        message = refused(make(EDGES), make(LIKES | {"amount": [1.0, 1.0, 1.0, 1.0, -2.0]}), value="amount")
        assert "amount of features, row 4, is -2" in message
        assert "not a number" in refused(make(EDGES | {"w": ["1", "much", "1", "1"]}), weight="w")

    def test_unknown_columns_are_refused_with_a_list(self, make):
        message = refused(make(EDGES), source="form")
        assert "no column 'form'" in message
        assert "['from', 'to']" in message

    def test_too_few_columns(self, make):
        assert "at least 2 columns" in refused(make({"u": ["a"]}))

    def test_labels_that_contradict_or_know_no_node(self, make):
        message = refused(make(EDGES), labels=make({"n": ["a", "a"], "l": [1, 2]}))
        assert "row 1: node 'a' has label 2, but 1 before" in message
        assert "first is 'q'" in refused(make(EDGES), labels=make({"n": ["q"], "l": [1]}))

    def test_nothing_is_changed(self, make):
        edges, likes = make(EDGES), make(LIKES)
        from_tables(edges, likes)
        fresh_edges, fresh_likes = make(EDGES), make(LIKES)
        assert edges.equals(fresh_edges)
        assert likes.equals(fresh_likes)


def test_categories_dates_and_mixed_columns():
    dates = pd.to_datetime(["2020-01-01", "2020-01-02"])
    frame = pd.DataFrame({"u": pd.Categorical(["a", "b"]), "v": [1, 2], "when": dates})
    graph = from_tables(frame)
    assert graph.node_ids.tolist() == ["a", 1, "b", 2]
    assert from_tables(frame, source="when", target="v").n_edges == 2
    cats = pl.DataFrame({"u": ["a", "b"], "v": ["b", "c"]}, schema={"u": pl.Categorical, "v": pl.Categorical})
    same(from_tables(cats), from_edges([("a", "b"), ("b", "c")]))


def test_an_index_of_pandas_is_not_a_column():
    labels = pd.DataFrame({"n": ["a", "b", "c", "d"], "l": [1, 2, 3, 4]}, index=[9, 8, 7, 6])
    graph = from_tables(pd.DataFrame(EDGES, index=[4, 3, 2, 1]), labels=labels)
    assert graph.labels.tolist() == [1, 2, 3, 4]


def test_several_chunks_are_one_column():
    whole = pa.table(EDGES)
    chunked = pa.concat_tables([whole.slice(0, 1), whole.slice(1, 1), whole.slice(2)])
    assert chunked.column(0).num_chunks == 3
    same(from_tables(chunked), from_edges(pairs(EDGES)))


def test_nan_of_polars_is_a_missing_name():
    assert "edges, row 1" in refused(pl.DataFrame({"u": [1.0, float("nan")], "v": [1.0, 2.0]}))


def test_no_rows():
    empty = pa.table({"u": pa.array([], pa.string()), "v": pa.array([], pa.string())})
    assert "no nodes" in refused(empty)
    assert from_tables(empty, pa.table(LIKES)).n_nodes == 3


def test_lists_in_several_chunks_and_of_one_length():
    what = pa.array([["tea", "go"], None, ["go", "go"]], pa.list_(pa.string(), 2))
    table = pa.table({"who": ["a", "b", "c"], "what": what})
    chunked = pa.concat_tables([table.slice(0, 1), table.slice(1)])
    same(from_tables(pa.table(EDGES), chunked), from_edges(pairs(EDGES), {"a": ["tea", "go"], "b": None, "c": ["go"]}))


def test_what_arrow_refuses_is_said_in_words():
    mixed = pd.DataFrame({"u": ["a", 1], "v": ["b", 2]})
    assert "edges cannot be read through Arrow: every column must" in refused(mixed)
    twice = pd.DataFrame([["a", "b"]], columns=["u", "u"])
    assert "under a name of its own" in refused(twice)
    nested = pa.table({"who": ["a"], "what": [{"tea": 2}]})
    assert "features cannot be read through Arrow" in refused(pa.table(EDGES), nested)


def test_two_columns_of_one_name():
    twice = pa.Table.from_arrays([pa.array(["a"]), pa.array(["b"])], names=["u", "u"])
    assert "more than one column 'u'" in refused(twice)


def test_what_is_no_table():
    assert "__arrow_c_stream__" in refused([("a", "b")])


def test_without_pyarrow(monkeypatch):
    real = builtins.__import__

    def blocked(name, *args, **kwargs):
        if name.startswith("pyarrow"):
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", blocked)
    with pytest.raises(ImportError, match=r"pip install hopscale\[parquet\]") as caught:
        from_tables(pl.DataFrame(EDGES))
    assert isinstance(caught.value, HopscaleError)
