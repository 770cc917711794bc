"""Predictions for other graphs, and vectors that were learnt before."""

import pickle
from copy import deepcopy

import numpy as np
import pytest
from supervised_models import CLASSES, GRAPH, MODELS, OTHERS, TRAIN, quick

from hopscale import AE, AttributedGraph, DeepWalk, GraphClassifier, GraphRegressor
from hopscale.datasets import planted_blocks
from hopscale.exceptions import GraphError, HopscaleWarning, NotInductiveError
from hopscale.supervised.graph_digest import graph_digest


def changed(graph, order=None, columns=None, node_ids=None, feature_names=None):
    """The same graph with rows and columns in another order, or under other names."""
    order = np.arange(graph.n_nodes) if order is None else order
    columns = np.arange(graph.n_features) if columns is None else columns
    return AttributedGraph(
        graph.adjacency[order][:, order],
        graph.features[order][:, columns],
        node_ids=graph.node_ids[order] if node_ids is None else node_ids,
        feature_names=graph.feature_names[columns] if feature_names is None else feature_names,
    )


NEW_BLOCKS = planted_blocks(n_nodes=90, n_features=60, p_in=0.2, p_out=0.02, random_state=1)
NEW = changed(NEW_BLOCKS, node_ids=np.arange(1000, 1090))


def answers(model, graph=None):
    return model.predict_proba(graph) if isinstance(model, GraphClassifier) else model.predict(graph)


@pytest.mark.parametrize("inputs", ["vectors", "features", "both"])
@pytest.mark.parametrize("name", MODELS)
class TestOtherGraphs:
    def model(self, name, inputs, **settings):
        kind, labels = MODELS[name]
        return quick(kind, inputs=inputs, **settings).fit(GRAPH, labels, train=TRAIN)

    def test_a_model_works_on_graphs_of_the_same_kind(self, name, inputs):
        model = self.model(name, inputs)
        found = model.score(NEW, NEW_BLOCKS.labels * (1 if name == "classes" else 1.5), test=np.arange(90))
        assert found > (0.2 if inputs == "features" else 0.6) - 0.2 * (name == "values")

    def test_nodes_and_features_are_known_by_their_names(self, name, inputs):
        model = self.model(name, inputs)
        order, columns = np.random.default_rng(0).permutation(90), np.random.default_rng(1).permutation(60)
        there = answers(model, changed(NEW, order, columns))
        assert there == pytest.approx(answers(model, NEW)[order], abs=1e-4)

    def test_features_that_were_never_seen_are_ignored(self, name, inputs):
        model = self.model(name, inputs)
        more = np.hstack([NEW.features.toarray(), np.ones((90, 2))])
        more = AttributedGraph(NEW.adjacency, more, feature_names=[*range(60), "new", "newer"])
        if inputs == "features":
            found = answers(model, more)
        else:
            with pytest.warns(HopscaleWarning, match="unknown to this model and ignored"):
                found = answers(model, more)
        assert found == pytest.approx(answers(model, NEW), abs=1e-4)

    def test_without_smoothing_the_same_nodes_have_the_same_answers_under_other_names(self, name, inputs):
        model = self.model(name, inputs, smooth=False)
        there = answers(model, changed(GRAPH, node_ids=[f"other {i}" for i in range(120)]))
        assert there == pytest.approx(answers(model), abs=1e-3)

    def test_answers_are_copies(self, name, inputs):
        model = self.model(name, inputs)
        before = model.outputs_.copy()
        answers(model)[:] = 7
        answers(model, GRAPH)[:] = 7
        assert model.outputs_.tobytes() == before.tobytes()


class TestGraphOfTheFit:
    """It is known by its content: answers are those of the fit, smoothing and all."""

    @pytest.mark.parametrize("name", MODELS)
    @pytest.mark.parametrize("embedder", [AE(8, n_jobs=1), DeepWalk(8, n_jobs=1)])
    def test_copies_are_recognised(self, name, embedder):
        kind, labels = MODELS[name]
        model = quick(kind, embedder=embedder, inputs="vectors").fit(
            (GRAPH.adjacency, GRAPH.features), labels, train=TRAIN
        )
        for again in (model, pickle.loads(pickle.dumps(model)), deepcopy(model)):
            for graph in (None, GRAPH, (GRAPH.adjacency, GRAPH.features)):
                assert answers(again, graph).tobytes() == model.outputs_.tobytes()
        assert model.score(deepcopy(GRAPH), labels) == model.score(GRAPH, labels, test=OTHERS)

    @pytest.mark.parametrize("change", [
        {"order": np.arange(120)[::-1]},
        {"columns": np.arange(60)[::-1]},
        {"node_ids": np.arange(1, 121)},
        {"feature_names": [f"f{i}" for i in range(60)]},
    ], ids=lambda change: next(iter(change)))  # fmt: skip
    def test_other_names_or_orders_are_another_graph(self, change):
        assert graph_digest(changed(GRAPH, **change)) != graph_digest(GRAPH) == graph_digest(changed(GRAPH))

    def test_weights_count_and_labels_do_not(self):
        heavier = AttributedGraph(GRAPH.adjacency * 2, GRAPH.features)
        richer = AttributedGraph(GRAPH.adjacency, GRAPH.features * 2)
        assert len({graph_digest(graph) for graph in (GRAPH, heavier, richer)}) == 3
        assert graph_digest(AttributedGraph(GRAPH.adjacency, GRAPH.features, labels=CLASSES)) == graph_digest(GRAPH)


