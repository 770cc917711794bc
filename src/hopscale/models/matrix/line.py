"""LINE: first- and second-order proximity, side by side."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from hopscale.checks import even, parameter
from hopscale.compute import Engine
from hopscale.compute.devices import checked_device
from hopscale.compute.svd import MAX_RANK, leading_eigenpairs, product_eigenpairs, triplets_bytes
from hopscale.compute.threads import effective_jobs
from hopscale.exceptions import ParameterError
from hopscale.graph import AttributedGraph
from hopscale.models.base import SolverChoice
from hopscale.models.matrix.base import MatrixEmbedding
from hopscale.solvers import PMI, SGNS, Solver
from hopscale.walks import Scale, Transitions, WalkContext

__all__ = ["LINE"]


@dataclass(eq=False, repr=False)
class LINE(SolverChoice, MatrixEmbedding):
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
        Length of the vectors, both orders together.
    memory_limit, keep_graph, device, n_jobs, random_state, verbose
        As in :class:`HOPE` and :class:`MUSAE`.
    solver : {"sgns", "pmi"} or Solver, default="sgns"
        ``"sgns"`` trains in one epoch on edges that are drawn as in the paper, with noise in proportion to degree^¾:
        ``SGNS(epochs=1, noise_exponent=0.75)``. The paper goes from a rate of .025 to 0 and draws more edges, the more
        there are. ``"pmi"`` factorises the positive part of M, which is quicker, but spends its first dimensions on
        small dense corners of a sparse graph; of :class:`PMI` it takes ``shift``,
        ``noise_exponent`` and ``power``.

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

    kind = "walks"
    time = "O(pairs d), pmi O(m d)"
    memory = "O(m + n d)"
    only_products = True

    solvers: ClassVar = {"pmi": PMI, "sgns": partial(SGNS, epochs=1, noise_exponent=0.75)}

    dimensions: int = parameter(128, even, most=MAX_RANK)
    _: KW_ONLY
    solver: str | Solver = "sgns"

    @property
    def multi_scale(self) -> bool:
        """Whether hops have blocks of dimensions of their own: the two orders have."""
        return True

    def check_parameters(self) -> None:
        """Refuse parameters that make no sense, before a graph is read."""
        super().check_parameters()
        solver, plain = self.chosen_solver(), PMI()
        solver.check(window=1)
        for name in ("rows", "walks", "memory_limit") if isinstance(solver, PMI) else ():
            if getattr(solver, name) != getattr(plain, name):
                raise ParameterError("means nothing here: one step is always computed exactly", parameter=name)

    def _bytes_needed(self, graph: AttributedGraph) -> float:
        n, edges = graph.n_nodes, 40.0 * graph.adjacency.nnz
        if isinstance(self.chosen_solver(), PMI):
            return triplets_bytes(n, n, 2 * self.dimensions, self._engine()) + edges
        jobs = effective_jobs(self.n_jobs) if checked_device("device", self.device) is None else 1
        return 2.0 * n * self.dimensions * (7 + jobs) + edges

    def _vectors(self, graph: AttributedGraph, seed: int, engine: Engine) -> dict[str, NDArray[Any]]:
        context, half = WalkContext.of_nodes(Transitions(graph.adjacency)), self.dimensions // 2
        solver = self.chosen_solver()
        if isinstance(solver, PMI):
            M = solver.neighbors(context, engine)
            # As many again as the second order needs: about half of the eigenvalues are negative.
            rank = min(2 * self.dimensions, MAX_RANK)
            values, vectors = leading_eigenpairs(M, rank, engine, random=np.random.default_rng(seed))
            vectors = engine.host(vectors)
            second = (vectors[:, :half] * np.sqrt(np.abs(values[:half]))).astype(np.float32)
        else:
            scale = Scale((1,), half)
            one, other = (next(iter(solver.fit(context, [scale], engine, seed + i))) for i in range(2))
            values, vectors = product_eigenpairs(one.node_vectors, one.feature_vectors, half, engine)
            vectors, second = engine.host(vectors), engine.host(other.node_vectors)
        best = np.argsort(-values, kind="stable")[:half]
        first = np.zeros((graph.n_nodes, half), dtype=np.float32)  # fewer nodes have fewer eigenvectors
        first[:, : len(best)] = vectors[:, best] * np.sqrt(np.maximum(values[best], 0.0))
        return {"first": first, "second": second}
