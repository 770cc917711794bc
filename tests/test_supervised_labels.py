"""Which labels supervised models look at: those of the training nodes, however they are given."""

import pickle

import numpy as np
import pandas as pd
import pytest
from supervised_models import CLASSES, GRAPH, MODELS, OTHERS, TRAIN, VALUES, quick, state

from hopscale import AttributedGraph, GraphClassifier, GraphRegressor
from hopscale.exceptions import GraphError, HopscaleWarning, ParameterError, UnknownNodeError
from hopscale.supervised.targets import as_classes, chosen_labels, chosen_nodes

NAMED = AttributedGraph(
    GRAPH.adjacency, GRAPH.features, node_ids=[f"n{i * 7 % 120}" for i in range(120)], labels=CLASSES
)


class Untouchable:
    """A label that must not be looked at."""

    def _touched(self, *_):
        raise AssertionError("this label was looked at")

    __eq__ = __ne__ = __lt__ = __gt__ = __le__ = __ge__ = __hash__ = __bool__ = _touched
    __float__ = __int__ = __index__ = __str__ = __repr__ = _touched


@pytest.fixture(scope="module")
def clean():
    """What a fit without any other label than those of the training nodes finds."""
    found = {}
    for name, (kind, labels) in MODELS.items():
        only = np.full(len(labels), np.nan)
        only[TRAIN] = labels[TRAIN]
        found[name] = state(quick(kind).fit(GRAPH, only, train=TRAIN))
    return found


def poisoned(labels, poison, dtype=None):
    """Labels with others instead of those that are not of training nodes."""
    found = np.array(labels, dtype=dtype)
    found[OTHERS] = poison
    return found


@pytest.mark.parametrize("name", MODELS)
class TestPoison:
    """Labels of other nodes change not a bit."""

    @pytest.mark.parametrize("poison", [2, -1, np.nan, np.inf, 1e300], ids=str)
    def test_other_numbers(self, name, poison, clean):
        kind, labels = MODELS[name]
        labels = poisoned(labels, poison, float)
        assert state(quick(kind).fit(GRAPH, labels, train=TRAIN)) == clean[name]

    @pytest.mark.parametrize("form", [list, tuple, np.asarray, pd.Series, lambda y: dict(enumerate(y))])
    def test_objects_that_must_not_be_touched(self, name, form, clean):
        kind, labels = MODELS[name]
        labels = form(poisoned(labels, Untouchable(), object))
        assert state(quick(kind).fit(GRAPH, labels, train=TRAIN)) == clean[name]

    def test_labels_of_the_graph(self, name, clean):
        kind, labels = MODELS[name]
        graph = AttributedGraph(GRAPH.adjacency, GRAPH.features, labels=poisoned(labels, 99))
        assert state(quick(kind).fit(graph, train=TRAIN)) == clean[name]

    def test_labels_of_training_nodes_do_matter(self, name, clean):
        kind, labels = MODELS[name]
        labels = labels.copy()
        labels[TRAIN[0]] = labels[TRAIN[-1]]
        assert state(quick(kind).fit(GRAPH, labels, train=TRAIN)) != clean[name]

    def test_without_train_all_labelled_nodes_are_learnt_from(self, name, clean):
        kind, labels = MODELS[name]
        assert state(quick(kind).fit(GRAPH, poisoned(labels, np.nan, float))) == clean[name]


def test_classes_do_not_depend_on_other_labels():
    names = np.array(["ape", "bee", "cat"])[CLASSES]
    wide = names.astype("U40")
    wide[OTHERS] = "a name that is much longer than all others"
    model = quick(GraphClassifier).fit(GRAPH, wide, train=TRAIN)
    assert model.classes_.tolist() == ["ape", "bee", "cat"]
    assert model.classes_.dtype == names.dtype
    assert model.score(GRAPH, names) > 0.8


