"""DeepWalk and Walklets: AE and MUSAE whose only context is the nodes themselves (F = I)."""

from __future__ import annotations

from hopscale.models.base import Traits
from hopscale.models.scales import Context
from hopscale.models.walking import WalkEmbedding

__all__ = ["DeepWalk", "Walklets"]


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
