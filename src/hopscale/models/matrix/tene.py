"""TENE: non-negative factors of walks and attributes that agree."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hopscale.checks import even, number, parameter, whole
from hopscale.compute import Threads
from hopscale.compute.operators import TwoSteps
from hopscale.compute.svd import MAX_RANK
from hopscale.graph import AttributedGraph
from hopscale.models.matrix.base import MatrixEmbedding
from hopscale.walks import Transitions

__all__ = ["TENE"]

Matrix = NDArray[np.float32]


@dataclass(eq=False, repr=False)
class TENE(MatrixEmbedding):
    """Text-enhanced network embedding: a non-negative factorisation of walks, led by one of the features.

    .. math:: \\min_{X, U, H, V, C \\ge 0} \\|M - X U^T\\|_F^2 + \\alpha \\|H - X C\\|_F^2 + \\beta \\|F - H V^T\\|_F^2,
        \\quad M = \\tfrac12 (P + P^2)

    H says to which clusters of the features a node belongs, X where its walks go; C translates one into the other. By
    multiplicative updates, which keep everything non-negative and never raise the objective. The vectors are X and H,
    half of the dimensions each. The objective leaves their lengths open: H is given what makes columns of V unit
    vectors, and X the length of H.

    Parameters
    ----------
    dimensions, memory_limit, keep_graph, n_jobs, random_state, verbose
        As in :class:`HOPE` and :class:`MUSAE`.
    agreement : float, default=0.1
        Weight of what walks and features must agree on, α.
    text_weight : float, default=0.1
        Weight of the features, β.
    iterations : int, default=200
        Number of times that the parts are updated in turn.

    Attributes
    ----------
    embedding_ : ndarray of shape (n, dimensions)
    scale_columns_ : dict
        Columns of each part: ``"walks"`` and ``"features"``.

    See Also
    --------
    TADW : the same two matrices, with signs.

    Notes
    -----
    Features enter the objective and its start as they are: their unit matters, vectors grow with it, and values beyond
    about 1e18 are refused. The unit of the weights does not matter.

    Time O((m + nnz(F))·d + (n + q)·d²) an iteration, memory O(m + nnz(F) + (n + q)·d). For features that are counts,
    whose parts should stay readable; slower and less accurate than the factorisations with signs. The objective is that
    of the paper's summary: details of the paper may differ.

    References
    ----------
    S. Yang and B. Yang, "Enhanced network embedding with text information", ICPR 2018.

    Examples
    --------
    >>> from hopscale import TENE, datasets
    >>> bool((TENE(dimensions=8).fit_transform(datasets.planted_blocks(n_nodes=60)) >= 0).all())
    True
    """

    kind = "attributed matrix"
    time = "O(i ((m + nnz(F)) d + (n + q) d²))"
    memory = "O(m + nnz(F) + (n + q) d)"
    reads_features = True

    dimensions: int = parameter(128, even, most=MAX_RANK)
    _: KW_ONLY
    agreement: float = parameter(0.1, number, least=0, above=True)
    text_weight: float = parameter(0.1, number, least=0, above=True)
    iterations: int = parameter(200, whole, least=1, most=100_000)

    def _bytes_needed(self, graph: AttributedGraph) -> float:
        n, q = graph.features.shape
        entries = graph.adjacency.nnz + graph.features.nnz
        return 4.0 * (self.dimensions // 2) * (4.0 * n + 3.2 * q) + 24.0 * entries

    def _vectors(self, graph: AttributedGraph, seed: int, engine: Threads) -> dict[str, Matrix]:
        M = TwoSteps(engine.sparse(Transitions(graph.adjacency).matrix()))
        F = engine.sparse(graph.features.astype(np.float32))
        (n, q), k = F.shape, self.dimensions // 2
        random = np.random.default_rng(seed)
        X, U, H = (random.random((n, k), dtype=np.float32) for _ in range(3))
        V, C = random.random((q, k), dtype=np.float32), random.random((k, k), dtype=np.float32)
        a, b = np.float32(self.agreement), np.float32(self.text_weight)
        times, gram = engine.matmul, partial(engine.gram, dtype=np.float32)
        with engine.bar(self.iterations, "factorise", "iteration") as bar:
            for _ in range(self.iterations):
                X *= _ratio(M @ U + a * times(H, C.T), times(X, gram(U, U) + a * (C @ C.T)))
                XX = gram(X, X)
                U *= _ratio(M.T @ X, times(U, XX))
                C *= _ratio(gram(X, H), XX @ C)
                H *= _ratio(a * times(X, C) + b * (F @ V), a * H + b * times(H, gram(V, V)))
                V *= _ratio(F.T @ H, times(V, gram(H, H)))
                bar.update(1)
        H *= np.sqrt(np.einsum("ij,ij->j", V, V, dtype=np.float64)).astype(np.float32)
        return {"walks": X * np.float32(_length(H) / max(_length(X), 1e-12)), "features": H}


def _ratio(wanted: NDArray[Any], found: NDArray[Any]) -> Matrix:
    return np.asarray(wanted / np.maximum(found, np.float32(1e-12)), dtype=np.float32)


def _length(x: Matrix) -> float:
    return float(np.sqrt(np.einsum("ij,ij->", x, x, dtype=np.float64)))