@pytest.mark.parametrize("form", [
    lambda rows: rows,
    lambda rows: rows[::-1].tolist(),
    lambda rows: rows.astype(np.uint8),
    lambda rows: rows.astype(object),
    lambda rows: np.isin(np.arange(120), rows),
    lambda rows: np.isin(np.arange(120), rows).tolist(),
    lambda rows: NAMED.node_ids[rows].tolist(),
    lambda rows: NAMED.node_ids[rows].astype(str),
    lambda rows: tuple(NAMED.node_ids[rows]),
    lambda rows: pd.Index(NAMED.node_ids[rows]),
    lambda rows: pd.Series(np.isin(np.arange(120), rows), index=NAMED.node_ids).sort_index(),
    lambda rows: {node: i in rows for i, node in enumerate(NAMED.node_ids)},
], ids=["positions", "list", "uint8", "object", "mask", "list of bool", "ids", "array of ids", "tuple", "index",
        "series of bool", "mapping to bool"])  # fmt: skip
def test_forms_of_train(form):
    assert chosen_nodes(NAMED, form(TRAIN)).tolist() == TRAIN.tolist()


def test_an_index_of_whole_numbers_has_ids():
    graph = AttributedGraph(np.ones((4, 4)), node_ids=[3, 2, 1, 0])
    with pytest.warns(HopscaleWarning, match="taken for positions"):
        assert chosen_nodes(graph, [3, 2]).tolist() == [2, 3]
    assert chosen_nodes(graph, pd.Index([3, 2])).tolist() == [0, 1]
    assert chosen_nodes(graph, pd.Index([3.0, 2.0])).tolist() == [0, 1]


def test_ids_that_are_tuples():
    graph = AttributedGraph(np.ones((3, 3)), node_ids=[("a", 1), ("a", 2), ("b", 1)])
    assert chosen_nodes(graph, [("b", 1), ("a", 1)]).tolist() == [0, 2]


@pytest.mark.parametrize(("train", "error", "words"), [
    ([], ParameterError, "chooses no node"),
    (np.zeros(120, bool), ParameterError, "chooses no node"),
    (dict.fromkeys(NAMED.node_ids, False), ParameterError, "chooses no node"),
    (np.ones(119, bool), ParameterError, "a mask of 119 nodes, but the graph has 120"),
    ([0, 1, 120], ParameterError, "position 120, but the graph has 120 nodes"),
    ([-1, 0], ParameterError, "position -1"),
    ([0, 3, 3, 3], ParameterError, "2 node.s. more than once"),
    (["n1", "n2", "n1"], ParameterError, "1 node.s. more than once"),
    (["n1", "nobody"], UnknownNodeError, "1 id.s. that are no nodes of the graph, such as 'nobody'"),
    (pd.Index([0, 1]), UnknownNodeError, "2 id.s. that are no nodes of the graph, such as 0"),
    ([0.0, 1.0], ParameterError, "positions are whole numbers"),
    (np.array([0.5]), ParameterError, "positions are whole numbers"),
    (np.zeros((2, 2), int), ParameterError, "must be one-dimensional"),
    (3, ParameterError, "must be one-dimensional"),
    ({"n1"}, ParameterError, "must be one-dimensional"),
    (pd.Series([1, 2, 3]), ParameterError, "must be booleans"),
    ({"n1": 1}, ParameterError, "must be booleans"),
    (pd.Series([True, False], index=["n1", "n2"]), ParameterError, "no entry for 118 of 120 nodes"),
    (pd.Series(np.ones(120, bool)), GraphError, "have a default index"),
    ([["n1"], ["n2"]], GraphError, "hashable"),
], ids=str)  # fmt: skip
def test_train_that_makes_no_sense(train, error, words):
    with pytest.raises(error, match=words):
        quick(GraphClassifier).fit(NAMED, train=train)


