"""The contract of supervised estimators: parameters, bits, odd input, failures."""

import pickle
import warnings

import numpy as np
import pytest
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.exceptions import NotFittedError
from supervised_models import CLASSES, GRAPH, MODELS, TRAIN, VALUES, quick, state

import hopscale
from hopscale import AE, AttributedGraph, GraphClassifier, GraphRegressor
from hopscale.exceptions import GraphError, HopscaleError, ParameterError
from hopscale.supervised import SUPERVISED
from hopscale.supervised.heads.logistic_head import Logistic


@pytest.mark.parametrize("name", MODELS)
class TestBits:
    def test_do_not_depend_on_threads_nor_on_the_run(self, name):
        kind, labels = MODELS[name]
        found = [state(quick(kind, n_jobs=n).fit(GRAPH, labels, train=TRAIN)) for n in (1, 1, 2, 3)]
        assert found[1:] == found[:1] * 3

    def test_depend_on_the_seed_of_the_folds(self, name):
        kind, labels = MODELS[name]
        embedder = AE(8, n_jobs=1).fit(GRAPH)
        one, other, again = (
            state(quick(kind, embedder=embedder, random_state=seed).fit(GRAPH, labels, train=TRAIN))
            for seed in (0, 1, 0)
        )
        assert one == again
        assert one[1] != other[1]

    def test_a_second_fit_is_as_the_first(self, name):
        kind, labels = MODELS[name]
        model = quick(kind).fit(GRAPH, labels, train=TRAIN[:30])
        assert state(model.fit(GRAPH, labels, train=TRAIN)) == state(quick(kind).fit(GRAPH, labels, train=TRAIN))


@pytest.mark.parametrize("name", MODELS)
def test_folds_that_do_not_fit_side_by_side(name, monkeypatch):
    """Where memory does not hold the outputs of all folds, they are smoothed one after the other."""
    kind, labels = MODELS[name]
    together = quick(kind, head="kernel").fit(GRAPH, labels, train=TRAIN)
    monkeypatch.setattr("hopscale.supervised.trials._ENTRIES", 1)
    apart = quick(kind, head="kernel").fit(GRAPH, labels, train=TRAIN)
    assert apart.outputs_ == pytest.approx(together.outputs_, abs=1e-4)
    scores = [
        {(each.inputs, str(each.smoothing)): each.score for each in model.report_.candidates}
        for model in (apart, together)
    ]
    assert scores[0] == pytest.approx(scores[1], abs=1e-5)


def test_the_seed_is_for_the_folds_alone(monkeypatch):
    """With one candidate to choose from, the head that comes out is the same."""
    monkeypatch.setattr("hopscale.supervised.classifier.Logistic", lambda: Logistic(strengths=(1.0,)))
    settings = {"embedder": AE(8, n_jobs=1).fit(GRAPH), "inputs": "vectors", "head": "logistic", "smooth": False}
    one, other = (quick(GraphClassifier, **settings, random_state=seed).fit(GRAPH, train=TRAIN) for seed in (0, 1))
    assert one.head_.weights == pytest.approx(other.head_.weights, rel=1e-5)  # folds are multiplied beside it
    assert one.predict().tolist() == other.predict().tolist()


