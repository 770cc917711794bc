"""LINE: first- and second-order proximity, side by side."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hopscale.graph import AttributedGraph
from hopscale.models.base import Traits
from hopscale.models.blocks import BlockEmbedding
from hopscale.models.parameters import even, number
from hopscale.pairs import Pairs
from hopscale.parallel import Workers
from hopscale.solvers import PMISolver
from hopscale.solvers.svd import MAX_RANK, leading_eigenpairs

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
    shift : float, default=1.0
        b, which ratios are divided by before the logarithm.
    n_jobs, random_state, verbose
        As in :class:`MUSAE`.

    Notes
    -----
    Time O(m·d) a pass, a dozen passes; memory O(m + n·d). Quick on any graph; it sees one step and no further, so
    sparse graphs are better served by :class:`DeepWalk` or :class:`NetMF`. The two orders share eigenvectors, the first
    those of positive eigenvalues: what it adds is the ones that the second had no room for.

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
        shift: float = 1.0,
        n_jobs: int | None = -1,
        random_state: Any = 0,
        verbose: bool = False,
    ) -> None:
        self.dimensions = dimensions
        self.shift = shift
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def check_parameters(self) -> None:
        """Refuse parameters that make no sense, before a graph is read."""
        super().check_parameters()
        even("dimensions", self.dimensions)
        number("shift", self.shift, least=0, above=True)

    def _vectors(self, graph: AttributedGraph, seed: int, workers: Workers) -> dict[str, NDArray[Any]]:
        M = PMISolver(shift=self.shift, seed=seed).neighbors(Pairs.of_nodes(graph.adjacency), workers)
        # As many again as the second order needs: about half of the eigenvalues are negative.
        rank = min(2 * self.dimensions, MAX_RANK)
        values, vectors = leading_eigenpairs(M, rank, random=np.random.default_rng(seed))
        half = self.dimensions // 2
        first = np.argsort(-values, kind="stable")[:half]
        return {
            "first": vectors[:, first] * np.sqrt(np.maximum(values[first], 0.0)),
            "second": vectors[:, :half] * np.sqrt(np.abs(values[:half])),
        }
