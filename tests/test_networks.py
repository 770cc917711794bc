"""Networks: against dense renditions in NumPy and PyTorch Geometric's layers, on graphs with known answers."""

from __future__ import annotations

import pickle
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from hopscale import AE, AttributedGraph, supervised
from hopscale.datasets import planted_blocks
from hopscale.exceptions import DivergenceError, GraphError, NotInductiveError, ParameterError
from hopscale.supervised.networks import propagation

torch = pytest.importorskip("torch")

NETWORKS = ["GCN", "GraphSAGE", "GAT", "MixHop", "ClusterGCN", "APPNP", "SGC", "SIGN"]


def network(name, **settings):
    return supervised.SUPERVISED[name](**{"epochs": 3, "n_jobs": 1, "device": "cpu", **settings})


@pytest.fixture(params=NETWORKS)
def name(request):
    return request.param


@pytest.fixture(scope="module")
def blocks():
    return planted_blocks(n_nodes=200)


@pytest.fixture(scope="module")
def small():
    """A graph of 30 nodes with weights, a self-loop, a node without edges and one without features."""
    random = np.random.default_rng(5)
    A = np.triu(random.random((30, 30)) < 0.2, 1) * random.uniform(0.5, 2.0, (30, 30))
    A[3, 3], A[:, 7], A[7] = 1.5, 0, 0
    F = (random.random((30, 12)) < 0.3) * random.uniform(0.5, 2.0, (30, 12))
    F[4] = 0
    return AttributedGraph(A + np.triu(A, 1).T, F, labels=np.arange(30) % 3, self_loops=True)


# The definitions, with dense matrices. W(i) is the weight of the i-th layer of that kind.


def with_loops(A):
    return A + np.diag(A.diagonal() == 0)


def normal(A):
    scale = np.divide(1, np.sqrt(A.sum(1)), out=np.zeros(len(A)), where=A.sum(1) > 0)
    return scale[:, None] * A * scale


def positive(x):
    return np.maximum(x, 0)


def dense_gcn(A, F, W, b, *_):
    S = normal(with_loops(A))
    return S @ positive(S @ F @ W[0] + b[0]) @ W[1] + b[1]


def dense_sage(A, F, W, b, *_):
    M = A + np.eye(len(A))
    M /= M.sum(1, keepdims=True)
    return M @ positive(M @ F @ W[0] + b[0]) @ W[1] + b[1]


def dense_gat(A, F, W, b, *_):
    def attended(x, u, v):
        raw = x @ u + (x @ v).T
        weights = with_loops(A) * np.exp(np.where(raw > 0, raw, 0.2 * raw))
        return weights / weights.sum(1, keepdims=True) @ x

    x = attended(F @ W[0], W[1], W[2]) + b[0]
    return attended(np.where(x > 0, x, np.exp(x) - 1) @ W[3], W[4], W[5]) + b[1]


def dense_mixhop(A, F, W, b, *_):
    S = normal(with_loops(A))
    V = np.split(W[0], 3, axis=1)
    return positive(np.hstack([F @ V[0], S @ F @ V[1], S @ S @ F @ V[2]]) + b[0]) @ W[1] + b[1]


def dense_appnp(A, F, W, b, *_):
    S, n = normal(with_loops(A)), len(A)
    Z = positive(F @ W[0] + b[0]) @ W[1] + b[1]
    powers = [np.linalg.matrix_power(0.8 * S, k) for k in range(21)]
    return (0.2 * sum(powers[:20], np.zeros((n, n))) + powers[20]) @ Z


def dense_sgc(A, F, W, b, *_):
    S = normal(with_loops(A))
    return S @ S @ F @ W[0] + b[0]


def dense_sign(A, F, W, b, *_):
    S, pattern = normal(with_loops(A)), ((A > 0) & ~np.eye(len(A), dtype=bool)).astype(float)
    T = normal(with_loops(pattern * (pattern @ pattern)))
    V = np.split(W[0], 4, axis=1)
    return positive(np.hstack([F @ V[0], S @ F @ V[1], S @ S @ F @ V[2], T @ F @ V[3]]) + b[0]) @ W[1] + b[1]


DENSE = {
    "GCN": dense_gcn, "ClusterGCN": dense_gcn, "GraphSAGE": dense_sage, "GAT": dense_gat, "MixHop": dense_mixhop,
    "APPNP": dense_appnp, "SGC": dense_sgc, "SIGN": dense_sign,
}  # fmt: skip


