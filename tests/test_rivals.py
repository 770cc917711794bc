"""Each rival method against a small dense rendition of its own definition, and all against planted blocks."""

import tracemalloc

import numpy as np
import pytest
from hopscale.models.blocks import BlockEmbedding
from hopscale.models.parameters import seed_of
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from hopscale import (
    AANE,
    ASNE,
    BANE,
    FEATHER,
    HOPE,
    LINE,
    SINE,
    TADW,
    TENE,
    AttributedGraph,
    DeepWalk,
    GraRep,
    NetMF,
    Node2Vec,
    datasets,
    from_edges,
    load_model,
)
from hopscale.exceptions import GraphError, HopscaleWarning, NotInductiveError, ParameterError
from hopscale.models import MODELS
from hopscale.walks import WalkGraph
from reference import random_graph

pytestmark = pytest.mark.filterwarnings("ignore::hopscale.exceptions.HopscaleWarning")

RIVALS = {name: model for name, model in MODELS.items() if name not in ("AE", "MUSAE", "DeepWalk", "Walklets")}
BIASED = {"p": 0.5, "q": 2.0}  # else Node2Vec would be DeepWalk
BLOCKS = {name: model for name, model in RIVALS.items() if issubclass(model, BlockEmbedding)}
every_rival = pytest.mark.parametrize("name", RIVALS)

N, Q = 40, 24


def rival(name, *arguments, **parameters):
    return RIVALS[name](*arguments, **(BIASED if name == "Node2Vec" else {}) | parameters)


@pytest.fixture(scope="module")
def graph():
    return random_graph(N, Q, density=0.15, seed=3)


@pytest.fixture(scope="module", name="A")
def adjacency(graph):
    return dense(graph.adjacency)


@pytest.fixture(scope="module", name="F")
def features(graph):
    return dense(graph.features)


def dense(matrix):
    return matrix.toarray().astype(float)


def walk_matrix(A):
    return A / A.sum(axis=1, keepdims=True)


def positive(ratio):
    return np.log(np.maximum(ratio, 1.0))


def root(M):
    """(MMᵀ)^(1/2) = UΣUᵀ: what U√Σ times its transpose must be at full rank."""
    u, s, _ = np.linalg.svd(M)
    return (u * s) @ u.T


def gram(x):
    return x.astype(np.float64) @ x.astype(np.float64).T


