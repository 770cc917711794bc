"""Parquet files: the graph that the same table gives as text, whatever the order of the rows and the suffix."""

import io

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hopscale.exceptions import FileFormatError, HopscaleError, HopscaleWarning
from hopscale.io import from_edges, read_graph
from hopscale.io.parquet import parquet_table

EDGES = pd.DataFrame(
    {"day": ["Mon", "Tue", "Wed", "Thu"], "from": ["ann", "bob", "eve", "joe"], "to": ["bob", "eve", "joe", "ann"]}
)
LIKES = pd.DataFrame({"who": ["ann", "ann", "eve", "zoe"], "what": ["tea", "go", "tea", "go"], "value": [1.0, 2, 3, 4]})
LABELS = pd.DataFrame({"who": ["zoe", "eve", "ann", "bob"], "group": ["x", "y", "x", None]})


def as_plain(graph):
    """All that a graph holds, by name."""
    names, features = graph.node_ids.tolist(), graph.feature_names.tolist()
    a, f = graph.adjacency.tocoo(), graph.features.tocoo()
    labels = graph.labels.tolist() if graph.labels is not None else [None] * len(names)
    return (
        {(names[u], names[v]): w for u, v, w in zip(a.row, a.col, a.data, strict=True)},
        {(names[u], features[v]): w for u, v, w in zip(f.row, f.col, f.data, strict=True)},
        dict(zip(names, labels, strict=True)),
    )


@pytest.fixture
def paths(tmp_path):
    def written(kind, *frames, seed=None):
        made = []
        for at, frame in enumerate(frames):
            made.append(tmp_path / f"{at}.{kind}")
            rows = frame if seed is None else frame.sample(frac=1, random_state=seed + at)
            if kind == "csv":
                rows.to_csv(made[-1], index=False)
            else:
                rows.to_parquet(made[-1], index=False)
        return made

    return written


class TestSameAsText:
    @pytest.mark.parametrize("seed", [None, 0, 1])
    def test_in_any_order_of_rows(self, paths, seed):
        expected = as_plain(read_graph(*paths("csv", EDGES, LIKES, LABELS)))
        assert as_plain(read_graph(*paths("parquet", EDGES, LIKES, LABELS, seed=seed))) == expected
        assert expected[2] == {"ann": "x", "bob": None, "eve": "y", "joe": None, "zoe": "x"}

    def test_whatever_the_suffix(self, paths, tmp_path):
        (path,) = paths("parquet", EDGES)
        other = path.rename(tmp_path / "edges.csv")
        assert read_graph(other).n_edges == 4
        assert read_graph(io.BytesIO(other.read_bytes())).n_edges == 4

    @pytest.mark.parametrize("kinds", [("csv", "parquet"), ("parquet", "csv")])
    @pytest.mark.parametrize("ids", ["numbers", "text"])
    def test_mixed_with_text(self, paths, kinds, ids):
        number = {name: at for at, name in enumerate(["ann", "bob", "eve", "joe", "zoe"])}
        frames = [frame.replace(number) if ids == "numbers" else frame for frame in (EDGES, LIKES, LABELS)]
        expected = as_plain(read_graph(*paths("csv", *frames)))
        edges, others = paths(kinds[0], frames[0]), paths(kinds[1], frames[0], *frames[1:])[1:]
        assert as_plain(read_graph(*edges, *others)) == expected

    def test_ids_as_index_of_pandas(self, tmp_path, paths):
        shuffled = LABELS.set_index("who").sample(frac=1, random_state=3)
        shuffled.to_parquet(tmp_path / "named.parquet")
        shuffled.rename_axis(None).to_parquet(tmp_path / "unnamed.parquet")
        edges, likes = paths("parquet", EDGES, LIKES)
        expected = as_plain(read_graph(edges, likes, paths("csv", LABELS, LABELS)[1]))
        for name in ("named", "unnamed"):
            columns = {"node_column": "who", "label_column": "group"} if name == "named" else {}
            assert as_plain(read_graph(edges, likes, tmp_path / f"{name}.parquet", **columns)) == expected

    def test_lists_of_features(self, paths):
        lists = pd.DataFrame({"who": ["eve", "ann"], "what": [["tea"], ["tea", "go"]]})
        graph = read_graph(*paths("parquet", EDGES, lists))
        assert as_plain(graph)[1] == {("eve", "tea"): 1, ("ann", "tea"): 1, ("ann", "go"): 1}

    def test_what_is_said(self, paths):
        heard = []
        read_graph(*paths("parquet", EDGES, LIKES, LABELS), say=heard.append)
        assert heard[0].endswith("0.parquet: nodes are 'from' and 'to'; no weights; passed over: 'day'")
        assert heard[1].endswith("nodes are 'who', features are 'what'")
        assert heard[2].endswith("nodes are 'who', labels are 'group'")


