"""Link prediction and attribute inference: nothing leaks, nothing is drawn with a bias, planted blocks are found."""

from importlib import import_module

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.stats import chisquare
from sklearn.base import BaseEstimator

from hopscale import AE, MUSAE, SGNS, AttributedGraph, DeepWalk
from hopscale.datasets import erdos_renyi, figure1, planted_blocks
from hopscale.exceptions import GraphError, ParameterError
from hopscale.tasks import attribute_inference, link_prediction, summarize
from hopscale.tasks.attribute_inference import _share_of_neighbors
from hopscale.tasks.link_prediction import _train_and_test_pairs
from hopscale.tasks.splits import negative_positions


class Spy(BaseEstimator):
    """Remembers the graphs it was given, and answers with vectors that know its own edges alone."""

    seen = ()

    def fit(self, graph):
        Spy.seen = (*Spy.seen, graph)
        self.embedding_ = graph.adjacency.toarray()
        return self


class SpyMUSAE(MUSAE):
    """MUSAE that remembers the graph it was given."""

    seen = ()

    def fit(self, graph, y=None):
        SpyMUSAE.seen = (*SpyMUSAE.seen, graph)
        return super().fit(graph)


def _lower(adjacency):
    rows, columns = sp.tril(adjacency, -1).nonzero()
    return set(zip(rows.tolist(), columns.tolist(), strict=True))


def _mean(records, by, value, metric="roc_auc"):
    return summarize(records, by=by)[value][metric]["mean"]


class TestNegativePositions:
    def test_every_absent_position_is_equally_likely(self):
        present = np.array([0, 1, 5, 6, 7, 11])
        absent = [2, 3, 4, 8, 9, 10]
        rng = np.random.default_rng(0)
        drawn = np.concatenate([negative_positions(present, 12, 2, rng) for _ in range(3000)])
        counts = np.bincount(drawn, minlength=12)
        assert counts[present].sum() == 0
        assert chisquare(counts[absent]).pvalue > 1e-4

    def test_all_of_them_can_be_had_and_no_more(self):
        present = np.array([1, 2, 9])
        found = negative_positions(present, 10, 7, np.random.default_rng(1))
        assert sorted(found.tolist()) == [0, 3, 4, 5, 6, 7, 8]
        with pytest.raises(GraphError, match="only 7 of 10"):
            negative_positions(present, 10, 8, np.random.default_rng(1))

    def test_places_past_32_bits(self):
        present = np.arange(0, 10**15, 10**12)
        found = negative_positions(present, 10**15, 1000, np.random.default_rng(2))
        assert len(set(found.tolist())) == 1000
        assert not np.isin(found, present).any()
        assert 0.4 < found.mean() / 10**15 < 0.6


