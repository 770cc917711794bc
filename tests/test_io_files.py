"""Files: the same graph whatever the format, and the file and line of every mistake."""

import gzip
import os
import warnings
import zipfile
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from hopscale.exceptions import FileFormatError, HopscaleError, HopscaleWarning, ParameterError
from hopscale.io import from_edges, read_graph

DATA = Path(os.environ.get("HOPSCALE_DATA", Path(__file__).parents[2] / "shared" / "data"))


@pytest.fixture
def write(tmp_path):
    """Write a file of the temporary folder and return its path."""

    def writer(name, content):
        path = tmp_path / name
        if isinstance(content, str):
            content = content.encode()
        path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
        return path

    return writer


def same(graph, other):
    assert graph.node_ids.tolist() == other.node_ids.tolist()
    assert graph.feature_names.tolist() == other.feature_names.tolist()
    np.testing.assert_array_equal(graph.adjacency.toarray(), other.adjacency.toarray())
    np.testing.assert_array_equal(graph.features.toarray(), other.features.toarray())


@contextmanager
def no_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def refused(*args, **kwargs):
    with pytest.raises(FileFormatError) as caught:
        read_graph(*args, **kwargs)
    return str(caught.value)


class TestEdges:
    @pytest.mark.parametrize(
        ("name", "content"),
        [
            ("e.csv", "0,1\n1,2\n"),
            ("e.csv", "id_1,id_2\n0,1\n1,2"),
            ("e.csv", "anything,else\r\n0,1\r\n\r\n1,2\r\n"),
            ("e.csv", "\ufeffsource;target\n0;1\n1;2\n"),
            ("e.csv", '"0","1"\n"1","2"\n'),
            ("e.csv", "0, 1\n 1,2 \n2,1\n"),
            ("e.tsv", "from\tto\n0\t1\n1\t2\n"),
            ("e.txt", "# Undirected graph\n#\n# FromNodeId ToNodeId\n0 1\n1   2\n"),
            ("e.txt", "% sym unweighted\n\n0 1\n1 2"),
            ("e.csv.gz", "0,1\n1,2\n"),
            ("e.csv", "0,1\r1,2\r"),
        ],
    )
    def test_every_spelling_of_the_same_path(self, write, name, content):
        graph = read_graph(write(name, content))
        same(graph, from_edges([(0, 1), (1, 2)]))
        assert graph.node_ids.dtype == np.int64

    def test_weights(self, write):
        path = write("e.csv", "source,target,weight\n0,1,0.5\n1,0,1e0\n1,2,3\n")
        same(read_graph(path), from_edges([(0, 1), (1, 2)], weights=[1.5, 3]))

    def test_one_name_makes_all_of_them_text(self, write):
        graph = read_graph(write("e.csv", "0,1\n1,x\n"), write("f.json", '{"0": ["a"], "1": ["b"]}'))
        assert graph.node_ids.tolist() == ["0", "1", "x"]
        assert graph.features.toarray().tolist() == [[1, 0], [0, 1], [0, 0]]
        by_table = read_graph(write("e.csv", "0,1\n1,x\n"), write("f.csv", "0,7\n1,8\n"))
        assert by_table.features.toarray().tolist() == [[1, 0], [0, 1], [0, 0]]

    @pytest.mark.parametrize("rows", ["007,1\n1,2\n", "1,007\n1,2\n", "1,2\n2,007\n", "1, 007\n1,2\n"])
    def test_leading_zeros_make_text(self, write, rows):
        graph = read_graph(write("e.csv", rows), header=False)
        assert {"007", "1", "2"} == set(graph.node_ids.tolist())

    def test_numbers_past_int64(self, write):
        graph = read_graph(write("e.csv", f"1,{2**70}\n"), write("f.csv", f"{2**70},5\n"))
        assert graph.node_ids.tolist() == [1, 2**70]
        assert graph.features.toarray().tolist() == [[0], [1]]

    def test_names_with_spaces_quotes_and_signs(self, write):
        graph = read_graph(write("e.csv", '#tea,"Smith, Jo"\nnew york,#tea\n"two\nlines",#tea\n'))
        assert graph.node_ids.tolist() == ["#tea", "Smith, Jo", "new york", "two\nlines"]

    def test_header_can_be_told(self, write):
        path = write("e.csv", "id,node\nann,bob\n")
        assert read_graph(path).node_ids.tolist() == ["ann", "bob"]
        assert read_graph(path, header=False).node_ids.tolist() == ["id", "node", "ann", "bob"]
        other = write("o.csv", "zoe,max\nann,bob\n")
        assert read_graph(other, header=False).n_nodes == 4
        assert read_graph(other, header=True).n_nodes == 2

    def test_a_column_of_numbers_shows_that_its_first_cell_is_a_name(self, write):
        with no_warning():
            graph = read_graph(write("e.csv", "who,whom,Weight\nann,bob,0.5\nbob,eve,2\n"))
        same(graph, from_edges([("ann", "bob"), ("bob", "eve")], weights=[0.5, 2]))


