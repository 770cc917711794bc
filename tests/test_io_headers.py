"""First lines of files: headers are read as headers, data as data, and where neither is certain the user is asked."""

import random
import warnings

import numpy as np
import pytest

from hopscale.exceptions import FileFormatError, HopscaleWarning, ParameterError
from hopscale.io import from_edges, read_graph

HEADERS = [
    "follower,followee", "user_a,user_b", "u,v", "head,tail", "author1,author2", "citing,cited", "Person A,Person B",
    "page,links_to", "from_user,to_user", "sender,receiver", "parent,child", "i,j", "subject,object", "buyer,seller",
    "follower_id,followed_id", "protein1,protein2,combined_score", "src_ip,dst_ip,bytes", "paper,cites",
    "origin,destination,flights", "node_1,node_2", "gene_a,gene_b", "actor,movie", "FromNodeId,ToNodeId",
    "Source,Target", "id_1,id_2", "srcId,dstId", "who,whom", "lender,borrower", "user,friend", "customer,product",
    "caller,callee", "SOURCE,TARGET,WEIGHT", "Node1,Node2", "member,group", "x,y", "user_id,item_id,rating",
    "Sender Name,Recipient Name", "from,to,timestamp", "employer,employee", "company,director",
]  # fmt: skip
PEOPLE = ["ann", "bob", "eve", "joe", "max", "zoe", "kim", "lee", "sam", "pat", "ray", "jan"]
WORDS = ["tea", "user", "friend", "page", "movie", "head", "node", "chess", "source", "music", "paper", "tag"]
IDS = {
    "names": PEOPLE,
    "full names": [f"{name.title()} {other.title()}" for name, other in zip(PEOPLE, reversed(PEOPLE), strict=True)],
    "handles": [f"{name}_{number * 37 % 101}" for number, name in enumerate(PEOPLE)],
    "codes": [f"P{number * 7919 % 100_003:05}" for number in range(1, 13)],
    "addresses": [f"10.0.{number}.{number * 37 % 256}" for number in range(12)],
    "numbers": [str(number * 37 % 101) for number in range(12)],
    "from 0": list(map(str, range(12))),
}


def edges_of(ids, count=14, seed=0):
    """Edges of a connected graph, the first of them one that its nodes do not only have."""
    rng = random.Random(seed)
    tree = [(ids[rng.randrange(at)], ids[at]) for at in range(1, len(ids))]
    return tree + [tuple(rng.sample(ids, 2)) for _ in range(count - len(tree))]


def numbered(edges):
    return (
        [tuple(map(int, edge)) for edge in edges] if all(name.isdecimal() for edge in edges for name in edge) else edges
    )


def written(path, edges, header=None, extra=(), sign=","):
    """Write edges with other cells behind them."""
    cells = [list(edge) + [str(make(row)) for make in extra] for row, edge in enumerate(edges)]
    lines = [sign.join(row) for row in cells]
    path.write_text("\n".join([*([header] if header else []), *lines]) + "\n")
    return path


def same(graph, edges, **settings):
    expected = from_edges(numbered(edges), **settings)
    assert set(graph.node_ids.tolist()) == set(expected.node_ids.tolist())
    order = [expected.node_ids.tolist().index(name) for name in graph.node_ids.tolist()]
    np.testing.assert_allclose(graph.adjacency.toarray(), expected.adjacency.toarray()[np.ix_(order, order)])


@pytest.mark.filterwarnings("ignore::hopscale.exceptions.HopscaleWarning")
@pytest.mark.parametrize("ids", IDS)
@pytest.mark.parametrize("header", HEADERS)
class TestOrdinaryHeaders:
    def test_are_read_as_headers(self, tmp_path, header, ids):
        edges, names = edges_of(IDS[ids]), header.split(",")
        amounts = [row % 5 + 0.5 for row in range(len(edges))]
        heard = []
        path = written(tmp_path / "e.csv", edges, header, [amounts.__getitem__] * (len(names) - 2))
        graph = read_graph(path, say=heard.append)
        is_weighted = names[-1].lower() in ("weight", "combined_score")
        same(graph, edges, weights=amounts if is_weighted else None)
        assert f"nodes are {names[0]!r} and {names[1]!r}" in heard[0]
        assert (f"weights are {names[-1]!r}" in heard[0]) == is_weighted

    def test_in_a_file_of_three_lines(self, tmp_path, header, ids):
        edges = edges_of(IDS[ids])[:2]
        extra = [lambda row: row + 0.5] * (header.count(",") - 1)
        graph = read_graph(written(tmp_path / "e.csv", edges, header, extra))
        assert set(map(str, graph.node_ids.tolist())) == {name for edge in edges for name in edge}


