"""DeepWalk, Node2Vec and Walklets: AE and MUSAE whose only context is the nodes themselves (F = I)."""

from __future__ import annotations

from typing import Any

from hopscale.exceptions import ParameterError
from hopscale.models.base import Traits
from hopscale.models.parameters import number
from hopscale.models.scales import Context
from hopscale.models.walking import SolverName, WalkEmbedding
from hopscale.solvers.pmi import Rows

__all__ = ["DeepWalk", "Node2Vec", "Walklets"]


class _ProximityEmbedding(WalkEmbedding):
    """The context of a node is other nodes: features are not used, and new nodes cannot be embedded."""

    @property
    def _context(self) -> Context:
        return "nodes"


class DeepWalk(_ProximityEmbedding):
    """Node embedding from walks alone, all hops pooled: :class:`AE` with F = I.

    Estimates :math:`\\log(\\frac{c}{t} \\sum_r P^r D^{-1}) - \\log b` (the paper's Remark 1). Parameters and
    attributes are those of :class:`MUSAE` without ``self_scale`` and ``ego``; ``feature_embedding_`` holds the
    nodes' context vectors.

    See Also
    --------
    Walklets : a scale for each number of hops.

    References
    ----------
    B. Perozzi, R. Al-Rfou and S. Skiena, "DeepWalk: online learning of social representations", KDD 2014.

    Examples
    --------
    >>> from hopscale import DeepWalk, datasets
    >>> model = DeepWalk(dimensions=8).fit(datasets.figure1())
    >>> len(model.neighbors("D", k=2))
    2
    """

    traits = Traits("walks", time="O(t m n + nnz d), sgns O(pairs d)", memory="O(nnz + n d)")

    def _hop_groups(self) -> list[tuple[int, ...]]:
        return [tuple(range(1, self.window + 1))]


class Walklets(_ProximityEmbedding):
    """Node embedding from walks alone, a scale for each number of hops: :class:`MUSAE` with F = I.

    Estimates :math:`\\log(c\\, P^r D^{-1}) - \\log b` for each r (the paper's Remark 2). Parameters and
    attributes are those of :class:`MUSAE` without ``self_scale`` and ``ego``; ``feature_embedding_`` holds the
    nodes' context vectors.

    See Also
    --------
    DeepWalk : all hops pooled into one scale.

    References
    ----------
    B. Perozzi, V. Kulkarni, H. Chen and S. Skiena, "Don't walk, skip! Online learning of multi-scale network
    embeddings", ASONAM 2017.

    Examples
    --------
    >>> from hopscale import Walklets, datasets
    >>> model = Walklets(dimensions=9).fit(datasets.figure1())
    >>> list(model.scale_columns_)
    ['1', '2', '3']
    """

    traits = Traits("walks", multi_scale=True, time="O(t m n + nnz d), sgns O(pairs d)", memory="O(nnz + n d)")

    def _hop_groups(self) -> list[tuple[int, ...]]:
        return [(hop,) for hop in range(1, self.window + 1)]


class Node2Vec(_ProximityEmbedding):
    """Node embedding from walks that remember their last step: :class:`DeepWalk` with a bias.

    From v, come from t, a step to x counts

    .. math:: w_{vx} \\cdot \\begin{cases} 1/p & x = t \\\\ 1 & x \\text{ is a neighbour of } t \\\\ 1/q & \\text{else}
        \\end{cases}

    A small p keeps walks near their start, a small q drives them outward. Steps are drawn by rejection, so that nothing
    is computed beforehand for pairs of edges. With p = q = 1 it is DeepWalk.

    Parameters
    ----------
    dimensions : int, default=128
    window : int, default=10
        Largest number of hops.
    p, q : float, default=1.0, 1.0
        Return and in-out parameter, from .001 to 1000.
    solver : {"pmi", "sgns"}, default="pmi"
        ``"sgns"`` trains on walks as the paper does; ``"pmi"`` factorises the matrix that this tends to. With a bias
        its rows are always estimated, from ``walk_length * walks_per_node`` walks of each node.
    epochs : int, default=1
        sgns only: passes over the walks; a single one, as in the paper.
    rows, memory_limit, walk_length, walks_per_node, negatives, share_negatives, learning_rate, min_learning_rate
        As in :class:`MUSAE`, where a bias excludes ``rows="exact"``. Noise is in proportion to degrees.
    n_jobs, random_state, verbose
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

    traits = Traits("walks", time="O(n t walks + nnz d), sgns O(pairs d)", memory="O(m + nnz + n d)")

    # What is left as it is; see WalkEmbedding.
    shift = 1.0
    start = "degree"
    noise_exponent = 1.0
    subsample = 0.0

    def __init__(
        self,
        dimensions: int = 128,
        *,
        window: int = 10,
        p: float = 1.0,
        q: float = 1.0,
        solver: SolverName = "pmi",
        rows: Rows = "auto",
        memory_limit: int | str = "4GiB",
        walk_length: int = 80,
        walks_per_node: int = 10,
        epochs: int = 1,
        negatives: int = 5,
        share_negatives: bool = True,
        learning_rate: float = 0.05,
        min_learning_rate: float = 0.025,
        n_jobs: int | None = -1,
        random_state: Any = 0,
        verbose: bool = False,
    ) -> None:
        self.dimensions = dimensions
        self.window = window
        self.p = p
        self.q = q
        self.solver = solver
        self.rows = rows
        self.memory_limit = memory_limit
        self.walk_length = walk_length
        self.walks_per_node = walks_per_node
        self.epochs = epochs
        self.negatives = negatives
        self.share_negatives = share_negatives
        self.learning_rate = learning_rate
        self.min_learning_rate = min_learning_rate
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def check_parameters(self) -> None:
        """Refuse parameters that make no sense, before a graph is read."""
        super().check_parameters()
        if self._step_weights() != (1.0, 1.0) and self.rows == "exact" and self.solver == "pmi":
            raise ParameterError(
                "rows='exact' is for p = q = 1: where a walk remembers its last step, rows are known from samples only"
            )

    def _step_weights(self) -> tuple[float, float]:
        back = 1.0 / number("p", self.p, least=1e-3, below=1001)
        return back, 1.0 / number("q", self.q, least=1e-3, below=1001)

    def _hop_groups(self) -> list[tuple[int, ...]]:
        return [tuple(range(1, self.window + 1))]