class TestWalkMatrices:
    def test_netmf(self, graph, A):
        model = NetMF(N, window=4, shift=2.0).fit(graph)
        P, c = walk_matrix(A), A.sum()
        mean = sum(np.linalg.matrix_power(P, r) for r in range(1, 5)) / 4
        expected = positive(c * mean / A.sum(axis=0) / 2.0)
        np.testing.assert_allclose(model.embedding_ @ model.feature_embedding_.T, expected, atol=2e-3)
        np.testing.assert_allclose(gram(model.embedding_), root(expected), atol=2e-3)

    def test_netmf_is_deepwalk(self, graph):
        one, other = NetMF(16, window=3), DeepWalk(16, window=3)
        np.testing.assert_array_equal(one.fit_transform(graph), other.fit_transform(graph))

    def test_grarep(self, graph, A):
        model = GraRep(3 * N, window=3).fit(graph)
        P = walk_matrix(A)
        for k in (1, 2, 3):
            step = np.linalg.matrix_power(P, k)
            expected = positive(N * step / step.sum(axis=0))
            found = model.node_vectors(k) @ model.feature_vectors(k).T
            np.testing.assert_allclose(found, expected, atol=2e-4)

    def test_line(self, graph, A):
        d = A.sum(axis=0)
        M = positive(A.sum() * A / np.outer(d, d) / 2.0)
        model = LINE(2 * N, solver="pmi", shift=2.0).fit(graph)
        np.testing.assert_allclose(gram(model.node_vectors("second")), root(M), atol=5e-4)
        values, vectors = np.linalg.eigh(M)
        tied = (vectors * np.maximum(values, 0)) @ vectors.T
        np.testing.assert_allclose(gram(model.node_vectors("first")), tied, atol=5e-4)

    def test_trained_line_is_what_its_products_say(self, graph):
        """First order: the positive part of the trained product; second: the vectors themselves."""
        settings = {"walk_length": 20, "walks_per_node": 3, "epochs": 1}
        model = LINE(12, **settings).fit(graph)
        trained = DeepWalk(6, window=1, solver="sgns", noise_exponent=0.75, **settings).fit(graph)
        product = trained.embedding_.astype(float) @ trained.feature_embedding_.T
        values, vectors = np.linalg.eigh((product + product.T) / 2)
        best = np.argsort(-values)[:6]
        tied = (vectors[:, best] * np.maximum(values[best], 0)) @ vectors[:, best].T
        np.testing.assert_allclose(gram(model.node_vectors("first")), tied, atol=1e-4)
        other = DeepWalk(6, window=1, solver="sgns", noise_exponent=0.75, random_state=1, **settings)
        np.testing.assert_array_equal(model.node_vectors("second"), other.fit_transform(graph))

    @pytest.mark.parametrize("proximity", ["overlap", "common-neighbors", "adamic-adar", "katz"])
    def test_hope(self, graph, A, proximity):
        d = A.sum(axis=1)
        if proximity == "overlap":
            S = (A @ A) / np.sqrt(np.outer(d, d))
        elif proximity == "common-neighbors":
            S = A @ A
        elif proximity == "adamic-adar":
            S = A @ np.diag(np.where(d > 1, 1 / np.log(np.maximum(d, 1.0001)), 0)) @ A
        else:
            beta = 0.5 / np.linalg.eigvalsh(A)[-1]
            S = root(np.linalg.inv(np.eye(N) - beta * A) @ (beta * A))
        found = gram(HOPE(N, proximity=proximity).fit_transform(graph))
        np.testing.assert_allclose(found, S, atol=1e-3 * np.abs(S).max())

    def test_hope_with_rooted_pagerank(self, graph, A):
        S = 0.4 * np.linalg.inv(np.eye(N) - 0.6 * walk_matrix(A))
        walked = A.sum(axis=1) > 0
        found = gram(HOPE(N, proximity="rooted-pagerank", decay=0.6).fit_transform(graph))
        np.testing.assert_allclose(found, root(S) * np.outer(walked, walked), atol=1e-3)

    def test_bipartite_graphs_have_eigenvalues_of_both_signs(self):
        """λ and −λ have the same singular values: their vectors must not be mixed."""
        sides = np.random.default_rng(2).random((12, 12)) < 0.4
        A = np.block([[np.zeros((12, 12)), sides], [sides.T, np.zeros((12, 12))]]).astype(np.float32)
        np.fill_diagonal(A[:12, 12:], 1)
        np.fill_diagonal(A[12:, :12], 1)
        graph = AttributedGraph(A, np.eye(24, dtype=np.float32))
        d = A.sum(axis=0)
        values, vectors = np.linalg.eigh(positive(A.sum() * A / np.outer(d, d)))
        tied = (vectors * np.maximum(values, 0)) @ vectors.T
        np.testing.assert_allclose(gram(LINE(48, solver="pmi").fit(graph).node_vectors("first")), tied, atol=1e-3)
        beta = 0.5 / np.linalg.eigvalsh(A)[-1]
        S = root(np.linalg.inv(np.eye(24) - beta * A) @ (beta * A))
        np.testing.assert_allclose(gram(HOPE(24, proximity="katz").fit_transform(graph)), S, atol=1e-3)

    def test_katz_keeps_what_is_strong_in_katz(self, graph, A):
        beta = 0.9 / np.linalg.eigvalsh(A)[-1]
        values = np.linalg.eigvalsh(np.linalg.inv(np.eye(N) - beta * A) @ (beta * A))
        best = np.sort(np.abs(values))[::-1][:10]
        found = HOPE(10, proximity="katz", decay=0.9).fit_transform(graph)
        np.testing.assert_allclose(np.linalg.norm(found, axis=0) ** 2, best, rtol=5e-3)

    def test_one_hop_needs_no_more_than_the_edges(self):
        """A matrix of n columns in panels would take n²/16 bytes: 2.5 GB here."""
        n = 200_000
        ring = np.arange(n)
        graph = from_edges(np.column_stack([ring, (ring + 1) % n]))
        assert LINE(4, solver="pmi").fit_transform(graph).shape == (n, 4)


