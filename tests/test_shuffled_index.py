"""Whatever has an index, or a column of ids, lands on the right nodes, however its rows are ordered.

One small graph comes in by every door, once with its tables in the order of the nodes and once shuffled: both must be
the same graph. What cannot be matched is refused, or counted in a warning.
"""

import re
import tempfile
from types import SimpleNamespace

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn
from sklearn import config_context
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import hopscale
from hopscale import MUSAE, AttributedGraph, evaluate, from_edges, from_networkx, from_pyg, from_tables, read_graph
from hopscale.exceptions import GraphError, HopscaleWarning, UnknownNodeError
from hopscale.features import binned, signed
from hopscale.tasks import few_shot, likely_task, node_classification, node_regression, summarize, transfer

IDS = [f"n{i}" for i in range(24)]
RING = [(IDS[i], IDS[(i + 1) % 24]) for i in range(24)] + [(IDS[i], IDS[(i + 5) % 24]) for i in range(24)]
VALUES = np.arange(1.0, 73.0).reshape(24, 3)
CLASSES = ["low" if i < 12 else "high" for i in range(24)]
ORDERS = ("in order", "shuffled")


def shuffled(table, order):
    return table.sample(frac=1, random_state=3) if order == "shuffled" else table


def frame(order):
    return shuffled(pd.DataFrame(VALUES, index=IDS, columns=["x", "y", "z"]), order)


def classes(order):
    return shuffled(pd.Series(CLASSES, index=IDS, name="class"), order)


def likes(order):
    """Lists of features by node."""
    return shuffled(pd.Series([[f"f{i % 3}", f"g{i}"] for i in range(24)], index=IDS), order)


def dense(graph):
    """Everything that a graph holds, by name, so that orders of nodes and features do not matter."""
    names, rows, columns = graph.feature_names.tolist(), graph.node_ids.tolist(), graph.features.toarray()
    adjacency = graph.adjacency.tocoo()
    return {
        "nodes": set(rows),
        "edges": {(rows[u], rows[v]): w for u, v, w in zip(*adjacency.coords, adjacency.data.tolist(), strict=True)},
        "features": {
            (node, name): columns[i, j] for i, node in enumerate(rows) for j, name in enumerate(names) if columns[i, j]
        },
        "labels": None if graph.labels is None else dict(zip(rows, graph.labels.tolist(), strict=True)),
    }


def adjacency():
    return nx.to_numpy_array(nx.Graph(RING), nodelist=IDS)


def networkx_graph():
    graph = nx.Graph()
    graph.add_nodes_from(IDS)
    graph.add_edges_from(RING)
    return graph


def adjacency_frame(order):
    table = shuffled(pd.DataFrame(adjacency(), index=IDS, columns=IDS), order)
    return table if order == "in order" else table.sample(frac=1, axis=1, random_state=4)


def edge_frame():
    return pd.DataFrame(RING, columns=["a", "b"], index=[f"e{i}" for i in range(48)])


def people(order):
    """A table of nodes as people have them."""
    table = pd.DataFrame(
        {"user": IDS, "city": ["Rome", "Oslo", "Bern"] * 8, "age": [20 + i % 4 for i in range(24)], "class": CLASSES}
    )
    return shuffled(table, order)


def node_list(order):
    return pa.table({name: column.tolist() for name, column in people(order).items()})


def with_attributes(order):
    graph = nx.Graph()
    for row in people(order).itertuples(index=False):
        graph.add_node(row.user, city=row.city, age=row.age)
    graph.add_edges_from(RING)
    return graph


def data(order):
    """A stand-in for torch_geometric's Data, whose rows are in some order."""
    ids = shuffled(pd.Series(IDS), order)
    row = {name: i for i, name in enumerate(ids)}
    pairs = np.array([(row[u], row[v]) for u, v in RING]).T
    return SimpleNamespace(
        edge_index=np.concatenate([pairs, pairs[::-1]], axis=1),
        num_nodes=24,
        x=VALUES[ids.index],
        y=np.arange(24)[ids.index],
        node_ids=ids.tolist(),
    )


