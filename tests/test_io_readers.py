"""Bulk readers of files against a reader of one row at a time, over odd files: the same graph or the same refusal."""

import csv
import gzip
import json
import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from hopscale.exceptions import FileFormatError, HopscaleError
from hopscale.io import delimited, feature_json, read_graph
from hopscale.io.naming import Names

ODD = ["007", "-0", "0", "+1", "1e5", " 1", "1 ", "0x1F", "0X1f", str(2**63), str(-(2**63)), str(2**70), "1_0", "٣"]
ODDER = [
    "",
    "  ",
    "NA",
    "null",
    "nan",
    "é",
    "\u00a0a",
    "a\u3000",
    "a b",
    "a'b",
    "#tea",
    "% x",
    "\x0b7",
    "\x1cq",
    "a\tb",
]
NAMES = st.one_of(
    st.integers(-3, 12).map(str),
    st.sampled_from(ODD + ODDER),
    st.sampled_from(["ann", "bob", "eve"]),
    st.text('ab,;"1 \t', max_size=4),
)
PLAIN = st.one_of(st.integers(0, 12).map(str), st.sampled_from(["ann", "bob", "eve", "x7"]))
WHOLE = st.integers(-30, 12000).map(str)
AMOUNTS = st.sampled_from(
    ["1", "0.5", "1e-3", "2.", ".5", "0", "-0", " 1", "1 ", "+2", "1_0", "0x1", "NA", "", "inf", "-1", "1e400"]
)


@st.composite
def files(draw):
    """Bytes of a delimited file, mostly well-formed."""
    names = draw(st.sampled_from([PLAIN, WHOLE, NAMES]))
    sign = draw(st.sampled_from([",", ";", "\t", " "]))
    columns = [names, names, *draw(st.sampled_from([[], [], [st.just("1.5")], [AMOUNTS]]))]
    rows = draw(st.lists(st.tuples(*columns).map(list), min_size=1, max_size=8))
    if draw(st.integers(0, 9)) == 0:
        rows.insert(draw(st.integers(0, len(rows))), draw(st.lists(names, max_size=4)))
    quoting = draw(st.sampled_from(["never", "needed", "always", "one"]))
    lines = [sign.join(_cell(cell, sign, quoting, row) for cell in cells) for row, cells in enumerate(rows)]
    header = draw(
        st.sampled_from([None, None, ["source", "target"], ["source", "target", "weight"], ["a", "b", "time"]])
    )
    if header:
        lines.insert(0, sign.join(header))
    for _ in range(draw(st.integers(0, 2))):
        lines.insert(draw(st.integers(0, len(lines))), draw(st.sampled_from(["", "", " ", "# comment", "%", '""'])))
    end = draw(st.sampled_from(["\n", "\n", "\r\n", "\r"]))
    content = end.join(lines) + draw(st.sampled_from(["", end, end + end]))
    data = content.encode()
    if draw(st.integers(0, 5)) == 0:
        data = b"\xef\xbb\xbf" + data
    if draw(st.integers(0, 19)) == 0:
        data += draw(st.sampled_from([b"\xff,1\n", b"\0,1\n"]))
    return gzip.compress(data) if draw(st.integers(0, 9)) == 0 else data


def _cell(cell, sign, quoting, row):
    needed = sign in cell or '"' in cell
    if quoting == "never" or (quoting == "needed" and not needed) or (quoting == "one" and row):
        return cell
    return '"' + cell.replace('"', '""') + '"'


def rowwise(rows, groups, amount_at=None):
    """What ``read_columns`` should give, by the iterator that errors are found with."""
    try:
        table = [cells for _, cells in rows]
    except FileFormatError:
        return None
    if any(len(cells) != len(table[0]) for cells in table):
        return None
    names = [Names.of([cells[position] for cells in table for position in group]) for group in groups]
    names = [group.reshaped(len(at)) for group, at in zip(names, groups, strict=True)]
    try:
        return names, None if amount_at is None else np.array([float(cells[amount_at]) for cells in table])
    except ValueError:
        return None


def outcome(path, **options):
    """All bits of the graph that a file gives, or the words in which it is refused; and the warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            graph = read_graph(path, **options)
        except HopscaleError as error:
            return type(error), str(error), [str(warning.message) for warning in caught]
    arrays = [graph.node_ids, graph.feature_names]
    arrays += [
        getattr(matrix, part) for matrix in (graph.adjacency, graph.features) for part in ("indptr", "indices", "data")
    ]
    arrays += [] if graph.labels is None else [graph.labels]
    return [(array.dtype.str, list(map(repr, array.tolist()))) for array in arrays], [str(w.message) for w in caught]


READERS = ("arrow", "csv", "rows")


@pytest.fixture
def by_every_reader(monkeypatch):
    """Outcomes of a file by pyarrow where it can, by Python's csv, and row by row."""
    bulk = delimited.read_columns

    def outcomes(path, **options):
        found = {}
        for reader in READERS:
            monkeypatch.setattr(delimited, "_WORTH_ARROW", 0 if reader == "arrow" else float("inf"))
            replaced = rowwise if reader == "rows" else bulk
            monkeypatch.setattr(delimited, "read_columns", replaced)
            monkeypatch.setattr("hopscale.io.label_file.read_columns", replaced)
            found[reader] = outcome(path, **options)
        return found

    return outcomes


SLOW = settings(
    max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)


