"""Counts of graphs in files: from a part of the rows they are near those of all, and what is wrong is refused."""

import gzip
import json

import numpy as np
import pytest

from hopscale import plan, read_graph
from hopscale.exceptions import FileFormatError, GraphError
from hopscale.io import counting
from hopscale.io.counting import can_be_sampled, count_rows, distinct_in_all

pytestmark = pytest.mark.usefixtures("small_pieces")
N, M, Q, EACH = 4000, 20_000, 300, 6


@pytest.fixture
def small_pieces(monkeypatch):
    """Files of this test are large beside what is read of them."""
    monkeypatch.setattr(counting, "WHOLE", 1000)
    monkeypatch.setattr(counting, "PIECE", 2**11)
    monkeypatch.setattr(counting, "PIECE_ROWS", 2**7)


@pytest.fixture(scope="module")
def rows():
    """Ends of edges, and pairs of nodes and features, without repeats."""
    random = np.random.default_rng(0)
    ends = np.unique(np.sort(random.integers(0, N, (M, 2)), axis=1), axis=0)
    ends = random.permutation(ends[ends[:, 0] != ends[:, 1]])
    features = np.concatenate([random.choice(Q, EACH, replace=False) for _ in range(N)])
    return ends, np.stack([np.repeat(np.arange(N), EACH), features], axis=1)


def named(columns, text):
    return [[f"{letter}{number:05d}" for number in column] for letter, column in zip(text, columns.T, strict=True)]


def write(folder, rows, kind, text, row_group_size=2000):
    ends, features = rows
    tables = {"edges": (ends, "vv"), "features": (features, "vf")}
    files = []
    for name, (table, letters) in tables.items():
        columns = named(table, letters) if text else list(table.T.tolist())
        header = ["source", "target"] if name == "edges" else ["node", "feature"]
        path = folder / f"{name}.{kind}"
        if kind == "csv":
            lines = [",".join(header), *(f"{a},{b}" for a, b in zip(*columns, strict=True))]
            path.write_text("\n".join(lines) + "\n")
        else:
            import pyarrow as pa
            from pyarrow import parquet

            parquet.write_table(pa.table(dict(zip(header, columns, strict=True))), path, row_group_size=row_group_size)
        files.append(path)
    return files


class TestCounts:
    @pytest.mark.parametrize("kind", ["csv", "parquet"])
    @pytest.mark.parametrize("text", [False, True])
    def test_are_near_those_of_all_rows(self, tmp_path, rows, kind, text):
        edges, features = write(tmp_path, rows, kind, text)
        graph, found = read_graph(edges, features), count_rows(edges, features)
        assert found.share < 0.5
        assert found.n_edges == pytest.approx(graph.n_edges, rel=0.02)
        assert found.n_entries == pytest.approx(graph.features.nnz, rel=0.02)
        assert found.n_nodes == pytest.approx(graph.n_nodes, rel=0.15 if text else 0.001)
        assert found.n_features == pytest.approx(graph.n_features, rel=0.1)
        assert not found.weighted

    @pytest.mark.parametrize("group", [500, 10**6])
    def test_do_not_depend_on_the_parts_of_the_file(self, tmp_path, rows, group):
        edges, _ = write(tmp_path, rows, "parquet", True, row_group_size=group)
        assert count_rows(edges).n_edges == len(rows[0])
        assert count_rows(edges).n_nodes == pytest.approx(N, rel=0.3)

    def test_are_right_for_a_file_that_is_sorted(self, tmp_path, rows):
        """Pieces of a sorted file have no node in common: there are as many more as there are rows."""
        ends, features = rows
        order = np.argsort(features[:, 0], kind="stable")
        _, path = write(tmp_path, (ends, features[order]), "csv", True)
        edges, _ = write(tmp_path, rows, "csv", True)
        assert count_rows(edges, path).n_nodes == pytest.approx(N, rel=0.15)

    def test_of_several_files_are_those_of_one(self, tmp_path, rows):
        one = count_rows(*write(tmp_path, rows, "parquet", True))
        parts = {"edges": [], "features": []}
        for number, (ends, features) in enumerate(zip(*(np.array_split(part, 40) for part in rows), strict=True)):
            (folder := tmp_path / f"{number:02d}").mkdir()
            for name, path in zip(parts, write(folder, (ends, features), "parquet", True), strict=True):
                parts[name].append(path)
        found = count_rows(parts["edges"], parts["features"])
        assert (found.n_edges, found.n_entries) == (one.n_edges, one.n_entries)
        assert found.n_nodes == pytest.approx(N, rel=0.2)
        assert found.n_features == pytest.approx(Q, rel=0.1)

    def test_of_all_rows_are_those_that_occur(self, tmp_path):
        """Whole numbers with gaps between them are not counted from the smallest to the largest."""
        path = tmp_path / "edges.csv"
        path.write_text("".join(f"{10 * i},{10 * i + 1}\n" for i in range(20)) * 20)
        found = count_rows(path, header=False)
        assert (found.share, found.n_nodes, found.n_edges) == (1, 40, 20)

    def test_repeated_rows_are_no_more_than_nodes_can_have(self, tmp_path, rows):
        edges, features = tmp_path / "edges.csv", tmp_path / "features.csv"
        edges.write_text("".join(f"{a % 9},{b % 9}\n" for a, b in rows[0].tolist()))
        features.write_text("".join(f"{a % 9},{b % 7}\n" for a, b in rows[1].tolist()))
        found = count_rows(edges, features, header=False)
        assert found.share < 1
        assert (found.n_edges, found.n_entries) == (45, 63)

    def test_see_weights(self, tmp_path, rows):
        path = tmp_path / "edges.csv"
        path.write_text("source,target,weight\n" + "".join(f"{a},{b},{1 + a % 3}\n" for a, b in rows[0].tolist()))
        assert count_rows(path).weighted
        assert not count_rows(path, weight=False).weighted

    def test_numbers_far_apart_are_estimated(self, tmp_path, rows):
        path = tmp_path / "edges.csv"
        path.write_text("".join(f"{10**9 + 7919 * a},{10**9 + 7919 * b}\n" for a, b in rows[0].tolist()))
        assert count_rows(path, header=False).n_nodes == pytest.approx(N, rel=0.15)

    def test_make_a_plan(self, tmp_path, rows):
        edges, features = write(tmp_path, rows, "parquet", False)
        graph, found = read_graph(edges, features), count_rows(edges, features)
        known, expected = (
            plan(n_nodes=n, n_edges=m, n_features=q, n_entries=e, cores=2, calibrate=False)
            for n, m, q, e in (
                (graph.n_nodes, graph.n_edges, graph.n_features, graph.features.nnz),
                (found.n_nodes, found.n_edges, found.n_features, found.n_entries),
            )
        )
        assert expected.rows == known.rows
        assert expected.seconds == pytest.approx(known.seconds, rel=0.1)


