"""Heads against scikit-learn and dense linear algebra, and the designs that they see."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import softmax
from sklearn.linear_model import ElasticNet as ReferenceElasticNet
from sklearn.linear_model import LogisticRegression

from hopscale.compute import Threads
from hopscale.supervised.heads.base import TrainingParts
from hopscale.supervised.heads.elastic_net import ElasticNet
from hopscale.supervised.heads.kernel import FEATURE_SHARE, Kernel
from hopscale.supervised.heads.logistic_head import Logistic
from hopscale.supervised.inputs import Design, Inputs

TOLERANCE = 1e-4  # of the gradient per row
KINDS = ("vectors", "features", "both")


def some_design(kind, n=90, seed=0):
    rng = np.random.default_rng(seed)
    dense = rng.normal(size=(n, 5 if kind != "features" else 0))
    sparse = (rng.random((n, 12 if kind != "vectors" else 0)) < 0.3) * rng.random((n, 12 if kind != "vectors" else 0))
    return Design(dense, sp.csr_array(sparse))


def whole(design):
    return np.hstack([design.dense, design.sparse.toarray()])


def some_classes(design, k, seed=1):
    """Classes that depend on the design, with noise."""
    rng = np.random.default_rng(seed)
    scores = whole(design) @ rng.normal(size=(design.n_columns, k)) * 1.5 + rng.gumbel(size=(len(design), k))
    return scores.argmax(axis=1)


def heads_of(family, design, targets, part=None, strengths=(1.0,)):
    """Heads that were trained on the rows that are marked, by default on all."""
    fold, which = (np.arange(len(design)) % 2, -1) if part is None else (np.where(part, 0, 1), 1)
    with Threads(1) as engine:
        paths = replace(family, strengths=strengths).path(TrainingParts(design, targets, fold, [which], engine))
        return [head for [head] in paths]


def logistic_gradient(head, X, classes, k):
    """Of C·loss + ½‖w‖², with scikit-learn's single column for two classes, divided by C and the number of rows."""
    if k == 2:
        p = 1 / (1 + np.exp(-(X @ head.weights + head.intercepts)))
        rest = p - (classes == 1)[:, None]
    else:
        logits = np.where(head.seen, X @ head.weights + head.intercepts, -np.inf)
        rest = softmax(logits, axis=1) - np.eye(k)[classes]
    weights = X.T @ rest + head.weights / head.strength
    return np.abs(np.vstack([weights, rest.sum(axis=0)])).max() / len(X)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("k", [2, 3, 5])