class TestWhichColumnIsTheWeight:
    ENDS = ((0, 1), (1, 2))

    @pytest.mark.parametrize("name", ["weight", "w", "Value", "count", "strength", "edge_weight"])
    def test_by_its_usual_names(self, write, name):
        path = write("e.csv", f"source,target,{name}\n0,1,5\n1,2,6\n")
        with no_warning():
            same(read_graph(path), from_edges(self.ENDS, weights=[5, 6]))

    @pytest.mark.parametrize("cells", [("5", "6"), ("-1", "inf"), ("", "0.5")])
    def test_numbers_under_another_name_are_passed_over_with_a_warning(self, write, cells):
        path = write("e.csv", "source,target,trips\n0,1,{}\n1,2,{}\n".format(*cells))
        with pytest.warns(HopscaleWarning, match=r"e\.csv: 'trips' is passed over; .*weight='trips'") as caught:
            graph = read_graph(path)
        assert caught[0].filename == __file__
        same(graph, from_edges(self.ENDS))

    def test_the_callers_name_decides(self, write):
        with no_warning():
            third = read_graph(write("e.csv", "a,b,time\n0,1,5\n1,2,6\n"), weight="time")
            far = read_graph(
                write("f.csv", "Source;Target;Type;Id;Strength\n0;1;x;7;5\n1;2;y;8;6\n"), weight="Strength"
            )
            text = read_graph(write("g.csv", "who,whom,since\nann,bob,5\n"), weight="since")
        same(third, from_edges(self.ENDS, weights=[5, 6]))
        same(far, third)
        same(text, from_edges([("ann", "bob")], weights=[5]))

    @pytest.mark.parametrize(
        ("content", "why"),
        [
            ("source,target,time\n0,1,-5\n", "line 2: the weight is -5"),
            ("source,target,time\n0,1,May\n", "line 2: the weight is 'May'"),
            ("source,target,year\n0,1,5\n", "no column 'time'; its columns are ['source', 'target', 'year']"),
            ("0,1,5\n", "no column 'time'; it has no header"),
            ("time\n0\n", "line 2: 1 column(s)"),
        ],
    )
    def test_a_column_that_was_named_must_be_there_and_hold_weights(self, write, content, why):
        assert why in refused(write("e.csv", content), weight="time")

    @pytest.mark.parametrize(
        "content",
        [
            ",source,target\n0,0,1\n1,1,2\n",
            ",source,target,weight\n0,0,1,1\n1,1,2,1\n",
            ",u,v\n0,0,1\n1,1,2\n",
            ",one_end,the_rest\n0,0,1\n1,1,2\n",
            "id,source,target\n0,0,1\n1,1,2\n",
        ],
    )
    def test_an_index_is_not_taken_for_nodes(self, write, content):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", HopscaleWarning)
            same(read_graph(write("e.csv", content)), from_edges(self.ENDS))

    def test_more_cells_than_names(self, write):
        message = refused(write("e.csv", "source,target\n1,5,7\n2,7,9\n"))
        assert "line 2: 3 column(s), but its columns are ['source', 'target']" in message


