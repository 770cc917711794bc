"""Every kind of column, and how it is found; names and values are worked out by hand."""

import datetime

import numpy as np
import pandas as pd
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from hopscale import FeatureEncoder
from hopscale.exceptions import GraphError, HopscaleWarning, ParameterError
from hopscale.features.state import encoder_state, restored_encoder


def fitted(cells, kind=None, **settings):
    """Encoder of one column, its features by name, and what it says of the column."""
    encoder = FeatureEncoder(None if kind is None else {"x": kind}, **settings)
    matrix = encoder.fit_transform({"x": cells})
    columns = dict(zip(encoder.get_feature_names_out().tolist(), matrix.toarray().T.tolist(), strict=True))
    return encoder, columns, encoder.describe()[0]


def kind_of(cells, name="x"):
    return FeatureEncoder().fit({name: cells}).describe()[0].kind


def column(texts, repeat=20):
    return list(texts) * repeat


class TestKinds:
    def test_categories_are_one_hot(self):
        _, columns, about = fitted(["FR", "DE", "FR", "DE", "FR"])
        assert columns == {"x=DE": [0, 1, 0, 1, 0], "x=FR": [1, 0, 1, 0, 1]}
        assert (about.kind, about.features, about.missing, about.rare) == ("category", 2, 0, 0)
        assert about.examples == "FR 3, DE 2"

    def test_rare_values_are_folded_into_one(self):
        encoder, columns, about = fitted(["a", "a", "b", "c", "a"])
        assert columns == {"x=a": [1, 1, 0, 0, 1], "x=(rare)": [0, 0, 1, 1, 0]}
        assert about.rare == 2
        assert encoder.transform({"x": ["b", "a"]}).toarray().tolist() == [[0, 1], [1, 0]]

    def test_a_single_rare_value_has_no_feature(self):
        _, columns, _ = fitted(["a", "a", "b", "a", "c", "c"])
        assert columns == {"x=a": [1, 1, 0, 1, 0, 0], "x=c": [0, 0, 0, 0, 1, 1]}

    def test_the_commonest_values_are_kept(self):
        _, columns, about = fitted(column("aaabbc"), max_values=2)
        assert list(columns) == ["x=a", "x=b", "x=(rare)"]
        assert about.rare == 1

    def test_missing_cells_have_a_feature_of_their_own(self):
        cells = ["a", None, "b", float("nan"), "b", "a"]
        assert fitted(cells)[1]["x=missing"] == [0, 1, 0, 1, 0, 0]
        assert "x=missing" not in fitted(cells, missing="ignore")[1]
        assert "x=missing" not in fitted([1, None, 2, None, 2, 1], min_count=3, kind="number")[1]

    @pytest.mark.parametrize("text", ["", "NA", "n/a", "-", "null", "None", "?", "nan", " NaN ", "missing"])
    def test_texts_that_stand_for_nothing(self, text):
        _, columns, about = fitted(["a", text, "b", text, "b", "a"])
        assert columns["x=missing"] == [0, 1, 0, 1, 0, 0]
        assert about.missing == 2
        assert "missing:" in about.why

    def test_namibia_is_a_country(self):
        _, columns, about = fitted(column(["NA", "FR", "DE"]))
        assert list(columns) == ["x=DE", "x=FR", "x=NA"]
        assert about.missing == 0
        assert list(fitted(column(["NA", "red", "blue"]))[1]) == ["x=blue", "x=red", "x=missing"]

    @pytest.mark.parametrize(
        "cells",
        [
            [True, False, True],
            ["yes", "no", "yes"],
            ["TRUE", "False", "true"],
            ["Y", "N", "Y"],
            [1, 0, 1],
            ["1", "0", "1"],
            [1.0, 0.0, 1.0],
            np.array([True, False, True]),
        ],
    )
    def test_booleans_in_every_spelling(self, cells):
        encoder, columns, about = fitted(cells)
        assert columns == {"x=no": [0, 1, 0], "x=yes": [1, 0, 1]}
        assert about.kind == "boolean"
        again = encoder.transform({"x": ["t", "off", 1, True]})
        np.testing.assert_array_equal(again.toarray(), [[0, 1], [1, 0], [0, 1], [0, 1]])

    @pytest.mark.parametrize(
        "cells",
        [
            ["tea;go", "go", "tea; go", ""],
            ["tea|go", "go", "tea|go|", None],
            ["tea, go", "go", "tea,go", "NA"],
            ["['tea', 'go']", "['go']", '["tea", "go"]', "[]"],
            [["tea", "go"], ["go"], ("tea", "go"), []],
            [{"tea", "go"}, {"go"}, ["go", "tea", "tea"], None],
            [np.array(["tea", "go"]), ["go"], ["tea", None, "go"], None],
        ],
    )
    def test_lists_however_they_are_written(self, cells):
        _, columns, about = fitted(cells)
        assert columns == {"x=go": [1, 1, 1, 0], "x=tea": [1, 0, 1, 0]}
        assert about.kind == "list"

    def test_sentences_with_commas_are_no_lists(self):
        subjects = ("jazz", "chess", "tea")
        texts = [f"Well number {i}, it depends on {subjects[i % 3]} and what he means" for i in range(30)]
        assert kind_of(texts) == "text"
        assert kind_of([f"Family{i}, Given{i}" for i in range(30)]) == "drop"

    def test_words_of_texts(self):
        texts = ["I play the guitar", "The guitar I play", "I sing loudly, the choir", "the choir that I know"]
        _, columns, about = fitted(texts)
        assert about.kind == "text"
        assert columns["x=guitar"] == [1, 1, 0, 0]
        assert columns["x=choir"] == [0, 0, 1, 1]
        assert "x=i" not in columns
        assert "x=loudly" not in columns

    def test_words_that_most_texts_have_say_nothing(self):
        texts = [f"the {word} of the {other} is here" for word in "abcdef" for other in ("cat", "dog", "cow", "hen")]
        assert {"x=cat", "x=hen"} <= set(fitted(texts)[1])
        assert "x=the" not in fitted(texts)[1]

    def test_dates_by_year_month_or_day(self):
        assert list(fitted(column(["2019-05-01", "2020-05-02", "2021-01-03"]))[1]) == ["x=2019", "x=2020", "x=2021"]
        assert list(fitted(column(["2021-01-05", "2021-02-05", "2021-03-09"]))[1]) == [
            "x=2021-01",
            "x=2021-02",
            "x=2021-03",
        ]
        assert list(fitted(column(["2021-01-05", "2021-01-06"]))[1]) == ["x=2021-01-05", "x=2021-01-06"]

    @pytest.mark.parametrize(
        "cells",
        [
            ["2019-12-31", "2020-01-02", "2021-03-04"],
            ["2019-12-31T10:00:00Z", "2020-01-02 09:30", "2021-03-04T00:00:00.5+02:00"],
            ["2019/12/31", "2020/1/2", "2021/3/4"],
            ["31.12.2019", "2.1.2020", "04.03.2021"],
            ["31/12/2019", "02/01/2020", "04/03/2021"],
            ["12/31/2019", "01/02/2020", "03/04/2021"],
            ["20191231", "20200102", "20210304"],
            ["Dec 31, 2019", "January 2nd, 2020", "Mar 4, 2021"],
            ["31 Dec 2019", "2 January 2020", "4-Mar-2021"],
            [datetime.date(2019, 12, 31), datetime.datetime(2020, 1, 2, 5), pd.Timestamp("2021-03-04", tz="UTC")],
            np.array(["2019-12-31", "2020-01-02", "2021-03-04"], dtype="datetime64[ns]"),
        ],
    )
    def test_dates_in_every_spelling(self, cells):
        encoder, columns, about = fitted(np.tile(cells, 3) if isinstance(cells, np.ndarray) else cells * 3)
        assert about.kind == "date"
        assert {name: found[:3] for name, found in columns.items()} == {
            "x=2019": [1, 0, 0],
            "x=2020": [0, 1, 0],
            "x=2021": [0, 0, 1],
        }
        days = pd.Series(pd.to_datetime(["2020-07-01"]))
        assert encoder.transform({"x": days}).toarray().tolist() == [[0, 1, 0]]

    def test_day_and_month_that_cannot_be_told_apart_are_not_guessed(self):
        _, columns, about = fitted(["01/02/2021", "03/04/2021", "05/06/2022", "07/08/2022"] * 3)
        assert list(columns) == ["x=2021", "x=2022"]
        assert "cannot be told apart" in about.why

    def test_several_ways_of_writing(self):
        days = [f"20{15 + i % 6}-0{1 + i % 9}-{10 + i % 17}" for i in range(40)]
        ways = ["{2}.{1}.{0}", "{0}-{1}-{2}T01:00:00Z", "{0}-{1}-{2}", "{2} {month} {0}"]
        months = dict(
            zip(
                range(1, 13),
                ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"],
                strict=True,
            )
        )
        parts = [day.split("-") for day in days]
        mixed = [ways[i % 4].format(*own, month=months[int(own[1])]) for i, own in enumerate(parts)]
        encoder, columns, about = fitted(mixed)
        assert about.kind == "date"
        assert "several ways, day before month" in about.why
        assert columns == fitted(days)[1]
        assert len(columns) == 6
        again = restored_encoder(encoder_state(encoder)).transform({"x": mixed})
        assert again.toarray().T.tolist() == list(columns.values())

    def test_days_and_months_that_cannot_be_told_apart_among_others(self):
        _, columns, about = fitted(["2020-01-31", "02/03/2021", "2020-05-06", "04/05/2021"] * 5)
        assert list(columns) == ["x=2020", "x=2021"]
        assert "cannot be told apart" in about.why

    def test_many_years_are_binned(self):
        cells = [f"{year}-06-01" for year in range(1920, 2000)]
        encoder, columns, _ = fitted(cells, bins=4)
        assert list(columns) == ["x=..1939", "x=1940..1959", "x=1960..1979", "x=1980.."]
        assert encoder.transform({"x": ["1850-01-01", "2050-01-01"]}).toarray().tolist() == [[1, 0, 0, 0], [0, 0, 0, 1]]

    def test_there_is_no_30_february(self):
        _, _, about = fitted(["2021-01-01", "2022-01-01", "2023-01-01"] * 10 + ["2021-02-30"])
        assert about.kind == "date"
        assert "1 cell(s) are none, such as 2021-02-30" in about.why


