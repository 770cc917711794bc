"""What cross-validation chooses on graphs whose answer is known, and how honest its score is."""

import numpy as np
import pytest
from supervised_models import CLASSES, GRAPH, TRAIN, VALUES, quick

from hopscale import AE, AttributedGraph, DeepWalk, GraphClassifier, GraphRegressor
from hopscale.datasets import planted_blocks
from hopscale.supervised.selection import NOTHING_LEARNT, Candidate, Report, fold_numbers
from hopscale.supervised.smoothing import Smoothing

SIZE = {"n_nodes": 300, "n_features": 60}
STRONG_EDGES = {"p_in": 0.1, "p_out": 0.01}
NO_EDGES = {"p_in": 0.03, "p_out": 0.03}  # that know anything
OPPOSITE = {"p_in": 0.0, "p_out": 0.05}
STRONG_FEATURES = {"feature_p_in": 0.2, "feature_p_out": 0.05}
WEAK_FEATURES = {"feature_p_in": 0.08, "feature_p_out": 0.05}
NO_FEATURES = {"feature_p_in": 0.05, "feature_p_out": 0.05}
HALF = np.random.default_rng(0).permutation(300)[:150]


def fitted(edges, features, labels=None, **settings):
    graph = planted_blocks(**SIZE, **edges, **features)
    model = quick(GraphClassifier, **{"embedder": DeepWalk(8, n_jobs=1), **settings})
    return model.fit(graph, labels, train=HALF), graph


def best(report, **wanted):
    """Score of the best candidate of some kind."""
    return max(each.score for each in report.candidates if all(getattr(each, k) == v for k, v in wanted.items()))


def best_plain(report, **wanted):
    """The same without smoothing."""
    return max(
        each.score
        for each in report.candidates
        if not each.smoothing and all(getattr(each, k) == v for k, v in wanted.items())
    )


class TestChoice:
    def test_where_edges_alone_know_vectors_are_chosen(self):
        model, graph = fitted(STRONG_EDGES, NO_FEATURES)
        assert model.report_.chosen.inputs == "vectors"
        assert best_plain(model.report_, inputs="features") < 0.5
        assert model.score(graph) > 0.9

    @pytest.mark.parametrize("edges", [NO_EDGES, OPPOSITE], ids=["random edges", "edges to other classes"])
    def test_where_features_alone_know_they_are_chosen_and_not_smoothed(self, edges):
        model, graph = fitted(edges, STRONG_FEATURES)
        assert model.report_.chosen.inputs != "vectors"
        assert (model.embedder_ is None) == (model.report_.chosen.inputs == "features")
        assert not model.report_.chosen.smoothing.smooth
        assert best_plain(model.report_, inputs="vectors") < 0.5
        assert model.score(graph) > 0.75

    def test_where_neighbours_are_alike_noisy_features_are_smoothed(self):
        model, graph = fitted(STRONG_EDGES, WEAK_FEATURES, inputs="features")
        assert model.report_.chosen.smoothing
        assert model.score(graph) > best_plain(model.report_) + 0.3

    def test_smoothing_can_be_forbidden(self):
        model, _ = fitted(STRONG_EDGES, WEAK_FEATURES, inputs="features", smooth=False)
        assert not any(each.smoothing for each in model.report_.candidates)

    def test_a_kernel_where_no_hyperplane_will_do(self):
        """Classes are the exclusive or of two features."""
        rng = np.random.default_rng(0)
        first, second = rng.random((2, 300)) < 0.5
        features = np.column_stack([first, ~first, second, ~second]).astype(float)
        adjacency = np.zeros((300, 300))
        adjacency[np.arange(300), np.arange(300) - 1] = adjacency[np.arange(300) - 1, np.arange(300)] = 1
        model = quick(GraphClassifier, embedder=AE(6, window=1, n_jobs=1), inputs="vectors", smooth=False)
        model.fit(AttributedGraph(adjacency, features), first ^ second, train=HALF)
        assert model.report_.chosen.head == "kernel"
        assert best(model.report_, head="kernel") > 0.9
        assert best(model.report_, head="logistic") < 0.75

    @pytest.mark.parametrize("kind", [GraphClassifier, GraphRegressor])
    @pytest.mark.parametrize("inputs", ["vectors", "features", "both"])
    def test_what_is_asked_for_is_taken(self, kind, inputs):
        model = quick(kind, inputs=inputs, head="kernel").fit(GRAPH, CLASSES, train=TRAIN)
        assert {(each.inputs, each.head) for each in model.report_.candidates} == {(inputs, "kernel")}
        assert model.report_.chosen == model.report_.candidates[0]
        assert (model.embedder_ is None) == (inputs == "features")

    def test_values_choose_as_well(self):
        graph = planted_blocks(**SIZE, **OPPOSITE, **STRONG_FEATURES)
        values = graph.labels + np.random.default_rng(0).normal(size=300) / 3
        model = quick(GraphRegressor, embedder=DeepWalk(8, n_jobs=1)).fit(graph, values, train=HALF)
        assert model.report_.chosen.inputs == "features"
        assert not model.report_.chosen.smoothing.smooth