class TestAttributedMatrices:
    def test_tadw_solves_both_of_its_equations(self, graph, A, F):
        ridge = 0.3 / 2
        model = TADW(12, text_dimensions=10, regularization=0.3, iterations=400).fit(graph)
        scaled, Y = (model.node_vectors(block).astype(np.float64) for block in ("walks", "features"))
        P = walk_matrix(A)
        M = (P + P @ P) / 2
        W = M @ Y @ np.linalg.inv(Y.T @ Y + ridge * np.eye(6))
        length = np.linalg.norm(Y)
        np.testing.assert_allclose(scaled, W * length / np.linalg.norm(W), atol=1e-3 * length)
        # H through Y = T·Hᵀ, with T the leading coordinates of the tf-idf weighted features.
        u, s, _ = np.linalg.svd(F * (np.log((1 + N) / (1 + (F > 0).sum(axis=0))) + 1))
        T = u[:, :10] * s[:10]
        H = np.linalg.lstsq(T, Y, rcond=None)[0].T
        np.testing.assert_allclose(T @ H.T, Y, atol=1e-4)  # nothing outside what the features span
        left = (W.T @ W) @ H @ (T.T @ T) + ridge * H
        np.testing.assert_allclose(left, W.T @ M @ T, atol=2e-3 * np.abs(left).max())

    def test_aane_row_by_row(self, graph, A, F):
        smoothness, penalty, iterations, d = 0.3, 2.0, 3, 8
        unit = F / np.maximum(np.linalg.norm(F, axis=1, keepdims=True), 1e-12)
        S = unit @ unit.T
        u, s, _ = np.linalg.svd(unit)
        start = u[:, :d] * s[:d]

        def update(x, y, near):
            out = np.empty_like(x)
            for i in range(N):
                weights = np.zeros(N)
                for j in np.flatnonzero(A[i]):
                    distance = np.linalg.norm(x[i] - y[j])
                    weights[j] = smoothness * A[i, j] / distance if distance else 0.0
                left = 2 * y.T @ y + (weights.sum() + penalty) * np.eye(d)
                out[i] = np.linalg.solve(left, 2 * y.T @ S[i] + weights @ y + penalty * near[i])
            return out

        H, Z, U = start, start.copy(), np.zeros_like(start)
        for _ in range(iterations):
            H = update(H, Z, Z - U)
            Z = update(Z, H, H + U)
            U = U + H - Z
        found = AANE(d, smoothness=smoothness, penalty=penalty, iterations=iterations).fit_transform(graph)
        np.testing.assert_allclose(gram(found), H @ H.T, atol=2e-3)  # up to the signs of the start

    def test_bane_cannot_be_improved_column_by_column(self, graph, A, F):
        found = BANE(8, window=2, strength=0.6, regularization=0.1, iterations=200).fit_transform(graph)
        assert set(np.unique(found)) == {-1.0, 1.0}
        B = found.astype(np.float64)
        closed = A + np.eye(N)
        scale = 1 / np.sqrt(closed.sum(axis=1))
        step = 0.4 * np.eye(N) + 0.6 * closed * np.outer(scale, scale)
        M = step @ step @ F
        Z = np.linalg.solve(B.T @ B + 0.1 * np.eye(8), B.T @ M).T

        def loss(B):
            return ((M - B @ Z.T) ** 2).sum()

        for k in range(8):
            rest = M - np.delete(B, k, 1) @ np.delete(Z, k, 1).T
            best = np.where(rest @ Z[:, k] >= 0, 1.0, -1.0)
            changed = B.copy()
            changed[:, k] = best
            assert loss(B) <= loss(changed) + 1e-6

    def test_tene_by_its_updates(self, graph, A, F):
        a, b, iterations, k = 0.4, 0.3, 7, 5
        random = np.random.default_rng(0)
        X, U, H = (random.random((N, k), dtype=np.float32).astype(float) for _ in range(3))
        V = random.random((Q, k), dtype=np.float32).astype(float)
        C = random.random((k, k), dtype=np.float32).astype(float)
        P = walk_matrix(A)
        M = (P + P @ P) / 2

        def loss():
            return ((M - X @ U.T) ** 2).sum() + a * ((H - X @ C) ** 2).sum() + b * ((F - H @ V.T) ** 2).sum()

        losses = [loss()]
        for _ in range(iterations):
            X = X * (M @ U + a * H @ C.T) / (X @ U.T @ U + a * X @ C @ C.T)
            U = U * (M.T @ X) / (U @ X.T @ X)
            C = C * (X.T @ H) / (X.T @ X @ C)
            H = H * (a * X @ C + b * F @ V) / (a * H + b * H @ V.T @ V)
            V = V * (F.T @ H) / np.maximum(V @ H.T @ H, 1e-12)
            losses.append(loss())
        assert np.all(np.diff(losses) < 0)
        model = TENE(2 * k, agreement=a, text_weight=b, iterations=iterations).fit(graph)
        H = H * np.linalg.norm(V, axis=0)
        np.testing.assert_allclose(model.node_vectors("features"), H, rtol=2e-3, atol=1e-5)
        scaled = X * np.linalg.norm(H) / np.linalg.norm(X)
        np.testing.assert_allclose(model.node_vectors("walks"), scaled, rtol=2e-3, atol=1e-5)

    def test_sine(self, graph, A, F):
        P, c = walk_matrix(A), A.sum()
        nodes = positive(c * (P + P @ P) / 2 / A.sum(axis=0) / 1.5)
        expected = np.outer(F.sum(axis=1), F.sum(axis=0)) * 1.5
        features = positive(np.divide(F.sum() * F, expected, out=np.zeros_like(F), where=expected > 0))
        found = SINE(N, window=2, shift=1.5).fit_transform(graph)
        np.testing.assert_allclose(gram(found), root(np.hstack([nodes, features])), atol=1e-3)

    def test_asne_alternates_between_exact_minima(self, graph, A, F):
        d = A.sum(axis=0)
        M = positive(A.sum() * A / np.outer(d, d))
        T = np.linalg.svd(F)[0][:, :6]
        k, rest = 4, M
        for _ in range(2):
            u, s, vt = np.linalg.svd(T.T @ rest)
            attributes = T @ (u[:, :k] * s[:k])
            u2, s2, vt2 = np.linalg.svd(M - attributes @ vt[:k])
            identity = u2[:, :k] * s2[:k]
            rest = M - identity @ vt2[:k]
        model = ASNE(2 * k, feature_dimensions=6, iterations=2, attribute_weight=2.0).fit(graph)
        expected = gram(u2[:, :k] * np.sqrt(s2[:k]))
        np.testing.assert_allclose(gram(model.node_vectors("identity")), expected, atol=0.02 * np.abs(expected).max())
        expected = 4.0 * gram(T @ (u[:, :k] * np.sqrt(s[:k])))
        np.testing.assert_allclose(gram(model.node_vectors("features")), expected, atol=0.02 * np.abs(expected).max())

    def test_feather(self, graph, A, F):
        u, s, _ = np.linalg.svd(F)
        x, P = u[:, :5] * s[:5], walk_matrix(A)
        columns = []
        for hop in (1, 2):
            step = np.linalg.matrix_power(P, hop)
            for theta in (0.5, 1.0, 1.5, 2.0):
                columns += [step @ np.cos(theta * x), step @ np.sin(theta * x)]
        C = np.hstack(columns)
        C -= C.mean(axis=0)
        model = FEATHER(N, feature_dimensions=5, points=4, largest_point=2.0, window=2)
        # Products of sines do not hang on the sign of a singular vector.
        np.testing.assert_allclose(gram(model.fit_transform(graph)), C @ C.T, atol=1e-3 * np.abs(C @ C.T).max())

    def test_feather_refuses_what_does_not_fit(self, graph):
        with pytest.raises(ParameterError, match=r"FEATHER would take about .* for 40 nodes.*raise it.*points"):
            FEATHER(8, memory_limit="900KB").fit(graph)

    def test_sine_estimates_what_would_take_too_long(self, monkeypatch):
        graph = datasets.planted_blocks(n_nodes=300)
        exact = SINE(8, window=3).fit_transform(graph)
        monkeypatch.setattr("hopscale.solvers.pmi.EXACT_WORK", 0)
        with pytest.warns(HopscaleWarning, match="estimated from 800 walks"):
            sampled = SINE(8, window=3).fit_transform(graph)
        assert np.corrcoef(gram(exact).ravel(), gram(sampled).ravel())[0, 1] > 0.9
        np.testing.assert_array_equal(
            SINE(8, window=1, n_jobs=1).fit_transform(graph), SINE(8, window=1).fit_transform(graph)
        )

    def test_sine_refuses_what_does_not_fit(self):
        graph = datasets.erdos_renyi(4000, 8, 4, 50)
        with pytest.raises(ParameterError, match=r"about [0-9,]+ MiB.*memory_limit.*smaller window"):
            SINE(8, memory_limit="3MB").fit(graph)
        assert SINE(8, window=1, memory_limit="3MB").fit_transform(graph).shape == (4000, 8)  # as sparse as the graph