def files(order):
    """Files of edges, features and labels in a folder of their own."""
    with tempfile.TemporaryDirectory() as folder:
        places = [f"{folder}/{name}.csv" for name in ("edges", "features", "labels")]
        pd.DataFrame(RING, columns=["source", "target"]).to_csv(places[0], index=False)
        likes(order).explode().rename_axis("node").rename("feature").to_csv(places[1])
        classes(order).rename_axis("node").to_csv(places[2])
        return read_graph(*places)


def saved(order):
    with tempfile.TemporaryDirectory() as folder:
        from_edges(RING, frame(order), labels=classes(order)).save(f"{folder}/g.npz")
        return read_graph(f"{folder}/g.npz")


def graphml(order):
    with tempfile.TemporaryDirectory() as folder:
        nx.write_graphml(with_attributes(order), f"{folder}/g.graphml")
        return read_graph(f"{folder}/g.graphml")


DOORS = {
    "files": files,
    "npz": saved,
    "graphml": graphml,
    "torch_geometric": lambda order: from_pyg(data(order)),
    "from_networkx, attributes": lambda order: from_networkx(with_attributes(order), features=["city", "age"]),
    "from_tables, nodes": lambda order: from_tables(edge_frame(), nodes=people(order), label_column="class"),
    "from_tables, nodes by index": lambda order: from_tables(
        edge_frame(), nodes=people(order).set_index("user"), label_column="class"
    ),
    "from_tables, nodes by an index without name": lambda order: from_tables(
        edge_frame(), nodes=people(order).set_index("user").rename_axis(None), label_column="class"
    ),
    "from_tables, nodes of pyarrow": lambda order: from_tables(
        edge_frame(), nodes=node_list(order), label_column="class"
    ),
    "from_edges, features": lambda order: from_edges(RING, frame(order), node_ids=IDS),
    "from_edges, features without node_ids": lambda order: from_edges(RING, frame(order)),
    "from_edges, lists": lambda order: from_edges(RING, likes(order), node_ids=IDS),
    "from_edges, lists without node_ids": lambda order: from_edges(RING, likes(order)),
    "from_edges, sparse": lambda order: from_edges(RING, frame(order).astype(pd.SparseDtype(float, 0)), node_ids=IDS),
    "from_edges, labels": lambda order: from_edges(RING, labels=classes(order)),
    "from_edges, labels by mapping": lambda order: from_edges(RING, labels=dict(classes(order))),
    "from_edges, weights": lambda order: from_edges(
        edge_frame(), weights=shuffled(pd.Series(np.arange(1.0, 49), index=edge_frame().index), order)
    ),
    "from_edges, weights by row number": lambda order: from_edges(
        RING, weights=shuffled(pd.Series(np.arange(1.0, 49)), order)
    ),
    "AttributedGraph, features": lambda order: AttributedGraph(adjacency(), frame(order), node_ids=IDS),
    "AttributedGraph, columns": lambda order: AttributedGraph(
        adjacency(),
        frame(order) if order == "in order" else frame(order)[["z", "x", "y"]],
        node_ids=IDS,
        feature_names=["x", "y", "z"],
    ),
    "AttributedGraph, labels": lambda order: AttributedGraph(adjacency(), node_ids=IDS, labels=classes(order)),
    "AttributedGraph, labels by mapping": lambda order: AttributedGraph(
        adjacency(), node_ids=IDS, labels=dict(classes(order))
    ),
    "AttributedGraph, adjacency": lambda order: AttributedGraph(adjacency_frame(order), frame(order), node_ids=IDS),
    "from_networkx, features": lambda order: from_networkx(networkx_graph(), features=frame(order)),
    "from_networkx, lists": lambda order: from_networkx(networkx_graph(), features=likes(order)),
    "from_networkx, mapping": lambda order: from_networkx(networkx_graph(), features=dict(likes(order))),
    "from_tables, labels": lambda order: from_tables(
        edge_frame(), labels=classes(order).rename_axis("id").reset_index()
    ),
    "from_tables, labels by index": lambda order: from_tables(edge_frame(), labels=classes(order).to_frame()),
    "from_tables, labels by named index": lambda order: from_tables(
        edge_frame(), labels=classes(order).rename_axis("id").to_frame()
    ),
    "from_tables, labels as series": lambda order: from_tables(edge_frame(), labels=classes(order)),
    "from_tables, features by index": lambda order: from_tables(edge_frame(), likes(order).explode().to_frame("f")),
    "from_tables, features by named index": lambda order: from_tables(
        edge_frame(), likes(order).explode().rename_axis("id").to_frame("f").assign(value=2.0)
    ),
}


