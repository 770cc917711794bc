"""New nodes: ``extend``, what ``transform`` must be passed, and matrices that are passed as a second argument."""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from hopscale import AE, HOPE, MUSAE, PMI, SGNS, AttributedGraph, DeepWalk, from_edges, from_tables, load_model
from hopscale.datasets import figure1, planted_blocks
from hopscale.exceptions import GraphError, HopscaleWarning, NotInductiveError, ParameterError
from hopscale.io.joined import joined
from hopscale.models.walk import base as walk_base
from hopscale.solvers.few_rows import are_few
from hopscale.walks import Transitions, WalkContext
from reference import random_graph

FAST_SGNS = SGNS(epochs=1, walk_length=8, walks_per_node=1)
EDGES = [("ann", "bob"), ("bob", "eve"), ("eve", "joe"), ("joe", "ann"), ("joe", "kim")]
TAGS = {"ann": ["chess", "tea"], "bob": ["tea"], "eve": ["go", "tea"], "joe": ["go"], "kim": ["chess"]}


def named(graph, prefix="n"):
    """The graph with text for ids."""
    ids = [f"{prefix}{i}" for i in range(graph.n_nodes)]
    return AttributedGraph(graph.adjacency, graph.features, node_ids=ids, feature_names=graph.feature_names)


def part(graph, rows, columns=slice(None)):
    """The graph induced by some nodes."""
    A = graph.adjacency[rows][:, rows]
    return AttributedGraph(
        A, graph.features[rows], node_ids=graph.node_ids[rows], feature_names=graph.feature_names, self_loops=True
    )


def new_rows(graph, n_old):
    """Edges with a new node at an end, in a random order, and features of the new nodes."""
    coo = sp.triu(graph.adjacency).tocoo()
    u, v = coo.coords
    chosen = (u >= n_old) | (v >= n_old)
    order = np.random.default_rng(0).permutation(int(chosen.sum()))
    ids, names = graph.node_ids, graph.feature_names
    edges = [(ids[b], ids[a]) for a, b in zip(u[chosen][order], v[chosen][order], strict=True)]
    features = {
        ids[row]: {names[f]: x for f, x in zip(own.indices.tolist(), own.data.tolist(), strict=True)}
        for row in range(n_old, graph.n_nodes)
        for own in [graph.features[[row]]]
    }
    return edges, coo.data[chosen][order], features


@pytest.fixture
def quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("error", HopscaleWarning)
        yield


@pytest.fixture
def friends():
    return MUSAE(4, window=1, keep_graph=True).fit(from_edges(EDGES, TAGS))


