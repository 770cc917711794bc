"""Positions and vectors in few bytes, for pages that compute with them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from hopscale.compute.chunks import TALL_CHUNK, ranges
from hopscale.compute.threads import Threads

__all__ = ["NOWHERE", "byte_vectors", "coded_vectors", "grid_positions", "upper_halves"]

NOWHERE = -32_768  # the coordinates of what has no position

_REACH = 32_000  # of positions in either direction
_BYTE = 127
_CENTRES = 256  # that a byte tells apart
_SAMPLE = 10_000  # rows that centres are learnt from


def grid_positions(*parts: NDArray[np.float32]) -> list[NDArray[np.int16]]:
    """Positions of nodes, and of features on the same map, as 16-bit numbers: all x, then all y.

    The map keeps its proportions, and its larger side becomes 64,000 steps.

    Examples
    --------
    >>> nodes, features = np.array([[0.0, 0.0], [2.0, 1.0]]), np.array([[1.0, 0.5]])
    >>> [part.tolist() for part in grid_positions(nodes, features)]
    [[-32000, 32000, -16000, 16000], [0, 0]]
    """
    every = np.concatenate([np.asarray(part, dtype=np.float64) for part in parts])
    low, high = every.min(axis=0), every.max(axis=0)
    half = float((high - low).max()) / 2 or 1.0
    return [np.rint((part - (low + high) / 2) / half * _REACH).T.ravel().astype(np.int16) for part in parts]


def byte_vectors(vectors: NDArray[np.float32], blocks: Sequence[slice]) -> tuple[NDArray[np.int8], NDArray[np.uint16]]:
    """Vectors as bytes, and a factor for each row and block of columns that brings them back.

    The largest number of each block becomes about 127 or -127. Factors are numbers of single precision of which the
    upper half of the bits is kept.

    Examples
    --------
    >>> bytes_, factors = byte_vectors(np.array([[1.0, -1.0, 0.0]], np.float32), [slice(0, 2), slice(2, 3)])
    >>> bytes_.tolist(), bool(factors[0, 1] == 0)
    ([[127, -127, 0]], True)
    """
    found = np.zeros(vectors.shape, dtype=np.int8)
    factors = np.zeros((len(vectors), len(blocks)), dtype=np.uint16)
    for at, columns in enumerate(blocks):
        part = vectors[:, columns]
        largest = np.abs(part).max(axis=1, initial=0)
        factors[:, at] = upper_halves(largest / np.float32(_BYTE))
        factor = (factors[:, at].astype(np.uint32) << np.uint32(16)).view(np.float32)
        scaled = np.divide(part, factor[:, None], out=np.zeros_like(part), where=factor[:, None] > 0)
        found[:, columns] = np.clip(np.rint(scaled), -_BYTE, _BYTE)
    return found, factors


def upper_halves(numbers: NDArray[np.float32]) -> NDArray[np.uint16]:
    """The upper 16 bits of numbers of single precision, rounded to the nearest.

    Examples
    --------
    >>> upper_halves(np.array([0.0, 1.0, 3.0], dtype=np.float32)).tolist()
    [0, 16256, 16448]
    """
    bits = np.ascontiguousarray(numbers, dtype=np.float32).view(np.uint32)
    return ((bits + np.uint32(0x8000)) >> np.uint32(16)).astype(np.uint16)


def coded_vectors(
    vectors: NDArray[np.float32], blocks: Sequence[slice], parts: int, seed: int, engine: Threads
) -> tuple[NDArray[np.uint8], NDArray[np.float32], NDArray[np.uint16]]:
    """Vectors as the numbers of their nearest centres: a byte for each of some parts of each block of columns.

    Blocks are divided by their lengths, which the factors keep, and split into ``parts`` groups of columns. Each group
    has 256 centres, by k-means on a sample of rows (product quantisation).

    Returns
    -------
    codes : ndarray of shape (n, len(blocks) * parts)
    centres : ndarray
        For each part of each block, 256 rows, one after the other.
    factors : ndarray of shape (n, len(blocks))
        As for :func:`byte_vectors`.

    References
    ----------
    H. Jégou, M. Douze and C. Schmid, "Product Quantization for Nearest Neighbor Search", PAMI 33(1), 2011.
    """
    codes = np.zeros((len(vectors), len(blocks) * parts), dtype=np.uint8)
    factors = np.zeros((len(vectors), len(blocks)), dtype=np.uint16)
    tables: list[NDArray[np.float32]] = []
    with engine.bar(len(blocks) * parts, "shorten vectors", "part") as bar:
        for at, columns in enumerate(blocks):
            block = vectors[:, columns]
            lengths = np.linalg.norm(block, axis=1)
            units = np.divide(block, lengths[:, None], out=np.zeros_like(block), where=lengths[:, None] > 0)
            known = np.flatnonzero(lengths)
            squares = np.zeros(len(block), dtype=np.float32)
            for part, piece in enumerate(np.array_split(np.arange(block.shape[1]), parts)):
                group = np.ascontiguousarray(units[:, piece])
                centres = _centres(group[known], seed)
                code = _nearest_centres(group, centres, engine)
                codes[:, at * parts + part] = code
                squares += np.einsum("ij,ij->i", centres, centres)[code]
                tables.append(centres)
                bar.update(1)
            shorter = np.sqrt(np.where(squares > 0, squares, 1))  # centres lie within the sphere
            factors[:, at] = upper_halves((lengths / shorter).astype(np.float32))
    return codes, np.concatenate([table.ravel() for table in tables]).astype(np.float32), factors


def _centres(rows: NDArray[np.float32], seed: int) -> NDArray[np.float32]:
    """256 centres of a sample of rows; some are alike where there are fewer different ones."""
    from sklearn.cluster import KMeans  # which takes long to import

    random = np.random.default_rng(seed)
    sample = rows[np.sort(random.choice(len(rows), min(len(rows), _SAMPLE), replace=False))]
    found = np.zeros((_CENTRES, rows.shape[1]), dtype=np.float32)
    different = np.unique(sample, axis=0)
    if len(different) <= _CENTRES:
        found[: len(different)] = different
        return found
    with threadpool_limits(limits=1):  # sums depend on the number of threads
        means = KMeans(_CENTRES, n_init=1, max_iter=12, random_state=seed % 2**32).fit(sample)
    found[:] = means.cluster_centers_
    return found


def _nearest_centres(rows: NDArray[np.float32], centres: NDArray[np.float32], engine: Threads) -> NDArray[np.uint8]:
    half = np.einsum("ij,ij->i", centres, centres) / 2
    found = np.empty(len(rows), dtype=np.uint8)

    def one(piece: tuple[int, int]) -> None:
        found[slice(*piece)] = (rows[slice(*piece)] @ centres.T - half).argmax(axis=1)

    engine.run(one, ranges(len(rows), TALL_CHUNK))
    return found