@pytest.mark.parametrize("door", DOORS)
def test_a_shuffled_index_gives_the_same_graph(door):
    assert dense(DOORS[door]("shuffled")) == dense(DOORS[door]("in order"))


def test_rows_of_frames_lie_on_their_nodes_under_the_names_of_their_columns():
    graph = from_edges(RING, frame("shuffled"), labels=classes("shuffled"))
    assert graph.feature_names.tolist() == ["x", "y", "z"]
    assert graph.features[[graph.index_of("n7")]].toarray().tolist() == [VALUES[7].tolist()]
    assert graph.labels[graph.index_of("n7")] == "low"


@pytest.fixture(scope="module")
def blocks():
    """A graph whose classes can be learnt, with names whose order is not that of the rows."""
    graph = hopscale.load("planted-blocks")
    names = [f"user{i:04d}" for i in np.random.default_rng(5).permutation(graph.n_nodes)]
    return AttributedGraph(graph.adjacency, graph.features, node_ids=names, labels=graph.labels)


@pytest.fixture(scope="module")
def model(blocks):
    return MUSAE(dimensions=16).fit(blocks)


def mean(records, metric="micro_f1"):
    return summarize(records)[metric]["mean"]


class TestTasks:
    @pytest.fixture(params=ORDERS)
    def labels(self, request, blocks):
        return shuffled(pd.Series(blocks.labels, index=blocks.node_ids), request.param)

    @pytest.mark.parametrize("task", [evaluate, node_classification, few_shot])
    def test_labels_of_a_model_are_matched_by_id(self, task, model, labels, blocks):
        settings = {"samples_per_class": 5} if task is few_shot else {}
        expected = task(model.embedding_, blocks.labels, splits=2, **settings)
        assert task(model, labels, splits=2, **settings) == expected
        assert task(model, dict(labels), splits=2, **settings) == expected

    def test_labels_of_a_frame_of_vectors_are_matched_by_its_index(self, model, labels, blocks):
        vectors = pd.DataFrame(model.embedding_, index=blocks.node_ids)
        assert evaluate(vectors, labels, splits=2) == evaluate(model.embedding_, blocks.labels, splits=2)

    def test_values_are_matched_by_id(self, model, blocks):
        values = pd.Series(model.embedding_[:, 0] * 2.5, index=blocks.node_ids).sample(frac=1, random_state=0)
        expected = node_regression(model.embedding_, model.embedding_[:, 0] * 2.5, splits=2)
        assert node_regression(model, values, splits=2) == expected
        assert evaluate(model, dict(values), splits=2) == expected
        assert likely_task(dict(values)) == likely_task(values) == likely_task(values.to_numpy())

    def test_transfer_matches_the_labels_of_both_graphs(self, model, labels, blocks):
        expected = transfer(model, blocks, blocks)
        assert transfer(model, blocks, blocks, source_labels=labels, target_labels=dict(labels)) == expected

    def test_labels_without_ids_of_vectors_are_refused(self, model, labels):
        for given in (labels, dict(labels)):
            with pytest.raises(GraphError, match=r"no ids.*pass the model"):
                evaluate(model.embedding_, given)

    def test_row_numbers_go_with_plain_vectors(self, model, blocks):
        expected = evaluate(model.embedding_, blocks.labels, splits=2)
        assert evaluate(model.embedding_, pd.Series(blocks.labels), splits=2) == expected

    def test_missing_ids_have_no_label_and_others_are_counted(self, model, labels):
        with pytest.warns(HopscaleWarning, match="1 of 101 .*'stranger'"):
            records = evaluate(
                model, pd.concat([labels.sample(100, random_state=0), pd.Series({"stranger": 0})]), splits=1
            )
        assert records[0]["n_train"] + records[0]["n_test"] == 100


