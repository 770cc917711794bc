"""Node tables beside edges: from data frames, files and the command line, always matched by id."""

import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from model_files import refusal, spoilt
from sklearn.preprocessing import OneHotEncoder

from hopscale import MUSAE, AttributedGraph, FeatureEncoder, from_tables, load_model, read_graph
from hopscale.cli.commands import hopscale as program
from hopscale.exceptions import FileFormatError, GraphError, HopscaleWarning, ParameterError
from hopscale.features.state import encoder_state

MAKERS = pytest.mark.parametrize(
    "make", [dict, pd.DataFrame, pl.DataFrame, pa.table], ids=["mapping", "pandas", "polars", "pyarrow"]
)
RING = [f"pal{i}" for i in range(40)]
EDGES = pd.DataFrame({"from": RING, "to": [*RING[1:], RING[0]]})
COUNTRIES = ["FR", "DE", "IT"]


def people(names=RING, order=None):
    """A table in which everything follows from the name."""
    numbers = [int(name[3:]) for name in names]
    table = {
        "handle": list(names),
        "country": [COUNTRIES[i % 3] for i in numbers],
        "age": [20 + i % 17 for i in numbers],
        "tags": [";".join(["tea", "go", "chess"][: i % 4]) for i in numbers],
        "team": ["red" if i % 2 else "blue" for i in numbers],
    }
    return table if order is None else {name: [cells[i] for i in order] for name, cells in table.items()}


def features_of(graph, node):
    """Names of a node's features."""
    return set(graph.feature_names[graph.features[[graph.index_of(node)]].indices].tolist())


def check_nodes(graph, names=RING):
    for name in names:
        i = int(name[3:])
        found = features_of(graph, name)
        assert f"country={COUNTRIES[i % 3]}" in found
        assert {feature for feature in found if feature.startswith("tags=")} == {
            f"tags={tag}" for tag in ["tea", "go", "chess"][: i % 4]
        }


