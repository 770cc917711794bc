"""Operators and decompositions on all engines: dense NumPy says what is right, and all must agree with it.

The second engine's tall arrays are opaque to NumPy. What passes there could run in another memory.
"""

from importlib.util import find_spec

import numpy as np
import pytest
import scipy.sparse as sp
from foreign import ForeignEngine, Opaque

from hopscale.compute import Engine, Threads
from hopscale.compute.devices import engine_on
from hopscale.compute.operators import Dense, HStack, Residual, Series, Steps, TwoSteps
from hopscale.compute.svd import (
    LARGEST_CONDITION,
    finished,
    leading_eigenpairs,
    leading_triplets,
    orthonormal,
    product_eigenpairs,
    truncated_svd,
)
from reference import best_approximation, random_graph, transition

N, Q, K = 50, 30, 7


def numbers(rows, columns, seed):
    return np.random.default_rng(seed).standard_normal((rows, columns)).astype(np.float32)


def sparse(rows, columns, seed):
    return np.where(np.random.default_rng(seed).random((rows, columns)) < 0.3, numbers(rows, columns, seed), 0)


def spectrum(values, seed=0):
    """A matrix with these singular values."""
    left, _ = np.linalg.qr(numbers(N, Q, seed))
    right, _ = np.linalg.qr(numbers(Q, Q, seed + 1))
    sigma = np.zeros(Q)
    sigma[: len(values)] = values
    return ((left * sigma) @ right.T).astype(np.float32)


M, OTHER, U, V = sparse(N, Q, 1), sparse(N, 11, 2), numbers(N, 3, 3), numbers(Q, 3, 4)
P = transition(random_graph(N, 2, density=0.1, isolated=2, seed=5).adjacency.toarray().astype(float))


class OnThreads:
    """The engine of the library, whose tall arrays are NumPy's."""

    def __enter__(self):
        self.engine = Threads(2).__enter__()
        return self

    def __exit__(self, *error):
        self.engine.__exit__(*error)

    def tall(self, x):
        return np.asarray(x, dtype=np.float32)

    def sparse(self, x):
        return self.engine.sparse(sp.csr_array(x.astype(np.float32)))

    def host(self, x):
        assert isinstance(x, np.ndarray)
        return x


class Abroad:
    """The engine whose tall arrays NumPy cannot read."""

    engine = ForeignEngine()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass

    def tall(self, x):
        return Opaque(x)

    def sparse(self, x):
        return self.engine.sparse(sp.csr_array(x))

    def host(self, x):
        assert isinstance(x, Opaque), "a tall array left its engine"
        return self.engine.host(x)


class OnTorch:
    """The engine whose tall arrays are PyTorch's, on the processor."""

    def __enter__(self):
        self.engine = engine_on("torch-cpu", None).__enter__()
        return self

    def __exit__(self, *error):
        self.engine.__exit__(*error)

    def tall(self, x):
        return self.engine.tall(np.asarray(x, dtype=np.float32))

    def sparse(self, x):
        return self.engine.sparse(sp.csr_array(x.astype(np.float32)))

    def host(self, x):
        assert type(x).__name__ == "Tensor", "a tall array left its engine"
        return self.engine.host(x)


PLACES = {"threads": OnThreads, "foreign": Abroad}
if find_spec("torch"):
    PLACES["torch"] = OnTorch


@pytest.fixture(params=PLACES)
def place(request):
    with PLACES[request.param]() as found:
        yield found


def everywhere(function):
    """Results of a function of a place, at every place."""
    found = []
    for kind in PLACES.values():
        with kind() as place:
            found.append(function(place))
    return found


# What each operator is, and the matrix that it stands for.
OPERATORS = {
    "sparse": (lambda at: at.sparse(M), M),
    "Dense": (lambda at: Dense(at.tall(M), at.engine), M),
    "HStack": (lambda at: HStack([at.sparse(M), at.sparse(OTHER)], at.engine), np.hstack([M, OTHER])),
    "HStack of three": (
        lambda at: HStack([at.sparse(OTHER), Dense(at.tall(U), at.engine), at.sparse(M)], at.engine),
        np.hstack([OTHER, U, M]),
    ),
    "Residual": (lambda at: Residual(at.sparse(M), at.tall(U), at.tall(V), at.engine), M - U @ V.T),
    "Series": (lambda at: Series(at.sparse(P), 0.6), 0.4 * np.linalg.inv(np.eye(N) - 0.6 * P)),
    "Series of many terms": (lambda at: Series(at.sparse(P), 0.99), 0.01 * np.linalg.inv(np.eye(N) - 0.99 * P)),
    "Steps": (lambda at: Steps(at.sparse(P), 3, at.sparse(M)), P @ P @ P @ M),
    "TwoSteps": (lambda at: TwoSteps(at.sparse(P)), (P + P @ P) / 2),
    "transposed": (lambda at: at.sparse(M).T, M.T),
    "transposed twice": (lambda at: at.sparse(M).T.T, M),
    "product": (lambda at: at.sparse(P) @ at.sparse(M), P @ M),
    "product of three": (lambda at: at.sparse(OTHER).T @ at.sparse(P) @ at.sparse(M), OTHER.T @ P @ M),
    "transposed product": (lambda at: (at.sparse(P) @ at.sparse(M)).T, (P @ M).T),
    "within a span": (
        lambda at: Dense(at.tall(U), at.engine).T @ Residual(at.sparse(M), at.tall(U), at.tall(V), at.engine),
        U.T @ (M - U @ V.T),
    ),
}
every_operator = pytest.mark.parametrize(("make", "matrix"), OPERATORS.values(), ids=OPERATORS)