SERIES = pd.Series(CLASSES)
REFUSED = {
    "default index": (SERIES, r'default index.*\.set_index\("id"\).*\.to_numpy\(\)'),
    "nothing in common": (SERIES.set_axis(range(100, 124)), "nothing in common.*100.*'n0'"),
    "numbers as text": (SERIES.set_axis(list(map(str, range(24)))), "nothing in common"),
    "twice": (SERIES.set_axis([*IDS[:23], "n0"]), "'n0'.*twice"),
    "missing": (SERIES.set_axis([*IDS[:23], None]), "missing"),
}


@pytest.mark.parametrize("case", REFUSED)
@pytest.mark.parametrize(
    "door",
    [
        lambda given: from_edges(RING, labels=given),
        lambda given: AttributedGraph(adjacency(), node_ids=IDS, labels=given),
        lambda given: from_edges(RING, given.map(lambda name: [name])),
        lambda given: from_edges(RING, pd.DataFrame({"x": 1.0}, index=given.index)),
        lambda given: from_edges(RING, pd.DataFrame({"x": 1.0}, index=given.index), node_ids=IDS),
        lambda given: AttributedGraph(adjacency(), pd.DataFrame({"x": 1.0}, index=given.index), node_ids=IDS),
        lambda given: from_networkx(networkx_graph(), features=pd.DataFrame({"x": 1.0}, index=given.index)),
        lambda given: evaluate(MUSAE(8).fit(from_edges(RING, frame("shuffled"))), given),
    ],
)
def test_an_index_that_cannot_be_matched_is_refused(door, case):
    given, message = REFUSED[case]
    with pytest.raises(GraphError) as caught:
        door(given)
    assert re.search(message, str(caught.value))


class TestDefaultIndex:
    def test_row_numbers_are_the_ids_where_the_ids_are_row_numbers(self):
        edges = [(i, (i + 1) % 6) for i in range(6)]
        table = pd.DataFrame({"x": np.arange(1.0, 7)})
        assert from_edges(edges, table).features.toarray().ravel().tolist() == [1, 2, 3, 4, 5, 6]
        assert from_edges(edges, labels=pd.Series(range(6))).labels.tolist() == [0, 1, 2, 3, 4, 5]

    def test_numbers_in_another_order_could_mean_either(self):
        edges, ids = [(2, 0), (0, 1)], [2, 0, 1]
        with pytest.raises(GraphError, match="default index"):
            from_edges(edges, labels=pd.Series(["a", "b", "c"]), node_ids=ids)
        named = pd.Series(["a", "b", "c"]).rename_axis("id")
        assert from_edges(edges, labels=named, node_ids=ids).labels.tolist() == ["c", "a", "b"]

    @pytest.mark.parametrize("name", ["id", "user_id", "userId", "Page ID", "node"])
    def test_a_column_of_ids_is_no_feature(self, name):
        table = pd.DataFrame({name: [2, 1, 0], "x": [1.0, 2.0, 3.0]})
        with pytest.raises(GraphError, match=rf'column.*set_index\("{name}"\)'):
            from_edges([(0, 1), (1, 2)], table)
        assert from_edges([(0, 1), (1, 2)], table.assign(**{name: [0, 1, 1]})).n_features == 2  # a word like any other

    def test_tables_without_an_index_are_no_matrices(self):
        for table in (pl.DataFrame({"x": [1.0, 2.0]}), pl.DataFrame({"x": [1.0, 2.0]}).to_arrow()):
            with pytest.raises(GraphError, match="from_tables"):
                from_edges([(0, 1)], table)

    def test_columns_that_are_no_numbers_are_named(self):
        table = pd.DataFrame({"x": [1.0, 2.0], "city": ["Rome", "Oslo"]})
        with pytest.raises(GraphError, match=r"'city'.*nodes="):
            from_edges([(0, 1)], table)