class TestForms:
    """Labels come in the order of the nodes, or with their ids."""

    def test_a_series_or_mapping_is_matched_by_id(self):
        by_id = pd.Series(CLASSES, index=NAMED.node_ids).sample(frac=1, random_state=0)
        expected = state(quick(GraphClassifier).fit(NAMED, train=TRAIN))
        for labels in (by_id, by_id.to_dict()):
            assert state(quick(GraphClassifier).fit(NAMED, labels, train=TRAIN)) == expected

    def test_a_mapping_of_the_training_nodes_alone(self):
        labels = dict(zip(NAMED.node_ids[TRAIN], CLASSES[TRAIN].tolist(), strict=True))
        expected = state(quick(GraphClassifier).fit(NAMED, train=TRAIN))
        assert state(quick(GraphClassifier).fit(NAMED, labels)) == expected
        assert state(quick(GraphClassifier).fit(NAMED, labels, train=TRAIN)) == expected

    @pytest.mark.parametrize(("labels", "words"), [
        (CLASSES[:-1], "119 labels for 120 nodes"),
        ([*CLASSES.tolist(), 0], "121 labels for 120 nodes"),
        (np.column_stack([CLASSES, CLASSES]), "have shape"),
        (pd.DataFrame({"label": CLASSES}, index=NAMED.node_ids), "have shape"),
        (7, "one per node, not 7"),
        (np.float64(7), "one per node"),
        (np.array(7), "one per node"),
        (GRAPH.adjacency, "one per node"),
        (np.ma.masked_array(CLASSES, CLASSES == 2), "masked"),
        (pd.Series(CLASSES), "have a default index"),
        (pd.Series(CLASSES, index=[f"x{i}" for i in range(120)]), "nothing in common"),
        (dict.fromkeys(range(120), 0), "nothing in common"),
        ([[1], [2]] * 60, "have shape"),
        ([{}] * 120, "one class a node"),
    ], ids=str)  # fmt: skip
    def test_labels_that_make_no_sense(self, labels, words):
        with pytest.raises(GraphError, match=words):
            quick(GraphClassifier).fit(NAMED, labels, train=TRAIN)

    def test_a_graph_without_labels(self):
        with pytest.raises(GraphError, match="has no labels to learn from: pass them as y"):
            quick(GraphClassifier).fit(AttributedGraph(GRAPH.adjacency, GRAPH.features))

    @pytest.mark.parametrize(
        ("labels", "kind"),
        [
            (CLASSES > 0, bool),
            (CLASSES.astype(np.int8), np.int8),
            (CLASSES / 2, float),
            (np.array(["x", "yy", "z"])[CLASSES], "<U2"),
            (np.array([7, "x", 0.5], dtype=object)[CLASSES].tolist(), object),
            (pd.array(CLASSES, dtype="Int64"), CLASSES.dtype),
            (pd.Categorical(CLASSES), CLASSES.dtype),
        ],
        ids=["bool", "int8", "float", "text", "mixed", "nullable", "categorical"],
    )
    def test_types_of_classes(self, labels, kind):
        model = quick(GraphClassifier).fit(GRAPH, labels, train=TRAIN)
        assert model.classes_.dtype == kind
        assert set(model.classes_.tolist()) == set(labels)
        found = model.predict()
        assert found.dtype == kind
        assert model.score(y=labels) == np.mean([found[i] == labels[i] for i in OTHERS]) > 0.8

    def test_training_nodes_without_a_label_are_counted(self):
        labels = CLASSES.astype(float)
        labels[TRAIN[:3]] = np.nan
        with pytest.warns(HopscaleWarning, match="3 of 60 training nodes have no label, and are left out"):
            model = quick(GraphClassifier).fit(GRAPH, labels, train=TRAIN)
        assert model.train_.tolist() == TRAIN[3:].tolist()

    def test_names_of_several_types_keep_their_order(self):
        codes, names = as_classes(["b", 1, "a", None, 1])
        assert names.tolist() == ["b", 1, "a"]
        assert codes.tolist() == [0, 1, 2, -1, 1]

    def test_a_missing_id_has_no_label(self):
        assert chosen_labels(NAMED, {"n0": 5}, np.array([0, 1])) == [5, None]


