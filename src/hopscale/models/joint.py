"""SINE and ASNE: attributes and neighbours predicted by, or predicting, one vector of a node."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hopscale.graph import AttributedGraph
from hopscale.models.base import Traits
from hopscale.models.blocks import BlockEmbedding
from hopscale.models.parameters import even, memory_bytes, number, whole
from hopscale.models.scales import MAX_WINDOW
from hopscale.pairs import Pairs, Scale, positive_logs
from hopscale.parallel import Workers
from hopscale.solvers import PMISolver
from hopscale.solvers.matrices import DenseMatrix, RowMatrix
from hopscale.solvers.operators import Beside, Product, Transposed, Without
from hopscale.solvers.svd import MAX_RANK, balanced, leading_triplets, triplets_bytes
from hopscale.solvers.tables import turned

__all__ = ["ASNE", "SINE"]


class SINE(BlockEmbedding):
    """Scalable incomplete network embedding: a node's vector predicts the nodes around it and its own features.

    Training on node-node and node-feature pairs alike tends to

    .. math:: G\\,[H_V^T\\; H_F^T] = \\left[\\log\\frac{c}{t}\\sum_{r=1}^{t} P^r D^{-1}
        \\;\\middle|\\; \\log\\frac{s\\,F_{ij}}{s_i\\,s_j}\\right] - \\log b

    whose positive part is factorised here; s are the sums of F, of its rows and of its columns. Nodes without features,
    or without edges, keep what the other half tells.

    Parameters
    ----------
    dimensions : int, default=128
    window : int, default=10
        Largest number of hops to a node in the context.
    shift : float, default=1.0
        b.
    memory_limit : int or str, default="4GiB"
        Memory for the matrix of walks. Where exact rows would not fit, they are estimated from 800 walks of each node;
        where these would not fit either, the graph is refused.
    n_jobs, random_state, verbose
        As in :class:`MUSAE`.

    Attributes
    ----------
    embedding_ : ndarray of shape (n, dimensions)
    scale_columns_ : dict
        Columns of each part: ``"nodes+features"``, all of them.

    See Also
    --------
    MUSAE : features of the nodes around; with ``ego=True`` these nodes, too.

    Notes
    -----
    Time O(t·m·n + nnz·d), memory O(nnz). For graphs in which many edges or features are missing. Features of neighbours
    are not looked at: :class:`MUSAE` does that, and with ``ego=True`` sees nodes as well.

    References
    ----------
    D. Zhang, J. Yin, X. Zhu and C. Zhang, "SINE: scalable incomplete network embedding", ICDM 2018.

    Examples
    --------
    >>> from hopscale import SINE, datasets
    >>> SINE(dimensions=8, window=3).fit_transform(datasets.planted_blocks(n_nodes=60)).shape
    (60, 8)
    """

    traits = Traits("walks and features", uses_features=True, time="O(t m n + nnz d)", memory="O(nnz + (n + q) d)")

    def __init__(
        self,
        dimensions: int = 128,
        *,
        window: int = 10,
        shift: float = 1.0,
        memory_limit: int | str = "4GiB",
        n_jobs: int | None = -1,
        random_state: Any = 0,
        verbose: bool = False,
    ) -> None:
        self.dimensions = dimensions
        self.window = window
        self.shift = shift
        self.memory_limit = memory_limit
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def check_parameters(self) -> None:
        """Refuse parameters that make no sense, before a graph is read."""
        super().check_parameters()
        whole("window", self.window, least=1, most=MAX_WINDOW)
        number("shift", self.shift, least=0, above=True)
        memory_bytes(self.memory_limit)

    def _bytes_needed(self, graph: AttributedGraph) -> float:
        n, q = graph.features.shape
        return triplets_bytes(n, n + q, self.dimensions)  # the matrix of walks has its own check

    def _vectors(self, graph: AttributedGraph, seed: int, workers: Workers) -> dict[str, NDArray[np.float32]]:
        solver = PMISolver(shift=self.shift, memory_limit=memory_bytes(self.memory_limit), seed=seed)
        hops = tuple(range(1, self.window + 1))
        nodes = solver.target(Pairs.of_nodes(graph.adjacency), Scale(hops, self.dimensions), workers)
        features = RowMatrix(_association(graph.features, self.shift), workers)
        both, random = Beside([nodes, features]), np.random.default_rng(seed)
        scores, sigma, _ = leading_triplets(both, self.dimensions, workers, random=random)
        return {"nodes+features": balanced(scores, sigma)}


class ASNE(BlockEmbedding):
    """Attributed social network embedding: a node's identity and its features together predict its neighbours.

    .. math:: \\log\\frac{c\\,A_{ij}}{d_i\\,d_j} - \\log b \\approx u_i^T v_j + \\lambda\\,(W^T f_i)^T v'_j

    is what its training tends to without hidden layers; the positive part of the left side is fitted, by exact
    minimisation in turn: given the features' part, the identities' are the leading singular vectors of what is left,
    and the other way round, within what the features span. The vectors are u and λWᵀf, half of the dimensions each.

    Parameters
    ----------
    dimensions : int, default=128
    attribute_weight : float, default=1.0
        λ in the vectors.
    feature_dimensions : int, default=200
        Columns that features are reduced to first, by a singular value decomposition.
    shift : float, default=1.0
        b.
    iterations : int, default=3
    memory_limit : int or str, default="4GiB"
        Memory for the work; a graph that would take more is refused.
    n_jobs, random_state, verbose
        As in :class:`MUSAE`.

    Attributes
    ----------
    embedding_ : ndarray of shape (n, dimensions)
    scale_columns_ : dict
        Columns of each part: ``"identity"`` and ``"features"``.

    See Also
    --------
    MUSAE : features of several hops, none reduced.

    Notes
    -----
    Time O((m + n·f)·d) an iteration, f of ``feature_dimensions``; memory O(m + nnz(F) + n·(d + f)). For friendships
    that attributes explain in part. It looks one step far. The paper's hidden layers are left out: they make the model
    non-linear, and cost it the solution in closed form.

    References
    ----------
    L. Liao, X. He, H. Zhang and T.-S. Chua, "Attributed social network embedding", TKDE 2018.

    Examples
    --------
    >>> from hopscale import ASNE, datasets
    >>> list(ASNE(dimensions=8).fit(datasets.planted_blocks(n_nodes=60)).scale_columns_)
    ['identity', 'features']
    """

    traits = Traits(
        "attributed matrix", uses_features=True, time="O(i (m + n f) d)", memory="O(m + nnz(F) + n (d + f))"
    )

    def __init__(
        self,
        dimensions: int = 128,
        *,
        attribute_weight: float = 1.0,
        feature_dimensions: int = 200,
        shift: float = 1.0,
        iterations: int = 3,
        memory_limit: int | str = "4GiB",
        n_jobs: int | None = -1,
        random_state: Any = 0,
        verbose: bool = False,
    ) -> None:
        self.dimensions = dimensions
        self.attribute_weight = attribute_weight
        self.feature_dimensions = feature_dimensions
        self.shift = shift
        self.iterations = iterations
        self.memory_limit = memory_limit
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def check_parameters(self) -> None:
        """Refuse parameters that make no sense, before a graph is read."""
        super().check_parameters()
        even("dimensions", self.dimensions)
        number("attribute_weight", self.attribute_weight, least=0, above=True)
        whole("feature_dimensions", self.feature_dimensions, least=1, most=MAX_RANK)
        number("shift", self.shift, least=0, above=True)
        whole("iterations", self.iterations, least=1)

    def _bytes_needed(self, graph: AttributedGraph) -> float:
        n, q = graph.features.shape
        f = min(self.feature_dimensions, n, q)
        alternating = 8.0 * n * f + triplets_bytes(n, n, self.dimensions // 2) + 8.0 * n * self.dimensions
        return max(triplets_bytes(n, q, f), alternating) + 24.0 * (graph.adjacency.nnz + graph.features.nnz)

    def _vectors(self, graph: AttributedGraph, seed: int, workers: Workers) -> dict[str, NDArray[np.float32]]:
        k, random = self.dimensions // 2, np.random.default_rng(seed)
        M = PMISolver(shift=self.shift, seed=seed).neighbors(Pairs.of_nodes(graph.adjacency), workers)
        basis = self._basis(graph, random, workers)
        rows = Transposed(DenseMatrix(basis, workers))
        u, v = np.zeros((M.shape[0], 1), dtype=np.float32), np.zeros((M.shape[1], 1), dtype=np.float32)
        with workers.bar(self.iterations, "alternate", "iteration") as bar:
            for _ in range(self.iterations):
                # Within the features' span T: the leading triplets of Tᵀ·rest, brought back by T.
                seen, _, w = leading_triplets(
                    Product([rows, Without(M, u, v, workers)]), k, workers, random=random, doing=None
                )
                attributes = turned(basis, seen, workers)
                u, sigma, v = leading_triplets(
                    Without(M, attributes, w, workers), k, workers, random=random, doing=None
                )
                bar.update(1)
        strength = np.sqrt(np.einsum("ij,ij->j", seen, seen, dtype=np.float64))
        return {
            "identity": balanced(u, sigma),
            "features": np.float32(self.attribute_weight) * balanced(attributes, strength),
        }

    def _basis(self, graph: AttributedGraph, random: np.random.Generator, workers: Workers) -> NDArray[np.float32]:
        """Orthonormal columns that span the leading part of the features."""
        F = RowMatrix(graph.features.astype(np.float32), workers)
        rank = min(self.feature_dimensions, *F.shape)
        scores, sigma, _ = leading_triplets(F, rank, workers, random=random, doing="reduce features")
        return np.divide(scores, sigma, out=np.zeros_like(scores), where=sigma > 0).astype(np.float32)


def _association(features: sp.csr_array, shift: float) -> sp.csr_array:
    """Positive entries of log(ΣF·F_ij / (F_i·F_j·b)): how much more often a node has a feature than by chance."""
    rows, columns = (np.asarray(features.sum(axis=axis, dtype=np.float64)).ravel() for axis in (1, 0))
    expected = np.repeat(rows, np.diff(features.indptr)) * columns[features.indices] * shift
    ratio = np.divide(features.data * rows.sum(), expected, out=np.zeros(features.nnz), where=expected > 0)
    return positive_logs(features, ratio)