def weights_of(model):
    """Matrices and biases of the layers, in the order of the pass."""
    arrays = {key: array.astype(np.float64) for key, array in model.weights_.items()}
    biases = [array for key, array in arrays.items() if key.endswith("bias")]
    return [array for key, array in arrays.items() if not key.endswith("bias")], biases


def softmax(x):
    odds = np.exp(x - x.max(1, keepdims=True))
    return odds / odds.sum(1, keepdims=True)


def test_forward_pass_is_the_definition(name, small):
    model = network(name, epochs=5, learning_rate=0.1).fit(small)
    A, F = small.adjacency.toarray().astype(float), small.features.toarray().astype(float)
    expected = softmax(DENSE[name](A, F, *weights_of(model)))
    np.testing.assert_allclose(model.outputs_, expected, atol=2e-6)
    assert np.ptp(expected, axis=0).min() > 0.01


def test_forward_pass_is_that_of_torch_geometric(small):
    """With the same weights; it has no sparse features, and no weights in attention."""
    nn = pytest.importorskip("torch_geometric.nn")
    graph = AttributedGraph(small.adjacency > 0, small.features, labels=small.labels)
    index = torch.from_numpy(np.array(graph.adjacency.nonzero(), dtype=np.int64))
    F = torch.from_numpy(graph.features.toarray())

    def with_weights(layer, **weights):
        for key, weight in weights.items():
            target = dict(layer.named_parameters())[key.replace("lin_", "lin.")]
            target.data = torch.from_numpy(weight).float().reshape(target.shape)
        return layer.eval()

    def scores(name):
        W, b = weights_of(network(name, epochs=5, learning_rate=0.1).fit(graph))
        if name == "GCN":
            x = with_weights(nn.GCNConv(12, 32), lin_weight=W[0].T.copy(), bias=b[0])(F, index).relu()
            return with_weights(nn.GCNConv(32, 3), lin_weight=W[1].T.copy(), bias=b[1])(x, index)
        if name == "SGC":
            return with_weights(nn.SGConv(12, 3, K=2), lin_weight=W[0].T.copy(), lin_bias=b[0])(F, index)
        if name == "APPNP":
            x = (F @ torch.from_numpy(W[0]).float() + torch.from_numpy(b[0])).relu() @ torch.from_numpy(W[1])
            return nn.APPNP(K=20, alpha=0.2)((x + torch.from_numpy(b[1])).float(), index)
        first = with_weights(nn.GATConv(12, 32), lin_weight=W[0].T.copy(), att_dst=W[1], att_src=W[2], bias=b[0])
        last = with_weights(nn.GATConv(32, 3), lin_weight=W[3].T.copy(), att_dst=W[4], att_src=W[5], bias=b[1])
        return last(torch.nn.functional.elu(first(F, index)), index)

    for each in ("GCN", "SGC", "APPNP", "GAT"):
        ours = network(each, epochs=5, learning_rate=0.1).fit(graph).outputs_
        np.testing.assert_allclose(ours, softmax(scores(each).detach().double().numpy()), atol=2e-6)


