"""Explanations: exact ones against the theory in dense matrices, estimates that say that they are."""

import copy
import json
import pickle
import warnings

import numpy as np
import pytest
from model_files import refusal, spoilt, words_of
from scipy.linalg import block_diag

from hopscale import (
    AE,
    HOPE,
    MUSAE,
    PMI,
    SGNS,
    AttributedGraph,
    DeepWalk,
    GraRep,
    Node2Vec,
    Walklets,
    from_edges,
    load_model,
)
from hopscale.datasets import figure1, planted_blocks
from hopscale.exceptions import HopscaleWarning, ParameterError, UnknownNodeError
from hopscale.models.explanation import Explanation
from reference import dense, random_graph, seen_after, transition

pytestmark = pytest.mark.filterwarnings("ignore:scale .* dimensions are zero", "ignore:.*of .nearly. zero")

FAST_SGNS = SGNS(epochs=1, walk_length=8, walks_per_node=1)
GRAPHS = {
    "plain": random_graph(30, 12, density=0.1, isolated=3),
    "weighted": random_graph(30, 12, density=0.1, weighted=True, values=True, isolated=2, seed=1),
}
MODELS = {
    "MUSAE": MUSAE(16),
    "MUSAE, no self scale": MUSAE(12, self_scale=False, window=2),
    "MUSAE-EGO": MUSAE(16, ego=True),
    "AE": AE(16, window=4),
    "AE-EGO": AE(16, ego=True),
    "MUSAE, sgns": MUSAE(16, solver=FAST_SGNS),
    "Walklets": Walklets(12),
    "DeepWalk": DeepWalk(8, window=3),
    "GraRep": GraRep(8, window=2),
    "MUSAE, shift": MUSAE(16, solver=PMI(shift=3.0)),
}


def context_of(model, graph):
    """The context matrix and the names of its columns."""
    _, F = dense(graph)
    nodes = graph.node_ids.tolist()
    if model.context == "nodes":
        return np.eye(len(nodes)), nodes
    if model.context == "features":
        return F, graph.feature_names.tolist()
    return np.hstack([F, np.eye(len(nodes))]), [*graph.feature_names.tolist(), *(("node", node) for node in nodes)]


def ratios(model, graph):
    """c·PʳF·E⁻¹ of each scale, 0 where nothing is met."""
    A, _ = dense(graph)
    F, names = context_of(model, graph)
    found = {}
    for scale in model.scales_:
        seen = seen_after(A, F, scale.hops)
        start = A.sum(axis=1) / A.sum()
        if model.start == "node":
            powers = [np.linalg.matrix_power(transition(A), hop) for hop in scale.hops]
            p = np.mean(powers, axis=0).sum(axis=0) / len(A) @ F
        else:
            p = F.mean(axis=0) if scale.hops == (0,) else start @ F
        found[scale.label] = np.divide(seen, p, out=np.zeros_like(seen), where=p > 0)
    return found, names


@pytest.mark.parametrize("graph", GRAPHS.values(), ids=GRAPHS)
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.filterwarnings("ignore:no feature that the model knows is met")
class TestExactValues:
    def test_are_those_of_the_theory(self, name, graph):
        model = MODELS[name].fit(graph)
        expected, names = ratios(model, graph)
        for node in (0, 7, 20, 29):
            found = model.explain(node, graph=graph, k=1000)
            assert found.exact
            assert list(found) == [scale.label for scale in model.scales_]
            for label, features in found.items():
                scores = dict(features)
                row = expected[label][node]
                assert set(scores) == {names[i] for i in np.flatnonzero(row)}  # what is met, and nothing else
                np.testing.assert_allclose(
                    [scores[names[i]] for i in np.flatnonzero(row)], np.log(row[row > 0]), rtol=1e-5, atol=1e-6
                )
                values = [score for _, score in features]
                assert values == sorted(values, reverse=True)

    def test_are_those_of_the_kept_graph(self, name, graph):
        model = MODELS[name].fit(graph)
        passed = {node: model.explain(node, graph=graph, k=5) for node in (0, 7, 29)}
        model.graph_ = graph
        try:
            kept = {node: model.explain(node, k=5) for node in passed}
        finally:
            del model.graph_
        assert kept == passed
        assert all(found.exact for found in kept.values())


