"""Bulk readers of files against a reader of one row at a time, over odd files: the same graph or the same refusal."""

import csv
import gzip
import json
import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from hopscale._core import _native
from hopscale.exceptions import FileFormatError, HopscaleError, HopscaleWarning
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


def rowwise(rows, groups, amount_at):
    """What is read in bulk, by the iterator that errors are found with."""
    try:
        table = [cells for _, cells in rows]
    except FileFormatError:
        return None
    if any(len(cells) != rows.width for cells in table):
        return None
    names = [Names.of([cells[position] for cells in table for position in group]) for group in groups]
    names = [group.reshaped(len(at)) for group, at in zip(names, groups, strict=True)]
    return names, None if amount_at is None else np.array([number(cells[amount_at]) for cells in table])


def number(text):
    try:
        return float(text)
    except ValueError:
        return np.nan


def outcome(path, **options):
    """All bits of the graph that a file gives, or the words in which it is refused; and the warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            graph = read_graph(path, **options)
        except HopscaleError as error:
            return type(error), str(error), _warnings(caught)
    arrays = [graph.node_ids, graph.feature_names]
    arrays += [
        getattr(matrix, part) for matrix in (graph.adjacency, graph.features) for part in ("indptr", "indices", "data")
    ]
    arrays += [] if graph.labels is None else [graph.labels]
    return [(array.dtype.str, list(map(repr, array.tolist()))) for array in arrays], _warnings(caught)


def _warnings(caught):
    return [str(w.message) for w in caught if isinstance(w.message, HopscaleWarning)]


READERS = ("kernel", "csv", "rows")


@pytest.fixture
def by_every_reader(monkeypatch):
    """Outcomes of a file by the kernel where it is plain, by Python's csv, and row by row."""
    bulk, at_once = delimited._in_bulk, delimited._columns_at_once

    def outcomes(path, **options):
        found = {}
        for reader in READERS:
            monkeypatch.setattr(delimited, "_columns_at_once", at_once if reader == "kernel" else lambda *_: None)
            monkeypatch.setattr(delimited, "_in_bulk", rowwise if reader == "rows" else bulk)
            found[reader] = outcome(path, **options)
        return found

    return outcomes


SLOW = settings(
    max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)


class TestReadersAgree:
    @SLOW
    @given(
        content=files(),
        header=st.sampled_from([None, None, True, False]),
        self_loops=st.booleans(),
        skip_bad_lines=st.booleans(),
    )
    @example(content=b"0,0x7\n1,2\n", header=False, self_loops=False, skip_bad_lines=False)
    @example(
        content=b"0,1152921504606846975\n00,0xFFFFFFFFFFFFFFF\n", header=False, self_loops=False, skip_bad_lines=False
    )
    @example(content=b"1,2\n3,9223372036854775808\n", header=False, self_loops=False, skip_bad_lines=False)
    @example(content=b'"a","b\nc"\n"d","e"\n', header=False, self_loops=False, skip_bad_lines=False)
    @example(content=b'a,"b,"\nc,d\n', header=False, self_loops=False, skip_bad_lines=False)
    @example(content=b'"a"b,c\n', header=False, self_loops=False, skip_bad_lines=False)
    @example(content=b"a b 1\nc  2\n", header=False, self_loops=False, skip_bad_lines=False)
    @example(content=b"source target time\na b 1\nc d \n", header=None, self_loops=False, skip_bad_lines=False)
    @example(content=b"-0,1\n0,2\n", header=False, self_loops=True, skip_bad_lines=False)
    @example(
        content=b"a," + b"b" * (csv.field_size_limit() + 1) + b"\n",
        header=False,
        self_loops=False,
        skip_bad_lines=False,
    )
    def test_on_edges(self, tmp_path, by_every_reader, content, **options):
        path = tmp_path / "edges.csv"
        path.write_bytes(content)
        found = by_every_reader(path, **options)
        assert found["kernel"] == found["rows"]
        assert found["csv"] == found["rows"]

    @SLOW
    @given(content=files(), whole=st.booleans(), skip=st.booleans())
    def test_on_features(self, tmp_path, by_every_reader, content, whole, skip):
        edges, path = tmp_path / "edges.csv", tmp_path / "features.csv"
        edges.write_text("0,1\n1,2\n" if whole else "ann,bob\n1,2\n")
        path.write_bytes(content)
        found = by_every_reader(edges, features=path, unknown="isolate", skip_bad_lines=skip)
        assert found["kernel"] == found["rows"]
        assert found["csv"] == found["rows"]

    @SLOW
    @given(content=files(), whole=st.booleans(), unknown=st.sampled_from(["isolate", "error"]), skip=st.booleans())
    def test_on_labels(self, tmp_path, by_every_reader, content, whole, unknown, skip):
        edges, path = tmp_path / "edges.csv", tmp_path / "labels.csv"
        edges.write_text("0,1\n1,2\n" if whole else "ann,bob\n1,2\n")
        path.write_bytes(content)
        found = by_every_reader(edges, labels=path, unknown=unknown, skip_bad_lines=skip)
        assert found["kernel"] == found["rows"]
        assert found["csv"] == found["rows"]


