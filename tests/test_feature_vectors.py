"""Dense features of any sign, as matrices and as columns of tables."""

import numpy as np
import pytest
import scipy.sparse as sp
from test_features import column, fitted, kind_of

from hopscale import FeatureEncoder
from hopscale.exceptions import GraphError
from hopscale.features import binned, signed


class TestVectors:
    def test_signed(self):
        matrix, names = signed([[1.0, -2.0], [0.0, 0.5]])
        assert names == ["0+", "0-", "1+", "1-"]
        assert matrix.toarray().tolist() == [[1, 0, 0, 2], [0, 0, 0.5, 0]]
        assert matrix.nnz == 3
        sparse, _ = signed(sp.csc_array([[1.0, -2.0], [0.0, 0.5]]))
        assert (sparse != matrix).nnz == 0

    def test_signed_keeps_all(self):
        x = np.random.default_rng(0).normal(size=(40, 7)).astype(np.float32)
        dense = signed(x)[0].toarray()
        np.testing.assert_array_equal(dense[:, ::2] - dense[:, 1::2], x)

    def test_binned(self):
        x = np.random.default_rng(0).normal(size=(300, 5))
        matrix, names = binned(x, bins=3)
        assert matrix.shape == (300, 15) == (300, len(names))
        np.testing.assert_array_equal(matrix.sum(axis=1), 5)
        assert abs(matrix.sum(axis=0) - 100).max() <= 12

    @pytest.mark.parametrize("wrong", [[1.0, 2.0], [["a"]], [[np.nan]], None, [[1e300]]])
    def test_refused(self, wrong):
        with pytest.raises(GraphError):
            signed(wrong)

    @pytest.mark.parametrize("kind", ["signed", "binned"])
    def test_columns_of_vectors(self, kind):
        x = np.random.default_rng(0).normal(size=(60, 4))
        expected = (signed if kind == "signed" else binned)(x)[0].toarray()
        for cells in (x, x.tolist(), list(x), [str(row.tolist()) for row in x]):
            _, columns, about = fitted(cells, kind)
            assert about.kind == "vector"
            np.testing.assert_array_equal(np.array(list(columns.values())).T, expected)
            assert kind_of(cells) == "vector"

    def test_numbered_columns_are_one_vector(self):
        x = np.random.default_rng(0).normal(size=(60, 12))
        table = {"team": column("ab", 30), **{f"emb_{i}": x[:, i] for i in range(12)}}
        encoder = FeatureEncoder({"emb": "signed"})
        matrix = encoder.fit_transform(table)
        np.testing.assert_allclose(matrix.toarray()[:, 2:], signed(x)[0].toarray())
        assert [about.column for about in encoder.describe()] == ["team", "emb_0..emb_11"]
        assert encoder.get_feature_names_out()[2:4].tolist() == ["emb=0+", "emb=0-"]
        with pytest.raises(GraphError, match="emb_3"):
            encoder.transform({name: cells for name, cells in table.items() if name != "emb_3"})

    def test_answers_that_are_numbered_are_no_vector(self):
        table = {f"q{i}": np.random.default_rng(i).integers(1, 6, 60) for i in range(12)}
        assert {about.kind for about in FeatureEncoder().fit(table).describe()} == {"category"}

    def test_vectors_of_another_length_are_refused(self):
        encoder = FeatureEncoder().fit({"x": np.random.default_rng(0).normal(size=(60, 4))})
        with pytest.raises(GraphError, match=r"column 'x'.*5 numbers where 4"):
            encoder.transform({"x": np.zeros((2, 5)) + 0.5})

    def test_vectors_past_float32_say_nothing(self):
        _, columns, _ = fitted([[0.5, 1.5], [1e39, 0.5], [-1.5, 2.5]])
        assert [sum(found[row] for found in columns.values()) for row in range(3)] == [2, 0, 4]

    def test_missing_vectors(self):
        x = np.random.default_rng(0).normal(size=(60, 4)).tolist()
        _, columns, about = fitted([None, None, *x])
        assert columns["x=missing"][:3] == [1, 1, 0]
        assert about.missing == 2


def test_numbered_columns_of_text_are_one_vector():
    x = np.random.default_rng(0).normal(size=(30, 9)).round(3)
    numbers = {f"emb_{at}": x[:, at] for at in range(9)}
    texts = {name: [str(cell) for cell in cells] for name, cells in numbers.items()}
    encoder = FeatureEncoder()
    expected, matrix = encoder.fit_transform(numbers), FeatureEncoder().fit_transform(texts)
    assert matrix.shape == (30, 18)
    assert (matrix != expected).nnz == 0
    assert (encoder.transform(texts) != expected).nnz == 0
    texts["emb_3"][5] = ""
    assert [about.kind for about in FeatureEncoder().fit(texts).describe()] == ["vector"]
    texts["emb_3"] = [f"about {cell}" for cell in texts["emb_3"]]
    assert len(FeatureEncoder().fit(texts).describe()) == 9
    codes = {f"code_{at}": [f"0{i % 7}" for i in range(30)] for at in range(9)}
    assert len(FeatureEncoder().fit(codes).describe()) == 9
