"""Evidence for predictions: it adds up to the score, and is what dense matrices say."""

import pickle
import re

import numpy as np
import pytest
from supervised_models import CLASSES, GRAPH, OTHERS, TRAIN, VALUES, quick

from hopscale import AE, MUSAE, PMI, AttributedGraph, DeepWalk, GraphClassifier, GraphRegressor
from hopscale.datasets import planted_blocks
from hopscale.exceptions import GraphError, HopscaleWarning, ParameterError, UnknownNodeError
from reference import dense, positive_pmi, random_graph

EMBEDDERS = {
    "AE": AE(8, n_jobs=1),
    "MUSAE": MUSAE(12, n_jobs=1),
    "AE without scale 0": AE(8, self_scale=False, n_jobs=1),
    "MUSAE of roots": MUSAE(12, solver=PMI(power=0.5), n_jobs=1),
}
TINY = random_graph(14, 6, weighted=True, values=True)


def linear(**settings):
    return quick(GraphClassifier, **{"head": "logistic", **settings})


def total(found):
    return found.intercept + sum(value for *_, value in found.parts)


@pytest.mark.parametrize("inputs", ["vectors", "features", "both"])
@pytest.mark.parametrize("name", EMBEDDERS)
class TestParts:
    @pytest.mark.parametrize("k", [2, 3])
    def test_add_up_to_the_score(self, name, inputs, k):
        classes = np.minimum(CLASSES, k - 1)
        model = linear(embedder=EMBEDDERS[name], inputs=inputs).fit(GRAPH, classes, train=TRAIN)
        for node in (0, 51, 118):
            for label in (None, 0, k - 1):
                found = model.explain_prediction(node, label=label)
                assert abs(found.unexplained) < 1e-5
                assert total(found) + found.unexplained == pytest.approx(found.score, abs=1e-12)
                assert found.prediction == (model.predict()[node] if label is None else label)
                assert found.probability == model.predict_proba()[node, found.prediction]

    @pytest.mark.filterwarnings("ignore:.*dimensions are zero")
    def test_are_what_dense_matrices_say(self, name, inputs):
        """Entry M_vf times what the head makes of feature f, from the formula of the vectors."""
        A, F = dense(TINY)
        classes = np.arange(14) % 2
        model = linear(embedder=EMBEDDERS[name], inputs=inputs, folds=2).fit(TINY, classes)
        weights, _ = model.head_.weights_of(1)
        d, embedder = len(model.inputs_.center), model.embedder_
        expected = {}
        if inputs != "features":
            for solution, columns in zip(embedder.solutions_, embedder.scale_columns_.values(), strict=True):
                M = positive_pmi(A, F, solution.scale.hops) ** embedder.solver_.power_at(solution.scale)
                H, sigma = solution.feature_vectors.astype(float), solution.singular_values
                inverse = np.divide(1, sigma, out=np.zeros_like(sigma), where=sigma > 0)
                of_feature = H @ (inverse * weights[:d][columns] / model.inputs_.scale)
                for f in range(6):
                    expected[f, solution.scale.label] = M[5, f] * of_feature[f]
        if inputs != "vectors":
            weighted = F * np.log(14 / (F > 0).sum(axis=0))
            own = weighted[5] / np.linalg.norm(weighted[5]) * weights[d:]
            for f in range(6):
                expected[f, "0"] = expected.get((f, "0"), 0.0) + own[f]
        found = {(feature, label): value for feature, label, value in model.explain_prediction(5, label=1).parts}
        assert len(found) > 1
        assert found.keys() <= expected.keys()
        for key, value in expected.items():
            assert found.get(key, 0.0) == pytest.approx(value, abs=2e-5)


@pytest.mark.parametrize("name", EMBEDDERS)
def test_parts_of_a_value_add_up(name):
    model = quick(GraphRegressor, embedder=EMBEDDERS[name], head="elastic-net", smooth=False)
    model.fit(GRAPH, VALUES, train=TRAIN)
    found = model.explain_prediction(51)
    assert abs(found.unexplained) < 1e-5
    assert found.score == pytest.approx(found.prediction) == pytest.approx(model.predict()[51])
    assert found.probability is None
    assert total(found) == pytest.approx(found.score, abs=1e-5)


class TestOfAnotherGraph:
    """There the head predicts alone, so that its score can be seen in the probability."""

    GRAPH2 = planted_blocks(n_nodes=90, n_features=60, p_in=0.2, p_out=0.02, random_state=1)

    @pytest.mark.parametrize("inputs", ["vectors", "features", "both"])
    def test_adds_up_and_is_the_log_odds(self, inputs):
        model = linear(inputs=inputs).fit(GRAPH, CLASSES == 2, train=TRAIN)
        found = [model.explain_prediction(node, graph=self.GRAPH2, label=True) for node in (3, 40, 80)]
        p = model.predict_proba(self.GRAPH2)[[3, 40, 80]]
        odds = np.log(p[:, 1] / p[:, 0])
        scores = np.array([each.score for each in found])
        assert odds / odds[0] == pytest.approx(scores / scores[0], abs=1e-4)  # up to the temperature
        assert odds[0] * scores[0] > 0
        assert all(abs(each.unexplained) < 1e-5 for each in found)
        assert [each.probability for each in found] == p[:, 1].tolist()

    def test_opposite_classes_have_opposite_scores(self):
        model = linear().fit(GRAPH, CLASSES == 2, train=TRAIN)
        one, other = (model.explain_prediction(40, graph=self.GRAPH2, label=label) for label in (True, False))
        assert one.score == -other.score
        assert one.probability + other.probability == pytest.approx(1)

    def test_scores_of_several_classes_are_about_their_mean(self):
        model = linear().fit(GRAPH, train=TRAIN)
        found = [model.explain_prediction(40, graph=self.GRAPH2, label=label) for label in range(3)]
        assert sum(each.score for each in found) == pytest.approx(0, abs=1e-9)
        ranks = np.argsort([each.score for each in found])
        assert ranks.tolist() == np.argsort([each.probability for each in found]).tolist()


