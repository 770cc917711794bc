"""AE: embedding of attributed nodes, all hops pooled."""

from __future__ import annotations

from dataclasses import dataclass

from hopscale.models.walk.attributed import AttributedWalk

__all__ = ["AE"]


@dataclass(eq=False, repr=False)
class AE(AttributedWalk):
    """Attributed node embedding with all hops pooled into one scale.

    The product of a node's and a feature's vector estimates

    .. math:: \\log\\Bigl(\\frac{c}{t} \\sum_{r=1}^{t} P^r F E^{-1}\\Bigr) - \\log b

    in the letters of :class:`MUSAE`. With ``self_scale=True`` the node's own features have a block of 1/(t+1) of the
    dimensions beside the pooled one.

    Parameters
    ----------
    dimensions, window, self_scale, ego, solver, keep_graph, device, n_jobs, random_state, verbose
        As in :class:`MUSAE`.

    Attributes
    ----------
    embedding_ : ndarray of shape (n, dimensions)
        Vectors of the nodes, G; other attributes as in :class:`MUSAE`.

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

    pooled = True
