"""Files that are no lists of edges, and first lines that may be an edge."""

import io
import warnings

import pytest

from hopscale.exceptions import FileFormatError, HopscaleWarning
from hopscale.io import read_graph


def read(content, **settings):
    return read_graph(io.BytesIO(content.encode()), **settings)


@pytest.mark.parametrize(
    "lines",
    [
        ["ann,bob|eve|joe", "bob,eve|joe", "joe,ann|bob", "kim,ann"],
        ["ann,bob|eve|joe", "bob,max|sue", "joe,tom|pat", "kim,lee"],  # whose items are in no other line
        ['ann,"[""bob"", ""eve""]"', 'bob,"[""eve""]"'],
        ['ann,"bob, eve, joe"', 'bob,"eve, joe"', 'joe,"ann, bob"'],
        ["bob;eve,ann", "eve;joe,bob", "ann;bob,joe"],
    ],
)
@pytest.mark.parametrize("header", [["user,follows"], []])
def test_lists_of_neighbours_are_refused(lines, header):
    with pytest.raises(FileFormatError, match=r"holds lists of nodes, such as .*one edge a line, or .* from_edges"):
        read("\n".join([*header, *lines]), header=bool(header))


@pytest.mark.parametrize(
    "lines",
    [
        ['"Lee, Ann","Ray, Bob"', '"Ray, Bob","Joy, Eve"'],
        ["gene|7,gene|8", "gene|8,gene|9"],
        ["ann,bob|eve", "bob,eve", "eve,joe"],
    ],
)
def test_names_with_such_signs_are_names(lines):
    assert read("\n".join(["from,to", *lines]), header=True).n_edges == len(lines)


@pytest.mark.parametrize("corner", ["", "node"])
def test_a_matrix_is_refused(corner):
    with pytest.raises(FileFormatError, match="is a matrix, with a line and a column for every node"):
        read(f"{corner},a,b,c\na,0,1,1\nb,1,0,0\nc,1,0,0\n")


class TestFirstLineOverNumbers:
    LINES = "33,63\n2,17\n17,33\n63,2\n"

    @pytest.mark.parametrize("first", ["A17,B22", "A1,B2", "zoe,max"])
    def test_words_that_name_no_columns(self, first):
        with pytest.warns(HopscaleWarning, match="is taken for the names of the columns, .* give header=False"):
            assert read(f"{first}\n{self.LINES}").n_edges == 4

    @pytest.mark.parametrize("first", ["from,to", "user,page", "a,b", "id1,id2", "node_1,node_2"])
    def test_words_that_name_columns(self, first):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert read(f"{first}\n{self.LINES}").n_edges == 4
            assert read(f"A17,B22\n{self.LINES}", header=True).n_edges == 4
