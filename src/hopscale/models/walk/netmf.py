"""NetMF: the matrix that DeepWalk tends to, factorised."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import ClassVar

from hopscale.checks import parameter, whole
from hopscale.models.walk.base import WalkEmbedding
from hopscale.solvers import PMI
from hopscale.walks.context import MAX_WINDOW

__all__ = ["NetMF"]


@dataclass(eq=False, repr=False)
class NetMF(WalkEmbedding):
    """Network embedding as matrix factorisation: what DeepWalk tends to, computed directly.

    .. math:: \\log \\max\\left(1, \\frac{c}{b\\,t} \\sum_{r=1}^{t} P^r D^{-1}\\right) \\approx U \\Sigma V^T,
        \\quad G = U \\sqrt{\\Sigma}

    The matrix is computed exactly, sparse and in panels, where the paper's large-window variant approximates it
    by leading eigenvectors. It is the direct solver of :class:`DeepWalk` under its own name and settings.

    Parameters
    ----------
    dimensions : int, default=128
        Length of the vectors.
    window : int, default=10
        Largest number of hops, t.
    solver : {"pmi"} or PMI, default="pmi"
        The matrix's settings: its ``shift`` is b above.
    keep_graph, device, n_jobs, random_state, verbose
        As in :class:`MUSAE`.

    Notes
    -----
    Time O(t·m·n) for exact rows and O(nnz·d) for the factorisation, memory O(nnz) of the matrix, at most the
    solver's ``memory_limit``. Good where communities matter and attributes are missing; a window of 10 fills the matrix
    of a small-world graph, where :class:`Walklets` keeps near and far apart and is quicker.

    References
    ----------
    J. Qiu, Y. Dong, H. Ma, J. Li, K. Wang and J. Tang, "Network embedding as matrix factorization: unifying
    DeepWalk, LINE, PTE, and node2vec", WSDM 2018.

    Examples
    --------
    >>> from hopscale import NetMF, datasets
    >>> NetMF(dimensions=8, window=3).fit_transform(datasets.planted_blocks(n_nodes=60)).shape
    (60, 8)
    """

    kind = "walk matrix"
    time = "O(t m n + nnz d)"
    memory = "O(nnz + n d)"

    context = "nodes"
    pooled = True
    solvers: ClassVar = {"pmi": PMI}

    _: KW_ONLY
    window: int = parameter(10, whole, least=1, most=MAX_WINDOW)
