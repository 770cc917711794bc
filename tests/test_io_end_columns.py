"""Which columns become the nodes where several could: by their names, and by what their first cells hold."""

import io
import warnings

import numpy as np
import pytest

from hopscale.exceptions import HopscaleWarning
from hopscale.io import read_graph

pd = pytest.importorskip("pandas")
from hopscale.io import from_tables  # noqa: E402

# Columns: n and m hold the nodes, i numbers the rows, d dates, p ports, c categories, a amounts.
HEADERS = [
    ("source_type,source_id,target_type,target_id", "cncm"),
    ("source_name,source,target_name,target", "cncm"),
    ("payer_country,payer,payee_country,payee", "cncm"),
    ("src_port,src,dst_port,dst", "pnpm"),
    ("start_time,end_time,caller,receiver", "ddnm"),
    ("start_time,end_time,hunter,hunted", "ddnm"),
    ("from_date,to_date,tenant,landlord", "ddnm"),
    ("start,end,person_1,person_2", "ddnm"),
    ("start,end,person_1,person_2", "ttnm"),
    ("row_no,created_at,Following User Handle,Followed User Handle", "idnm"),
    ("lfd_nr,kunde,lieferant,betrag", "inma"),
    ("fecha,emisor,receptor,importe", "dnma"),
    ("day,hunter,hunted,price", "dnma"),
    ("follower_count,name,follows", "anm"),
    ("row,hunter,hunted", "inm"),
    ("n_x,hunter,hunted", "inm"),
    (",hunter,hunted", "inm"),
]


def tabled(header, kinds, ids, rows=60):
    """A table of random edges, and its edges."""
    random = np.random.default_rng(0)
    ends = random.integers(1000, 1030, size=(rows, 2))
    names = [[str(end) if ids == "numbers" else f"user {end}" for end in row] for row in ends]
    cells = {
        "n": lambda row: names[row][0],
        "m": lambda row: names[row][1],
        "i": lambda row: str(row + 1),
        "d": lambda row: f"2023-0{1 + row % 9}-1{row % 7} 10:00:00",
        "t": lambda row: str(1_600_000_000 + 977 * row),
        "p": lambda row: str(row % 5),
        "c": lambda row: ["red", "blue", "green"][row % 3],
        "a": lambda row: str(1 + row % 9),
    }
    lines = [",".join(cells[kind](row) for kind in kinds) for row in range(rows)]
    return "\n".join([header, *lines]) + "\n", names


def expected(names):
    return {frozenset(row) for row in names if row[0] != row[1]}


def edges_of(graph):
    rows, columns = graph.adjacency.nonzero()
    return {frozenset(map(str, graph.node_ids[[u, v]])) for u, v in zip(rows, columns, strict=True)}


@pytest.mark.parametrize("ids", ["names", "numbers"])
@pytest.mark.parametrize(("header", "kinds"), HEADERS)
@pytest.mark.filterwarnings("ignore:.*is passed over")
def test_the_columns_that_hold_nodes(header, kinds, ids):
    text, names = tabled(header, kinds, ids)
    assert edges_of(read_graph(io.BytesIO(text.encode()))) == expected(names)
    assert edges_of(from_tables(pd.read_csv(io.StringIO(text)))) == expected(names)


def both(text):
    """What a file and a table are read as, with the warnings of each."""
    for read in (lambda: read_graph(io.BytesIO(text.encode())), lambda: from_tables(pd.read_csv(io.StringIO(text)))):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            yield read(), [str(one.message) for one in caught if issubclass(one.category, HopscaleWarning)]


def test_columns_with_names_in_common_before_the_first_two():
    text, names = tabled("colour,hunter,hunted", "cnm", "names")
    for graph, caught in both(text):
        assert edges_of(graph) == expected(names)
        assert any("'hunter' and 'hunted' are taken for the nodes, as they have names in common" in a for a in caught)
        assert any("give source and target" in a for a in caught)


def test_the_first_two_of_several_with_a_warning():
    text, names = tabled("hunter,hunted,colour", "nmc", "names")
    for graph, caught in both(text):
        assert edges_of(graph) == expected(names)
        assert any("'hunter' and 'hunted' are taken for the nodes, as no names of columns say" in a for a in caught)


def test_other_numbers_in_common_do_not_matter():
    lines = [f"user {row % 20},film {row % 17},{row % 5},{row % 4}" for row in range(60)]
    for graph, _ in both("\n".join(["viewer,film,laughs,tears", *lines])):
        assert {"user 3", "film 3"} <= set(graph.node_ids.tolist())


def test_the_first_column_of_a_path_counts_up_as_well():
    lines = [f"{row},{row + 1},{1 + row % 3}" for row in range(60)]
    for graph, _ in both("\n".join(["station,further,colour", *lines])):
        assert graph.n_edges == 60
    assert read_graph(io.BytesIO("\n".join(lines).encode())).n_edges == 60


class TestSuggestedWeight:
    @pytest.mark.parametrize(
        ("header", "kinds", "suggested"),
        [
            ("row,from,to,year,trips", "inmia", "trips"),
            ("from,to,trips,total price", "nmaa", "total price"),
            ("payment id,from,to,year", "inmi", None),
            ("from,to,user_1,user_2", "nmpp", None),
        ],
    )
    def test_is_no_id_and_no_node(self, header, kinds, suggested):
        text, _ = tabled(header, kinds, "names")
        for _, caught in both(text):
            found = [message for message in caught if "is passed over" in message]
            assert len(found) == (suggested is not None)
            assert all(f"give weight={suggested!r}" in message for message in found)
