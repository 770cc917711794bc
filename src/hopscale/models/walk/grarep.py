"""GraRep: a matrix of walks for each number of steps, factorised."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import ClassVar

from hopscale.checks import parameter, whole
from hopscale.models.walk.base import WalkEmbedding
from hopscale.solvers import PMI
from hopscale.walks.context import MAX_WINDOW

__all__ = ["GraRep"]


@dataclass(eq=False, repr=False)
class GraRep(WalkEmbedding):
    """Graph representations with global structural information: a factorisation for each number of steps.

    .. math:: \\log \\max\\left(1, \\frac{N}{b} \\frac{P^k_{ij}}{\\sum_i P^k_{ij}}\\right) \\approx U \\Sigma V^T,
        \\quad G_k = U \\sqrt{\\Sigma}

    for k = 1..t, laid side by side. It differs from :class:`Walklets` with the direct solver in where walks start: at
    every node alike, where those start in proportion to degree.

    Parameters
    ----------
    dimensions : int, default=128
        Length of the vectors, all steps together.
    window : int, default=4
        Largest number of steps, t.
    solver : {"pmi"} or PMI, default="pmi"
        The matrix's settings: its ``shift`` is b above, the paper's λ.
    keep_graph, device, n_jobs, random_state, verbose
        As in :class:`MUSAE`.

    Notes
    -----
    Time O(t·m·n + nnz·d), memory O(nnz) of the fullest matrix, at most the solver's ``memory_limit``. Good on graphs
    without attributes in which near and far neighbourhoods both matter; with attributes :class:`MUSAE` is the same
    idea.

    References
    ----------
    S. Cao, W. Lu and Q. Xu, "GraRep: learning graph representations with global structural information", CIKM 2015.

    Examples
    --------
    >>> from hopscale import GraRep, datasets
    >>> list(GraRep(dimensions=8).fit(datasets.planted_blocks(n_nodes=60)).scale_columns_)
    ['1', '2', '3', '4']
    """

    kind = "walk matrix"
    time = "O(t m n + nnz d)"
    memory = "O(nnz + n d)"

    context = "nodes"
    pooled = False
    start = "node"
    solvers: ClassVar = {"pmi": PMI}

    _: KW_ONLY
    window: int = parameter(4, whole, least=1, most=MAX_WINDOW)
