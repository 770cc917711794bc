"""Ids that differ in form alone name one node."""

import io

import numpy as np
import pytest

from hopscale.exceptions import GraphError
from hopscale.io import from_edges, read_graph

EDGES = [(1185, 44913), (21103, 1185), (44913, 21103), (7, 1185)]


def same(graph, edges=EDGES):
    expected = from_edges(edges)
    assert graph.node_ids.tolist() == expected.node_ids.tolist()
    np.testing.assert_array_equal(graph.adjacency.toarray(), expected.adjacency.toarray())


@pytest.mark.parametrize("decimals", [".0", ".00"])
def test_floats_on_one_end_of_a_file(decimals):
    lines = [f"{u},{v}{decimals}" for u, v in EDGES]
    same(read_graph(io.BytesIO("\n".join(["payer,payee", *lines]).encode())))


@pytest.mark.parametrize("odd", ["8.5", "8.", "x.0", "08.0", ".0"])
def test_other_names_stay_text(odd):
    graph = read_graph(io.BytesIO(f"from,to\n1,2.0\n2,{odd}\n".encode()))
    assert graph.node_ids.tolist() == ["1", "2.0", "2", odd]


class TestTables:
    @pytest.fixture
    def pd(self):
        pytest.importorskip("pyarrow")
        return pytest.importorskip("pandas")

    @pytest.mark.parametrize("decimals", ["", ".0"])
    def test_numbers_and_text_on_the_two_ends(self, pd, decimals, tmp_path):
        from hopscale.io import from_tables

        table = pd.DataFrame({"from": [u for u, _ in EDGES], "to": [f"{v}{decimals}" for _, v in EDGES]})
        same(from_tables(table))
        same(from_tables(table.rename(columns={"from": "to", "to": "from"})))
        table.to_parquet(tmp_path / "e.parquet")
        same(read_graph(tmp_path / "e.parquet"))

    def test_only_some_text_is_a_number(self, pd):
        from hopscale.io import from_tables

        with pytest.raises(
            GraphError, match="such as 7, and the other text, such as '7' and 'X9': give both columns one"
        ):
            from_tables(pd.DataFrame({"from": [7, 8, 9], "to": ["8000", "7", "X9"]}))

    def test_two_kinds_of_nodes(self, pd):
        from hopscale.io import from_tables

        graph = from_tables(pd.DataFrame({"from": [7, 8, 9], "to": ["tea", "go", "tea"]}))
        assert set(graph.node_ids.tolist()) == {7, 8, 9, "tea", "go"}