class TestTables:
    LABELS = pd.DataFrame({"user": IDS, "class": CLASSES})

    def test_rows_that_were_chosen_are_numbered_and_not_named(self):
        graph = from_tables(edge_frame(), labels=self.LABELS[5:].sample(frac=1, random_state=0))
        assert dense(graph)["labels"] == dict(zip(IDS, [None] * 5 + CLASSES[5:], strict=True))

    def test_two_columns_that_could_hold_the_nodes_are_a_question(self):
        table = self.LABELS.assign(team="x").set_index("user")[["team", "class"]]
        with pytest.raises(GraphError, match=r"'user'.*reset_index\(\).*node"):
            from_tables(edge_frame(), labels=table)
        graph = from_tables(
            edge_frame(), labels=table.sample(frac=1, random_state=0), node_column="user", label_column="class"
        )
        assert dense(graph)["labels"] == dict(zip(IDS, CLASSES, strict=True))

    def test_a_column_that_was_kept_beside_the_index_is_taken_once(self):
        graph = from_tables(edge_frame(), labels=self.LABELS.set_index("user", drop=False))
        assert dense(graph)["labels"] == dict(zip(IDS, CLASSES, strict=True))


class TestFrames:
    def test_ids_that_a_frame_leaves_out_have_no_features_and_others_are_counted(self):
        table = pd.concat([frame("shuffled").drop(index="n3"), pd.DataFrame(1.0, index=["new"], columns=list("xyz"))])
        with pytest.warns(HopscaleWarning, match="1 of 24 .*'new'"):
            graph = from_edges(RING, table, node_ids=IDS)
        assert not graph.features[[3]].nnz
        assert graph.features[[4]].toarray().tolist() == [VALUES[4].tolist()]
        assert "new" in from_edges(RING, table).node_ids.tolist()  # without node_ids it is a node like any other

    def test_columns_that_are_not_among_the_feature_names_are_refused(self):
        with pytest.raises(GraphError, match="'z'"):
            AttributedGraph(adjacency(), frame("in order"), node_ids=IDS, feature_names=["x", "y"])

    @pytest.mark.parametrize("dtype", ["float64", "Float64", pd.SparseDtype(float, 0.0)])
    def test_a_missing_cell_is_named(self, dtype):
        table = frame("shuffled")
        table.loc["n7", "y"] = np.nan
        table = table.astype(dtype)
        for make in (lambda: from_edges(RING, table), lambda: AttributedGraph(adjacency(), table, node_ids=IDS)):
            with pytest.raises(GraphError, match=r"1 missing cell.*'y' of 'n7'"):
                make()
        lists = likes("shuffled")
        lists["n7"] = None
        assert from_edges(RING, lists).features.nnz == 46

    def test_an_adjacency_frame_names_the_nodes(self):
        graph = AttributedGraph(adjacency_frame("shuffled"))
        assert sorted(graph.node_ids) == sorted(IDS)
        assert graph.adjacency[graph.index_of("n3"), graph.index_of("n8")] == 1
        with pytest.raises(GraphError, match="'n23' is among the rows, but not"):
            AttributedGraph(adjacency_frame("in order").rename(columns={"n23": "other"}))

    def test_numbers_of_any_kind(self):
        for dtype in ("Int64", "bool", "uint8", "float32"):
            graph = from_edges(RING, frame("shuffled").astype(dtype))
            expected = frame("in order").astype(dtype).astype(float).loc[graph.node_ids]
            np.testing.assert_array_equal(graph.features.toarray(), expected)

    def test_intervals_and_dates_are_no_numbers(self):
        for column in (pd.interval_range(0, periods=24), pd.date_range("2020", periods=24)):
            with pytest.raises(GraphError, match="numbers"):
                from_edges(RING, pd.DataFrame({"x": column}).set_axis(IDS))

    def test_every_edge_has_one_weight(self):
        with pytest.raises(GraphError, match="weights"):
            from_edges(RING, weights=pd.Series(1.0, index=range(1, 49)))
        with pytest.raises(GraphError, match="weights"):
            from_edges(edge_frame(), weights=pd.Series(1.0, index=[f"e{i}" for i in range(1, 49)]))