class TestMinusOne:
    """-1 beside the codes 0, 1, ... means that there is no label; what the training nodes have decides."""

    def test_beside_codes_it_is_no_label(self):
        labels = np.where(np.isin(np.arange(120), TRAIN), CLASSES, -1)
        model = quick(GraphClassifier).fit(GRAPH, labels)
        assert model.train_.tolist() == TRAIN.tolist()

    def test_a_class_of_the_fit_is_scored_whatever_else_is(self):
        """Among -1 and 0 alone, -1 would seem to be no label."""
        labels = np.array([-1, 0, 5])[CLASSES]
        with pytest.warns(HopscaleWarning, match="-1 is taken for a class"):
            model = quick(GraphClassifier).fit(GRAPH, labels, train=TRAIN)
        test = OTHERS[model.predict()[OTHERS] == 0]
        labels[test[::2]], labels[test[1::2]] = -1, 0
        assert model.score(y=labels, test=test) == pytest.approx(0.5, abs=1 / len(test))

    def test_it_is_a_value(self):
        model = quick(GraphRegressor).fit(GRAPH, CLASSES - 1, train=TRAIN)
        assert len(model.train_) == len(TRAIN)


class TestScore:
    def test_is_of_the_nodes_that_were_not_trained_on(self):
        model = quick(GraphClassifier).fit(GRAPH, train=TRAIN)
        expected = np.mean(model.predict()[OTHERS] == CLASSES[OTHERS])
        assert model.score() == model.score(GRAPH) == model.score(GRAPH, CLASSES, test=OTHERS) == expected
        assert model.score(test=[1]) == (model.predict()[1] == CLASSES[1])

    def test_a_class_that_was_not_trained_on_is_wrong(self):
        labels = CLASSES.astype(object)
        labels[OTHERS] = "new"
        assert quick(GraphClassifier).fit(GRAPH, train=TRAIN).score(y=labels) == 0.0

    def test_training_nodes_are_known_by_id_in_another_graph(self):
        order = np.random.default_rng(0).permutation(120)[:100]
        part = AttributedGraph(
            NAMED.adjacency[order][:, order],
            NAMED.features[order],
            node_ids=NAMED.node_ids[order],
            labels=CLASSES[order],
        )
        model = quick(GraphClassifier).fit(NAMED, train=TRAIN)
        new = ~np.isin(order, TRAIN)
        assert model.score(part) == np.mean(model.predict(part)[new] == CLASSES[order][new])

    def test_of_values(self):
        model = quick(GraphRegressor).fit(GRAPH, VALUES, train=TRAIN)
        rest = VALUES[OTHERS] - model.predict()[OTHERS]
        assert model.score(y=VALUES) == pytest.approx(1 - (rest**2).sum() / (VALUES[OTHERS].var() * len(OTHERS)))

    @pytest.mark.parametrize("name", MODELS)
    def test_nothing_to_score(self, name):
        kind, labels = MODELS[name]
        model = quick(kind).fit(GRAPH, labels)
        with pytest.raises(GraphError, match="there is no node to score"):
            model.score(y=labels)
        with pytest.raises(GraphError, match="there is no node to score"):
            model.score(y=np.full(120, np.nan), test=[1, 2])

    def test_one_value_has_no_r2(self):
        model = quick(GraphRegressor).fit(GRAPH, VALUES, train=TRAIN)
        with pytest.raises(GraphError, match="R² needs nodes of different values"):
            model.score(y=VALUES, test=[1])

    def test_labels_that_are_no_classes(self):
        model = quick(GraphClassifier).fit(GRAPH, train=TRAIN)
        with pytest.raises(GraphError, match="one class per node"):
            model.score(y=[{}] * 120)

    def test_a_graph_that_is_gone(self):
        model = pickle.loads(pickle.dumps(quick(GraphClassifier).fit(GRAPH, train=TRAIN)))
        with pytest.raises(GraphError, match="loaded without the graph of its fit: pass it"):
            model.score()

    @pytest.mark.parametrize("kind", [GraphClassifier, GraphRegressor])
    def test_labels_that_were_passed_to_fit_are_scored_by_default(self, kind):
        """Not those that the graph has, which are others."""
        y = np.where(np.asarray(GRAPH.labels) == 0, 7.0, 2.0)
        model = quick(kind).fit((GRAPH.adjacency, GRAPH.features), y, train=TRAIN)
        assert model.score() == model.score(GRAPH, y) > 0.5
        model = quick(kind).fit(GRAPH, y, train=TRAIN)
        assert model.score() == model.score(GRAPH) == model.score(GRAPH, y)
        assert model.score(GRAPH, GRAPH.labels) < model.score()
