"""Suggested links and features against their definitions on dense matrices."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

import hopscale.compute.nearest as nearest
from hopscale import AE, HOPE, MUSAE, PMI, SGNS, AttributedGraph, DeepWalk, datasets
from hopscale.exceptions import GraphError, HopscaleWarning, ParameterError, UnknownNodeError
from hopscale.models import surroundings

pytestmark = pytest.mark.filterwarnings("ignore::hopscale.exceptions.HopscaleWarning")


def small_graph(n=90, *, seed=0, loops=False):
    """Weighted, with ids out of order, isolated nodes and two components."""
    random = np.random.default_rng(seed)
    graph = datasets.planted_blocks(n, random_state=seed)
    A = graph.adjacency.toarray() * random.integers(1, 4, (n, n))
    A = np.triu(A, 1)
    A[0] = A[:, 0] = A[1] = A[:, 1] = 0
    A[:10, 10:] = 0
    A[2:10, 2:10] = np.triu(np.ones((8, 8)), 1)
    A += A.T
    F = graph.features.toarray()
    F[0] = 0
    ids = [f"n{i}" for i in random.permutation(n)]
    names = [f"f{i}" for i in random.permutation(F.shape[1])]
    if loops:
        A[np.arange(n), np.arange(n)] = 1
    return AttributedGraph(A, F, node_ids=ids, feature_names=names, self_loops=loops)


def shuffled(graph, *, without=(), seed=5):
    """The same graph with rows and columns in another order, less some nodes."""
    random = np.random.default_rng(seed)
    rows = [i for i in random.permutation(graph.n_nodes) if graph.node_ids[i] not in without]
    columns = random.permutation(graph.n_features)
    return AttributedGraph(
        graph.adjacency[rows][:, rows],
        graph.features[rows][:, columns],
        node_ids=graph.node_ids[rows],
        feature_names=graph.feature_names[columns],
        self_loops=True,
    )


def link_scores(model, graph, scale=None):
    """Cosine plus the logarithm of one plus the index of Adamic and Adar; -inf for edges and nodes themselves."""
    G = model.node_vectors(scale).astype(float)
    lengths = np.linalg.norm(G, axis=1)
    product = np.outer(lengths, lengths)
    cosine = np.divide(G @ G.T, product, out=np.zeros_like(product), where=product > 0)
    E = graph.adjacency.toarray() > 0
    np.fill_diagonal(E, False)
    counts = E.sum(axis=1)
    weights = np.where(counts > 1, 1 / np.log(np.maximum(counts, 2)), 0)
    scores = cosine + np.log1p((E * weights) @ E)
    scores[E | np.eye(len(E), dtype=bool)] = -np.inf
    return scores


def feature_scores(model, graph):
    q = graph.n_features
    A, F = graph.adjacency.toarray().astype(float), graph.features.toarray() > 0
    np.fill_diagonal(A, 0)
    G, H = model.embedding_.astype(float), model.feature_embedding_[:q].astype(float)
    shift = model.solver_.negatives if isinstance(model.solver_, SGNS) else model.solver_.shift
    common = (F.sum(axis=0) + 1) / (len(F) + 1)
    p = np.minimum(1, common * shift * np.exp(G @ H.T / len(model.scale_columns_)))
    degrees, d = A.sum(axis=1, keepdims=True), (A > 0).sum(axis=1, keepdims=True)
    share = np.divide(A @ F, degrees, out=np.zeros(F.shape), where=degrees > 0)
    scores = (d * share + 5 * p) / (d + 5)
    scores[F] = -np.inf
    return scores


def assert_best(found, names, scores, k):
    assert len(found) == min(k, np.count_nonzero(scores > -np.inf))
    exact = {"rtol": 1e-6, "atol": 1e-9 * np.abs(scores[scores > -np.inf]).max(initial=0.0)}  # sums that cancel round
    np.testing.assert_allclose([score for *_, score in found], np.sort(scores)[::-1][: len(found)], **exact)
    np.testing.assert_allclose([scores[names.index(name)] for name, _ in found], [s for *_, s in found], **exact)
    assert len({name for name, _ in found}) == len(found)


MODELS = {
    "MUSAE": lambda: MUSAE(24),
    "MUSAE shifted": lambda: MUSAE(24, solver=PMI(shift=2)),
    "SGNS": lambda: AE(24, solver=SGNS(epochs=1)),
    "ego": lambda: MUSAE(24, ego=True),
    "DeepWalk": lambda: DeepWalk(16),
    "HOPE": lambda: HOPE(16),
}


@pytest.fixture(scope="module", params=MODELS, name="model")
def fitted(request):
    return MODELS[request.param]().fit(small_graph())


@pytest.fixture(params=[None, 7], name="pieces")
def cut(request, monkeypatch):
    """The work in one piece or in small ones."""
    if request.param:
        monkeypatch.setattr(surroundings, "_WORK", request.param * 20)
        monkeypatch.setattr(nearest, "_ROWS", request.param)
        monkeypatch.setattr(nearest, "_QUERIES", request.param)


@pytest.mark.usefixtures("pieces")
class TestLinks:
    @pytest.mark.parametrize("k", [1, 6, 1000])
    def test_are_the_best_by_definition(self, model, k):
        graph = small_graph()
        for scale in (None, next(iter(model.scale_columns_))):
            scores, ids = link_scores(model, graph, scale), graph.node_ids.tolist()
            known = model.node_vectors(scale).any(axis=1)
            nodes = [node for node, some in zip(ids, known, strict=True) if some]
            answer = model.suggest_links(nodes, k=k, graph=graph, scale=scale)
            assert list(answer) == nodes
            for node, found in answer.items():
                assert_best(found, ids, scores[ids.index(node)], k)
            assert model.suggest_links(nodes[7], k=k, graph=graph, scale=scale) == answer[nodes[7]]

    @pytest.mark.parametrize("k", [1, 5, 300, 100_000])
    def test_of_all_nodes_are_the_best_by_definition(self, model, k):
        graph = small_graph()
        scores, ids = link_scores(model, graph), graph.node_ids.tolist()
        scores[np.tri(len(ids), dtype=bool)] = -np.inf
        found = model.suggest_links(k=k, graph=graph)
        pairs = [((u, v), score) for u, v, score in found]
        assert_best(pairs, [(u, v) for u in ids for v in ids], scores.ravel(), k)
        edges = graph.adjacency.toarray() > 0
        assert not any(edges[ids.index(u), ids.index(v)] for u, v, _ in found)

    def test_other_graphs_are_matched_by_id(self, model):
        graph = small_graph()
        expected, everywhere = model.suggest_links("n40", graph=graph), model.suggest_links(k=20, graph=graph)
        assert dict(model.suggest_links("n40", graph=shuffled(graph))) == pytest.approx(dict(expected))
        again = model.suggest_links(k=20, graph=shuffled(graph))
        assert [(u, v) for u, v, _ in again] == [(u, v) for u, v, _ in everywhere]
        np.testing.assert_allclose([s for *_, s in again], [s for *_, s in everywhere])

    def test_nodes_that_only_one_side_has(self, model):
        """Nodes that the model does not know connect others; nodes that the graph has not are without edges."""
        graph = small_graph()
        E = graph.adjacency.toarray() > 0
        hub = 10 + int(E[10:].sum(axis=1).argmax())  # the first ten are a clique
        u, v = next((u, v) for u in np.flatnonzero(E[hub]) for v in np.flatnonzero(E[hub]) if u != v and not E[u, v])
        u, v, hub = graph.node_ids[[u, v, hub]]
        less = shuffled(graph, without=[hub])
        with pytest.warns(HopscaleWarning, match="1 of the model's 90 nodes are not in the graph"):
            without = dict(model.suggest_links(u, k=1000, graph=less))
        expected = link_scores(model, graph)[graph.index_of(u), graph.index_of(v)]
        assert without[v] < expected
        assert hub in without
        fewer = clone(model).fit(less)
        alone, together = (dict(fewer.suggest_links(u, k=1000, graph=each)) for each in (less, graph))
        assert together[v] > alone.get(v, 0)
        assert hub not in together

    def test_self_loops_are_no_neighbours(self, model):
        plain, loops = small_graph(), small_graph(loops=True)
        assert model.suggest_links("n40", graph=loops) == model.suggest_links("n40", graph=plain)
        assert model.suggest_links(k=30, graph=loops) == model.suggest_links(k=30, graph=plain)


@pytest.fixture(scope="module", params=[name for name in MODELS if name not in ("DeepWalk", "HOPE")], name="knowing")
def fitted_to_features(request):
    return MODELS[request.param]().fit(small_graph())


class TestFeatures:
    @pytest.mark.parametrize("k", [1, 6, 1000])
    def test_are_the_best_by_definition(self, knowing, k):
        graph = small_graph()
        scores, names = feature_scores(knowing, graph), graph.feature_names.tolist()
        ids = graph.node_ids.tolist()
        nodes = [node for node, row in zip(ids, knowing.embedding_, strict=True) if row.any()]
        answer = knowing.suggest_features(nodes, k=k, graph=graph)
        assert list(answer) == nodes
        for node, found in answer.items():
            assert_best(found, names, scores[ids.index(node)], k)
            assert all(0 <= score <= 1 for _, score in found)
        assert knowing.suggest_features(nodes[3], k=k, graph=graph) == answer[nodes[3]]

    def test_other_graphs_are_matched_by_name(self, knowing):
        graph = small_graph()
        expected = knowing.suggest_features("n40", k=1000, graph=graph)
        again = dict(knowing.suggest_features("n40", k=1000, graph=shuffled(graph)))
        assert again == pytest.approx(dict(expected))

    def test_features_that_only_one_side_has(self, knowing):
        graph = small_graph()
        F = graph.features.toarray()
        names = ["new", *graph.feature_names[1:]]
        other = AttributedGraph(graph.adjacency, F, node_ids=graph.node_ids, feature_names=names)
        found = dict(knowing.suggest_features("n40", k=1000, graph=other))
        assert "new" not in found
        assert graph.feature_names[0] in found
        edges = AttributedGraph(graph.adjacency, node_ids=graph.node_ids)
        assert len(knowing.suggest_features("n40", k=1000, graph=edges)) == graph.n_features


def test_removed_links_and_features_are_found_again():
    graph = datasets.digits()
    A = sp.triu(graph.adjacency, 1).tocoo()
    gone = np.random.default_rng(0).random(A.nnz) < 0.1
    u, v = (ends[~gone] for ends in A.coords)
    kept = sp.coo_array((np.ones(len(u)), (u, v)), shape=A.shape)
    model = MUSAE(64).fit((kept + kept.T, graph.features))
    hidden = set(zip(*(ends[gone].tolist() for ends in A.coords), strict=True))
    best = model.suggest_links(k=100, graph=(kept + kept.T, graph.features))
    assert np.mean([(u, v) in hidden for u, v, _ in best]) > 0.4


class TestTheGraph:
    def test_is_asked_for(self):
        model = MUSAE(8).fit(small_graph())
        for question in (model.suggest_links, lambda: model.suggest_features("n3")):
            with pytest.raises(ParameterError, match="pass it as graph, or fit a model with keep_graph=True"):
                question()

    def test_that_was_kept_is_taken(self, tmp_path):
        from hopscale import load_model

        graph = small_graph()
        model = MUSAE(8, keep_graph=True).fit(graph)
        model.save(tmp_path / "m.safetensors")
        for each in (model, load_model(tmp_path / "m.safetensors")):
            assert each.suggest_links("n3") == model.suggest_links("n3", graph=graph)
            assert each.suggest_links(k=5) == model.suggest_links(k=5, graph=graph)
            assert each.suggest_features("n3") == model.suggest_features("n3", graph=graph)

    def test_of_other_nodes_is_refused(self):
        model = MUSAE(8).fit(small_graph())
        with pytest.raises(GraphError, match=r"none of the model's nodes: ids are matched, here 0, there 'n\d+'"):
            model.suggest_links(graph=datasets.planted_blocks(90))


def test_odd_questions():
    graph = small_graph()
    model = MUSAE(8).fit(graph)
    with pytest.raises(UnknownNodeError, match="no node 'x'"):
        model.suggest_links("x", graph=graph)
    with pytest.raises(UnknownNodeError, match="no node 'x'"):
        model.suggest_features(["n3", "x"], graph=graph)
    with pytest.raises(ParameterError, match="k must"):
        model.suggest_links(k=0, graph=graph)
    with pytest.raises(ParameterError, match="no scale 9"):
        model.suggest_links(graph=graph, scale=9)
    assert model.suggest_links([], graph=graph) == {}
    nothing = graph.node_ids[0]
    for question in (model.suggest_links, model.suggest_features):
        with pytest.warns(HopscaleWarning, match=f"nothing is known of node {nothing!r}"):
            assert question(nothing, graph=graph) == []
    for other in (DeepWalk(8), HOPE(8)):
        with pytest.raises(ParameterError, match="learns no vectors of features"):
            other.fit(graph).suggest_features("n3", graph=graph)


def test_a_complete_graph_has_no_links_to_suggest():
    graph = AttributedGraph(np.ones((6, 6)) - np.eye(6))
    model = HOPE(2).fit(graph)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert model.suggest_links(graph=graph) == model.suggest_links(2, graph=graph) == []