class TestLogistic:
    def test_is_that_of_scikit_learn(self, kind, k):
        design = some_design(kind)
        classes = some_classes(design, k)
        for head in heads_of(Logistic(tolerance=1e-10), design, np.eye(k)[classes], strengths=(0.1, 1.0, 10.0)):
            theirs = LogisticRegression(C=head.strength, tol=1e-10, max_iter=10_000).fit(whole(design), classes)
            assert logistic_gradient(head, whole(design), classes, k) <= 1.001 * TOLERANCE
            # The penalty makes the objective strongly convex: weights are no farther off than the gradient is long.
            bound = TOLERANCE * head.strength * len(design) * np.sqrt(head.weights.size + k)
            ours = head.weights.T - (head.weights.mean(axis=1) if k > 2 else 0)
            assert np.linalg.norm(ours - theirs.coef_) <= 2 * bound
            assert head.outputs(design) == pytest.approx(theirs.predict_proba(whole(design)), abs=0.01)
            assert head.outputs(design).sum(axis=1) == pytest.approx(1.0)

    def test_a_path_ends_where_each_of_its_heads_would_alone(self, kind, k):
        design = some_design(kind)
        targets = np.eye(k)[some_classes(design, k)]
        strengths = (0.03, 0.3, 3.0)
        for head, strength in zip(
            heads_of(Logistic(tolerance=1e-10), design, targets, strengths=strengths), strengths, strict=True
        ):
            [alone] = heads_of(Logistic(tolerance=1e-10), design, targets, strengths=(strength,))
            assert head.strength == strength
            assert head.outputs(design) == pytest.approx(alone.outputs(design), abs=0.005)

    def test_only_rows_of_the_part_count(self, kind, k):
        design = some_design(kind)
        classes, part = some_classes(design, k), np.arange(90) % 3 > 0
        [head] = heads_of(Logistic(tolerance=1e-10), design, np.eye(k)[classes], part)
        assert logistic_gradient(head, whole(design)[part], classes[part], k) <= 1.001 * TOLERANCE
        other = np.where(part, classes, (classes + 1) % k)
        [same] = heads_of(Logistic(tolerance=1e-10), design, np.eye(k)[other], part)
        assert same.weights == pytest.approx(head.weights, rel=1e-5)  # parts are multiplied side by side

    def test_a_class_that_is_missing_from_the_part(self, kind, k):
        design = some_design(kind)
        classes = some_classes(design, k)
        part = classes != 1
        [head] = heads_of(Logistic(tolerance=1e-10), design, np.eye(k)[classes], part)
        found = head.outputs(design)
        assert (found[:, 1] == 0).all()
        if k == 2:
            assert (found[:, 0] == 1).all()
            return
        # Of two classes theirs has a single column of weights, which costs twice what two of half the size cost.
        C = 2.0 if k == 3 else 1.0
        theirs = LogisticRegression(C=C, tol=1e-10, max_iter=10_000).fit(whole(design)[part], classes[part])
        assert np.delete(found, 1, axis=1) == pytest.approx(theirs.predict_proba(whole(design)), abs=0.01)

    def test_scores_are_sums_over_columns(self, kind, k):
        """``weights_of`` gives log odds of two classes, and of more what is above the mean of all."""
        design = some_design(kind)
        [head] = heads_of(Logistic(tolerance=1e-10), design, np.eye(k)[some_classes(design, k)])
        p = head.outputs(design)
        logs = np.log(p)
        for column in range(k):
            weights, intercept = head.weights_of(column)
            score = whole(design) @ weights + intercept
            expected = logs[:, column] - (logs[:, 1 - column] if k == 2 else logs.mean(axis=1))
            assert score == pytest.approx(expected, abs=1e-9)


def dense_kernel(x, y, scale):
    """exp(-‖x - y‖²/s) of directions, and a share of the cosine of features."""
    a, b = (v.dense / np.maximum(np.linalg.norm(v.dense, axis=1, keepdims=True), 1e-300) for v in (x, y))
    cosine = x.sparse.toarray() @ y.sparse.toarray().T
    if not a.shape[1]:
        return cosine
    return np.exp(-((a[:, None] - b[None]) ** 2).sum(axis=2) / scale) + FEATURE_SHARE * cosine


def median_distance(design):
    if not design.dense.shape[1]:
        return 1.0
    a = design.dense / np.linalg.norm(design.dense, axis=1, keepdims=True)
    return np.median(((a[:, None] - a[None]) ** 2).sum(axis=2))


@pytest.mark.parametrize("kind", KINDS)
class TestKernel:
    def test_is_kernel_ridge_regression_where_all_are_landmarks(self, kind):
        design, part = some_design(kind), np.arange(90) % 4 > 0
        Y = np.random.default_rng(3).normal(size=(90, 2))
        train = design.take(part)
        scale = median_distance(design)
        K, everything = dense_kernel(train, train, scale), dense_kernel(design, train, scale)
        mean = Y[part].mean(axis=0)
        for head in heads_of(Kernel(landmarks=1000), design, Y, part, strengths=(0.1, 1.0)):
            expected = everything @ np.linalg.solve(K + head.strength * np.eye(len(K)), Y[part] - mean) + mean
            assert head.outputs(design) == pytest.approx(expected, abs=1e-6)

    def test_some_landmarks_minimise_the_same_over_fewer_functions(self, kind):
        design, Y = some_design(kind), np.random.default_rng(3).normal(size=(90, 1))
        [head] = heads_of(Kernel(landmarks=20, seed=5), design, Y, strengths=(0.3,))
        assert len(head.landmarks) == 20
        scale = median_distance(head.landmarks)
        K, own = dense_kernel(design, head.landmarks, scale), dense_kernel(head.landmarks, head.landmarks, scale)
        a = np.linalg.lstsq(K.T @ K + 0.3 * own, K.T @ (Y - Y.mean()), rcond=None)[0]
        assert head.outputs(design) == pytest.approx(K @ a + Y.mean(), abs=1e-5)

    def test_only_rows_of_the_part_count(self, kind):
        design, part = some_design(kind), np.arange(90) % 3 > 0
        Y = np.random.default_rng(3).normal(size=(90, 1))
        [head] = heads_of(Kernel(landmarks=30), design, Y, part)
        [same] = heads_of(Kernel(landmarks=30), design, np.where(part[:, None], Y, 1e30), part)
        assert head.outputs(design).tobytes() == same.outputs(design).tobytes()

    def test_landmarks_depend_on_the_seed(self, kind):
        design, Y = some_design(kind), np.random.default_rng(3).normal(size=(90, 1))
        one, two, again = (
            heads_of(Kernel(landmarks=10, seed=seed), design, Y)[0].outputs(design) for seed in (0, 1, 0)
        )
        assert one.tobytes() == again.tobytes() != two.tobytes()

    def test_rows_without_anything_have_the_mean(self, kind):
        """Also where no training row has a feature."""
        design = some_design(kind)
        empty = Design(np.zeros_like(design.dense), sp.csr_array(design.sparse.shape))
        Y = np.random.default_rng(3).normal(size=(90, 1))
        [head] = heads_of(Kernel(landmarks=1000), empty, Y)
        assert head.outputs(empty) == pytest.approx(np.full((90, 1), Y.mean()), abs=1e-6)


