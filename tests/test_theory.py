"""The paper's theorems as oracle: what the vectors must be, not what they happened to be."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.linalg import block_diag, orthogonal_procrustes
from scipy.spatial.distance import pdist
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from threadpoolctl import threadpool_limits

from hopscale import AE, MUSAE, PMI, SGNS, AttributedGraph, DeepWalk, Walklets, datasets
from hopscale.compute import Threads
from hopscale.exceptions import HopscaleWarning
from hopscale.walks import Scale, Transitions, WalkContext
from hopscale.walks.sampling import RowSampler
from reference import best_approximation, dense, feature_probability, pmi, positive_pmi, random_graph, seen_after

SOLVERS = {"pmi": PMI(), "sgns": SGNS(walk_length=20, walks_per_node=5, epochs=2)}


@pytest.fixture(autouse=True)
def quiet():
    """Small graphs have small ranks (the contract suite tests the warning), and BLAS threads only fight here."""
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.filterwarnings("ignore", message=".*no more directions", category=HopscaleWarning)
        yield


def blocks(n=200, **changes):
    settings = {"n_blocks": 4, "n_features": 90, "p_in": 0.15, "p_out": 0.02} | changes
    return datasets.planted_blocks(n, **settings)


def products(model, scale):
    """G·Hᵀ."""
    return model.node_vectors(scale).astype(float) @ model.feature_vectors(scale).T.astype(float)


def cosines(one, other):
    norms = np.linalg.norm(one, axis=1) * np.linalg.norm(other, axis=1)
    return np.einsum("ij,ij->i", one, other)[norms > 0] / norms[norms > 0]


GRAPHS = {
    "blocks": lambda: blocks(),
    "weights, values, isolated": lambda: random_graph(200, 90, density=0.05, weighted=True, values=True, isolated=3),
    "random": lambda: datasets.erdos_renyi(200, 4, 4, 90),
}


@pytest.mark.parametrize("graph", GRAPHS.values(), ids=GRAPHS)
class TestDirectSolverIsTheSVD:
    """Theorems 1 and 2, truncated at zero: G·Hᵀ is the best low-rank approximation of the positive PMI matrix."""

    HOPS = (("0", (0,)), ("1", (1,)), ("2", (2,)), ("3", (3,)))

    def test_full_rank_reproduces_the_matrix(self, graph):
        graph = graph()
        model = MUSAE(dimensions=4 * 90).fit(graph)
        for label, hops in self.HOPS:
            np.testing.assert_allclose(products(model, label), positive_pmi(*dense(graph), hops), atol=5e-5)

    def test_full_rank_of_the_pooled_model(self, graph):
        graph = graph()
        model = AE(dimensions=3 * 90, self_scale=False, solver=PMI(shift=1.3)).fit(graph)
        np.testing.assert_allclose(products(model, "1-3"), positive_pmi(*dense(graph), (1, 2, 3), 1.3), atol=5e-5)

    def test_full_rank_with_flattened_noise(self, graph):
        """The target of SGNS whose noise is p(f)^α: PMI plus log of what that changes, constant on a column."""
        graph = graph()
        model = AE(dimensions=3 * 90, self_scale=False, solver=PMI(noise_exponent=0.5)).fit(graph)
        A, F = dense(graph)
        p = feature_probability(A, F, (1, 2, 3))
        noise = np.sqrt(p) * p.sum() / np.sqrt(p).sum()
        change = np.log(np.divide(p, noise, out=np.ones_like(p), where=noise > 0))
        target = np.maximum(pmi(A, F, (1, 2, 3)) + change, 0)
        assert np.abs(change).max() > 0.1
        np.testing.assert_allclose(products(model, "1-3"), target, atol=5e-5)

    @pytest.mark.parametrize("rank", [8, 20])
    def test_low_rank_is_as_good_as_any(self, graph, rank):
        graph = graph()
        model = MUSAE(dimensions=4 * rank).fit(graph)
        for label, hops in self.HOPS:
            M = positive_pmi(*dense(graph), hops)
            best, sigma = best_approximation(M, rank)
            found = model.singular_values_[model.scale_columns_[label]]
            # Random graphs have no gap in the spectrum; five iterations leave the last values up to .35 % of the
            # largest low, and the approximation within a thousandth of the best.
            np.testing.assert_allclose(found, sigma[:rank], atol=4e-3 * sigma[0])
            assert np.linalg.norm(M - products(model, label)) < 1.001 * np.linalg.norm(M - best)

    def test_vectors_share_the_singular_values_evenly(self, graph):
        model = MUSAE(dimensions=40).fit(graph())
        for label, columns in model.scale_columns_.items():
            sigma = np.diag(model.singular_values_[columns])
            for vectors in (model.node_vectors(label), model.feature_vectors(label)):
                np.testing.assert_allclose(vectors.T @ vectors, sigma, atol=1e-4 * sigma.max())


def test_low_rank_is_the_best_approximation_where_the_spectrum_has_a_gap():
    graph = blocks(p_in=0.3, p_out=0.01, feature_p_in=0.2, feature_p_out=0.01)
    M = positive_pmi(*dense(graph), (3,))
    best, sigma = best_approximation(M, 4)
    assert sigma[4] < 0.5 * sigma[3]
    model = MUSAE(dimensions=12, self_scale=False).fit(graph)
    np.testing.assert_allclose(products(model, "3"), best, atol=1e-4)


class TestSkipGramFactorisesPMI:
    """Levy and Goldberg: at full rank the products of SGNS converge to PMI − log b, where pairs exist at all."""

    NEGATIVES = 5

    def learnt(self, graph, share_negatives=True):
        solver = SGNS(
            walk_length=80,
            walks_per_node=10,
            epochs=150,
            negatives=self.NEGATIVES,
            share_negatives=share_negatives,
            noise_exponent=1.0,
            learning_rate=0.01,
            min_learning_rate=1e-4,
        )
        return MUSAE(dimensions=32, window=2, self_scale=False, solver=solver, n_jobs=2).fit(graph)

    @pytest.mark.parametrize("share_negatives", [False, True])
    @pytest.mark.parametrize("weighted", [False, True])
    def test_of_nodes_with_equally_many_features(self, share_negatives, weighted):
        graph = random_graph(16, 8, density=0.35, per_node=2, weighted=weighted, seed=2)
        model = self.learnt(graph, share_negatives)
        for hops in ((1,), (2,)):
            target = pmi(*dense(graph), hops) - np.log(self.NEGATIVES)
            possible = np.isfinite(target)
            found, target = products(model, hops[0])[possible], target[possible]
            assert np.corrcoef(found, target)[0, 1] > 0.98
            assert np.abs(found - target).mean() < 0.08
            assert np.abs(found - target).max() < 0.6  # shared noise is coarsest on the rarest pairs

    def test_of_nodes_with_different_numbers_of_features(self):
        """A corpus counts a node once for each feature that it meets.

        So #(v) is not the node's share of the walk, as Lemma 2 has it, but that times the features met from
        it, s_v: the optimum of Algorithm 2 is PMI − log b − log(s_v/s̄), constant on a row.
        """
        graph = random_graph(16, 8, density=0.35, seed=2)
        A, F = dense(graph)
        model = self.learnt(graph)
        for hops in ((1,), (2,)):
            met = seen_after(A, F, hops).sum(axis=1, keepdims=True)
            offset = np.log(met / feature_probability(A, F, hops).sum())
            target = pmi(A, F, hops) - np.log(self.NEGATIVES) - offset
            possible = np.isfinite(target)
            found, target = products(model, hops[0])[possible], target[possible]
            assert np.corrcoef(found, target)[0, 1] > 0.97
            assert np.abs(found - target).mean() < 0.08

    def test_a_feature_that_a_round_does_not_meet_stays_where_it_is(self):
        """So few pairs that most features go without an update for most rounds, and some for all of the last."""
        graph = datasets.erdos_renyi(400, 4, 2, 400)
        few = SGNS(walk_length=4, walks_per_node=1, epochs=1, negatives=2, share_negatives=False)
        model = MUSAE(dimensions=3, self_scale=False, solver=few).fit(graph)
        held = dense(graph)[1].any(axis=0)
        for label in "123":
            assert np.array_equal(model.feature_vectors(label).any(axis=1), held)

    def test_of_real_feature_values(self):
        """A value is proportional to p(f|v): PMI of the values, whatever their size."""
        graph = random_graph(16, 6, density=0.35, values=True, seed=2)
        A, F = dense(graph)
        F = F / F.sum(axis=1, keepdims=True)
        model = self.learnt(AttributedGraph(A, 7 * F))
        target = pmi(A, F, (2,)) - np.log(self.NEGATIVES)
        possible = np.isfinite(target)
        found = products(model, "2")
        assert np.corrcoef(found[possible], target[possible])[0, 1] > 0.97
        assert np.abs(found - target)[possible].mean() < 0.08


class TestSampledRowsConverge:
    def test_to_the_exact_vectors_as_walks_grow(self):
        graph = blocks(p_in=0.5, p_out=0.05)
        full = 4 * 90  # of full rank, lest differences come from cutting a spectrum without a gap
        exact = MUSAE(dimensions=full).fit(graph)
        edges = graph.adjacency.nnz
        errors = []
        for walks in (2, 8, 32, 512, edges):
            model = MUSAE(dimensions=full, solver=PMI(rows="sampled", walks=walks)).fit(graph)
            assert "sampled" in model.rows_["2"]
            errors.append(
                [
                    np.linalg.norm(products(model, s) - products(exact, s)) / np.linalg.norm(products(exact, s))
                    for s in "123"
                ]
            )
        errors = np.array(errors)
        assert np.all(np.diff(errors[:3], axis=0) < 0)  # at scale 1 there are soon as many walks as neighbours
        # Sixteen times the walks: at least 3.2 times closer, the root with some room for the logarithm.
        assert np.all(errors[2] > 3.2 * errors[3])
        assert np.all(errors[-1] < 1e-4)  # as many walks as edges: every way is taken


class TestLearningRows:
    def test_rows_drawn_by_degree_stand_for_all(self):
        """Rows are drawn with a probability π that grows with the degree and divided by √π: E[M'ᵀM'] = MᵀM."""
        graph = random_graph(150, 12, density=0.1, weighted=True, seed=3)
        context, scale = WalkContext(Transitions(graph.adjacency), graph.features), Scale((2,), 2)
        scaling = (1 / context.feature_probability(scale)).astype(np.float32)

        def gram(seed, memory):
            matrix, complete = RowSampler(context, scale, scaling, walks=50, seed=seed, engine=engine).learning_rows(
                memory
            )
            assert complete is (matrix.shape[0] == 150)
            M = (matrix @ np.eye(12, dtype=np.float32)).astype(float)
            return M.T @ M, matrix.shape[0]

        with Threads(1) as engine:
            full = [gram(seed, 10**9) for seed in range(60)]
            some = [gram(seed, 2000) for seed in range(60)]
        assert {rows for _, rows in full} == {150}
        assert max(rows for _, rows in some) < 75
        ratio = np.mean([g for g, _ in some], axis=0) / np.mean([g for g, _ in full], axis=0)
        np.testing.assert_allclose(np.diag(ratio), 1, atol=0.1)


class TestRemarks:
    """Remarks 1 and 2: one feature a node turns AE into DeepWalk and MUSAE into Walklets, bit for bit."""

    @pytest.mark.parametrize("solver", SOLVERS)
    @pytest.mark.parametrize(("attributed", "proximity"), [(AE, DeepWalk), (MUSAE, Walklets)])
    @pytest.mark.parametrize("weighted", [False, True])
    def test_identity_features(self, solver, attributed, proximity, weighted):
        graph = random_graph(60, 5, density=0.1, weighted=weighted, isolated=1)
        identity = AttributedGraph(graph.adjacency, np.eye(60))
        settings = {"dimensions": 13, "random_state": 3, "solver": SOLVERS[solver]}
        one = attributed(self_scale=False, **settings).fit(identity)
        other = proximity(**settings).fit(graph)
        assert np.array_equal(one.embedding_, other.embedding_)
        assert np.array_equal(one.feature_embedding_, other.feature_embedding_)
        assert one.embedding_.any()

    @pytest.mark.parametrize("solver", SOLVERS)
    def test_ego_is_the_same_as_identity_beside_the_features(self, solver):
        graph = random_graph(40, 5, density=0.1)
        _, F = dense(graph)
        both = AttributedGraph(graph.adjacency, np.hstack([F, np.eye(40)]))
        settings = {"dimensions": 13, "solver": SOLVERS[solver]}
        one, other = MUSAE(ego=True, **settings).fit(graph), MUSAE(**settings).fit(both)
        assert np.array_equal(one.embedding_, other.embedding_)
        assert np.array_equal(one.feature_embedding_, other.feature_embedding_)


def without_node(graph, v):
    """The graph before node v arrived."""
    rest = np.delete(np.arange(graph.n_nodes), v)
    A, F = dense(graph)
    return AttributedGraph(A[np.ix_(rest, rest)], F[rest])


class TestTransfer:
    @pytest.mark.parametrize("graph", GRAPHS.values(), ids=GRAPHS)
    @pytest.mark.parametrize("model", [MUSAE, AE])
    @pytest.mark.parametrize("rows", ["exact", "sampled"])
    def test_direct_solver_puts_the_training_graph_where_it_was(self, graph, model, rows):
        graph = graph()
        fitted = model(dimensions=40, solver=PMI(rows=rows, walks=50)).fit(graph)
        np.testing.assert_allclose(fitted.transform(graph), fitted.embedding_, atol=1e-5)

    def test_direct_solver_that_could_neither_keep_nor_stream_exact_rows(self):
        """Rows are sampled where the fit's were, with the fit's seed, although a projection would need no room.

        So few walks that exact rows would cost many times as much.
        """
        graph = datasets.erdos_renyi(2100, 4, 8, 600)
        with pytest.warns(HopscaleWarning, match="estimated from"):
            model = MUSAE(dimensions=16, solver=PMI(memory_limit="2MB", walks=2), random_state=None).fit(graph)
        assert any(solution.sampled for solution in model.solutions_)
        np.testing.assert_allclose(model.transform(graph), model.embedding_, atol=1e-5)

    def test_direct_solver_with_more_features_than_are_placed_in_one_go(self):
        graph = datasets.erdos_renyi(150, 4, 40, 2200)
        model = MUSAE(dimensions=8).fit(graph)
        np.testing.assert_allclose(model.transform(graph), model.embedding_, atol=1e-5)

    def test_sgns_puts_the_training_graph_near_where_it_was(self):
        """Both are stationary points of the same loss in G, up to the noise of a rate that ends at 0.025.

        Starts and walks are those of the fit, whatever ``random_state`` says later: what is left is that the fitted
        vectors saw the features' vectors move.
        """
        graph = blocks()
        model = MUSAE(dimensions=32, solver=SGNS(epochs=2)).fit(graph)
        again = model.transform(graph)
        np.testing.assert_array_equal(model.set_params(random_state=1).transform(graph), again)
        for label, columns in model.scale_columns_.items():
            assert np.median(cosines(again[:, columns], model.embedding_[:, columns])) > 0.98, label
            assert np.quantile(cosines(again[:, columns], model.embedding_[:, columns]), 0.05) > 0.85, label
            shuffled = np.roll(again[:, columns], 77, axis=0)  # of another block
            assert np.median(cosines(shuffled, model.embedding_[:, columns])) < 0.6, label

    def test_a_node_that_arrives_later_lands_where_a_full_fit_puts_it(self):
        """Vectors of two fits differ by a rotation within each scale, which leaves G·Hᵀ alone.

        The rotation that best maps the other nodes of one fit onto those of the other (Procrustes) is taken out;
        what is left of the new node's displacement must be small beside the distance to other nodes.
        """
        graph = blocks(p_in=0.3, p_out=0.01, feature_p_in=0.2, feature_p_out=0.01)
        full = MUSAE(dimensions=16).fit(graph)
        for v in (0, 60, 125, 199):
            before = MUSAE(dimensions=16).fit(without_node(graph, v))
            placed = before.transform(graph)
            for label, columns in full.scale_columns_.items():
                here, there = placed[:, columns], full.embedding_[:, columns]
                rest = np.arange(200) != v
                rotation, _ = orthogonal_procrustes(here[rest], there[rest])
                distance = np.linalg.norm(here[v] @ rotation - there, axis=1)
                assert distance[v] < 0.25 * np.median(distance), label

    @pytest.mark.parametrize("solver", SOLVERS)
    def test_to_a_second_graph_of_the_same_kind(self, solver):
        """Blocks of another draw, same features: a classifier of the first graph's vectors reads the second's."""
        one, other = blocks(random_state=1), blocks(random_state=2)
        model = MUSAE(dimensions=32, solver=SOLVERS[solver]).fit(one)
        classifier = LogisticRegression(max_iter=1000).fit(model.embedding_, one.labels)
        assert classifier.score(model.transform(other), other.labels) > 0.9


class TestFigure1:
    """D and G have the same features, and so have their neighbours; two steps away they differ."""

    def distances(self, model, scale):
        vectors = model.node_vectors(scale)
        D, G = (list(model.node_ids_).index(name) for name in "DG")
        return np.linalg.norm(vectors[D] - vectors[G]) / pdist(vectors).mean()

    def test_direct_solver(self):
        model = MUSAE(dimensions=16).fit(datasets.figure1())
        assert self.distances(model, 0) < 1e-5
        assert self.distances(model, 1) < 1e-5
        assert self.distances(model, 2) > 0.5
        assert self.distances(model, 3) > 0.5

    def test_skip_gram(self):
        solver = SGNS(epochs=20, learning_rate=0.02, min_learning_rate=1e-3)
        model = MUSAE(dimensions=16, solver=solver).fit(datasets.figure1())
        assert self.distances(model, 1) < 0.15
        assert self.distances(model, 2) > 0.5


class TestInvariances:
    @pytest.mark.parametrize("solver", SOLVERS)
    @pytest.mark.parametrize("weighted", [False, True])
    def test_units_of_edges_and_features_do_not_matter(self, solver, weighted):
        graph = random_graph(60, 20, density=0.1, weighted=weighted, values=True, isolated=1)
        A, F = dense(graph)
        settings = {"dimensions": 16, "solver": SOLVERS[solver]}
        model = MUSAE(**settings).fit(graph)
        for scaled in (AttributedGraph(3 * A, F), AttributedGraph(A, 2 * F)):
            other = MUSAE(**settings).fit(scaled)
            np.testing.assert_allclose(other.embedding_, model.embedding_, atol=2e-5)
            np.testing.assert_allclose(other.feature_embedding_, model.feature_embedding_, atol=2e-5)

    def test_order_of_nodes_and_features_does_not_matter(self):
        graph = blocks()
        A, F = dense(graph)
        rng = np.random.default_rng(0)
        nodes, features = rng.permutation(200), rng.permutation(90)
        turned = AttributedGraph(A[np.ix_(nodes, nodes)], F[np.ix_(nodes, features)])
        # Full rank, so that the products do not hang on where a spectrum without a gap is cut.
        one, other = MUSAE(dimensions=360).fit(graph), MUSAE(dimensions=360).fit(turned)
        np.testing.assert_allclose(other.singular_values_, one.singular_values_, atol=1e-3)
        for label in one.scale_columns_:
            leading = slice(0, 2)  # singular values apart from the rest: vectors agree up to their sign
            a = one.node_vectors(label)[nodes][:, leading]
            b = other.node_vectors(label)[:, leading]
            signs = np.sign((a * b).sum(axis=0))
            np.testing.assert_allclose(b * signs, a, atol=2e-3)
            np.testing.assert_allclose(products(other, label), products(one, label)[np.ix_(nodes, features)], atol=5e-5)


class TestWhatSaysNothing:
    @pytest.mark.parametrize("rows", ["exact", "sampled"])
    def test_a_feature_of_every_node_has_a_zero_vector(self, rows):
        graph = datasets.erdos_renyi(300, 20, 4, 40)
        A, F = dense(graph)
        weights = np.random.default_rng(0).random(A.shape)
        F[:, 7] = 0.3
        model = MUSAE(dimensions=40, solver=PMI(rows=rows)).fit(AttributedGraph(A * (weights + weights.T), F))
        assert not model.feature_embedding_[7].any()
        assert np.all(np.delete(model.feature_embedding_, 7, axis=0).any(axis=1))

    @pytest.mark.parametrize("rows", ["exact", "sampled"])
    def test_if_all_nodes_have_the_same_features_rounding_does_not_pass_for_knowledge(self, rows):
        A, _ = dense(datasets.erdos_renyi(300, 20, 4, 40))
        weights = np.random.default_rng(0).random(A.shape)
        graph = AttributedGraph(A * (weights + weights.T), np.full((300, 5), 0.3))
        assert not MUSAE(dimensions=20, solver=PMI(rows=rows)).fit(graph).embedding_.any()

    @pytest.mark.parametrize("solver", SOLVERS)
    def test_isolated_nodes_and_features_that_no_walk_meets(self, solver):
        graph = random_graph(40, 10, density=0.15, isolated=2)
        A, F = dense(graph)
        F[:, [3, 4]] = 0
        F[39] = 0
        F[38, 3] = 1  # only on an isolated node; feature 4 is on none, the last node has none
        model = MUSAE(dimensions=24, solver=SOLVERS[solver]).fit(AttributedGraph(A, F))
        for label in "123":
            assert not model.node_vectors(label)[38:].any()
            assert not model.feature_vectors(label)[[3, 4]].any()
            assert np.all(model.node_vectors(label)[:38].any(axis=1))
        assert not model.node_vectors(0)[39].any()
        assert model.node_vectors(0)[38].any()
        assert not model.feature_vectors(0)[4].any()
        assert model.feature_vectors(0)[3].any()

    @pytest.mark.parametrize("solver", SOLVERS)
    def test_features_only_where_no_walk_comes(self, solver):
        A, _ = dense(random_graph(20, 4, isolated=3))
        F = np.zeros((20, 4))
        F[17:, 1] = 1
        model = MUSAE(dimensions=8, solver=SOLVERS[solver]).fit(AttributedGraph(A, F))
        assert not model.feature_embedding_[:, 2:].any()
        assert model.node_vectors(0)[17:].any()

    @pytest.mark.parametrize("solver", SOLVERS)
    def test_a_component_without_features_has_zero_vectors(self, solver):
        one, other = dense(random_graph(20, 4)), dense(random_graph(10, 4))
        A = block_diag(one[0], other[0])
        model = MUSAE(dimensions=8, solver=SOLVERS[solver]).fit(AttributedGraph(A, np.pad(one[1], ((0, 10), (0, 0)))))
        assert not model.embedding_[20:].any()
        assert np.all(model.embedding_[:20].any(axis=1))


class TestPlantedPartition:
    @pytest.mark.parametrize("solver", SOLVERS)
    @pytest.mark.parametrize("model", [MUSAE, AE, DeepWalk, Walklets])
    def test_both_solvers_find_the_blocks(self, solver, model):
        graph = blocks(240, n_blocks=3, p_in=0.2, p_out=0.02)
        fitted = model(dimensions=32, solver=SOLVERS[solver])
        if solver == "sgns":
            fitted = clone(fitted).set_params(solver__epochs=10)
        fitted.fit(graph)
        same = [
            np.mean([graph.labels[other] == graph.labels[node] for other, _ in fitted.neighbors(node, k=10)])
            for node in range(0, 240, 8)
        ]
        assert np.mean(same) > 0.9
        score = cross_val_score(LogisticRegression(max_iter=2000), fitted.embedding_, graph.labels, cv=4)
        assert score.mean() > 0.97


class TestEveryNodeIsTrainedOrZero:
    def test_nodes_that_are_hardly_ever_visited(self):
        """Leaves of a hub have so small a share of the walks that a short training might pass them by."""
        n, leaves = 400, 300
        rng = np.random.default_rng(0)
        A = np.zeros((n + leaves, n + leaves))
        A[:n, :n] = np.triu(rng.random((n, n)) < 0.3, 1)
        A[0, n:] = 0.01
        graph = AttributedGraph(A + A.T)
        model = DeepWalk(dimensions=8, solver=SGNS(walk_length=5, walks_per_node=1, epochs=1))
        trained = model.fit(graph).embedding_
        # The start depends on the seed alone; so does that of a training that cannot move.
        start = model.configure(learning_rate=1e-30, min_learning_rate=0).fit(graph).embedding_
        assert start.any(axis=1).all()
        assert not np.any((trained == start).all(axis=1))


class TestHubs:
    def test_long_sums_do_not_pass_for_knowledge(self):
        """All nodes of a star have the same features: nothing is to be learnt, however many leaves there are."""
        leaves = 60_000
        hub = np.zeros(leaves, dtype=np.int64)
        graph = AttributedGraph(
            sp.coo_array((np.ones(leaves), (hub, np.arange(1, leaves + 1))), shape=(leaves + 1, leaves + 1)),
            np.tile([0.3, 1 / 3, 0.7], (leaves + 1, 1)),
            directed="symmetrize",
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", HopscaleWarning)
            assert not MUSAE(dimensions=8).fit(graph).embedding_.any()