def cells_of(coded):
    """Cells of every group in the order of the text."""
    return [np.array(vocabulary.decode().split("\n"), dtype=object)[codes].tolist() for codes, vocabulary in coded]


TEXTS = ["ann", "", "a", "abcdefgh", "abcdefghi", "é", "日本語の名前", "\U0001f600", "a b", "a\0b", " a", "x" * 31, "a"]


def by_dict(texts):
    """Codes in the order of first sight, and what they stand for."""
    seen = {}
    return [seen.setdefault(text, len(seen)) for text in texts], list(seen)


def as_lists(found):
    return found[0].tolist(), found[1].decode().split("\n")


def arrow_chunks(texts, sizes, offset_type):
    """Text as Arrow holds it, in chunks."""
    chunks, start = [], 0
    for size in sizes:
        own = [text.encode() for text in texts[start : start + size]]
        before = b"before"
        offsets = np.cumsum([len(before), *map(len, own)]).astype(offset_type)
        chunks.append((offsets, np.frombuffer(before + b"".join(own), np.uint8)))
        start += size
    return chunks


class TestNames:
    """Names in lists, in NumPy's arrays and in Arrow's columns."""

    def test_lists(self):
        for groups in ([TEXTS], [TEXTS[:5], tuple(TEXTS[5:])], [[], *([text] for text in TEXTS), ()]):
            assert as_lists(_native.encode_strings(groups)) == by_dict(TEXTS)

    @pytest.mark.parametrize("odd", [1, None, b"a", np.str_("a"), "a\nb", "\ud800", "x" * 100_001])
    def test_lists_of_other_things_are_left_to_python(self, odd):
        assert _native.encode_strings([["a", odd]]) is None
        assert _native.encode_strings([["a"], odd]) is None

    def test_characters(self):
        texts = [text.rstrip("\0") for text in TEXTS]
        array = np.array(texts)
        assert as_lists(_native.encode_characters(array.view(np.uint32).reshape(len(array), -1))) == by_dict(texts)

    @pytest.mark.parametrize("odd", [0x0A, 0xD800, 0x110000])
    def test_characters_that_are_none_are_left_to_python(self, odd):
        assert _native.encode_characters(np.array([[97, 98], [odd, 97]], np.uint32)) is None

    @pytest.mark.parametrize("offset_type", [np.int32, np.int64])
    @pytest.mark.parametrize("sizes", [[13], [0, 5, 0, 0, 8], [1] * 13, [13, 0]])
    def test_columns(self, sizes, offset_type):
        one, other = arrow_chunks(TEXTS, sizes, offset_type), arrow_chunks(TEXTS[::-1], [4, 9], offset_type)
        assert as_lists(_native.encode_columns([one])) == by_dict(TEXTS)
        rows = [text for pair in zip(TEXTS, TEXTS[::-1], strict=True) for text in pair]
        assert as_lists(_native.encode_columns([one, other])) == by_dict(rows)

    def test_columns_with_line_feeds_are_left_to_python(self):
        assert _native.encode_columns([arrow_chunks(["a", "b\nc"], [2], np.int32)]) is None

    def test_halves_have_one_vocabulary(self):
        """Enough names for two threads."""
        texts = [f"node {i}" for i in np.random.default_rng(0).integers(0, 90_000, 600_000).tolist()]
        expected = by_dict(texts)
        array = np.array(texts)
        assert as_lists(_native.encode_strings([texts])) == expected
        assert as_lists(_native.encode_characters(array.view(np.uint32).reshape(len(array), -1))) == expected
        columns = [
            arrow_chunks(texts[0::2], [100_000, 200_000], np.int32),
            arrow_chunks(texts[1::2], [300_000], np.int32),
        ]
        assert as_lists(_native.encode_columns(columns)) == expected