@pytest.mark.parametrize("apart", [0.0, 1e-9, 1e-7, 1e-5, 1e-4, 1e-3])
def test_a_kernel_of_directions_that_are_nearly_the_same(apart):
    """Rounding of their distances must not decide, nor make the system indefinite."""
    rng = np.random.default_rng(0)
    for n in (5, 40, 200):
        dense = (np.ones((n, 3)) + apart * rng.normal(size=(n, 3))) * rng.uniform(1, 9, (n, 1))
        design = Design(dense, sp.csr_array((rng.random((n, 4)) < 0.5).astype(float)))
        for head in heads_of(Kernel(), design, rng.normal(size=(n, 1)), strengths=(3.0, 0.1, 0.01)):
            assert np.abs(head.outputs(design)).max() < 10


class TestElasticNet:
    @pytest.mark.parametrize("strength", [0.1, 0.01])
    def test_is_that_of_scikit_learn_on_standardised_columns(self, strength):
        design, part = some_design("vectors"), np.arange(90) % 4 > 0
        y = design.dense @ [3.0, -1.0, 0.5, 0.0, 0.1] + np.random.default_rng(2).normal(size=90) + 100
        [head] = heads_of(ElasticNet(), design, y[:, None], part, (strength,))
        X = design.dense[part]
        Z, target = (X - X.mean(axis=0)) / X.std(axis=0), (y[part] - y[part].mean()) / y[part].std()
        theirs = ReferenceElasticNet(alpha=strength, l1_ratio=0.5, tol=1e-10, max_iter=10_000).fit(Z, target)
        expected = theirs.predict((design.dense - X.mean(axis=0)) / X.std(axis=0)) * y[part].std() + y[part].mean()
        assert head.outputs(design)[:, 0] == pytest.approx(expected, abs=1e-3)
        weights, intercept = head.weights_of(0)
        assert design.dense @ weights + intercept == pytest.approx(head.outputs(design)[:, 0])

    def test_columns_that_are_constant_have_no_weight(self):
        design = some_design("vectors")
        design.dense[:, 2] = 7.0
        [head] = heads_of(ElasticNet(), design, design.dense[:, :1].copy(), strengths=(0.001,))
        assert head.weights[2] == 0
        assert head.weights[0] == pytest.approx(1.0, abs=0.01)

    def test_values_that_are_constant_in_the_part(self):
        [head] = heads_of(ElasticNet(), some_design("vectors"), np.full((90, 1), 5.0))
        assert head.outputs(some_design("vectors")) == pytest.approx(np.full((90, 1), 5.0))


