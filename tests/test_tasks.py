"""Tasks against vectors whose scores are known beforehand."""

import subprocess
import sys
import warnings
from importlib import import_module
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from hopscale import tasks
from hopscale.exceptions import GraphError, HopscaleError, HopscaleWarning, ParameterError
from hopscale.tasks import evaluate, node_classification, node_regression, summarize
from hopscale.tasks.metrics import _one_versus_rest
from hopscale.tasks.splits import seeded_split


def _mean(records, metric):
    return summarize(records)[metric]["mean"]


@pytest.fixture
def separable():
    """Three classes of 40 nodes, each around a corner of its own."""
    labels = np.repeat([0, 1, 2], 40)
    return 5 * np.eye(3)[labels] + np.random.default_rng(0).normal(scale=0.1, size=(120, 3)), labels


class TestClassification:
    def test_separable_classes_are_found_without_error(self, separable):
        for record in node_classification(*separable):
            assert record["micro_f1"] == record["macro_f1"] == record["roc_auc"] == 1
            assert record["majority_micro_f1"] < 0.6

    def test_noise_is_worth_the_majority_class(self):
        rng = np.random.default_rng(1)
        labels = (rng.random(2000) < 0.2).astype(int)
        records = node_classification(rng.normal(size=(2000, 4)), labels)
        assert abs(_mean(records, "micro_f1") - _mean(records, "majority_micro_f1")) < 0.01
        assert abs(_mean(records, "majority_micro_f1") - np.mean(labels == 0)) < 0.02
        assert abs(_mean(records, "roc_auc") - 0.5) < 0.05
        assert _mean(records, "macro_f1") < 0.5

    def test_equals_scikit_learn_on_the_same_split(self):
        rng = np.random.default_rng(2)
        labels = rng.integers(0, 3, 200)
        vectors = np.eye(3)[labels] + rng.normal(size=(200, 3))
        record = node_classification(vectors, labels, splits=3, random_state=7)[2]
        train, test = seeded_split(200, 0.2, 7, 2)
        model = LogisticRegression(max_iter=2000).fit(vectors[train], labels[train])
        assert (record["n_train"], record["n_test"]) == (160, 40)
        assert record["micro_f1"] == pytest.approx(model.score(vectors[test], labels[test]))
        expected = roc_auc_score(labels[test], model.predict_proba(vectors[test]), multi_class="ovr")
        assert record["roc_auc"] == pytest.approx(expected)

    def test_unlabelled_nodes_play_no_part(self, separable):
        vectors, labels = separable
        spoiled = np.vstack([vectors, 1e6 * np.ones((30, 3))])
        expected = node_classification(vectors, labels)
        assert node_classification(spoiled, np.append(labels, [-1] * 30)) == expected
        assert evaluate(spoiled, np.append(labels, [np.nan] * 30), "classification") == expected
        names = np.array(["a", "b", "c"], dtype=object)[labels]
        assert evaluate(spoiled, np.append(names, [None] * 30)) == expected

    @pytest.mark.parametrize("classes", [[-1, 1], [-1.0, 1.0]])
    def test_plus_and_minus_one_are_two_classes(self, separable, classes):
        vectors, labels = separable
        two = labels < 2
        expected = node_classification(vectors[two], labels[two])
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert node_classification(vectors[two], np.array(classes)[labels[two]]) == expected

    @pytest.mark.parametrize("classes", [[-1, 1, 2], [-1, 0, 2], [-2, -1, 0]])
    def test_minus_one_is_a_class_where_others_are_no_codes(self, separable, classes):
        vectors, labels = separable
        with pytest.warns(HopscaleWarning, match="-1 is taken for a class"):
            assert node_classification(vectors, np.array(classes)[labels]) == node_classification(vectors, labels)

    def test_minus_one_beside_two_codes_is_no_class_and_that_is_said(self, separable):
        vectors, labels = separable
        with pytest.warns(HopscaleWarning, match="-1 is taken for no label"):
            records = node_classification(vectors, np.array([0, 1, -1])[labels])
        assert records == node_classification(vectors[labels < 2], labels[labels < 2])

    def test_standardizing_undoes_any_scaling_of_the_dimensions(self):
        rng = np.random.default_rng(3)
        labels = rng.integers(0, 2, 150)
        vectors = labels[:, None] + rng.normal(size=(150, 3))
        plain = node_classification(vectors, labels, standardize=True)
        # Powers of two: the same numbers after standardising, bit for bit.
        assert node_classification(vectors * [2.0**-20, 1, 2.0**9], labels, standardize=True) == plain

    def test_class_missing_from_a_part_still_has_a_score(self):
        test = np.array([0, 0, 1, 3])
        seen = np.array([[0.8, 0.1, 0.1], [0.6, 0.3, 0.1], [0.1, 0.7, 0.2], [0.2, 0.4, 0.4]])
        probabilities = np.hstack([seen, np.zeros((4, 1))])
        # Class 0 and 1 ranked perfectly, class 2 absent, class 3 never trained on: half.
        assert _one_versus_rest(test, probabilities) == pytest.approx((1 + 1 + 0.5) / 3)
        assert np.isnan(_one_versus_rest(np.zeros(4, int), probabilities))

    def test_names_are_not_classes(self):
        with pytest.raises(GraphError, match=r"100 labelled nodes have 100 different ones.*right column"):
            node_classification(np.zeros((100, 2)), [f"user {i}" for i in range(100)])

    def test_single_member_is_warned_of_and_scored(self):
        labels = np.array(["x"] * 20 + ["y"])
        with pytest.warns(HopscaleWarning, match="such as 'y'"):
            records = node_classification(np.arange(21.0)[:, None], labels, splits=20)
        # Where y is in the test part of four, training sees x alone and can only answer x.
        tested = [record for record in records if 20 in seeded_split(21, 0.2, 0, record["split"])[1]]
        assert tested
        for record in tested:
            assert record["micro_f1"] == record["majority_micro_f1"] == 0.75
            assert record["roc_auc"] == 0.5

    @pytest.mark.parametrize(
        ("labels", "message"),
        [
            ([1, 0], "12 vectors but 2 labels"),
            ([3] * 12, "all 12 labelled nodes are of class 3"),
            ([-1] * 12, "no node has a label"),
            (None, "carries no labels"),
            (np.zeros((12, 2)), "one-dimensional"),
        ],
    )
    def test_labels_that_cannot_be_used_are_explained(self, labels, message):
        with pytest.raises(GraphError, match=message):
            node_classification(np.ones((12, 2)), labels)

    def test_vector_that_is_not_finite_is_named(self, separable):
        vectors, labels = separable
        vectors[17, 1] = np.nan
        with pytest.raises(GraphError, match="node row 17"):
            node_classification(vectors, labels)

    @pytest.mark.parametrize("wrong", [{"test_size": 0.001}, {"test_size": 1.0}, {"splits": 0}])
    def test_splits_that_cannot_be_made_are_explained(self, separable, wrong):
        with pytest.raises(ParameterError, match=next(iter(wrong))):
            node_classification(*separable, **wrong)