class TestTables:
    @MAKERS
    def test_rows_land_on_their_nodes_in_any_order(self, make):
        order = np.random.default_rng(0).permutation(40)
        graph = from_tables(EDGES, nodes=make(people(order=order)), label_column="team")
        check_nodes(graph)
        expected = ["red" if int(name[3:]) % 2 else "blue" for name in graph.node_ids]
        assert graph.labels.tolist() == expected
        assert not any(str(name).startswith(("team", "handle")) for name in graph.feature_names)
        assert graph.encoder.column_of_kind("id") == "handle"
        straight = from_tables(EDGES, nodes=make(people()), label_column="team")
        assert (straight.features != graph.features).nnz == 0
        assert straight.node_ids.tolist() == graph.node_ids.tolist()

    @pytest.mark.parametrize("name", ["handle", None, "who"])
    def test_an_index_of_ids(self, name):
        frame = pd.DataFrame(people()).set_index("handle").rename_axis(name).sample(frac=1, random_state=1)
        check_nodes(from_tables(EDGES, nodes=frame))

    def test_a_series_by_id(self):
        table = people()
        series = pd.Series(table["country"], index=table["handle"], name="country").sample(frac=1, random_state=1)
        graph = from_tables(EDGES, nodes=series)
        assert [features_of(graph, name) for name in RING] == [{f"country={COUNTRIES[i % 3]}"} for i in range(40)]

    def test_what_is_left_of_row_numbers_is_no_id(self):
        frame = pd.DataFrame(people()).sample(frac=1, random_state=1)  # its index is 0..39, shuffled
        graph = from_tables(EDGES, nodes=frame)
        check_nodes(graph)
        assert "index" not in {about.column for about in graph.encoder.describe()}
        numbers = pd.DataFrame({"u": range(40), "v": [*range(1, 40), 0]})
        frame = frame.assign(id=[int(handle[3:]) for handle in frame.handle]).drop(columns="handle")
        graph = from_tables(numbers, nodes=frame)
        assert graph.encoder.column_of_kind("id") == "id"
        for node in range(40):
            assert f"country={COUNTRIES[node % 3]}" in features_of(graph, node)

    def test_the_id_column_is_the_one_with_ids(self):
        table = {"rank": list(range(40)), "name": [f"Person {i}" for i in range(40)], **people()}
        assert from_tables(EDGES, nodes=table).encoder.column_of_kind("id") == "handle"
        edges = pd.DataFrame({"u": [0, 1, 2], "v": [1, 2, 0]})
        table = {"score": [2, 1, 0], "user_id": [0, 1, 2], "x": ["a", "b", "a"]}
        assert from_tables(edges, nodes=table).encoder.column_of_kind("id") == "user_id"
        assert from_tables(edges, nodes=table, id_column="score").encoder.column_of_kind("id") == "score"

    def test_isolated_nodes_and_nodes_that_the_table_lacks(self):
        names = [*RING[5:], "pal77"]
        with pytest.warns(HopscaleWarning, match="5 of the 40 nodes in the edges are not in the node table"):
            graph = from_tables(EDGES, nodes=people(names))
        check_nodes(graph, names)
        assert graph.n_nodes == 41
        assert graph.degrees[graph.index_of("pal77")] == 0
        assert not features_of(graph, "pal3")
        with pytest.raises(GraphError, match="'pal77'"):
            from_tables(EDGES, nodes=people([*RING, "pal77"]), unknown="error")

    def test_features_and_nodes_together(self):
        likes = pd.DataFrame({"who": ["pal1", "pal2"], "what": ["jazz", "jazz"]})
        graph = from_tables(EDGES, likes, nodes=people())
        check_nodes(graph)
        assert "jazz" in features_of(graph, "pal1")
        assert "jazz" not in features_of(graph, "pal3")

    def test_a_label_that_a_feature_gives_away(self):
        table = people()
        table["shirt"] = [{"red": "r", "blue": "b"}[team] for team in table["team"]]
        with pytest.warns(
            HopscaleWarning, match=r"'shirt' says the same as the label 'team'.*columns=.'shirt': 'drop'"
        ):
            from_tables(EDGES, nodes=table, label_column="team")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            graph = from_tables(EDGES, nodes=table, label_column="team", columns={"shirt": "drop"})
        assert not any(name.startswith("shirt") for name in graph.feature_names)

    def test_labels_of_another_table_that_a_feature_gives_away(self, tmp_path):
        table = people()
        labels = pd.DataFrame({"who": table["handle"], "side": table["team"]}).sample(frac=1, random_state=0)
        same = r"'team' says the same as the label 'side'.*columns=.'team': 'drop'"
        with pytest.warns(HopscaleWarning, match=same):
            from_tables(EDGES, nodes=table, labels=labels)
        paths = [tmp_path / name for name in ("edges.csv", "nodes.csv", "labels.csv", "labels.parquet")]
        for path, frame in zip(paths, (EDGES, pd.DataFrame(table), labels), strict=False):
            frame.to_csv(path, index=False)
        labels.to_parquet(paths[3], index=False)
        for path in paths[2:]:
            with pytest.warns(HopscaleWarning, match=same):
                read_graph(paths[0], nodes=paths[1], labels=path)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            read_graph(paths[0], nodes=paths[1], labels=paths[2], columns={"team": "drop"}, header=True)

    def test_a_feature_that_is_called_as_the_label(self):
        labels = pd.DataFrame({"who": RING, "age": ["young" if i < 7 else "old" for i in range(40)]})
        with pytest.warns(HopscaleWarning, match="'age' has the name of the label.*columns=.'age': 'drop'"):
            from_tables(EDGES, nodes=people(), labels=labels)

    @pytest.mark.parametrize(
        ("label", "expected"),
        [(["1", "2"], [1, 2]), (["0.5", "2"], [0.5, 2.0]), ([1.5, None], [1.5, np.nan]), (["a", "NA"], ["a", None])],
    )
    def test_labels_have_their_type(self, label, expected):
        edges = pd.DataFrame({"u": ["a"], "v": ["b"]})
        graph = from_tables(edges, nodes={"id": ["b", "a"], "y": label[::-1], "x": ["p", "q"]}, label_column="y")
        assert graph.node_ids.tolist() == ["a", "b"]
        np.testing.assert_array_equal(graph.labels, np.array(expected, dtype=graph.labels.dtype))

    def test_directions_that_are_wrong(self):
        for wrong, error, message in [
            ({"id_column": "x"}, ParameterError, "'x' is no column"),
            ({"label_column": "x"}, ParameterError, "'x' is no column"),
            ({"label_column": "handle"}, ParameterError, "holds the ids"),
            ({"columns": {"x": "drop"}}, ParameterError, "names 'x'"),
            ({"encoder": 3}, ParameterError, "must be a FeatureEncoder"),
            ({"id_column": "country"}, GraphError, "'FR'"),
        ]:
            with pytest.raises(error, match=message):
                from_tables(EDGES, nodes=people(), **wrong)
        with pytest.raises(ParameterError, match="label_column"):
            from_tables(EDGES, label_column="team")
        encoder = from_tables(EDGES, nodes=people()).encoder
        with pytest.raises(ParameterError, match="columns cannot be given with an encoder that is fitted"):
            from_tables(EDGES, nodes=people(), encoder=encoder, columns={"age": "drop"})

    def test_an_encoder_with_other_settings(self):
        mine = FeatureEncoder({"age": "spline"}, min_count=15)
        graph = from_tables(EDGES, nodes=people(), encoder=mine, columns={"tags": "drop"})
        assert not hasattr(mine, "columns_")
        assert {about.column: about.kind for about in graph.encoder.describe()}["age"] == "spline"
        assert "country=IT" not in graph.feature_names.tolist()
        assert not any(name.startswith("tags") for name in graph.feature_names)


