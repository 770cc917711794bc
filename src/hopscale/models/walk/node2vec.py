"""Node2Vec: walks that remember their last step."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import ClassVar

from hopscale.checks import number, parameter, whole
from hopscale.models.walk.base import WalkEmbedding
from hopscale.solvers import PMI, SGNS
from hopscale.walks.context import MAX_WINDOW

__all__ = ["Node2Vec"]


@dataclass(eq=False, repr=False)
class Node2Vec(WalkEmbedding):
    """Node embedding from walks that remember their last step: :class:`DeepWalk` with a bias.

    From v, come from t, a step to x counts

    .. math:: w_{vx} \\cdot \\begin{cases} 1/p & x = t \\\\ 1 & x \\text{ is a neighbour of } t \\\\ 1/q & \\text{else}
        \\end{cases}

    A small p keeps walks near their start, a small q drives them outward. Steps are drawn by rejection, so that nothing
    is computed beforehand for pairs of edges. With p = q = 1 it is DeepWalk.

    Parameters
    ----------
    dimensions : int, default=128
        Length of the vectors.
    window : int, default=10
        Largest number of hops.
    p : float, default=1.0
        Divide the weight of a step back by it, from .001 to 1000: the return parameter.
    q : float, default=1.0
        Divide the weight of a step away from the last node's neighbours by it: the in-out parameter.
    solver : {"pmi", "sgns"} or Solver, default="pmi"
        Factorise the matrix, or train on sampled walks. ``"sgns"`` trains as the paper does, in one epoch; ``"pmi"``
        factorises the matrix that this tends to. With a bias its rows are always estimated from sampled walks, and
        ``rows="exact"`` is refused.
    keep_graph, device, n_jobs, random_state, verbose
        As in :class:`MUSAE`.

    Notes
    -----
    Time O(n · walks · t) for the walks, with a logarithm of the degree for every step, and O(nnz·d) or O(pairs·d) to
    learn; memory O(m + nnz + n·d), where the paper's tables take O(m·degree). Pairs are of a node and what a walk meets
    after it; the walk has come from a neighbour that is drawn in proportion to the edges' weights. What is common, and
    how often a node is visited, is taken from the degrees, which a bias shifts a little.
    Worth the search for p and q where communities and roles both matter; often :class:`DeepWalk` does as well.
    Without a bias, ``solver="pmi"`` makes it :class:`NetMF`, bit for bit.

    References
    ----------
    A. Grover and J. Leskovec, "node2vec: scalable feature learning for networks", KDD 2016.

    Examples
    --------
    >>> from hopscale import Node2Vec, datasets
    >>> Node2Vec(dimensions=8, window=3, q=0.5).fit_transform(datasets.planted_blocks(n_nodes=60)).shape
    (60, 8)
    """

    kind = "walks"
    time = "O(n t walks + nnz d), sgns O(pairs d)"
    memory = "O(m + nnz + n d)"

    context = "nodes"
    pooled = True
    solvers: ClassVar = {"pmi": PMI, "sgns": partial(SGNS, epochs=1)}

    _: KW_ONLY
    window: int = parameter(10, whole, least=1, most=MAX_WINDOW)
    p: float = parameter(1.0, number, least=1e-3, most=1000)
    q: float = parameter(1.0, number, least=1e-3, most=1000)

    @property
    def bias(self) -> tuple[float, float]:
        """(1/p, 1/q)."""
        return 1.0 / self.p, 1.0 / self.q