class TestFeatures:
    EDGES = "ann,bob\nbob,eve\n"

    @pytest.mark.parametrize(
        ("name", "content"),
        [
            ("f.json", '{"ann": ["tea", "go", "tea"], "zoe": ["tea"], "eve": []}'),
            ("f.json.gz", '{"ann": {"tea": 1, "go": 1.0}, "zoe": ["tea"]}'),
            ("f.csv", "node,feature\nann,tea\nann,go\nzoe,tea\nann,tea\n"),
            ("f.csv.gz", "ann;tea\nann;go\nzoe;tea\n"),
            ("f.tsv", "ann\ttea\t0.5\nann\tgo\t1\nzoe\ttea\t1\nann\ttea\t0.5\n"),
        ],
    )
    def test_every_spelling_of_the_same_features(self, write, name, content):
        graph = read_graph(write("e.csv", self.EDGES), write(name, content))
        expected = from_edges([("ann", "bob"), ("bob", "eve")], {"ann": ["tea", "go"], "zoe": ["tea"]})
        same(graph, expected)

    def test_a_first_line_that_stands_apart_raises_a_warning(self, write):
        edges, path = write("e.csv", self.EDGES), write("f.csv", "user,tag\nann,tea\nbob,tea\n")
        with pytest.warns(HopscaleWarning, match=r"f\.csv: .*'user' and 'tag'.*header=False") as caught:
            assert read_graph(edges, path).feature_names.tolist() == ["tea"]
        assert caught[0].filename == __file__

    def test_a_first_line_without_numbers_for_nodes_is_a_header(self, write):
        with no_warning():
            graph = read_graph(write("e.csv", "0,1\n"), write("f.csv", "user,tag\n0,tea\n1,tea\n"))
        assert graph.feature_names.tolist() == ["tea"]

    @pytest.mark.parametrize("content", ["ann,tea\nbob,go\neve,go\n", "ann,tea\n", "zoe,tea\nann,tea\n"])
    def test_a_first_line_about_a_node_of_the_edges_is_data_without_a_word(self, write, content):
        with no_warning():
            graph = read_graph(write("e.csv", self.EDGES), write("f.csv", content))
        assert graph.features.nnz == content.count("\n")

    def test_which_column_is_the_value(self, write):
        edges = write("e.csv", "ann,bob\n")
        expected = from_edges([("ann", "bob")], {"ann": {"tea": 2}, "bob": {"tea": 3}})
        rows = "\nann,tea,2\nbob,tea,3\n"
        with no_warning():
            for first in ("", "node,feature,value", "user,tag,Count", "node,feature,tf-idf"):
                same(read_graph(edges, write("f.csv", first + rows)), expected)
            for first in ("node,feature,income", "user,tag,income"):
                same(read_graph(edges, write("f.csv", first + rows), value="income"), expected)
        assert "no column 'income'" in refused(edges, write("f.csv", "node,feature,age" + rows), value="income")

    @pytest.mark.parametrize(
        "content",
        [
            "node,age,income\n0,33,1000\n1,50,900\n",
            "user,age,income\nann,33,1000\nbob,50,900\n",
            "user,age,income,children\nann,33,1000,2\n",
            "node,feature,colour\n0,shirt,red\n",
        ],
    )
    def test_wide_tables_are_told_where_to_go(self, write, content):
        message = refused(write("e.csv", "0,1\n"), write("f.csv", content))
        assert "f.csv" in message
        assert "node,feature" in message
        assert "from_edges(edges, matrix, node_ids=..., feature_names=...)" in message
        if ",income\n" in content:
            assert "value='income'" in message

    def test_null_is_no_features(self, write):
        graph = read_graph(write("e.csv", "0,1\n"), write("f.json", '{"0": null, "1": [3], "2": null}'))
        same(graph, from_edges([(0, 1)], {0: [], 1: [3], 2: []}))

    def test_values(self, write):
        graph = read_graph(write("e.csv", "0,1\n"), write("f.json", '{"1": {"12": 2.5, "3": 0}}'))
        assert graph.feature_names.tolist() == [3, 12]
        assert graph.features.toarray().tolist() == [[0, 0], [0, 2.5]]

    def test_features_are_text_if_one_of_them_is(self, write):
        graph = read_graph(write("e.csv", "0,1\n"), write("f.json", '{"0": [1, "a"], "1": ["1"]}'))
        assert graph.feature_names.tolist() == ["1", "a"]
        assert graph.features.toarray().tolist() == [[1, 1], [1, 0]]

    def test_nodes_that_only_features_name(self, write):
        edges = write("e.csv", "0,1\n")
        by_json = write("f.json", '{"0": [1], "8": [1], "9": []}')
        assert read_graph(edges, by_json).node_ids.tolist() == [0, 1, 8, 9]
        message = refused(edges, by_json, unknown="error")
        assert "f.json: 2 node(s) that no edge names: 8, 9" in message
        by_table = write("f.csv", "# made by hand\nnode,feature\n0,1\n\n8,1\n9,1\n8,2\n")
        message = refused(edges, by_table, unknown="error")
        assert "f.csv, line 5: 2 node(s)" in message
        assert read_graph(edges, write("g.csv", "0,1\n1,1\n"), unknown="error").n_features == 1

    def test_nodes_must_be_named_as_in_the_edges(self, write):
        message = refused(write("e.csv", "0,1\n"), write("f.json", '{"0": [1], "ann": [2]}'))
        assert "f.json: node 'ann' is not a whole number" in message

    @pytest.mark.parametrize(
        ("content", "why"),
        [
            ('{"0": [1, 5], "1": [2', "line 1, column 22: the file ends too early"),
            ('{"0": [1],\n"1": ["te', "line 2"),
            ('{"0": [1],\n"1": [2,]}', "line 2"),
            ("[[1, 5], [2]]", "is a table in JSON"),
            ('{"0": 5}', "node '0': expected a list"),
            ('{"0": [1.5]}', "node '0': 1.5 is not a feature"),
            ('{"0": [true]}', "node '0': True is not a feature"),
            ('{"0": [[1]]}', "node '0': [1] is not a feature"),
            ('{"0": {"7": -1}}', "node '0', feature '7': the value is -1"),
            ('{"0": {"7": "1"}}', "node '0', feature '7': the value is '1'"),
            ('{"0": {"7": NaN}}', "NaN"),
            ('{"0": {"7": 1e999}}', "node '0', feature '7': the value is inf"),
            ('{"0": [1], "1": [2], "0": [3]}', "the key '0' occurs twice"),
            ("{" + '"a":{' * 100_000, "nested too deeply"),
        ],
    )
    def test_bad_json(self, write, content, why):
        message = refused(write("e.csv", "0,1\n"), write("f.json", content))
        assert "f.json" in message
        assert why in message

    def test_bad_tables(self, write):
        edges = write("e.csv", "0,1\n")
        assert "f.csv, line 3: the value is -1" in refused(edges, write("f.csv", "node,feature,value\n0,a,1\n1,b,-1\n"))
        assert "f.csv, line 1: 4 column(s); expected node,feature" in refused(edges, write("f.csv", "0,1,2,3\n"))

    @pytest.mark.parametrize("features", ['{" ann ": ["tea"], "bob": ["go"]}', '{" ann ": {"tea": 1}, "bob": ["go"]}'])
    def test_blanks_around_nodes_are_no_part_of_their_names_in_json_either(self, write, features):
        edges = write("edges.csv", "from,to\n ann ,bob\nbob,eve\n")
        graph = read_graph(edges, write("features.json", features), header=True)
        assert graph.node_ids.tolist() == ["ann", "bob", "eve"]
        assert graph.features.toarray().tolist() == [[1, 0], [0, 1], [0, 0]]
        with pytest.raises(FileFormatError, match="'ann' occurs twice, with and without blanks"):
            read_graph(edges, write("twice.json", '{" ann ": ["tea"], "ann": ["go"]}'), header=True)