class TestExtend:
    @pytest.mark.parametrize(
        "model",
        [MUSAE(16), AE(12), MUSAE(16, solver=PMI(rows="sampled", walks=50)), MUSAE(12, solver=FAST_SGNS)],
        ids=["MUSAE", "AE", "sampled", "sgns"],
    )
    @pytest.mark.parametrize(
        "graph",
        [
            random_graph(60, 20, density=0.03, isolated=2),
            random_graph(60, 20, density=0.03, weighted=True, values=True, seed=3),
        ],
        ids=["plain", "weighted"],
    )
    @pytest.mark.filterwarnings("ignore:scale .* dimensions are zero")
    def test_is_transform_of_all_rows_together(self, model, graph):
        whole = named(graph)
        n_old = 50
        model = model.set_params(keep_graph=True).fit(part(whole, np.arange(n_old)))
        before = model.embedding_.copy()
        edges, weights, features = new_rows(whole, n_old)
        ids, vectors = model.extend(edges, features, weights=weights)
        expected = dict(zip(whole.node_ids.tolist(), model.transform(whole), strict=True))
        assert sorted(ids.tolist()) == sorted(whole.node_ids[n_old:].tolist())
        exact = model.solver_.name == "pmi" and not any(s.sampled for s in model.solutions_)
        if exact:
            np.testing.assert_allclose(vectors, [expected[node] for node in ids], atol=2e-5)
        else:  # samples are drawn by row, and rows may stand in another order
            both = joined(model.graph_, from_edges(edges, features, weights=weights)).graph
            np.testing.assert_array_equal(vectors, model.transform(both)[n_old:])
        np.testing.assert_array_equal(model.embedding_, before)
        assert model.graph_.n_nodes == n_old

    @pytest.mark.parametrize("model", [MUSAE(40), AE(32), MUSAE(40, solver=PMI(shift=1.5, noise_exponent=0.8))])
    @pytest.mark.parametrize("amounts", [False, True])
    def test_a_few_nodes_are_placed_by_their_rows_alone(self, model, amounts, monkeypatch):
        whole = named(random_graph(80, 300, density=0.02, weighted=amounts, values=amounts, seed=5))
        n_old = 77
        model = model.set_params(keep_graph=True).fit(part(whole, np.arange(n_old)))
        edges, weights, features = new_rows(whole, n_old)
        few = model.extend(edges, features, weights=weights)
        calls = []
        monkeypatch.setattr(walk_base, "are_few", lambda *_: calls.append(1) or False)
        many = model.extend(edges, features, weights=weights)
        assert calls
        np.testing.assert_array_equal(few[0], many[0])
        np.testing.assert_allclose(few[1], many[1], atol=2e-5)
        assert few[1].any(axis=1).all()

    def test_few_are_those_that_take_less_time_and_fit_the_memory(self):
        context = WalkContext(Transitions(figure1().adjacency), sp.csr_array(np.ones((11, 100), dtype=np.float32)))
        assert are_few(PMI(), context, np.arange(3))
        assert not are_few(PMI(), context, np.arange(4))
        assert not are_few(PMI(memory_limit=1000), context, np.arange(3))

    def test_from_a_file(self, friends, tmp_path):
        friends.save(tmp_path / "m")
        rows = [("zoe", "ann"), ("zoe", "eve")], {"zoe": ["chess"]}
        ids, vectors = load_model(tmp_path / "m").extend(*rows)
        assert ids.tolist() == ["zoe"]
        np.testing.assert_array_equal(vectors, friends.extend(*rows)[1])

    def test_whatever_the_rows_come_as(self, friends):
        edges, tags = [("zoe", "ann"), ("eve", "zoe")], {"zoe": ["chess", "go"]}
        expected = friends.extend(edges, tags)[1]
        table = pd.DataFrame(edges, columns=["from", "to"])
        likes = pd.DataFrame({"who": ["zoe", "zoe"], "what": ["go", "chess"]})
        for rows in (
            (np.array(edges), tags),
            (iter(edges), {"zoe": {"chess": 1.0, "go": 1.0}}),
            (table, likes),
            (table.sample(frac=1, random_state=1), likes[::-1]),
            (from_edges(edges, tags),),
            (from_tables(table, likes),),
        ):
            ids, vectors = friends.extend(*rows)
            assert ids.tolist() == ["zoe"]
            np.testing.assert_allclose(vectors, expected, atol=1e-6)

    def test_order_of_rows_makes_no_difference(self, friends):
        edges = [("zoe", "ann"), ("max", "eve"), ("max", "zoe")]
        tags = {"max": ["go"], "zoe": ["tea"]}
        one = dict(zip(*friends.extend(edges, tags), strict=True))
        other = dict(zip(*friends.extend(edges[::-1], dict(reversed(tags.items()))), strict=True))
        assert set(one) == {"zoe", "max"}
        for node, vector in one.items():
            np.testing.assert_allclose(vector, other[node], atol=1e-6)

    def test_as_a_data_frame(self, friends):
        ids, vectors = friends.extend([("zoe", "ann")], {"zoe": ["tea"]})
        frame = friends.set_output(transform="pandas").extend([("zoe", "ann")], {"zoe": ["tea"]})
        assert frame.index.tolist() == ids.tolist()
        assert frame.columns.tolist() == friends.get_feature_names_out().tolist()
        np.testing.assert_array_equal(frame.to_numpy(), vectors)

    def test_a_new_node_without_features_or_edges(self, friends):
        ids, vectors = friends.extend([("zoe", "ann")], {"max": ["tea"]})
        found = dict(zip(ids.tolist(), vectors, strict=True))
        own, beyond = friends.scale_columns_.values()
        assert not found["zoe"][own].any()
        assert found["zoe"][beyond].any()
        assert found["max"][own].any()
        assert not found["max"][beyond].any()

    def test_needs_the_graph(self):
        model = MUSAE(4).fit(from_edges(EDGES, TAGS))
        with pytest.raises(ParameterError, match=r"has not kept the graph.*keep_graph=True.*transform"):
            model.extend([("zoe", "ann")])

    @pytest.mark.parametrize("model", [DeepWalk(4), MUSAE(8, ego=True), HOPE(2)])
    def test_needs_an_inductive_model(self, model):
        model.set_params(keep_graph=True).fit(figure1())
        with pytest.raises(NotInductiveError):
            model.extend([("new", "A")])

    def test_says_what_it_does_to_known_nodes(self, friends):
        with pytest.warns(
            HopscaleWarning, match=r"^2 new edge.s. are between .* .1 of them known., and 2 .* .1 of them known."
        ):
            friends.extend([("zoe", "ann"), ("ann", "bob"), ("kim", "bob")], {"ann": ["tea", "go"], "zoe": ["go"]})

    def test_rows_of_known_nodes_count(self, friends):
        with pytest.warns(HopscaleWarning, match="walks from the new nodes meet them"):
            _, vectors = friends.extend([("zoe", "kim")], {"kim": ["go"]})
        together = from_edges([*EDGES, ("zoe", "kim")], {**TAGS, "kim": ["chess", "go"]})
        row = together.index_of("zoe")
        np.testing.assert_allclose(vectors[0], friends.transform(together)[row], atol=1e-6)

    def test_ids_of_another_kind(self):
        graph = planted_blocks(n_nodes=60)
        model = MUSAE(8, keep_graph=True).fit(graph)
        with pytest.warns(HopscaleWarning, match=r"no new edge leads to a node .* It has 0, the new rows '100'"):
            model.extend([("100", "3")], {"100": [0]})

    def test_no_new_node(self, friends):
        with pytest.warns(HopscaleWarning, match="name no node that the model does not know"):
            ids, vectors = friends.extend([("ann", "eve")])
        assert (len(ids), vectors.shape) == (0, (0, 4))

    def test_new_features_are_ignored_as_in_transform(self, friends):
        with pytest.warns(HopscaleWarning, match=r"1 feature.s. .* are unknown to this model"):
            friends.extend([("zoe", "ann")], {"zoe": ["tea", "skat"]})

    def test_rows_that_are_wrong(self, friends):
        with pytest.raises(GraphError, match="edge 0 must be a pair"):
            friends.extend([("zoe", "ann", 3.0)])
        with pytest.raises(GraphError, match="pass the graph alone"):
            friends.extend(from_edges(EDGES), TAGS)
        with pytest.raises(GraphError, match="weights of a table are a column"):
            friends.extend(pd.DataFrame({"a": ["zoe"], "b": ["ann"]}), weights=[2.0])