class TestExactness:
    def test_every_feature_of_scale_0_is_the_nodes_own(self):
        """Estimates show others, on any graph with more features than dimensions."""
        graph = planted_blocks(n_nodes=400, n_features=200)
        model = MUSAE(16, keep_graph=True).fit(graph)
        own = [set(graph.features[[row]].indices.tolist()) for row in range(100)]
        exact = [{name for name, _ in model.explain(node, scale=0, k=5)["0"]} for node in range(100)]
        assert all(found <= has for found, has in zip(exact, own, strict=True))
        del model.graph_
        estimated = [{name for name, _ in model.explain(node, scale=0, k=5)["0"]} for node in range(100)]
        assert not all(found <= has for found, has in zip(estimated, own, strict=True))

    def test_estimates_tend_to_them_with_dimensions(self):
        graph = random_graph(30, 8, density=0.2)
        model = MUSAE(4 * 8).fit(graph)  # as many as there are features: nothing is lost
        exact = model.explain(3, graph=graph, k=8)
        for label, features in model.explain(3, k=8).items():
            positive = {name: score for name, score in exact[label] if score > 1e-4}
            assert {name for name, score in features if score > 1e-3} == {n for n, s in positive.items() if s > 1e-3}
            for name, score in features:
                assert score == pytest.approx(positive.get(name, 0.0), abs=1e-3)

    def test_a_node_that_is_new_to_the_model(self):
        old = [("a", "b"), ("b", "c"), ("c", "a"), ("c", "d")]
        tags = {"a": ["x", "y"], "b": ["y"], "c": ["z"], "d": ["x"]}
        model = MUSAE(4, window=1).fit(from_edges(old, tags))
        graph = from_edges([*old, ("new", "a")], {**tags, "new": ["z", "w"]})
        with pytest.warns(HopscaleWarning, match=r"1 feature.s. around the node are left out"):
            found = model.explain("new", graph=graph)
        p = dict(zip(["x", "y", "z"], model.feature_probability_[1], strict=True))
        assert dict(found["0"]) == {"z": pytest.approx(np.log(4))}
        assert dict(found["1"]) == {name: pytest.approx(np.log(1 / p[name])) for name in "xy"}
        with pytest.raises(UnknownNodeError, match="no node 'new'"):
            model.explain("new")
        with pytest.raises(UnknownNodeError, match="no node 'nobody' in this graph"):
            model.explain("nobody", graph=graph)

    @pytest.mark.filterwarnings("ignore:no feature that the model knows is met")
    def test_rows_in_another_order_are_the_same_nodes(self):
        graph = planted_blocks(n_nodes=60, n_features=20)
        order, columns = np.random.default_rng(0).permutation(60), np.random.default_rng(1).permutation(20)
        other = AttributedGraph(
            graph.adjacency[order][:, order],
            graph.features[order][:, columns],
            node_ids=graph.node_ids[order],
            feature_names=graph.feature_names[columns],
        )
        for model in (MUSAE(8), MUSAE(8, ego=True), DeepWalk(8)):
            model.fit(graph)
            for node in (0, 11, 59):
                for label, features in model.explain(node, graph=other, k=100).items():
                    same = dict(model.explain(node, graph=graph, k=100)[label])
                    assert dict(features) == pytest.approx(same)

    def test_nothing_is_met_from_an_isolated_node(self):
        model = MUSAE(8, keep_graph=True).fit(GRAPHS["plain"])
        with pytest.warns(
            HopscaleWarning, match="no feature that the model knows is met from node 29 at scale 1, 2, 3"
        ):
            found = model.explain(29)
        assert found["0"]
        assert not any(found[label] for label in "123")

    def test_walks_with_a_bias_have_none(self):
        graph = planted_blocks(n_nodes=60)
        model = Node2Vec(4, window=2, q=0.5, keep_graph=True, solver=PMI(walks=50)).fit(graph)
        assert not model.explain(3).exact
        with pytest.raises(ParameterError, match="have a bias and are known from samples only"):
            model.explain(3, graph=graph)

    def test_a_graph_from_elsewhere(self):
        with pytest.raises(ValueError, match="cannot read a graph from int"):
            MUSAE(8).fit(figure1()).explain("D", graph=7)

    def test_of_a_kept_graph_in_a_file(self, tmp_path):
        model = MUSAE(8, ego=True, keep_graph=True).fit(figure1())
        model.save(tmp_path / "m")
        again = load_model(tmp_path / "m").explain("D")
        assert (again, again.exact, again.captured) == (model.explain("D"), True, model.captured_)


