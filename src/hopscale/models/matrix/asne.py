"""ASNE: a node's identity and its features predict its neighbours."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass

import numpy as np
from numpy.typing import NDArray

from hopscale.checks import even, number, parameter, whole
from hopscale.compute import Engine
from hopscale.compute.engine import Tall
from hopscale.compute.operators import Residual
from hopscale.compute.svd import (
    ITERATIONS,
    MAX_RANK,
    balanced,
    leading_triplets,
    tall_bytes,
    triplets_bytes,
    wide_triplets,
    without_noise,
)
from hopscale.graph import AttributedGraph
from hopscale.models.matrix.base import MatrixEmbedding
from hopscale.solvers import PMI
from hopscale.solvers.pmi import LEAST_SHIFT, MOST_SHIFT
from hopscale.walks import Transitions, WalkContext
from hopscale.walks.transitions import in_unit

__all__ = ["ASNE"]

AGAIN = 2  # iterations for singular vectors that are nearly known


@dataclass(eq=False, repr=False)
class ASNE(MatrixEmbedding):
    """Attributed social network embedding: a node's identity and its features together predict its neighbours.

    .. math:: \\log\\frac{c\\,A_{ij}}{d_i\\,d_j} - \\log b \\approx u_i^T v_j + \\lambda\\,(W^T f_i)^T v'_j

    is what its training tends to without hidden layers; the positive part of the left side is fitted, by exact
    minimisation in turn: given the features' part, the identities' are the leading singular vectors of what is left,
    and the other way round, within what the features span. The vectors are u and λWᵀf, half of the dimensions each.

    Parameters
    ----------
    dimensions, memory_limit, keep_graph, device, n_jobs, random_state, verbose
        As in :class:`HOPE` and :class:`MUSAE`.
    attribute_weight : float, default=1.0
        Weight of the features in the vectors, λ.
    feature_dimensions : int, default=200
        Columns that features are reduced to first, by a singular value decomposition.
    shift : float, default=1.0
        Divide ratios by it before the logarithm, b.
    iterations : int, default=3
        Number of times that the parts are updated in turn.

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

    kind = "attributed matrix"
    time = "O(i (m + n f) d)"
    memory = "O(m + nnz(F) + n (d + f))"
    reads_features = True
    higher_order = False
    only_products = True

    dimensions: int = parameter(128, even, most=MAX_RANK)
    _: KW_ONLY
    attribute_weight: float = parameter(1.0, number, least=0, above=True)
    feature_dimensions: int = parameter(200, whole, least=1, most=MAX_RANK)
    shift: float = parameter(1.0, number, least=LEAST_SHIFT, most=MOST_SHIFT)
    iterations: int = parameter(3, whole, least=1, most=100_000)

    def _bytes_needed(self, graph: AttributedGraph) -> float:
        n, q = graph.features.shape
        f = min(self.feature_dimensions, n, q)
        k = self.dimensions // 2
        searching = triplets_bytes(n, n, k, self._engine()) + tall_bytes(n, min(k, n))  # what is left of a product
        alternating = 8.0 * n * f + max(4.0 * n * f, searching) + 8.0 * n * self.dimensions
        reducing = triplets_bytes(n, q, f, self._engine()) + 8.0 * n * f
        return max(reducing, alternating) + 32.0 * graph.adjacency.nnz + 24.0 * graph.features.nnz

    def _vectors(self, graph: AttributedGraph, seed: int, engine: Engine) -> dict[str, NDArray[np.float32]]:
        k, random = self.dimensions // 2, np.random.default_rng(seed)
        M = PMI(shift=self.shift).neighbors(WalkContext.of_nodes(Transitions(graph.adjacency)), engine)
        basis = self._basis(graph, random, engine)
        met = M.T @ basis  # the matrix within the features' span, where singular vectors are exact
        rest, u, v = met, met, None
        with engine.bar(self.iterations, "alternate", "iteration") as bar:
            for _ in range(self.iterations):
                if v is not None:  # not the first one
                    rest = engine.matmul(v, -engine.gram(u, basis, np.float32))
                    rest += met
                seen, w = wide_triplets(rest, k, engine)
                rest = met  # and what it was is dropped
                attributes = engine.matmul(basis, seen.astype(np.float32))
                # Identities change little from one iteration to the next: what was found is where the search begins.
                u, sigma, v = leading_triplets(
                    Residual(M, attributes, w, engine),
                    k,
                    engine,
                    random=random,
                    iterations=ITERATIONS if v is None else AGAIN,
                    start=v,
                    doing=None,
                )
                bar.update(1)
        strength = np.sqrt(np.einsum("ij,ij->j", seen, seen, dtype=np.float64))
        # Where one part explains the whole matrix, what is left for the other is rounding.
        largest = max(sigma.max(), strength.max())
        sigma, strength = without_noise(sigma, largest), without_noise(strength, largest)
        return {
            "identity": balanced(engine.host(u), sigma),
            "features": np.float32(self.attribute_weight) * balanced(engine.host(attributes), strength),
        }

    def _basis(self, graph: AttributedGraph, random: np.random.Generator, engine: Engine) -> Tall:
        """Orthonormal columns that span the leading part of the features."""
        F = engine.sparse(in_unit(graph.features)[0])
        rank = min(self.feature_dimensions, *F.shape)
        scores, sigma, _ = leading_triplets(F, rank, engine, random=random, doing="reduce features")
        scores = engine.host(scores)
        return engine.tall(np.divide(scores, sigma, out=np.zeros_like(scores), where=sigma > 0).astype(np.float32))