class TestNodeTables:
    """New nodes as rows of the table that the features of the fit came from."""

    edges = pd.DataFrame([*EDGES, ("kim", "lea"), ("lea", "moe")], columns=["from", "to"])
    people = pd.DataFrame(
        {
            "who": ["ann", "bob", "eve", "joe", "kim", "lea", "moe"],
            "country": ["FR", "DE", "FR", "DE", "FR", "DE", "FR"],
            "age": [20.5, 31.0, 40.25, 55.0, 28.0, 61.5, 35.0],
        }
    )
    new_edges = pd.DataFrame({"from": ["zoe", "max"], "to": ["ann", "zoe"]})
    new_people = pd.DataFrame({"who": ["max", "zoe"], "country": ["DE", "FR"], "age": [33.0, 22.0]})

    @pytest.fixture
    def model(self):
        graph = from_tables(self.edges, nodes=self.people, id_column="who", columns={"age": "number"})
        return MUSAE(8, window=1, keep_graph=True).fit(graph)

    def expected(self, model):
        """What all rows in one table give."""
        edges, people = pd.concat([self.edges, self.new_edges]), pd.concat([self.people, self.new_people])
        graph = from_tables(edges, nodes=people, id_column="who", encoder=model.encoder_)
        return dict(zip(graph.node_ids.tolist(), model.transform(graph), strict=True))

    def same(self, model, found):
        ids, vectors = found
        expected = self.expected(model)
        assert sorted(ids) == ["max", "zoe"]
        np.testing.assert_allclose(vectors, [expected[node] for node in ids], atol=1e-6)

    def test_rows_are_encoded_as_those_of_the_fit(self, model):
        self.same(model, model.extend(self.new_edges, nodes=self.new_people))
        self.same(model, model.extend(self.new_edges.to_numpy(), nodes=self.new_people, id_column="who"))
        self.same(model, model.extend(self.new_edges, nodes=self.new_people[::-1].set_index("who")))
        graph = from_tables(self.new_edges, nodes=self.new_people, encoder=model.encoder_)
        self.same(model, model.extend(graph))

    def test_from_a_file(self, model, tmp_path):
        model.save(tmp_path / "m")
        self.same(model, load_model(tmp_path / "m").extend(self.new_edges, nodes=self.new_people))

    def test_rows_of_known_nodes_change_nothing(self, model):
        """A row says what a node is: it must not add up with what is known."""
        changed = self.people.assign(country="DE")
        table = pd.concat([self.new_people, changed])
        self.same(model, model.extend(self.new_edges, nodes=table, id_column="who"))
        graph = from_tables(self.new_edges, nodes=table, id_column="who", encoder=model.encoder_)
        self.same(model, model.extend(graph))

    def test_a_model_whose_features_are_of_another_kind(self, friends):
        with pytest.raises(ParameterError, match=r"nodes needs the encoder .* give features"):
            friends.extend([("zoe", "ann")], nodes=self.new_people)