class TestCaptured:
    """How much of the matrix the vectors hold."""

    @pytest.mark.parametrize(
        "solver", [PMI(), PMI(shift=2.0), PMI(rows="sampled", walks=100)], ids=["exact", "shift", "sampled"]
    )
    @pytest.mark.parametrize("kind", [MUSAE, AE, DeepWalk, Walklets])
    def test_is_the_share_of_the_squared_norm(self, kind, solver):
        graph = planted_blocks(n_nodes=80, n_features=40)
        model, full = kind(12, solver=solver).fit(graph), kind(600, solver=solver).fit(graph)
        for scale, whole in zip(model.solutions_, full.solutions_, strict=True):
            M = whole.node_vectors.astype(float) @ whole.feature_vectors.T.astype(float)
            rest = M - scale.node_vectors.astype(float) @ scale.feature_vectors.T.astype(float)
            assert whole.captured == pytest.approx(1.0, abs=1e-4)
            assert scale.captured == pytest.approx(1 - (rest**2).sum() / (M**2).sum(), abs=1e-4)
            assert scale.captured < 0.99

    def test_is_the_same_for_any_number_of_threads(self):
        graph = planted_blocks(n_nodes=300, n_features=300)
        assert MUSAE(8, n_jobs=1).fit(graph).captured_ == MUSAE(8, n_jobs=3).fit(graph).captured_

    def test_rows_that_are_learnt_from_in_part(self):
        graph = planted_blocks(n_nodes=1500, n_features=300)
        model = MUSAE(8, solver=PMI(rows="sampled", walks=200, memory_limit="1MiB")).fit(graph)
        assert "of 1,500 rows" in model.rows_["3"]
        assert all(0 < share < 1 for share in model.captured_.values())

    def test_a_matrix_without_entries_is_held_whole(self):
        """Where all nodes have the same features nothing stands out."""
        model = MUSAE(8).fit(AttributedGraph(figure1().adjacency, np.ones((11, 2))))
        assert set(model.captured_.values()) == {1.0}

    def test_training_does_not_know(self):
        model = MUSAE(8, solver=FAST_SGNS).fit(figure1())
        assert set(model.captured_.values()) == {None}
        assert "hold an unknown part of" in model.explain("D").how_known("1")

    def test_is_kept_in_the_file(self, tmp_path):
        model = MUSAE(8).fit(figure1())
        model.save(tmp_path / "m")
        assert load_model(tmp_path / "m").captured_ == model.captured_

    def test_older_files_do_not_know(self, tmp_path):
        path = tmp_path / "m"
        MUSAE(8).fit(figure1()).save(path)
        scales = json.loads(words_of(path)["scales"])
        for entry in scales:
            del entry["captured"]
        assert set(load_model(spoilt(path, scales=json.dumps(scales))).captured_.values()) == {None}

    @pytest.mark.parametrize("wrong", [-0.1, 1.5, 1, "much", [], True])
    def test_a_share_that_is_none(self, tmp_path, wrong):
        path = tmp_path / "m"
        MUSAE(8).fit(figure1()).save(path)
        scales = json.loads(words_of(path)["scales"])
        scales[1]["captured"] = wrong
        assert "captured" in refusal(spoilt(path, scales=json.dumps(scales)))