class TestScores:
    @pytest.mark.parametrize(
        ("edges", "features"), [(STRONG_EDGES, WEAK_FEATURES), (NO_EDGES, STRONG_FEATURES), (OPPOSITE, STRONG_FEATURES)]
    )
    def test_the_score_of_the_folds_is_about_that_of_the_test(self, edges, features):
        model, graph = fitted(edges, features)
        deviation = np.sqrt(2 * 0.85 * 0.15 / 150)
        assert model.report_.chosen.score == pytest.approx(model.score(graph), abs=3 * deviation)

    def test_nothing_is_found_where_there_is_nothing(self):
        """Labels that know nothing of the graph: a held-out label that leaked would show."""
        labels = np.random.default_rng(1).permutation(300) % 3
        model, _ = fitted(STRONG_EDGES, STRONG_FEATURES, labels)
        assert model.report_.chosen.score < model.report_.baseline + 0.15
        assert np.mean([each.score for each in model.report_.candidates]) == pytest.approx(1 / 3, abs=0.08)

    def test_nothing_is_found_in_values_that_know_nothing(self):
        values = np.random.default_rng(1).normal(size=300)
        graph = planted_blocks(**SIZE, **STRONG_EDGES, **STRONG_FEATURES)
        report = quick(GraphRegressor).fit(graph, values, train=HALF).report_
        assert report.chosen.score < 0.1

    def test_the_baseline_is_the_commonest_class_of_the_training_nodes(self):
        labels = np.where(np.isin(np.arange(120), TRAIN[:45]), 0, 1)
        report = quick(GraphClassifier).fit(GRAPH, labels, train=TRAIN).report_
        assert report.baseline == 45 / 60
        assert (report.n_train, report.n_folds) == (60, 3)

    def test_the_baseline_of_values_is_their_mean(self):
        assert quick(GraphRegressor).fit(GRAPH, VALUES, train=TRAIN).report_.baseline == 0.0

    def test_candidates_come_in_the_order_of_their_scores(self):
        scores = [each.score for each in quick(GraphClassifier).fit(GRAPH, train=TRAIN).report_.candidates]
        assert scores == sorted(scores, reverse=True)
        assert len(scores) > 10

    def test_the_report_says_what_was_chosen_and_what_needs_no_graph(self):
        report = quick(GraphClassifier).fit(GRAPH, train=TRAIN).report_
        [chosen] = [line for line in str(report).splitlines() if "<- chosen" in line]
        assert f"{report.chosen.score:.4f}" in chosen
        assert report.chosen.head in chosen
        assert "3-fold cross-validation on 60 training nodes" in str(report)
        assert f"{report.baseline:.4f}  without learning" in str(report)
        assert report.is_better
        assert NOTHING_LEARNT not in str(report)

    @pytest.mark.parametrize(("metric", "is_better"), [("accuracy", True), ("r2", False)])
    def test_a_baseline_of_zero_does_not_make_scores_those_of_values(self, metric, is_better):
        """Two standard errors of a share of .3 are .29 on ten nodes, those of an R² of .3 are .48."""
        candidate = Candidate("vectors", "kernel", 1.0, Smoothing(), 0.3)
        assert Report([candidate], candidate, 0.0, 10, 2, metric).is_better == is_better

    @pytest.mark.parametrize("kind", [GraphClassifier, GraphRegressor])
    def test_it_says_so_if_nothing_was_learnt(self, kind):
        noise = np.random.default_rng(0).integers(0, 2, GRAPH.n_nodes).astype(float)
        assert NOTHING_LEARNT in str(quick(kind).fit(GRAPH, noise, train=TRAIN).report_)


class TestFolds:
    def test_each_class_is_dealt_evenly(self):
        classes = np.repeat([0, 1, 2], [7, 20, 13])
        folds = fold_numbers(np.eye(3)[classes], 5, seed=3)
        for k in range(3):
            counts = np.bincount(folds[classes == k], minlength=5)
            assert counts.max() - counts.min() <= 1
        assert np.bincount(folds).tolist() == [8] * 5

    def test_values_are_dealt_evenly(self):
        assert np.bincount(fold_numbers(np.arange(23.0)[:, None], 4, seed=0)).tolist() == [6, 6, 6, 5]

    def test_depend_on_the_seed(self):
        targets = np.eye(2)[np.arange(40) % 2]
        one, two, again = (fold_numbers(targets, 5, seed).tolist() for seed in (0, 1, 0))
        assert one == again != two


def test_probabilities_of_nodes_that_were_not_trained_on_are_calibrated():
    """Where it says p, a share of p is right: within three deviations of what chance does to 450 nodes."""
    graph = planted_blocks(n_nodes=600, n_features=60, **NO_EDGES, feature_p_in=0.12, feature_p_out=0.05)
    train = np.arange(0, 600, 4)
    model = quick(GraphClassifier, inputs="features").fit(graph, train=train)
    test = np.setdiff1d(np.arange(600), train)
    p, right = model.predict_proba()[test].max(axis=1), model.predict()[test] == graph.labels[test]
    assert p.mean() == pytest.approx(right.mean(), abs=3 * np.sqrt(0.25 / 450) + 3 * np.sqrt(0.25 / 150))
    sure = p > np.median(p)
    assert right[sure].mean() > right[~sure].mean() + 0.1
    assert model.predict_proba().sum(axis=1) == pytest.approx(1)
