"""FEATHER-N: characteristic functions of the features that walks meet."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass

import numpy as np
from numpy.typing import NDArray

from hopscale.checks import number, parameter, whole
from hopscale.compute import Engine
from hopscale.compute.aligned import aligned_zeros
from hopscale.compute.operators import Dense
from hopscale.compute.svd import leading_triplets, triplets_bytes
from hopscale.compute.threads import TALL_CHUNK, checkpoint, ranges
from hopscale.exceptions import GraphError, Setting
from hopscale.graph import AttributedGraph
from hopscale.models.matrix.base import MatrixEmbedding
from hopscale.walks import Transitions
from hopscale.walks.transitions import in_unit

__all__ = ["FEATHER"]

POINTS = 64  # whose cosines and sines are looked at together
BLOCK = 2 * POINTS  # columns that walk together
ROUNDING = 1e-7  # share of the largest singular value below which float32 cannot tell a direction
CONSTANT = 1e-6  # share of a column's mean, below which its spread is rounding
PHASES = 2.0**23  # the largest argument of a cosine: from there on float32 knows whole numbers only


@dataclass(eq=False, repr=False)
class FEATHER(MatrixEmbedding):
    """FEATHER-N: how the features around a node are distributed, not only their mean.

    Of every reduced feature x, every hop r and every point θ it takes

    .. math:: \\sum_w P^r_{uw} \\cos(\\theta x_w), \\qquad \\sum_w P^r_{uw} \\sin(\\theta x_w)

    the characteristic function of x as a walk from u meets it after r steps. Nothing is trained. Since these are
    thousands of columns, the vectors are their leading principal components.

    Parameters
    ----------
    dimensions : int, default=128
        Length of the vectors.
    feature_dimensions : int, default=64
        Columns that features are reduced to, by a singular value decomposition.
    points : int, default=25
        Number of values of θ, evenly spaced up to ``largest_point``.
    largest_point : float, default=2.5
        Largest value of θ.
    window : int, default=5
        Largest number of hops.
    memory_limit : int or str, default="4GiB"
        Memory for all columns of all nodes; more is refused as soon as their number is known, before any walk.
    keep_graph, device, n_jobs, random_state, verbose
        As in :class:`MUSAE`.

    Attributes
    ----------
    embedding_ : ndarray of shape (n, dimensions)
    scale_columns_ : dict
        Columns of each part: ``"characteristic"``, all of them.

    See Also
    --------
    MUSAE : vectors of the features as well, and of new nodes.

    Notes
    -----
    Features enter cosines, so that their unit matters: values should be of about the size of 1/``largest_point``.
    Those so large that single precision cannot tell their cosine are refused.

    Cosines and sines of one feature at neighbouring points are nearly the same: of 2 · ``feature_dimensions`` ·
    ``points`` · ``window`` columns only the directions are computed that single precision can tell, c of them; a fifth
    is usual. Time O(c·(m + n·d)), memory O(n·c). For features with few values or continuous ones whose spread tells
    something (non-negative ones, as everywhere here: shift them if need be); very many rare features lose most in the
    reduction.

    References
    ----------
    B. Rozemberczki and R. Sarkar, "Characteristic functions on graphs: birds of a feather, from statistical
    descriptors to parametric models", CIKM 2020.

    Examples
    --------
    >>> from hopscale import FEATHER, datasets
    >>> FEATHER(dimensions=8).fit_transform(datasets.planted_blocks(n_nodes=60)).shape
    (60, 8)
    """

    kind = "attributed statistics"
    time = "O(c (m + n d))"
    memory = "O(n c)"
    reads_features = True
    places_nodes = False
    only_products = True
    way_out = ", points, feature_dimensions or hops (window)"

    _: KW_ONLY
    feature_dimensions: int = parameter(64, whole, least=1, most=512)
    points: int = parameter(25, whole, least=1, most=1000)
    largest_point: float = parameter(2.5, number, least=0, above=True)
    window: int = parameter(5, whole, least=1, most=1000)

    def _vectors(self, graph: AttributedGraph, seed: int, engine: Engine) -> dict[str, NDArray[np.float32]]:
        random = np.random.default_rng(seed)
        unit, exponent = in_unit(graph.features)
        features = engine.sparse(unit)
        x, _, _ = leading_triplets(features, min(self.feature_dimensions, *features.shape), engine, random=random)
        x = np.ldexp(engine.host(x), exponent)
        if not float(np.abs(x).max(initial=0.0)) * self.largest_point < PHASES:
            raise GraphError(
                "feature values are too large to tell their cosines: divide them by a number, or take a smaller ",
                Setting("largest_point"),
            )
        del features, unit
        waves, exponent = self._waves(x, engine)
        self._check_memory(graph, self._bytes_of(graph, waves), engine)
        columns = Dense(engine.tall(self._characteristic(graph, x, waves, engine)), engine)
        # Functions of each other: their spectrum falls fast, and two passes tell it.
        scores, _, _ = leading_triplets(columns, self.dimensions, engine, random=random, iterations=2)
        return {"characteristic": np.ldexp(engine.host(scores), exponent)}

    def _bytes_needed(self, graph: AttributedGraph) -> float:
        width = min(self.feature_dimensions, *graph.features.shape)
        reducing = triplets_bytes(graph.n_nodes, graph.n_features, width, self._engine()) + 24.0 * graph.features.nnz
        return max(reducing, 4.0 * graph.n_nodes * (width + 2 * BLOCK))

    def _bytes_of(self, graph: AttributedGraph, waves: list[_Wave]) -> float:
        """Memory of the columns and of what is done with them, once their number is known."""
        n, columns = graph.n_nodes, self.window * sum(wave.basis.shape[1] for wave in waves)
        tables = triplets_bytes(n, columns, self.dimensions, self._engine()) + 4.0 * n * (columns + 2 * BLOCK)
        return tables + sum(wave.basis.nbytes for wave in waves) + 24.0 * graph.adjacency.nnz

    def _waves(self, x: NDArray[np.float32], engine: Engine) -> tuple[list[_Wave], int]:
        """All cosines and sines, feature by feature, in bases of what float32 can tell of them.

        Of one number x, cos θx and sin θx are smooth functions of θ, and at neighbouring points nearly the same: of the
        50 of a feature about 9 singular vectors are left. The exponent says what power of two the largest has; bases
        are divided by it.
        """
        groups = [(j, begin, end) for j in range(x.shape[1]) for begin, end in ranges(self.points, POINTS)]
        theta = self.largest_point / self.points

        def spectrum(group: tuple[int, int, int]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
            j, begin, end = group
            gram = np.zeros((2 * (end - begin), 2 * (end - begin)))
            for rows in ranges(len(x), TALL_CHUNK):
                checkpoint()
                values = _values(x[slice(*rows), j], theta, begin, end)
                gram += values @ values.T
            squared, basis = np.linalg.eigh(gram)
            kept = squared > squared[-1] * ROUNDING**2
            return squared[kept], basis[:, kept]

        found = list(engine.map(spectrum, groups))
        most = max(squared.max(initial=0.0) for squared, _ in found)
        exponent = int(np.frexp(np.sqrt(most))[1])
        waves = []
        for group, (squared, basis) in zip(groups, found, strict=True):
            kept = squared > most * ROUNDING**2
            if kept.any():
                waves.append(_Wave(*group, theta, np.ldexp(basis[:, kept], -exponent)))
        return waves or [_Wave(*groups[0], theta, np.zeros((2 * groups[0][2], 1)))], exponent

    def _characteristic(
        self, graph: AttributedGraph, x: NDArray[np.float32], waves: list[_Wave], engine: Engine
    ) -> NDArray[np.float32]:
        """Columns by hop and wave, less their means."""
        n, total, walked = len(x), sum(wave.basis.shape[1] for wave in waves), np.diff(graph.adjacency.indptr) > 0
        P = engine.sparse(Transitions(graph.adjacency).matrix())
        out = np.empty((n, total * self.window), dtype=np.float32)
        done, waiting = 0, list(waves)
        with engine.bar(len(waves), "characteristic functions", "feature") as bar:
            while waiting:
                block = [waiting.pop(0)]
                while waiting and sum(wave.basis.shape[1] for wave in (*block, waiting[0])) <= BLOCK:
                    block.append(waiting.pop(0))
                here = engine.tall(_less_means(_start(x, block, engine), walked))
                for hop in range(self.window):
                    here = P @ here
                    met = engine.host(here)
                    # Nothing is met from a node without edges: its row is zero, before and after.
                    mean = (met.sum(axis=0, dtype=np.float64) / max(1, walked.sum())).astype(np.float32)
                    columns = slice(hop * total + done, hop * total + done + met.shape[1])
                    for begin, end in ranges(n, TALL_CHUNK):  # at its first use memory takes longer than numbers
                        np.subtract(met[begin:end], mean, out=out[begin:end, columns])
                done += here.shape[1]
                bar.update(len(block))
        out[~walked] = 0.0
        return out


@dataclass(frozen=True)
class _Wave:
    """Cosines and sines of a feature at some points, and an orthogonal basis of them."""

    feature: int
    begin: int
    end: int
    theta: float
    basis: NDArray[np.float64]


def _values(x: NDArray[np.float32], theta: float, begin: int, end: int) -> NDArray[np.float64]:
    """cos kθx − 1 and sin kθx for k = begin + 1 … end, a row each: centring takes the 1 away in any case."""
    step = np.exp(1j * theta * x.astype(np.float64))
    wave, points = step ** (begin + 1), end - begin
    out = np.empty((2 * points, len(x)))
    for k in range(points):
        np.subtract(wave.real, 1.0, out=out[k])
        out[points + k] = wave.imag
        wave *= step
    return out


def _less_means(columns: NDArray[np.float32], walked: NDArray[np.bool_]) -> NDArray[np.float32]:
    """Columns less their means over the nodes that walks come by, in place: what is constant becomes zero.

    A walk leaves a constant as it is. Taken away afterwards, it would leave the rounding of sums over neighbours.
    """
    mean = columns.sum(axis=0, dtype=np.float64, where=walked[:, None]) / max(1, walked.sum())
    columns -= mean.astype(np.float32)
    columns[~walked] = 0.0
    spread = np.maximum(columns.max(axis=0), -columns.min(axis=0))
    columns[:, spread <= CONSTANT * np.abs(mean)] = 0.0
    return columns


def _start(x: NDArray[np.float32], block: list[_Wave], engine: Engine) -> NDArray[np.float32]:
    """What walks of no step meet: columns of some waves."""
    width = sum(wave.basis.shape[1] for wave in block)
    out = aligned_zeros(len(x), width)[:, :width]

    def one(piece: tuple[int, int]) -> None:
        rows, done = slice(*piece), 0
        for wave in block:
            values = _values(x[rows, wave.feature], wave.theta, wave.begin, wave.end)
            columns = slice(done, done := done + wave.basis.shape[1])
            out[rows, columns] = values.T @ wave.basis

    for _ in engine.map(one, ranges(len(x), TALL_CHUNK)):
        pass
    return out
