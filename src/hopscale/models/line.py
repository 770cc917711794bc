"""LINE: first- and second-order proximity, side by side."""

from __future__ import annotations

from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from hopscale.graph import AttributedGraph
from hopscale.models.base import Traits
from hopscale.models.blocks import BlockEmbedding
from hopscale.models.parameters import choice, even, number, whole
from hopscale.models.walking import SolverName
from hopscale.pairs import Pairs, Scale
from hopscale.parallel import Workers, effective_jobs
from hopscale.solvers import PMISolver, SGNSSolver
from hopscale.solvers.sgns import MAX_NEGATIVES
from hopscale.solvers.svd import MAX_RANK, leading_eigenpairs, product_eigenpairs, triplets_bytes

__all__ = ["LINE"]


class LINE(BlockEmbedding):
    """Large-scale information network embedding: first- and second-order proximity, half of the dimensions each.

    With one step and negative sampling, the product of a node's and a neighbour's vector tends to

    .. math:: M_{ij} = \\log\\frac{c\\,A_{ij}}{d_i\\,d_j} - \\log b

    (Qiu et al. 2018; with noise in proportion to degree^¾, that power of d_j, normalised, in its place). Second-order
    proximity has vectors of its own for the neighbour: M = GHᵀ. First-order proximity has one vector for both roles,
    whose products with each other reach positive eigenvalues only. It is not trained as such, but taken from another
    such pair: the eigenvectors of the largest eigenvalues of (GHᵀ + HGᵀ)/2.

    Parameters
    ----------
    dimensions : int, default=128
        Of both orders together.
    solver : {"sgns", "pmi"}, default="sgns"
        ``"sgns"`` trains on edges that are drawn as in the paper, with noise in proportion to degree^¾; ``"pmi"``
        factorises the positive part of M, which is quicker, but spends its first dimensions on small dense corners of a
        sparse graph.
    shift : float, default=1.0
        pmi only: b, which ratios are divided by before the logarithm.
    walk_length, walks_per_node, epochs, negatives
        sgns only: as in :class:`MUSAE`; together the number of edges that are drawn. The paper has no epochs, so that
        there is one.
    share_negatives, learning_rate, min_learning_rate
        sgns only: as in :class:`MUSAE`. The paper goes from .025 to 0 and draws more edges, the more there are.
    memory_limit : int or str, default="4GiB"
        Memory for the work; a graph that would take more is refused.
    n_jobs, random_state, verbose
        As in :class:`MUSAE`.

    Attributes
    ----------
    embedding_ : ndarray of shape (n, dimensions)
    scale_columns_ : dict
        Columns of each part: ``"first"`` and ``"second"``.

    See Also
    --------
    DeepWalk : the same solvers over several hops.

    Notes
    -----
    Time O(m·d) a pass, a dozen passes, or O(pairs·d); memory O(m + n·d). It sees one step and no further, so that
    sparse graphs are better served by :class:`DeepWalk` or :class:`NetMF`. Of the two orders, the first adds
    eigenvectors that the second had no room for; a trained pair differs by its random start as well. The parts are not
    scaled to unit length, as the paper's are: scale them where angles matter.

    References
    ----------
    J. Tang, M. Qu, M. Wang, M. Zhang, J. Yan and Q. Mei, "LINE: large-scale information network embedding", WWW 2015.

    Examples
    --------
    >>> from hopscale import LINE, datasets
    >>> list(LINE(dimensions=8).fit(datasets.planted_blocks(n_nodes=60)).scale_columns_)
    ['first', 'second']
    """

    traits = Traits("walks", multi_scale=True, time="O(pairs d), pmi O(m d)", memory="O(m + n d)")

    def __init__(
        self,
        dimensions: int = 128,
        *,
        solver: SolverName = "sgns",
        shift: float = 1.0,
        walk_length: int = 80,
        walks_per_node: int = 10,
        epochs: int = 1,
        negatives: int = 5,
        share_negatives: bool = True,
        learning_rate: float = 0.05,
        min_learning_rate: float = 0.025,
        memory_limit: int | str = "4GiB",
        n_jobs: int | None = -1,
        random_state: Any = 0,
        verbose: bool = False,
    ) -> None:
        self.dimensions = dimensions
        self.solver = solver
        self.shift = shift
        self.walk_length = walk_length
        self.walks_per_node = walks_per_node
        self.epochs = epochs
        self.negatives = negatives
        self.share_negatives = share_negatives
        self.learning_rate = learning_rate
        self.min_learning_rate = min_learning_rate
        self.memory_limit = memory_limit
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def check_parameters(self) -> None:
        """Refuse parameters that make no sense, before a graph is read."""
        super().check_parameters()
        even("dimensions", self.dimensions)
        choice("solver", self.solver, get_args(SolverName))
        number("shift", self.shift, least=0, above=True)
        self._trained(0)

    def _trained(self, seed: int) -> SGNSSolver:
        return SGNSSolver(
            walk_length=whole("walk_length", self.walk_length, least=2),
            walks_per_node=whole("walks_per_node", self.walks_per_node, least=1),
            window=1,
            epochs=whole("epochs", self.epochs, least=1),
            negatives=whole("negatives", self.negatives, least=1, most=MAX_NEGATIVES),
            learning_rate=number("learning_rate", self.learning_rate, least=0, above=True),
            min_learning_rate=number("min_learning_rate", self.min_learning_rate, least=0),
            noise_exponent=0.75,
            share_negatives=bool(self.share_negatives),
            seed=seed,
        )

    def _bytes_needed(self, graph: AttributedGraph) -> float:
        n, edges = graph.n_nodes, 24.0 * graph.adjacency.nnz
        if self.solver == "pmi":
            return triplets_bytes(n, n, 2 * self.dimensions) + edges
        return 2.0 * n * self.dimensions * (7 + effective_jobs(self.n_jobs)) + edges

    def _vectors(self, graph: AttributedGraph, seed: int, workers: Workers) -> dict[str, NDArray[Any]]:
        pairs, half = Pairs.of_nodes(graph.adjacency), self.dimensions // 2
        if self.solver == "pmi":
            M = PMISolver(shift=self.shift, seed=seed).neighbors(pairs, workers)
            # As many again as the second order needs: about half of the eigenvalues are negative.
            rank = min(2 * self.dimensions, MAX_RANK)
            values, vectors = leading_eigenpairs(M, rank, workers, random=np.random.default_rng(seed))
            second = (vectors[:, :half] * np.sqrt(np.abs(values[:half]))).astype(np.float32)
        else:
            scale = Scale((1,), half)
            one, other = (self._trained(seed + i).fit(pairs, [scale], workers)[0] for i in range(2))
            values, vectors = product_eigenpairs(one.node_vectors, one.feature_vectors, half, workers)
            second = other.node_vectors
        best = np.argsort(-values, kind="stable")[:half]
        first = np.zeros((graph.n_nodes, half), dtype=np.float32)  # fewer nodes have fewer eigenvectors
        first[:, : len(best)] = vectors[:, best] * np.sqrt(np.maximum(values[best], 0.0))
        return {"first": first, "second": second}