class TestManyRows:
    """More rows than are multiplied at once."""

    DESIGN = some_design("both", 5000)
    TARGETS = np.eye(3)[some_classes(DESIGN, 3)]

    @pytest.mark.parametrize(
        "family", [Logistic(), Kernel(landmarks=200), ElasticNet()], ids=lambda family: family.name
    )
    def test_bits_do_not_depend_on_threads(self, family):
        found = []
        for n_jobs in (1, 3):
            with Threads(n_jobs) as engine:
                parts = TrainingParts(self.DESIGN, self.TARGETS, np.arange(5000) % 3, [0, 1, 2, -1], engine)
                heads = next(iter(family.path(parts)))
                found.append([head.outputs(self.DESIGN).tobytes() for head in heads])
        assert found[0] == found[1]
        assert len(set(found[0])) == 4  # three folds, and all rows

    def test_logistic(self):
        [head] = heads_of(Logistic(tolerance=1e-10), self.DESIGN, self.TARGETS)
        assert logistic_gradient(head, whole(self.DESIGN), self.TARGETS.argmax(axis=1), 3) <= 1.001 * TOLERANCE

    def test_kernel(self):
        [head] = heads_of(Kernel(landmarks=50), self.DESIGN, self.TARGETS, strengths=(0.3,))
        scale = median_distance(head.landmarks)
        K = dense_kernel(self.DESIGN, head.landmarks, scale)
        own, mean = dense_kernel(head.landmarks, head.landmarks, scale), self.TARGETS.mean(axis=0)
        a = np.linalg.lstsq(K.T @ K + 0.3 * own, K.T @ (self.TARGETS - mean), rcond=None)[0]
        assert head.outputs(self.DESIGN) == pytest.approx(K @ a + mean, abs=1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_a_design_is_a_matrix(kind):
    design, rng = some_design(kind), np.random.default_rng(4)
    weights, rows = rng.normal(size=(design.n_columns, 3)), rng.normal(size=(len(design), 2))
    assert design.times(weights) == pytest.approx(whole(design) @ weights)
    assert design.transposed_times(rows) == pytest.approx(whole(design).T @ rows)
    assert whole(design.take(np.array([5, 3]))) == pytest.approx(whole(design)[[5, 3]])
    assert design.sparse_squares == pytest.approx((design.sparse.toarray() ** 2).sum(axis=0))


@pytest.mark.parametrize("kind", KINDS)
class TestInputs:
    VECTORS = np.random.default_rng(0).normal(size=(40, 3)).astype(np.float32) * 50 + 7
    FEATURES = sp.csr_array((np.random.default_rng(1).random((40, 6)) < 0.4).astype(np.float32))

    def test_are_centred_vectors_and_weighted_features(self, kind):
        design = Inputs.learnt(kind, self.VECTORS, self.FEATURES).design(self.VECTORS, self.FEATURES)
        if kind == "features":
            assert design.dense.shape == (40, 0)
        else:
            centred = self.VECTORS - self.VECTORS.mean(axis=0, dtype=float)
            assert design.dense == pytest.approx(centred / np.linalg.norm(centred, axis=1).mean())
        if kind == "vectors":
            assert design.sparse.shape == (40, 0)
        else:
            F = self.FEATURES.toarray().astype(float)
            weighted = F * np.log(40 / (F > 0).sum(axis=0))
            lengths = np.linalg.norm(weighted, axis=1, keepdims=True)
            assert design.sparse.toarray() == pytest.approx(weighted / np.where(lengths > 0, lengths, 1))

    def test_a_feature_that_all_nodes_have_says_nothing(self, kind):
        features = self.FEATURES.toarray()
        features[:, 2] = 1
        features[5] = [0, 0, 1, 0, 0, 0]
        design = Inputs.learnt(kind, self.VECTORS, sp.csr_array(features)).design(self.VECTORS, sp.csr_array(features))
        assert not design.sparse.toarray()[:, 2:3].any()
        assert np.isfinite(whole(design)).all()

    def test_other_nodes_are_seen_as_those_of_the_fit(self, kind):
        """A row's design depends on the row alone, once the inputs are learnt."""
        inputs = Inputs.learnt(kind, self.VECTORS, self.FEATURES)
        all_rows = inputs.design(self.VECTORS, self.FEATURES)
        some = inputs.design(self.VECTORS[10:12], self.FEATURES[10:12])
        assert whole(some).tobytes() == whole(all_rows.take(slice(10, 12))).tobytes()

    def test_vectors_that_are_all_the_same(self, kind):
        same = np.full((40, 3), 3.0, np.float32)
        assert np.isfinite(whole(Inputs.learnt(kind, same, self.FEATURES).design(same, self.FEATURES))).all()