def test_the_foreign_engine_keeps_the_contract():
    methods = {name for name in vars(Engine) if not name.startswith("_")}
    assert methods <= set(vars(ForeignEngine))
    assert methods <= set(dir(Threads))


def test_opaque_arrays_are_opaque():
    x = Opaque(numbers(4, 2, 0))
    attempts = (
        lambda: np.asarray(x),
        lambda: np.sqrt(x),
        lambda: np.float32(2) * x,
        lambda: x * np.ones(2),
        lambda: np.zeros((4, 2)) + x,
        lambda: np.concatenate([x, x]),
        lambda: np.linalg.norm(x),
        lambda: x @ np.eye(2),
        lambda: x[0],
        lambda: x[:, :1],
        lambda: len(x),
    )
    for attempt in attempts:
        with pytest.raises(TypeError):
            attempt()


@every_operator
class TestOperators:
    def test_times(self, place, make, matrix):
        x = numbers(matrix.shape[1], K, 6)
        operator = make(place)
        assert operator.shape == matrix.shape
        np.testing.assert_allclose(place.host(operator @ place.tall(x)), matrix @ x, rtol=1e-4, atol=2e-5)

    def test_transposed_times(self, place, make, matrix):
        y = numbers(matrix.shape[0], K, 7)
        operator = make(place).T
        assert operator.shape == matrix.T.shape
        np.testing.assert_allclose(place.host(operator @ place.tall(y)), matrix.T @ y, rtol=1e-4, atol=2e-5)

    def test_leading_triplets(self, make, matrix):
        """Of every operator, at both places: the best approximation of a rank, with the same vectors."""

        def leading(at):
            b, sigma, v = leading_triplets(make(at), 3, at.engine, random=np.random.default_rng(0))
            return at.host(b), sigma, at.host(v)

        (b, sigma, v), *elsewhere = everywhere(leading)
        exact = np.linalg.svd(matrix, compute_uv=False)
        np.testing.assert_allclose(sigma, exact[:3], rtol=0.01, atol=1e-5)
        for foreign_b, foreign_sigma, foreign_v in elsewhere:
            np.testing.assert_allclose(foreign_sigma, sigma, rtol=1e-4, atol=1e-5)
            for x, other in ((b, foreign_b), (v, foreign_v)):
                assert x.shape == other.shape
                np.testing.assert_allclose(other @ other.T, x @ x.T, atol=5e-3 * np.abs(x @ x.T).max())
        np.testing.assert_allclose(b, matrix @ v, atol=1e-4)


CLOSE = 0.8 ** np.arange(Q)
FALLING = 0.5 ** np.arange(12)