class TestLabels:
    EDGES = "0,1\n1,2\n"

    @pytest.mark.parametrize(
        ("content", "columns", "expected"),
        [
            ("id,target\n0,5\n2,7\n1,6\n", {}, [5, 6, 7]),
            ("0,5\n2,7.5\n1,6\n", {}, [5, 6, 7.5]),
            ('id,name,kind\n0,"a, b",x\n1,c,y\n2,d,x\n1,c,y\n', {}, ["x", "y", "x"]),
            (
                "id,flag,new\n90,True,2\n91,False,0\n",
                {"node_column": "new", "label_column": "flag"},
                ["False", None, "True"],
            ),
            ("id,target\n0,5\n1,\n", {}, [5, np.nan, np.nan]),
            ("who,kind\n0,x\n1,y\n", {"label_column": "kind"}, ["x", "y", None]),
        ],
    )
    def test_columns_and_kinds(self, write, content, columns, expected):
        graph = read_graph(write("e.csv", self.EDGES), labels=write("l.csv", content), **columns)
        np.testing.assert_array_equal(graph.labels, expected)

    def test_labels_of_other_nodes_are_left_out_with_a_warning(self, write):
        path = write("l.csv", "id,kind\n0,x\n98,y\n1,z\n99,y\n98,x\n")
        with pytest.warns(HopscaleWarning, match=r"l\.csv: the labels of 2 of 4 nodes .* 98, 99, .*line 3") as caught:
            graph = read_graph(write("e.csv", self.EDGES), labels=path)
        assert caught[0].filename == __file__
        assert graph.labels.tolist() == ["x", "z", None]

    def test_the_column_that_is_left_is_the_label(self, write):
        edges = write("e.csv", self.EDGES)
        path = write("l.csv", "kind,id\nx,0\ny,1\nx,2\n")
        assert read_graph(edges, labels=path, node_column="id").labels.tolist() == ["x", "y", "x"]
        path = write("l.csv", "kind,size,id\nx,5,0\ny,6,1\nx,7,2\n")
        assert "name that of the labels with label_column" in refused(edges, labels=path, node_column="id")
        with pytest.warns(HopscaleWarning, match="the last of 3 columns, 'id', is taken for the labels.*label_column"):
            read_graph(edges, labels=write("l.csv", "kind,size,id\n0,5,8\n1,6,9\n"))

    def test_ids_as_spreadsheets_write_them(self, write):
        path = write("l.csv", "account,kind\n2.0,x\n0.0,y\n1.0,z\n")
        assert read_graph(write("e.csv", self.EDGES), labels=path).labels.tolist() == ["y", "z", "x"]

    def test_classes_that_differ_in_case_or_blanks_alone(self, write):
        path = write("l.csv", "id,kind\n0,gamers\n1,GAMERS \n2,coders\n")
        with pytest.warns(HopscaleWarning, match=r"l.csv: 'GAMERS' and 'gamers' are classes of their own"):
            read_graph(write("e.csv", self.EDGES), labels=path)
        nodes = write("n.csv", "id,kind,x\n0,gamers,a\n1,GAMERS,b\n2,coders,a\n")
        with pytest.warns(HopscaleWarning, match=r"column 'kind': 'GAMERS' and 'gamers' are classes of their own"):
            read_graph(write("e.csv", self.EDGES), nodes=nodes, label_column="kind")

    def test_a_series_of_pandas(self, write):
        path = write("l.csv", ",kind\nann,x\nbob,y\n")
        with no_warning():
            assert read_graph(write("e.csv", "ann,bob\n"), labels=path).labels.tolist() == ["x", "y"]

    @pytest.mark.parametrize(
        ("content", "columns", "why"),
        [
            ("id,days,new\n98,1,0\n99,1,1\n", {}, "line 2: node 98 is in neither"),
            ("id,days,new\n0,1,0\n99,1,1\n", {"unknown": "error"}, "line 3: node 99 is in neither"),
            ("id,days,new\n0,1,0\n99,1,1\n", {"unknown": "error"}, "['id', 'days', 'new']"),
            (",id,target\n7,0,1\n8,1,1\n", {}, "index=False"),
            ("id,target\n0,1\n0,2\n", {}, "line 3: node 0 has label '2', but '1' before"),
            ("id,target\n0,1\n1\n", {}, "line 3: 1 column(s) instead of 2"),
            ("id\n0\n", {}, "line 2: 1 column(s)"),
            ("id,target\n0,1\n", {"label_column": "kind"}, "no column 'kind'; its columns are ['id', 'target']"),
            ("0,1\n", {"node_column": "id"}, "no column 'id'; it has no header"),
            ("id,target\n0,\xff\n".encode("latin-1"), {}, "line 2: byte 0xff"),
        ],
    )
    def test_mistakes(self, write, content, columns, why):
        message = refused(write("e.csv", self.EDGES), labels=write("l.csv", content), **columns)
        assert "l.csv" in message
        assert why in message


