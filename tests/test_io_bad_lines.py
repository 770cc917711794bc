"""Lines that cannot be read: refused with their number, or skipped and listed when asked to."""

import warnings

import pytest

from hopscale.exceptions import FileFormatError, HopscaleWarning
from hopscale.io import from_edges, read_graph

GOOD = ["ann,bob,1", "bob,eve,2", "eve,joe,3", "joe,ann,4"]
EDGES = [("ann", "bob"), ("bob", "eve"), ("eve", "joe"), ("joe", "ann")]
BAD = {
    "too few cells": (b"zoe", "1 column(s) instead of 3"),
    "too many cells": (b"zoe,max,1,2", "4 column(s) instead of 3"),
    "an empty node": (b"zoe,,1", "column 2 is empty"),
    "both nodes empty": (b",,1", "column 1 is empty"),
    "an empty weight": (b"zoe,max,", "the weight is ''"),
    "a weight in words": (b"zoe,max,many", "the weight is 'many'"),
    "a negative weight": (b"zoe,max,-2", "the weight is -2"),
    "NaN": (b"zoe,max,nan", "the weight is nan"),
    "Latin-1": (b"zo\xe9,max,1", "UTF-8"),
    "half a character": (b"zo\xc3,max,1", "UTF-8"),
    "a NUL byte": (b"zo\0e,max,1", "a NUL byte"),
    "an open quote": (b'"zoe,max,1', "quote"),
    "a quote in the middle": (b'zoe,"max"imum,1', "expected after"),
    "the header": (b"source,target,weight", "the header again"),
}


@pytest.fixture
def edge_file(tmp_path):
    def write(*lines):
        path = tmp_path / "e.csv"
        path.write_bytes(b"\n".join(line if isinstance(line, bytes) else line.encode() for line in lines) + b"\n")
        return path

    return write


def same(graph, edges=EDGES, weights=(1, 2, 3, 4)):
    expected = from_edges(edges, weights=list(weights))
    assert graph.node_ids.tolist() == expected.node_ids.tolist()
    assert graph.adjacency.toarray().tolist() == expected.adjacency.toarray().tolist()


@pytest.mark.parametrize("header", [[], ["source,target,weight"]])
@pytest.mark.parametrize("what", BAD)
class TestEdges:
    def test_refused_by_default_with_the_line(self, edge_file, what, header):
        line, why = BAD[what]
        path = edge_file(*header, *GOOD[:2], line, *GOOD[2:])
        with pytest.raises(FileFormatError) as caught:
            read_graph(path)
        assert str(caught.value).startswith(f"{path}, line {len(header) + 3}: ")
        if header or what != "the header":
            assert why in str(caught.value)

    @pytest.mark.parametrize("at", [1, 2, 4])
    def test_skipped_and_listed(self, edge_file, what, header, at):
        line, why = BAD[what]
        path = edge_file(*header, *GOOD[:at], line, *GOOD[at:])
        with pytest.warns(HopscaleWarning) as caught:
            same(read_graph(path, skip_bad_lines=True))
        (message,) = (str(w.message) for w in caught)
        assert f"e.csv: 1 bad line(s) skipped, 4 row(s) read: line {len(header) + at + 1} (" in message
        if header or what != "the header":
            assert why in message
        assert caught[0].filename == __file__