class TestDistinct:
    def test_all_rows_tell_all(self):
        assert distinct_in_all([np.array([0, 1]), np.array([1, 2])], 1.0) == 3

    def test_numbers_that_all_pieces_have_are_all(self):
        assert distinct_in_all([np.arange(5)] * 4, 0.01) == 5

    def test_none(self):
        assert distinct_in_all([], 0.5) == 0

    @pytest.mark.parametrize("share", [0.05, 0.2, 0.5])
    def test_draws_alike_are_counted(self, share):
        random = np.random.default_rng(1)
        draws = random.integers(0, 1000, 20_000)
        pieces = [np.unique(piece) for piece in np.split(draws[: int(share * len(draws))], 20)]
        assert distinct_in_all(pieces, share) == pytest.approx(1000, rel=0.1)


class TestWhole:
    def test_small_files_are_read_whole(self, tmp_path, rows, monkeypatch):
        edges, features = write(tmp_path, rows, "csv", False)
        assert can_be_sampled(edges, features)
        assert can_be_sampled(edges, None)
        monkeypatch.setattr(counting, "WHOLE", 2**30)
        assert not can_be_sampled(edges, features)

    def test_so_are_json_and_packed_text(self, tmp_path, rows):
        edges, _ = write(tmp_path, rows, "csv", False)
        listed = tmp_path / "features.json"
        listed.write_text(json.dumps({str(i): [i % 7] for i in range(N)}))
        packed = tmp_path / "edges.csv.gz"
        packed.write_bytes(gzip.compress(edges.read_bytes()))
        assert not can_be_sampled(edges, listed)
        assert not can_be_sampled(packed)


class TestRefused:
    def test_a_damaged_parquet_file_is_named(self, tmp_path, rows):
        edges, _ = write(tmp_path, rows, "parquet", False)
        edges.write_bytes(edges.read_bytes()[:-100])
        with pytest.raises(FileFormatError, match=r"edges\.parquet cannot be read as Parquet"):
            count_rows(edges)

    def test_a_missing_value_is_named_with_its_row_in_the_file(self, tmp_path, rows):
        """Not with that among the rows that were read."""
        import pyarrow as pa
        from pyarrow import parquet

        source = rows[0][:, 0].tolist()
        source[2003] = None
        table = pa.table({"source": source, "target": rows[0][:, 1].tolist()})
        parquet.write_table(table, tmp_path / "edges.parquet", row_group_size=2000)
        with pytest.raises(GraphError, match=r"edges\.parquet has 1 missing value.* row 2003"):
            count_rows(tmp_path / "edges.parquet")

    def test_parts_with_other_columns(self, tmp_path, rows):
        import pyarrow as pa
        from pyarrow import parquet

        files = [tmp_path / "0.parquet", tmp_path / "1.parquet"]
        for path, names in zip(files, (("source", "target"), ("from", "to")), strict=True):
            parquet.write_table(pa.table({name: [1, 2, 3] for name in names}), path)
        with pytest.raises(FileFormatError, match=r"1\.parquet has the columns \['from', 'to'\]"):
            count_rows(files)
        parquet.write_table(pa.table({"source": ["a"], "target": ["b"]}), files[1])
        with pytest.raises(FileFormatError, match=r"1\.parquet have columns of different types"):
            count_rows(files)

    def test_a_file_that_is_not_there(self, tmp_path):
        with pytest.raises(FileFormatError, match="there is no file"):
            can_be_sampled(tmp_path / "edges.csv")

    def test_a_file_of_one_line(self, tmp_path):
        path = tmp_path / "edges.csv"
        path.write_bytes(b"1" * 2**20)
        with pytest.raises(FileFormatError, match="no line of less than"):
            count_rows(path)

    def test_a_column_that_is_not_there(self, tmp_path, rows):
        edges, _ = write(tmp_path, rows, "csv", False)
        with pytest.raises(FileFormatError, match="no column 'payer'"):
            count_rows(edges, source="payer", target="target")