class TestIds:
    @pytest.mark.parametrize("edge_ids", [[7, 8, 9], ["7", "8", "9"], ["7.0", "8.0", "9.0"]], ids=str)
    @pytest.mark.parametrize("ids", [[9, 7, 8], ["9", "7", "8"], [9.0, 7.0, 8.0], [" 9", "7 ", "8"]], ids=str)
    def test_numbers_of_other_types_are_the_same(self, edge_ids, ids):
        edges = pd.DataFrame({"u": edge_ids[:2], "v": edge_ids[1:]})
        graph = from_tables(
            edges, nodes={"id": ids, "x": ["c", "a", "b"]}, encoder=FeatureEncoder({"x": "category"}, min_count=1)
        )
        assert graph.node_ids.tolist() == edge_ids
        assert graph.features.toarray().tolist() == np.eye(3).tolist()

    def test_what_cannot_be_told_apart_is_refused(self):
        edges = pd.DataFrame({"u": ["7", "a"], "v": ["7.0", "b"]})
        with pytest.raises(GraphError, match=r"'7' and '7.0'.*cannot tell apart"):
            from_tables(edges, nodes={"id": ["7", "8"], "x": ["p", "q"]}, id_column="id")

    def test_text_among_whole_numbers_is_refused(self):
        edges = pd.DataFrame({"u": [1, 2], "v": [2, 3]})
        with pytest.raises(GraphError, match="id 'bob', which is not a whole number"):
            from_tables(edges, nodes={"id": ["1", "bob"], "x": ["p", "q"]}, id_column="id")
        with pytest.raises(GraphError, match="'007'"):
            from_tables(edges, nodes={"id": ["1", "007"], "x": ["p", "q"]}, id_column="id")

    def test_a_table_of_others_is_refused(self):
        with pytest.raises(
            GraphError, match=r"no column .* holds ids that are those of the edges, such as 'pal0'; it has handle: 'p1'"
        ):
            from_tables(EDGES, nodes={"handle": ["p1", "p2"], "x": [1, 2]})

    def test_a_column_of_some_ids_is_named(self):
        edges = pd.DataFrame({"u": [1, 2], "v": [2, 3]})
        with pytest.raises(GraphError, match="50% of the values of 'who' are some, but others cannot be"):
            from_tables(edges, nodes={"who": ["1", "bob"], "x": ["p", "q"]})

    @pytest.mark.parametrize(
        ("spelt", "what"), [(str.upper, "upper and lower case"), (lambda name: "00" + name, "leading zeros")]
    )
    @pytest.mark.parametrize("same", [0, 2])
    def test_ids_that_are_spelt_otherwise_are_refused(self, spelt, what, same):
        names = RING if what.startswith("upper") else list(map(str, range(7, 47)))
        edges = pd.DataFrame({"from": names, "to": [*names[1:], names[0]]})
        table = {**people(), "handle": [*names[:same], *map(spelt, names[same:])]}
        with pytest.raises(GraphError, match=f"100% of .* would be, but for {what}.*id_column"):
            from_tables(edges, nodes=table)
        table["handle"] = [*names[:15], *map(spelt, names[15:])]
        with pytest.warns(
            HopscaleWarning, match=f"only 15 of the 40 ids .* 25 of the 40 .*; 100% would be, but for {what}"
        ):
            from_tables(edges, nodes=table)

    def test_a_column_that_counts_the_rows_is_not_taken_for_ids(self):
        nodes = [i * 37 % 1009 for i in range(1, 200)]
        edges = pd.DataFrame({"u": nodes, "v": [*nodes[1:], nodes[0]]})
        table = {
            "row_nr": list(range(1, 200)),
            "account": [f"ACC-{i}" for i in nodes],
            "x": ["a", "b", "c"] * 66 + ["a"],
        }
        with pytest.raises(GraphError, match=r"only 4\d of the 199 ids.*'row_nr'.*seems to count the rows.*id_column"):
            from_tables(edges, nodes=table)
        with pytest.warns(HopscaleWarning, match=r"only 4\d of the 199 ids"):
            from_tables(edges, nodes=table, id_column="row_nr")

    def test_a_contradiction_names_the_column_of_the_ids(self):
        table = {"rank": ["pal1", "pal2", "pal2"], "name": ["a", "b", "c"]}
        with pytest.raises(
            GraphError, match="'rank' was taken for the ids; if another names the nodes, give id_column"
        ):
            from_tables(EDGES, nodes=table)

    def test_repeated_rows(self):
        table = people([*RING, "pal3", "pal5"])
        graph = from_tables(EDGES, nodes=table)
        check_nodes(graph)
        assert graph.n_nodes == 40
        table["country"][41] = "ES"
        with pytest.raises(
            GraphError, match="nodes, row 41: node 'pal5' has 'ES' in the column 'country', but 'IT' in nodes, row 5"
        ):
            from_tables(EDGES, nodes=table)

    def test_rows_without_an_id(self):
        table = people()
        table["handle"][3] = None
        with pytest.raises(GraphError, match="nodes, row 3: no id in the column 'handle'"):
            from_tables(EDGES, nodes=table)

    @settings(max_examples=60, deadline=None)
    @given(st.permutations(range(12)), st.booleans(), st.booleans())
    def test_any_order_and_any_type(self, order, edges_as_text, ids_as_text):
        ids = [str(i) if edges_as_text else i for i in range(12)]
        edges = pd.DataFrame({"u": ids, "v": [*ids[1:], ids[0]]})
        table = {"id": [str(i) if ids_as_text else i for i in order], "x": [f"v{i % 4}" for i in order]}
        graph = from_tables(edges, nodes=table)
        assert [graph.node_ids.tolist(), graph.features.toarray().argmax(axis=1).tolist()] == [
            ids,
            [i % 4 for i in range(12)],
        ]