class TestMany:
    def test_the_first_ten_are_listed(self, edge_file):
        bad = [f"node {number}" for number in range(25)]
        path = edge_file(*(line for pair in zip(GOOD * 7, [*bad, *GOOD[:3]], strict=True) for line in pair))
        with pytest.warns(
            HopscaleWarning, match=r"25 bad line\(s\) skipped, 31 row\(s\) read: line 2 \(.*line 20 \(.*more"
        ) as w:
            graph = read_graph(path, skip_bad_lines=True)
        assert graph.n_edges == 4
        assert str(w[0].message).count("(1 column(s)") == 10
        assert str(w[0].message).endswith("and 15 more")

    def test_open_quotes_do_not_hide_the_lines_behind_them(self, edge_file):
        path = edge_file(GOOD[0], '"zoe,max,1', GOOD[1], 'max,"zoe,1', GOOD[2], GOOD[3])
        with pytest.warns(HopscaleWarning, match=r"2 bad line\(s\) skipped, 4 row\(s\) read: line 2 .*line 4 "):
            same(read_graph(path, skip_bad_lines=True))

    def test_cells_of_two_lines_are_no_mistake(self, edge_file):
        path = edge_file('"ann\nlee",bob,1', "zoe", 'bob,"eve",2')
        with pytest.warns(HopscaleWarning, match=r"1 bad line\(s\) skipped, 2 row\(s\) read: line 3"):
            graph = read_graph(path, skip_bad_lines=True)
        assert graph.node_ids.tolist() == ["ann\nlee", "bob", "eve"]

    def test_lines_are_counted_right_after_odd_ones(self, edge_file):
        for odd in ('""', "", " ", '"a ""b""\nc",d,1', '5" x,6" x,1'):
            path = edge_file(GOOD[0], odd, GOOD[1], "bob,,1", GOOD[2])
            line = 4 + odd.count("\n")
            with pytest.raises(FileFormatError, match=rf"e\.csv, line {line}: column 2 is empty"):
                read_graph(path)

    def test_signs_of_inches_are_no_quotes(self, edge_file):
        path = edge_file('5" pipe,6" pipe,1', "zoe", '6" pipe,7,2', '7,"8 ""inch""",3')
        with pytest.warns(HopscaleWarning, match=r"1 bad line\(s\) skipped, 3 row\(s\) read: line 2 "):
            graph = read_graph(path, skip_bad_lines=True)
        assert graph.node_ids.tolist() == ['5" pipe', '6" pipe', "7", '8 "inch"']

        path = edge_file("ann,bob", 'x"y,z"a,b', "bob,eve")  # three cells, whatever the quotes seem to hold
        with pytest.warns(HopscaleWarning, match=r"1 bad line\(s\) skipped, 2 row\(s\) read: line 2 \(3 column"):
            assert read_graph(path, skip_bad_lines=True).n_edges == 2

    def test_a_bad_first_line(self, edge_file):
        path = edge_file("made by hand", *GOOD)
        with pytest.warns(HopscaleWarning, match=r"1 bad line\(s\) skipped, 4 row\(s\) read: line 1 "):
            same(read_graph(path, skip_bad_lines=True, header=False))

    def test_nothing_but_bad_lines(self, edge_file):
        with pytest.raises(FileFormatError, match=r"e\.csv has no good line: line 1: the weight is 'x'"):
            read_graph(edge_file("ann,bob,x", "bob,eve,y"), weight="3", header=False, skip_bad_lines=True)

    def test_a_sound_file_is_read_without_a_word(self, edge_file):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            same(read_graph(edge_file(*GOOD), skip_bad_lines=True))

    def test_a_million_lines_take_no_longer_for_each_bad_one(self, edge_file):
        lines = [f"{at},{at + 1},1" for at in range(20_000)]
        for at in range(0, 20_000, 10):
            lines[at] = f'"{at},1'
        with pytest.warns(HopscaleWarning, match=r"2000 bad line\(s\) skipped, 18000 row"):
            assert read_graph(edge_file(*lines), skip_bad_lines=True).n_edges == 18_000

    def test_blanks_divide(self, tmp_path):
        path = tmp_path / "e.txt"
        path.write_bytes(b"# made by hand\n0 1\n1 2 3\n1\n\xff 2\n1 2\n")
        with pytest.warns(
            HopscaleWarning, match=r"3 bad line\(s\) skipped, 2 row\(s\) read: line 3 .*line 4 .*line 5 "
        ):
            assert read_graph(path, skip_bad_lines=True).n_edges == 2


class TestOtherFiles:
    def test_features(self, tmp_path, edge_file):
        edges, path = edge_file("0,1", "1,2"), tmp_path / "f.csv"
        path.write_text("node,feature,value\n0,tea,1\n1,tea\n1,,2\nann,tea,1\n1,go,x\n2,go,3\n")
        with pytest.raises(FileFormatError, match=r"f\.csv, line 3"):
            read_graph(edges, path)
        with pytest.warns(HopscaleWarning, match=r"f\.csv: 4 bad line\(s\) skipped, 2 row\(s\) read") as caught:
            graph = read_graph(edges, path, skip_bad_lines=True)
        assert "line 5 (node 'ann' is not a whole number" in str(caught[0].message)
        assert graph.node_ids.tolist() == [0, 1, 2]
        assert graph.features.toarray().tolist() == [[1, 0], [0, 0], [0, 3]]

    def test_labels(self, tmp_path, edge_file):
        edges, path = edge_file("0,1", "1,2"), tmp_path / "l.csv"
        path.write_bytes(b"id,kind\n0,x\n1\n,y\n2,\xff\n2,z\n")
        with pytest.warns(HopscaleWarning, match=r"l\.csv: 3 bad line\(s\) skipped, 2 row\(s\) read: line 3 "):
            graph = read_graph(edges, labels=path, skip_bad_lines=True)
        assert graph.labels.tolist() == ["x", None, "z"]