class TestJoined:
    """The graph of all rows together."""

    def same(self, one, other):
        order = [other.index_of(node) for node in one.node_ids.tolist()]
        names = other.feature_names.tolist()
        columns = [names.index(name) for name in one.feature_names.tolist()]
        assert one.n_nodes == other.n_nodes
        assert one.n_features == other.n_features
        np.testing.assert_allclose(one.adjacency.toarray(), other.adjacency.toarray()[order][:, order])
        np.testing.assert_allclose(one.features.toarray(), other.features.toarray()[order][:, columns])

    @pytest.mark.parametrize("whole", [True, False], ids=["numbers", "text"])
    @pytest.mark.parametrize("amounts", [True, False])
    def test_is_what_one_table_would_give(self, whole, amounts):
        random = np.random.default_rng(0)
        ids = np.arange(40) if whole else np.array([f"n{i}" for i in range(40)], dtype=object)
        ends = [ids[random.integers(30, size=(80, 2))], ids[random.integers(10, 40, size=(60, 2))]]
        weights = [random.integers(1, 9, len(each)) * 0.5 for each in ends] if amounts else [None, None]
        tags = [
            {
                node: {f"t{t}": float(t % 3 + 1) if amounts else 1.0 for t in random.integers(12, size=3)}
                for node in some
            }
            for some in (ids[:30].tolist(), ids[5:40:3].tolist())
        ]
        graphs = [from_edges(e, t, weights=w) for e, t, w in zip(ends, tags, weights, strict=True)]
        together: dict = {node: dict(own) for node, own in tags[0].items()}
        for node, own in tags[1].items():
            for tag, value in own.items():
                there = together.setdefault(node, {})
                there[tag] = there.get(tag, 0.0) + value if amounts else 1.0
        both = joined(*graphs)
        weights = np.concatenate(weights) if amounts else None
        self.same(both.graph, from_edges(np.concatenate(ends), together, weights=weights))
        n_old = graphs[0].n_nodes
        assert both.graph.node_ids[:n_old].tolist() == graphs[0].node_ids.tolist()
        assert both.n_new_nodes == both.graph.n_nodes - n_old

    def test_names_of_several_kinds(self):
        both = joined(from_edges([(1, 2)], {1: [7]}), from_edges([(2, "x")], {"x": ["y", 7]})).graph
        assert both.node_ids.tolist() == [1, 2, "x"]
        assert both.feature_names.tolist() == [7, "y"]

    def test_self_loops_are_kept(self):
        old = from_edges([("a", "a"), ("a", "b")], self_loops=True)
        assert joined(old, from_edges([("b", "c")])).graph.n_edges == 3