class TestRegression:
    def test_linear_target_with_known_noise_has_the_known_r2(self):
        rng = np.random.default_rng(4)
        vectors = rng.normal(size=(4000, 3))
        # Variance 9 explained, 3 not: R² = 9 / 12.
        target = vectors @ [2.0, -2.0, 1.0] + rng.normal(scale=np.sqrt(3), size=4000)
        assert abs(_mean(node_regression(vectors, target), "r2") - 0.75) < 0.02

    def test_penalty_shrinks_a_single_direction_as_the_formula_says(self):
        # One standardised dimension, y = x: w = (1 − αρ) / (1 + α(1 − ρ)), R² = 1 − (1 − w)².
        x = np.tile([-1.0, 1.0], 500)
        w = (1 - 0.4 * 0.25) / (1 + 0.4 * 0.75)
        records = node_regression(x[:, None], x, alpha=0.4, l1_ratio=0.25, standardize=True)
        assert _mean(records, "r2") == pytest.approx(1 - (1 - w) ** 2, abs=2e-3)

    def test_noise_is_worth_the_mean(self):
        rng = np.random.default_rng(5)
        records = node_regression(rng.normal(size=(2000, 3)), rng.normal(size=2000))
        assert abs(_mean(records, "r2")) < 0.02
        assert all(-0.05 < record["mean_r2"] <= 0 for record in records)

    def test_missing_values_play_no_part_and_minus_one_is_a_value(self):
        rng = np.random.default_rng(6)
        vectors = rng.normal(size=(100, 2))
        target = vectors[:, 0].copy()
        expected = node_regression(vectors, target)
        spoiled = np.vstack([vectors, 1e6 * np.ones((9, 2))])
        assert node_regression(spoiled, np.append(target, [np.nan] * 9)) == expected
        whole = np.repeat([-1, 1], 50)
        assert node_regression(vectors, whole)[0]["n_train"] == 80

    @pytest.mark.parametrize(
        ("labels", "message"),
        [
            ([2.0] * 12, "all 12 labelled nodes have the value 2"),
            (["high"] * 12, "must be numbers"),
            (
                np.log(np.maximum(np.arange(12.0), 0), where=np.arange(12) > 0, out=np.full(12, -np.inf)),
                "infinite",
            ),
        ],
    )
    def test_targets_that_cannot_be_used_are_explained(self, labels, message):
        with pytest.raises(GraphError, match=message):
            node_regression(np.ones((12, 2)), labels)