def test_features_that_decide_have_the_most_evidence():
    """Two features tell two classes apart, at the node itself; a third says nothing."""
    rng = np.random.default_rng(0)
    classes = np.arange(80) % 2
    features = np.column_stack([classes == 0, classes == 1, rng.random(80) < 0.5]).astype(float)
    A = np.triu(rng.random((80, 80)) < 0.05, 1)
    graph = AttributedGraph(A + A.T, features, feature_names=["tea", "cocoa", "hat"])
    found = linear(inputs="features").fit(graph, classes, train=np.arange(0, 80, 3)).explain_prediction(1)
    assert found.prediction == 1
    assert found.parts[0][:2] == ("cocoa", "0")
    assert found.parts[0][2] > 10 * sum(abs(value) for feature, _, value in found.parts if feature == "hat")
    assert [abs(value) for *_, value in found.parts] == sorted((abs(value) for *_, value in found.parts), reverse=True)


def test_a_node_that_nothing_is_known_of():
    features = GRAPH.features.toarray()
    adjacency = GRAPH.adjacency.toarray()
    features[7], adjacency[7], adjacency[:, 7] = 0, 0, 0
    model = linear().fit(AttributedGraph(adjacency, features), CLASSES, train=TRAIN)
    found = model.explain_prediction(7, graph=AttributedGraph(adjacency, features))
    assert found.parts == []
    assert found.score == pytest.approx(found.intercept, abs=1e-5)


def test_the_printed_table_adds_up():
    text = str(linear(inputs="both").fit(GRAPH, train=TRAIN).explain_prediction(51))
    score, *parts = (float(value) for value in re.findall(r"^ *([+-]\d+\.\d+)  ", text, re.MULTILINE))
    assert len(parts) == 12
    assert sum(parts) == pytest.approx(score, abs=1e-3)
    assert "other parts" in text
    assert re.match(r"51: \d, probability [01]\.\d{3}\n", text)


class TestRefused:
    @pytest.mark.parametrize(
        "embedder", [MUSAE(8, ego=True), AE(8, solver="sgns"), DeepWalk(8)], ids=["ego", "sgns", "DeepWalk"]
    )
    def test_vectors_that_are_not_sums_over_features(self, embedder):
        embedder.set_params(n_jobs=1)
        model = linear(embedder=embedder, inputs="vectors").fit(GRAPH, train=TRAIN)
        with pytest.raises(ParameterError, match=r"are not sums over features: .*solver='pmi'.*inputs='features'"):
            model.explain_prediction(3)

    def test_features_alone_are_explained_whatever_the_embedder_is(self):
        model = linear(embedder=DeepWalk(8), inputs="features").fit(GRAPH, train=TRAIN)
        assert abs(model.explain_prediction(3).unexplained) < 1e-9

    @pytest.mark.parametrize(
        ("kind", "linear"), [(GraphClassifier, "logistic"), (GraphRegressor, "elastic-net")], ids=["classes", "values"]
    )
    def test_a_head_that_is_not_linear(self, kind, linear):
        model = quick(kind, head="kernel").fit(GRAPH, VALUES if kind is GraphRegressor else CLASSES, train=TRAIN)
        with pytest.raises(ParameterError, match=f"a kernel head is not linear, .* fit with head='{linear}'"):
            model.explain_prediction(3)

    def test_what_is_not_there(self):
        model = linear().fit(GRAPH, train=TRAIN)
        with pytest.raises(UnknownNodeError, match="no node 'x'"):
            model.explain_prediction("x")
        with pytest.raises(ParameterError, match="label must be one of the classes, 0, 1, 2, not 9"):
            model.explain_prediction(3, label=9)
        values = quick(GraphRegressor, head="elastic-net").fit(GRAPH, VALUES, train=TRAIN)
        with pytest.raises(ParameterError, match="label is for classes"):
            values.explain_prediction(3, label=1)

    def test_a_graph_that_is_gone(self):
        model = linear().fit((GRAPH.adjacency, GRAPH.features), CLASSES, train=TRAIN)
        assert model.explain_prediction(OTHERS[0]).parts  # kept by the model
        with pytest.raises(GraphError, match="loaded without the graph of its fit: pass it"):
            pickle.loads(pickle.dumps(model)).explain_prediction(OTHERS[0])

    def test_unknown_features_are_counted(self):
        names = [f"f{i}" if i < 5 else i for i in range(60)]
        other = AttributedGraph(GRAPH.adjacency, GRAPH.features, feature_names=names)
        model = linear(inputs="vectors").fit(GRAPH, train=TRAIN)
        with pytest.warns(HopscaleWarning, match="unknown to this model and ignored"):
            found = model.explain_prediction(3, graph=other)
        assert abs(found.unexplained) < 1e-5
        assert not any(isinstance(feature, str) for feature, *_ in found.parts)
