"""TADW: walks and attributes in one factorisation."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hopscale.checks import even, number, parameter, whole
from hopscale.compute import Engine, Operator
from hopscale.compute.engine import Tall
from hopscale.compute.operators import TwoSteps
from hopscale.compute.svd import MAX_RANK, leading_triplets, triplets_bytes
from hopscale.graph import AttributedGraph
from hopscale.models.matrix.base import MatrixEmbedding
from hopscale.walks import Transitions
from hopscale.walks.transitions import in_unit

__all__ = ["TADW"]

Matrix = NDArray[np.float64]


@dataclass(eq=False, repr=False)
class TADW(MatrixEmbedding):
    """Text-associated DeepWalk: factorises two steps of walks through the nodes' features.

    .. math:: \\min_{W, H} \\|M - W^T H T\\|_F^2 + \\tfrac{\\lambda}{2} (\\|W\\|_F^2 + \\|H\\|_F^2),
        \\quad M = \\tfrac12 (P + P^2)

    T holds each node's features, weighted by tf-idf and reduced by a singular value decomposition. W and H are found
    in turn, each exactly: W by a ridge regression, H by the eigenvectors of WWᵀ and TTᵀ, in which its equation falls
    apart into single numbers. The vectors are W and HT, half of the dimensions each, W scaled to the length of HT: W
    is far shorter, and neighbours and classifiers would see one half only. M is never formed.

    Parameters
    ----------
    dimensions, memory_limit, keep_graph, device, n_jobs, random_state, verbose
        As in :class:`HOPE` and :class:`MUSAE`.
    text_dimensions : int, default=200
        Columns that features are reduced to.
    regularization : float, default=0.2
        Weight of the squared lengths of the vectors, λ.
    iterations : int, default=20
        Number of times that the parts are updated in turn.

    Attributes
    ----------
    embedding_ : ndarray of shape (n, dimensions)
    scale_columns_ : dict
        Columns of each part: ``"walks"`` and ``"features"``.

    See Also
    --------
    MUSAE : features of several hops, none reduced.
    TENE : the same two matrices, non-negative.

    Notes
    -----
    The penalty λ is set against the size of the features, whose unit matters: with values that are very small it leaves
    nothing but zeros. The unit of the weights does not matter.

    Time O(m·d + n·(d + f)²) an iteration, f of ``text_dimensions``; memory O(m + nnz(F) + n·(d + f)). For attributes
    that say much on their own, such as the words of papers. Where they are many and rare, what the reduction leaves
    out is lost: :class:`MUSAE` keeps it.

    References
    ----------
    C. Yang, Z. Liu, D. Zhao, M. Sun and E. Chang, "Network representation learning with rich text information",
    IJCAI 2015.

    Examples
    --------
    >>> from hopscale import TADW, datasets
    >>> TADW(dimensions=8).fit_transform(datasets.planted_blocks(n_nodes=60)).shape
    (60, 8)
    """

    kind = "attributed matrix"
    time = "O(i (m d + n (d + f)²))"
    memory = "O(m + nnz(F) + n (d + f))"
    reads_features = True
    places_nodes = False
    only_products = True

    dimensions: int = parameter(128, even, most=MAX_RANK)
    _: KW_ONLY
    text_dimensions: int = parameter(200, whole, least=1, most=MAX_RANK)
    regularization: float = parameter(0.2, number, least=0, above=True)
    iterations: int = parameter(20, whole, least=1, most=100_000)

    def _bytes_needed(self, graph: AttributedGraph) -> float:
        n, q = graph.features.shape
        f = min(self.text_dimensions, n, q)
        reducing = triplets_bytes(n, q, f, self._engine()) + 8.0 * n * f + 24.0 * graph.features.nnz
        return max(reducing, n * (28.0 * f + 16.0 * self.dimensions)) + 24.0 * graph.adjacency.nnz

    def _vectors(self, graph: AttributedGraph, seed: int, engine: Engine) -> dict[str, Matrix]:
        random = np.random.default_rng(seed)
        T = reduced_features(graph.features, self.text_dimensions, random, engine)
        walk = TwoSteps(engine.sparse(Transitions(graph.adjacency).matrix()))
        k, ridge = self.dimensions // 2, self.regularization / 2
        # In the eigenvectors of TTᵀ: they stay the same.
        b, Q = np.linalg.eigh(engine.gram(T, T))
        Q *= np.where(Q[np.argmax(np.abs(Q), axis=0), np.arange(len(Q))] < 0, -1.0, 1.0)  # their signs are arbitrary
        T = engine.matmul(T, Q)
        H = random.standard_normal((k, T.shape[1])) / np.sqrt(T.shape[1])
        with engine.bar(self.iterations, "factorise", "iteration") as bar:
            for _ in range(self.iterations):
                Y = engine.matmul(T, H.T)
                y, Q = np.linalg.eigh(engine.gram(Y, Y))
                # Divided before the walk: in single precision its noise would be, where features span few directions.
                Y = engine.matmul(Y, Q * _inverse(y, ridge) @ Q.T)
                W = _product(walk, Y, engine)  # a row a node
                del Y
                a, R = np.linalg.eigh(engine.gram(W, W))
                met = _product(walk.T, W, engine)
                H = R @ ((R.T @ engine.gram(met, T)) * _inverse(np.outer(_positive(a), _positive(b)), ridge))
                del met
                bar.update(1)
        walks, features = engine.host(W), engine.host(engine.matmul(T, H.T))
        share = float(np.linalg.norm(features)) / max(float(np.linalg.norm(walks)), 1e-300)
        return {"walks": walks * share, "features": features}


def reduced_features(features: sp.csr_array, dimensions: int, random: np.random.Generator, engine: Engine) -> Tall:
    """Features weighted by tf-idf, in the coordinates of their leading singular vectors.

    The logarithm is scikit-learn's smooth one, which leaves something of a feature that every node has.
    """
    n = features.shape[0]
    count = np.bincount(features.indices, minlength=features.shape[1])
    idf = (np.log((1 + n) / (1 + count)) + 1).astype(np.float32)
    unit, exponent = in_unit(features)
    weighted = sp.csr_array((unit.data * idf[unit.indices], unit.indices, unit.indptr), shape=unit.shape)
    matrix = engine.sparse(weighted)
    rank = min(dimensions, *matrix.shape)
    scores, _, _ = leading_triplets(matrix, rank, engine, random=random, doing="reduce features")
    return engine.tall(np.ldexp(engine.host(scores).astype(np.float64), exponent))


def _inverse(values: Matrix, ridge: float) -> Matrix:
    """1/(values + ridge), and 0 where a value is zero but for rounding: nothing is there to be divided."""
    return np.where(_positive(values) > 0, 1.0 / (_positive(values) + ridge), 0.0)


def _positive(values: Matrix) -> Matrix:
    """Eigenvalues of a Gram matrix, without what rounding leaves of those that are zero."""
    return np.where(values > 1e-12 * values.max(initial=0.0), values, 0.0)


def _product(matrix: Operator, x: Tall, engine: Engine) -> Tall:
    """The product in single precision, of numbers of any size."""
    unit = 2.0 ** float(np.clip(np.frexp(np.abs(engine.peaks(x)).max(initial=0.0))[1], -1000, 1000))
    product = engine.double(matrix @ (x * (1.0 / unit)))
    product *= unit
    return product
