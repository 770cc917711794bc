"""FEATHER-N: characteristic functions of the features that walks meet."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass

import numpy as np
from numpy.typing import NDArray

from hopscale.checks import number, parameter, whole
from hopscale.compute import Threads
from hopscale.compute.operators import Dense
from hopscale.compute.svd import leading_triplets, triplets_bytes
from hopscale.compute.threads import TALL_CHUNK, ranges
from hopscale.exceptions import GraphError, Setting
from hopscale.graph import AttributedGraph
from hopscale.models.matrix.base import MatrixEmbedding
from hopscale.walks import Transitions
from hopscale.walks.transitions import in_unit

__all__ = ["FEATHER"]

CENTRED = 64  # columns that are centred at once
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
        Memory for all columns of all nodes; more is refused before anything is computed.
    keep_graph, n_jobs, random_state, verbose
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

    Time O(c·(t·m + n·d)), memory O(n·c) with c = 2 · ``feature_dimensions`` · ``points`` · ``window`` columns. For
    features with few values or continuous ones whose spread tells something (non-negative ones, as everywhere here:
    shift them if need be); very many rare features lose most in the reduction.

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
    time = "O(c (t m + n d))"
    memory = "O(n c)"
    reads_features = True
    way_out = ", points, feature_dimensions or hops (window)"

    _: KW_ONLY
    feature_dimensions: int = parameter(64, whole, least=1, most=512)
    points: int = parameter(25, whole, least=1, most=1000)
    largest_point: float = parameter(2.5, number, least=0, above=True)
    window: int = parameter(5, whole, least=1, most=1000)

    def _vectors(self, graph: AttributedGraph, seed: int, engine: Threads) -> dict[str, NDArray[np.float32]]:
        random = np.random.default_rng(seed)
        unit, exponent = in_unit(graph.features)
        features = engine.sparse(unit)
        x, _, _ = leading_triplets(features, min(self.feature_dimensions, *features.shape), engine, random=random)
        x = np.ldexp(x, exponent)
        if not float(np.abs(x).max(initial=0.0)) * self.largest_point < PHASES:
            raise GraphError(
                "feature values are too large to tell their cosines: divide them by a number, or take a smaller ",
                Setting("largest_point"),
            )
        out = self._characteristic(graph, x, engine)
        exponent = int(np.frexp(max(out.max(), -out.min()))[1])
        columns = Dense(np.ldexp(out, -exponent, out=out), engine)  # squares of very small numbers would vanish
        # Thousands of columns that are functions of each other: their spectrum falls fast, and two passes tell it.
        scores, _, _ = leading_triplets(columns, self.dimensions, engine, random=random, iterations=2)
        return {"characteristic": np.ldexp(scores, exponent)}

    def _bytes_needed(self, graph: AttributedGraph) -> float:
        width = min(self.feature_dimensions, *graph.features.shape)
        n, columns = graph.n_nodes, 2 * width * self.points * self.window
        tables = triplets_bytes(n, columns, self.dimensions, self._engine()) + 4.0 * n * (columns + CENTRED)
        reducing = triplets_bytes(n, graph.n_features, width, self._engine()) + 24.0 * graph.features.nnz
        return max(tables + 24.0 * graph.adjacency.nnz, reducing)

    def _characteristic(self, graph: AttributedGraph, x: NDArray[np.float32], engine: Threads) -> NDArray[np.float32]:
        """Columns by hop, point and feature: cosines, then sines; less their means."""
        n, f = x.shape
        P = engine.sparse(Transitions(graph.adjacency).matrix())
        out = np.zeros((n, 2 * f * self.points * self.window), dtype=np.float32)
        thetas = np.linspace(0.0, self.largest_point, self.points + 1, dtype=np.float32)[1:]
        with engine.bar(len(thetas), "characteristic functions", "point") as bar:
            for i, theta in enumerate(thetas):
                here = np.hstack([np.cos(theta * x), np.sin(theta * x)])
                for hop in range(self.window):
                    here = P @ here
                    first = (hop * self.points + i) * 2 * f
                    for begin, end in ranges(n, TALL_CHUNK):  # at its first use memory takes longer than numbers
                        out[begin:end, first : first + 2 * f] = here[begin:end]
                bar.update(1)
        walked = np.diff(graph.adjacency.indptr) > 0
        for begin, end in ranges(out.shape[1], CENTRED):
            out[:, begin:end] -= out[walked, begin:end].mean(axis=0, dtype=np.float64).astype(np.float32)
        out[~walked] = 0.0  # nothing is met from there
        return out
