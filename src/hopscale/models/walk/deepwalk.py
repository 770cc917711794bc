"""DeepWalk: walks that see nodes, all hops pooled."""

from __future__ import annotations

from dataclasses import dataclass

from hopscale.models.walk.base import WalkEmbedding

__all__ = ["DeepWalk"]


@dataclass(eq=False, repr=False)
class DeepWalk(WalkEmbedding):
    """Node embedding from walks alone, all hops pooled: :class:`AE` with F = I.

    Estimates :math:`\\log(\\frac{c}{t} \\sum_r P^r D^{-1}) - \\log b` (the MUSAE paper's Remark 1).

    Parameters
    ----------
    dimensions, window, solver, keep_graph, device, n_jobs, random_state, verbose
        As in :class:`MUSAE`.

    Attributes
    ----------
    feature_embedding_ : ndarray of shape (n, dimensions)
        Context vectors of the nodes; other attributes as in :class:`MUSAE`.

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

    kind = "walks"
    time = "O(t m n + nnz d), sgns O(pairs d)"
    memory = "O(nnz + n d)"

    context = "nodes"
    pooled = True
