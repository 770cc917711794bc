"""Tables of several makers as features, the encoder as an estimator, and its state as JSON."""

import datetime
import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import config_context
from sklearn.base import clone

from hopscale import FeatureEncoder
from hopscale.exceptions import GraphError, HopscaleWarning, ParameterError
from hopscale.features.arrow import one_dictionary
from hopscale.features.state import encoder_state, restored_encoder

MAKERS = pytest.mark.parametrize(
    "make", [dict, pd.DataFrame, pl.DataFrame, pa.table], ids=["mapping", "pandas", "polars", "pyarrow"]
)


def column(texts, repeat=20):
    return list(texts) * repeat


TABLE = {
    "country": ["FR", "DE", "FR", None, "DE", "IT"] * 5,
    "age": [31.5, 40.0, None, 22.25, 60.0, 18.5] * 5,
    "n": [3, 4, 5, 3, 4, 5] * 5,
    "tags": [["a", "b"], ["b"], [], ["a"], ["c", "a"], ["b"]] * 5,
    "active": [True, False, None, True, True, False] * 5,
    "joined": [datetime.date(2019 + i % 3, 5, 1) for i in range(30)],
    "text": ["one two three four", "two three four five", "five six one two", "x y", "six one", "one three five"] * 5,
}


class TestTables:
    @MAKERS
    def test_every_maker_gives_the_same(self, make):
        expected, encoder = FeatureEncoder().fit(TABLE), FeatureEncoder()
        matrix = encoder.fit_transform(make(TABLE))
        assert (matrix != expected.transform(TABLE)).nnz == 0
        assert encoder.get_feature_names_out().tolist() == expected.get_feature_names_out().tolist()
        assert (expected.transform(make(TABLE)) != matrix).nnz == 0

    @MAKERS
    def test_rows_stay_rows(self, make):
        encoder = FeatureEncoder().fit(make(TABLE))
        order = np.random.default_rng(0).permutation(30)
        shuffled = make({name: [cells[i] for i in order] for name, cells in TABLE.items()})
        assert (encoder.transform(shuffled) != encoder.transform(make(TABLE))[order]).nnz == 0
        again = FeatureEncoder()
        assert (again.fit_transform(shuffled) != encoder.transform(make(TABLE))[order]).nnz == 0
        assert again.describe() == encoder.describe()

    def test_text_and_types_mean_the_same(self):
        """What is fitted on typed columns reads the same table from a file, and the other way round."""
        as_text = {
            name: ["" if cell is None else ";".join(cell) if isinstance(cell, list) else str(cell) for cell in cells]
            for name, cells in TABLE.items()
        }
        typed, text = FeatureEncoder().fit(TABLE), FeatureEncoder().fit(as_text)
        assert typed.get_feature_names_out().tolist() == text.get_feature_names_out().tolist()
        expected = typed.transform(TABLE)
        for matrix in (typed.transform(as_text), text.transform(TABLE), text.transform(as_text)):
            assert (matrix != expected).nnz == 0

    def test_categorical_columns(self):
        frame = pd.DataFrame({"x": pd.Categorical(["b", None, "a", "b", "a"], categories=["c", "b", "a"])})
        encoder = FeatureEncoder(min_count=1)
        np.testing.assert_array_equal(
            encoder.fit_transform(frame).toarray(), [[0, 1, 0], [0, 0, 1], [1, 0, 0], [0, 1, 0], [1, 0, 0]]
        )
        arrow = pa.table({"x": pa.array(["b", None, "a", "b", "a"]).dictionary_encode()})
        assert (encoder.transform(arrow) != encoder.transform(frame)).nnz == 0

    def test_cells_of_many_types(self):
        frame = pd.DataFrame({"x": [1, "1", 1.0, None, "a", b"a", pd.NA, np.int8(1)] * 2})
        encoder = FeatureEncoder()
        encoder.fit(frame)
        assert encoder.get_feature_names_out().tolist() == ["x=1", "x=a", "x=missing"]

    def test_columns_may_be_in_any_order_and_more(self):
        encoder = FeatureEncoder().fit(TABLE)
        others = {"more": ["x"] * 30, **dict(reversed(TABLE.items()))}
        assert (encoder.transform(others) != encoder.transform(TABLE)).nnz == 0

    def test_columns_that_lack_are_named(self):
        encoder = FeatureEncoder().fit(TABLE)
        with pytest.raises(GraphError, match=r"lacks the column\(s\) \['tags'\]"):
            encoder.transform({name: cells for name, cells in TABLE.items() if name != "tags"})

    def test_unknown_values_are_counted_in_one_warning(self):
        encoder = FeatureEncoder().fit({"a": column("xy"), "b": column("uv"), "c": column([2, 3])})
        with pytest.warns(HopscaleWarning) as caught:
            matrix = encoder.transform({"a": ["x", "?!", "?!"], "b": ["u", "w", "v"], "c": [2, 3, 2]})
        assert matrix.sum(axis=1).tolist() == [3, 1, 2]
        [warning] = caught
        assert "a (2 of 3 cells, such as '?!'); b (1 of 3 cells, such as 'w')" in str(warning.message)

    @pytest.mark.filterwarnings("error")
    def test_the_training_table_gives_no_warning(self):
        rng = np.random.default_rng(0)
        table = {"x": rng.zipf(1.5, 300).astype(str), "t": [" ".join(map(str, rng.zipf(1.5, 6))) for _ in range(300)]}
        encoder = FeatureEncoder({"x": "category", "t": "text"})
        assert (encoder.fit_transform(table) != encoder.transform(table)).nnz == 0

    def test_features_never_share_a_name(self):
        encoder = FeatureEncoder().fit(
            {"a": column(["b=c", "d"]), "a=b": column(["c", "e"]), "b": column(["(rare)", "f"])}
        )
        names = encoder.get_feature_names_out().tolist()
        assert len(set(names)) == len(names) == 6

    @pytest.mark.parametrize(
        "table",
        [
            None,
            "x",
            [1, 2],
            {},
            {"x": 3},
            {"x": "abc"},
            {"a": [1], "b": [1, 2]},
            {"x": [{}, {}]},
            {"x": np.zeros((2, 2, 2))},
            {"x": np.array([1j, 2])},
            {"x": np.ma.masked_array([1, 2], mask=[True, False])},
            pd.DataFrame(np.zeros((2, 2)), columns=["x", "x"]),
        ],
    )
    def test_what_is_no_table_is_refused(self, table):
        with pytest.raises(GraphError):
            FeatureEncoder().fit(table)

    def test_a_table_without_rows(self):
        encoder = FeatureEncoder()
        assert encoder.fit_transform({"x": [], "y": np.array([])}).shape == (0, 0)
        assert FeatureEncoder().fit(TABLE).transform({name: [] for name in TABLE}).shape[0] == 0