class TestLinkPrediction:
    def test_model_never_sees_what_it_is_asked_for(self, monkeypatch):
        asked = []

        def spied(*arguments):
            asked.append(_train_and_test_pairs(*arguments))
            return asked[-1]

        monkeypatch.setattr(import_module("hopscale.tasks.link_prediction"), "_train_and_test_pairs", spied)
        graph, Spy.seen = planted_blocks(90, p_in=0.2), ()
        link_prediction(Spy(), graph, share=0.4, splits=3)
        edges = _lower(graph.adjacency)
        assert len(Spy.seen) == len(asked) == 3
        for kept, parts in zip(Spy.seen, asked, strict=True):
            left = _lower(kept.adjacency)
            assert left < edges
            assert len(left) == len(edges) - round(0.4 * len(edges))
            assert kept.labels is None
            pairs = [(max(u, v), min(u, v), e) for p in parts for u, v, e in zip(*(x.tolist() for x in p), strict=True)]
            positives = {(u, v) for u, v, is_edge in pairs if is_edge}
            negatives = {(u, v) for u, v, is_edge in pairs if not is_edge}
            # Exactly the removed edges, each once, and as many distinct pairs that are no edges at all.
            assert positives == edges - left
            assert len(negatives) == len(positives) == len(pairs) // 2
            assert not negatives & edges
            assert all(u != v for u, v in negatives)

    def test_vectors_of_random_graphs_know_nothing(self):
        records = link_prediction(AE(16, self_scale=False), erdos_renyi(400, n_features=100), splits=3)
        for operator in ("hadamard", "l1", "l2", "cosine"):
            assert abs(_mean(records, "operator", operator) - 0.5) < 0.06

    def test_planted_blocks_have_the_area_that_theory_says(self):
        # With the blocks known, 25/26 of the edges lie within one of two blocks and 1/2 of the others, nearly:
        # an area of (1 + 25/26 - 1/2)/2.
        graph = planted_blocks(400, 2, 40, p_in=0.1, p_out=0.004, feature_p_in=0.5, feature_p_out=0.01)
        records = link_prediction(MUSAE(8), graph, splits=2)
        best = (1 + 25 / 26 - 1 / 2) / 2
        assert best - 0.08 < _mean(records, "operator", "hadamard") < best + 0.04
        assert _mean(records, "operator", "cosine") > 0.6
        assert abs(_mean(records, "operator", "preferential_attachment") - 0.5) < 0.1

    def test_self_loops_and_weights_stay(self):
        A = planted_blocks(60, p_in=0.3).adjacency.toarray()
        A *= 3
        A[np.arange(0, 60, 2), np.arange(0, 60, 2)] = 2
        Spy.seen = ()
        link_prediction(Spy(), AttributedGraph(A, self_loops=True), splits=1)
        kept = Spy.seen[0].adjacency.toarray()
        assert (np.diag(kept) == np.diag(A)).all()
        assert set(np.unique(kept - np.diag(np.diag(kept)))) == {0, 3}

    @pytest.mark.filterwarnings("ignore::hopscale.exceptions.HopscaleWarning")
    def test_nodes_that_lose_all_edges_are_scored(self):
        star = np.zeros((30, 30))
        star[0, 1:] = star[1:, 0] = 1
        records = link_prediction(DeepWalk(3), AttributedGraph(star), splits=2)
        assert all(np.isfinite(record["roc_auc"]) for record in records)

    def test_nearly_complete_graphs_are_refused(self):
        with pytest.raises(GraphError, match="places hold none"):
            link_prediction(DeepWalk(2), sp.csr_array(1 - np.eye(12)))

    def test_no_more_edges_are_asked_for_than_wanted(self):
        records = link_prediction(AE(8), planted_blocks(200), splits=1, max_edges=50, test_size=0.3)
        trained = [record for record in records if record["n_train"]]
        assert {(record["n_train"], record["n_test"]) for record in trained} == {(70, 30)}
        assert {record["operator"] for record in records} - {record["operator"] for record in trained} == {
            "dot",
            "cosine",
            "preferential_attachment",
        }

    def test_same_records_for_any_number_of_jobs(self):
        graph = planted_blocks(150)
        one = link_prediction(AE(8), graph, splits=2, standardize=True)
        assert link_prediction(AE(8), graph, splits=2, standardize=True, n_jobs=3) == one
        assert link_prediction(AE(8), graph, splits=1, standardize=True) == one[: len(one) // 2]

    @pytest.mark.parametrize(
        "wrong",
        [{"share": 0}, {"share": 1.0}, {"operators": ["l3"]}, {"test_size": 1}, {"C": 0}, {"max_edges": 1}],
    )
    def test_parameters_that_make_no_sense_are_named(self, wrong):
        with pytest.raises(ParameterError, match=next(iter(wrong))):
            link_prediction(AE(4), figure1(), **wrong)

    def test_graphs_without_edges_are_refused(self):
        with pytest.raises(GraphError, match="of 0 edges"):
            link_prediction(AE(4), AttributedGraph(np.zeros((4, 4)), np.eye(4)))


class TestAttributeInference:
    def test_model_never_sees_what_it_is_asked_for(self):
        graph, SpyMUSAE.seen = planted_blocks(120), ()
        records = attribute_inference(SpyMUSAE(8), graph, share=0.25, splits=2)
        whole = graph.features.toarray()
        hidden = round(0.25 * graph.features.nnz)
        assert len(SpyMUSAE.seen) == 2
        for left in SpyMUSAE.seen:
            kept = left.features.toarray()
            assert ((kept == whole) | (kept == 0)).all()
            assert np.count_nonzero(kept) == graph.features.nnz - hidden
            assert (left.adjacency != graph.adjacency).nnz == 0
            assert left.labels is None
        assert {record["n_test"] for record in records} == {2 * hidden}

    @pytest.mark.parametrize("ego", [False, True])
    @pytest.mark.parametrize("solver", ["pmi", SGNS(walks_per_node=3, epochs=3)])
    def test_planted_blocks_are_found_and_popularity_knows_nothing(self, ego, solver):
        graph = planted_blocks(300, 3, 60, p_in=0.1, feature_p_in=0.2, feature_p_out=0.01)
        model = MUSAE(16, ego=ego, solver=solver)
        records = attribute_inference(model, graph, splits=2)
        # Hidden entries lie within blocks 20 times out of 22, other places about once in three.
        assert _mean(records, "method", "product") > 0.7
        assert _mean(records, "method", "likelihood") > 0.7
        assert _mean(records, "method", "neighbors") > 0.6
        assert abs(_mean(records, "method", "popularity") - 0.5) < 0.1

    def test_features_that_are_drawn_by_lot_cannot_be_found(self):
        graph = erdos_renyi(300, n_features=50)
        records = attribute_inference(AE(8, self_scale=False), graph, splits=3)
        for method in ("product", "neighbors"):
            assert abs(_mean(records, "method", method) - 0.5) < 0.06

    def test_features_that_no_node_has_change_nothing(self):
        graph, wide = planted_blocks(200), np.zeros((200, 400))
        wide[:, 7 : 7 + graph.n_features] = graph.features.toarray()
        few, many = (
            attribute_inference(AE(8), AttributedGraph(graph.adjacency, F), splits=2) for F in (graph.features, wide)
        )
        baselines = ("popularity", "neighbors")
        assert [r for r in few if r["method"] in baselines] == [r for r in many if r["method"] in baselines]
        assert _mean(few, "method", "product") == pytest.approx(_mean(many, "method", "product"), abs=0.02)

    def test_one_scale_can_be_asked_for(self):
        graph = planted_blocks(200)
        whole = attribute_inference(MUSAE(16), graph, splits=1)
        one = attribute_inference(MUSAE(16), graph, splits=1, scale=1)
        assert whole[0]["roc_auc"] != one[0]["roc_auc"]
        assert [r for r in whole if r["method"] == "neighbors"] == [r for r in one if r["method"] == "neighbors"]
        with pytest.raises(ParameterError, match="no scale 9"):
            attribute_inference(MUSAE(16), graph, splits=1, scale=9)

    def test_neighbours_are_averaged(self):
        graph = figure1()
        node, feature = (x.ravel() for x in np.indices((11, 4)))
        P = graph.adjacency.toarray() / graph.degrees[:, None]
        order = np.random.default_rng(0).permutation(44)
        found = _share_of_neighbors(graph, node[order], feature[order])
        np.testing.assert_allclose(found, (P @ graph.features.toarray()).ravel()[order])

    @pytest.mark.filterwarnings("ignore::hopscale.exceptions.HopscaleWarning")
    def test_weights_and_isolated_nodes(self):
        graph = planted_blocks(80)
        A, F = graph.adjacency.toarray(), 2.5 * graph.features.toarray()
        A[0] = A[:, 0] = 0
        records = attribute_inference(AE(8), AttributedGraph(A, F), splits=1)
        assert all(np.isfinite(record["roc_auc"]) for record in records)

    def test_models_without_feature_vectors_are_refused(self):
        with pytest.raises(ParameterError, match="DeepWalk learns no vectors of features"):
            attribute_inference(DeepWalk(4), figure1())

    @pytest.mark.parametrize("wrong", [{"share": 1}, {"share": -0.5}, {"splits": 0}, {"random_state": -1}])
    def test_parameters_that_make_no_sense_are_named(self, wrong):
        with pytest.raises(ParameterError, match=next(iter(wrong))):
            attribute_inference(AE(4), figure1(), **wrong)

    def test_graphs_without_features_are_refused(self):
        with pytest.raises(GraphError, match="of 0 feature entries"):
            attribute_inference(AE(4), AttributedGraph(np.ones((4, 4)) - np.eye(4)))