class TestMistakesInEdges:
    @pytest.mark.parametrize(
        ("content", "why"),
        [
            ("0,1\n1,2\n\n2\n", "line 4: 1 column(s) instead of 2"),
            ("0,1\n1,2,5\n", "line 2: 3 column(s) instead of 2"),
            ("id_1,id_2\n0,1\n1,\n", "line 3: column 2 is empty"),
            ("0,1\n,\n", "line 2: column 1 is empty"),
            ("0\n1\n", "line 1: 1 column(s); expected source,target"),
            ("0,1,1\n1,2,far\n", "line 2: the weight is 'far', which is not a number"),
            ("0,1,1\n1,2,\n", "line 2: the weight is ''"),
            ("0,1,1\n1,2,nan\n", "line 2: the weight is nan"),
            ("0,1,1\n1,2,inf\n", "line 2: the weight is inf"),
            ("# made by hand\n\n0,1,1\n1,2,-3\n", "line 4: the weight is -3"),
            ('a,b\na,"c\n', "line 2"),
            (b"0,1\n1,\x002\n", "line 2: a NUL byte"),
            ("0,1\n".encode("utf-16"), "UTF-16"),
            (b"0,1\n1,2\ncaf\xe9,2\n", "line 3: byte 0xe9 is not UTF-8"),
            ("", "is empty"),
            (" \n\n", "is empty"),
            ("# nothing\n", "no rows, only comments"),
            ("id_1,id_2\n", "has a header, but no rows"),
        ],
    )
    def test_name_the_line(self, write, content, why):
        path = write("e.csv", content)
        message = refused(path)
        assert message.startswith(str(path))
        assert why in message

    def test_late_mistake_in_a_long_file(self, write):
        lines = [f"{row},{row + 1}" for row in range(20_000)]
        lines[17_123] = "5,six,7"
        assert "line 17124: 3 column(s)" in refused(write("e.csv", "\n".join(lines)))

    def test_missing_file(self, tmp_path, write):
        write("edges.csv", "0,1\n")
        with pytest.raises(FileNotFoundError, match=r"no file .*edge\.csv; did you mean .*edges\.csv") as caught:
            read_graph(tmp_path / "edge.csv")
        assert isinstance(caught.value, HopscaleError)
        with pytest.raises(FileNotFoundError, match="does not exist either"):
            read_graph(tmp_path / "nowhere" / "edges.csv")
        with pytest.raises(FileNotFoundError):
            read_graph(tmp_path / "edges.csv", tmp_path / "features.json")

    def test_directory(self, tmp_path):
        assert "is a folder" in refused(tmp_path)

    def test_damaged_gzip(self, write, tmp_path):
        whole = gzip.compress(b"0,1\n1,2\n" * 500)
        cut = tmp_path / "cut.csv.gz"
        cut.write_bytes(whole[:-12])
        assert "cut short or damaged" in refused(cut)
        broken = tmp_path / "broken.csv.gz"
        broken.write_bytes(whole[:20] + b"\xff\xff\xff" + whole[23:])
        assert "cut short or damaged" in refused(broken)

    def test_packed_files_are_told_what_to_do(self, tmp_path, write):
        edges, archive = write("e.csv", "0,1\n"), tmp_path / "t.zip"
        with zipfile.ZipFile(archive, "w") as files:
            files.write(edges)
        for paths in ((archive,), (edges, archive), (edges, None, archive)):
            assert "unzip it" in refused(*paths)

    def test_unknown_word(self, write):
        with pytest.raises(ParameterError, match="'isolate' or 'error'"):
            read_graph(write("e.csv", "0,1\n"), unknown="ignore")


