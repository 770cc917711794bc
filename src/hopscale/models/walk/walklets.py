"""Walklets: walks that see nodes, a scale for each number of hops."""

from __future__ import annotations

from dataclasses import dataclass

from hopscale.models.walk.base import WalkEmbedding

__all__ = ["Walklets"]


@dataclass(eq=False, repr=False)
class Walklets(WalkEmbedding):
    """Node embedding from walks alone, a scale for each number of hops: :class:`MUSAE` with F = I.

    Estimates :math:`\\log(c\\, P^r D^{-1}) - \\log b` for each r (the MUSAE paper's Remark 2).

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

    kind = "walks"
    time = "O(t m n + nnz d), sgns O(pairs d)"
    memory = "O(nnz + n d)"

    context = "nodes"
    pooled = False