class TestNumbers:
    def test_quantile_bins(self):
        encoder, columns, about = fitted(np.arange(100), bins=4)
        assert about.kind == "drop"  # they count the rows
        encoder, columns, about = fitted(np.arange(100), "number", bins=4)
        assert list(columns) == ["x=..24", "x=25..49", "x=50..74", "x=75.."]
        np.testing.assert_array_equal(np.sum(list(columns.values()), axis=1), 25)
        far = encoder.transform({"x": [-1e9, 24.9, 25, 1e9]})
        assert far.indices.tolist() == [0, 0, 1, 3]

    def test_numbers_that_repeat_are_in_one_bin(self):
        cells = np.append(np.zeros(80), np.arange(1, 21))
        _, columns, _ = fitted(cells, "number", bins=10)
        assert columns["x=..0"] == [1] * 80 + [0] * 20
        assert all(any(found) for found in columns.values())

    def test_names_are_short_and_different(self):
        rng = np.random.default_rng(0)
        for scale in (1e-12, 1.0, 1e3):
            encoder, _, _ = fitted(rng.normal(size=500) * scale + 3 * scale)
            names = encoder.get_feature_names_out().tolist()
            assert len(set(names)) == 10
            assert max(map(len, names)) < 22

    def test_few_whole_numbers_are_categories(self):
        assert list(fitted(column([2, 5, 3]))[1]) == ["x=2", "x=3", "x=5"]
        assert kind_of(column(range(30))) == "number"
        assert kind_of(column([0.5, 1.5])) == "number"

    @pytest.mark.parametrize(
        ("texts", "numbers"),
        [
            (["1,200", "3,450,000", "7"], [1200, 3450000, 7]),
            (["3,5", "1.200,25", "7"], [3.5, 1200.25, 7]),
            (["0,125", "0,250", "7"], [0.125, 0.25, 7]),
            (["12%", "5.5%", "0%"], [12, 5.5, 0]),
            (["$1,000", "$2", "3"], [1000, 2, 3]),
            (["1 000 €", "2 €", "3,5 €"], [1000, 2, 3.5]),
            (["1e3", "-2.5", "+7", "−1"], [1000, -2.5, 7, -1]),
            (["1'000", "2'500.5", ".5"], [1000, 2500.5, 0.5]),
        ],
    )
    def test_numbers_as_people_write_them(self, texts, numbers):
        _, columns, _ = fitted(column(texts, 30), "spline")
        _, plain, _ = fitted(column(map(float, numbers), 30), "spline")
        assert columns == plain
        assert kind_of(column([*texts, "8", "9", "10", "11", "12", "13", "14"])) in ("number", "category")

    @pytest.mark.parametrize(
        "texts", [["$5", "€6"], ["50%", "0.5"], ["3,5", "1,200.5"], ["007", "012"], ["1_000", "2"]]
    )
    def test_what_could_be_misread_is_no_number(self, texts):
        assert kind_of(column(texts)) == "category"

    def test_a_comma_that_was_not_learnt_is_not_read(self):
        encoder, _, _ = fitted([str(number) for number in range(40)] * 2)
        with pytest.warns(HopscaleWarning, match="'3,5'"):
            assert encoder.transform({"x": ["3,5", "7"]}).sum(axis=1).tolist() == [0, 1]

    def test_a_few_cells_that_are_no_numbers_are_told(self):
        _, columns, about = fitted([str(number) for number in range(99)] * 2 + ["about 40"])
        assert about.kind == "number"
        assert "1 cell(s) are none, such as about 40" in about.why
        assert sum(found[-1] for found in columns.values()) == 0

    def test_splines_share_a_number_between_knots(self):
        encoder, columns, _ = fitted([0.0, 10.0, 2.5, 5.0] * 10, "spline", bins=3)
        assert list(columns) == ["x=~0", "x=~5", "x=~10"]
        found = encoder.transform({"x": [2.5, 9.0, -3.0, 99.0, None]}).toarray()
        np.testing.assert_allclose(found, [[0.5, 0.5, 0], [0, 0.2, 0.8], [1, 0, 0], [0, 0, 1], [0, 0, 0]], atol=1e-7)

    def test_infinite_numbers_say_nothing(self):
        _, columns, _ = fitted([1.5, 2.5, np.inf, -np.inf] * 10, "number")
        assert [sum(found[at] for found in columns.values()) for at in range(4)] == [1, 1, 0, 0]