@pytest.mark.filterwarnings("ignore::hopscale.exceptions.HopscaleWarning")
@pytest.mark.parametrize("ids", IDS)
@pytest.mark.parametrize("header", [header for header in HEADERS if header.count(",") == 1])
def test_ordinary_headers_with_further_columns(tmp_path, header, ids):
    edges = edges_of(IDS[ids])
    dates = [lambda row: f"2021-03-{row + 1:02}", lambda row: ("kept", "lost")[row % 2]]
    heard = []
    path = written(tmp_path / "e.csv", edges, f"{header},date,status", dates)
    same(read_graph(path, say=heard.append), edges)
    assert "passed over: 'date', 'status'" in heard[0]


FIRST_LINES = {
    "path": [(0, 1), (1, 2), (2, 3), (3, 4)],
    "star from a leaf": [(1, 0), (2, 0), (3, 0), (4, 0)],
    "star from the hub": [(0, 1), (0, 2), (0, 3), (0, 4)],
    "tree": [(1, 0), (2, 0), (3, 1), (4, 1), (5, 2), (6, 2)],
    "one edge": [(0, 1)],
    "two edges": [(0, 1), (1, 2)],
    "two edges apart": [(0, 1), (2, 3)],
    "pairs": [(0, 1), (2, 3), (4, 5), (6, 7), (8, 9)],
    "a pair, then a path": [(0, 1), *((at, at + 1) for at in range(2, 11))],
    "a pair, then a star": [(0, 1), *((2, at) for at in range(3, 12))],
    "the first twice": [(0, 1), (0, 1), (2, 3), (3, 4)],
}