class TestEmbedders:
    def test_vectors_of_nodes_alone_cannot_be_had_elsewhere(self):
        model = quick(GraphClassifier, embedder=DeepWalk(8, n_jobs=1), inputs="vectors").fit(GRAPH, train=TRAIN)
        with pytest.raises(NotInductiveError, match=r"DeepWalk cannot embed other nodes.* AE and MUSAE"):
            model.predict(NEW)

    def test_features_alone_need_no_embedder_elsewhere(self):
        model = quick(GraphClassifier, embedder=DeepWalk(8), inputs="features").fit(GRAPH, train=TRAIN)
        assert model.embedder_ is None
        assert model.predict(NEW).shape == (90,)

    def test_one_that_is_fitted_is_used_as_it_is(self):
        embedder = AE(8, n_jobs=1).fit(GRAPH)
        before = embedder.embedding_.copy()
        model = quick(GraphClassifier, embedder=embedder, inputs="vectors").fit(GRAPH, train=TRAIN)
        assert model.embedder_ is embedder
        assert embedder.embedding_.tobytes() == before.tobytes()
        fresh = quick(GraphClassifier, embedder=AE(8, n_jobs=1), inputs="vectors").fit(GRAPH, train=TRAIN)
        assert fresh.outputs_.tobytes() == model.outputs_.tobytes()

    def test_vectors_of_a_fitted_one_are_what_is_learnt_from(self):
        embedder = AE(8, n_jobs=1).fit(GRAPH)
        embedder.embedding_ = np.random.default_rng(0).normal(size=(120, 8)).astype(np.float32)
        report = quick(GraphClassifier, embedder=embedder, inputs="vectors").fit(GRAPH, train=TRAIN).report_
        plain = [each.score for each in report.candidates if not each.smoothing]
        assert max(plain) < 0.6

    def test_one_that_is_not_fitted_stays_so(self):
        embedder = AE(8, n_jobs=1)
        model = quick(GraphClassifier, embedder=embedder, inputs="vectors").fit(GRAPH, train=TRAIN)
        assert not hasattr(embedder, "embedding_")
        assert model.embedder_.get_params() == embedder.get_params()

    @pytest.mark.filterwarnings("ignore:.*dimensions are zero")
    @pytest.mark.parametrize("embedder", [None, AE(8, n_jobs=1)], ids=["default", "given"])
    def test_the_one_of_a_fit_serves_other_fits(self, embedder):
        model = quick(GraphClassifier, embedder=embedder, inputs="vectors")
        once = model.fitted_embedder((GRAPH.adjacency, GRAPH.features))
        assert model.set_params(embedder=once).fitted_embedder(GRAPH) is once
        again = model.fit(GRAPH, train=TRAIN).outputs_
        alone = quick(GraphClassifier, embedder=embedder, inputs="vectors").fit(GRAPH, train=TRAIN).outputs_
        assert again.tobytes() == alone.tobytes()

    @pytest.mark.parametrize("other", [NEW, changed(GRAPH, node_ids=np.arange(1, 121))], ids=["nodes", "names"])
    def test_one_that_was_fitted_to_other_nodes_is_refused(self, other):
        with pytest.raises(GraphError, match="fitted to a graph of other nodes"):
            quick(GraphClassifier, embedder=AE(8).fit(other)).fit(GRAPH, train=TRAIN)

    @pytest.mark.filterwarnings("ignore:.*dimensions are zero")
    def test_the_default_follows_the_graph(self):
        bare = AttributedGraph(GRAPH.adjacency, labels=CLASSES)
        settings = {"embedder": None, "inputs": "vectors", "head": "logistic", "random_state": 7}
        model = quick(GraphClassifier, **settings).fit(bare, train=TRAIN)
        assert type(model.embedder_) is DeepWalk
        assert (model.embedder_.random_state, model.embedder_.n_jobs) == (7, 1)
        assert type(quick(GraphRegressor, **{**settings, "head": "auto"}).fit(GRAPH, CLASSES).embedder_) is AE
