"""AANE: similar attributes, and neighbours that agree."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hopscale.graph import AttributedGraph
from hopscale.models.base import Traits
from hopscale.models.blocks import BlockEmbedding
from hopscale.models.parameters import number, whole
from hopscale.parallel import Workers, ranges
from hopscale.solvers.matrices import RowMatrix
from hopscale.solvers.operators import unit_rows
from hopscale.solvers.svd import leading_triplets
from hopscale.solvers.tables import crossed, turned

__all__ = ["AANE"]

Matrix = NDArray[np.float64]

NUMBERS = 2**18  # of differences along edges that a thread holds at once


class AANE(BlockEmbedding):
    """Accelerated attributed network embedding.

    .. math:: \\min_H \\|S - H H^T\\|_F^2 + \\lambda \\sum_{ij} A_{ij} \\|h_i - h_j\\|_2

    with S the cosine similarity of the nodes' features. Solved by the paper's alternating directions: a copy Z of H,
    rows of H and of Z updated in turn, and a penalty ρ on their difference. S is never formed, since S·Z is a product
    of F with itself; and all rows of an update share one eigendecomposition, since their equations differ by a number.

    Parameters
    ----------
    dimensions : int, default=128
    smoothness : float, default=0.05
        λ, what neighbours' differences count.
    penalty : float, default=5.0
        ρ.
    iterations : int, default=5
    memory_limit : int or str, default="4GiB"
        Memory for the work; a graph that would take more is refused.
    n_jobs, random_state, verbose
        As in :class:`MUSAE`.

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

    traits = Traits(
        "attributed matrix", uses_features=True, time="O(i ((m + nnz(F)) d + n d²))", memory="O(m + nnz(F) + n d)"
    )

    def __init__(
        self,
        dimensions: int = 128,
        *,
        smoothness: float = 0.05,
        penalty: float = 5.0,
        iterations: int = 5,
        memory_limit: int | str = "4GiB",
        n_jobs: int | None = -1,
        random_state: Any = 0,
        verbose: bool = False,
    ) -> None:
        self.dimensions = dimensions
        self.smoothness = smoothness
        self.penalty = penalty
        self.iterations = iterations
        self.memory_limit = memory_limit
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def check_parameters(self) -> None:
        """Refuse parameters that make no sense, before a graph is read."""
        super().check_parameters()
        number("smoothness", self.smoothness, least=0)
        number("penalty", self.penalty, least=0, above=True)
        whole("iterations", self.iterations, least=1)

    def _bytes_needed(self, graph: AttributedGraph) -> float:
        entries = graph.adjacency.nnz + graph.features.nnz
        return 80.0 * graph.n_nodes * self.dimensions + 24.0 * entries

    def _vectors(self, graph: AttributedGraph, seed: int, workers: Workers) -> dict[str, Matrix]:
        unit = RowMatrix(unit_rows(graph.features), workers)
        random = np.random.default_rng(seed)
        start, _, _ = leading_triplets(unit, self.dimensions, workers, random=random)  # HHᵀ = S at full rank
        H = start.astype(np.float64)
        Z, U = H.copy(), np.zeros_like(H)
        with workers.bar(self.iterations, "alternate", "iteration") as bar:
            for _ in range(self.iterations):
                H = self._updated(H, Z, Z - U, graph.adjacency, unit, workers)
                Z = self._updated(Z, H, H + U, graph.adjacency, unit, workers)
                U += H - Z
                bar.update(1)
        return {"attributes": H}

    def _updated(
        self, X: Matrix, Y: Matrix, near: Matrix, adjacency: sp.csr_array, unit: RowMatrix, workers: Workers
    ) -> Matrix:
        """All rows of X that minimise the objective with Y fixed, kept near some others.

        x_i (2YᵀY + (λ Σ_j a_ij/|x_i − y_j| + ρ) I) = 2 s_i Y + λ Σ_j a_ij/|x_i − y_j| y_j + ρ near_i
        """
        distances = _distances(X, Y, adjacency, workers)
        inverse = np.divide(1.0, distances, out=np.zeros_like(distances), where=distances > 0)
        strength = self.smoothness * adjacency.data * inverse
        pull = sp.csr_array((strength, adjacency.indices, adjacency.indptr), shape=adjacency.shape)
        similar = unit.times(unit.transposed_times(Y.astype(np.float32)))[:, : Y.shape[1]].astype(np.float64)
        right = 2.0 * similar + pull @ Y + self.penalty * near
        values, Q = np.linalg.eigh(crossed(Y, Y, workers))
        own = np.asarray(pull.sum(axis=1)).ravel() + self.penalty
        return turned(turned(right, Q, workers) / (2.0 * values + own[:, None]), Q.T, workers)


def _distances(X: Matrix, Y: Matrix, adjacency: sp.csr_array, workers: Workers) -> Matrix:
    """|x_i − y_j| for every edge."""
    rows = np.repeat(np.arange(adjacency.shape[0]), np.diff(adjacency.indptr))
    out = np.empty(adjacency.nnz)

    def one(piece: tuple[int, int]) -> None:
        begin, end = piece
        difference = X[rows[begin:end]]
        difference -= Y[adjacency.indices[begin:end]]
        out[begin:end] = np.sqrt(np.einsum("ij,ij->i", difference, difference))

    workers.run(one, ranges(adjacency.nnz, max(1, NUMBERS // X.shape[1])))
    return out
