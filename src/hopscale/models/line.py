"""LINE: first- and second-order proximity, side by side."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hopscale.graph import AttributedGraph
from hopscale.models.base import Traits
from hopscale.models.blocks import BlockEmbedding
from hopscale.models.parameters import memory_bytes, number, seed_of, whole
from hopscale.pairs import Pairs, Scale
from hopscale.parallel import Workers
from hopscale.solvers import PMISolver

__all__ = ["LINE"]


class LINE(BlockEmbedding):
    """Large-scale information network embedding, both orders, from the matrix that its training tends to.

    With one step and negative sampling, the product of a node's and a neighbour's vector tends to

    .. math:: M_{ij} = \\log\\frac{c\\,A_{ij}}{d_i\\,d_j} - \\log b

    (Qiu et al. 2018). Second-order proximity has vectors of its own for the neighbour: the singular vectors of the
    positive part of M. First-order proximity has one vector for both roles, and a product of such a matrix with itself
    reaches positive eigenvalues only: it takes the eigenvectors of those. Half of the dimensions are of either order.

    Parameters
    ----------
    dimensions : int, default=128
        Of both orders together.
    negatives : float, default=5.0
        b.
    memory_limit : int or str, default="4GiB"
        Memory for the matrix, which has as many entries as A.
    n_jobs, random_state, verbose
        As in :class:`MUSAE`.

    Notes
    -----
    Time O(m·d) a pass, a dozen passes; memory O(m + n·d). Quick on any graph; it sees one step and no further, so
    sparse graphs are better served by :class:`DeepWalk` or :class:`NetMF`. The two orders share eigenvectors: a trained
    pair differs by its random start as well.

    References
    ----------
    J. Tang, M. Qu, M. Wang, M. Zhang, J. Yan and Q. Mei, "LINE: large-scale information network embedding", WWW 2015.

    Examples
    --------
    >>> from hopscale import LINE, datasets
    >>> list(LINE(dimensions=8).fit(datasets.planted_blocks(n_nodes=60)).scale_columns_)
    ['first', 'second']
    """

    traits = Traits("walk matrix", multi_scale=True, time="O(m d)", memory="O(m + n d)")

    def __init__(
        self,
        dimensions: int = 128,
        *,
        negatives: float = 5.0,
        memory_limit: int | str = "4GiB",
        n_jobs: int | None = -1,
        random_state: Any = 0,
        verbose: bool = False,
    ) -> None:
        self.dimensions = dimensions
        self.negatives = negatives
        self.memory_limit = memory_limit
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def check_parameters(self) -> None:
        """Refuse parameters that make no sense, before a graph is read."""
        super().check_parameters()
        whole("dimensions", self.dimensions, least=2)
        self._solver()

    def _solver(self) -> PMISolver:
        return PMISolver(
            shift=number("negatives", self.negatives, least=0, above=True),
            noise_exponent=1.0,
            memory_limit=memory_bytes(self.memory_limit),
            rows="exact",
            walks=1,
            seed=seed_of(self.random_state),
        )

    def _vectors(self, graph: AttributedGraph, workers: Workers) -> dict[str, NDArray[np.float32]]:
        first = self.dimensions // 2
        second = self.dimensions - first
        identity = sp.csr_array(sp.eye_array(graph.n_nodes, dtype=np.float32, format="csr"))
        # About half of the eigenvalues are negative, so as many again are asked for.
        scale = Scale((1,), first + second)
        (solution,) = self._solver().fit(Pairs(graph.adjacency, identity), [scale], workers)
        g, h = solution.node_vectors, solution.feature_vectors
        positive = np.flatnonzero(np.einsum("ij,ij->j", g, h, dtype=np.float64) > 0)[:first]
        tied = np.zeros((len(g), first), dtype=np.float32)
        tied[:, : len(positive)] = g[:, positive]
        return {"first": tied, "second": g[:, :second]}