class TestTruncated:
    def test_is_the_svd(self, place):
        matrix = spectrum(FALLING)
        random, ticks = np.random.default_rng(0), []
        steps = truncated_svd(
            place.sparse(matrix), 5, place.engine, width=16, iterations=4, random=random, tick=lambda: ticks.append(1)
        )
        b, sigma, v = finished(steps)
        assert len(ticks) == 5
        np.testing.assert_allclose(sigma, FALLING[:5], rtol=1e-4)
        best, _ = best_approximation(matrix, 5)
        np.testing.assert_allclose(place.host(b) @ place.host(v).T, best, atol=1e-5)
        np.testing.assert_allclose(place.host(v).T @ place.host(v), np.eye(5), atol=1e-5)
        assert (np.take_along_axis(place.host(v), np.abs(place.host(v)).argmax(axis=0)[None], axis=0) > 0).all()

    @pytest.mark.parametrize("values", [CLOSE, FALLING], ids=["close", "far apart"])
    def test_has_the_same_vectors_everywhere(self, values):
        """Values too far apart to be squared in float32 take another way, which the second spectrum tries."""
        matrix = spectrum(values)

        def leading(at):
            b, sigma, v = leading_triplets(at.sparse(matrix), 6, at.engine, random=np.random.default_rng(0))
            return at.host(b), sigma, at.host(v)

        (b, sigma, v), *elsewhere = everywhere(leading)
        np.testing.assert_allclose(sigma, values[:6], rtol=1e-3)
        for foreign_b, foreign_sigma, foreign_v in elsewhere:
            np.testing.assert_allclose(foreign_sigma, sigma, rtol=1e-4)
            np.testing.assert_allclose(foreign_b, b, atol=1e-4)
            np.testing.assert_allclose(foreign_v, v, atol=2e-3)

    def test_both_ways_were_taken(self):
        """What a first product with MᵀM shows, and by which the way is chosen."""
        squared = {}
        for values in (CLOSE, FALLING):
            matrix = spectrum(values).astype(float)
            sigma = np.linalg.svd(matrix.T @ (matrix @ numbers(Q, 16, 0)), compute_uv=False)
            squared[len(values)] = sigma[0] < LARGEST_CONDITION * sigma[-1]
        assert squared == {len(CLOSE): True, len(FALLING): False}

    @pytest.mark.parametrize("rank", [Q, Q + 10])
    def test_more_columns_than_there_are_directions(self, place, rank):
        matrix = spectrum(FALLING[:4])
        b, sigma, v = leading_triplets(place.sparse(matrix), rank, place.engine, random=np.random.default_rng(0))
        b, v = place.host(b), place.host(v)
        assert (b.shape, sigma.shape, v.shape) == ((N, rank), (rank,), (Q, rank))
        np.testing.assert_allclose(sigma[:4], FALLING[:4], rtol=1e-4)
        assert not sigma[4:].any()
        assert not b[:, Q:].any()
        assert not v[:, Q:].any()
        np.testing.assert_allclose(b[:, :4] @ v[:, :4].T, matrix, atol=1e-5)


class TestOrthonormal:
    @pytest.mark.parametrize("values", [np.ones(Q), FALLING, FALLING[:4]], ids=["full", "falling", "deficient"])
    def test_basis(self, place, values):
        w = spectrum(values)
        basis, singular = orthonormal(place.tall(w), place.engine)
        basis = place.host(basis)
        rank = len(values)
        np.testing.assert_allclose(singular[::-1][:rank], values, rtol=1e-3)
        np.testing.assert_allclose(basis[:, :rank].T @ basis[:, :rank], np.eye(rank), atol=1e-5)
        assert not basis[:, rank:].any()
        np.testing.assert_allclose(basis @ (basis.T @ w), w, atol=1e-5)  # spans what w spans

    def test_what_is_not_finite_is_left_alone(self, place):
        w = numbers(N, 3, 0)
        w[4, 1] = np.nan
        basis, singular = orthonormal(place.tall(w), place.engine)
        np.testing.assert_array_equal(place.host(basis), w)
        assert np.isnan(singular).all()


class TestEigenpairs:
    def test_of_a_symmetric_matrix(self, place):
        """Eigenvalues of both signs, two of them of the same size: a bipartite graph."""
        sides = spectrum(FALLING[:6])
        matrix = np.block([[np.zeros((N, N)), sides], [sides.T, np.zeros((Q, Q))]])
        values, vectors = leading_eigenpairs(place.sparse(matrix), 6, place.engine, random=np.random.default_rng(0))
        vectors = place.host(vectors)
        np.testing.assert_allclose(np.abs(values), np.repeat(FALLING[:3], 2), rtol=1e-4)
        assert values.sum() == pytest.approx(0, abs=1e-5)
        np.testing.assert_allclose(matrix @ vectors, vectors * values, atol=1e-5)
        np.testing.assert_allclose(vectors.T @ vectors, np.eye(6), atol=1e-5)

    def test_of_a_product(self, place):
        g, h = numbers(N, 4, 8), numbers(N, 4, 9)
        exact, basis = np.linalg.eigh((g @ h.T + h @ g.T).astype(float) / 2)
        values, vectors = product_eigenpairs(place.tall(g), place.tall(h), 3, place.engine)
        np.testing.assert_allclose(values, exact[::-1][:3], rtol=1e-4)
        vectors = place.host(vectors)
        overlap = np.abs(np.einsum("ij,ij->j", vectors, basis[:, ::-1][:, :3]))
        np.testing.assert_allclose(overlap, 1, atol=1e-4)

    def test_of_a_product_that_has_fewer(self, place):
        g = numbers(N, 2, 8)
        values, vectors = product_eigenpairs(place.tall(g), place.tall(g), 9, place.engine)
        exact = np.linalg.eigvalsh((g @ g.T).astype(float))[::-1]
        np.testing.assert_allclose(values, exact[:2], rtol=1e-4)
        assert place.host(vectors).shape == (N, 2)
