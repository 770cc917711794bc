"""Maps: a position in the plane for each node of a fitted model, and for each feature among the nodes."""

from __future__ import annotations

import importlib.util
import time
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hopscale.checks import choice, seed_of, switch
from hopscale.compute.chunks import ranges
from hopscale.compute.threads import Threads, checked_jobs
from hopscale.exceptions import GraphError, MissingPackageError, warn
from hopscale.explore.projections import Positions, Vectors, nearest_rows, principal_components, rotated_to, tsne, umap

__all__ = ["METHODS", "chosen_method", "feature_positions", "node_positions"]

METHODS = ("auto", "tsne", "umap", "pca")

_PACKAGES = {"tsne": (("openTSNE", "openTSNE"), "explore"), "umap": (("umap", "umap-learn"), "umap")}  # and extras
_ALL = 50_000  # nodes up to which each is laid out by itself
_LANDMARKS = 20_000  # nodes that are laid out where there are more
_PLACED_BY = 10  # landmarks, or nodes, next to which another is placed
_FEW = 8  # nodes up to which neighbourhoods mean nothing
_REACH = 0.02  # share of the map within which points are together
_PIECE = 16_384  # points that are placed at once


def node_positions(
    model: Any,
    *,
    scale: int | str | None = None,
    method: Literal["auto", "tsne", "umap", "pca"] = "auto",
    rows: NDArray[np.int64] | None = None,
    random_state: Any = 0,
    n_jobs: int | None = -1,
    verbose: bool = False,
) -> NDArray[np.float32]:
    """Positions of a model's nodes on a map: nodes with similar vectors, by cosine, are close to each other.

    Parameters
    ----------
    model : fitted model
        Such as :class:`hopscale.MUSAE`.
    scale : int or str, optional
        Compare vectors at one scale only: a number of hops, or a label as in ``scale_columns_``. Maps of all scales
        have the same start and orientation, so that they can be compared.
    method : {"auto", "tsne", "umap", "pca"}, default="auto"
        t-SNE by openTSNE (``pip install "hopscale[explore]"``), UMAP by umap-learn (``pip install "hopscale[umap]"``)
        or the two leading principal components. "auto" is t-SNE or, with a warning, principal components where
        openTSNE is not installed.
    rows : ndarray of int, optional
        Rows of ``embedding_`` that are laid out, without regard to others; by default all.
    random_state : int, default=0
        Seed of the noise in the start, and of the choice of landmarks.
    n_jobs : int or None, default=-1
        Number of threads; the result does not depend on it.
    verbose : bool, default=False
        Show progress and the time that was taken.

    Returns
    -------
    ndarray of shape (n, 2), float32
        In the order of ``node_ids_`` or ``rows``; the mean is 0, and the largest distance from it 1. Nodes whose
        vectors are zero, of which nothing is known, are put together outside the map, at its lower left.

    Notes
    -----
    t-SNE and UMAP start from the principal components of all dimensions. Of more than 50,000 nodes, 20,000 are chosen
    at random and laid out, as landmarks; every other node is put where most of the ten landmarks are that are
    nearest to its vector, weighted by how near they are. Distances between groups on such maps mean little, and
    empty space between groups means nothing at all.

    Examples
    --------
    >>> from hopscale import MUSAE, datasets
    >>> from hopscale.explore import node_positions
    >>> model = MUSAE(dimensions=8).fit(datasets.figure1())
    >>> node_positions(model, method="pca").shape
    (11, 2)
    """
    vectors, whole, chosen = model.node_vectors(scale), model.node_vectors(), chosen_method(method)
    if rows is not None:
        vectors, whole = vectors[rows], whole[rows]
    seed, verbose = seed_of(random_state), switch("verbose", verbose)
    known = np.flatnonzero(vectors.any(axis=1))
    where = "" if scale is None else f" at scale {scale}"
    if not len(known):
        raise GraphError(f"there is no map of these nodes: the vectors of all {len(vectors)} are zero{where}")
    began = time.perf_counter()
    with Threads(checked_jobs("n_jobs", n_jobs), verbose=verbose) as engine:
        found = _laid_out(vectors[known], whole[known], chosen, seed, engine)
        engine.say(f"map of {len(known):,} nodes{where} in {time.perf_counter() - began:.1f} s")
    return _with_unknown(found, known, len(vectors), seed)


