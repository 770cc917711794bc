"""Few-shot learning and transfer, on classes whose scores are known beforehand."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from hopscale import AE, MUSAE, SGNS, AttributedGraph, DeepWalk
from hopscale.datasets import planted_blocks
from hopscale.exceptions import GraphError, HopscaleWarning, NotInductiveError, ParameterError
from hopscale.tasks import few_shot, summarize, transfer
from hopscale.tasks.few_shot import _samples


@pytest.fixture
def blobs():
    """Three classes of 60, 40 and 20 nodes around corners of their own, with overlap."""
    labels = np.repeat([0, 1, 2], [60, 40, 20])
    return 2 * np.eye(3)[labels] + np.random.default_rng(0).normal(size=(120, 3)), labels


class TestFewShot:
    def test_more_samples_are_worth_more_and_far_more_than_the_majority(self, blobs):
        scores = summarize(few_shot(*blobs, samples_per_class=(1, 15), splits=30), by="k")
        assert list(scores) == [1, 15]
        assert scores[1]["micro_f1"]["mean"] + 0.1 < scores[15]["micro_f1"]["mean"]
        assert scores[15]["micro_f1"]["mean"] > 0.7

    def test_every_other_node_is_tested_on(self, blobs):
        for record in few_shot(*blobs, samples_per_class=(3, 6), splits=2):
            assert record["n_train"] == 3 * record["k"]
            assert record["n_test"] == 120 - record["n_train"]
            # All test nodes of class 0 are right if it is always answered.
            assert record["majority_micro_f1"] == pytest.approx((60 - record["k"]) / record["n_test"])

    def test_draws_hold_k_of_each_class_and_grow_with_k(self, blobs):
        _, classes = blobs
        sizes, before = np.bincount(classes), set()
        for k in (1, 5, 19):
            train, test = _samples(classes, sizes, k, np.random.default_rng(3))
            assert np.bincount(classes[train]).tolist() == [k, k, k]
            assert sorted([*train, *test]) == list(range(120))
            assert before <= set(train.tolist())
            before = set(train.tolist())

    def test_draws_are_uniform(self):
        classes = np.repeat([0, 1], [4, 6])
        drawn = [_samples(classes, np.array([4, 6]), 2, np.random.default_rng(seed))[0] for seed in range(3000)]
        counts = np.bincount(np.concatenate(drawn), minlength=10)
        expected = np.repeat([3000 * 2 / 4, 3000 * 2 / 6], [4, 6])
        assert (np.abs(counts - expected) < 4.5 * np.sqrt(expected / 2)).all()

    def test_equals_scikit_learn(self, blobs):
        vectors, classes = blobs
        [record] = few_shot(vectors, classes, samples_per_class=4, splits=1, C=3.0, random_state=5)
        train, test = _samples(classes, np.bincount(classes), 4, np.random.default_rng([5, 0]))
        model = LogisticRegression(C=3.0, solver="newton-cg", tol=1e-10).fit(vectors[train], classes[train])
        assert record["micro_f1"] == pytest.approx(model.score(vectors[test], classes[test]))

    def test_class_with_too_few_nodes_leaves_one_to_test_on(self, blobs):
        vectors, labels = blobs
        with pytest.warns(HopscaleWarning, match="such as 2 with 20: all but one"):
            records = few_shot(vectors, labels, samples_per_class=30, splits=2)
        assert {record["n_train"] for record in records} == {30 + 30 + 19}

    def test_shuffled_labels_are_worth_nothing(self, blobs):
        vectors, labels = blobs
        shuffled = np.random.default_rng(1).permutation(labels)
        records = few_shot(vectors, shuffled, samples_per_class=10, splits=40)
        assert abs(summarize(records)["roc_auc"]["mean"] - 0.5) < 0.05

    def test_same_records_for_any_number_of_jobs(self, blobs):
        one = few_shot(*blobs, samples_per_class=(2, 5), splits=5)
        assert few_shot(*blobs, samples_per_class=(2, 5), splits=5, n_jobs=2) == one
        assert few_shot(*blobs, samples_per_class=5, splits=2) == [r for r in one if r["k"] == 5][:2]

    @pytest.mark.parametrize(
        "wrong", [{"samples_per_class": 0}, {"samples_per_class": (3, 2.5)}, {"splits": 0}, {"C": -1.0}]
    )
    def test_parameters_that_make_no_sense_are_named(self, blobs, wrong):
        with pytest.raises(ParameterError, match=next(iter(wrong))):
            few_shot(*blobs, **wrong)

    def test_labels_that_cannot_be_used_are_explained(self):
        with pytest.raises(GraphError, match="fewer than two classes"):
            few_shot(np.eye(4), [0, 0, 0, 1])
        with pytest.raises(GraphError, match="nothing to tell apart"):
            few_shot(np.eye(4), [1, 1, 1, 1])


@pytest.fixture(scope="module")
def graphs():
    """Two graphs drawn from the same blocks of nodes and features."""
    return planted_blocks(240, 3, 60), planted_blocks(180, 3, 60, random_state=1)


class TestTransfer:
    @pytest.mark.parametrize("solver", ["pmi", SGNS(walks_per_node=2, epochs=2)])
    def test_blocks_are_found_in_another_graph(self, graphs, solver):
        model = MUSAE(16, solver=solver)
        [record] = transfer(model, *graphs)
        assert record["target_majority_micro_f1"] == pytest.approx(1 / 3)
        assert record["micro_f1"] > 0.8
        assert (record["n_train"], record["n_test"]) == (240, 180)
        assert not hasattr(model, "embedding_")

    def test_shuffled_labels_are_worth_nothing(self, graphs):
        source, target = graphs
        rng = np.random.default_rng(2)
        scores = [
            transfer(model, source, target, target_labels=rng.permutation(target.labels))[0]["roc_auc"]
            for model in [AE(12).fit(source)]
            for _ in range(10)
        ]
        assert abs(np.mean(scores) - 0.5) < 0.05

    def test_fitted_model_is_used_as_it_is(self, graphs):
        source, target = graphs
        fitted = MUSAE(16).fit(source)
        vectors = fitted.embedding_
        assert transfer(fitted, source, target) == transfer(MUSAE(16), source, target)
        assert fitted.embedding_ is vectors
        with pytest.raises(ParameterError, match="fitted to 240 nodes, but the source has 180"):
            transfer(fitted, target, source)

    def test_equals_scikit_learn(self, graphs):
        source, target = graphs
        model = AE(12).fit(source)
        [record] = transfer(model, source, target, C=0.5)
        classifier = LogisticRegression(C=0.5, solver="newton-cg", tol=1e-10).fit(
            model.embedding_.astype(float), source.labels
        )
        answers = classifier.predict(model.transform(target).astype(float))
        assert record["micro_f1"] == pytest.approx(np.mean(answers == target.labels))

    def test_seeds_are_the_models(self, graphs):
        model = AE(8, solver=SGNS(walks_per_node=1, walk_length=5, epochs=1), random_state=7)
        records = transfer(model, *graphs, seeds=[7, 8])
        assert [record["seed"] for record in records] == [7, 8]
        assert {**records[0], "seed": None} == transfer(model, *graphs)[0]
        assert records[0]["roc_auc"] != records[1]["roc_auc"]

    def test_classes_are_matched_by_name(self, graphs):
        source, target = graphs
        names = np.array(["red", "green", "blue"])
        expected = transfer(AE(8), source, target)
        renamed = {"source_labels": names[source.labels], "target_labels": names[target.labels].astype(object)}
        assert transfer(AE(8), source, target, **renamed) == expected
        # A class that the source does not know cannot be answered.
        new = np.where(target.labels == 2, "violet", names[target.labels])
        [record] = transfer(AE(8), source, target, source_labels=names[source.labels], target_labels=new)
        assert record["micro_f1"] <= 2 / 3

    def test_unlabelled_nodes_play_no_part(self, graphs):
        source, target = graphs
        labels = target.labels.astype(float)
        labels[::2] = np.nan
        [record] = transfer(AE(8), source, target, target_labels=labels)
        assert record["n_test"] == 90

    def test_models_that_cannot_are_refused_in_their_own_words(self, graphs):
        with pytest.raises(NotInductiveError, match="cannot embed other nodes"):
            transfer(DeepWalk(8), *graphs)

    def test_what_cannot_be_used_is_explained(self, graphs):
        source, target = graphs
        bare = AttributedGraph(target.adjacency, target.features)
        with pytest.raises(GraphError, match="the target graph carries no labels: pass target_labels"):
            transfer(AE(8), source, bare)
        with pytest.raises(GraphError, match="of the source are of class 0"):
            transfer(AE(8), source, target, source_labels=np.zeros(240, int))
        with pytest.raises(GraphError, match="no class in common"):
            transfer(AE(8), source, target, target_labels=target.labels + 3)
        with pytest.raises(GraphError, match="no node of the target"):
            transfer(AE(8), source, target, target_labels=np.full(180, np.nan))
        with pytest.raises(GraphError, match=r"target_labels must be one per node, 180, but have shape \(3,\)"):
            transfer(AE(8), source, target, target_labels=[0, 1, 2])
        with pytest.raises(ParameterError, match="seeds is empty"):
            transfer(AE(8), source, target, seeds=[])


class TestSummaryByField:
    records = ({"k": 1, "op": "a", "x": 1.0}, {"k": 2, "op": "a", "x": 5.0}, {"k": 1, "op": "a", "x": 3.0})

    def test_groups_are_apart(self):
        found = summarize(self.records, by="k")
        assert found[1] == summarize([self.records[0], self.records[2]])
        assert list(summarize(self.records, by=["op", "k"])) == [("a", 1), ("a", 2)]

    @pytest.mark.parametrize("by", ["z", ["k", "z"], []])
    def test_fields_that_are_not_there_are_named(self, by):
        with pytest.raises(ParameterError, match="k, op, x"):
            summarize(self.records, by=by)
