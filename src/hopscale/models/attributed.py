"""AE and MUSAE: embeddings of attributed nodes, pooled or multi-scale."""

from __future__ import annotations

from typing import Any

from hopscale.models.base import Traits
from hopscale.models.scales import Context
from hopscale.models.walking import SolverName, WalkEmbedding
from hopscale.solvers.pmi import Rows
from hopscale.walks import Start

__all__ = ["AE", "MUSAE"]


class _AttributedEmbedding(WalkEmbedding):
    """What AE and MUSAE share: a context of features, and two switches."""

    def __init__(
        self,
        dimensions: int = 128,
        *,
        window: int = 3,
        self_scale: bool = True,
        ego: bool = False,
        solver: SolverName = "pmi",
        shift: float = 1.0,
        rows: Rows = "auto",
        memory_limit: int | str = "4GiB",
        walk_length: int = 80,
        walks_per_node: int = 10,
        start: Start = "degree",
        epochs: int = 5,
        negatives: int = 5,
        share_negatives: bool = True,
        noise_exponent: float = 1.0,
        subsample: float = 0.0,
        learning_rate: float = 0.05,
        min_learning_rate: float = 0.025,
        n_jobs: int | None = -1,
        random_state: Any = 0,
        verbose: bool = False,
    ) -> None:
        super().__init__(
            dimensions,
            window=window,
            solver=solver,
            shift=shift,
            rows=rows,
            memory_limit=memory_limit,
            walk_length=walk_length,
            walks_per_node=walks_per_node,
            start=start,
            epochs=epochs,
            negatives=negatives,
            share_negatives=share_negatives,
            noise_exponent=noise_exponent,
            subsample=subsample,
            learning_rate=learning_rate,
            min_learning_rate=min_learning_rate,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
        )
        self.self_scale = self_scale
        self.ego = ego

    @property
    def _context(self) -> Context:
        return "features+nodes" if self.ego else "features"

    def _own_features(self) -> list[tuple[int, ...]]:
        return [(0,)] if self.self_scale else []


