"""One contract for every model and both solvers."""

import os
import signal
import sys
import threading
from functools import lru_cache

import numpy as np
import pytest
from hopscale.parallel import Workers
from hopscale.solvers.svd import MAX_RANK, OVERSAMPLING
from hopscale.solvers.tables import padded
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from hopscale import AE, MUSAE, AttributedGraph, DeepWalk, Walklets, datasets
from hopscale._core import _native
from hopscale.exceptions import (
    DivergenceError,
    GraphError,
    HopscaleWarning,
    NotInductiveError,
    ParameterError,
    UnknownNodeError,
)
from reference import csr, dense, random_graph

MODELS = {
    "AE": (AE, {}),
    "AE-EGO": (AE, {"ego": True}),
    "MUSAE": (MUSAE, {}),
    "MUSAE-EGO": (MUSAE, {"ego": True}),
    "DeepWalk": (DeepWalk, {}),
    "Walklets": (Walklets, {}),
}
INDUCTIVE = ["AE", "MUSAE"]
SHORT = {"dimensions": 13, "walk_length": 8, "walks_per_node": 2, "epochs": 1}  # 13 divides by no number of scales

every_model = pytest.mark.parametrize("name", MODELS)
every_solver = pytest.mark.parametrize("solver", ["pmi", "sgns"])


def make(name, solver="pmi", **changes):
    model, settings = MODELS[name]
    return model(solver=solver, **SHORT | settings | changes)


def toy():
    """Connected, with text ids, as many features as dimensions, and labels that nothing may look at."""
    graph = random_graph(60, 40, density=0.1, seed=5)
    names = [f"node {i}" for i in range(60)]
    features = [f"feature {i}" for i in range(40)]
    return AttributedGraph(
        graph.adjacency, graph.features, node_ids=names, feature_names=features, labels=np.arange(60)
    )


@lru_cache
def large():
    """Several blocks of rows, panels of columns and shards: something for threads to disagree about."""
    return datasets.erdos_renyi(2100, 4, 4, 200)


@lru_cache
def fitted(name, solver):
    return make(name, solver).fit(toy())


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
        nonsense = dict.fromkeys(model(**settings).get_params(), "nonsense")
        stored = model(**nonsense)
        assert stored.get_params() == nonsense
        assert vars(stored) == nonsense

    def test_params_round_trip(self, name):
        one = make(name, "sgns", dimensions=20, shift=2.0, random_state=5)
        assert clone(one).get_params() == one.get_params()
        other = MODELS[name][0]().set_params(**one.get_params())
        assert other.get_params() == one.get_params()
        with pytest.raises(ValueError, match="depth"):
            one.set_params(depth=3)

    @every_solver
    def test_fit_changes_neither_params_nor_graph(self, name, solver):
        graph, model = toy(), make(name, solver)
        before, contents = model.get_params(), copy_of(graph)
        assert model.fit(graph) is model
        assert model.get_params() == before
        for old, new in zip(contents, copy_of(graph), strict=True):
            np.testing.assert_array_equal(old, new)

    @every_solver
    def test_what_is_learnt_ends_in_an_underscore(self, name, solver):
        model = make(name, solver)
        params = set(vars(model))
        learnt = set(vars(model.fit(toy()))) - params
        assert {"embedding_", "feature_embedding_", "node_ids_", "feature_names_", "rows_"} <= learnt
        assert all(attribute.endswith("_") for attribute in learnt)

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
            return make("DeepWalk", solver, random_state=random_state, rows="sampled").fit(toy()).embedding_

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
        model.set_params(solver="sgns" if solver == "pmi" else "pmi", shift=3.0, random_state=None, epochs=1)
        np.testing.assert_array_equal(model.transform(toy()), before)