class TestModels:
    def test_the_encoder_is_saved_and_reads_raw_tables(self, tmp_path):
        graph = from_tables(EDGES, nodes=people(), label_column="team")
        model = MUSAE(16, window=1).fit(graph)
        assert model.encoder_ is graph.encoder
        model.save(tmp_path / "m.safetensors")
        again = load_model(tmp_path / "m.safetensors")
        assert encoder_state(again.encoder_) == encoder_state(model.encoder_)
        order = np.random.default_rng(0).permutation(40)
        new = {name: cells for name, cells in people(order=order).items() if name != "team"}
        other = from_tables(EDGES, nodes=new, encoder=again.encoder_)
        assert other.features.data.tobytes() == graph.features.data.tobytes()
        assert other.features.indices.tobytes() == graph.features.indices.tobytes()
        np.testing.assert_array_equal(again.transform(other), model.transform(graph))

    def test_models_of_other_graphs_have_none(self, tmp_path):
        model = MUSAE(2, window=1).fit(AttributedGraph(np.ones((3, 3)), np.eye(3)))
        model.save(tmp_path / "m.safetensors")
        assert model.encoder_ is None
        assert load_model(tmp_path / "m.safetensors").encoder_ is None

    def test_the_kept_graph_has_it(self, tmp_path):
        model = MUSAE(4, window=1, keep_graph=True).fit(from_tables(EDGES, nodes=people()))
        model.save(tmp_path / "m.safetensors")
        assert encoder_state(load_model(tmp_path / "m.safetensors").graph_.encoder) == encoder_state(model.encoder_)

    def test_what_cannot_be_saved_says_so(self, tmp_path):
        graph = from_tables(EDGES, nodes=people(), columns={"country": OneHotEncoder()})
        with pytest.raises(ParameterError, match="cannot save an encoder with a transformer of scikit-learn"):
            MUSAE(4, window=1).fit(graph).save(tmp_path / "m.safetensors")
        assert not list(tmp_path.iterdir())

    def test_a_spoilt_encoder_is_refused(self, tmp_path):
        path = tmp_path / "m.safetensors"
        model = MUSAE(4, window=1).fit(from_tables(EDGES, nodes=people()))
        for content, message in (
            (b"{", "not JSON"),
            (b"{}", "its encoder cannot be"),
            (b"[1]", "its encoder cannot be"),
        ):
            model.save(path)
            spoilt(path, tensors={"encoder": np.frombuffer(content, dtype=np.uint8)})
            assert message in refusal(path)
        spoilt(path, tensors={"encoder": np.zeros(3)})
        assert "expected a row of U8" in refusal(path)


