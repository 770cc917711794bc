"""Which columns of an edge file hold the nodes and the weights, and what is said about it."""

import io
import warnings

import numpy as np
import pytest

from hopscale.exceptions import FileFormatError, HopscaleWarning
from hopscale.io import from_edges, read_graph

EDGES = [("ann", "bob"), ("bob", "eve"), ("eve", "joe"), ("joe", "ann"), ("ann", "eve")]
AMOUNTS = [1, 2.5, 3, 4, 0.5]


def table(tmp_path, header, sign=","):
    """A file with the columns of a header; nodes stand under u and v, amounts under w, and notes elsewhere."""
    names = header.split(sign)
    lines = [] if names[0][0].isdigit() else [header.replace("=u", "").replace("=v", "").replace("=w", "")]
    for (u, v), w in zip(EDGES, AMOUNTS, strict=True):
        cells = {"=u": u, "=v": v, "=w": str(w)}
        lines.append(
            sign.join(
                next((cell for mark, cell in cells.items() if name.endswith(mark)), "2021-05-01") for name in names
            )
        )
    path = tmp_path / "e.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def same(graph, weights=None):
    expected = from_edges(EDGES, weights=weights)
    assert sorted(graph.node_ids.tolist()) == sorted(expected.node_ids.tolist())
    order = [expected.node_ids.tolist().index(name) for name in graph.node_ids.tolist()]
    np.testing.assert_allclose(graph.adjacency.toarray(), expected.adjacency.toarray()[np.ix_(order, order)])


def heard(path, **settings):
    """A graph and what was said of it, where nothing is in doubt."""
    lines = []
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return read_graph(path, say=lines.append, **settings), lines


class TestByTheirNames:
    @pytest.mark.parametrize(
        "header",
        [
            "date,amount=w,from=u,to=v",
            "from=u,date,to=v,amount=w",
            "weight=w,source=u,target=v",
            "to=v,from=u,note,count=w",
            "id,Sender=u,Receiver=v,Total Amount=w,currency",
            "src_ip=u,src_port,dst_ip=v,dst_port,score=w",
        ],
    )
    def test_wherever_they_stand(self, tmp_path, header):
        graph, [line] = heard(table(tmp_path, header))
        same(graph, AMOUNTS)
        names = {name[-1]: name[:-2] for name in header.split(",") if "=" in name}
        assert f"{names['u']!r}" in line
        assert f"weights are {names['w']!r}" in line
        for name in header.split(","):
            assert ("=" in name) != (f"{name!r}" in line.partition("passed over: ")[2])

    def test_the_first_two_if_names_do_not_say(self, tmp_path):
        graph, [line] = heard(table(tmp_path, "actor=u,film=v,released,studio"))
        same(graph)
        assert line.endswith("nodes are 'actor' and 'film'; no weights; passed over: 'released', 'studio'")

    def test_numbers_that_may_be_weights(self, tmp_path):
        with pytest.warns(HopscaleWarning, match=r"e\.csv: 'flights' is passed over; .* give weight='flights'"):
            same(read_graph(table(tmp_path, "origin=u,destination=v,flights=w")))
        same(heard(table(tmp_path, "origin=u,destination=v,flights=w"), weight="flights")[0], AMOUNTS)