@pytest.mark.parametrize("kind", [GraphClassifier, GraphRegressor])
class TestEstimator:
    def test_is_known_by_name(self, kind):
        assert SUPERVISED[kind.__name__] is kind
        assert getattr(hopscale, kind.__name__) is kind
        assert kind.__name__ in hopscale.__all__
        assert kind.__name__ in dir(hopscale)

    def test_is_a_classifier_or_regressor(self, kind):
        assert is_classifier(kind()) == (kind is GraphClassifier) != is_regressor(kind())

    def test_clones(self, kind):
        model = kind(embedder=AE(8), inputs="both", folds=7, landmarks=10, n_jobs=2, random_state=3, smooth=False)
        again = clone(model)
        changed = {"embedder": None, "n_jobs": None}
        assert {**again.get_params(deep=False), **changed} == {**model.get_params(deep=False), **changed}
        assert again.embedder is not model.embedder
        assert again.embedder.get_params() == model.embedder.get_params()
        assert repr(again) == repr(model)
        assert "folds=7" in repr(model)

    def test_parameters_of_the_embedder(self, kind):
        model = kind(embedder=AE(8)).set_params(embedder__dimensions=16, folds=4)
        assert (model.embedder.dimensions, model.folds) == (16, 4)

    def test_parameters_are_only_stored(self, kind):
        assert kind(folds="many", head=3, inputs=None).get_params(deep=False)["folds"] == "many"

    def test_unknown_parameters(self, kind):
        with pytest.raises(TypeError):
            kind(depth=3)
        with pytest.raises(ParameterError, match=f"depth is no parameter of {kind.__name__}, which has .*embedder"):
            kind().set_params(depth=3)

    @pytest.mark.parametrize("wrong", [
        {"embedder": "AE"}, {"embedder": AE}, {"embedder": np.eye(3)}, {"inputs": "edges"}, {"inputs": None},
        {"head": "svm"}, {"head": None}, {"smooth": 1}, {"folds": 1}, {"folds": 2.5}, {"folds": True}, {"landmarks": 1},
        {"n_jobs": 0}, {"random_state": -1}, {"random_state": "x"}, {"verbose": "yes"},
    ], ids=str)  # fmt: skip
    def test_parameters_that_make_no_sense(self, kind, wrong):
        with pytest.raises(ParameterError, match=next(iter(wrong))):
            kind(**wrong).fit("no file is read before parameters are checked")

    def test_heads_of_the_others(self, kind):
        head = "elastic-net" if kind is GraphClassifier else "logistic"
        with pytest.raises(ParameterError, match="head must be one of 'auto', "):
            kind(head=head).fit(GRAPH, CLASSES)

    def test_nothing_is_answered_before_a_fit(self, kind):
        for ask in ("predict", "predict_proba", "score"):
            if hasattr(kind, ask):
                with pytest.raises(NotFittedError):
                    getattr(kind(), ask)()
        with pytest.raises(NotFittedError):
            kind().explain_prediction(3)

    def test_can_be_pickled(self, kind):
        model = quick(kind).fit(GRAPH, CLASSES, train=TRAIN)
        again = pickle.loads(pickle.dumps(model))
        assert state(again) == state(model)
        assert again.predict(GRAPH).tolist() == model.predict().tolist()
        assert state(again.fit(GRAPH, CLASSES, train=TRAIN)) == state(model)
        assert repr(pickle.loads(pickle.dumps(kind()))) == repr(kind())

    @pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
    def test_a_fit_that_fails_leaves_the_last_one(self, kind, error, monkeypatch):
        model = quick(kind, head="kernel").fit(GRAPH, CLASSES, train=TRAIN)
        before, attributes = state(model), set(vars(model))

        def fails(*_):
            raise error("at the very end")

        monkeypatch.setattr(kind, "_finish", fails)
        with pytest.raises(error):
            model.fit(GRAPH, CLASSES, train=TRAIN[::3])
        assert state(model) == before
        assert set(vars(model)) == attributes
        assert len(model.predict(GRAPH)) == 120
        fresh = quick(kind, head="kernel")
        with pytest.raises(error):
            fresh.fit(GRAPH, CLASSES, train=TRAIN)
        assert not [attribute for attribute in vars(fresh) if attribute.endswith("_")]

    def test_nothing_of_an_earlier_fit_is_left(self, kind):
        model = quick(kind).fit(GRAPH, CLASSES, train=TRAIN)
        model.stale_ = "of an earlier fit"
        assert not hasattr(model.fit(GRAPH, CLASSES, train=TRAIN), "stale_")

    def test_the_report_is_shown_where_it_is_wanted(self, kind, capsys):
        model = quick(kind, verbose=True, inputs="features").fit(GRAPH, CLASSES, train=TRAIN)
        assert str(model.report_) in capsys.readouterr().err