def as_csv(table, separator=","):
    quoted = lambda cell: f'"{cell}"' if separator in str(cell) else str(cell)  # noqa: E731
    rows = [list(table), *zip(*table.values(), strict=True)]
    return "".join(separator.join(map(quoted, row)) + "\n" for row in rows)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "edges.csv").write_text(EDGES.to_csv(index=False, header=["source", "target"]))
    order = np.random.default_rng(0).permutation(40)
    (tmp_path / "nodes.csv").write_text(as_csv(people(order=order)))
    return tmp_path


class TestFiles:
    @pytest.mark.parametrize("separator", [",", "\t", ";"])
    def test_a_file_is_read_as_a_table(self, folder, separator):
        table = people(order=np.random.default_rng(1).permutation(40))
        (folder / "nodes.csv").write_text(as_csv(table, separator))
        graph = read_graph("edges.csv", nodes="nodes.csv", label_column="team")
        check_nodes(graph)
        expected = from_tables(EDGES, nodes=table, label_column="team")
        assert graph.feature_names.tolist() == expected.feature_names.tolist()
        assert (graph.features != expected.features).nnz == 0
        assert graph.labels.tolist() == expected.labels.tolist()

    def test_a_file_without_header(self, folder):
        lines = (folder / "nodes.csv").read_text().splitlines(keepends=True)[1:]
        (folder / "nodes.csv").write_text("".join(lines))
        graph = read_graph("edges.csv", nodes="nodes.csv")
        assert "column 2=FR" in graph.feature_names.tolist()
        assert graph.features.sum(axis=1).min() > 0
        bare = {"who": RING, "country": people()["country"]}
        (folder / "nodes.csv").write_text("".join(as_csv(bare).splitlines(keepends=True)[1:]))
        graph = read_graph("edges.csv", nodes="nodes.csv")
        assert graph.feature_names.tolist() == ["column 2=DE", "column 2=FR", "column 2=IT"]
        assert features_of(graph, "pal0") == {"column 2=FR"}

    def test_names_of_columns_that_are_missing_or_repeat(self, folder):
        text = (folder / "nodes.csv").read_text().replace("handle,country,age", ",country,country", 1)
        (folder / "nodes.csv").write_text(text)
        graph = read_graph("edges.csv", nodes="nodes.csv")
        assert [about.column for about in graph.encoder.describe()][:3] == ["column 1", "country", "country (3)"]

    def test_bad_lines_are_refused_or_skipped(self, folder):
        text = (folder / "nodes.csv").read_text()
        broken = text + "pal77,FR\n" + ",FR,22,tea,red\n" + "pal3,ES,99,tea,red\n"
        (folder / "nodes.csv").write_text(broken)
        with pytest.raises(FileFormatError, match=r"nodes.csv, line 42: 2 column\(s\) instead of 5"):
            read_graph("edges.csv", nodes="nodes.csv")
        (folder / "nodes.csv").write_text(broken.replace("pal77,FR\n", ""))
        with pytest.raises(FileFormatError, match=r"nodes.csv, line 42: no id in the column 'handle'"):
            read_graph("edges.csv", nodes="nodes.csv")
        (folder / "nodes.csv").write_text(text + "pal3,ES,99,tea,red\n")
        with pytest.raises(FileFormatError, match=r"nodes.csv, line 42: node 'pal3' has 'ES'"):
            read_graph("edges.csv", nodes="nodes.csv")
        (folder / "nodes.csv").write_text(broken)
        with pytest.warns(HopscaleWarning) as caught:
            graph = read_graph("edges.csv", nodes="nodes.csv", skip_bad_lines=True)
        said = " ".join(str(each.message) for each in caught)
        assert "line 42" in said
        assert "1 without an id, 1 that contradict an earlier one, the first nodes.csv, line 44" in said
        check_nodes(graph)

    def test_says_what_it_understood(self, folder):
        said = []
        read_graph("edges.csv", nodes="nodes.csv", say=said.append)
        assert any("40 nodes in the table, named by the column 'handle'" in line for line in said)
        assert any("country  category" in line for line in said)