BAD_ANYWHERE = {
    "dimensions": [0, -3, 2.5, "many", True, None],
    "window": [0, -1, 1.5, 31, True],
    "solver": ["svd", None, 3],
    "walk_length": [0, -1, 8.5, 2**31 // 2],  # times 2 walks a node
    "walks_per_node": [0, 2.5, 2**31 // 8, 10**30],
    "n_jobs": [0, 1.5, "two"],
    "random_state": [-1, "seven"],
}
BAD_FOR = {
    "pmi": {
        "shift": [0, -1, np.nan, np.inf, "one"],
        "rows": ["some", None],
        "memory_limit": [0, -5, np.nan, np.inf, "much", "", "GiB", "-1GiB", "0", True, None, [4]],
    },
    "sgns": {
        "walk_length": [3, 1],  # not longer than the window
        "epochs": [0, -1, 1.5],
        "negatives": [0, -1, 65, 2.5],
        "learning_rate": [0, -0.1, np.nan, np.inf, "fast"],
        "min_learning_rate": [-0.1, np.nan],
        "start": ["anywhere", None],
        "noise_exponent": [-1, np.nan],
        "subsample": [-1, np.nan],
    },
}


class TestBadParameters:
    @every_model
    @every_solver
    def test_are_refused_by_name(self, name, solver):
        for bad in (BAD_ANYWHERE, BAD_FOR[solver]):
            for parameter, values in bad.items():
                for value in values:
                    model = make(name, solver).set_params(**{parameter: value})
                    with pytest.raises(ParameterError, match=parameter):
                        model.fit(toy())
                    with pytest.raises(NotFittedError):
                        model.node_vectors()

    @pytest.mark.parametrize(("name", "scales"), [("AE", 2), ("MUSAE", 4), ("Walklets", 3)])
    @every_solver
    def test_every_scale_needs_a_dimension(self, name, scales, solver):
        with pytest.raises(ParameterError, match=f"dimensions={scales - 1} is too few for {scales} scales"):
            make(name, solver, dimensions=scales - 1).fit(toy())
        assert make(name, solver, dimensions=scales).fit(toy()).embedding_.any(axis=0).all()

    @every_solver
    def test_more_dimensions_than_a_kernel_can_hold(self, solver):
        with pytest.raises(ParameterError, match=f"{MAX_RANK} dimensions"):
            make("DeepWalk", solver, dimensions=MAX_RANK + 1).fit(toy())

    def test_as_many_dimensions_as_a_kernel_can_hold(self):
        assert make("DeepWalk", "sgns", dimensions=MAX_RANK).fit(toy()).embedding_.any(axis=0).all()
        widest = np.ones((1, padded(MAX_RANK + OVERSAMPLING)), dtype=np.float32)  # of the direct solver
        product = np.zeros_like(widest)
        _native.csr_times(_native.Csr(*csr([[2.0]]), 1), widest, product, 0, 1)
        assert (product == 2).all()

    @every_model
    def test_more_dimensions_than_the_rank_are_zero(self, name):
        model = make(name, dimensions=800)
        with pytest.warns(HopscaleWarning, match="dimensions are zero") as seen:
            model.fit(toy())
        assert len(seen) == len(model.scale_columns_)
        for label, columns in model.scale_columns_.items():
            products = model.node_vectors(label).astype(float) @ model.feature_vectors(label).T.astype(float)
            rank = np.linalg.matrix_rank(products, tol=1e-5 * np.linalg.norm(products, 2))
            for vectors in (model.embedding_, model.feature_embedding_):
                assert vectors[:, columns].any(axis=0).sum() == pytest.approx(rank, abs=1)

    @every_solver
    def test_walks_longer_than_the_graph_is_wide_are_fine(self, solver):
        model = make("MUSAE", solver, window=12, walk_length=20, dimensions=26).fit(datasets.figure1())
        assert list(model.scale_columns_) == [str(r) for r in range(13)]
        assert np.isfinite(model.embedding_).all()

    def test_memory_limits_in_words(self):
        for limit in ("1GiB", "1 gb", 2**30, 2.0**30, np.int64(2**30)):
            np.testing.assert_array_equal(
                make("AE", memory_limit=limit).fit(toy()).embedding_, fitted("AE", "pmi").embedding_
            )

    @pytest.mark.filterwarnings("ignore::hopscale.exceptions.HopscaleWarning")
    @pytest.mark.parametrize("limit", [1, "1KiB", 200_000])
    def test_a_small_memory_limit_means_samples_and_a_word_about_it(self, limit):
        model = make("MUSAE", memory_limit=limit)
        with pytest.warns(HopscaleWarning, match="scale 1: exact rows would take more than memory_limit"):
            model.fit(large())
        assert "exact" in model.rows_["0"]
        assert "sampled" in model.rows_["3"]
        assert model.embedding_.any(axis=0).all()
        exact = make("MUSAE", memory_limit=limit, rows="exact").fit(large())
        np.testing.assert_array_equal(exact.embedding_, make("MUSAE").fit(large()).embedding_)

    @pytest.mark.filterwarnings("ignore::hopscale.exceptions.HopscaleWarning")
    def test_a_scale_that_fits_the_memory_limit_is_exact(self):
        """Some 3 MB of scale 2 or 3: together they pass 6 MB, alone they fit; 2 MB hold neither, but scale 1."""
        graph = datasets.erdos_renyi(2100, 4, 8, 600)
        exact, alone, mixed = (make("MUSAE", memory_limit=limit).fit(graph) for limit in ("1GiB", "4MB", "2MB"))
        np.testing.assert_allclose(alone.embedding_, exact.embedding_, atol=1e-4)
        assert alone.rows_ == exact.rows_
        assert [label for label, rows in mixed.rows_.items() if "sampled" in rows] == ["2", "3"]


@every_solver
class TestBadGraphs:
    @every_model
    def test_without_edges_there_is_nothing_to_walk_on(self, name, solver):
        for n in (1, 4):
            with pytest.raises(GraphError, match=rf"no edges \({n} node"):
                make(name, solver).fit(AttributedGraph(np.eye(n), np.eye(n)))

    @every_model
    def test_without_features_only_models_of_nodes_can_learn(self, name, solver):
        ring = np.roll(np.eye(20), 1, axis=1)
        for features in (None, np.zeros((20, 3))):
            graph = AttributedGraph(ring + ring.T, features)
            if name in INDUCTIVE:
                with pytest.raises(GraphError, match="DeepWalk or Walklets"):
                    make(name, solver).fit(graph)
            else:
                assert make(name, solver).fit(graph).embedding_.any()

    @pytest.mark.parametrize("name", INDUCTIVE)
    def test_the_same_features_everywhere_tell_nodes_apart_nowhere(self, name, solver):
        graph = AttributedGraph(toy().adjacency, np.ones((60, 5)))
        if solver == "pmi":
            with pytest.warns(HopscaleWarning, match="dimensions are zero"):
                model = make(name).fit(graph)
            assert not model.embedding_.any()
        else:
            model = make(name, solver, epochs=40, dimensions=8).fit(graph)
            last = model.scales_[-1].label
            products = model.node_vectors(last) @ model.feature_vectors(last).T
            np.testing.assert_allclose(products.mean(axis=1), -np.log(5), atol=0.3)  # PMI 0, less log b

    @every_model
    def test_a_feature_with_the_name_of_a_node_as_a_feature(self, name, solver):
        names = [*range(38), ("node", 3), ("node", "node 3")]
        graph = AttributedGraph(toy().adjacency, toy().features, node_ids=toy().node_ids, feature_names=names)
        model = make(name, solver)
        if name.endswith("EGO"):
            with pytest.raises(GraphError, match=r"\('node', 'node 3'\) is the name of a feature already \(1 such"):
                model.fit(graph)
        else:
            assert model.fit(graph).embedding_.any()

    @every_model
    def test_what_is_no_graph(self, name, solver):
        for wrong in (None, 3, [[0, 1], [1, 0]]):
            with pytest.raises(GraphError, match="cannot read a graph"):
                make(name, solver).fit(wrong)


class TestInterruptions:
    @every_model
    def test_divergence_is_an_error_not_a_vector(self, name):
        model = make(name, "sgns", learning_rate=1e6, min_learning_rate=1e6)
        with pytest.raises(DivergenceError, match="smaller learning_rate"):
            model.fit(toy())
        with pytest.raises(NotFittedError):
            model.node_vectors()

    @pytest.mark.skipif(sys.platform == "win32", reason="no signal can be sent to oneself there")
    @pytest.mark.parametrize("n_jobs", [1, 2])
    def test_ctrl_c_ends_a_long_fit_and_leaves_no_model(self, n_jobs, request):
        model = make("DeepWalk", "sgns", walk_length=80, epochs=150, n_jobs=n_jobs)  # some twenty seconds
        before = signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where tests run in the background
        request.addfinalizer(lambda: signal.signal(signal.SIGINT, before))
        timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            model.fit(large())
        timer.join()
        with pytest.raises(NotFittedError):
            model.node_vectors()
        assert not [t for t in threading.enumerate() if t.name.startswith("hopscale")]

    @every_solver
    def test_a_failure_in_a_thread_reaches_the_caller(self, solver, monkeypatch):
        def broken(*_, **__):
            raise MemoryError(f"no more in {threading.current_thread().name}")

        where, kernel = (_native, "propagate") if solver == "pmi" else (_native.SkipGram, "train")
        monkeypatch.setattr(where, kernel, broken)
        model = make("MUSAE", solver, n_jobs=3)
        with pytest.raises(MemoryError, match="no more in hopscale"):  # the name of a worker, not the main thread
            model.fit(toy())
        with pytest.raises(NotFittedError):
            model.node_vectors()

    def test_kernels_are_told_to_stop_when_anything_fails(self):
        with pytest.raises(RuntimeError), Workers(2) as failed:
            raise RuntimeError
        with Workers(2) as fine:
            pass
        assert (failed.stop[0], fine.stop[0]) == (1, 0)

    def test_results_come_in_order_and_few_are_alive_at_once(self):
        alive, most, lock = 0, 0, threading.Lock()

        def work(i):
            nonlocal alive, most
            with lock:
                alive += 1
                most = max(most, alive)
            np.linalg.norm(np.ones((50 * (8 - i % 8), 50)))
            return i

        with Workers(4) as workers:
            for i, result in enumerate(workers.map(work, range(60), at_once=2)):
                assert result == i
                with lock:
                    alive -= 1
        assert most <= 3


class TestProgress:
    @every_solver
    def test_is_silent_unless_asked_for(self, solver, capfd):
        make("MUSAE", solver).fit(toy())
        assert capfd.readouterr() == ("", "")
        model = make("MUSAE", verbose=True).fit(toy())
        out, err = capfd.readouterr()
        assert out == ""
        assert all(f"scale {label}: {rows}" in err for label, rows in model.rows_.items())
