"""Many splits fitted together against scikit-learn on each alone."""

import warnings
from importlib import import_module

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import ElasticNet, LogisticRegression
from sklearn.metrics import f1_score, r2_score, roc_auc_score
from sklearn.preprocessing import StandardScaler

from hopscale.exceptions import HopscaleWarning, ParameterError
from hopscale.supervised.heads.logistic import fit_logistic
from hopscale.tasks import node_classification, node_regression
from hopscale.tasks.metrics import classification_scores, roc_auc
from hopscale.tasks.splits import seeded_split

EXACT = 1e-10  # a tolerance that rounding alone exceeds


def _problem(n_classes, n=240, d=12, seed=0):
    """Classes that overlap, columns of very different lengths, one of zeros, one constant, some zero rows."""
    rng = np.random.default_rng(seed)
    classes = np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, n - n_classes)])
    vectors = rng.normal(size=(n_classes, d))[classes] + 1.5 * rng.normal(size=(n, d))
    vectors *= np.logspace(-1, 1, d)
    vectors[:, 3], vectors[:, 4] = 0, 7
    vectors[rng.integers(n, size=9)] = 0
    return vectors, classes


def _parts(n, count, seed=0):
    marks = np.zeros((count, n), dtype=bool)
    for split, row in enumerate(marks):
        row[seeded_split(n, 0.2, seed, split)[0]] = True
    return marks