class TestAsTold:
    def test_by_name(self, tmp_path):
        path = table(tmp_path, "day,payer=u,shop,payee=v,fee=w")
        same(heard(path, source="payer", target="payee", weight="fee")[0], AMOUNTS)
        same(heard(path, source="payee", target="payer", weight="fee")[0], AMOUNTS)

    def test_one_of_them(self, tmp_path):
        path = table(tmp_path, "person=u,day,liked=v")
        same(heard(path, target="liked")[0])

    def test_by_number_where_there_is_no_header(self, tmp_path):
        path = table(tmp_path, "1,2=u,3=v,4=w")
        graph, [line] = heard(path, source="2", target="3", weight="4")
        same(graph, AMOUNTS)
        assert line.endswith("no header; nodes are column 2 and column 3; weights are column 4; passed over: column 1")

    def test_four_columns_without_a_header(self, tmp_path):
        path = table(tmp_path, "1=u,2=v,3=w,4")
        with pytest.warns(HopscaleWarning, match=r"column 3 is passed over; .* give weight='3'"):
            same(read_graph(path))

    @pytest.mark.parametrize(
        ("settings", "why"),
        [
            ({"source": "sender"}, "no column 'sender'; its columns are"),
            ({"source": "from", "target": "from"}, "'from' cannot be both ends"),
            ({"weight": "9"}, "no column '9'"),
            ({"target": "0"}, "no column '0'"),
        ],
    )
    def test_mistakes(self, tmp_path, settings, why):
        with pytest.raises(FileFormatError) as caught:
            read_graph(table(tmp_path, "from=u,to=v"), **settings)
        assert why in str(caught.value)

    def test_a_name_that_two_columns_have(self, tmp_path):
        path = tmp_path / "e.csv"
        path.write_text("a,a,b\nann,bob,eve\n")
        with pytest.raises(FileFormatError, match="several columns 'a'"):
            read_graph(path, source="a", target="b")


class TestTimes:
    @pytest.mark.parametrize("times", [(1082040961, 1082155839), (1082040961000, 1082155839000), (20040415, 20211231)])
    def test_are_no_weights(self, tmp_path, times):
        path = tmp_path / "e.txt"
        path.write_text("".join(f"{at} {at + 1} {time}\n" for at, time in enumerate(times)))
        with pytest.warns(HopscaleWarning, match=r"e\.txt: column 3 is passed over; .* give weight='3'"):
            assert not read_graph(path).is_weighted
        assert read_graph(path, weight="3").is_weighted


class TestDelimiters:
    @pytest.mark.parametrize(
        "content",
        [
            "ann;bob;0,5\nbob;eve;1,5\n",
            '"Lee, Ann";bob\n"Lee, Ann";eve\n',
            "ann\tbob, jr\nann\teve\n",
            '"ann\nlee",bob\nbob,eve\n',
        ],
    )
    def test_the_sign_that_divides_all_lines(self, tmp_path, content):
        path = tmp_path / "e.csv"
        path.write_text(content)
        if "0,5" in content:
            assert read_graph(path, weight="3", header=False).adjacency.sum() == 2 * (0.5 + 1.5)
        graph = read_graph(path)
        assert (graph.n_nodes, graph.n_edges) == (3, 2)


class TestZerosAndGaps:
    def test_edges_of_weight_zero_are_none_but_name_their_nodes(self, tmp_path):
        path = tmp_path / "e.csv"
        path.write_text("source,target,weight\n0,1,0\n1,2,3\n3,3,0\n")
        graph, [_, line] = heard(path)
        assert graph.node_ids.tolist() == [0, 1, 2, 3]
        assert graph.n_edges == 1
        assert line.endswith("2 edge(s) of weight 0 count as none; their nodes stay")

    @pytest.mark.parametrize("word", ["NA", "null", "NULL", "NaN", "None", "N/A", "\\N"])
    def test_words_for_nothing_among_the_nodes(self, tmp_path, word):
        path = tmp_path / "e.csv"
        path.write_text(f"ann,bob\nbob,{word}\neve,{word}\nann,eve\n")
        with pytest.warns(HopscaleWarning, match=r"is the name of a node or feature, that occurs 2 time\(s\)"):
            assert word in read_graph(path).node_ids.tolist()

    def test_words_for_nothing_among_numbers(self, tmp_path):
        edges, labels = tmp_path / "e.csv", tmp_path / "l.csv"
        edges.write_text("0,1\n1,2\n2,3\n")
        for word in ("NA", "null", "NaN", "None", "-", ""):
            labels.write_text(f"id,age\n0,33\n1,{word}\n2,41.5\n")
            np.testing.assert_array_equal(read_graph(edges, labels=labels).labels, [33, np.nan, 41.5, np.nan])

    def test_words_for_nothing_among_classes(self, tmp_path):
        edges, labels = tmp_path / "e.csv", tmp_path / "l.csv"
        edges.write_text("0,1\n1,2\n2,3\n")
        labels.write_text("id,country\n0,FR\n1,NA\n2,NA\n3,DE\n")
        assert read_graph(edges, labels=labels).labels.tolist() == ["FR", "NA", "NA", "DE"]  # Namibia
        labels.write_text("id,team\n0,reds\n1,NA\n2,?\n3,blues\n")
        with pytest.warns(HopscaleWarning, match=r"l\.csv: 2 label\(s\) are taken for missing, '\?', 'NA'; if that is"):
            found = read_graph(edges, labels=labels).labels.tolist()
        assert found == ["reds", None, None, "blues"]
        nodes = tmp_path / "n.csv"
        nodes.write_text(
            labels.read_text()
            .replace("team", "team,age")
            .replace("s\n", "s,1\n")
            .replace("A\n", "A,2\n")
            .replace("?", "?,3")
        )
        assert read_graph(edges, nodes=nodes, label_column="team").labels.tolist() == found


