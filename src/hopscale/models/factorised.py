"""NetMF and GraRep: matrices of walks that are factorised, and nothing else."""

from __future__ import annotations

from typing import Any, ClassVar, get_args

from hopscale.models.base import Traits
from hopscale.models.parameters import choice, memory_bytes, number, whole
from hopscale.models.scales import Context, ScaleEmbedding
from hopscale.solvers import PMISolver
from hopscale.solvers.pmi import Rows
from hopscale.walks import Start

__all__ = ["GraRep", "NetMF"]


class _FactorisedWalks(ScaleEmbedding):
    """Models whose only solver is the direct one, with the nodes themselves as context."""

    shift: float
    rows: Rows
    memory_limit: int | str
    _start: ClassVar[Start] = "degree"

    @property
    def _context(self) -> Context:
        return "nodes"

    def _checked_solver(self, seed: int) -> PMISolver:
        return PMISolver(
            shift=number("shift", self.shift, least=0, above=True),
            memory_limit=memory_bytes(self.memory_limit),
            rows=choice("rows", self.rows, get_args(Rows)),
            seed=seed,
            start=self._start,
        )


class NetMF(_FactorisedWalks):
    """Network embedding as matrix factorisation: what DeepWalk tends to, computed directly.

    .. math:: \\log \\max\\left(1, \\frac{c}{b\\,t} \\sum_{r=1}^{t} P^r D^{-1}\\right) \\approx U \\Sigma V^T,
        \\quad G = U \\sqrt{\\Sigma}

    The matrix is computed exactly, sparse and in panels, where the paper's large-window variant approximates it
    by leading eigenvectors. It is the direct solver of :class:`DeepWalk` under its own name and settings.

    Parameters
    ----------
    dimensions : int, default=128
    window : int, default=10
        Largest number of hops, t.
    shift : float, default=1.0
        b, which ratios are divided by before the logarithm.
    rows, memory_limit
        As in :class:`MUSAE`.
    n_jobs, random_state, verbose
        As in :class:`MUSAE`.

    Notes
    -----
    Time O(t·m·n) for exact rows and O(nnz·d) for the factorisation, memory O(nnz) of the matrix, at most
    ``memory_limit``. Good where communities matter and attributes are missing; a window of 10 fills the matrix of a
    small-world graph, where :class:`Walklets` keeps near and far apart and is quicker.

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

    traits = Traits("walk matrix", time="O(t m n + nnz d)", memory="O(nnz + n d)")

    def __init__(
        self,
        dimensions: int = 128,
        *,
        window: int = 10,
        shift: float = 1.0,
        rows: Rows = "auto",
        memory_limit: int | str = "4GiB",
        n_jobs: int | None = -1,
        random_state: Any = 0,
        verbose: bool = False,
    ) -> None:
        self.dimensions = dimensions
        self.window = window
        self.shift = shift
        self.rows = rows
        self.memory_limit = memory_limit
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _hop_groups(self) -> list[tuple[int, ...]]:
        return [tuple(range(1, whole("window", self.window, least=1) + 1))]


class GraRep(_FactorisedWalks):
    """Graph representations with global structural information: a factorisation for each number of steps.

    .. math:: \\log \\max\\left(1, \\frac{N}{b} \\frac{P^k_{ij}}{\\sum_i P^k_{ij}}\\right) \\approx U \\Sigma V^T,
        \\quad G_k = U \\sqrt{\\Sigma}

    for k = 1..t, laid side by side. It differs from :class:`Walklets` with the direct solver in where walks start: at
    every node alike, where those start in proportion to degree.

    Parameters
    ----------
    dimensions : int, default=128
        Of all steps together.
    window : int, default=4
        Largest number of steps, t.
    shift : float, default=1.0
        The paper's λ, b above, which ratios are divided by before the logarithm.
    rows, memory_limit
        As in :class:`MUSAE`.
    n_jobs, random_state, verbose
        As in :class:`MUSAE`.

    Notes
    -----
    Time O(t·m·n + nnz·d), memory O(nnz) of the fullest matrix, at most ``memory_limit``. Good on graphs without
    attributes in which near and far neighbourhoods both matter; with attributes :class:`MUSAE` is the same idea.

    References
    ----------
    S. Cao, W. Lu and Q. Xu, "GraRep: learning graph representations with global structural information", CIKM 2015.

    Examples
    --------
    >>> from hopscale import GraRep, datasets
    >>> list(GraRep(dimensions=8).fit(datasets.planted_blocks(n_nodes=60)).scale_columns_)
    ['1', '2', '3', '4']
    """

    traits = Traits("walk matrix", multi_scale=True, time="O(t m n + nnz d)", memory="O(nnz + n d)")

    _start = "node"

    def __init__(
        self,
        dimensions: int = 128,
        *,
        window: int = 4,
        shift: float = 1.0,
        rows: Rows = "auto",
        memory_limit: int | str = "4GiB",
        n_jobs: int | None = -1,
        random_state: Any = 0,
        verbose: bool = False,
    ) -> None:
        self.dimensions = dimensions
        self.window = window
        self.shift = shift
        self.rows = rows
        self.memory_limit = memory_limit
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _hop_groups(self) -> list[tuple[int, ...]]:
        return [(hop,) for hop in range(1, whole("window", self.window, least=1) + 1)]