class TestKnownAnswers:
    def test_planted_partition(self, name, blocks):
        model = network(name, epochs=40).fit(blocks, train=np.arange(0, 200, 2))
        assert model.score(blocks) > 0.9

    @staticmethod
    def two_halves(n=120, *, edges, features, degree=8):
        """A graph whose edges, or features, know which half of the nodes one is in."""
        random, labels = np.random.default_rng(0), np.arange(n) % 2
        ends = random.integers(n, size=(2, n * degree // 2))
        if edges:
            ends[1] += (ends[0] + ends[1]) % 2
        ends %= n
        A = sp.coo_array((np.ones(ends.shape[1]), tuple(ends)), (n, n)).tocsr()
        F = random.random((n, 40)) < 0.15
        if features:
            F[:, :20] &= (labels == 0)[:, None]
            F[:, 20:] &= (labels == 1)[:, None]
        return AttributedGraph(A + A.T, F, labels=labels)

    @pytest.mark.parametrize(
        ("name", "settings", "knows"),
        [
            ("MixHop", {}, True),
            ("SIGN", {}, True),
            ("APPNP", {"teleport": 1.0}, True),
            ("SGC", {}, False),
            ("GCN", {}, False),
        ],
    )
    def test_features_only(self, name, settings, knows):
        """With edges that mean nothing, those win that keep a node's own features apart from its neighbours'."""
        graph = self.two_halves(edges=False, features=True)
        score = network(name, epochs=60, **settings).fit(graph, train=np.arange(60)).score(graph)
        assert score > 0.93 if knows else score < 0.9

    @pytest.mark.parametrize(
        ("name", "settings", "knows"),
        [(name, {}, True) for name in NETWORKS] + [("APPNP", {"steps": 0}, False)],
    )
    def test_edges_only(self, name, settings, knows):
        """Without features each node is one, of which the test nodes' are never trained; edges tell the rest."""
        graph = self.two_halves(edges=True, features=False)
        graph = AttributedGraph(graph.adjacency, labels=graph.labels)
        score = network(name, epochs=60, **settings).fit(graph, train=np.arange(60)).score(graph)
        assert score > 0.85 if knows else score < 0.65


@pytest.mark.parametrize("paths", [7, 1 << 22])
def test_triangles_of_edges(paths, monkeypatch):
    monkeypatch.setattr(propagation, "_PATHS", paths)
    for share in (0.0, 0.1, 0.5):
        random = np.random.default_rng(0)
        A = np.triu(random.random((40, 40)) < share, 1).astype(np.float32)
        A[0] = A[0, 0] = share > 0  # a hub, with a self-loop
        A = np.maximum(A, A.T)
        alone = A - np.diag(A.diagonal())
        found = propagation.triangles(sp.csr_array(A)).toarray()
        np.testing.assert_array_equal(found, alone * (alone @ alone))


class TestTraining:
    def test_one_cluster_is_the_full_batch(self, blocks):
        one, whole = network("ClusterGCN", clusters=1).fit(blocks), network("GCN").fit(blocks)
        np.testing.assert_array_equal(one.outputs_, whole.outputs_)

    def test_clusters_cut_few_edges(self, blocks):
        found = propagation.clusters(blocks.adjacency, 4, seed=0)
        rows, columns = blocks.adjacency.nonzero()
        assert set(found) == {0, 1, 2, 3}
        assert np.mean(found[rows] == found[columns]) > 0.6
        assert np.bincount(found).min() > 30

    @pytest.mark.parametrize("patience", [None, 2])
    def test_labels_of_other_nodes_are_never_read(self, name, blocks, patience):
        train = np.arange(0, 200, 4)
        poisoned = np.full(200, 99)
        poisoned[train] = blocks.labels[train]
        honest = network(name, patience=patience).fit(blocks, train=train)
        fooled = network(name, patience=patience).fit(blocks, poisoned, train=train)
        np.testing.assert_array_equal(honest.outputs_, fooled.outputs_)

    def test_same_seed_same_bits(self, name, blocks):
        first = network(name).fit(blocks).outputs_
        torch.rand(1)
        np.testing.assert_array_equal(first, network(name, n_jobs=2).fit(blocks).outputs_)
        assert not np.array_equal(first, network(name, random_state=1).fit(blocks).outputs_)

    def test_settings_of_pytorch_are_left_alone(self, name, blocks):
        threads = torch.get_num_threads()
        torch.set_num_threads(2)
        torch.manual_seed(3)
        expected = torch.rand(3)
        torch.manual_seed(3)
        try:
            network(name, epochs=1).fit(blocks)
            assert torch.get_num_threads() == 2
        finally:
            torch.set_num_threads(threads)
        assert torch.equal(torch.rand(3), expected)

    def test_early_stopping(self, blocks):
        patient = network("GCN", epochs=200, patience=5).fit(blocks)
        assert patient.n_epochs_ < 150
        assert network("GCN").fit(blocks).n_epochs_ == 3

    def test_interruption_restores_settings(self, blocks, monkeypatch):
        model, passes, threads = network("GCN"), [], torch.get_num_threads()
        scores = type(model)._scores

        def interrupted(self, net):
            passes.append(net)
            if len(passes) == 3:
                raise KeyboardInterrupt
            return scores(self, net)

        monkeypatch.setattr(type(model), "_scores", interrupted)
        with pytest.raises(KeyboardInterrupt):
            model.fit(blocks)
        assert torch.get_num_threads() == threads
        assert not hasattr(model, "outputs_")

    def test_divergence_is_an_error(self, blocks):
        with pytest.raises(DivergenceError, match="learning rate"):
            network("GCN", learning_rate=1e38).fit(blocks)

    def test_regularization_shrinks_weights(self, blocks):
        sizes = [
            sum(np.square(w).sum() for w in network("GCN", epochs=30, regularization=r).fit(blocks).weights_.values())
            for r in (0, 0.1)
        ]
        assert sizes[1] < 0.5 * sizes[0]


class TestInputs:
    def test_vectors_alone_and_beside_features(self, blocks):
        train = np.arange(0, 200, 4)
        scores = {}
        for inputs in ("vectors", "both"):
            model = network("GCN", epochs=30, inputs=inputs, embedder=AE(dimensions=8, n_jobs=1))
            scores[inputs] = model.fit(blocks, train=train).score(blocks)
            given = network("GCN", epochs=30, inputs=inputs, embedder=AE(dimensions=8).fit_transform(blocks))
            np.testing.assert_array_equal(given.fit(blocks, train=train).outputs_, model.outputs_)
            np.testing.assert_allclose(model.predict_proba(renamed(blocks)), model.outputs_, atol=1e-4)
            with pytest.raises(NotInductiveError, match="array of vectors"):
                given.predict(renamed(blocks))
        assert min(scores.values()) > 0.9

    @pytest.mark.parametrize(
        ("settings", "message"),
        [
            ({"inputs": "both"}, "embedder"),
            ({"embedder": AE()}, "inputs"),
            ({"inputs": "both", "embedder": "AE"}, "embedder"),
            ({"inputs": "words"}, "inputs"),
            ({"device": "abacus"}, "device"),
            ({"device": 3}, "device"),
            ({"epochs": 0}, "epochs"),
            ({"dropout": 1.0}, "dropout"),
            ({"patience": 0}, "patience"),
        ],
    )
    def test_wrong_parameters(self, blocks, settings, message):
        with pytest.raises(ParameterError, match=message):
            network("GCN", **settings).fit(blocks)

    def test_vectors_that_do_not_fit(self, blocks):
        for vectors, message in ((np.ones((3, 2)), "3 vectors for 200"), (np.full((200, 2), np.nan), "not finite")):
            with pytest.raises(GraphError, match=message):
                network("GCN", inputs="vectors", embedder=vectors).fit(blocks)

    def test_another_graph(self, name, blocks):
        """Nodes and features in another order, and one feature that is new, make no difference."""
        model = network(name).fit(blocks)
        nodes, features = np.random.default_rng(0).permutation(200), np.random.default_rng(1).permutation(120)
        F = sp.hstack([blocks.features[nodes][:, features], np.ones((200, 1))])
        other = AttributedGraph(
            blocks.adjacency[nodes][:, nodes],
            F,
            node_ids=[f"x{node}" for node in nodes],
            feature_names=[*blocks.feature_names[features], "new"],
        )
        with pytest.warns(UserWarning, match="1 of 121 features"):
            found = model.predict_proba(other)
        np.testing.assert_allclose(found, model.outputs_[nodes], atol=1e-5)

    def test_unknown_features(self, blocks):
        other = AttributedGraph(blocks.adjacency, np.ones((200, 1)), feature_names=["unheard of"])
        with pytest.raises(GraphError, match="none of the features"):
            network("GCN").fit(blocks).predict(other)

    def test_rows_can_be_normalised(self, small):
        model = network("SGC", normalize_features=True).fit(small)
        F = small.features.toarray().astype(float)
        F /= np.maximum(F.sum(1, keepdims=True), 1e-30)
        expected = softmax(dense_sgc(small.adjacency.toarray().astype(float), F, *weights_of(model)))
        np.testing.assert_allclose(model.outputs_, expected, atol=1e-6)


def renamed(graph):
    """The same edges and features, of other nodes."""
    ids = [f"node {i}" for i in range(graph.n_nodes)]
    return AttributedGraph(graph.adjacency, graph.features, node_ids=ids, feature_names=graph.feature_names)


class TestEstimator:
    def test_clones_and_copies(self, name, blocks):
        model = network(name, dropout=0.25).fit(blocks)
        assert clone(model).get_params() == model.get_params()
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(blocks), model.predict())

    def test_pytorch_is_imported_when_it_is_needed(self):
        program = "import sys, hopscale; hopscale.GCN(); assert 'torch' not in sys.modules"
        subprocess.run([sys.executable, "-c", program], check=True)

    @pytest.mark.parametrize(("package", "name"), [("torch", "GAT"), ("pymetis", "ClusterGCN")])
    def test_without_the_extra(self, package, name):
        program = (
            "import sys, importlib.abc\n"
            "class Absent(importlib.abc.MetaPathFinder):\n"
            "    def find_spec(self, name, *_):\n"
            f"        if name.partition('.')[0] == {package!r}: raise ModuleNotFoundError(name)\n"
            "sys.meta_path.insert(0, Absent()); import hopscale\n"
            "graph = hopscale.datasets.planted_blocks(n_nodes=60)\n"
            f"try: hopscale.{name}(epochs=1).fit(graph)\n"
            "except hopscale.exceptions.MissingPackageError as error: print(error)"
        )
        answer = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout
        assert 'pip install "hopscale[gnn]"' in answer