class TestOutput:
    def test_frames_have_the_ids_as_index(self, blocks):
        for result in (
            MUSAE(8).set_output(transform="pandas").fit_transform(blocks),
            MUSAE(8).set_output(transform="pandas").fit(blocks).transform(blocks),
            MUSAE(8).set_output(transform="pandas").fit(blocks).transform((blocks.adjacency, blocks.features)),
        ):
            assert list(result.columns[:2]) == ["hop0_0", "hop0_1"]
        assert result.index.tolist() == list(range(blocks.n_nodes))
        framed = MUSAE(8).set_output(transform="pandas").fit_transform(blocks)
        assert framed.index.tolist() == blocks.node_ids.tolist()
        labels = pd.Series(blocks.labels, index=blocks.node_ids).sample(frac=1, random_state=1)
        assert evaluate(framed, labels, splits=1) == evaluate(framed.to_numpy(), blocks.labels, splits=1)

    def test_pipelines_copies_and_global_settings_keep_the_ids(self, blocks):
        pipeline = make_pipeline(MUSAE(8), StandardScaler()).set_output(transform="pandas")
        assert pipeline.fit_transform(blocks).index.tolist() == blocks.node_ids.tolist()
        assert pipeline.transform(blocks).index.tolist() == blocks.node_ids.tolist()
        framed = clone(MUSAE(8).set_output(transform="pandas")).fit_transform(blocks)
        assert framed.index.tolist() == blocks.node_ids.tolist()
        with config_context(transform_output="pandas"):
            assert MUSAE(8).fit_transform(blocks).index.tolist() == blocks.node_ids.tolist()
        assert isinstance(MUSAE(8).fit_transform(blocks), np.ndarray)

    @pytest.mark.skipif(sklearn.__version__ < "1.4", reason="scikit-learn has learnt of polars since")
    def test_polars_has_no_index_and_gets_no_column_that_would_be_a_feature(self, blocks):
        model = MUSAE(8).set_output(transform="polars")
        framed = model.fit_transform(blocks)
        assert framed.columns == model.get_feature_names_out().tolist()
        np.testing.assert_array_equal(framed.to_numpy(), model.embedding_)

    def test_transform_frames_the_graph_that_it_is_given(self, blocks):
        model = MUSAE(8).set_output(transform="pandas").fit(blocks)
        rows = np.arange(blocks.n_nodes)[::-1]
        turned = AttributedGraph(blocks.adjacency[rows][:, rows], blocks.features[rows], node_ids=blocks.node_ids[rows])
        there = model.transform(turned)
        assert there.index.tolist() == turned.node_ids.tolist()
        here = model.transform(blocks)
        np.testing.assert_allclose(there.loc[blocks.node_ids], here, atol=1e-5)

    def test_model_as_a_table_of_its_vectors(self, model, blocks):
        table = model.to_frame()
        some = blocks.node_ids[[5, 2, 9]].tolist()
        assert (table.loc[some].to_numpy() == model[some]).all()
        assert (model[some[0]] == model.embedding_[5]).all()
        assert some[0] in model
        assert "nobody" not in model
        assert (model[pd.Index(some)] == model[np.array(some)]).all()
        with pytest.raises(UnknownNodeError, match="nobody"):
            model["nobody"]
        with pytest.raises(UnknownNodeError, match="nobody"):
            model[[some[0], "nobody"]]


@pytest.mark.parametrize("make", [binned, signed])
def test_dense_features_keep_the_index(make):
    graphs = []
    for order in ORDERS:
        features, names = make(frame(order) - 30)
        assert names[0].startswith("x")
        assert features.index.tolist() == frame(order).index.tolist()
        graphs.append(from_edges(RING, features, node_ids=IDS, feature_names=names))
    assert (graphs[0].features != graphs[1].features).nnz == 0
    matrix, _ = make(VALUES - 30)
    assert (graphs[1].features != matrix).nnz == 0
    with pytest.raises(GraphError, match="default index"):
        from_edges(RING, make(pd.DataFrame(VALUES))[0], node_ids=IDS)
    for table in (pl.DataFrame(VALUES), pa.table({"x": VALUES[:, 0]}), pd.Series(VALUES[:, 0])):
        with pytest.raises(GraphError, match="to_numpy"):
            make(table)