class TestSecondOrderWalks:
    P, Q = 0.5, 4.0

    @pytest.mark.parametrize("weighted", [False, True])
    def test_steps_by_chi_square(self, weighted):
        rng = np.random.default_rng(8)
        upper = np.triu(rng.random((12, 12)) < 0.4, 1) * (rng.integers(1, 5, (12, 12)) if weighted else 1)
        A = (upper + upper.T).astype(np.float32)
        A[0, 1] = A[1, 0] = 1  # an edge to start along
        graph = AttributedGraph(A, np.eye(12, dtype=np.float32))
        walks = WalkGraph.of(graph.adjacency, back=1 / self.P, away=1 / self.Q)
        starts = np.flatnonzero(A.sum(axis=1) > 0).astype(np.int32)
        steps = walks.sample(starts, 40_000, 2, 1)
        for i, t in enumerate(starts):
            for v in np.flatnonzero(A[t]):
                come = steps[i][steps[i][:, 0] == v, 1]
                weight = np.array(
                    [A[v, x] * (1 / self.P if x == t else 1 if A[t, x] else 1 / self.Q) for x in range(12)]
                )
                expected = weight / weight.sum() * len(come)
                observed = np.bincount(come, minlength=12)
                assert not observed[expected == 0].any()
                seen = expected > 0
                statistic = ((observed - expected)[seen] ** 2 / expected[seen]).sum()
                freedom = seen.sum() - 1
                assert statistic < freedom + 6 * np.sqrt(2 * freedom) + 8, (t, v)

    @pytest.mark.parametrize("weighted", [False, True])
    def test_extreme_biases_end_and_are_right(self, weighted):
        """A star whose centre was left: 999 of 1000 tries would be in vain, so all edges are looked at."""
        n = 12
        A = np.zeros((n, n), dtype=np.float32)
        A[0, 1:] = np.arange(1, n) if weighted else 1
        A += A.T
        walks = WalkGraph.of(AttributedGraph(A, np.eye(n, dtype=np.float32)).adjacency, back=1e3, away=1e-3)
        steps = walks.sample(np.array([3], dtype=np.int32), 20_000, 2, 1)[0]
        assert (steps[:, 0] == 0).all()
        back = np.mean(steps[:, 1] == 3)
        weights = np.where(np.arange(1, n) == 3, 1e3, 1e-3) * A[0, 1:]
        assert back > weights[2] / weights.sum() - 1e-3
        onward = WalkGraph.of(AttributedGraph(A, np.eye(n, dtype=np.float32)).adjacency, back=1e-3, away=1.0)
        steps = onward.sample(np.array([0], dtype=np.int32), 20_000, 2, 1)[0]
        assert (steps[:, 1] == 0).all()  # a leaf has no other way

    @pytest.mark.parametrize("name", ["p", "q"])
    @pytest.mark.parametrize("value", [0, -1, 1e-4, 1e4, np.inf, np.nan])
    def test_biases_out_of_bounds(self, name, value):
        with pytest.raises(ParameterError, match=rf"^{name} must be a number of at least 0.001"):
            Node2Vec(**{name: value}).check_parameters()

    @pytest.mark.parametrize("solver", ["pmi", "sgns"])
    def test_without_a_bias_it_is_deepwalk(self, graph, solver):
        settings = {"solver": solver, "window": 3, "walk_length": 8, "walks_per_node": 2, "epochs": 1}
        one, other = Node2Vec(16, **settings), DeepWalk(16, **settings)
        np.testing.assert_array_equal(one.fit_transform(graph), other.fit_transform(graph))

    def test_sampled_rows_tend_to_the_chain_on_edges(self, graph, A):
        """p(x | v) over walks that come from a neighbour, two hops on, against the chain on pairs of nodes."""
        p, q = 0.25, 2.0
        here = np.zeros((N, N, N))  # of walks past v: the last node, and where they are
        for v, t in zip(*np.nonzero(A), strict=True):
            here[v, t, v] = A[v, t] / A[v].sum()
        mean = np.zeros_like(A)
        for _ in range(2):
            there = np.zeros_like(here)
            for t, x in zip(*np.nonzero(A), strict=True):
                weight = A[x] * np.where(A[t] > 0, 1.0, 1 / q)
                weight[t] = A[x, t] / p
                there[:, x] += here[:, t, x, None] * weight / weight.sum()
            here = there
            mean += here.sum(axis=1) / 2
        d = A.sum(axis=0)
        expected = positive(A.sum() * mean / d)
        model = Node2Vec(N, window=2, p=p, q=q, walk_length=100, walks_per_node=200).fit(graph)
        found = model.embedding_ @ model.feature_embedding_.T
        assert np.abs(found - expected).max() < 0.15
        assert np.abs(found - expected).mean() < 0.02