class TestOtherFormats:
    @pytest.mark.parametrize(
        "content", ['[{"id": 1, "to": 2}]', '{"id": 1, "x": [1]}\n{"id": 2, "x": []}\n', '["a", "b"]\n["b", "c"]\n']
    )
    def test_tables_in_json_are_told_what_to_do(self, write, content):
        table, edges = write("t.json", content), write("e.csv", "1,2\n2,3\n")
        for files in ({"edges": table}, *({"edges": edges, kind: table} for kind in ("nodes", "features", "labels"))):
            assert "t.json is a table in JSON, which is not read: write it as CSV or Parquet" in refused(**files)

    @pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be"])
    def test_utf_16_is_named(self, write, encoding):
        mark = "" if encoding == "utf-16" else "\ufeff"
        assert "UTF-16" in refused(write("e.csv", (mark + "a,b\nb,c\n").encode(encoding)))

    @pytest.mark.parametrize("first", ["sep=;\n", '"sep=;"\r\n', "SEP=;\n"])
    def test_a_first_line_that_says_the_delimiter(self, write, first):
        graph = read_graph(write("e.csv", first + "from;to\nann,bob;eve\neve;joe, max\n"))
        assert graph.node_ids.tolist() == ["ann,bob", "eve", "joe, max"]
        assert "line 4" in refused(write("e.csv", "sep=;\nfrom;to\na;b\nc\n"))


