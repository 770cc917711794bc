"""Standard errors of scores: against their formula, and against how much scores vary when all is drawn anew."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from hopscale.paper.estimates import Estimate, estimate, paired, published
from hopscale.tasks.metrics import mean_and_error


def test_the_correction_is_that_of_nadeau_and_bengio():
    scores = [0.5, 0.6, 0.9, 0.7]
    variance = np.var(scores, ddof=1)
    assert mean_and_error(scores)[1] == pytest.approx(math.sqrt(variance / 4))
    assert mean_and_error(scores, test_share=0.2)[1] == pytest.approx(math.sqrt(variance * (1 / 4 + 20 / 80)))
    assert estimate(scores, 0.2).error == mean_and_error(scores, test_share=0.2)[1]


def test_published_errors_are_corrected_likewise():
    """Whoever has the standard error of a hundred splits has their deviation, too."""
    scores = np.random.default_rng(0).normal(0.8, 0.01, 100)
    row = {"micro_f1": scores.mean(), "standard_error": mean_and_error(list(scores))[1]}
    assert published(row, "micro_f1").error == pytest.approx(estimate(list(scores), 0.2).error)


def test_splits_of_the_same_data_vary_less_than_data_does():
    """Many data sets, 30 splits of each: the plain error is far too small, the corrected one about right."""
    rng = np.random.default_rng(1)
    nodes, splits, share = 100, 30, 0.2
    means, plain, corrected = [], [], []
    for _ in range(300):
        values = rng.normal(size=nodes)
        scores = []
        for _ in range(splits):
            order = rng.permutation(nodes)
            test, train = order[: int(share * nodes)], order[int(share * nodes) :]
            scores.append(float(np.mean((values[test] - values[train].mean()) ** 2)))  # learns a mean
        means.append(np.mean(scores))
        plain.append(estimate(scores).error)
        corrected.append(estimate(scores, share).error)
    truth = np.std(means)
    assert np.mean(plain) < 0.6 * truth
    assert 0.75 * truth < np.mean(corrected) < 1.75 * truth


def test_the_spread_of_fits_is_in_the_error():
    """Scores that vary by the split and by the fit, both drawn anew: the error is the deviation of the mean."""
    rng = np.random.default_rng(2)
    fits, splits = 4, 20
    found = []
    for _ in range(2000):
        scores = rng.normal(size=(fits, 1)) + 2 * rng.normal(size=splits) + 0.5 * rng.normal(size=(fits, splits))
        found.append(estimate(scores.tolist()))
    truth = np.std([each.mean for each in found])
    assert np.sqrt(np.mean([each.error**2 for each in found])) == pytest.approx(truth, rel=0.1)
    one = estimate(scores[0].tolist())
    assert one.error == mean_and_error(scores[0].tolist())[1]  # nothing is known of a single fit


def test_paired_differences_are_over_the_splits_that_both_have():
    difference, splits = paired([0.5, 0.7, 0.9], [0.4, 0.5], 0.2)
    assert splits == 2
    assert difference == Estimate(*mean_and_error([0.5 - 0.4, 0.7 - 0.5], test_share=0.2), freedom=1)
    constant, _ = paired([0.5, 0.7], [0.25, 0.45])
    assert constant.error == pytest.approx(0, abs=1e-12)


def test_degrees_of_freedom_are_those_of_welchs_test():
    rng = np.random.default_rng(3)
    one, two = rng.normal(0, 1, 7), rng.normal(0, 3, 4)
    difference = estimate(one.tolist()).minus(estimate(two.tolist()))
    test = stats.ttest_ind(one, two, equal_var=False)
    assert difference.freedom == pytest.approx(test.df)
    assert difference.mean / difference.error == pytest.approx(test.statistic)


@pytest.mark.parametrize("fits", [1, 2, 3])
@pytest.mark.parametrize("splits", [4, 12])
def test_where_nothing_differs_few_differences_are_clear(splits, fits):
    """Splits that are drawn anew and fits with a spread of their own; however few there are of either."""
    rng = np.random.default_rng(4)
    clear, by_two_errors = 0, 0
    for _ in range(1000):
        shape = (fits, splits)
        spread = rng.normal(size=(fits, 1)) if fits > 1 else 0.0
        scores = rng.normal(size=shape) + spread, rng.normal(size=shape)
        difference, _ = paired(scores[0].tolist(), scores[1].tolist())
        clear += difference.verdict != "level"
        by_two_errors += abs(difference.mean) > 2 * difference.error
    assert clear / 1000 < 0.08
    assert clear < 0.8 * by_two_errors  # which are too many


def test_missing_scores_are_left_out():
    assert estimate([0.5, None, 0.7]).mean == pytest.approx(0.6)
    assert estimate([[0.5, None, 0.7], [0.7, 0.1, 0.9]]).mean == pytest.approx(0.7)


@pytest.mark.parametrize(
    ("difference", "verdict"),
    [((0.021, 0.01), "above"), ((-0.021, 0.01), "below"), ((0.019, 0.01), "level"), ((0.1, math.nan), "above")],
)
def test_verdicts(difference, verdict):
    assert Estimate(*difference).verdict == verdict
