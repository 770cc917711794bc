"""What the direct solver learns a scale from: a matrix, or some of its rows, and its singular triplets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hopscale.compute import Operator, Threads
from hopscale.compute.ahead import DrawnAhead
from hopscale.compute.aligned import Floats
from hopscale.compute.svd import leading_triplets, start_width, times_columns
from hopscale.solvers.base import Solution
from hopscale.solvers.held import Held
from hopscale.walks import Scale, WalkSize
from hopscale.walks.panels import squares
from hopscale.walks.sampling import RowCounts, RowSampler

__all__ = [
    "Target",
    "Triplets",
    "exact_words",
    "inverse_root",
    "learning_bytes",
    "least_sampled",
    "sampled_target",
    "sparse_target",
    "start_of",
]


@dataclass(frozen=True)
class Target:
    """M, or some of its rows, where it is not ``complete``; ``every_row`` may then give M·v for all nodes."""

    operator: Operator
    rows: str
    squared_norm: float
    filled: NDArray[np.bool_]  # mask of the nodes whose row has an entry
    every_row: Callable[[Floats], Floats] | None = None
    sampled: bool = False
    complete: bool = True

    def factorised(self, scale: Scale, engine: Threads, seed: int, start: DrawnAhead | None = None) -> Triplets:
        """Singular triplets of the matrix; ``start`` has the random numbers of this seed, if they are drawn already."""
        engine.say(f"scale {scale.label}: {self.rows}")
        b, sigma, v = leading_triplets(
            self.operator,
            scale.dimensions,
            engine,
            random=start or np.random.default_rng(_start_seed(scale, seed)),
            doing=f"scale {scale.label}: factorise",
        )
        captured = min(1.0, float(sigma @ sigma) / self.squared_norm) if self.squared_norm else 1.0
        return Triplets(engine.host(b), sigma, engine.host(v), captured)


def _start_seed(scale: Scale, seed: int) -> list[int]:
    return [seed, scale.hops[-1]]


def start_of(scale: Scale, size: WalkSize, seed: int) -> DrawnAhead:
    """The random numbers from which the factorisation of a scale starts, drawn from now on."""
    width = start_width(scale.dimensions, size.n_nodes, size.n_features)
    return DrawnAhead(_start_seed(scale, seed), size.n_features, width)


@dataclass(frozen=True)
class Triplets:
    """U·Σ of the rows that were learnt from, Σ and V, and the share of the squared norm that they hold."""

    scores: Floats
    sigma: NDArray[np.float64]
    v: Floats
    captured: float

    def solution(self, target: Target, scale: Scale, probability: NDArray[np.float64]) -> Solution:
        """Vectors of all nodes and features: G = M·V·Σ^(-1/2), H = V·Σ^(1/2)."""
        vectors = target.every_row(self.v) if target.every_row else self.scores
        return Solution(
            scale,
            node_vectors=times_columns(vectors, inverse_root(self.sigma)),
            feature_vectors=times_columns(self.v, np.sqrt(self.sigma)),
            feature_probability=probability,
            singular_values=self.sigma,
            rows=target.rows,
            sampled=target.sampled,
            captured=self.captured,
            filled=target.filled,
        )


def inverse_root(sigma: NDArray[np.float64]) -> NDArray[np.float64]:
    """Σ^(-1/2), with 0 for singular values of 0."""
    root = np.sqrt(sigma)
    return np.divide(1.0, root, out=np.zeros_like(root), where=root > 0)


def learning_bytes(sampled: RowCounts, held: Held) -> float:
    """Memory for rows to learn from."""
    row = sampled.bytes_needed / sampled.size.n_nodes
    return held.learning(sampled.scale, row, sampled.least_rows)


def least_sampled(sampled: RowCounts, held: Held) -> float:
    """Bytes that learning from the fewest sampled rows takes, and then projecting those of all nodes."""
    rows, scale = sampled.least_rows, sampled.scale
    needed = held.base + held.workspace(scale, rows)
    if needed + rows * sampled.most_bytes > held.room:  # at most; how many in truth is told by samples
        needed += rows * sampled.row_bytes
    # Maps are projected some nodes at a time.
    return needed if held.mapped else max(needed, held.base + held.projecting(scale))


def sampled_target(sampler: RowSampler, held: Held, *, sampled: bool = True) -> Target:
    """Rows to learn from; the rows of all nodes are sampled as well, or else exact."""
    matrix, complete = sampler.learning_rows(learning_bytes(sampler, held))
    which = "all rows" if complete else f"{matrix.shape[0]:,} of {sampler.context.n_nodes:,} rows"
    words = f"rows sampled from {sampler.walks} walks a node, learning from {which}"
    if not sampled:
        words = f"exact rows, after learning from {which} sampled from {sampler.walks} walks a node"
    filled = matrix.filled_rows() if complete else sampler.context.sees_features(sampler.scale)
    every_row = sampler.project if sampled and not complete else None
    return Target(matrix, words, matrix.squared_norm(), filled, every_row, sampled, complete)


def sparse_target(matrix: sp.csr_array, engine: Threads) -> Target:
    """All rows of a matrix that is as sparse as the graph or its features."""
    filled = np.diff(matrix.indptr) > 0
    return Target(engine.sparse(matrix), exact_words(matrix.nnz), squares(matrix.data), filled)


def exact_words(entries: int) -> str:
    """What exact rows are called."""
    return f"exact rows, {entries:,} positive entries"