class TestEstimator:
    def test_is_one(self):
        encoder = FeatureEncoder({"x": "number"}, bins=3)
        assert clone(encoder).get_params() == encoder.get_params()
        assert repr(encoder) == "FeatureEncoder(bins=3, columns={'x': 'number'})"
        assert str(encoder) == repr(encoder)
        with pytest.raises(ParameterError, match="is no parameter"):
            encoder.set_params(color=3)

    def test_features_stay_sparse_whatever_scikit_learn_is_told(self):
        with config_context(transform_output="pandas"):
            assert isinstance(FeatureEncoder().fit_transform(TABLE), sp.csr_array)

    def test_matrices_are_as_graphs_want_them(self):
        matrix = FeatureEncoder().fit_transform(TABLE)
        assert isinstance(matrix, sp.csr_array)
        assert matrix.dtype == np.float32
        assert matrix.has_canonical_format
        assert matrix.data.min() > 0

    def test_the_table_is_printed_in_columns(self):
        lines = str(FeatureEncoder().fit(TABLE)).splitlines()
        assert lines[0].split() == ["column", "kind", "features", "missing", "rare", "examples", "why"]
        assert [line.split()[:2] for line in lines[1:]][:3] == [
            ["country", "category"],
            ["age", "number"],
            ["n", "category"],
        ]
        assert pd.DataFrame(FeatureEncoder().fit(TABLE).describe()).columns[0] == "column"


class TestState:
    def test_json_and_back_gives_the_same_bits(self):
        rng = np.random.default_rng(0)
        table = {
            **TABLE,
            "v": rng.normal(size=(30, 3)),
            "s": rng.normal(size=30),
            "money": [f"€{i}" for i in range(30)],
        }
        encoder = FeatureEncoder({"s": "spline", "country": "category"}).fit(table)
        again = restored_encoder(json.loads(json.dumps(encoder_state(encoder))))
        one, other = encoder.transform(table), again.transform(table)
        for part in ("indptr", "indices", "data"):
            assert getattr(one, part).tobytes() == getattr(other, part).tobytes()
        assert again.get_feature_names_out().tolist() == encoder.get_feature_names_out().tolist()
        assert again.describe() == encoder.describe()
        assert again.get_params() == encoder.get_params()
        assert encoder_state(again) == encoder_state(encoder)

    def test_every_wrong_value_is_refused(self):
        """Each value of a state in turn is replaced by things that it cannot be."""
        rng = np.random.default_rng(0)
        table = {**TABLE, "v": rng.normal(size=(30, 3)), "s": rng.normal(size=30)}
        state = encoder_state(FeatureEncoder({"s": "spline"}).fit(table))
        places = list(leaves(state))
        assert len(places) > 100
        for place in places:
            for wrong in ({"a": 1}, [None], [["a", 1.5]]):
                with pytest.raises(ValueError):  # noqa: PT011
                    restored_encoder(changed(state, place, wrong))

    @pytest.mark.parametrize(
        ("place", "wrong"),
        [
            (("columns", 1, "encoder", "edges"), [3.0, 2.0]),
            (("columns", 1, "encoder", "edges"), [float("nan")]),
            (("columns", 0, "encoder", "values"), ["a", "a"]),
            (("columns", 0, "kind"), "number"),
            (("columns", 0, "kind"), "colour"),
            (("columns", 0, "encoder"), None),
            (("columns", 5, "encoder", "edges"), [10**15]),
            (("columns", 0, "name"), "n"),
            (("settings", "bins"), 0),
            (("settings",), {}),
            (("columns",), None),
        ],
    )
    def test_states_that_no_encoder_has(self, place, wrong):
        state = encoder_state(FeatureEncoder().fit({**TABLE, "n": TABLE["country"]}))
        with pytest.raises(ValueError):  # noqa: PT011
            restored_encoder(changed(state, place, wrong))