class TestMistakes:
    GAPS = pd.DataFrame(
        {"from": ["ann", None, "eve", "joe"], "to": ["bob", "x", "joe", "y"], "weight": [1, 2, 3, -1.0]}
    )

    def test_gaps_are_refused_or_skipped(self, paths):
        (path,) = paths("parquet", self.GAPS)
        with pytest.raises(HopscaleError, match=r"0\.parquet has 1 missing value\(s\) in column 'from'.* row 1"):
            read_graph(path)
        with pytest.warns(HopscaleWarning, match=r"2 bad row\(s\) skipped, 2 row\(s\) read: row 1 .*row 3 "):
            graph = read_graph(path, skip_bad_lines=True)
        expected = from_edges([("ann", "bob"), ("eve", "joe")], weights=[1, 3])
        assert as_plain(graph) == as_plain(expected)

    def test_labels_that_contradict(self, paths):
        twice = pd.DataFrame({"who": ["ann", "bob", "ann"], "group": ["x", "y", "z"]})
        edges, labels = paths("parquet", EDGES, twice)
        with pytest.raises(FileFormatError, match=r"1\.parquet, row 2: node 'ann' has label 'z', but 'x' before"):
            read_graph(edges, labels=labels)

    def test_damaged(self, paths, tmp_path):
        (path,) = paths("parquet", EDGES)
        cut = tmp_path / "cut.parquet"
        data = path.read_bytes()
        for damaged in (data[:-20], data[:100] + b"\xff" * 300 + data[400:], b"PAR1", data[:-8] + b"\0" * 4 + b"PAR1"):
            cut.write_bytes(damaged)
            with pytest.raises(FileFormatError, match=r"cut\.parquet cannot be read as Parquet"):
                read_graph(cut)

    def test_more_than_it_should_hold(self, tmp_path):
        path = tmp_path / "e.parquet"
        pd.DataFrame({"u": np.zeros(10**6, dtype=int), "v": np.zeros(10**6, dtype=int)}).to_parquet(path)
        with pytest.raises(FileFormatError, match="unpacks to more than"):
            read_graph(path, max_unpacked="1MiB")


class TestPlainColumns:
    """Text that hardly repeats is read as it is, other text as codes: these could stand for far more than they take."""

    def table(self, tmp_path, texts):
        pq.write_table(pa.table({"u": texts, "v": texts}), tmp_path / "e.parquet", row_group_size=3000)
        data = (tmp_path / "e.parquet").read_bytes()
        return parquet_table(data, "e.parquet", "64MiB", by_node=False)

    @pytest.mark.parametrize("kind", [pa.string(), pa.large_string()])
    def test_distinct_names(self, tmp_path, kind):
        texts = [f"a rather long name {i}" for i in range(5000)]
        table = self.table(tmp_path, pa.array(texts, kind))
        assert table.schema.types == [kind] * 2
        assert table.column("u").to_pylist() == texts

    @pytest.mark.parametrize("texts", [["tea", "go"] * 2500, ["x" * 50_000] * 5000])
    def test_names_that_repeat(self, tmp_path, texts):
        assert all(map(pa.types.is_dictionary, self.table(tmp_path, texts).schema.types))
