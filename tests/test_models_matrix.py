"""Each model of matrices against a small dense rendition of its own definition."""

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp

from hopscale import (
    AANE,
    ASNE,
    BANE,
    FEATHER,
    HOPE,
    LINE,
    PMI,
    SGNS,
    SINE,
    TADW,
    TENE,
    AttributedGraph,
    DeepWalk,
    FeatureDiffusion,
    datasets,
    from_edges,
    load_model,
)
from hopscale.checks import seed_of
from hopscale.compute import Threads
from hopscale.compute.operators import Series
from hopscale.exceptions import GraphError, HopscaleWarning, ParameterError
from hopscale.models import MODELS
from hopscale.models.matrix.base import MatrixEmbedding
from hopscale.walks import Transitions
from reference import gram, positive, random_graph, root, transition

pytestmark = pytest.mark.filterwarnings("ignore::hopscale.exceptions.HopscaleWarning")

OF_MATRICES = {
    name: model
    for name, model in MODELS.items()
    if issubclass(model, MatrixEmbedding) and model.__module__.startswith("hopscale.")
}

N, Q = 40, 24


@pytest.fixture(scope="module")
def graph():
    return random_graph(N, Q, density=0.15, seed=3)


@pytest.fixture(scope="module", name="A")
def adjacency(graph):
    return graph.adjacency.toarray().astype(float)


@pytest.fixture(scope="module", name="F")
def features(graph):
    return graph.features.toarray().astype(float)


def diffused(graph, teleport):
    """α·(I − (1 − α)Ŝ)⁻¹·F̂: rows of unit length, spread over edges and loops of the mean weight."""
    A, F = graph.adjacency.toarray().astype(float), graph.features.toarray().astype(float)
    closed = A + np.eye(len(A)) * (A[A > 0].mean() if A.any() else 1.0)
    scale = 1 / np.sqrt(closed.sum(axis=1))
    S = closed * np.outer(scale, scale)
    unit = F / np.maximum(np.linalg.norm(F, axis=1, keepdims=True), 1e-12)
    return teleport * np.linalg.inv(np.eye(len(A)) - (1 - teleport) * S) @ unit