CELLS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**20), 10**20),
    st.floats(),
    st.dates(),
    st.text(max_size=12),
    st.sampled_from(
        ["NA", "1,5", "1,200", "5%", "$3", "a;b", "b;c", "2021-05-01", "01/02/2021", "[0.5, 1]", "007", "yes"]
    ),
    st.lists(st.one_of(st.text(max_size=3), st.floats(), st.integers()), max_size=3),
)
COLUMNS = st.integers(1, 30).flatmap(
    lambda n: st.dictionaries(
        st.text(max_size=5),
        st.one_of(
            st.lists(CELLS, min_size=n, max_size=n),
            st.lists(st.floats(), min_size=n, max_size=n),
            st.lists(st.sampled_from(["a;b", "b;c", "c", "NA", "a"]), min_size=n, max_size=n),
            st.lists(st.integers(0, 50).map(str), min_size=n, max_size=n),
        ),
        min_size=1,
        max_size=4,
    )
)


@pytest.mark.filterwarnings("ignore::hopscale.exceptions.HopscaleWarning")
class TestAnyTable:
    @settings(max_examples=200, deadline=None)
    @given(COLUMNS, st.randoms(use_true_random=False))
    def test_features_are_sound_and_follow_their_rows(self, table, random):
        encoder = FeatureEncoder(min_count=1)
        matrix = encoder.fit_transform(table)
        assert np.isfinite(matrix.data).all()
        assert (matrix.data > 0).all()
        names = encoder.get_feature_names_out().tolist()
        assert matrix.shape == (len(next(iter(table.values()))), len(set(names)))
        order = list(range(matrix.shape[0]))
        random.shuffle(order)
        shuffled = {name: [cells[i] for i in order] for name, cells in table.items()}
        assert (encoder.transform(shuffled) != matrix[order]).nnz == 0
        again = FeatureEncoder(min_count=1)
        assert (again.fit_transform(shuffled) != matrix[order]).nnz == 0
        assert again.get_feature_names_out().tolist() == names

    @settings(max_examples=100, deadline=None)
    @given(COLUMNS, COLUMNS)
    def test_states_and_other_tables(self, table, other):
        """An encoder that was written down encodes whatever comes as the first one does."""
        encoder = FeatureEncoder().fit(table)
        again = restored_encoder(json.loads(json.dumps(encoder_state(encoder))))
        n = len(next(iter(other.values())))
        cells = [*other.values()]
        asked = {name: cells[at % len(cells)] for at, name in enumerate(table)}
        found = []
        for each in (encoder, again):
            try:
                found.append(each.transform(asked))
            except (GraphError, ParameterError) as error:
                found.append(str(error))
        if isinstance(found[0], str):
            assert found[0] == found[1]
        else:
            assert found[0].shape[0] == n
            assert np.isfinite(found[0].data).all()
            assert (found[0] != found[1]).nnz == 0


def leaves(value, place=()):
    if isinstance(value, dict):
        for name, part in value.items():
            yield from leaves(part, (*place, name))
    elif isinstance(value, list) and value:
        yield from leaves(value[0], (*place, 0))
        if len(place) == 1:
            for at, part in enumerate(value):
                yield from leaves(part, (*place, at))
    elif value not in ({}, []):
        yield place


def changed(state, place, wrong):
    copy = json.loads(json.dumps(state))
    part = copy
    for step in place[:-1]:
        part = part[step]
    part[place[-1]] = wrong
    return copy


def test_chunks_with_a_dictionary_in_common():
    """Those that were encoded at once have one, of which others may have a part."""
    one = pa.chunked_array([["x", "y"], ["y", None, "z"], ["x"]]).dictionary_encode().chunks
    other = pa.chunked_array([["q", "x"], ["z"]]).dictionary_encode().chunks
    column = pa.chunked_array([*one, *other, one[0]])
    found = one_dictionary(column)
    assert found.to_pylist() == column.to_pylist()
    assert {tuple(chunk.dictionary.to_pylist()) for chunk in found.chunks} == {("x", "y", "z", "q")}