class TestExplanation:
    def test_is_a_dict_that_says_what_it_is(self):
        found = MUSAE(8).fit(figure1()).explain("D", k=1, scale=1)
        assert isinstance(found, dict)
        assert json.loads(json.dumps(found)) == {"1": [list(found["1"][0])]}
        assert "exact=False" in repr(found)
        assert "captured={'1': " in repr(found)
        assert list(found.captured) == ["1"]
        assert f"estimated: the vectors hold {100 * found.captured['1']:.0f} %" in found.how_known("1")

    def test_can_be_copied(self):
        found = MUSAE(8).fit(figure1()).explain("D")
        for again in (pickle.loads(pickle.dumps(found)), copy.deepcopy(found), copy.copy(found)):
            assert (again, again.exact, again.captured) == (found, found.exact, found.captured)
            assert isinstance(again, Explanation)


class TestLostNodes:
    """Nodes whose vectors are nearly zero because the dimensions went to larger components."""

    def cliques_and_pairs(self, pairs, cliques=4, size=25):
        """Some large components of one direction each, and pairs."""
        parts = [np.ones((size, size)) - np.eye(size)] * cliques + [np.ones((2, 2)) - np.eye(2)] * pairs
        return block_diag(*parts)

    @pytest.mark.parametrize(("model", "advice"), [
        (DeepWalk(4), "help, or a method that reads features"),
        (Walklets(12), "help, or a method that reads features"),
        (GraRep(16), "help, or a method that reads features"),
        (HOPE(4, proximity="katz"), "help, or a method that reads features"),
        (AE(4, ego=True, self_scale=False), "help$"),
    ], ids=str)  # fmt: skip
    @pytest.mark.parametrize("pairs", [30, 300])
    def test_are_counted(self, model, advice, pairs):
        graph = AttributedGraph(self.cliques_and_pairs(pairs), np.zeros((100 + 2 * pairs, 1)))
        words = rf"^{2 * pairs} of {100 + 2 * pairs} nodes .* vectors of .nearly. zero.* More dimensions {advice}"
        with pytest.warns(HopscaleWarning, match=words):
            model.fit(graph)
        lengths = np.linalg.norm(model.embedding_, axis=1)
        assert lengths[100:].max() < 1e-3 * lengths[:100].min()

    def quiet(self, model, graph):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model.fit(graph)
        assert not [words for words in caught if "(nearly)" in str(words.message)]

    def test_isolated_nodes_are_not_meant(self):
        A = np.zeros((40, 40))
        A[:30, :30] = dense(random_graph(30, 5, density=0.3))[0]
        for model in (DeepWalk(16), MUSAE(16), MUSAE(16, solver=FAST_SGNS)):
            self.quiet(model, AttributedGraph(A, np.eye(40)[:, :30]))

    def test_nor_nodes_of_which_there_is_nothing_to_learn(self):
        """They have edges, but walks meet no feature, or none that stands out."""
        A = block_diag(dense(random_graph(30, 6))[0], np.ones((2, 2)) - np.eye(2))
        F = np.zeros((32, 6))
        F[:30] = dense(random_graph(30, 6))[1]
        self.quiet(MUSAE(24, self_scale=False), AttributedGraph(A, F))
        F[:, 0], F[30:, 1:] = 1, 0  # what the pair has, all have
        self.quiet(MUSAE(24), AttributedGraph(A, F))

    def test_enough_dimensions_lose_none(self):
        self.quiet(DeepWalk(160), AttributedGraph(self.cliques_and_pairs(30)))