@pytest.mark.parametrize("name", sorted(set(BLOCKS) - {"SINE", "FEATHER"}))  # tested with their matrices
def test_memory_is_told_before_it_is_taken(name):
    """Enough for the estimate is enough for the work; less is refused before anything is done."""
    graph = datasets.erdos_renyi(6000, 8, 8, 500)
    model = rival(name, 32, n_jobs=1, memory_limit="1GiB")
    tracemalloc.start()
    try:
        model.fit(graph)
        taken = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    told = model._bytes_needed(graph)
    assert 0.9 * taken < told < 2.0 * taken
    model.set_params(memory_limit=int(0.99 * told))
    with pytest.raises(ParameterError, match=rf"{name} would take about .* for 6,000 nodes.*fewer than 32 dim"):
        model.fit(graph)


@every_rival
class TestContract:
    def test_planted_blocks_are_found(self, name):
        graph = datasets.planted_blocks(n_nodes=300)
        vectors = rival(name, 16).fit_transform(graph)
        learner = LogisticRegression(max_iter=1000).fit(vectors[::2], graph.labels[::2])
        score = learner.score(vectors[1::2], graph.labels[1::2])
        assert score > 0.8  # four blocks: a guess is right a quarter of the time

    def test_the_same_bits_for_any_number_of_threads(self, name):
        graph = datasets.erdos_renyi(4500, 4, 4, 200)  # several chunks of rows, whatever the step
        one, two, five = (rival(name, 12, n_jobs=jobs).fit_transform(graph) for jobs in (1, 2, 5))
        assert one.tobytes() == two.tobytes() == five.tobytes()

    def test_isolated_nodes_and_nodes_without_features(self, name):
        """A node of which nothing is known has a zero vector; the others keep what they can be told by."""
        graph = datasets.planted_blocks(n_nodes=60)
        A, F = dense(graph.adjacency), dense(graph.features)
        A[7] = A[:, 7] = 0
        F[7] = F[9] = 0
        vectors = rival(name, 8).fit_transform(AttributedGraph(A.astype(np.float32), F.astype(np.float32)))
        if name == "BANE":
            assert set(np.unique(np.delete(vectors, 7, 0))) == {-1.0, 1.0}
            assert not vectors[7].any()
        else:
            assert np.abs(vectors[7]).max() < 1e-4 * np.abs(vectors).max()
            assert np.abs(vectors[9]).max() > 1e-4 * np.abs(vectors).max() or not vectors[9].any()

    def test_weights_matter_and_scale_does_not(self, name):
        graph = datasets.planted_blocks(n_nodes=60)
        A = dense(graph.adjacency).astype(np.float32)
        heavy = A * (1 + 9 * (np.add.outer(np.arange(60), np.arange(60)) % 3 == 0))
        features = dense(graph.features).astype(np.float32)
        plain, weighted = (rival(name, 8).fit_transform(AttributedGraph(m, features)) for m in (A, heavy))
        change = np.abs(gram(plain) - gram(weighted)).mean() / np.abs(gram(plain)).mean()
        assert change > 1e-3
        if name not in ("AANE", "BANE"):  # whose A is weighed against something else: attributes, a loop
            again = rival(name, 8).fit_transform(AttributedGraph(8 * A, features))
            np.testing.assert_allclose(
                gram(again) / np.abs(gram(again)).max(), gram(plain) / np.abs(gram(plain)).max(), atol=1e-3
            )

    @pytest.mark.filterwarnings("default::hopscale.exceptions.HopscaleWarning")
    def test_more_dimensions_than_rank(self, name):
        if name in ("BANE", "TENE", "TADW"):  # which fill them: with signs, non-negative numbers, regularised ones
            vectors = rival(name, 64).fit_transform(datasets.planted_blocks(n_nodes=20))
            assert vectors.any(axis=0).all()
            assert len(np.unique(vectors, axis=1).T) > 40
            return
        with pytest.warns(HopscaleWarning, match="dimensions are zero"):
            vectors = rival(name, 64).fit_transform(datasets.planted_blocks(n_nodes=20))
        assert vectors.shape == (20, 64)
        assert (~vectors.any(axis=0)).any()

    def test_no_edges(self, name):
        with pytest.raises(GraphError, match="no edges"):
            rival(name, 4).fit(AttributedGraph(np.zeros((3, 3), np.float32), np.eye(3, dtype=np.float32)))

    def test_init_only_stores(self, name):
        nonsense = dict.fromkeys(RIVALS[name]().get_params(), "nonsense")
        stored = RIVALS[name](**nonsense)
        assert stored.get_params() == nonsense
        assert vars(stored) == nonsense
        assert clone(stored).get_params() == nonsense

    def test_every_wrong_parameter_is_named(self, name):
        for parameter in set(RIVALS[name]().get_params()) - {"verbose", "share_negatives"}:  # switches
            with pytest.raises((ParameterError, ValueError), match=rf"\b{parameter}\b"):
                RIVALS[name](**{parameter: "nonsense"}).check_parameters()

    def test_not_inductive(self, name):
        graph = datasets.planted_blocks(n_nodes=60)
        with pytest.raises(NotInductiveError, match="AE and MUSAE"):
            rival(name, 8).fit(graph).transform(graph)

    def test_saved_and_loaded(self, name, tmp_path):
        model = rival(name, 8).fit(datasets.planted_blocks(n_nodes=60))
        model.save(tmp_path / "model.safetensors")
        again = load_model(tmp_path / "model.safetensors")
        assert type(again) is type(model)
        assert again.get_params() == model.get_params()
        assert again.embedding_.tobytes() == model.embedding_.tobytes()
        assert again.scale_columns_ == model.scale_columns_
        assert again.neighbors(3, k=5) == model.neighbors(3, k=5)
        assert len(model.get_feature_names_out()) == 8

    def test_traits_are_true(self, name):
        """Whether a model reads features shows when they change."""
        graph = datasets.planted_blocks(n_nodes=60)
        other = AttributedGraph(graph.adjacency, dense(graph.features)[::-1].astype(np.float32))
        same = np.array_equal(rival(name, 8).fit_transform(graph), rival(name, 8).fit_transform(other))
        traits = RIVALS[name].traits
        assert same is not traits.uses_features
        assert traits.multi_scale is (len(rival(name, 8).fit(graph).scale_columns_) > 1 and not traits.uses_features)
        assert not traits.inductive


