"""BANE: binary vectors of attributes that were spread over the graph."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass

import numpy as np
from numpy.typing import NDArray

from hopscale.checks import number, parameter, whole
from hopscale.compute import Threads
from hopscale.compute.operators import Steps
from hopscale.compute.svd import leading_triplets, triplets_bytes
from hopscale.compute.threads import TALL_CHUNK, ranges
from hopscale.graph import AttributedGraph
from hopscale.models.matrix.base import MatrixEmbedding
from hopscale.walks.transitions import Transitions, in_unit, smoothing

__all__ = ["BANE"]


@dataclass(eq=False, repr=False)
class BANE(MatrixEmbedding):
    """Binarized attributed network embedding: every coordinate is 1 or −1, or 0 where no feature is within reach.

    .. math:: \\min_{B \\in \\{-1, 1\\}^{n \\times d},\\, Z} \\|M - B Z^T\\|_F^2 + \\alpha \\|Z\\|_F^2,
        \\quad M = (I - \\gamma \\tilde L)^t F

    with :math:`\\tilde L` the normalised Laplacian of A + I: the paper's Weisfeiler-Lehman proximity, features spread
    over t steps. Z and B are found in turn: Z by a ridge regression, B one column after the other, each exactly given
    the others (cyclic coordinate descent), from the signs of the leading singular vectors. M is never formed.

    Parameters
    ----------
    dimensions, memory_limit, keep_graph, device, n_jobs, random_state, verbose
        As in :class:`HOPE` and :class:`MUSAE`.
    window : int, default=4
        Steps t that features are spread over.
    strength : float, default=0.7
        Share of a step that goes to the neighbours, γ.
    regularization : float, default=0.001
        Weight of the squared length of Z, α.
    iterations : int, default=20
        Number of times that the parts are updated in turn.

    Attributes
    ----------
    embedding_ : ndarray of shape (n, dimensions)
    scale_columns_ : dict
        Columns of each part: ``"binary"``, all of them.

    See Also
    --------
    AANE : attributes and edges in balance, real numbers.

    Notes
    -----
    A node keeps a share of its own features as if it had an edge of weight 1 to itself: it matters whether weights are
    large or small against that. The unit of the features does not matter.

    Time O((t·m + nnz(F))·d + n·d²) an iteration, memory O(m + nnz(F) + (n + q)·d). A bit a coordinate once packed, so
    that millions of nodes can be compared by counting bits; everything else here is more accurate.

    References
    ----------
    H. Yang, S. Pan, P. Zhang, L. Chen, D. Lian and C. Zhang, "Binarized attributed network embedding", ICDM 2018.

    Examples
    --------
    >>> import numpy as np
    >>> from hopscale import BANE, datasets
    >>> np.unique(BANE(dimensions=8).fit_transform(datasets.planted_blocks(n_nodes=60)))
    array([-1.,  1.], dtype=float32)
    """

    kind = "attributed matrix"
    time = "O(i ((t m + nnz(F)) d + n d²))"
    memory = "O(m + nnz(F) + (n + q) d)"
    reads_features = True
    places_nodes = False

    _: KW_ONLY
    window: int = parameter(4, whole, least=1, most=1000)
    strength: float = parameter(0.7, number, least=0, above=True, below=1)
    regularization: float = parameter(0.001, number, least=0, above=True)
    iterations: int = parameter(20, whole, least=1, most=100_000)

    def _bytes_needed(self, graph: AttributedGraph) -> float:
        n, q = graph.features.shape
        start = triplets_bytes(2 * n, q, self.dimensions, self._engine())  # its products keep a step each
        alternating = self.dimensions * (20.0 * n + 32.0 * q)
        return max(start, alternating) + 48.0 * graph.adjacency.nnz + 24.0 * graph.features.nnz

    def _vectors(self, graph: AttributedGraph, seed: int, engine: Threads) -> dict[str, NDArray[np.float32]]:
        step = engine.sparse(smoothing(graph.adjacency, self.strength))
        M = Steps(step, self.window, engine.sparse(in_unit(graph.features)[0]))
        random = np.random.default_rng(seed)
        start, sigma, _ = leading_triplets(M, self.dimensions, engine, random=random)
        B = _signs(start)
        beyond = sigma == 0  # the rank: no direction is left to start from
        B[:, beyond] = _signs(random.standard_normal((len(B), int(beyond.sum())), dtype=np.float32))
        with engine.bar(self.iterations, "alternate", "iteration") as bar:
            for _ in range(self.iterations):
                before = B.copy()
                gram = engine.gram(B, B) + self.regularization * np.eye(B.shape[1])
                Z = np.linalg.solve(gram, (M.T @ B).T.astype(np.float64)).T.astype(np.float32)
                _improve(B, M @ Z, engine.gram(Z, Z, np.float32), engine)
                bar.update(1)
                if np.array_equal(B, before):  # and so it would stay
                    break
        return {"binary": B * self._reached(graph)[:, None]}

    def _reached(self, graph: AttributedGraph) -> NDArray[np.bool_]:
        """Whether a feature is within reach of each node."""
        walks, reached = Transitions(graph.adjacency), np.diff(graph.features.indptr) > 0
        for _ in range(self.window):
            found = reached | walks.reaches(reached)
            if np.array_equal(found, reached):
                break
            reached = found
        return reached


def _improve(B: NDArray[np.float32], Q: NDArray[np.float32], G: NDArray[np.float32], engine: Threads) -> None:
    """Every column of B in turn, given the others; rows do not know of each other."""

    def one(piece: tuple[int, int]) -> None:
        rows = np.ascontiguousarray(B[slice(*piece)].T)  # columns are read and written one by one
        wanted = Q[slice(*piece), : len(rows)].T
        for k in range(len(rows)):
            rows[k] = _signs(wanted[k] - G[k] @ rows + rows[k] * G[k, k])
        B[slice(*piece)] = rows.T

    engine.run(one, ranges(len(B), TALL_CHUNK))


def _signs(x: NDArray[np.float32]) -> NDArray[np.float32]:
    return np.where(x >= 0, np.float32(1), np.float32(-1))