class TestKernel:
    @pytest.mark.parametrize(("sign", "quote"), [(",", ""), (",", '"'), ("\t", ""), ("\t", '"'), (";", '"'), (" ", "")])
    def test_takes_ordinary_files(self, sign, quote):
        names = ["ann", "7", "x1", "ann", "a_long_name", "é" if sign != " " else "e"]
        lines = [f"{quote}{u}{quote}{sign}{quote}{v}{quote}" for u, v in zip(names, names[::-1], strict=True)]
        for end in ("\n", "\n\n", "\n \n"):
            for text in (end.join(lines), end + end.join(lines) + end):
                coded = _native.encode_text(text.encode(), 0, sign.strip(" ") or None, [0, 0])
                assert cells_of(coded) == [[name for pair in zip(names, names[::-1], strict=True) for name in pair]]
                assert list(dict.fromkeys(coded[0][0].tolist())) == list(range(5))  # in the order of first sight

    def test_columns_of_a_group_share_names_and_others_are_passed_over(self):
        coded = _native.encode_text(b'head\na,1,x,b\n b ,2,y,"a"\n', 5, ",", [1, 0, -1, 1])
        assert cells_of(coded) == [["1", "2"], ["a", "b", "b", "a"]]
        assert [vocabulary for _, vocabulary in coded] == [b"1\n2", b"a\nb"]

    def test_empty_cells(self):
        assert cells_of(_native.encode_text(b'a,\n,""\n" ",b\nc,', 0, ",", [0, 1])) == [
            ["a", "", "", "c"],
            ["", "", "b", ""],
        ]
        assert cells_of(_native.encode_text(b"\t\na\t", 0, "\t", [0, 1])) == [["", "a"], ["", ""]]

    @pytest.mark.parametrize("length", range(20))
    def test_cells_of_every_length(self, length):
        cells = ["abcdefghijklmnopqrst"[:length], "t" * length, "abcdefghijklmnopqrst"[: max(0, length - 1)]]
        data = "\n".join(f"{u},{v}" for u in cells for v in cells).encode()
        assert cells_of(_native.encode_text(data, 0, ",", [0, 0])) == [
            [cell for u in cells for v in cells for cell in (u, v)]
        ]

    def test_many_names(self):
        cells = [f"node {i * 7919 % 100_003}" for i in range(100_003)]
        data = "\n".join(f"{cell},{cell}" for cell in cells).encode()
        [(codes, vocabulary)] = _native.encode_text(data, 0, ",", [0, -1])
        assert vocabulary.decode().split("\n") == cells
        np.testing.assert_array_equal(codes, np.arange(100_003))

    def test_halves_of_a_long_text_have_one_vocabulary(self):
        cells = [f"node {i}" for i in np.random.default_rng(0).integers(0, 90_000, 500_000).tolist()]
        data = "\n".join(f"{u},{v}" for u, v in zip(cells[::2], cells[1::2], strict=True)).encode()
        assert len(data) > 1 << 22
        [(codes, vocabulary)] = _native.encode_text(data, 0, ",", [0, 0])
        assert vocabulary.decode().split("\n") == list(dict.fromkeys(cells))
        assert cells_of([(codes, vocabulary)]) == [cells]
        for at in (0, len(data)):
            assert _native.encode_text(data[:at] + b"\none cell\n" + data[at:], 0, ",", [0, 0]) is None

    @pytest.mark.parametrize(
        ("data", "delimiter"),
        [
            (b"a,b\nc\n", ","),
            (b"a,b\nc,d,e\n", ","),
            (b'"a""b",c\n', ","),
            (b'"a\nb",c\n', ","),
            (b'"a"b,c\n', ","),
            (b'"a" ,c\n', ","),
            (b'a,"b', ","),
            (b'a,"', ","),
            (b"a," + b"b" * 100_001, ","),
            ("a\u3000b c\n".encode(), None),
            (b"a b\nc\x1cd\n", None),
            (b"a b c\n", None),
            (b"a \n", None),
        ],
    )
    def test_leaves_what_is_not_plain(self, data, delimiter):
        assert _native.encode_text(data, 0, delimiter, [0, 0]) is None


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