def outcome(path, **settings):
    """A graph, or what was asked; and whether there was a warning that a line may have been lost."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            graph = read_graph(path, **settings)
        except FileFormatError as error:
            return None, str(error), False
    return graph, None, any("header=False" in str(w.message) for w in caught)


@pytest.mark.parametrize("ids", [*IDS, "words", "letters"])
@pytest.mark.parametrize("shape", FIRST_LINES)
def test_no_edge_is_lost_in_silence(tmp_path, shape, ids):
    names = (IDS | {"words": WORDS, "letters": list("abcdefghijkl")})[ids]
    edges = [(names[u], names[v]) for u, v in FIRST_LINES[shape]]
    path = written(tmp_path / "e.csv", edges)
    graph, asked, is_warned = outcome(path)
    if asked:
        assert "header=True" in asked
        assert "header=False" in asked
        assert any(word in shape for word in ("pair", "apart", "twice"))
    elif not is_warned:
        same(graph, edges)
    same(read_graph(path, header=False), edges)


class TestNamesOfNoKnownColumn:
    """Whether "lhs" or "zoe" names a column only the other lines can tell."""

    def test_a_long_file_that_never_repeats_them(self, tmp_path):
        edges = edges_of([f"{name} {other}" for name in PEOPLE for other in PEOPLE], 1000)
        path = written(tmp_path / "e.csv", edges, "lhs,rhs")
        with pytest.warns(
            HopscaleWarning, match=r"e\.csv: the first line, 'lhs' and 'rhs', is taken for.*header=False"
        ) as w:
            same(read_graph(path), edges)
        assert w[0].filename == __file__

    def test_a_short_file_that_never_repeats_them(self, tmp_path):
        path = written(tmp_path / "e.csv", edges_of(PEOPLE)[:3], "lhs,rhs")
        _, asked, _ = outcome(path)
        assert "e.csv: does the first line, 'lhs' and 'rhs', name the columns?" in asked

    def test_one_that_is_repeated_is_a_node(self, tmp_path):
        edges = [("lhs", "rhs"), *edges_of(PEOPLE), ("rhs", "ann")]
        same(read_graph(written(tmp_path / "e.csv", edges)), edges)

    def test_ids_with_digits_show_that_names_without_are_none(self, tmp_path):
        edges = edges_of(IDS["handles"])
        same(outcome(written(tmp_path / "e.csv", edges, "lhs,rhs"))[0], edges)


class TestFilesInOne:
    """Files that were put behind each other have their header in the middle."""

    @pytest.mark.parametrize("header", ["follower,followee", "user,page", "id_1,id_2", "source,target,weight"])
    @pytest.mark.parametrize("ids", ["names", "numbers"])
    def test_a_header_in_the_middle(self, tmp_path, header, ids):
        edges, extra = edges_of(IDS[ids]), [lambda row: 1] * (header.count(",") - 1)
        path = written(tmp_path / "e.csv", edges, header, extra)
        path.write_text(path.read_text() * 2)
        _, refused, _ = outcome(path)
        assert f"e.csv, line {len(edges) + 2}: the header again" in refused
        with pytest.warns(HopscaleWarning, match=rf"1 bad line\(s\) skipped.*line {len(edges) + 2} \(the header again"):
            graph = read_graph(path, skip_bad_lines=True)
        same(graph, edges * 2, weights=[1] * 2 * len(edges) if extra else None)

    def test_a_node_that_is_called_like_a_column(self, tmp_path):
        edges = [*edges_of(PEOPLE), ("source", "ann")]
        path = written(tmp_path / "e.csv", edges, "source,target")
        with pytest.warns(HopscaleWarning, match="other lines have one of them"):
            same(read_graph(path), edges)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            same(read_graph(path, header=True), edges)


class TestHeaderOfEachFile:
    def test_one_answer_a_file(self, tmp_path):
        edges = written(tmp_path / "e.csv", [("zoe", "max"), ("ann", "bob"), ("bob", "eve")])
        features = written(tmp_path / "f.csv", [("user", "tag"), ("ann", "tea"), ("bob", "tea")])
        labels = written(tmp_path / "l.csv", [("zoe", "x"), ("ann", "y")])
        graph = read_graph(
            edges, features, labels, header={"edges": True, "features": True, "labels": False}, unknown="isolate"
        )
        assert graph.node_ids.tolist() == ["ann", "bob", "eve"]
        assert graph.feature_names.tolist() == ["tea"]
        graph = read_graph(edges, features, labels, header={"edges": False, "features": True, "labels": False})
        assert graph.labels.tolist() == ["x", None, "y", None, None]

    def test_unknown_file(self, tmp_path):
        with pytest.raises(ParameterError, match="header names 'edge', but files are edges, features, labels, nodes"):
            read_graph(written(tmp_path / "e.csv", [("0", "1")]), header={"edge": True})


class TestOtherFiles:
    EDGES = edges_of(PEOPLE)

    @pytest.mark.parametrize("header", ["user,tag", "person,interest", "node,feature", "id,skill", "member,hobby"])
    def test_headers_of_features(self, tmp_path, header):
        edges = written(tmp_path / "e.csv", self.EDGES)
        features = written(tmp_path / "f.csv", [(name, "tea") for name in PEOPLE], header)
        graph, _, _ = outcome(edges, features=features)
        assert graph.feature_names.tolist() == ["tea"]
        assert graph.n_nodes == len(PEOPLE)

    @pytest.mark.parametrize("header", ["user,community", "person,class", "name,department", "id,label"])
    def test_headers_of_labels(self, tmp_path, header):
        edges = written(tmp_path / "e.csv", self.EDGES)
        labels = written(tmp_path / "l.csv", [(name, "xy"[row % 2]) for row, name in enumerate(PEOPLE)], header)
        graph, _, _ = outcome(edges, labels=labels)
        assert set(graph.labels.tolist()) == {"x", "y"}

    def test_a_first_line_about_a_node_of_the_edges_is_data(self, tmp_path):
        edges = written(tmp_path / "e.csv", self.EDGES)
        features = written(tmp_path / "f.csv", [("ann", "tag"), ("bob", "tea"), ("bob", "go")])
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert read_graph(edges, features).feature_names.tolist() == ["tag", "tea", "go"]