class TestFewNodes:
    def test_four_are_needed(self):
        with pytest.raises(GraphError, match="there are 3 training nodes, and 4 are needed at least"):
            quick(GraphClassifier).fit(GRAPH, train=[0, 50, 100])
        model = quick(GraphClassifier).fit(GRAPH, train=[0, 1, 60, 61])
        assert model.report_.n_folds == 2
        assert model.predict_proba().sum(axis=1) == pytest.approx(1)

    @pytest.mark.parametrize("head", ["logistic", "kernel"])
    @pytest.mark.parametrize("rare", [1, 2])
    def test_a_class_of_one_or_two_nodes(self, head, rare):
        """Some folds have none to learn from."""
        train = np.r_[np.arange(40, 60), np.arange(80, 100), np.arange(rare)]
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            model = quick(GraphClassifier, head=head).fit(GRAPH, train=train)
        assert any("have a single training node (0)" in str(each.message) for each in told) == (rare == 1)
        assert model.classes_.tolist() == [0, 1, 2]
        assert np.isfinite(model.predict_proba()).all()
        assert (model.predict_proba() > 0).all()
        rest = np.setdiff1d(np.arange(40, 120), train)
        assert np.mean(model.predict()[rest] == CLASSES[rest]) > 0.8

    def test_more_folds_than_there_are_nodes_for(self):
        assert quick(GraphClassifier, folds=100).fit(GRAPH, train=TRAIN[::3]).report_.n_folds == 10

    @pytest.mark.parametrize(("labels", "words"), [
        (np.zeros(120), "all 60 labelled nodes are of class 0.0: there is nothing to tell apart"),
        (["tea"] * 120, "of class 'tea'"),
        (np.arange(120), "the labels are no classes: 60 labelled nodes have 60 different ones"),
    ], ids=["one", "text", "ids"])  # fmt: skip
    def test_labels_that_are_no_classes(self, labels, words):
        with pytest.raises(GraphError, match=words):
            quick(GraphClassifier).fit(GRAPH, labels, train=TRAIN)

    @pytest.mark.filterwarnings("ignore:60 of 60 training nodes have no label")
    @pytest.mark.parametrize("kind", [GraphClassifier, GraphRegressor])
    def test_no_label_at_all(self, kind):
        with pytest.raises(GraphError, match="no node has a label"):
            quick(kind).fit(GRAPH, np.full(120, np.nan), train=TRAIN)


class TestValues:
    @pytest.mark.parametrize(("values", "words"), [
        (np.full(120, 2.5), "all 60 labelled nodes have the value 2.5: there is nothing to predict"),
        (np.where(np.arange(120) == 4, np.inf, VALUES), "infinite"),
        (np.where(np.arange(120) == 4, -np.inf, VALUES), "infinite"),
        (np.where(np.arange(120) == 4, 1e300, VALUES), r"within ±1e\+50"),
        (VALUES * 1e-200, "too close for the squares of their differences to be told from zero: scale them"),
        (VALUES + 1j, "complex"),
        (np.array(["tea"] * 120), "must be numbers for a regression"),
        ([{}] * 120, "must be numbers for a regression"),
    ], ids=["same", "inf", "-inf", "1e300", "1e-200", "complex", "text", "objects"])  # fmt: skip
    def test_that_cannot_be_predicted(self, values, words):
        with pytest.raises(GraphError, match=words):
            quick(GraphRegressor).fit(GRAPH, values, train=TRAIN)

    @pytest.mark.parametrize("unit", [1e-40, 1e-3, 1e3, 1e45])
    @pytest.mark.parametrize("head", ["elastic-net", "kernel"])
    def test_the_unit_makes_no_difference(self, unit, head):
        plain, scaled = (quick(GraphRegressor, head=head).fit(GRAPH, VALUES * u, train=TRAIN) for u in (1, unit))
        assert scaled.predict() / unit == pytest.approx(plain.predict(), abs=1e-4)
        assert scaled.report_.chosen.score == pytest.approx(plain.report_.chosen.score, abs=1e-4)

    @pytest.mark.parametrize("head", ["elastic-net", "kernel"])
    def test_nor_does_the_zero(self, head):
        plain, moved = (quick(GraphRegressor, head=head).fit(GRAPH, VALUES + x, train=TRAIN) for x in (0, 1000))
        assert moved.predict() - 1000 == pytest.approx(plain.predict(), abs=1e-3)

    def test_whole_numbers_and_booleans_are_values(self):
        found = [quick(GraphRegressor).fit(GRAPH, CLASSES.astype(kind), train=TRAIN).outputs_ for kind in (int, float)]
        assert found[0].tobytes() == found[1].tobytes()
        model = quick(GraphRegressor).fit(GRAPH, CLASSES > 0, train=TRAIN)
        assert model.predict()[90] > model.predict()[10] + 0.5


