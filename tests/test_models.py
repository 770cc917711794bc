"""One contract for every model of walks and both solvers."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from walk_models import INDUCTIVE, MODELS, every_model, every_solver, fitted, large, make, toy

from hopscale import PMI, SGNS, AttributedGraph, datasets
from hopscale.exceptions import (
    GraphError,
    HopscaleWarning,
    NotInductiveError,
    ParameterError,
    UnknownNodeError,
)
from reference import dense, parameters


def copy_of(graph):
    arrays = (graph.adjacency, graph.features)
    return [part.copy() for m in arrays for part in (m.indptr, m.indices, m.data)] + [
        graph.node_ids.copy(),
        graph.feature_names.copy(),
        graph.labels.copy(),
    ]


@every_model
class TestScikitLearn:
    def test_init_only_stores(self, name):
        model, settings = MODELS[name]
        nonsense = dict.fromkeys(model(**settings).get_params(deep=False), "nonsense")
        stored = model(**nonsense)
        assert stored.get_params() == nonsense
        assert vars(stored) == nonsense

    def test_params_round_trip(self, name):
        one = make(name, "sgns", dimensions=20, negatives=3, random_state=5)
        assert parameters(clone(one)) == parameters(one)
        other = MODELS[name][0]().set_params(**one.get_params())
        assert parameters(other) == parameters(one)
        with pytest.raises(ValueError, match="depth"):
            one.set_params(depth=3)

    @every_solver
    def test_fit_changes_neither_params_nor_graph(self, name, solver):
        graph, model = toy(), make(name, solver)
        before, contents = model.get_params(), copy_of(graph)
        assert model.fit(graph) is model
        assert model.get_params() == before  # the solver is the same object, and its parameters are what they were
        for old, new in zip(contents, copy_of(graph), strict=True):
            np.testing.assert_array_equal(old, new)

    @every_solver
    def test_what_is_learnt_ends_in_an_underscore(self, name, solver):
        model = make(name, solver)
        params = set(vars(model))
        learnt = set(vars(model.fit(toy()))) - params
        assert {"embedding_", "feature_embedding_", "node_ids_", "feature_names_", "solutions_", "solver_"} <= learnt
        assert all(attribute.endswith("_") for attribute in learnt)
        assert list(model.rows_) == list(model.scale_columns_)

    def test_unfitted_models_say_so(self, name):
        model = make(name)
        questions = (
            lambda: model.transform(toy()),
            lambda: model.node_vectors(),
            lambda: model.feature_vectors(1),
            lambda: model.explain("node 1"),
            lambda: model.neighbors("node 1"),
            lambda: model.get_feature_names_out(),
        )
        for question in questions:
            with pytest.raises(NotFittedError):
                question()

    @every_solver
    def test_set_output(self, name, solver):
        graph = toy()
        model = make(name, solver)
        plain = model.fit_transform(graph)
        np.testing.assert_array_equal(plain, model.embedding_)
        table = model.set_output(transform="pandas").fit_transform(graph)
        assert type(table).__module__.startswith("pandas")
        assert list(table.columns) == list(model.get_feature_names_out())
        assert len(set(table.columns)) == 13
        np.testing.assert_array_equal(table.to_numpy(), plain)
        if name in INDUCTIVE:
            assert list(model.transform(graph).columns) == list(table.columns)

    @every_solver
    def test_labels_are_not_looked_at(self, name, solver):
        graph = toy()
        blind = AttributedGraph(
            graph.adjacency, graph.features, node_ids=graph.node_ids, feature_names=graph.feature_names
        )
        np.testing.assert_array_equal(make(name, solver).fit(blind).embedding_, fitted(name, solver).embedding_)

    @every_solver
    def test_a_second_fit_forgets_the_first(self, name, solver):
        model = make(name, solver).fit(datasets.figure1() if solver == "sgns" else large())
        model.neighbors(model.node_ids_[0])
        model.fit(toy())
        np.testing.assert_array_equal(model.embedding_, fitted(name, solver).embedding_)
        assert model.neighbors("node 3", k=2) == fitted(name, solver).neighbors("node 3", k=2)


WAYS = {
    "pmi exact": {"solver": "pmi", "rows": "exact"},
    "pmi sampled": {"solver": "pmi", "rows": "sampled"},
    "pmi from some rows": {"solver": "pmi", "rows": "sampled", "memory_limit": 50_000},
    "sgns": {"solver": "sgns"},
    "sgns without sharing": {"solver": "sgns", "share_negatives": False},
}


class TestReproducible:
    @every_model
    @pytest.mark.parametrize("way", WAYS)
    def test_the_same_bits_for_any_number_of_threads(self, name, way):
        models = [make(name, n_jobs=n_jobs, **WAYS[way]).fit(large()) for n_jobs in (1, 2, 5)]
        if way == "pmi from some rows":
            assert all(" of 2,100 rows" in rows for label, rows in models[0].rows_.items() if label != "0")
        for other in models[1:]:
            np.testing.assert_array_equal(other.embedding_, models[0].embedding_)
            np.testing.assert_array_equal(other.feature_embedding_, models[0].feature_embedding_)
            assert other.rows_ == models[0].rows_

    @pytest.mark.parametrize("name", INDUCTIVE)
    @pytest.mark.parametrize("way", ["pmi exact", "pmi sampled", "sgns"])
    def test_placing_nodes_has_the_same_bits_for_any_number_of_threads(self, name, way):
        model = make(name, **WAYS[way]).fit(large())
        placed = [model.set_params(n_jobs=n_jobs).transform(large()) for n_jobs in (1, 2, 5)]
        np.testing.assert_array_equal(placed[1], placed[0])
        np.testing.assert_array_equal(placed[2], placed[0])

    @every_model
    def test_other_bits_for_another_seed(self, name):
        one, same, other = (make(name, "sgns", random_state=seed).fit(toy()) for seed in (1, 1, 2))
        np.testing.assert_array_equal(one.embedding_, same.embedding_)
        for label in one.scale_columns_:
            assert not np.array_equal(one.node_vectors(label), other.node_vectors(label)), label

    @every_solver
    def test_random_states_of_every_kind(self, solver):
        def vectors(random_state):
            sampled = {"rows": "sampled"} if solver == "pmi" else {}
            return make("DeepWalk", solver, random_state=random_state, **sampled).fit(toy()).embedding_

        for kind in (np.random.RandomState, np.random.default_rng):
            np.testing.assert_array_equal(vectors(kind(3)), vectors(kind(3)))
            assert not np.array_equal(vectors(kind(3)), vectors(kind(4)))
        np.testing.assert_array_equal(vectors(7), vectors(np.int32(7)))
        assert not np.array_equal(vectors(7), vectors(8))
        assert not np.array_equal(vectors(None), vectors(None))
        for wrong in (-1, "seven", 1.5):
            with pytest.raises(ParameterError, match="random_state"):
                vectors(wrong)


@every_model
@every_solver
class TestQueries:
    def test_scales_share_the_columns_out(self, name, solver):
        model = fitted(name, solver)
        labels = list(model.scale_columns_)
        pooled, attributed = name.startswith(("AE", "Deep")), not name.startswith(("Deep", "Walk"))
        assert labels == ["0"] * attributed + (["1-3"] if pooled else ["1", "2", "3"])
        for vectors, of_scale in (
            (model.embedding_, model.node_vectors),
            (model.feature_embedding_, model.feature_vectors),
        ):
            np.testing.assert_array_equal(np.hstack([of_scale(label) for label in labels]), vectors)
            np.testing.assert_array_equal(of_scale(), vectors)
        if not pooled:
            np.testing.assert_array_equal(model.node_vectors(2), model.node_vectors("2"))
        with pytest.raises(ParameterError, match=f"no scale 9.*{labels[-1]}"):
            model.node_vectors(9)

    def test_context_is_named(self, name, solver):
        names = fitted(name, solver).feature_names_.tolist()
        features, nodes = toy().feature_names.tolist(), toy().node_ids.tolist()
        expected = {"AE": features, "MUSAE": features, "DeepWalk": nodes, "Walklets": nodes}
        assert names == expected.get(name, features + [("node", node) for node in nodes])
        assert names == make(name, solver).context_names(toy()).tolist()  # known before the work

    def test_explain_is_sorted_and_the_product_of_vectors(self, name, solver):
        model = fitted(name, solver)
        names = model.feature_names_.tolist()
        for label, found in model.explain("node 7", k=6).items():
            columns = model.scale_columns_[label]
            scores = model.feature_embedding_[:, columns].astype(float) @ model.embedding_[7, columns]
            np.testing.assert_allclose([score for _, score in found], np.sort(scores)[::-1][:6], atol=1e-5)
            np.testing.assert_allclose([scores[names.index(f)] for f, _ in found], [s for _, s in found], atol=1e-5)
            assert len({f for f, _ in found}) == 6

    def test_neighbors_are_those_of_a_brute_force_search(self, name, solver):
        model = fitted(name, solver)
        for scale in (None, *model.scale_columns_):
            vectors = model.node_vectors(scale).astype(float)
            similarity = 1 - cdist(vectors[[11]], vectors, metric="cosine")[0]
            similarity[11] = -2
            found = model.neighbors("node 11", k=5, scale=scale)
            np.testing.assert_allclose([s for _, s in found], np.sort(similarity)[::-1][:5], atol=1e-5)
            for node, score in found:
                assert similarity[int(node.split()[1])] == pytest.approx(score, abs=1e-5)
        everyone = model.neighbors("node 11", k=1000)
        assert {node for node, _ in everyone} == set(model.node_ids_) - {"node 11"}

    def test_explain_of_one_scale(self, name, solver):
        model = fitted(name, solver)
        everything = model.explain("node 7", k=3)
        for label, found in everything.items():
            assert model.explain("node 7", k=3, scale=label) == {label: found}
        if "2" in everything:
            assert model.explain("node 7", k=3, scale=2) == {"2": everything["2"]}
        with pytest.raises(ParameterError, match="no scale 9"):
            model.explain("node 7", scale=9)

    def test_of_a_node_that_walks_tell_nothing_about_nothing_is_said(self, name, solver):
        graph = toy()
        A, F = graph.adjacency.toarray(), graph.features.toarray()
        A[:2] = A[:, :2] = 0  # two isolated nodes, one with a feature of its own
        F[:2] = 0
        F[1, 3] = 1
        model = make(name, solver).fit(AttributedGraph(A, F, node_ids=graph.node_ids))
        walked = [label for label in model.scale_columns_ if label != "0"]
        for node, knows_itself in (("node 0", name.endswith("EGO")), ("node 1", True)):
            words = f"nothing is known of node '{node}'"
            with pytest.warns(HopscaleWarning, match=words):
                explained = model.explain(node)
            assert {label for label, found in explained.items() if not found} >= set(walked)
            assert bool(explained.get("0")) == ("0" in explained and knows_itself)
            for label in walked:
                with pytest.warns(HopscaleWarning, match=words):
                    assert model.neighbors(node, scale=label) == []
        if not model.embedding_[0].any():
            with pytest.warns(HopscaleWarning, match="nothing is known of node 'node 0': its vector is zero"):
                assert model.neighbors("node 0") == []

    def test_questions_about_nobody(self, name, solver):
        model = fitted(name, solver)
        for question in (model.explain, model.neighbors):
            with pytest.raises(UnknownNodeError, match=r"'nobody'.*'node 0'"):
                question("nobody")
            with pytest.raises(ParameterError, match="k must"):
                question("node 1", k=0)


@every_solver
class TestTransform:
    @pytest.mark.parametrize("name", sorted(set(MODELS) - set(INDUCTIVE)))
    def test_is_refused_where_the_context_holds_the_nodes(self, name, solver):
        with pytest.raises(NotInductiveError, match="cannot embed other nodes"):
            fitted(name, solver).transform(toy())

    @pytest.mark.parametrize("name", INDUCTIVE)
    def test_unknown_features_are_ignored_with_a_count(self, name, solver):
        graph = toy()
        A, F = dense(graph)
        more = np.zeros((60, 3))
        more[[1, 5, 9], [0, 0, 2]] = 1  # the middle column is empty: nothing of it is lost
        order = np.random.default_rng(0).permutation(43)
        names = np.array([*graph.feature_names, "new", "newer", "newest"], dtype=object)
        other = AttributedGraph(A, np.hstack([F, more])[:, order], feature_names=names[order])
        model = fitted(name, solver)
        with pytest.warns(HopscaleWarning, match=rf"2 feature\(s\) \(3 of {graph.features.nnz + 3} entries\)"):
            found = model.transform(other)
        np.testing.assert_array_equal(found, model.transform(graph))

    @pytest.mark.parametrize("name", INDUCTIVE)
    def test_no_known_feature_is_an_error(self, name, solver):
        with pytest.raises(GraphError, match=r"matched by name.*'club'.*'feature 0'"):
            fitted(name, solver).transform(datasets.figure1())

    @pytest.mark.parametrize("name", INDUCTIVE)
    def test_nodes_without_edges_have_only_their_own_features(self, name, solver):
        graph = toy()
        alone = AttributedGraph(np.zeros((60, 60)), graph.features, feature_names=graph.feature_names)
        found = fitted(name, solver).transform(alone)
        own = fitted(name, solver).scale_columns_["0"]
        assert found[:, own].any()
        assert not found[:, own.stop :].any()

    @pytest.mark.parametrize("name", INDUCTIVE)
    @pytest.mark.parametrize("features", [None, np.zeros((60, 2))])
    def test_a_graph_without_any_feature_is_placed_at_zero_with_a_word_about_it(self, name, features, solver):
        with pytest.warns(HopscaleWarning, match="no node of the graph has a feature"):
            found = fitted(name, solver).transform(AttributedGraph(toy().adjacency, features))
        assert found.shape == (60, 13)
        assert not found.any()

    def test_parameters_changed_after_the_fit_move_nothing(self, solver):
        model = make("MUSAE", solver).fit(toy())
        before = model.transform(toy())
        model.configure(random_state=None, **{"pmi": {"shift": 3.0}, "sgns": {"epochs": 2, "negatives": 1}}[solver])
        np.testing.assert_array_equal(model.transform(toy()), before)
        model.set_params(solver=SGNS(epochs=1) if solver == "pmi" else PMI(shift=3.0))
        np.testing.assert_array_equal(model.transform(toy()), before)