class TestCommands:
    def run(self, *arguments):
        return CliRunner().invoke(program, [str(each) for each in arguments])

    def test_from_a_folder_to_scored_vectors_of_new_nodes(self, folder):
        done = self.run(
            "embed", "--edges", "edges.csv", "--nodes", "nodes.csv", "--label-column", "team", "--window", 1,
            "--dimensions", 8, "-o", "v.csv", "--save", "m.safetensors", "--column", "age=drop",
        )  # fmt: skip
        assert done.exit_code == 0, done.output
        assert "micro_f1" in done.stdout
        assert "country  category" in done.stderr
        assert load_model("m.safetensors").encoder_.columns == {"age": "drop", "handle": "id", "team": "label"}
        (folder / "new.csv").write_text("handle,country,tags\npal1,DE,tea\npal2,FR,go;tea\n")
        (folder / "e.csv").write_text("source,target\npal1,pal2\n")
        done = self.run("transform", "m.safetensors", "--edges", "e.csv", "--nodes", "new.csv", "-o", "w.csv")
        assert done.exit_code == 0, done.output
        assert len((folder / "w.csv").read_text().splitlines()) == 3

    def test_nodes_that_the_model_knows_need_no_row(self, folder):
        done = self.run(
            "embed", "--edges", "edges.csv", "--nodes", "nodes.csv", "--window", 1, "--dimensions", 8, "--keep-graph",
            "--save", "m.safetensors", "-o", "v.csv",
        )  # fmt: skip
        assert done.exit_code == 0, done.output
        (folder / "new.csv").write_text("handle,country,age,tags,team\npal101,DE,21,tea,red\npal102,FR,22,go;tea,red\n")
        (folder / "e.csv").write_text("source,target\npal1,pal101\npal2,pal102\npal3,pal102\n")
        command = ["extend", "m.safetensors", "--edges", "e.csv", "--nodes", "new.csv", "-o", "w.csv"]
        done = self.run(*command)
        assert done.exit_code == 0, done.output
        assert "not in the node table" not in done.stderr
        with (folder / "e.csv").open("a") as file:
            file.write("pal3,pal103\n")
        assert "1 of the 3 new nodes have no features, such as 'pal103'" in self.run(*command).stderr

    def test_quiet_is_quiet(self, folder):
        done = self.run("embed", "--edges", "edges.csv", "--nodes", "nodes.csv", "--dimensions", 4, "-q", "-o", "v.csv")
        assert done.exit_code == 0
        assert "category" not in done.stderr

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (["--nodes", "nodes.csv", "--id", "x"], "--id x is no column"),
            (["--nodes", "nodes.csv", "--column", "age"], "NAME=KIND"),
            (["--nodes", "nodes.csv", "--column", "age=colour"], "--column has the kind 'colour'"),
            (["--id", "handle"], "give --nodes"),
            (["--column", "age=drop"], "give --nodes"),
        ],
    )
    def test_usage(self, folder, arguments, message):
        done = self.run("embed", "--edges", "edges.csv", "-o", "v.csv", *arguments)
        assert done.exit_code == 2
        assert message in done.stderr
        assert not (folder / "v.csv").exists()

    def test_a_model_without_an_encoder_takes_no_table(self, folder):
        MUSAE(2, window=1).fit(AttributedGraph(np.ones((3, 3)), np.eye(3))).save("m.safetensors")
        done = self.run("transform", "m.safetensors", "--edges", "edges.csv", "--nodes", "nodes.csv", "-o", "w.csv")
        assert done.exit_code == 2
        assert "was not learnt from a node table" in done.stderr


def test_readers_of_edges_do_not_wait_for_scikit_learn():
    code = "import sys, hopscale.io; hopscale.io.from_edges([(0, 1)], {0: ['x']}); sys.exit('sklearn' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