class TestGraphs:
    """Graphs that lack something."""

    BLOCKS = np.kron(np.eye(2), np.ones((10, 10)))
    SIDES = np.arange(20) // 10

    def model(self, graph, **settings):
        return quick(GraphClassifier, embedder=None, **settings).fit(graph, self.SIDES, train=np.arange(0, 20, 2))

    @pytest.mark.filterwarnings("ignore:.*dimensions are zero")
    def test_without_features_vectors_are_left(self):
        model = self.model(AttributedGraph(self.BLOCKS))
        assert {each.inputs for each in model.report_.candidates} == {"vectors"}
        assert model.score(y=self.SIDES, graph=AttributedGraph(self.BLOCKS)) == 1.0

    @pytest.mark.parametrize("kind", [GraphClassifier, GraphRegressor])
    def test_without_edges_features_are_left(self, kind):
        graph = AttributedGraph(np.zeros((20, 20)), np.column_stack([self.SIDES == 0, self.SIDES == 1]))
        model = kind(folds=3).fit(graph, self.SIDES, train=np.arange(0, 20, 2))
        assert {each.inputs for each in model.report_.candidates} == {"features"}
        assert not any(each.smoothing for each in model.report_.candidates)
        assert model.score(graph, self.SIDES) > 0.9

    def test_without_either_there_is_nothing(self):
        with pytest.raises(GraphError, match="has no edges and features: there is nothing to predict from"):
            self.model(AttributedGraph(np.zeros((20, 20))))

    @pytest.mark.parametrize(("inputs", "lacks"), [("features", "features"), ("both", "features")])
    def test_what_is_asked_for_must_be_there(self, inputs, lacks):
        with pytest.raises(GraphError, match=f"has no {lacks}"):
            self.model(AttributedGraph(self.BLOCKS), inputs=inputs)

    def test_isolated_nodes_and_nodes_without_features(self):
        adjacency, features = GRAPH.adjacency.toarray(), GRAPH.features.toarray()
        adjacency[:9], adjacency[:, :9], features[6:12] = 0, 0, 0
        graph = AttributedGraph(adjacency, features)
        for kind, labels in MODELS.values():
            model = quick(kind).fit(graph, labels, train=TRAIN)
            assert np.isfinite(model.outputs_).all()
            assert model.score(graph, labels, test=np.arange(13, 120, 2)) > 0.6

    @pytest.mark.parametrize("kind", [GraphClassifier, GraphRegressor])
    def test_features_that_no_training_node_has(self, kind):
        features = GRAPH.features.toarray()
        features[TRAIN] = 0
        model = quick(kind).fit(AttributedGraph(GRAPH.adjacency, features), CLASSES, train=TRAIN)
        assert np.isfinite(model.outputs_).all()

    def test_a_feature_that_all_nodes_have(self):
        for kind, labels in MODELS.values():
            model = quick(kind, inputs="features").fit(AttributedGraph(GRAPH.adjacency, np.ones((120, 1))), labels)
            assert np.isfinite(model.outputs_).all()

    def test_a_head_that_cannot_take_the_inputs(self):
        with pytest.raises(ParameterError, match="head='elastic-net' cannot be used with inputs='features'"):
            quick(GraphRegressor, head="elastic-net", inputs="features").fit(GRAPH, VALUES, train=TRAIN)

    def test_what_is_no_graph(self):
        with pytest.raises(HopscaleError):
            GraphClassifier().fit(7, CLASSES)
