"""GraphML and GML files: networkx parses them, and what is in them lands on the right nodes."""

import gzip

import networkx as nx
import numpy as np
import pytest
from click.testing import CliRunner

from hopscale import DeepWalk, load_model, read_graph
from hopscale.cli.commands import hopscale
from hopscale.exceptions import FileFormatError, ParameterError

WRITERS = {".graphml": nx.write_graphml, ".gml": nx.write_gml}


def club(kind=nx.Graph, ids=str):
    graph = kind()
    for i in range(12):
        graph.add_node(ids(11 - i), team="red" if i < 6 else "blue", age=20 + i % 4, member=i % 2 == 0)
    for i in range(12):
        graph.add_edge(ids(i), ids((i + 1) % 12), weight=1.0 + i)
    return graph


@pytest.fixture(params=WRITERS)
def suffix(request):
    return request.param


@pytest.fixture
def written(tmp_path, suffix):
    def write(graph, name="club"):
        path = tmp_path / f"{name}{suffix}"
        WRITERS[suffix](graph, path)
        return path

    return write


class TestReading:
    def test_attributes_are_the_columns_of_a_table(self, written):
        graph = read_graph(written(club(ids="n{}".format)), label_column="team")
        assert sorted(graph.node_ids) == sorted(f"n{i}" for i in range(12))
        row = graph.index_of("n3")
        assert graph.labels[row] == "blue"
        assert graph.adjacency[row, graph.index_of("n4")] == 4
        own = graph.feature_names[graph.features[[row]].indices].tolist()
        assert "member=yes" in own
        assert not any(name.startswith("team=") for name in graph.feature_names)
        assert any(name.startswith("age=") for name in own)
        assert [column.column for column in graph.encoder.describe()] == ["age", "member"]
        assert "team=blue" in read_graph(written(club())).feature_names.tolist()

    def test_attributes_can_be_overridden_and_encoded_as_before(self, written):
        said = []
        path = written(club())
        graph = read_graph(path, label_column="team", columns={"age": "drop"}, say=said.append)
        assert graph.feature_names.tolist() == ["member=no", "member=yes"]
        assert "12 nodes and 12 edges" in said[0]
        assert "member" in said[0]
        other = nx.Graph([("x", "y")])
        nx.set_node_attributes(other, True, "member")
        nx.set_node_attributes(other, 99, "height")
        again = read_graph(written(other, "other"), encoder=graph.encoder)
        assert again.feature_names.tolist() == graph.feature_names.tolist()
        assert again.features.toarray().tolist() == [[0, 1], [0, 1]]

    def test_ids_that_are_whole_numbers(self, written):
        graph = read_graph(written(club()))
        assert sorted(graph.node_ids.tolist()) == list(range(12))
        assert graph.node_ids.dtype == np.int64

    def test_without_attributes_and_straight_into_a_model(self, written):
        path = written(nx.path_graph(5))
        assert read_graph(path).n_features == 0
        assert DeepWalk(2).fit(path).node_ids_.tolist() == [0, 1, 2, 3, 4]

    def test_weights(self, written):
        graph = nx.Graph([("a", "b", {"strength": 3.0}), ("b", "c", {"strength": 0.0})])
        path = written(graph)
        with pytest.warns(UserWarning, match="weight='strength'"):
            assert not read_graph(path).is_weighted
        ours = read_graph(path, weight="strength")
        assert (ours.n_nodes, ours.n_edges, ours.degrees.tolist()) == (3, 1, [3, 3, 0])
        with pytest.raises(FileFormatError, match="'height'; edges have 'strength'"):
            read_graph(path, weight="height")

    def test_directed(self, written):
        path = written(club(nx.DiGraph))
        with pytest.raises(FileFormatError, match="directed='symmetrize'"):
            read_graph(path)
        assert read_graph(path, directed="symmetrize").n_edges == 12
        both = nx.DiGraph([("a", "b"), ("b", "a")])
        assert read_graph(written(both, "both")).n_edges == 1

    def test_other_files_are_refused_with_it(self, written):
        with pytest.raises(ParameterError, match="itself"):
            read_graph(written(club()), "features.json")

    def test_labels_in_a_file_of_their_own(self, written, tmp_path):
        labels = tmp_path / "labels.csv"
        labels.write_text("".join(["id,side\n", *(f"{i},{'left' if i < 6 else 'right'}\n" for i in (5, 0, 11, 7))]))
        graph = read_graph(written(club(ids=int)), labels=labels)
        found = dict(zip(graph.node_ids.tolist(), graph.labels.tolist(), strict=True))
        assert {i: label for i, label in found.items() if label} == {0: "left", 5: "left", 7: "right", 11: "right"}
        assert graph.encoder is not None
        alone = read_graph(written(club(ids=int)))
        assert (graph.features != alone.features).nnz == 0
        assert (graph.adjacency != alone.adjacency).nnz == 0

    def test_packed(self, written, suffix, tmp_path):
        path = written(club())
        packed = tmp_path / f"packed{suffix}.gz"
        packed.write_bytes(gzip.compress(path.read_bytes()))
        assert read_graph(packed).n_edges == 12
        packed.write_bytes(gzip.compress(b" " * 10**6))
        with pytest.raises(FileFormatError, match="unpacks to more"):
            read_graph(packed, max_unpacked=1000)

    @pytest.mark.parametrize("content", [b"<", b"graph [ node [", b"\xff\xfe", b"a,b\n", b"<a/>", b"[" * 5000])
    def test_broken(self, tmp_path, suffix, content):
        path = tmp_path / f"g{suffix}"
        path.write_bytes(content)
        with pytest.raises(FileFormatError, match=str(path)):
            read_graph(path)

    def test_command_line(self, written, tmp_path):
        path = str(written(club()))
        run = CliRunner().invoke(hopscale, ["embed", "--graph", path, "-o", str(tmp_path / "v.csv"), "--quiet"])
        assert run.exit_code == 0, run.output
        assert len((tmp_path / "v.csv").read_text().splitlines()) == 13
        path = str(written(club(nx.DiGraph), "directed"))
        command = ["embed", "--graph", path, "-o", str(tmp_path / "w.csv"), "--dimensions", "8"]
        run = CliRunner().invoke(hopscale, command)
        assert run.exit_code == 1
        assert "--directed symmetrize" in run.output
        run = CliRunner().invoke(hopscale, [*command, "--directed", "symmetrize"])
        assert run.exit_code == 0, run.output


