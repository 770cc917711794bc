"""Nodes as samples of scikit-learn: vectors land on the right nodes, and every setting is fitted once."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import make_pipeline

from hopscale import MUSAE, AttributedGraph, DeepWalk, NodeVectors, datasets, load_model
from hopscale.exceptions import ParameterError, UnknownNodeError

pytestmark = pytest.mark.filterwarnings("ignore::hopscale.exceptions.HopscaleWarning")


@pytest.fixture(scope="module", name="graph")
def planted():
    graph = datasets.planted_blocks(120)
    ids = [f"n{i}" for i in np.random.default_rng(0).permutation(120)]
    return AttributedGraph(graph.adjacency, graph.features, node_ids=ids, labels=graph.labels)


@pytest.fixture
def fits(monkeypatch):
    """How often a model is fitted."""
    counted, real = [], MUSAE.fit

    def fit(self, *arguments):
        counted.append(self.dimensions)
        return real(self, *arguments)

    monkeypatch.setattr(MUSAE, "fit", fit)
    return counted


def test_vectors_are_those_of_the_nodes_asked_for(graph):
    order = np.random.default_rng(1).permutation(120)[:50]
    ids, expected = graph.node_ids[order], MUSAE(12).fit(graph).embedding_[order]
    step = NodeVectors(MUSAE(12), graph).fit(ids[:3])
    frame = pd.DataFrame({"id": ids}, index=range(50, 0, -1))
    for nodes in (ids, ids.tolist(), pd.Series(ids, index=range(50, 0, -1)), frame, ids[:, None], tuple(ids)):
        np.testing.assert_array_equal(step.transform(nodes), expected)
    assert step.get_feature_names_out().tolist()[:1] == ["hop0_0"]
    with pytest.raises(UnknownNodeError, match="no node 'x'"):
        step.transform(["n1", "x"])
    with pytest.raises(ParameterError, match="must be a column"):
        step.transform(np.array([["n1", "n2"]]))


def test_scores_are_those_of_the_vectors(graph):
    classifier, folds = LogisticRegression(max_iter=500), KFold(4, shuffle=True, random_state=0)
    expected = cross_val_score(classifier, MUSAE(12).fit_transform(graph), graph.labels, cv=folds)
    order = np.random.default_rng(1).permutation(120)
    pipeline = make_pipeline(NodeVectors(MUSAE(12), graph), classifier)
    np.testing.assert_array_equal(cross_val_score(pipeline, graph.node_ids, graph.labels, cv=folds), expected)
    by_hand = [
        classifier.fit(MUSAE(12).fit(graph)[graph.node_ids[order[train]]], graph.labels[order[train]]).score(
            MUSAE(12).fit(graph)[graph.node_ids[order[test]]], graph.labels[order[test]]
        )
        for train, test in folds.split(order)
    ]
    shuffled = cross_val_score(pipeline, graph.node_ids[order], graph.labels[order], cv=folds)
    np.testing.assert_array_equal(shuffled, by_hand)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_search_fits_every_setting_once(graph, fits, n_jobs):
    pipeline = make_pipeline(NodeVectors(MUSAE(), graph), LogisticRegression(max_iter=500))
    grid = {"nodevectors__model__dimensions": [4, 12], "logisticregression__C": [0.1, 1]}
    search = GridSearchCV(pipeline, grid, cv=3, n_jobs=n_jobs).fit(graph.node_ids, graph.labels)
    best = search.best_params_["nodevectors__model__dimensions"]
    assert search.best_estimator_[0].model_.embedding_.shape == (120, best)
    assert search.score(graph.node_ids, graph.labels) > 0.6
    if n_jobs == 1:
        assert sorted(fits) == [4, 12]


def test_a_fit_is_not_kept_where_it_is_to_be_another_one(graph, fits):
    step = NodeVectors(MUSAE(4, random_state=None), graph)
    step.fit([])
    clone(step).fit([])
    assert len(fits) == 2
    fixed = NodeVectors(MUSAE(4), graph).fit([])
    clone(fixed).fit([])
    other = clone(fixed).set_params(model__window=1).fit([])
    assert len(fits) == 4
    assert list(other.model_.scale_columns_) == ["0", "1"]
    assert list(fixed.model_.scale_columns_) == ["0", "1", "2", "3"]


def test_graphs_are_not_copied_and_fits_not_pickled(graph):
    step = NodeVectors(MUSAE(4), graph).fit([])
    assert clone(step).graph is graph
    again = pickle.loads(pickle.dumps(step))
    np.testing.assert_array_equal(again.transform(["n3"]), step.transform(["n3"]))


def test_a_fitted_model_is_taken_as_it_is(graph, fits, tmp_path):
    MUSAE(4).fit(graph).save(tmp_path / "m")
    model = load_model(tmp_path / "m")
    fits.clear()
    pipeline = make_pipeline(NodeVectors(model), LogisticRegression())
    assert cross_val_score(pipeline, graph.node_ids, graph.labels, cv=3).shape == (3,)
    assert not fits
    with pytest.raises(ParameterError, match=r"fitted with other parameters \(dimensions\)"):
        NodeVectors(model.set_params(dimensions=5)).fit([])
    with pytest.raises(Exception, match="not fitted"):
        NodeVectors(DeepWalk()).fit([])
