"""AANE: similar attributes, and neighbours that agree."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hopscale.checks import number, parameter, whole
from hopscale.compute import Operator, Threads
from hopscale.compute.svd import leading_triplets, triplets_bytes
from hopscale.compute.threads import ranges
from hopscale.graph import AttributedGraph
from hopscale.models.matrix.base import MatrixEmbedding
from hopscale.walks.transitions import in_unit, scaled_rows

__all__ = ["AANE"]

Matrix = NDArray[np.float64]

NUMBERS = 2**18  # of differences along edges that a thread holds at once


@dataclass(eq=False, repr=False)
class AANE(MatrixEmbedding):
    """Accelerated attributed network embedding.

    .. math:: \\min_H \\|S - H H^T\\|_F^2 + \\lambda \\sum_{ij} A_{ij} \\|h_i - h_j\\|_2

    with S the cosine similarity of the nodes' features. Solved by the paper's alternating directions: a copy Z of H,
    rows of H and of Z updated in turn, and a penalty ρ on their difference. S is never formed, since S·Z is a product
    of F with itself; and all rows of an update share one eigendecomposition, since their equations differ by a number.

    Parameters
    ----------
    dimensions, memory_limit, keep_graph, device, n_jobs, random_state, verbose
        As in :class:`HOPE` and :class:`MUSAE`.
    smoothness : float, default=0.05
        Weight of differences between neighbours, λ.
    penalty : float, default=5.0
        Weight of differences between the two copies, ρ.
    iterations : int, default=5
        Number of times that the parts are updated in turn.

    Attributes
    ----------
    embedding_ : ndarray of shape (n, dimensions)
    scale_columns_ : dict
        Columns of each part: ``"attributes"``, all of them.

    See Also
    --------
    BANE : attributes that are spread over the graph before they are factorised.

    Notes
    -----
    Weights are set against attributes that have no unit: twice as large ones ask for half the ``smoothness``. The unit
    of the features does not matter.

    Time O((m + nnz(F))·d + n·d²) an iteration, where the paper's has O(n²·d); memory O(m + nnz(F) + n·d). For
    attributes that are similar where labels are; edges only smooth them. Graphs whose edges tell more than their
    attributes are better served by :class:`MUSAE`.

    References
    ----------
    X. Huang, J. Li and X. Hu, "Accelerated attributed network embedding", SDM 2017.

    Examples
    --------
    >>> from hopscale import AANE, datasets
    >>> AANE(dimensions=8).fit_transform(datasets.planted_blocks(n_nodes=60)).shape
    (60, 8)
    """

    kind = "attributed matrix"
    time = "O(i ((m + nnz(F)) d + n d²))"
    memory = "O(m + nnz(F) + n d)"
    reads_features = True
    higher_order = False
    non_linear = True

    _: KW_ONLY
    smoothness: float = parameter(0.05, number, least=0)
    penalty: float = parameter(5.0, number, least=0, above=True)
    iterations: int = parameter(5, whole, least=1, most=100_000)

    def _bytes_needed(self, graph: AttributedGraph) -> float:
        (n, q), entries = graph.features.shape, graph.adjacency.nnz + graph.features.nnz
        start = triplets_bytes(n, q, self.dimensions, self._engine())
        return max(start, 80.0 * n * self.dimensions) + 32.0 * entries

    def _vectors(self, graph: AttributedGraph, seed: int, engine: Threads) -> dict[str, Matrix]:
        unit = engine.sparse(_unit_rows(graph.features))
        pull = self._pull(graph.adjacency)
        random = np.random.default_rng(seed)
        start, _, _ = leading_triplets(unit, self.dimensions, engine, random=random)  # HHᵀ = S at full rank
        H = start.astype(np.float64)
        Z, U = H.copy(), np.zeros_like(H)
        with engine.bar(self.iterations, "alternate", "iteration") as bar:
            for _ in range(self.iterations):
                H = self._updated(H, Z, Z - U, pull, unit, engine)
                Z = self._updated(Z, H, H + U, pull, unit, engine)
                U += H - Z
                bar.update(1)
        return {"attributes": H}

    def _pull(self, adjacency: sp.csr_array) -> sp.csr_array:
        """λA, in double precision: of whatever size, it stays finite."""
        A, exponent = in_unit(adjacency)
        weights = np.ldexp((self.smoothness * A.data).astype(np.float64), exponent)
        return sp.csr_array((weights, A.indices, A.indptr), shape=A.shape)

    def _updated(
        self, X: Matrix, Y: Matrix, near: Matrix, weights: sp.csr_array, unit: Operator, engine: Threads
    ) -> Matrix:
        """All rows of X that minimise the objective with Y fixed, kept near some others.

        x_i (2YᵀY + (λ Σ_j a_ij/|x_i − y_j| + ρ) I) = 2 s_i Y + λ Σ_j a_ij/|x_i − y_j| y_j + ρ near_i
        """
        distances = _distances(X, Y, weights, engine)
        inverse = np.divide(1.0, distances, out=np.zeros_like(distances), where=distances > 0)
        pull = sp.csr_array((weights.data * inverse, weights.indices, weights.indptr), shape=weights.shape)
        similar = (unit @ (unit.T @ Y.astype(np.float32))).astype(np.float64)
        right = 2.0 * similar + pull @ Y + self.penalty * near
        values, Q = np.linalg.eigh(engine.gram(Y, Y))
        own = np.asarray(pull.sum(axis=1)).ravel() + self.penalty
        return engine.matmul(engine.matmul(right, Q) / (2.0 * values + own[:, None]), Q.T)


def _unit_rows(matrix: sp.csr_array) -> sp.csr_array:
    """The matrix with rows of length one, or zero."""
    largest = np.asarray(matrix.max(axis=1).todense()).ravel()
    exponents = np.repeat(np.frexp(largest)[1], np.diff(matrix.indptr))  # squares could leave float32's range
    matrix = sp.csr_array((np.ldexp(matrix.data, -exponents), matrix.indices, matrix.indptr), shape=matrix.shape)
    length = np.sqrt(np.asarray(matrix.multiply(matrix).sum(axis=1, dtype=np.float64)).ravel())
    return scaled_rows(matrix, np.divide(1.0, length, out=np.zeros_like(length), where=length > 0))


def _distances(X: Matrix, Y: Matrix, adjacency: sp.csr_array, engine: Threads) -> Matrix:
    """|x_i − y_j| for every edge."""
    rows = np.repeat(np.arange(adjacency.shape[0]), np.diff(adjacency.indptr))
    out = np.empty(adjacency.nnz)

    def one(piece: tuple[int, int]) -> None:
        begin, end = piece
        difference = X[rows[begin:end]]
        difference -= Y[adjacency.indices[begin:end]]
        out[begin:end] = np.sqrt(np.einsum("ij,ij->i", difference, difference))

    engine.run(one, ranges(adjacency.nnz, max(1, NUMBERS // X.shape[1])))
    return out
