"""Fits whose exact rows do not fit the memory limit: features' vectors from some rows, nodes' from all of them."""

import warnings

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from hopscale import AE, MUSAE, PMI, AttributedGraph, DeepWalk, datasets
from hopscale.exceptions import HopscaleWarning
from reference import dense, positive_pmi

STREAMED = "exact rows, after learning from"


@pytest.fixture(autouse=True)
def quiet():
    """No warning is expected, unless a test says so; BLAS threads only fight here."""
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("error", HopscaleWarning)
        yield


def blocks(n=1500, **changes):
    settings = {"n_blocks": 4, "n_features": 400, "p_in": 0.02, "p_out": 0.002}
    return datasets.planted_blocks(n, **(settings | {"feature_p_in": 0.05, "feature_p_out": 0.01} | changes))


def fitted(graph, memory, model=MUSAE, *, dimensions=64, n_jobs=1, walks=10**6, rows="exact", **solver):
    """So many walks that rows to learn from are exact, unless a test says otherwise."""
    solver = PMI(rows=rows, memory_limit=memory, walks=walks, **solver)
    return model(dimensions=dimensions, solver=solver, n_jobs=n_jobs).fit(graph)


def walked(model):
    return [label for label in model.scale_columns_ if label != "0"]


def products(model, scale):
    """G·Hᵀ."""
    return model.node_vectors(scale).astype(float) @ model.feature_vectors(scale).T.astype(float)


@pytest.mark.parametrize("model", [MUSAE, AE])
@pytest.mark.parametrize("power", [1.0, 0.5])
def test_vectors_are_those_of_held_rows_where_all_rows_are_learnt_from(model, power):
    """V is the same; rows of M are in half precision: a product is off by what rounding, 2⁻¹¹, leaves of each entry."""
    graph = blocks()
    held, streamed = fitted(graph, "1GiB", model, power=power), fitted(graph, "3MB", model, power=power)
    for label in walked(held):
        assert "positive entries" in held.rows_[label]
        assert streamed.rows_[label] == f"{STREAMED} all rows sampled from 1000000 walks a node"
        one, other = products(held, label), products(streamed, label)
        assert 0 < np.linalg.norm(other - one) < 2e-3 * np.linalg.norm(one)
        sigma = held.singular_values_[held.scale_columns_[label]]
        np.testing.assert_allclose(streamed.singular_values_[streamed.scale_columns_[label]], sigma, rtol=1e-3)
    assert np.array_equal(held.node_vectors("0"), streamed.node_vectors("0"))


def test_rows_are_exact_although_few_were_learnt_from():
    """G = M·V·Σ^(-1/2) for whichever V: G·Σ^(1/2)·Vᵀ is the projection of the exact M on the span of V."""
    graph = blocks()
    model = fitted(graph, "2MB", walks=50)
    for label in "23":
        words = model.rows_[label]
        assert words.startswith(STREAMED)
        assert " of 1,500 rows sampled from 50 walks a node" in words
        M, H = positive_pmi(*dense(graph), (int(label),)), model.feature_vectors(label).astype(float)
        Q, _ = np.linalg.qr(H)
        expected = M @ Q @ Q.T
        found = products(model, label)
        assert np.linalg.norm(found - expected) < 2e-3 * np.linalg.norm(expected)


@pytest.mark.parametrize("model", [MUSAE, AE])
@pytest.mark.parametrize("memory", ["2MB", "3MB"])  # some rows, or all, are learnt from
def test_transform_gives_the_fits_vectors_again(model, memory):
    graph = blocks()
    fit = fitted(graph, memory, model, walks=800)
    again = fit.transform(graph)
    for label in walked(fit):
        assert fit.rows_[label].startswith(STREAMED)
        columns = fit.scale_columns_[label]
        assert np.array_equal(again[:, columns], fit.embedding_[:, columns])
    np.testing.assert_allclose(again, fit.embedding_, atol=1e-5)


@pytest.mark.parametrize("model", [MUSAE, AE])
def test_threads_do_not_change_a_bit(model):
    graph = blocks()
    one, two = (fitted(graph, "2MB", model, walks=50, n_jobs=n_jobs) for n_jobs in (1, 2))
    assert one.rows_ == two.rows_
    assert any(words.startswith(STREAMED) for words in one.rows_.values())
    assert np.array_equal(one.embedding_, two.embedding_)
    assert np.array_equal(one.feature_embedding_, two.feature_embedding_)


def test_isolated_nodes_and_features_that_no_walk_meets():
    graph = blocks()
    A, F = dense(graph)
    A[[3, 1499]] = 0
    A[:, [3, 1499]] = 0
    F[:, [7, 8]] = 0
    F[3, 7] = 1
    model = fitted(AttributedGraph(A, F), "2MB")
    for label in "123":
        assert model.rows_[label].startswith(STREAMED)
        assert not model.node_vectors(label)[[3, 1499]].any()
        assert not model.feature_vectors(label)[[7, 8]].any()
    assert model.node_vectors("0")[3].any()


def test_a_feature_of_every_node_has_a_zero_vector():
    """Its ratio is one, and half precision must not make more of it."""
    graph = blocks()
    A, F = dense(graph)
    F[:, 7] = 0.3
    model = fitted(AttributedGraph(A, F), "3MB")
    assert model.rows_["3"].startswith(STREAMED)
    assert not model.feature_embedding_[7].any()


def test_left_to_the_solver_they_are_exact_where_sampled_ones_would_take_as_long():
    graph = blocks()
    assert fitted(graph, "1MB", rows="auto", walks=800).rows_["3"].startswith(STREAMED)
    with pytest.warns(HopscaleWarning, match="estimated from 1 walks"):
        few = fitted(graph, "1MB", rows="auto", walks=1)
    assert few.rows_["3"].startswith("rows sampled")
    assert fitted(graph, "1MB", rows="sampled", walks=800).rows_["3"].startswith("rows sampled")


def test_more_scales_than_can_be_streamed_together_are_not():
    """One scale would fit, eight do not: products of all of them are held at a time."""
    graph = blocks()

    def wide(**settings):
        return MUSAE(window=8, **settings)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HopscaleWarning)
        model = fitted(graph, "2MB", wide, dimensions=9 * 120, rows="auto", walks=100)
    assert not any(words.startswith(STREAMED) for words in model.rows_.values())
    assert fitted(graph, "2MB", dimensions=9 * 16, rows="auto", walks=100).rows_["3"].startswith(STREAMED)


def test_features_too_rare_for_half_precision_are_not_streamed():
    graph = blocks()
    A, F = dense(graph)
    assert fitted(AttributedGraph(A, F), "3MB").rows_["3"].startswith(STREAMED)
    A[5] *= 1e-9
    A[:, 5] *= 1e-9
    F[:, 9] = 0
    F[5, 9] = 1
    rare = fitted(AttributedGraph(A, F), "3MB")
    assert "positive entries" in rare.rows_["3"]


def test_walks_that_see_nodes():
    """As many columns as nodes, each met from few of them."""
    graph = blocks()
    held, streamed = fitted(graph, "1GiB", DeepWalk), fitted(graph, "3MB", DeepWalk)
    assert streamed.rows_["1-3"].startswith(STREAMED)
    one, other = products(held, "1-3"), products(streamed, "1-3")
    assert 0 < np.linalg.norm(other - one) < 2e-3 * np.linalg.norm(one)