class MUSAE(_AttributedEmbedding):
    """Multi-scale attributed node embedding.

    Each number of hops r = 1..t has a block of dimensions of its own, in which the product of a node's and a
    feature's vector estimates

    .. math:: \\log(c\\, P^r F E^{-1}) - \\log b

    with A the adjacency matrix, D the degrees, c = ΣA, P = D⁻¹A, F the node-feature matrix and
    E = diag(1ᵀDF): the pointwise mutual information of standing at a node and seeing a feature r steps on.

    Parameters
    ----------
    dimensions : int, default=128
        Length of the vectors, all scales together, shared out as evenly as possible.
    window : int, default=3
        Largest number of hops, t.
    self_scale : bool, default=True
        Add a scale 0, the node's own features. The paper's text has none, but the vectors behind its tables
        do, and much of their quality comes from it. False gives the text's model.
    ego : bool, default=False
        The EGO variant: every node is a feature of its own as well, [F; I]. Not inductive.
    solver : {"pmi", "sgns"}, default="pmi"
        ``"pmi"`` factorises the matrix above directly (deterministic, fast); ``"sgns"`` samples walks and
        trains by skip-gram with negative sampling, as the paper does.
    shift : float, default=1.0
        pmi only: ratios are divided by it before the logarithm. b gives the target of sgns; 1 works better.
    rows : {"auto", "exact", "sampled"}, default="auto"
        pmi only: compute the matrix exactly, or estimate its rows from ``walks_per_node * walk_length``
        sampled walks a node. ``"auto"`` is exact where that fits; ``rows_`` says which it was.
    memory_limit : int or str, default="4GiB"
        pmi only: memory for the matrix and its workspace, beside graph and vectors.
    walk_length, walks_per_node : int, default=80, 10
        Length l and number p of the walks.
    start : {"degree", "node"}, default="degree"
        sgns only: walks start at nodes drawn in proportion to their degree (the paper's algorithm), or
        ``walks_per_node`` at every node (the authors' code).
    epochs : int, default=5
        sgns only: passes over as many pairs as the walks have.
    negatives : int, default=5
        sgns only: noise features per pair, b.
    share_negatives : bool, default=True
        sgns only: small batches of pairs share their noise: much faster, with no measurable loss.
    noise_exponent : float, default=1.0
        sgns: noise is drawn in proportion to p(f) to this power; pmi: p(f) is replaced by that noise, which gives
        rare features less weight. The paper's theory has 1, the authors' code 0.75.
    subsample : float, default=0.0
        sgns only: sub-sample frequent features as word2vec does; the authors' code has 1e-3.
    learning_rate, min_learning_rate : float, default=0.05, 0.025
        sgns only: first and last learning rate.
    n_jobs : int, default=-1
        Threads; negative counts back from the number of cores. The result has the same bits for any number.
    random_state : int, RandomState, Generator or None, default=0
    verbose : bool, default=False
        Say what is being done, with progress bars, on the error stream.

    Attributes
    ----------
    embedding_ : ndarray of shape (n, dimensions)
        Vectors of the nodes, G. A node that walks tell nothing about has zeros.
    feature_embedding_ : ndarray of shape (q, dimensions)
        Vectors of the features, H, in the same space.
    scale_columns_ : dict of str to slice
        Columns of each scale, by label: ``model.embedding_[:, model.scale_columns_["2"]]``.
    node_ids_, feature_names_ : ndarray
    singular_values_ : ndarray of shape (dimensions,), or None
        pmi only.
    feature_probability_ : ndarray of shape (scales, q)
        p(f) as ``fit`` saw it.
    rows_ : dict of str to str
        What each scale was learnt from, in words.

    See Also
    --------
    AE : all hops pooled into one scale.
    Walklets : the same without features.

    Notes
    -----
    The formula is the paper's, and holds for ``"sgns"`` where walks from all nodes meet equally many features. In
    general the paper's corpus counts a node once for each feature that it meets, and the optimum of its algorithm
    is

    .. math:: \\log(c\\, P^r F E^{-1}) - \\log b - \\log(s_v / \\bar s)

    with s_v the mean number of features met r steps from node v, the row sum of PʳF, and s̄ its mean over the
    walks: a constant per node. ``"pmi"`` has no such term; it has ``shift`` in the place of b, and negative entries
    are cut to zero.

    References
    ----------
    B. Rozemberczki, C. Allen and R. Sarkar, "Multi-Scale Attributed Node Embedding", Journal of Complex
    Networks 9(2), 2021. Algorithm 2 and Theorem 1.

    Examples
    --------
    >>> from hopscale import MUSAE, datasets
    >>> graph = datasets.figure1()
    >>> model = MUSAE(dimensions=16).fit(graph)
    >>> model.embedding_.shape
    (11, 16)
    >>> list(model.scale_columns_)
    ['0', '1', '2', '3']
    >>> feature, score = model.explain("D")["0"][0]
    >>> feature
    'heart'
    """

    traits = Traits(
        "walks and features",
        uses_features=True,
        multi_scale=True,
        inductive=True,
        time="O(t m q + nnz d), sgns O(pairs d)",
        memory="O(nnz + (n + q) d)",
    )

    def _hop_groups(self) -> list[tuple[int, ...]]:
        return self._own_features() + [(hop,) for hop in range(1, self.window + 1)]


class AE(_AttributedEmbedding):
    """Attributed node embedding with all hops pooled into one scale.

    The product of a node's and a feature's vector estimates

    .. math:: \\log\\Bigl(\\frac{c}{t} \\sum_{r=1}^{t} P^r F E^{-1}\\Bigr) - \\log b

    in the letters of :class:`MUSAE`. Parameters and attributes are those of :class:`MUSAE`; with
    ``self_scale=True`` the node's own features have a block of 1/(t+1) of the dimensions beside the pooled one.

    See Also
    --------
    MUSAE : a scale for each number of hops.
    DeepWalk : the same without features.

    References
    ----------
    B. Rozemberczki, C. Allen and R. Sarkar, "Multi-Scale Attributed Node Embedding", Journal of Complex
    Networks 9(2), 2021. Algorithm 1 and Theorem 2.

    Examples
    --------
    >>> from hopscale import AE, datasets
    >>> model = AE(dimensions=8, self_scale=False).fit(datasets.figure1())
    >>> list(model.scale_columns_)
    ['1-3']
    """

    traits = Traits(
        "walks and features",
        uses_features=True,
        inductive=True,
        time="O(t m q + nnz d), sgns O(pairs d)",
        memory="O(nnz + (n + q) d)",
    )

    def _hop_groups(self) -> list[tuple[int, ...]]:
        return [*self._own_features(), tuple(range(1, self.window + 1))]