def test_command_line_scores_labels_and_places_other_graphs(tmp_path):
    rng = np.random.default_rng(0)
    for name in ("here", "there"):
        graph = nx.planted_partition_graph(2, 30, 0.4, 0.02, seed=3 if name == "here" else 4)
        graph.graph.clear()
        for i in graph:
            own = i // 30 if rng.random() < 0.9 else rng.integers(2)
            graph.nodes[i].clear()
            graph.nodes[i].update(team="ab"[i // 30], city=["Rome", "Oslo"][own], note=f"{rng.integers(10**9)}")
        nx.write_graphml(graph, tmp_path / f"{name}.graphml")
    here, there, model, vectors = (str(tmp_path / x) for x in ("here.graphml", "there.graphml", "m.st", "v.csv"))
    options = ["--graph", here, "--label-column", "team", "--column", "note=drop", "--save", model]
    run = CliRunner().invoke(hopscale, ["embed", *options, "--dimensions", "8", "--json"])
    assert run.exit_code == 0, run.output
    assert load_model(model).feature_names_.tolist() == ["city=Oslo", "city=Rome"]
    run = CliRunner().invoke(hopscale, ["transform", model, "--graph", there, "-o", vectors])
    assert run.exit_code == 0, run.output
    assert len((tmp_path / "v.csv").read_text().splitlines()) == 61
    run = CliRunner().invoke(hopscale, ["embed", "--graph", "digits", "--column", "a=drop", "--score"])
    assert run.exit_code == 2


LAUGHS = b"""<?xml version="1.0"?>
<!DOCTYPE graphml [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">]>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key id="d0" for="node" attr.name="x" attr.type="string"/>
<graph edgedefault="undirected"><node id="a"><data key="d0">&b;</data></node><node id="b"/><edge source="a" target="b"/>
</graph></graphml>"""


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_entities_are_refused(tmp_path, encoding):
    path = tmp_path / "g.graphml"
    path.write_bytes(LAUGHS.decode().encode(encoding))
    with pytest.raises(FileFormatError, match="DOCTYPE"):
        read_graph(path)


def test_names_of_gml_are_labels_or_else_ids(tmp_path):
    path = tmp_path / "g.gml"
    path.write_text('graph [ node [ id 7 label "a" ] node [ id 9 label "b" ] edge [ source 7 target 9 ] ]')
    assert read_graph(path).node_ids.tolist() == ["a", "b"]
    path.write_text("graph [ node [ id 7 ] node [ id 9 ] edge [ source 7 target 9 ] ]")
    assert read_graph(path).node_ids.tolist() == [7, 9]
    path.write_text('graph [ node [ id 7 label "a" ] node [ id 9 label "a" ] edge [ source 7 target 9 ] ]')
    assert read_graph(path).node_ids.tolist() == [7, 9]


SNAP = """# Undirected graph: ../../data/output/ca.txt
# Nodes: 4 Edges: 3
# FromNodeId\tToNodeId
3466\t937
3466\t5233
937\t3466
5233\t10310
"""


def test_edge_lists_of_snap(tmp_path):
    path = tmp_path / "ca-GrQc.txt"
    path.write_text(SNAP)
    graph = read_graph(path)
    assert graph.node_ids.tolist() == [937, 3466, 5233, 10310]
    assert graph.n_edges == 3
    assert read_graph(path, header=False).n_edges == 3
    packed = tmp_path / "ca-GrQc.txt.gz"
    packed.write_bytes(gzip.compress(SNAP.encode()))
    assert read_graph(packed).node_ids.tolist() == graph.node_ids.tolist()
