"""TENE: non-negative factors of walks and attributes that agree."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from hopscale.checks import even, number, parameter, whole
from hopscale.compute import Threads
from hopscale.compute.aligned import aligned
from hopscale.compute.chunks import TALL_CHUNK, ranges
from hopscale.compute.operators import TwoSteps
from hopscale.compute.svd import MAX_RANK
from hopscale.graph import AttributedGraph
from hopscale.models.matrix.base import MatrixEmbedding
from hopscale.walks import Transitions

__all__ = ["TENE"]

Matrix = NDArray[np.float32]

LEAST = np.float32(1e-12)  # of what is divided by


@dataclass(eq=False, repr=False)
class TENE(MatrixEmbedding):
    """Text-enhanced network embedding: a non-negative factorisation of walks, led by one of the features.

    .. math:: \\min_{X, U, H, V, C \\ge 0} \\|M - X U^T\\|_F^2 + \\alpha \\|H - X C\\|_F^2 + \\beta \\|F - H V^T\\|_F^2,
        \\quad M = \\tfrac12 (P + P^2)

    H says to which clusters of the features a node belongs, X where its walks go; C translates one into the other. By
    multiplicative updates, which keep everything non-negative and never raise the objective. The vectors are X and H,
    half of the dimensions each. The objective leaves their lengths open: H is given what makes columns of V unit
    vectors, and X the length of H.

    Parameters
    ----------
    dimensions, memory_limit, keep_graph, device, n_jobs, random_state, verbose
        As in :class:`HOPE` and :class:`MUSAE`.
    agreement : float, default=0.1
        Weight of what walks and features must agree on, α.
    text_weight : float, default=0.1
        Weight of the features, β.
    iterations : int, default=200
        Number of times that the parts are updated in turn.

    Attributes
    ----------
    embedding_ : ndarray of shape (n, dimensions)
    scale_columns_ : dict
        Columns of each part: ``"walks"`` and ``"features"``.

    See Also
    --------
    TADW : the same two matrices, with signs.

    Notes
    -----
    Features enter the objective and its start as they are: their unit matters, vectors grow with it, and values beyond
    about 1e18 are refused. The unit of the weights does not matter.

    Time O((m + nnz(F))·d + (n + q)·d²) an iteration, memory O(m + nnz(F) + (n + q)·d). For features that are counts,
    whose parts should stay readable; slower and less accurate than the factorisations with signs. The objective is that
    of the paper's summary: details of the paper may differ.

    References
    ----------
    S. Yang and B. Yang, "Enhanced network embedding with text information", ICPR 2018.

    Examples
    --------
    >>> from hopscale import TENE, datasets
    >>> bool((TENE(dimensions=8).fit_transform(datasets.planted_blocks(n_nodes=60)) >= 0).all())
    True
    """

    kind = "attributed matrix"
    time = "O(i ((m + nnz(F)) d + (n + q) d²))"
    memory = "O(m + nnz(F) + (n + q) d)"
    reads_features = True
    higher_order = False

    dimensions: int = parameter(128, even, most=MAX_RANK)
    _: KW_ONLY
    agreement: float = parameter(0.1, number, least=0, above=True)
    text_weight: float = parameter(0.1, number, least=0, above=True)
    iterations: int = parameter(200, whole, least=1, most=100_000)

    def _bytes_needed(self, graph: AttributedGraph) -> float:
        n, q = graph.features.shape
        entries = graph.adjacency.nnz + graph.features.nnz
        return 4.0 * (self.dimensions // 2) * (4.8 * n + 3.2 * q) + 24.0 * entries

    def _vectors(self, graph: AttributedGraph, seed: int, engine: Threads) -> dict[str, Matrix]:
        factors = _Factors(self, graph, seed, engine)
        with engine.bar(self.iterations, "factorise", "iteration") as bar:
            for _ in range(self.iterations):
                factors.update()
                bar.update(1)
        X, H, V = factors.X, factors.H, factors.V
        H *= np.sqrt(np.einsum("ij,ij->j", V, V, dtype=np.float64)).astype(np.float32)
        return {"walks": X * np.float32(_length(H) / max(_length(X), 1e-12)), "features": H}


class _Factors:
    """All parts, and products of columns that the next update needs."""

    def __init__(self, model: TENE, graph: AttributedGraph, seed: int, engine: Threads) -> None:
        self.M = TwoSteps(engine.sparse(Transitions(graph.adjacency).matrix()))
        self.F = engine.sparse(graph.features.astype(np.float32, copy=False))
        (n, q), k = self.F.shape, model.dimensions // 2
        random = np.random.default_rng(seed)
        self.X, self.U, self.H, self.V = (
            aligned(random.random((rows, k), dtype=np.float32))[:, :k] for rows in (n, n, n, q)
        )
        self.C = random.random((k, k), dtype=np.float32)
        self.a, self.b, self.engine = np.float32(model.agreement), np.float32(model.text_weight), engine
        self.UU, self.VV = (engine.gram(x, x, np.float32) for x in (self.U, self.V))

    def update(self) -> None:
        """Every part once, given the others."""
        X, U, H, V, C, a, b = self.X, self.U, self.H, self.V, self.C, self.a, self.b
        update, S = partial(_update, self.engine), self.UU + a * (C @ C.T)
        XX, XH = update(X, self.M @ U, lambda r, m: m + a * (H[r] @ C.T), lambda r: X[r] @ S, H)
        (self.UU,) = update(U, self.M.T @ X, lambda r, m: m, lambda r: U[r] @ XX)
        C *= XH / np.maximum(XX @ C, LEAST)
        VV = self.VV
        (HH,) = update(H, self.F @ V, lambda r, m: a * (X[r] @ C) + b * m, lambda r: a * H[r] + b * (H[r] @ VV))
        (self.VV,) = update(V, self.F.T @ H, lambda r, m: m, lambda r: V[r] @ HH)


def _update(
    engine: Threads,
    x: Matrix,
    met: Matrix,
    wanted: Callable[[slice, Matrix], Matrix],
    found: Callable[[slice], Matrix],
    *others: Matrix,
) -> list[Matrix]:
    """x *= wanted / found, and then xᵀ·x and xᵀ·other: some rows at a time, which stay in a processor's cache.

    ``wanted`` is given the rows of ``met`` as well.
    """
    pieces = ranges(len(x), TALL_CHUNK)
    parts: list[list[Matrix]] = [[] for _ in pieces]

    def one(i: int) -> None:
        rows = slice(*pieces[i])
        with np.errstate(over="ignore", invalid="ignore"):  # the caller checks the result
            x[rows] *= wanted(rows, met[rows]) / np.maximum(found(rows), LEAST)
            parts[i] = [x[rows].T @ y[rows] for y in (x, *others)]

    engine.run(one, range(len(pieces)))
    return [np.sum(each, axis=0, dtype=np.float32) for each in zip(*parts, strict=True)]


def _length(x: Matrix) -> float:
    return float(np.sqrt(np.einsum("ij,ij->", x, x, dtype=np.float64)))