class TestProximities:
    def test_line(self, graph, A):
        d = A.sum(axis=0)
        M = positive(A.sum() * A / np.outer(d, d) / 2.0)
        model = LINE(2 * N, solver=PMI(shift=2.0)).fit(graph)
        np.testing.assert_allclose(gram(model.node_vectors("second")), root(M), atol=5e-4)
        values, vectors = np.linalg.eigh(M)
        tied = (vectors * np.maximum(values, 0)) @ vectors.T
        np.testing.assert_allclose(gram(model.node_vectors("first")), tied, atol=5e-4)

    def test_trained_line_is_what_its_products_say(self, graph):
        """First order: the positive part of the trained product; second: the vectors themselves."""
        solver = SGNS(walk_length=20, walks_per_node=3, epochs=1, noise_exponent=0.75)
        model = LINE(12, solver="sgns").configure(walk_length=20, walks_per_node=3).fit(graph)
        trained = DeepWalk(6, window=1, solver=solver).fit(graph)
        product = trained.embedding_.astype(float) @ trained.feature_embedding_.T
        values, vectors = np.linalg.eigh((product + product.T) / 2)
        best = np.argsort(-values)[:6]
        tied = (vectors[:, best] * np.maximum(values[best], 0)) @ vectors[:, best].T
        np.testing.assert_allclose(gram(model.node_vectors("first")), tied, atol=1e-4)
        other = DeepWalk(6, window=1, solver=solver, random_state=1)
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

    @pytest.mark.parametrize("decay", [0.6, 0.99, 0.9999])
    def test_hope_with_rooted_pagerank(self, graph, A, decay):
        S = (1 - decay) * np.linalg.inv(np.eye(N) - decay * transition(A))
        walked = A.sum(axis=1) > 0
        found = gram(HOPE(N, proximity="rooted-pagerank", decay=decay).fit_transform(graph))
        np.testing.assert_allclose(found, root(S) * np.outer(walked, walked), atol=1e-3)

    def test_rooted_pagerank_takes_terms_like_the_root_of_the_length_of_its_walks(self, graph):
        with Threads(1) as engine:
            step = engine.sparse(Transitions(graph.adjacency).matrix())
            assert [Series(step, decay).terms for decay in (0.5, 0.99, 0.9999)] == [20, 98, 977]
        with pytest.raises(ParameterError, match=r"decay must be at most 0.9999 with proximity='rooted-pagerank'"):
            HOPE(8, proximity="rooted-pagerank", decay=0.99991).fit(graph)

    def test_bane_spreads_features_over_any_number_of_steps(self, graph):
        assert np.abs(BANE(8, window=1000).fit_transform(graph)).max() == 1

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
        P = transition(A)
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
        P = transition(A)
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
        P, c = transition(A), A.sum()
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

    def test_asne_leaves_no_rounding_to_identities_where_features_tell_all(self, graph):
        own = AttributedGraph(graph.adjacency, np.eye(N, dtype=np.float32))
        model = ASNE(2 * N, feature_dimensions=N).fit(own)
        assert model.node_vectors("features").any()
        assert not model.node_vectors("identity").any()

    def test_feather_of_a_feature_that_all_nodes_have_is_zero(self):
        graph = random_graph(300, 1, density=0.1, isolated=4, seed=5)
        same = AttributedGraph(graph.adjacency, np.full((300, 1), 0.7, np.float32))
        assert not FEATHER(8).fit_transform(same).any()

    @pytest.mark.parametrize("teleport", [0.1, 0.5])
    def test_feature_diffusion(self, teleport):
        graph = random_graph(N, Q, density=0.15, weighted=True, values=True, isolated=3, seed=3)
        M = diffused(graph, teleport)
        model = FeatureDiffusion(Q, teleport=teleport).fit(graph)
        expected = M @ M.T * 4 * N / (M**2).sum()  # a mean squared length of 4
        np.testing.assert_allclose(gram(model.embedding_), expected, atol=1e-4)
        best = np.linalg.svd(M)[1][:8]
        found = np.linalg.norm(FeatureDiffusion(8, teleport=teleport).fit_transform(graph), axis=0)
        np.testing.assert_allclose(found, best * 2 * np.sqrt(N) / np.linalg.norm(best), rtol=5e-3)

    def test_feature_diffusion_places_other_graphs_by_the_features_that_it_knows(self):
        graph = random_graph(N, Q, density=0.15, seed=3)
        model = FeatureDiffusion(Q).fit(graph)
        other = random_graph(30, Q + 5, density=0.2, weighted=True, isolated=2, seed=4)  # five features are unknown
        with pytest.warns(HopscaleWarning, match=r"5 feature\(s\)"):
            found = model.transform(other)
        known = AttributedGraph(other.adjacency, other.features[:, :Q])
        np.testing.assert_allclose(found, diffused(known, 0.1) @ model.directions_, atol=1e-4)
        own = AttributedGraph(sp.csr_array((30, 30)), known.features)
        np.testing.assert_allclose(model.transform(own), diffused(own, 0.1) @ model.directions_, atol=1e-4)

    def test_feature_diffusion_from_a_file(self, graph, tmp_path):
        model = FeatureDiffusion(8, keep_graph=True).fit(graph)
        model.save(tmp_path / "m.safetensors")
        again = load_model(tmp_path / "m.safetensors")
        assert again.transform(graph).tobytes() == model.transform(graph).tobytes()
        edges, features = [("new", 0), ("new", 5)], {"new": [graph.feature_names[3].item()]}
        ids, vectors = again.extend(edges, features)
        assert ids.tolist() == ["new"]
        assert vectors.any()
        with pytest.raises(ParameterError, match="no vectors of features"):
            again.explain(0)

    def test_feather(self, graph, A, F):
        u, s, _ = np.linalg.svd(F)
        x, P = u[:, :5] * s[:5], transition(A)
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

    def test_feather_is_centred_over_the_nodes_that_walks_leave(self):
        """Else the first component would be the mean; isolated nodes count neither for it nor against it."""
        graph = random_graph(N, Q, density=0.15, isolated=6, seed=3)
        A, F = graph.adjacency.toarray().astype(float), graph.features.toarray().astype(float)
        walked = A.sum(axis=1) > 0
        u, s, _ = np.linalg.svd(F)
        x = u[:, :5] * s[:5]
        met = transition(A) @ np.hstack([np.cos(x), np.sin(x)])
        C = np.where(walked[:, None], met - met[walked].mean(axis=0), 0.0)
        model = FEATHER(8, feature_dimensions=5, points=1, largest_point=1.0, window=1).fit(graph)
        assert not model.embedding_[~walked].any()
        mean = model.embedding_[walked].mean(axis=0, dtype=float)
        assert np.abs(mean).max() < 1e-5 * np.abs(model.embedding_).max()
        best = np.linalg.svd(C, compute_uv=False)[:8]
        np.testing.assert_allclose(np.linalg.norm(model.embedding_, axis=0), best, rtol=0.02)

    def test_feather_refuses_what_does_not_fit(self, graph):
        with pytest.raises(ParameterError, match=r"FEATHER on 40 nodes needs at least .* MiB.*raise it.*points"):
            FEATHER(8, memory_limit="300KB").fit(graph)

    def test_sine_estimates_what_would_take_too_long(self, monkeypatch):
        graph = datasets.planted_blocks(n_nodes=300)
        exact = SINE(8, window=3).fit_transform(graph)
        monkeypatch.setattr("hopscale.solvers.forms.EXACT_WORK", 0)
        with pytest.warns(HopscaleWarning, match="estimated from 800 walks"):
            sampled = SINE(8, window=3).fit_transform(graph)
        assert np.corrcoef(gram(exact).ravel(), gram(sampled).ravel())[0, 1] > 0.9
        np.testing.assert_array_equal(
            SINE(8, window=1, n_jobs=1).fit_transform(graph), SINE(8, window=1).fit_transform(graph)
        )

    def test_sine_refuses_what_does_not_fit(self):
        graph = datasets.erdos_renyi(4000, 8, 4, 50)
        with pytest.raises(ParameterError, match=r"needs at least [0-9]+ MiB.*memory_limit.*smaller window"):
            SINE(8, memory_limit="3MB").fit(graph)
        assert SINE(8, window=1, memory_limit="3MB").fit_transform(graph).shape == (4000, 8)  # as sparse as the graph