class TestReadersAgree:
    @SLOW
    @given(content=files(), header=st.sampled_from([None, None, True, False]), self_loops=st.booleans())
    @example(content=b"0,0x7\n1,2\n", header=False, self_loops=False)
    @example(content=b"0,1152921504606846975\n00,0xFFFFFFFFFFFFFFF\n", header=False, self_loops=False)
    @example(content=b"1,2\n3,9223372036854775808\n", header=False, self_loops=False)
    @example(content=b'"a","b\nc"\n"d","e"\n', header=False, self_loops=False)
    @example(content=b'a,"b,"\nc,d\n', header=False, self_loops=False)
    @example(content=b'"a"b,c\n', header=False, self_loops=False)
    @example(content=b"a b 1\nc  2\n", header=False, self_loops=False)
    @example(content=b"source target time\na b 1\nc d \n", header=None, self_loops=False)
    @example(content=b"-0,1\n0,2\n", header=False, self_loops=True)
    @example(content=b"a," + b"b" * (csv.field_size_limit() + 1) + b"\n", header=False, self_loops=False)
    def test_on_edges(self, tmp_path, by_every_reader, content, header, self_loops):
        path = tmp_path / "edges.csv"
        path.write_bytes(content)
        found = by_every_reader(path, header=header, self_loops=self_loops)
        assert found["arrow"] == found["rows"]
        assert found["csv"] == found["rows"]

    @SLOW
    @given(content=files(), whole=st.booleans())
    def test_on_features(self, tmp_path, by_every_reader, content, whole):
        edges, path = tmp_path / "edges.csv", tmp_path / "features.csv"
        edges.write_text("0,1\n1,2\n" if whole else "ann,bob\n1,2\n")
        path.write_bytes(content)
        found = by_every_reader(edges, features=path, unknown="isolate")
        assert found["arrow"] == found["rows"]
        assert found["csv"] == found["rows"]

    @SLOW
    @given(content=files(), whole=st.booleans(), unknown=st.sampled_from(["isolate", "error"]))
    def test_on_labels(self, tmp_path, by_every_reader, content, whole, unknown):
        edges, path = tmp_path / "edges.csv", tmp_path / "labels.csv"
        edges.write_text("0,1\n1,2\n" if whole else "ann,bob\n1,2\n")
        path.write_bytes(content)
        found = by_every_reader(edges, labels=path, unknown=unknown)
        assert found["arrow"] == found["rows"]
        assert found["csv"] == found["rows"]

    @pytest.mark.parametrize("quoted", [False, True])
    @pytest.mark.parametrize("sign", [",", "\t", ";", " "])
    @pytest.mark.parametrize("kind", ["whole", "text"])
    def test_pyarrow_takes_ordinary_files(self, sign, kind, quoted):
        names = ["5", "70", "-3", "0"] if kind == "whole" else ["ann", "bob", "é", "x1"]
        cells = [f'"{name}"' if quoted else name for name in names]
        data = f"{sign.join(cells[:2])}\n{sign.join(cells[2:])}\n".encode()
        if sign == " " and (quoted or kind == "text"):
            assert delimited.columns_by_arrow(data, 0, None, names[:2], ((0, 1),), None) is None
            return
        delimiter = None if sign == " " else sign
        [ends], _ = delimited.columns_by_arrow(data, 0, delimiter, names[:2], ((0, 1),), None)
        assert list(map(str, ends.vocabulary[ends.codes].ravel().tolist())) == names
        assert ends.vocabulary.dtype == (np.int64 if kind == "whole" else object)

    def test_blocks_have_one_vocabulary(self):
        pairs = np.random.default_rng(0).integers(0, 40, (200_000, 2))  # more than one block of pyarrow's
        for make in (str, "node {}".format):
            cells = [[make(end) for end in pair] for pair in pairs.tolist()]
            data = "\n".join(map(",".join, cells)).encode()
            [ends], _ = delimited.columns_by_arrow(data, 0, ",", cells[0], ((0, 1),), None)
            assert len(ends.vocabulary) == 40
            assert np.array(list(map(str, ends.vocabulary)), dtype=object)[ends.codes].tolist() == cells


JSON_NAMES = st.one_of(st.integers(-2, 9), st.sampled_from(["1", "a", "b", 2**70]))
ODD_JSON = st.sampled_from([True, 1.5, [1], None, {"a": 1}])
VALUES = st.one_of(st.integers(0, 5), st.floats(0, 5), st.sampled_from([True, "1", None, -1, 2**70]))
DESCRIBED = [
    st.lists(st.integers(0, 9), max_size=4),
    st.lists(st.sampled_from("abc"), max_size=4),
    st.dictionaries(st.sampled_from(["3", "12", "a"]), st.floats(0, 5)),
    st.lists(JSON_NAMES, max_size=4),
    st.dictionaries(st.sampled_from(["3", "a"]), VALUES),
    st.lists(st.one_of(JSON_NAMES, ODD_JSON), max_size=3),
]


@SLOW
@given(data=st.data(), kind=st.sampled_from([*DESCRIBED, st.one_of(DESCRIBED)]))
def test_json_in_bulk_is_json_one_by_one(tmp_path, monkeypatch, data, kind):
    edges, path = tmp_path / "edges.csv", tmp_path / "features.json"
    edges.write_text(data.draw(st.sampled_from(["0,1\n", "ann,bob\n"])))
    nodes = st.sampled_from(["0", "1", "7", *data.draw(st.sampled_from([[], ["ann"]]))])
    path.write_text(json.dumps(data.draw(st.dictionaries(nodes, st.one_of(kind, st.none())))))
    bulk = outcome(edges, features=path)
    with monkeypatch.context() as patched:
        patched.setattr(feature_json, "_in_bulk", lambda by_node: None)
        assert outcome(edges, features=path) == bulk
