"""Vectors as files: read back by the programs that will read them, to the last bit."""

import csv
import os
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
from gensim.models import KeyedVectors
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from hopscale import MUSAE
from hopscale.atomic import check_writable, replacing
from hopscale.datasets import figure1
from hopscale.exceptions import ParameterError
from hopscale.io import vectors as module
from hopscale.io.vectors import write_vectors

FLOATS = st.floats(width=32, allow_nan=False, allow_infinity=False)
AWKWARD = ["plain", "", "with, comma", 'a "quote"', "two\nlines", "\ttab", "ü🙂", " spaces ", "\r", "NA"]


@pytest.fixture
def some():
    return np.random.default_rng(0).normal(size=(len(AWKWARD), 3)).astype(np.float32)


def read_rows(path, delimiter=","):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file, delimiter=delimiter, strict=True))


class TestTables:
    @given(matrix=arrays(np.float32, (4, 3), elements=FLOATS))
    def test_text_holds_every_float32_exactly(self, tmp_path_factory, matrix):
        path = tmp_path_factory.mktemp("bits") / "v.csv"
        write_vectors(path, range(4), matrix)
        again = np.array([row[1:] for row in read_rows(path)[1:]], dtype=np.float32)
        np.testing.assert_array_equal(again, matrix)
        np.testing.assert_array_equal(np.signbit(again), np.signbit(matrix))

    @pytest.mark.parametrize(("suffix", "delimiter"), [(".csv", ","), (".tsv", "\t"), (".CSV", ",")])
    def test_awkward_names_come_back(self, tmp_path, some, suffix, delimiter):
        path = tmp_path / f"v{suffix}"
        write_vectors(path, AWKWARD, some, columns=["a", "b, c", "d"])
        rows = read_rows(path, delimiter)
        assert rows[0] == ["id", "a", "b, c", "d"]
        assert [row[0] for row in rows[1:]] == AWKWARD

    def test_pandas_and_polars_read_the_csv(self, tmp_path, some):
        write_vectors(tmp_path / "v.csv", range(len(some)), some)
        for table in (pd.read_csv(tmp_path / "v.csv"), pl.read_csv(tmp_path / "v.csv").to_pandas()):
            assert table["id"].tolist() == list(range(len(some)))
            np.testing.assert_array_equal(table[["x0", "x1", "x2"]].to_numpy(np.float32), some)

    def test_chunks_join_without_a_seam(self, tmp_path, monkeypatch):
        monkeypatch.setattr(module, "_CHUNK", 7)
        matrix = np.arange(30, dtype=np.float32).reshape(10, 3)
        write_vectors(tmp_path / "v.csv", range(10), matrix)
        assert [list(map(float, row[1:])) for row in read_rows(tmp_path / "v.csv")[1:]] == matrix.tolist()

    @pytest.mark.parametrize("ids", [AWKWARD, list(range(2**40, 2**40 + 10))], ids=["text", "int"])
    def test_parquet(self, tmp_path, some, ids):
        write_vectors(tmp_path / "v.parquet", ids, some)
        table = pl.read_parquet(tmp_path / "v.parquet")
        assert table["id"].to_list() == ids
        assert table["id"].dtype == (pl.Int64 if isinstance(ids[0], int) else pl.String)
        np.testing.assert_array_equal(table.drop("id").to_numpy(), some)

    def test_parquet_without_pyarrow(self, tmp_path, some, monkeypatch):
        monkeypatch.setitem(sys.modules, "pyarrow", None)
        with pytest.raises(ParameterError, match=r"hopscale\[parquet\]"):
            write_vectors(tmp_path / "v.parquet", AWKWARD, some)
        assert not list(tmp_path.iterdir())

    @pytest.mark.parametrize("ids", [AWKWARD, list(range(10))], ids=["text", "int"])
    def test_npz_needs_no_pickle(self, tmp_path, some, ids):
        write_vectors(tmp_path / "v.npz", ids, some)
        with np.load(tmp_path / "v.npz", allow_pickle=False) as archive:
            assert archive["ids"].tolist() == ids
            assert archive["columns"].tolist() == ["x0", "x1", "x2"]
            np.testing.assert_array_equal(archive["vectors"], some)


class TestWord2vec:
    @pytest.mark.parametrize("suffix", [".txt", ".w2v", ".vec"])
    def test_gensim_reads_the_same_bits(self, tmp_path, suffix):
        model = MUSAE(8).fit(figure1())
        path = tmp_path / f"v{suffix}"
        model.export(path)
        again = KeyedVectors.load_word2vec_format(str(path))
        assert again.index_to_key == model.node_ids_.tolist()
        np.testing.assert_array_equal(again.vectors, model.embedding_)

    def test_gensim_reads_int_ids_and_unicode(self, tmp_path, some):
        for ids in (range(100, 110), [f"ü{i}🙂,\"'" for i in range(10)]):
            write_vectors(tmp_path / "v.txt", ids, some)
            again = KeyedVectors.load_word2vec_format(str(tmp_path / "v.txt"))
            assert again.index_to_key == list(map(str, ids))
            np.testing.assert_array_equal(again.vectors, some)

    def test_gensim_reads_ego_features(self, tmp_path):
        model = MUSAE(16, ego=True).fit(figure1())
        model.export(tmp_path / "h.vec", what="features")
        again = KeyedVectors.load_word2vec_format(str(tmp_path / "h.vec"))
        np.testing.assert_array_equal(again['["node","D"]'], model.feature_embedding_[4 + 3])

    @pytest.mark.parametrize("name", ["", "two words", "line\nbreak", "tab\t", "no\u00a0break", ("node", "b c")])
    def test_names_that_would_be_torn_are_refused(self, tmp_path, name):
        with pytest.raises(ParameterError, match="word2vec text cannot hold the name"):
            write_vectors(tmp_path / "v.txt", ["fine", name], np.zeros((2, 2)))
        assert not list(tmp_path.iterdir())


