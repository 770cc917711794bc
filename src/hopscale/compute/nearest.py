"""Exact search: the rows of a tall array that have the largest products or cosines with a query.

All pairs are multiplied in single precision, a block of rows at a time. What could be among the largest, within the
error of that, is computed again in double precision, each pair by itself: the answer is that of a search in double
precision, and has the same bits however pairs are grouped, and for any number of threads.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hopscale.compute.chunks import TALL_CHUNK, ranges
from hopscale.compute.threads import Threads, checkpoint

__all__ = ["Nearest"]

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

_ROWS = 4096  # that are multiplied at once
_QUERIES = 256  # that are looked for at once
_EXACT = 8192  # pairs that are computed again at once


@dataclass(frozen=True, eq=False)
class Nearest:
    """Search among ``vectors``, rows of single precision, by product or by cosine (0 where a vector is zero)."""

    vectors: NDArray[np.float32]
    cosine: bool

    @cached_property
    def norms(self) -> Array:
        """Lengths of all rows."""
        return _norms(self.vectors)

    @cached_property
    def _scales(self) -> Array:
        """What rows are divided by so that none is longer than 1: their length or, for products, the largest."""
        scales = self.norms if self.cosine else np.full(len(self.norms), self.norms.max(initial=0.0))
        return np.where(scales > 0, scales, 1.0)

    def of(
        self, queries: NDArray[np.float32], k: int, engine: Threads, excluded: sp.csr_array | None = None
    ) -> Iterator[tuple[Indices, Array]]:
        """For each query, positions and scores of the k best rows: best first, ties by position.

        ``excluded`` has an entry for each pair of a query and a row that is not to be found.
        """
        size = max(1, min(_QUERIES, -(-len(queries) // engine.n_jobs)))
        _ = self._scales  # computed once, before threads need them

        def one(piece: tuple[int, int]) -> list[tuple[Indices, Array]]:
            begin, end = piece
            search = _Search(self, queries[begin:end], k)
            search.run(0, None if excluded is None else excluded[begin:end])
            bounds = np.searchsorted(search.query, np.arange(end - begin + 1))
            return [(search.row[a:b], search.score[a:b]) for a, b in pairwise(bounds)]

        for found in engine.map(one, ranges(len(queries), size)):
            yield from found

    def pairs(self, k: int, engine: Threads, excluded: sp.csr_array) -> tuple[Indices, Indices, Array]:
        """The k best pairs of different rows without an entry in ``excluded``, a symmetric matrix: i < j and scores."""
        best: tuple[Indices, Indices, Array] = (np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))
        lock = threading.Lock()

        def one(piece: tuple[int, int]) -> int:
            nonlocal best
            begin, end = piece
            # Pairs below the worst that is known by now need no second look; which these are changes no result.
            least = float(best[2][-1]) if len(best[2]) == k else -np.inf
            search = _Search(self, self.vectors[begin:end], k, least)
            inside = sp.csr_array(np.tri(end - begin, dtype=bool))  # the diagonal and what is below it
            own = sp.hstack([inside, sp.csr_array((end - begin, len(self.vectors) - end), dtype=bool)])
            search.run(begin, sp.csr_array(excluded[begin:end, begin:] + own))
            with lock:
                i, j, scores = (np.append(*both) for both in zip(best, search.pairs(begin), strict=True))
                order = np.lexsort((j, i, -scores))[:k]
                best = i[order], j[order], scores[order]
            return end - begin

        with engine.bar(len(self.vectors), "pairs of nodes", "node") as bar:
            for done in engine.map(one, ranges(len(self.vectors), _QUERIES), idle=bar.refresh):
                bar.update(done)
        return best

    def exact_pairs(self, i: Indices, j: Indices) -> Array:
        """Scores of pairs of rows."""
        scores = np.empty(len(i))
        for begin, end in ranges(len(i), _EXACT):
            left = self.vectors[i[begin:end]].astype(np.float64)
            own = np.arange(end - begin)
            scores[begin:end] = self.exact(left, self.norms[i[begin:end]], own, j[begin:end])
        return scores

    def exact(self, queries: Array, lengths: Array, query: Indices, row: Indices) -> Array:
        """Scores of pairs, in double precision."""
        scores = np.empty(len(row))
        for begin, end in ranges(len(row), _EXACT):
            left, right = queries[query[begin:end]], self.vectors[row[begin:end]].astype(np.float64)
            scores[begin:end] = np.einsum("ij,ij->i", left, right)
        if self.cosine:
            scale = lengths[query] * self.norms[row]
            scores = np.divide(scores, scale, out=np.zeros_like(scores), where=scale > 0)
        return scores


class _Search:
    """The best rows for some queries so far: pairs in the order of query, score and position."""

    def __init__(self, among: Nearest, queries: NDArray[np.float32], k: int, least: float = -np.inf) -> None:
        self._among, self._k = among, k
        self._queries, self._lengths = queries.astype(np.float64), _norms(queries)
        scales = np.where(self._lengths > 0, self._lengths, 1.0)
        self._scaled = (self._queries / scales[:, None]).astype(np.float32)
        # A score in single precision is one of double precision divided by `unit`, to within `error`.
        self._unit = np.ones(len(queries)) if among.cosine else scales * among._scales.max(initial=1.0)
        self._error = 4.0 * (queries.shape[1] + 8) * 2.0**-24
        self.query, self.row, self.score = np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0)
        self._waiting: list[tuple[Indices, Indices]] = []
        self._least = np.full(len(queries), least)  # scores below are not among the best k

    def pairs(self, begin: int) -> tuple[Indices, Indices, Array]:
        """What was found, where the queries are rows from ``begin`` on."""
        return self.query + begin, self.row, self.score

    def run(self, first: int, excluded: sp.csr_array | None) -> None:
        """Look through all rows from ``first`` on; columns of ``excluded`` are these."""
        skipped = None if excluded is None else sp.csc_array(excluded)
        for begin, end in ranges(len(self._among.vectors) - first, _ROWS):
            checkpoint()
            rows = slice(first + begin, first + end)
            scaled = (self._among.vectors[rows] / self._among._scales[rows, None]).astype(np.float32)
            scores = self._scaled @ scaled.T
            if skipped is not None:
                entries = slice(*skipped.indptr[[begin, end]].tolist())
                columns = np.repeat(np.arange(end - begin), np.diff(skipped.indptr[begin : end + 1]))
                scores[skipped.indices[entries], columns] = -np.inf
            floor = self._floor(scores)
            query, row = np.nonzero((scores >= floor[:, None]) & (scores > -np.inf))
            self._waiting.append((query, row + first + begin))
            if sum(len(query) for query, _ in self._waiting) >= max(len(self._queries) * self._k, 1 << 16):
                self._merge()
        if self._waiting:
            self._merge()

    def _floor(self, scores: NDArray[np.float32]) -> NDArray[np.float32]:
        """The least score of a row that might be among the best, as single precision has it."""
        floor = np.minimum(self._least / self._unit - self._error, 2.0)  # which no score reaches
        unknown = np.isneginf(floor)
        if unknown.any() and scores.shape[1] >= self._k:
            kth = np.partition(scores[unknown], scores.shape[1] - self._k, axis=1)[:, scores.shape[1] - self._k]
            floor[unknown] = kth - 2 * self._error
            self._least[unknown] = floor[unknown] * self._unit[unknown]
        return np.nextafter(floor.astype(np.float32), np.float32(-np.inf))

    def _merge(self) -> None:
        """Compute what waits, and keep the best k of each query."""
        query: Indices = np.concatenate([query for query, _ in self._waiting])
        row: Indices = np.concatenate([row for _, row in self._waiting])
        self._waiting = []
        score = np.append(self.score, self._among.exact(self._queries, self._lengths, query, row))
        query, row = np.append(self.query, query), np.append(self.row, row)
        order = np.lexsort((row, -score, query))
        query, row, score = query[order], row[order], score[order]
        rank = np.arange(len(query)) - np.searchsorted(query, query)
        last = rank == self._k - 1
        self._least[query[last]] = np.maximum(self._least[query[last]], score[last])
        best = rank < self._k
        self.query, self.row, self.score = query[best], row[best], score[best]


def _norms(vectors: NDArray[Any]) -> Array:
    """Lengths of rows, in double precision."""
    squares = np.empty(len(vectors))
    for begin, end in ranges(len(vectors), TALL_CHUNK):
        rows = vectors[begin:end].astype(np.float64)
        squares[begin:end] = np.einsum("ij,ij->i", rows, rows)
    return np.sqrt(squares)