class TestNames:
    @pytest.mark.parametrize(
        "name",
        ["attribute_inference", "few_shot", "link_prediction", "node_classification", "node_regression", "transfer"],
    )
    def test_importing_a_module_leaves_the_function_of_the_same_name(self, name):
        code = f"import hopscale.tasks.{name}; from hopscale.tasks import {name}; print({name}.__name__)"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        assert done.stdout.strip() == name
        import_module(f"hopscale.tasks.{name}")
        assert callable(getattr(tasks, name))


class TestEvaluate:
    @pytest.mark.parametrize(
        ("labels", "task"),
        [
            (np.arange(60) / 7, "regression"),
            (np.arange(60) % 3 > 0, "classification"),
            (np.arange(60) % 3, "classification"),
            (np.arange(60) % 20, "classification"),
            (np.arange(60) % 21, "regression"),  # more than 20, and than 2√60 = 15.5
            (np.arange(1005) % 42, "classification"),  # the departments of a firm: less than 2√1005 = 63.4
            (np.arange(1005) % 64, "regression"),
            (np.random.default_rng(0).integers(1, 10**6, 500), "regression"),  # page views
            (np.array(["a", "b"] * 30), "classification"),
            (np.array([1, None, 2] * 20, dtype=object), "classification"),
            (np.array([1.5, None, 2] * 20, dtype=object), "regression"),
        ],
    )
    @pytest.mark.filterwarnings("ignore::hopscale.exceptions.HopscaleWarning")
    def test_values_decide_the_task(self, labels, task):
        vectors = np.random.default_rng(7).normal(size=(len(labels), 2))
        assert evaluate(vectors, labels, splits=1)[0]["task"] == task

    @pytest.mark.parametrize("missing", [np.nan, None])
    def test_classes_with_gaps_stay_classes(self, separable, missing):
        vectors, labels = separable
        expected = evaluate(vectors, labels)
        spoiled = np.vstack([vectors, 1e6 * np.ones((30, 3))])
        with_gaps = np.array([*labels.tolist(), *[missing] * 30])
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert evaluate(spoiled, with_gaps) == expected

    def test_choices_that_the_type_does_not_suggest_are_pointed_out(self):
        vectors = np.random.default_rng(8).normal(size=(60, 2))
        with pytest.warns(HopscaleWarning, match=r"a classification: 2 different.*pass task='regression'"):
            evaluate(vectors, (vectors[:, 0] > 0).astype(float))
        with pytest.warns(HopscaleWarning, match=r"a regression: 60 different.*pass task='classification'"):
            evaluate(vectors, np.arange(60))

    def test_model_stands_for_its_embedding(self, separable):
        vectors, labels = separable
        assert evaluate(SimpleNamespace(embedding_=vectors), labels) == evaluate(vectors, labels)
        with pytest.raises(ParameterError, match="call fit first"):
            evaluate(LogisticRegression(), labels)

    def test_unknown_task_lists_the_known(self, separable):
        with pytest.raises(HopscaleError, match="'classification', 'regression', not 'ranking'"):
            evaluate(*separable, task="ranking")

    @pytest.mark.parametrize("task", ["classification", "regression"])
    def test_same_records_for_any_number_of_jobs(self, task):
        rng = np.random.default_rng(9)
        labels = rng.integers(0, 3, 300)
        vectors = np.eye(3)[labels] @ rng.normal(size=(3, 40)) + rng.normal(size=(300, 40))
        one = evaluate(vectors, labels, task, splits=4)
        assert evaluate(vectors, labels, task, splits=4, n_jobs=2) == one
        assert evaluate(vectors, labels, task, splits=2) == one[:2]
        assert evaluate(vectors, labels, task, splits=4, random_state=1) != one


class TestSummary:
    def test_mean_and_standard_error(self):
        records = [{"task": "t", "split": i, "n_test": 5, "score": x} for i, x in enumerate([1.0, 2.0, 3.0, 6.0])]
        # Deviations −2, −1, 0, 3: s² = 14/3, divided by 4 splits.
        assert summarize(records) == {"score": {"mean": 3.0, "standard_error": pytest.approx(np.sqrt(14 / 3 / 4))}}

    def test_undefined_scores_are_left_out(self):
        summary = summarize([{"score": 1.0}, {"score": float("nan")}, {"score": 3.0}])
        assert summary["score"] == {"mean": 2.0, "standard_error": pytest.approx(1.0)}

    def test_one_split_has_no_standard_error(self):
        assert np.isnan(summarize([{"score": 1.0}])["score"]["standard_error"])

    def test_nothing_to_summarize(self):
        with pytest.raises(ParameterError, match="no records"):
            summarize([])