class TestNames:
    def test_tuples_become_json(self, tmp_path):
        MUSAE(16, ego=True).fit(figure1()).export(tmp_path / "h.csv", what="features")
        names = [row[0] for row in read_rows(tmp_path / "h.csv")[1:]]
        assert names[:5] == ["club", "heart", "diamond", "spade", '["node","A"]']

    def test_two_names_with_one_text(self, tmp_path):
        with pytest.raises(ParameterError, match="1 and '1' would both be written"):
            write_vectors(tmp_path / "v.csv", [1, "1"], np.zeros((2, 2)))

    @pytest.mark.parametrize("name", ["\ud800", "nul\0"])
    def test_text_that_is_no_text(self, tmp_path, name):
        with pytest.raises(ParameterError, match="cannot be written"):
            write_vectors(tmp_path / "v.csv", [name], np.zeros((1, 2)))

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ({"path": "v.bin"}, "does not say in which format"),
            ({"path": "v"}, "does not say in which format"),
            ({"format": "xlsx"}, "format must be one of"),
            ({"ids": [1, 2, 3]}, "one row for each of 3 names"),
            ({"vectors": np.zeros(2)}, "one row for each of 2 names"),
            ({"vectors": [[1.0, 2.0], [np.nan, 0.0]]}, "row 1 is not finite"),
            ({"columns": ["a"]}, "columns must be 2 different names"),
            ({"columns": ["a", "a"]}, "columns must be 2 different names"),
            ({"columns": ["id", "a"]}, "columns must be 2 different names"),
        ],
    )
    def test_wrong_arguments(self, tmp_path, arguments, message):
        given = {"path": "v.csv", "ids": [1, 2], "vectors": np.zeros((2, 2)), **arguments}
        given["path"] = tmp_path / given["path"]
        with pytest.raises(ParameterError, match=message):
            write_vectors(**given)
        assert not list(tmp_path.iterdir())


class TestExport:
    def test_one_scale(self, tmp_path):
        model = MUSAE(8).fit(figure1())
        model.export(tmp_path / "v.parquet", scale=2)
        table = pl.read_parquet(tmp_path / "v.parquet")
        assert table.columns == ["id", "hop2_0", "hop2_1"]
        np.testing.assert_array_equal(table.drop("id").to_numpy(), model.node_vectors(2))

    def test_features(self, tmp_path):
        model = MUSAE(8).fit(figure1())
        model.export(tmp_path / "h.data", what="features", format="word2vec")
        again = KeyedVectors.load_word2vec_format(str(tmp_path / "h.data"))
        assert again.index_to_key == ["club", "heart", "diamond", "spade"]
        np.testing.assert_array_equal(again.vectors, model.feature_embedding_)

    def test_neither_nodes_nor_features(self, tmp_path):
        with pytest.raises(ParameterError, match="what must be one of"):
            MUSAE(8).fit(figure1()).export(tmp_path / "v.csv", what="edges")


class TestAtomicity:
    @pytest.mark.parametrize("suffix", [".csv", ".parquet", ".npz", ".txt"])
    @pytest.mark.parametrize("failure", [OSError("disk full"), KeyboardInterrupt()])
    def test_failure_midway_leaves_the_old_file(self, tmp_path, some, monkeypatch, suffix, failure):
        path = tmp_path / f"v{suffix}"
        write_vectors(path, range(10), some)
        before = path.read_bytes()

        def fail(descriptor):
            raise failure

        monkeypatch.setattr(os, "fsync", fail)
        with pytest.raises(type(failure)):
            write_vectors(path, range(10), some + 1)
        assert path.read_bytes() == before
        assert list(tmp_path.iterdir()) == [path]

    def test_links_are_followed(self, tmp_path, some):
        (tmp_path / "data").mkdir()
        link = tmp_path / "v.csv"
        link.symlink_to(tmp_path / "data" / "real.csv")
        write_vectors(link, range(10), some)
        assert link.is_symlink()
        assert len(read_rows(tmp_path / "data" / "real.csv")) == 11

    def test_devices_are_written_to_not_replaced(self, some):
        write_vectors(os.devnull, range(10), some, format="csv")
        assert not os.path.isfile(os.devnull)

    @pytest.mark.skipif(not os.path.exists("/dev/stdout"), reason="no /dev")
    def test_standard_output_goes_on_where_it_was(self, tmp_path):
        program = (
            "import sys; from hopscale.io.vectors import write_vectors\n"
            "print('before', flush=True); write_vectors('/dev/stdout', [1], [[0.5]], format='csv'); print('after')"
        )
        with (tmp_path / "log").open("wb") as log:
            subprocess.run([sys.executable, "-c", program], stdout=log, check=True, timeout=60)
        assert (tmp_path / "log").read_text().split() == ["before", "id,x0", "1,0.5", "after"]

    def test_new_files_obey_the_umask(self, tmp_path):
        with replacing(tmp_path / "a") as temporary:
            temporary.write_bytes(b"x")
        plain = tmp_path / "b"
        plain.write_bytes(b"x")
        assert (tmp_path / "a").stat().st_mode == plain.stat().st_mode

    def test_unwritable_paths_are_found_out_beforehand(self, tmp_path):
        (tmp_path / "file").write_text("")
        for path in (tmp_path, tmp_path / "no" / "v.csv", tmp_path / "file" / "v.csv"):
            with pytest.raises(OSError, match="cannot write"):
                check_writable(path)
        check_writable(tmp_path / "v.csv")
        check_writable(tmp_path / "file")
        assert [path.name for path in tmp_path.iterdir()] == ["file"]