def feature_positions(
    model: Any,
    nodes: ArrayLike,
    *,
    scale: int | str | None = None,
    random_state: Any = 0,
    n_jobs: int | None = -1,
    verbose: bool = False,
) -> NDArray[np.float32]:
    """Positions of a model's features on a map of its nodes: each among the nodes around which it stands out most.

    A feature is put where most of the ten nodes are with which the product of vectors is largest, weighted by the
    products: in one of the places, where these nodes are in several. They are the nodes that
    :meth:`hopscale.MUSAE.nodes_of` names.

    Parameters
    ----------
    model : fitted model
        One that has vectors of features, such as :class:`hopscale.MUSAE`.
    nodes : array-like of shape (n, 2)
        What :func:`node_positions` returned.
    scale : int or str, optional
        The scale that ``nodes`` were laid out by.
    random_state : int, default=0
        Seed of the choice of 50,000 nodes, where there are more.
    n_jobs : int or None, default=-1
        Number of threads; the result does not depend on it.
    verbose : bool, default=False
        Show progress.

    Returns
    -------
    ndarray of shape (q, 2), float32
        In the order of ``feature_names_``. Features whose vectors are zero are put together outside the map, at its
        lower left.

    Examples
    --------
    >>> from hopscale import MUSAE, datasets
    >>> from hopscale.explore import feature_positions, node_positions
    >>> model = MUSAE(dimensions=8).fit(datasets.figure1())
    >>> feature_positions(model, node_positions(model, method="pca")).shape
    (4, 2)
    """
    features, vectors = model.feature_vectors(scale), model.node_vectors(scale)
    positions = np.asarray(nodes, dtype=np.float64)
    if positions.shape != (len(vectors), 2) or not np.isfinite(positions).all():
        raise GraphError(
            f"positions of nodes must be {len(vectors)} rows of two finite numbers, as node_positions returns them, "
            f"but their shape is {positions.shape}"
        )
    seed = seed_of(random_state)
    known, among = np.flatnonzero(features.any(axis=1)), np.flatnonzero(vectors.any(axis=1))
    if len(among) > _ALL:
        among = np.sort(np.random.default_rng(seed).choice(among, _ALL, replace=False))
    found = np.zeros((0, 2))
    if len(known) and len(among):
        k = min(_PLACED_BY, len(among))
        with Threads(checked_jobs("n_jobs", n_jobs), verbose=switch("verbose", verbose)) as engine:
            rows, products = nearest_rows(
                features[known], vectors[among], k, engine, cosine=False, doing="place features"
            )
        weights = np.maximum(products, 1e-3 * np.maximum(products[:, :1], 1e-30))
        found = _modes(positions[among], rows, weights)
    return _with_unknown(found, known, len(features), seed, rescaled=False)


def chosen_method(method: Any) -> str:
    """The method that a name stands for, if its package is installed."""
    if choice("method", method, METHODS) == "auto":
        if importlib.util.find_spec("openTSNE") is not None:
            return "tsne"
        warn(
            'openTSNE is not installed: the map shows principal components (pip install "hopscale[explore]" for t-SNE)'
        )
        return "pca"
    package, extra = _PACKAGES.get(method, (None, None))
    if package is not None and importlib.util.find_spec(package[0]) is None:
        raise MissingPackageError(
            f'needs {package[1]}, which is not installed: pip install "hopscale[{extra}]"',
            parameter="method",
            value=method,
        )
    return str(method)


def _laid_out(vectors: Vectors, whole: Vectors, method: str, seed: int, engine: Threads) -> Positions:
    """Positions of nodes of which something is known, by their vectors and by those of all dimensions."""
    start = principal_components(whole, engine)
    if method == "pca" or len(vectors) <= _FEW:
        return rotated_to(principal_components(vectors, engine), start)
    project = tsne if method == "tsne" else umap
    if len(vectors) <= _ALL:
        return rotated_to(project(vectors, start, seed, engine), start)
    landmarks = np.sort(np.random.default_rng(seed).choice(len(vectors), _LANDMARKS, replace=False))
    engine.say(f"{_LANDMARKS:,} of {len(vectors):,} nodes are laid out; others are placed next to them")
    found = np.empty((len(vectors), 2))
    found[landmarks] = rotated_to(project(vectors[landmarks], start[landmarks], seed, engine), start[landmarks])
    others = np.setdiff1d(np.arange(len(vectors)), landmarks, assume_unique=True)
    rows, cosines = nearest_rows(
        vectors[others], vectors[landmarks], _PLACED_BY, engine, cosine=True, doing="place other nodes"
    )
    found[others] = _modes(found[landmarks], rows, _nearness(cosines))
    return found


def _nearness(cosines: NDArray[np.float64]) -> NDArray[np.float64]:
    """Weights of landmarks: 1 for the nearest, e⁻³ for the last."""
    gaps = cosines[:, :1] - cosines
    return np.asarray(np.exp(-3.0 * gaps / np.maximum(gaps[:, -1:], 1e-12)))


def _modes(points: Positions, rows: NDArray[np.int64], weights: NDArray[np.float64]) -> Positions:
    """Where most of some points are, by weight, for each row of their numbers: mean shift with a Cauchy kernel.

    Unlike a mean, the mode of points in several groups lies in one of them, and not in the space between.
    """
    found = np.empty((len(rows), 2))
    width = _REACH * max(float(np.ptp(points)), 1e-30)
    for begin, end in ranges(len(rows), _PIECE):
        near, weight = points[rows[begin:end]], weights[begin:end]
        apart = np.linalg.norm(near[:, :, None] - near[:, None], axis=3)
        density = (weight[:, None] / (1.0 + (apart / width) ** 2)).sum(axis=2)
        mode = np.take_along_axis(near, density.argmax(axis=1)[:, None, None], axis=1)
        for _ in range(5):
            distance = np.linalg.norm(near - mode, axis=2) / width
            share = (weight / (1.0 + distance**2) ** 2)[:, :, None]
            mode = (near * share).sum(axis=1, keepdims=True) / share.sum(axis=1, keepdims=True)
        found[begin:end] = mode[:, 0]
    return found


def _with_unknown(
    found: Positions, known: NDArray[np.int64], count: int, seed: int, *, rescaled: bool = True
) -> NDArray[np.float32]:
    """Positions of all: those that are known, around 0 and of length 1 at most, and the others in a small disc."""
    if rescaled:
        found = found - found.mean(axis=0)
        found = found / max(float(np.linalg.norm(found, axis=1).max()), 1e-30)
    unknown = np.setdiff1d(np.arange(count), known, assume_unique=True)
    radius, angle = np.random.default_rng(seed).uniform(size=(2, len(unknown)))
    radius, angle = 0.05 * np.sqrt(radius), 2 * np.pi * angle
    positions = np.empty((count, 2), dtype=np.float32)
    positions[known] = found
    positions[unknown] = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)]) - 0.95
    return positions