class TestWhatTransformNeeds:
    """A vector comes from what is around a node in the graph that is passed."""

    new = (("zoe", "ann"), ("zoe", "eve"))

    def test_known_nodes_without_their_features(self):
        model = MUSAE(4, window=1).fit(from_edges(EDGES, TAGS))
        with pytest.warns(HopscaleWarning) as caught:
            model.transform(from_edges(self.new, {"zoe": ["tea"]}))
        [words] = [str(each.message) for each in caught]
        assert words.startswith("2 of 2 nodes that the model knows have come without")
        assert "such as 'ann'; 1 new nodes meet no feature at their neighbours" in words
        assert words.endswith("keep_graph=True")

    def test_known_nodes_without_their_edges(self):
        """They have their features, and one edge of many."""
        model = MUSAE(4, window=1, keep_graph=True).fit(from_edges(EDGES, TAGS))
        some = {node: TAGS[node] for node in ("ann", "eve")}
        with pytest.warns(HopscaleWarning, match=r"^2 of 2 nodes .* without edges or features .* such as 'ann'"):
            model.transform(from_edges(self.new, {"zoe": ["tea"], **some}))

    def test_all_of_it(self, quiet):
        for keep in (False, True):
            model = MUSAE(4, window=1, keep_graph=keep).fit(from_edges(EDGES, TAGS))
            model.transform(from_edges([*EDGES, *self.new], {**TAGS, "zoe": ["tea"]}))
            model.transform(from_edges(EDGES, TAGS))

    def test_other_graphs_whose_ids_are_row_numbers(self, quiet):
        """They say nothing of whether nodes are the same."""
        model = MUSAE(8, keep_graph=True).fit(planted_blocks(n_nodes=90, n_features=30))
        other = planted_blocks(n_nodes=60, n_features=30, random_state=7)
        model.transform(AttributedGraph(other.adjacency, other.features))
        del model.graph_
        model.transform((other.adjacency, other.features))

    def test_other_graphs_with_ids_of_their_own(self, quiet):
        model = MUSAE(8).fit(named(planted_blocks(n_nodes=90, n_features=30)))
        model.transform(named(planted_blocks(n_nodes=60, n_features=30, random_state=7), prefix="m"))

    def test_nodes_that_had_nothing_then_lack_nothing(self, quiet):
        tags = {**TAGS, "joe": []}
        model = MUSAE(4, window=1).fit(from_edges(EDGES, tags))
        model.transform(from_edges([*EDGES, ("zoe", "ann")], {**tags, "zoe": ["tea"]}))


@pytest.mark.parametrize("method", ["fit", "fit_transform", "transform"])
class TestSecondArgument:
    """``fit(A, F)``, as everyone first writes it."""

    def call(self, method, *arguments):
        model = MUSAE(8)
        if method == "transform":
            model.fit(figure1())
        return getattr(model, method)(*arguments)

    @pytest.mark.parametrize(
        "as_matrix",
        [lambda F: F, sp.csr_matrix, lambda F: F.toarray(), lambda F: pd.DataFrame(F.toarray())],
        ids=["csr_array", "csr_matrix", "ndarray", "DataFrame"],
    )
    def test_a_matrix_is_named(self, method, as_matrix):
        graph = figure1()
        features = as_matrix(graph.features)
        named = f"{method} takes one graph, .* here a {type(features).__name__} of shape .11, "
        with pytest.raises(GraphError, match=rf"{named}.*{method}\(\(adjacency, features\)\)"):
            self.call(method, graph.adjacency, features)

    def test_the_way_that_is_named(self, method):
        graph = figure1()
        features = AttributedGraph(graph.adjacency, graph.features, feature_names=graph.feature_names)
        self.call(method, features if method == "transform" else (graph.adjacency, graph.features))

    def test_labels_are_ignored(self, method):
        graph = figure1()
        for labels in (np.zeros(11), ["a"] * 11, None, np.zeros((11, 3))):
            self.call(method, graph, labels)


def test_labels_of_several_columns_in_a_pipeline():
    graph = planted_blocks(n_nodes=90)
    pipeline = make_pipeline(MUSAE(8), LogisticRegression())
    pipeline.fit(graph, graph.labels)
    assert pipeline.predict(graph).shape == (90,)
    MUSAE(8).fit(graph, np.eye(3)[graph.labels % 3])
