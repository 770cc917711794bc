"""Weights as people and programs write them, and files of which most lines are bad."""

import io
import warnings

import numpy as np
import pytest
from click.testing import CliRunner

from hopscale.cli.commands import hopscale as main
from hopscale.exceptions import FileFormatError, HopscaleWarning
from hopscale.io import from_edges, from_tables, read_graph

EDGES = [("ann", "bob"), ("bob", "eve"), ("eve", "joe"), ("joe", "zoe")]
AMOUNTS = [2180.25, 4276.3, 12.5, 1234567.0]
WRITTEN = {
    "thousands": ["2,180.25", "4,276.30", "12.5", "1,234,567"],
    "decimal": ["2.180,25", "4.276,30", "12,5", "1.234.567"],
    "plain": ["2180.25", "4276.30", "12.5", "1234567"],
}


def text(amounts, header="payer;payee;amount", more=""):
    lines = [f"{u};{v};{amount}{more}" for (u, v), amount in zip(EDGES, amounts, strict=True)]
    return "\n".join([header, *lines])


def read(content, **settings):
    return read_graph(io.BytesIO(content.encode()), **settings)


def same(graph, weights=None):
    expected = from_edges(EDGES, weights=weights)
    assert graph.node_ids.tolist() == expected.node_ids.tolist()
    np.testing.assert_allclose(graph.adjacency.toarray(), expected.adjacency.toarray())


@pytest.mark.parametrize("written", WRITTEN)
@pytest.mark.parametrize("more", ["", ";EUR"])
@pytest.mark.parametrize("quoted", [False, True])
def test_thousands_and_decimal_commas(written, more, quoted):
    lines = []
    amounts = [f'"{amount}"' for amount in WRITTEN[written]] if quoted else WRITTEN[written]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        graph = read(text(amounts, "payer;payee;amount" + (";ccy" if more else ""), more), say=lines.append)
    same(graph, AMOUNTS)
    assert {"thousands": "commas separate thousands", "decimal": "decimal commas"}.get(written, "") in lines[0]


def test_two_ways_at_once_are_refused_with_the_line():
    with pytest.raises(FileFormatError, match=r"line 2: the weight is '2,180.25', which is not a number"):
        read(text(["2,180.25", "4.276,30", "7", "8"]))


def test_one_line_in_another_way_is_bad():
    content = "\n".join(["payer;payee;amount", *(f"a{at};b{at};{at},180.25" for at in range(1, 30)), "x;y;many"])
    with pytest.raises(FileFormatError, match=r"line 31: the weight is 'many', while in other lines commas separate"):
        read(content)


def test_an_amount_that_is_no_number_is_told():
    with pytest.warns(
        HopscaleWarning, match="'amount' is passed over: by its name it holds weights, .* such as 'much'"
    ):
        same(read(text(["much", "more", "less", "much"], "payer;payee;amount;ccy", ";EUR")))


class TestWithoutWeights:
    def test_in_python(self):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            same(read(text([1, 2, 3, 4]), weight=False))

    def test_of_a_table(self):
        pd = pytest.importorskip("pandas")
        same(from_tables(pd.DataFrame(EDGES, columns=["from", "to"]).assign(weight=[1, 2, 3, 4]), weight=False))

    def test_on_the_command_line(self, tmp_path):
        path = tmp_path / "e.csv"
        path.write_text(text([1, 2, 3, 4]))
        shown = CliRunner().invoke(main, ["info", "--edges", str(path), "--no-weight"])
        assert shown.exit_code == 0
        assert "no weights" in shown.output
        shown = CliRunner().invoke(main, ["info", "--edges", str(path), "--no-weight", "--weight", "amount"])
        assert shown.exit_code == 2
        assert "give either --weight or --no-weight" in shown.output


def test_most_lines_of_a_file_are_not_skipped():
    lines = [f"a{at},b{at},{'?' if at % 3 else at}" for at in range(60)]
    with pytest.raises(
        FileFormatError, match="40 of 60 lines are bad, too many to skip; 40 of them as line 3: the weig"
    ):
        read("\n".join(["source,target,weight", *lines]), skip_bad_lines=True)