@pytest.mark.skipif(not DATA.is_dir(), reason="the paper's data is not here; HOPSCALE_DATA names its folder")
class TestPublishedData:
    def test_chameleon_has_the_counts_of_the_paper(self):
        graph = read_graph(DATA / "wiki-chameleon.npz", self_loops=True)
        assert (graph.n_nodes, graph.n_edges) == (2277, 31421)
        assert np.unique(graph.features.indices).size == 3132
        assert read_graph(DATA / "wiki-chameleon.npz").n_edges == 31421 - 50
        assert graph.labels.min() == 15

    def test_the_authors_own_files_give_the_same_graph(self, tmp_path):
        archive = DATA / "raw" / "twitch.zip"
        if not archive.exists():
            pytest.skip("the publishers' own files are not here")
        with zipfile.ZipFile(archive) as files:
            paths = [
                files.extract(f"twitch/PTBR/musae_PTBR_{part}", tmp_path)
                for part in ("edges.csv", "features.json", "target.csv")
            ]
        graph = read_graph(*paths, node_column="new_id", label_column="mature", unknown="error")
        packed = read_graph(DATA / "twitch-pt.npz")
        assert (abs(graph.adjacency - packed.adjacency)).nnz == 0
        ours = packed.features[:, graph.feature_names]
        assert abs(graph.features - ours).nnz == 0
        assert graph.features.nnz == packed.features.nnz == 38019
        assert (graph.labels == "True").tolist() == (packed.labels == "mature").tolist()
        with pytest.raises(FileFormatError, match=r"target\.csv, line 2: node .* node_column"):
            read_graph(*paths)