class TestFeatureKernel:
    @pytest.mark.parametrize(
        ("data", "items", "whole"),
        [
            (b'{"7": [3, 10, 3], "8": []}', ["3", "10", "3"], True),
            (b' {"7" :[\n"a" ,"\xc3\xa9"], "8": ["a"]}\r\n', ["a", "é", "a"], False),
            (b'{"7":[-1,0],"8":[]}', ["-1", "0"], True),
        ],
    )
    def test_plain_lists(self, data, items, whole):
        nodes, counts, codes, features, is_whole, values, _ = _native.encode_features(data)
        assert nodes == b"7\n8"
        assert counts.sum() == len(items)
        assert cells_of([(codes, features)]) == [items]
        assert is_whole == whole
        assert not len(values)

    def test_objects(self):
        data = b'{"7": {"a": 2.5, "b\\"c\\\\": 1e3}, "8": null, "9": {}, "10": {"a": 1e3}}'
        nodes, counts, codes, features, _, value_codes, values = _native.encode_features(data)
        assert nodes == b"7\n8\n9\n10"
        assert counts.tolist() == [2, 0, 0, 1]
        assert cells_of([(codes, features), (value_codes, values)]) == [
            ["a", 'b\\"c\\\\', "a"],
            ["2.5", "1e3", "1e3"],
        ]

    @pytest.mark.parametrize(
        "data",
        [
            *("", "{}", "[]", "{", '{"a', '{"a": 1}', "{a: [1]}", '{"a" [1]}', '{"a": [1], "a": [2]}', '{"a": [1]} x'),
            *('{"a": [1]}\0', '{"a": [1]', '{"a": [1', '{"a": [1],}', '{"a": [1,]}', '{"a": [,1]}', '{"a": [1 2]}'),
            *('{"a": [1, "b"]}', '{"a": [1.5]}', '{"a": [1e3]}', '{"a": [01]}', '{"a": [-]}'),
            *(
                '{"a": [true]}',
                '{"a": [null]}',
                '{"a": [[1]]}',
                '{"a": {"b": 1, "b": 2}}',
                '{"a": {"b" 1}}',
                '{"a": {"b": }',
                '{"a": {1: 2}}',
                '{"a": {"b": 1,}}',
                '{"a": ["b\nc"]}',
                '{"a": ["b',
            ),
        ],
    )
    def test_all_else_is_left_to_the_parser(self, data):
        assert feature_json._at_once(data.encode()) is None


@SLOW
@given(data=st.data(), kind=st.sampled_from([*DESCRIBED, st.one_of(DESCRIBED)]))
def test_json_in_bulk_is_json_one_by_one(tmp_path, monkeypatch, data, kind):
    edges, path = tmp_path / "edges.csv", tmp_path / "features.json"
    edges.write_text(data.draw(st.sampled_from(["0,1\n", "ann,bob\n"])))
    nodes = st.sampled_from(["0", "1", "7", *data.draw(st.sampled_from([[], ["ann"]]))])
    path.write_text(json.dumps(data.draw(st.dictionaries(nodes, st.one_of(kind, st.none())))))
    by_kernel = outcome(edges, features=path)
    with monkeypatch.context() as patched:
        patched.setattr(feature_json, "_at_once", lambda _: None)
        assert outcome(edges, features=path) == by_kernel
