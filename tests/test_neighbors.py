"""Search by vectors against a search of a few lines in NumPy."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import hopscale.compute.nearest as nearest
from hopscale import MUSAE, PMI, SGNS, AttributedGraph, DeepWalk, datasets
from hopscale.compute import Threads
from hopscale.compute.nearest import Nearest
from hopscale.exceptions import GraphError, HopscaleWarning, ParameterError, UnknownNodeError

pytestmark = pytest.mark.filterwarnings("ignore::hopscale.exceptions.HopscaleWarning")


def scores_of(vectors, queries, cosine):
    """In double precision, pair by pair as the definition has it."""
    V, Q = vectors.astype(float), queries.astype(float)
    products = (Q[:, None] * V[None]).sum(axis=2)
    if not cosine:
        return products
    lengths = np.sqrt((Q**2).sum(axis=1))[:, None] * np.sqrt((V**2).sum(axis=1))
    return np.divide(products, lengths, out=np.zeros_like(products), where=lengths > 0)


def found(vectors, queries, k, cosine, excluded=None, n_jobs=1):
    with Threads(n_jobs) as engine:
        return list(Nearest(vectors, cosine).of(queries, k, engine, excluded))


def assert_best(answer, scores, k):
    """Rows are those of the largest scores, in their order."""
    for (rows, values), row in zip(answer, scores, strict=True):
        allowed = np.flatnonzero(row > -np.inf)
        top = np.abs(row[allowed]).max(initial=0)
        assert len(rows) == min(k, len(allowed)) == len(set(rows.tolist()))
        np.testing.assert_allclose(values, np.sort(row)[::-1][: len(rows)], rtol=1e-12, atol=1e-13 * top)
        np.testing.assert_allclose(row[rows], values, rtol=1e-12, atol=1e-13 * top)


VECTORS = {
    "normal": lambda random: random.standard_normal((700, 9)),
    "of one direction": lambda random: np.abs(random.standard_normal((700, 1))) * np.ones(9),
    "almost the same": lambda random: 1 + 1e-6 * random.standard_normal((700, 9)),
    "of few values": lambda random: random.integers(-1, 2, (700, 3)),
    "with zeros": lambda random: random.standard_normal((700, 4)) * (random.random((700, 1)) < 0.5),
    "large": lambda random: random.standard_normal((700, 4)) * 1e37,
    "small": lambda random: random.standard_normal((700, 4)) * 1e-37,
    "of many sizes": lambda random: random.standard_normal((700, 4)) * 10.0 ** random.integers(-37, 37, (700, 1)),
    "wide": lambda random: random.standard_normal((300, 500)),
    "one column of many": lambda random: random.standard_normal((700, 9))[:, 3:4],
}


@pytest.mark.parametrize("cosine", [True, False])
@pytest.mark.parametrize("kind", VECTORS)
class TestSearch:
    def made(self, kind):
        vectors = VECTORS[kind](np.random.default_rng(0)).astype(np.float32)
        return vectors, np.concatenate([vectors[:20], vectors[-5:] * np.float32(0.5)])

    @pytest.mark.parametrize("k", [1, 7, 250, 5000])
    def test_finds_what_the_definition_says(self, kind, cosine, k):
        vectors, queries = self.made(kind)
        assert_best(found(vectors, queries, k, cosine), scores_of(vectors, queries, cosine), k)

    def test_does_not_depend_on_pieces_or_threads(self, monkeypatch, kind, cosine):
        vectors, queries = self.made(kind)
        expected = found(vectors, queries, 12, cosine)
        for name, size in (("_ROWS", 37), ("_QUERIES", 2), ("_EXACT", 5)):
            monkeypatch.setattr(nearest, name, size)
            for n_jobs in (1, 3):
                for (rows, scores), (same, equal) in zip(
                    found(vectors, queries, 12, cosine, n_jobs=n_jobs), expected, strict=True
                ):
                    np.testing.assert_array_equal(rows, same)
                    np.testing.assert_array_equal(scores, equal)
        alone = [found(vectors, queries[[i]], 12, cosine)[0] for i in range(len(queries))]
        for (rows, scores), (same, equal) in zip(alone, expected, strict=True):
            np.testing.assert_array_equal(rows, same)
            np.testing.assert_array_equal(scores, equal)

    def test_leaves_out_what_is_excluded(self, kind, cosine):
        vectors, queries = self.made(kind)
        mask = np.random.default_rng(1).random((len(queries), len(vectors))) < 0.4
        mask[3] = True
        mask[4, 2:] = True
        expected = np.where(mask, -np.inf, scores_of(vectors, queries, cosine))
        assert_best(found(vectors, queries, 12, cosine, sp.csr_array(mask)), expected, 12)

    @pytest.mark.parametrize("k", [1, 40, 10**6])
    def test_finds_the_best_pairs(self, monkeypatch, kind, cosine, k):
        vectors = self.made(kind)[0][:120]
        mask = np.triu(np.random.default_rng(1).random((120, 120)) < 0.3, 1)
        mask |= mask.T
        expected = np.where(mask | np.tri(120, dtype=bool), -np.inf, scores_of(vectors, vectors, cosine))
        answers = []
        for name, size, n_jobs in (("_ROWS", 4096, 1), ("_QUERIES", 11, 1), ("_QUERIES", 50, 3), ("_ROWS", 7, 2)):
            monkeypatch.setattr(nearest, name, size)
            with Threads(n_jobs) as engine:
                i, j, scores = Nearest(vectors, cosine).pairs(k, engine, sp.csr_array(mask))
            answers.append((i.tolist(), j.tolist(), scores.tolist()))
            assert (i < j).all()
            assert_best([(i * 120 + j, scores)], expected.reshape(1, -1), k)
        assert all(answer == answers[0] for answer in answers)


def test_ties_are_in_the_order_of_the_rows():
    vectors = np.ones((10_000, 3), dtype=np.float32)
    [(rows, scores)] = found(vectors, vectors[:1], 5, True)
    assert rows.tolist() == [0, 1, 2, 3, 4]
    assert len(set(scores.tolist())) == 1


@pytest.fixture(scope="module", name="graph")
def shuffled():
    """Ids that are not in the order of the rows."""
    graph = datasets.planted_blocks(120)
    ids = [f"node {i}" for i in np.random.default_rng(0).permutation(120)]
    names = [f"feature {i}" for i in np.random.default_rng(1).permutation(graph.n_features)]
    return AttributedGraph(graph.adjacency, graph.features, node_ids=ids, feature_names=names)


@pytest.fixture(scope="module", params=["pmi", "sgns", "ego"], name="model")
def fitted(request, graph):
    solver = SGNS(epochs=1) if request.param == "sgns" else PMI()
    return MUSAE(24, solver=solver, ego=request.param == "ego").fit(graph)


class TestQuestions:
    def test_of_many_nodes_are_those_of_each(self, model):
        ids = [*model.node_ids_[:7].tolist(), "node 3"]
        each = {node: model.neighbors(node, k=4) for node in ids}
        for several in (ids, np.array(ids), pd.Series(ids, index=range(8, 0, -1)), pd.Index(ids), iter(ids), set(ids)):
            assert model.neighbors(several, k=4) == each
        assert model.neighbors([]) == {}
        for scale in model.scale_columns_:
            assert model.neighbors(ids, scale=scale)["node 3"] == model.neighbors("node 3", scale=scale)

    def test_of_a_vector_are_those_of_its_node_and_itself(self, model):
        for scale in (None, *model.scale_columns_):
            row = model.node_ids_.tolist().index("node 5")
            vector = model.node_vectors(scale)[row]
            (first, similarity), *others = model.neighbors_of(vector, k=6, scale=scale)
            assert first == "node 5"
            assert similarity == pytest.approx(1)
            assert others == model.neighbors("node 5", k=5, scale=scale)
            assert model.neighbors_of(model.embedding_[row], k=6, scale=scale)[1:] == others
            assert model.neighbors_of(vector * np.float32(4), k=6, scale=scale)[1:] == others
        assert model.neighbors_of(model.embedding_[:3])[2] == model.neighbors_of(model.embedding_[2].tolist())
        assert model.neighbors_of(model.to_frame().iloc[:3])[2] == model.neighbors_of(model.embedding_[2])
        assert model.neighbors_of(np.zeros(24)) == []
        assert model.neighbors_of(np.zeros((0, 24))) == []

    def test_of_features(self, model):
        names = model.feature_names_.tolist()
        for scale in (None, *model.scale_columns_):
            vectors = model.feature_vectors(scale)
            row = names.index("feature 4")
            similar = scores_of(vectors, vectors[[row]], True)[0]
            similar[row] = -np.inf
            answer = model.similar_features("feature 4", k=5, scale=scale)
            np.testing.assert_allclose([score for _, score in answer], np.sort(similar)[::-1][:5], rtol=1e-9)
            np.testing.assert_allclose([similar[names.index(name)] for name, _ in answer], [s for _, s in answer])
            several = model.similar_features(["feature 9", "feature 4"], k=5, scale=scale)
            assert several == {name: model.similar_features(name, k=5, scale=scale) for name in several}

    def test_nodes_of_a_feature_have_the_largest_products(self, model):
        names, ids = model.feature_names_.tolist(), model.node_ids_.tolist()
        for scale in (None, *model.scale_columns_):
            h = model.feature_vectors(scale)[names.index("feature 4")].astype(float)
            products = model.node_vectors(scale).astype(float) @ h / (4 if scale is None else 1)
            answer = model.nodes_of("feature 4", k=5, scale=scale)
            np.testing.assert_allclose([score for _, score in answer], np.sort(products)[::-1][:5], rtol=1e-9)
            np.testing.assert_allclose([products[ids.index(node)] for node, _ in answer], [s for _, s in answer])
            assert model.nodes_of(["feature 4"], k=5, scale=scale) == {"feature 4": answer}

    def test_of_nobody(self, model):
        for question in (model.neighbors, model.similar_features, model.nodes_of):
            for nobody in ("nobody", ["nobody"], ("node 3", "node 4"), [["node 3"]], 7, None, np.array([3.5])):
                with pytest.raises(UnknownNodeError, match=r"look like '(node|feature) \d+'"):
                    question(nobody)
            with pytest.raises(ParameterError, match="k must"):
                question("node 3", k=0)
        for wrong, words in (
            (np.zeros(5), r"must have 24 dimensions.*\(5,\)"),
            (np.full(24, np.nan), "finite"),
            (np.full(24, 1e300), "finite"),
            ("node 3", "array of numbers"),
            (np.zeros((2, 2, 24)), "dimensions"),
        ):
            with pytest.raises(GraphError, match=words):
                model.neighbors_of(wrong)
        with pytest.raises(GraphError, match="24 dimensions, or 6 at scale 1"):
            model.neighbors_of(np.zeros(5), scale=1)

    def test_names_are_looked_up_anew_after_another_fit(self, graph):
        model = MUSAE(8).fit(graph)
        model.nodes_of("feature 3"), model.neighbors("node 3")
        model.fit(datasets.planted_blocks(120))
        assert model.nodes_of(3)
        with pytest.raises(UnknownNodeError):
            model.nodes_of("feature 3")


def test_of_what_nothing_is_known_of_nothing_is_said():
    graph = datasets.planted_blocks(60)
    A, F = graph.adjacency.toarray(), graph.features.toarray()
    A[:2] = A[:, :2] = F[:2] = F[:, 3] = 0
    model = MUSAE(8).fit(AttributedGraph(A, F))
    with pytest.warns(HopscaleWarning, match=r"nothing is known of 2 nodes, such as node 0: the vector is zero$"):
        answer = model.neighbors([0, 5, 1])
    assert [len(found) for found in answer.values()] == [0, 10, 0]
    with pytest.warns(HopscaleWarning, match=r"nothing is known of feature 3: the vector is zero at scale 1"):
        assert model.nodes_of(3, scale=1) == []


def test_models_without_feature_vectors_say_so():
    from hopscale import HOPE

    model = HOPE(8).fit(datasets.planted_blocks(60))
    for question in (model.similar_features, model.nodes_of):
        with pytest.raises(ParameterError, match="learns no vectors of features"):
            question(3)


def test_context_of_nodes_is_found():
    model = DeepWalk(16).fit(datasets.planted_blocks(60))
    assert len(model.similar_features(3, k=4)) == 4
    assert 3 not in dict(model.similar_features(3))
