"""Vectors projected to the plane: principal components, t-SNE and UMAP, all from the same start.

Vectors are compared by cosine, as in :meth:`hopscale.MUSAE.neighbors`: each is divided by its length. The nearest
neighbours that t-SNE and UMAP need are those of an exact search, which has the same bits for any number of threads.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hopscale.compute.chunks import TALL_CHUNK, ranges
from hopscale.compute.nearest import Nearest
from hopscale.compute.threads import Threads

__all__ = ["nearest_rows", "principal_components", "rotated_to", "tsne", "umap"]

Positions = NDArray[np.float64]
Vectors = NDArray[np.float32]

_PERPLEXITY = 30.0
_MANY = 3_000  # points from which interpolation computes repulsion faster than a tree does
_EARLY = 12.0  # exaggeration of attraction in the first iterations
_ITERATIONS = {"t-SNE, early": 125, "t-SNE": 375}
_TICK = 25  # iterations between two steps of the progress bar: openTSNE evaluates its loss at each
_UMAP_NEIGHBORS = 15


def principal_components(vectors: Vectors, engine: Threads) -> Positions:
    """The two leading principal components of unit vectors, largest entries positive; zeros where there are fewer."""
    width = vectors.shape[1]

    def moments(piece: tuple[int, int]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        units = _units(vectors[slice(*piece)])
        return units.sum(axis=0), units.T @ units

    total, gram = np.zeros(width), np.zeros((width, width))
    for part, square in engine.map(moments, ranges(len(vectors), TALL_CHUNK)):
        total, gram = total + part, gram + square
    mean = total / len(vectors)
    _, axes = np.linalg.eigh(gram / len(vectors) - np.outer(mean, mean))
    axes = axes[:, ::-1][:, :2]
    found = np.zeros((len(vectors), 2))
    for begin, end in ranges(len(vectors), TALL_CHUNK):
        found[begin:end, : axes.shape[1]] = (_units(vectors[begin:end]) - mean) @ axes
    peaks = found[np.argmax(np.abs(found), axis=0), [0, 1]]
    return found * np.where(peaks < 0, -1.0, 1.0)


def _units(rows: Vectors) -> NDArray[np.float64]:
    double = rows.astype(np.float64)
    return double / np.linalg.norm(double, axis=1, keepdims=True)


def rotated_to(positions: Positions, target: Positions) -> Positions:
    """Positions around their mean, rotated or mirrored so that they fit a target best (orthogonal Procrustes)."""
    centred = positions - positions.mean(axis=0)
    u, _, v = np.linalg.svd(centred.T @ (target - target.mean(axis=0)))
    return np.asarray(centred @ (u @ v))


def tsne(vectors: Vectors, start: Positions, seed: int, engine: Threads) -> Positions:
    """t-SNE by openTSNE, from a given start."""
    from openTSNE import TSNEEmbedding
    from openTSNE.affinity import PerplexityBasedNN
    from openTSNE.nearest_neighbors import PrecomputedNeighbors

    perplexity = min(_PERPLEXITY, (len(vectors) - 1) / 3)
    rows, cosines = _neighbors(vectors, int(3 * perplexity), engine)
    known = PrecomputedNeighbors(rows, _distances(cosines))
    # One thread: interpolation, most of the time, has no more, and OpenMP's threads wait for each other by spinning,
    # which takes several times as long on a machine that is busy.
    affinities = PerplexityBasedNN(knn_index=known, perplexity=perplexity, n_jobs=1)
    method = "fft" if len(vectors) > _MANY else "bh"
    layout = TSNEEmbedding(_spread(start, 1e-4, seed), affinities, negative_gradient_method=method, n_jobs=1)
    for doing, iterations in _ITERATIONS.items():
        early = doing == "t-SNE, early"
        with engine.bar(iterations, doing, "iteration") as bar:

            def tick(iteration: int, loss: float, positions: Any, bar: Any = bar) -> None:
                bar.update(_TICK)

            layout.optimize(
                iterations,
                exaggeration=_EARLY if early else 1.0,
                momentum=0.5 if early else 0.8,
                inplace=True,
                callbacks=tick,
                callbacks_every_iters=_TICK,
            )
    return np.array(layout, dtype=np.float64)


def umap(vectors: Vectors, start: Positions, seed: int, engine: Threads) -> Positions:
    """UMAP by umap-learn, from a given start; on one thread, since its result would not be repeatable on several."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of packages that it could use as well
        from umap import UMAP

    k = min(_UMAP_NEIGHBORS, len(vectors) - 1)
    rows, cosines = _neighbors(vectors, k, engine)
    itself = np.arange(len(vectors))[:, None]  # which umap-learn counts among its neighbours
    known = np.hstack([itself, rows]), np.hstack([np.zeros(itself.shape), _distances(cosines)]), None
    engine.say(f"UMAP of {len(vectors):,} nodes")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that there is one thread, and of parts that are not connected
        layout = UMAP(
            n_neighbors=k + 1,
            init=_spread(start, 10.0, seed).astype(np.float32),
            random_state=seed % 2**32,
            precomputed_knn=known,
            n_jobs=1,
        ).fit_transform(vectors)
    return np.asarray(layout, dtype=np.float64)


def _spread(start: Positions, width: float, seed: int) -> Positions:
    """A start of standard deviation ``width``, with a little noise: points in one place would stay together."""
    scaled = start * (width / max(float(start.std(axis=0).max()), 1e-30))
    return scaled + np.random.default_rng(seed).normal(0.0, 0.01 * width, size=start.shape)


def _neighbors(vectors: Vectors, k: int, engine: Threads) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The k nearest neighbours of each row among the others, by cosine."""
    return nearest_rows(vectors, vectors, k, engine, cosine=True, themselves=True, doing="nearest neighbours")


def nearest_rows(
    queries: Vectors,
    among: Vectors,
    k: int,
    engine: Threads,
    *,
    cosine: bool,
    doing: str,
    themselves: bool = False,
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """For each query, the k rows of ``among`` with the largest products or cosines, and these; best first.

    With ``themselves``, queries are the rows, and none finds itself.
    """
    own = sp.csr_array(sp.eye_array(len(queries), dtype=bool)) if themselves else None
    rows, scores = np.empty((len(queries), k), dtype=np.int64), np.empty((len(queries), k))
    with engine.bar(len(queries), doing, "row") as bar:
        for i, (found, score) in enumerate(Nearest(among, cosine=cosine).of(queries, k, engine, own)):
            rows[i], scores[i] = found, score
            if (i + 1) % 1000 == 0:
                bar.update(1000)
    return rows, scores


def _distances(cosines: NDArray[np.float64]) -> NDArray[np.float64]:
    """Euclidean distances of unit vectors."""
    return np.sqrt(np.maximum(2.0 - 2.0 * cosines, 0.0))
