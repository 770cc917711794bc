"""Figure 1b of the paper: the share of non-zero entries of AʳF."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hopscale.compute.threads import Threads, ranges
from hopscale.graph import AttributedGraph

__all__ = ["POWERS", "nonzero_ratios"]

Bits = NDArray[np.uint8]

POWERS = tuple(range(1, 9))
_ROWS = 256  # nodes per chunk
_ONES = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1).sum(axis=1, dtype=np.uint8)  # bits of a byte


def nonzero_ratios(graph: AttributedGraph, powers: Sequence[int] = POWERS, *, n_jobs: int | None = None) -> list[float]:
    """Share of the pairs (node, feature) that a walk of exactly r steps connects, for each power r.

    Features that no node has are ignored. Sets of features are stored as bits, eight to a byte: the paper's largest
    matrices take 20 MB instead of gigabytes.

    Examples
    --------
    >>> from hopscale.datasets import figure1
    >>> from hopscale.paper.densification import nonzero_ratios
    >>> ratios = nonzero_ratios(figure1(), (1, 2, 3))
    >>> ratios == sorted(ratios)
    True
    """
    F = graph.features[:, np.unique(graph.features.indices)]
    n, q = F.shape
    bits = np.vstack([np.packbits(F[b:e].toarray() > 0, axis=1) for b, e in ranges(n, _ROWS)])
    offsets, neighbors = graph.adjacency.indptr, graph.adjacency.indices

    def step(piece: tuple[int, int]) -> Bits:
        begin, end = piece
        after = np.zeros_like(bits[begin:end])
        rows = np.flatnonzero(np.diff(offsets[begin : end + 1]))  # isolated nodes reach nothing
        if len(rows):
            gathered = bits[neighbors[offsets[begin] : offsets[end]]]
            after[rows] = np.bitwise_or.reduceat(gathered, offsets[begin + rows] - offsets[begin], axis=0)
        return after

    ratios = []
    with Threads(n_jobs) as engine:
        for _ in range(max(powers)):
            bits = np.vstack(list(engine.map(step, ranges(n, _ROWS))))
            ratios.append(float(_ONES[bits].sum(dtype=np.int64)) / max(1, n * q))
    return [ratios[power - 1] for power in powers]