class TestWhatIsNoEdgeFile:
    def test_a_table_of_measurements(self, tmp_path):
        path = tmp_path / "v.csv"
        path.write_text("height,width,depth\n0.5,1.25,3\n0.75,2.5,1\n")
        with pytest.raises(FileFormatError, match=r"'height' and 'width' hold fractions, .* give source and target"):
            read_graph(path)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", HopscaleWarning)
            assert read_graph(path, source="height", target="width").n_edges == 2
            path.write_text("1.0,2.0\n2.0,3.0\n")  # as spreadsheets write whole numbers
            assert read_graph(path).n_edges == 2

    def test_many_columns_are_named_in_part(self, tmp_path):
        graph, [line] = heard(table(tmp_path, "from=u,to=v," + ",".join(f"note_{at}" for at in range(30))))
        same(graph)
        assert line.endswith("'note_6', 'note_7' and 22 more")


class TestWhatBecameOfTheLines:
    LINES = "from,to,weight\nann,bob,1\nbob,ann,2\nann,bob,3\neve,eve,1\nbob,eve,1\nbob,eve,0\njoe,joe,0\n"

    def said(self, content, **settings):
        lines = []
        graph = read_graph(io.BytesIO(content.encode()), say=lines.append, **settings)
        return graph, lines[-1]

    def test_self_loops_and_repeats(self):
        graph, line = self.said(self.LINES)
        assert graph.n_edges == 2
        assert line.endswith(": 1 self-loop(s) dropped, 2 repeated edge(s) merged, their weights added up")
        _, line = self.said(self.LINES, weight=False)
        assert line.endswith(": 2 self-loop(s) dropped, 3 repeated edge(s) merged")

    def test_self_loops_that_are_kept(self):
        _, line = self.said(self.LINES, self_loops=True)
        assert line.endswith(": 2 repeated edge(s) merged, their weights added up")

    def test_nothing_to_tell(self):
        _, line = self.said("from,to\nann,bob\nbob,eve\n")
        assert line.endswith("no weights")


class TestNodesOfLabels:
    def test_are_found_in_another_column_where_the_first_has_none(self, tmp_path):
        (tmp_path / "edges.csv").write_text("source,target\nann,bob\nbob,eve\neve,ann\n")
        (tmp_path / "labels.csv").write_text("squad,member\nred,eve\nblue,ann\nred,bob\n")
        graph = read_graph(tmp_path / "edges.csv", labels=tmp_path / "labels.csv")
        assert dict(zip(graph.node_ids.tolist(), graph.labels.tolist(), strict=True)) == {
            "ann": "blue",
            "bob": "red",
            "eve": "red",
        }

    def test_are_in_the_first_column_if_that_has_any(self, tmp_path):
        (tmp_path / "edges.csv").write_text("source,target\nann,bob\nbob,eve\neve,ann\n")
        (tmp_path / "labels.csv").write_text("member,friend\neve,ann\nzoe,bob\nkim,eve\n")
        with pytest.warns(HopscaleWarning, match="'zoe'"):
            graph = read_graph(tmp_path / "edges.csv", labels=tmp_path / "labels.csv")
        assert graph.labels.tolist() == [None, None, "ann"]