class TestDropped:
    @pytest.mark.parametrize(
        ("name", "cells", "why"),
        [
            ("x", ["same"] * 9, "every cell is same"),
            ("x", [None, "", "NA"], "every cell is missing"),
            ("user_id", [1000 + 37 * i for i in range(50)], "an id by its name"),
            ("x", list(range(7, 60)), "count the rows"),
            ("x", [f"u{i}" for i in range(50)], "all 50 values are different"),
            ("x", [f"Ann{i} Lee{i}" for i in range(50)], "all 50 values are different"),
        ],
    )
    def test_says_why(self, name, cells, why):
        encoder = FeatureEncoder().fit({name: cells})
        assert encoder.describe()[0].kind == "drop"
        assert why in encoder.describe()[0].why
        assert encoder.transform({name: cells}).shape == (len(cells), 0)

    def test_measured_numbers_that_are_all_different_are_kept(self):
        assert kind_of(np.random.default_rng(0).permutation(10**6)[:200], "revenue") == "number"

    def test_codes_are_categories(self):
        assert kind_of(column(range(10115, 10150)), "zip_code") == "category"
        assert kind_of(column([f"{i:04d}" for i in range(30)])) == "category"


class TestOverrides:
    @pytest.mark.parametrize(
        ("kind", "cells"),
        [
            ("number", ["1", "2.5", "many"]),
            ("spline", ["1", "2.5", "many"]),
            ("date", ["2020-01-01", "2021-02-02", "soon"]),
            ("boolean", ["yes", "no", "perhaps"]),
            ("signed", ["[0.5, 1]", "[1, 2]", "long"]),
        ],
    )
    def test_cells_that_cannot_be_read_are_counted_or_refused(self, kind, cells):
        _, _, about = fitted(cells * 4 + [None], kind)
        assert (
            f"as asked{', signed' * (kind == 'signed')}; 4 of 12 cells give no feature, such as '{cells[2]}'"
            in about.why
        )
        with pytest.raises(
            ParameterError, match=f"column 'x' of the node table: no cell can be read as .*'{cells[2]}'"
        ):
            fitted([cells[2], None, f"{cells[2]} or so"], kind)

    def test_a_kind_for_each_column(self):
        table = {
            "a": column([3, 5, 9]),
            "b": column(["one two", "two three", "three four", "five six", "six seven"], 12),
            "c": column("abc"),
            "d": column("abc"),
        }
        encoder = FeatureEncoder({"a": "number", "b": "text", "c": "drop", "d": "label"}, bins=2).fit(table)
        assert [about.kind for about in encoder.describe()] == ["number", "text", "drop", "label"]
        assert encoder.get_feature_names_out()[:4].tolist() == ["a=..8", "a=9..", "b=five", "b=four"]

    @pytest.mark.parametrize(
        ("columns", "message"),
        [
            ({"y": "number"}, "'y'.*columns of the node table are"),
            ({"x": "colour"}, "'colour'.*expected one of category"),
            ({"x": 3}, "expected one of category"),
            (["x"], "must be a mapping"),
        ],
    )
    def test_wrong_ones_are_refused(self, columns, message):
        with pytest.raises(ParameterError, match=message):
            FeatureEncoder(columns).fit({"x": ["a", "b"]})

    @pytest.mark.parametrize("kind", ["number", "spline", "date"])
    def test_a_kind_that_cannot_be_names_the_column(self, kind):
        with pytest.raises(ParameterError, match="column 'x' of the node table: a column of lists"):
            FeatureEncoder({"x": kind}).fit({"x": [["a"], ["b"]]})

    def test_settings_are_checked(self):
        for settings in ({"min_count": 0}, {"bins": 1}, {"missing": "maybe"}, {"max_values": -1}):
            with pytest.raises(ParameterError, match=next(iter(settings))):
                FeatureEncoder(**settings).fit({"x": ["a", "b"]})

    def test_transformers_of_scikit_learn(self):
        table = {"x": ["a", "b", "a"], "t": ["one two", "two three", "one"]}
        encoder = FeatureEncoder({"x": OneHotEncoder(), "t": CountVectorizer()})
        matrix = encoder.fit_transform(table)
        expected = np.hstack(
            [
                OneHotEncoder().fit_transform(np.array(table["x"])[:, None]).toarray(),
                CountVectorizer().fit_transform(table["t"]).toarray(),
            ]
        )
        np.testing.assert_array_equal(matrix.toarray(), expected)
        assert encoder.get_feature_names_out()[2:].tolist() == ["t=one", "t=three", "t=two"]
        with pytest.raises(ParameterError, match=r"cannot save.*'x'"):
            encoder_state(encoder)

    def test_transformers_must_make_features(self):
        with pytest.raises(GraphError, match=r"column 'x'.*StandardScaler made features that are negative"):
            FeatureEncoder({"x": StandardScaler()}).fit({"x": [1.0, 2.0, 3.0]})
        with pytest.raises(GraphError, match=r"column 'x'.*StandardScaler refuses"):
            FeatureEncoder({"x": StandardScaler()}).fit({"x": ["a", "b"]})