@pytest.mark.parametrize("name", sorted(set(OF_MATRICES) - {"SINE", "FEATHER"}))  # tested with their matrices
@pytest.mark.parametrize("shape", [(6000, 8, 8, 500), (1500, 400, 8, 500)], ids=["nodes", "edges"])
def test_memory_is_told_before_it_is_taken(name, shape):
    """Enough for the estimate is enough for the work; less is refused before anything is done."""
    graph = datasets.erdos_renyi(*shape)
    model = OF_MATRICES[name](32, n_jobs=1, memory_limit="1GiB")
    tracemalloc.start()
    try:
        model.fit(graph)
        taken = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    told = model._bytes_needed(graph)
    trained = name == "LINE" and shape[1] > 100  # in memory that is not Python's
    assert 0.9 * taken < told < (20.0 if trained else 2.0) * taken
    model.set_params(memory_limit=int(0.99 * told))
    with pytest.raises(ParameterError, match=rf"{name} on {shape[0]:,} nodes needs at least .*fewer than 32 dim"):
        model.fit(graph)


@pytest.mark.parametrize("name", OF_MATRICES)
class TestAllOfThem:
    def test_too_many_dimensions(self, name):
        least = 2 if name in ("ASNE", "LINE", "TADW", "TENE") else 1  # half of them for either block
        with pytest.raises(ParameterError, match=f"dimensions must be a whole number from {least} to 1016"):
            OF_MATRICES[name](1018).check_parameters()

    def test_more_dimensions_than_nodes(self, name):
        graph = random_graph(9, 6, density=0.3, isolated=1, seed=2)
        model = OF_MATRICES[name](64).fit(graph)
        assert model.embedding_.shape == (9, 64)
        assert np.isfinite(model.embedding_).all()
        assert all(model.embedding_[:, columns].any() for columns in model.scale_columns_.values())

    def test_a_random_state_is_drawn_from_once(self, name):
        graph, state = datasets.planted_blocks(n_nodes=60), np.random.RandomState(3)
        OF_MATRICES[name](8, random_state=state).fit(graph)
        other = np.random.RandomState(3)
        seed_of(other)
        assert state.randint(1 << 30) == other.randint(1 << 30)

    def test_features_get_no_vectors(self, name):
        model = OF_MATRICES[name](8).fit(datasets.planted_blocks(n_nodes=60))
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
        if OF_MATRICES[name]().uses_features:
            with pytest.raises(GraphError, match=f"{name} learns from them"):
                OF_MATRICES[name](8).fit(bare)
        else:
            assert OF_MATRICES[name](8).fit_transform(bare).any()