@pytest.mark.parametrize("name", BLOCKS)
class TestBlocks:
    def test_too_many_dimensions(self, name):
        with pytest.raises(ParameterError, match="dimensions must be a whole number from 1 to 1016"):
            BLOCKS[name](1018).check_parameters()

    def test_a_random_state_is_drawn_from_once(self, name):
        graph, state = datasets.planted_blocks(n_nodes=60), np.random.RandomState(3)
        BLOCKS[name](8, random_state=state).fit(graph)
        other = np.random.RandomState(3)
        seed_of(other)
        assert state.randint(1 << 30) == other.randint(1 << 30)

    def test_features_get_no_vectors(self, name):
        model = BLOCKS[name](8).fit(datasets.planted_blocks(n_nodes=60))
        for question in (
            model.feature_vectors,
            lambda: model.explain(3),
            lambda: model.export("x.csv", what="features"),
        ):
            with pytest.raises(ParameterError, match=f"{name} learns no vectors of features"):
                question()

    def test_no_features(self, name):
        graph = datasets.planted_blocks(n_nodes=60)
        bare = AttributedGraph(graph.adjacency, np.zeros((60, 3), np.float32))
        if BLOCKS[name].traits.uses_features:
            with pytest.raises(GraphError, match=f"{name} learns from them"):
                BLOCKS[name](8).fit(bare)
        else:
            assert BLOCKS[name](8).fit_transform(bare).any()