def _scikit_learn(vectors, classes, C):
    """Started from zero, and stopped by rounding only, which the default solver reaches long before the optimum."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return LogisticRegression(C=C, solver="newton-cg", tol=1e-10, max_iter=1000).fit(vectors, classes)


class TestLogistic:
    @pytest.mark.parametrize("n_classes", [2, 3, 7])
    @pytest.mark.parametrize("C", [0.1, 1.0, 30.0])
    @pytest.mark.parametrize("standardize", [False, True])
    def test_parts_equal_scikit_learn_on_their_rows(self, n_classes, C, standardize):
        vectors, classes = _problem(n_classes)
        parts = _parts(len(classes), 3)
        fit = fit_logistic(vectors, classes, n_classes, parts, C=C, standardize=standardize, tolerance=EXACT)
        for i, rows in enumerate(parts):
            scaler = StandardScaler(with_mean=standardize, with_std=standardize).fit(vectors[rows])
            expected = _scikit_learn(scaler.transform(vectors[rows]), classes[rows], C)
            scale = np.ones(12) if scaler.scale_ is None else scaler.scale_
            np.testing.assert_allclose(fit.coefficients[i] * scale, expected.coef_, atol=2e-5)
            shown = expected.predict_proba(scaler.transform(vectors))
            np.testing.assert_allclose(fit.probabilities(vectors, i), shown, atol=1e-5)

    @pytest.mark.parametrize("n_classes", [2, 5])
    @pytest.mark.parametrize("standardize", [False, True])
    def test_tolerance_bounds_the_gradient(self, n_classes, standardize):
        vectors, classes = _problem(n_classes, seed=1)
        for tolerance in (1e-3, 1e-7):
            fit = fit_logistic(vectors, classes, n_classes, standardize=standardize, tolerance=tolerance)
            residuals = fit.probabilities(vectors) - np.eye(n_classes)[classes]
            scale = StandardScaler().fit(vectors) if standardize else StandardScaler(with_mean=False, with_std=False)
            X = np.hstack([scale.fit_transform(vectors), np.ones((len(classes), 1))])
            w = fit.coefficients[0] * (1 if scale.scale_ is None else scale.scale_)
            gradient = X.T @ residuals[:, -len(w) :] + np.vstack([w.T, np.zeros(len(w))])
            assert np.abs(gradient).max() / len(classes) <= tolerance * (1 + 1e-6)

    @pytest.mark.parametrize("standardize", [False, True])
    def test_labels_of_the_test_part_are_not_seen(self, standardize):
        """Not a bit of the weights depends on them."""
        vectors, classes = _problem(4, seed=2)
        parts = _parts(len(classes), 1)
        replaced = np.where(parts[0], classes, (classes + 1) % 4)
        fits = [fit_logistic(vectors, labels, 4, parts, standardize=standardize) for labels in (classes, replaced)]
        assert (fits[0].coefficients == fits[1].coefficients).all()
        assert (fits[0].intercepts == fits[1].intercepts).all()

    def test_class_that_a_part_lacks_is_not_predicted(self):
        vectors, classes = _problem(4, seed=3)
        parts = np.array([classes != 2, classes < 2, classes == 1])
        fit = fit_logistic(vectors, classes, 4, parts, tolerance=EXACT)
        expected = _scikit_learn(vectors[parts[0]], classes[parts[0]], 1.0)
        np.testing.assert_allclose(fit.probabilities(vectors)[:, [0, 1, 3]], expected.predict_proba(vectors), atol=1e-5)
        assert not fit.probabilities(vectors, 0)[:, 2].any()
        assert not fit.probabilities(vectors, 1)[:, 2:].any()
        assert (fit.probabilities(vectors, 2) == [0, 1, 0, 0]).all()

    def test_two_classes_of_which_a_part_has_one(self):
        vectors, classes = _problem(2)
        fit = fit_logistic(vectors, classes, 2, np.array([classes == 0, classes == 1]))
        assert (fit.probabilities(vectors, 0) == [1, 0]).all()
        assert (fit.probabilities(vectors, 1) == [0, 1]).all()

    @pytest.mark.parametrize("n_classes", [2, 3])
    def test_fewer_rows_than_dimensions(self, n_classes):
        rng = np.random.default_rng(4)
        vectors, classes = rng.normal(size=(2 * n_classes, 50)), np.repeat(np.arange(n_classes), 2)
        expected = _scikit_learn(vectors, classes, 1.0)
        fit = fit_logistic(vectors, classes, n_classes, tolerance=EXACT)
        np.testing.assert_allclose(fit.coefficients[0], expected.coef_, atol=1e-5)

    def test_diagonal_preconditioner_of_many_dimensions(self, monkeypatch):
        vectors, classes = _problem(3, seed=5)
        expected = fit_logistic(vectors, classes, 3, tolerance=EXACT).coefficients
        monkeypatch.setattr("hopscale.supervised.heads.logistic._MAX_PRECONDITIONER", 5)
        fit = fit_logistic(vectors, classes, 3, tolerance=EXACT)
        np.testing.assert_allclose(fit.coefficients, expected, atol=1e-4)

    def test_columns_that_depend_on_each_other_and_large_ones(self):
        rng = np.random.default_rng(6)
        x = rng.normal(size=(100, 1))
        vectors = np.hstack([x, x, 2 * x, 1e8 * x])
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            fit = fit_logistic(vectors, (x[:, 0] + rng.normal(size=100) > 0).astype(np.int64), 2)
        assert np.isfinite(fit.coefficients).all()
        np.testing.assert_allclose(fit.coefficients[0, 0, 0], fit.coefficients[0, 0, 1], atol=1e-12)

    def test_too_few_iterations_are_told(self, monkeypatch):
        monkeypatch.setattr("hopscale.supervised.heads.lbfgs._MAX_ITERATIONS", 2)
        with pytest.warns(HopscaleWarning, match="did not converge in 2 iterations"):
            fit_logistic(*_problem(3), 3)


class TestClassification:
    @pytest.mark.parametrize("standardize", [False, True])
    def test_every_split_equals_scikit_learn(self, standardize):
        vectors, classes = _problem(3, seed=7)
        for record in node_classification(vectors, classes, C=0.5, splits=20, standardize=standardize):
            train, test = seeded_split(len(classes), 0.2, 0, record["split"])
            scaler = StandardScaler(with_mean=standardize, with_std=standardize).fit(vectors[train])
            model = _scikit_learn(scaler.transform(vectors[train]), classes[train], 0.5)
            shown = model.predict_proba(scaler.transform(vectors[test]))
            assert record["micro_f1"] == pytest.approx(np.mean(shown.argmax(axis=1) == classes[test]))
            expected = roc_auc_score(classes[test], shown, multi_class="ovr")
            assert record["roc_auc"] == pytest.approx(expected, abs=1e-3)  # one pair in another order

    def test_records_do_not_depend_on_how_splits_are_taken_together(self, monkeypatch):
        vectors, classes = _problem(3)
        together = node_classification(vectors, classes, splits=7)
        monkeypatch.setattr(import_module("hopscale.tasks.node_classification"), "_CHUNK", 2)
        assert node_classification(vectors, classes, splits=7, n_jobs=3) == together

    @pytest.mark.parametrize("wrong", [{"C": 0}, {"C": float("inf")}, {"random_state": -1}, {"n_jobs": 0}])
    def test_parameters_that_make_no_sense_are_named(self, wrong):
        with pytest.raises(ParameterError, match=next(iter(wrong))):
            node_classification(*_problem(2), **wrong)


class TestRegression:
    @pytest.mark.parametrize("standardize", [False, True])
    @pytest.mark.parametrize("test_size", [0.2, 0.7])
    @pytest.mark.parametrize(("alpha", "l1_ratio"), [(0.01, 0.5), (0.3, 0.9)])
    def test_every_split_equals_scikit_learn(self, standardize, test_size, alpha, l1_ratio):
        vectors, classes = _problem(5, seed=8)
        vectors[17, 3] = 1.0  # constant wherever row 17 is not
        target = 100 + classes + np.random.default_rng(0).normal(size=len(classes))
        records = node_regression(
            vectors, target, alpha=alpha, l1_ratio=l1_ratio, test_size=test_size, standardize=standardize
        )
        for record in records:
            train, test = seeded_split(len(target), test_size, 0, record["split"])
            scaler = StandardScaler(with_mean=standardize, with_std=standardize).fit(vectors[train])
            model = ElasticNet(alpha=alpha, l1_ratio=l1_ratio, max_iter=10_000)
            model.fit(scaler.transform(vectors[train]), target[train])
            expected = r2_score(target[test], model.predict(scaler.transform(vectors[test])))
            assert record["r2"] == pytest.approx(expected, abs=1e-6)
            assert record["mean_r2"] == pytest.approx(r2_score(target[test], np.full(len(test), target[train].mean())))

    @pytest.mark.parametrize("wrong", [{"alpha": -1}, {"l1_ratio": 1.5}])
    def test_parameters_that_make_no_sense_are_named(self, wrong):
        with pytest.raises(ParameterError, match=next(iter(wrong))):
            node_regression(np.eye(12), np.arange(12.0), **wrong)


class TestMetrics:
    @given(st.lists(st.tuples(st.booleans(), st.integers(0, 5)), min_size=2, max_size=30))
    def test_area_equals_scikit_learns(self, drawn):
        positive, scores = np.array([p for p, _ in drawn]), np.array([float(s) for _, s in drawn])
        if positive.all() or not positive.any():
            assert np.isnan(roc_auc(positive, scores))
        else:
            assert roc_auc(positive, scores) == pytest.approx(roc_auc_score(positive, scores))

    @given(st.integers(2, 4), st.integers(2, 30), st.integers(0, 100))
    def test_scores_equal_scikit_learns(self, n_classes, n, seed):
        rng = np.random.default_rng(seed)
        classes, probabilities = rng.integers(0, n_classes, n), rng.dirichlet(np.ones(n_classes), n)
        found = classification_scores(classes, probabilities, majority=1)
        answers = probabilities.argmax(axis=1)
        assert found["micro_f1"] == pytest.approx(f1_score(classes, answers, average="micro"))
        assert found["macro_f1"] == pytest.approx(f1_score(classes, answers, average="macro"))
        assert found["majority_micro_f1"] == pytest.approx(np.mean(classes == 1))