class TestCommon:
    def test_what_nearly_all_nodes_have_tells_nothing(self):
        encoder, columns, about = fitted([0] * 95 + [1] * 5)
        assert columns == {"x=yes": [0] * 95 + [1] * 5}
        assert "nearly all are no, which has no feature" in about.why
        again = restored_encoder(encoder_state(encoder))
        assert again.transform({"x": [1, 0]}).toarray().tolist() == [[1], [0]]
        assert list(fitted(["FR"] * 91 + ["DE", "IT", "ES"] * 3)[1]) == ["x=DE", "x=ES", "x=IT"]
        assert list(fitted([0.5] * 95 + [1.5, 2.5, 3.5, 4.5, 5.5], "number")[1]) == ["x=1.5.."]
        assert list(fitted([None] * 95 + ["a", "b"] * 3)[1]) == ["x=a", "x=b"]

    def test_of_few_nodes_all_are_kept(self):
        assert list(fitted([0] * 17 + [1])[1]) == ["x=no", "x=yes"]

    def test_a_wide_table_of_zeros_and_ones_stays_sparse(self):
        dense = np.random.default_rng(0).random((300, 40)) < 0.05
        matrix = FeatureEncoder(min_count=1).fit_transform({f"word {i}": dense[:, i].astype(int) for i in range(40)})
        assert matrix.nnz == dense.sum()
