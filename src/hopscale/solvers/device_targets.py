"""The matrices that the direct solver factorises on a device: exact rows, whatever the size of the graph.

Where they fit the device's memory, the matrices are held dense. Else V is learnt from exact rows of some nodes, drawn
with a probability that grows with the degree, and a second sweep projects the rows of all: G = M·V·Σ^(-1/2).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hopscale.checks import in_words
from hopscale.compute import Operator
from hopscale.compute.ahead import DrawnAhead
from hopscale.compute.aligned import Floats
from hopscale.compute.svd import all_finished, tall_bytes, triplets_in_steps
from hopscale.exceptions import DeviceError, ParameterError, Setting
from hopscale.solvers.base import Solution
from hopscale.solvers.learning import start_of
from hopscale.solvers.targets import units_near
from hopscale.walks import Scale, WalkContext, WalkSize
from hopscale.walks.device_rows import DeviceContext, DeviceRows

if TYPE_CHECKING:
    from torch import Tensor

    from hopscale.compute.torch import Torch
    from hopscale.solvers.pmi import PMI

__all__ = ["DeviceTargets", "least_device_bytes"]

WIDTHS = (4096, 2048, 1024, 512, 256, 128, 64, 32, 16)  # columns of a block: the widest that fits
LARGEST_BLOCK = 2**29  # numbers, beyond which a wider one is no quicker
SINGLE = 2**28  # numbers of a matrix, beyond which half precision is quicker
LEARNING_ROWS = tuple(2**k for k in range(17, 7, -1))  # that V is learnt from where not all fit: as many as do
ENOUGH_ROWS = 16_384  # beyond, fewer rows are a better way to save memory than blocks of fewer columns than
NARROW = 128
LEAST_ROWS = 4  # to learn a dimension from


@dataclass(frozen=True)
class _Target:
    """M, or some of its rows; ``filled`` says which rows have an entry, where all are there."""

    operator: Operator
    words: str
    squared_norm: float
    filled: NDArray[np.bool_] | None


@dataclass(frozen=True)
class _Plan:
    """Columns of a block, rows that are held, None for all, and which of them are in half precision."""

    width: int
    rows: int | None
    half_blocks: bool = False
    half_rows: bool = False


@dataclass(frozen=True)
class _Learnt:
    """Singular triplets of one scale on the device, (U·Σ, Σ, V), and what they were learnt from."""

    scores: Tensor
    sigma: NDArray[np.float64]
    v: Tensor
    words: str
    captured: float
    filled: NDArray[np.bool_] | None


def _bytes_of(plan: _Plan, size: WalkSize, scales: Sequence[Scale]) -> float:
    """Bytes that a plan takes on the device, the graph among them."""
    n, q = size.n_nodes, -(-size.n_features // plan.width) * plan.width
    rows = n if plan.rows is None else plan.rows
    held = float(rows) * q * (2 if plan.half_rows else 4) * len(scales)
    tall = sum(tall_bytes(n + q, scale.dimensions) for scale in scales)
    work = sum(3 * tall_bytes(rows + q, scale.dimensions) for scale in scales)  # factorised together
    return held + tall + work + DeviceRows.workspace(size, scales, plan.width, half=plan.half_blocks)


def _even(most: int, columns: int) -> int:
    """Columns of a block, at most so many, such that the last block is as full as it can be.

    >>> _even(4096, 4714), _even(64, 4714)
    (2432, 64)
    """
    count = -(-columns // most)
    each = -(-columns // count)
    return min(most, -(-each // NARROW) * NARROW)


def least_device_bytes(size: WalkSize, scales: Sequence[Scale], *, half: bool) -> float:
    """The least memory that scales which walk take on a device, the graph among it."""
    least = min(size.n_nodes, LEAST_ROWS * max(scale.dimensions for scale in scales))
    return _bytes_of(_Plan(WIDTHS[-1], least, half, half), size, scales)


class DeviceTargets:
    """The target matrices of one fit or projection, on a device: what :class:`Targets` is on the processor."""

    def __init__(
        self,
        solver: PMI,
        context: WalkContext,
        engine: Torch,
        seed: int,
        probabilities: Sequence[NDArray[np.float64]],
    ) -> None:
        self._solver, self._engine, self._seed = solver, engine, seed
        self._units = units_near(probabilities)
        self._context, self._there = context, DeviceContext(context, self._units, engine)
        self._starts: dict[Scale, DrawnAhead] = {}
        self._scalings: list[NDArray[np.float32]] = []  # all that were asked for

    # What Targets has as well.

    def solutions(self, scales: Sequence[Scale], probabilities: Sequence[NDArray[np.float64]]) -> Iterator[Solution]:
        """Vectors of each scale, in turn; ``probabilities`` are p(f) at each of them."""
        scalings = [self._scaling(p) for p in probabilities]
        for scale in scales:
            self._starts[scale] = start_of(scale, self._context.size, self._seed)
        walked = [i for i, scale in enumerate(scales) if not scale.is_self and not self._is_one_hop(scale)]
        others = [i for i in range(len(scales)) if i not in walked]
        sparse = [(self._sparse(scales[i], scalings[i]), scales[i]) for i in others]
        if walked:
            learnt = self._within_memory(
                self._learn, [scales[i] for i in walked], [scalings[i] for i in walked], sparse
            )
        else:
            learnt = self._all_factorised(sparse)
        found = dict(zip((*walked, *others), learnt, strict=True))
        del sparse, learnt
        for i, scale in enumerate(scales):
            yield self._solution(found.pop(i), scale, probabilities[i])

    def projections(self, solutions: Sequence[Solution]) -> Iterator[Floats]:
        """Vectors of the nodes of this context, with the feature vectors of an earlier fit."""
        if any(solution.sampled for solution in solutions):
            raise ParameterError(
                "computes exact rows, and those that this model was fitted on are sampled: leave it out to sample rows "
                "of other nodes as well, on the processor",
                parameter="device",
            )
        scalings = [self._scaling(solution.feature_probability) for solution in solutions]
        bases = [self._engine.tall(_over(s.feature_vectors, s.singular_values)) for s in solutions]
        walked = [i for i, s in enumerate(solutions) if not s.scale.is_self and not self._is_one_hop(s.scale)]
        found: dict[int, Tensor] = {}
        for i, solution in enumerate(solutions):
            if i in walked and i not in found:
                some = [(solutions[k].scale, scalings[k], bases[k]) for k in walked]
                found = dict(zip(walked, self._within_memory(self._project, *zip(*some, strict=True)), strict=True))
            if i in found:
                yield self._engine.host(found.pop(i))
            else:
                yield self._engine.host(self._sparse(solution.scale, scalings[i]).operator @ bases[i])

    def all_rows(self, scale: Scale, probability: NDArray[np.float64], beside: float) -> Operator:
        """The matrix of a scale with all its rows; ``beside`` are bytes that the caller needs at the same time."""
        scaling = self._scaling(probability)
        if self._is_one_hop(scale):
            return self._sparse(scale, scaling).operator
        for plan in self._plans([scale], beside):
            if plan.rows is None:
                return self._dense(self._sweep(plan, [scale]), plan.half_rows, [scale], [scaling])[0].operator
        raise self._too_little(self._needed(_Plan(WIDTHS[-1], None, half_rows=self._engine.halves), [scale], beside))

    # Rows that are as sparse as the graph.

    def _scaling(self, probability: NDArray[np.float64]) -> NDArray[np.float32]:
        scaling = self._solver.scaling_in(self._units, probability)
        self._there.check_ratios(scaling)
        self._scalings.append(scaling)
        return scaling

    def _is_one_hop(self, scale: Scale) -> bool:
        return scale.hops == (1,) and self._context.sees_nodes

    def _sparse(self, scale: Scale, scaling: NDArray[np.float32]) -> _Target:
        if scale.is_self:
            matrix = self._there.own_rows(scaling)
        else:
            matrix = self._engine.csr(self._solver.one_hop(self._context.in_units(self._units), scaling))
        assert matrix.values is not None
        norm = float((matrix.values.double() ** 2).sum())
        filled = self._engine.host(matrix.offsets.diff() > 0)
        return _Target(self._engine.operator(matrix), _exact_words(len(matrix.values)), norm, filled)

    # Rows of walks: as many as the memory of the device holds.

    def _needed(self, plan: _Plan, scales: Sequence[Scale], beside: float = 0.0) -> float:
        """Bytes that a plan takes."""
        return _bytes_of(plan, self._context.size, scales) + beside

    def _plans(self, scales: Sequence[Scale], beside: float = 0.0) -> Iterator[_Plan]:
        """Ways to go about it, the best first, each within the memory of the device."""
        room, n, halves = self._engine.room, self._context.n_nodes, self._engine.halves
        pooled = max(len(scale.hops) for scale in scales)
        least = min(n, LEAST_ROWS * max(scale.dimensions for scale in scales))
        some = [count for count in (*LEARNING_ROWS, least) if least <= count < n]
        half_blocks = False  # all rows are held without
        for rows in (None, *some):
            if rows in some[:1]:
                half_blocks = halves and all(self._there.half_holds(scaling, pooled) for scaling in self._scalings)
            for most in WIDTHS:
                width = _even(most, self._context.n_features)
                if width * n > LARGEST_BLOCK and width > WIDTHS[-1]:
                    continue
                if rows is not None and rows > ENOUGH_ROWS and width < NARROW:
                    continue
                large = rows is not None or n * self._context.n_features > SINGLE
                plan = _Plan(width, rows, half_blocks=half_blocks, half_rows=halves and large)
                if self._needed(plan, scales, beside) <= room:
                    yield plan

    def _within_memory(self, work: Any, scales: Sequence[Scale], *others: Any) -> Any:
        """What ``work`` returns with the first plan that the device has the memory for."""
        import torch

        for plan in self._plans(scales):
            try:
                return work(plan, scales, *others)
            except torch.cuda.OutOfMemoryError:  # another process may have taken it
                pass
            torch.cuda.empty_cache()
        raise self._too_little(least_device_bytes(self._context.size, scales, half=self._engine.halves))

    def _too_little(self, needed: float) -> DeviceError:
        n, q = self._context.n_nodes, self._context.n_features
        return DeviceError(
            f"the device has {in_words(self._engine.room)} of memory left, and {n:,} nodes with {q:,} columns need "
            f"{in_words(needed)} at least: ask for fewer dimensions, free memory that other programs hold, or leave ",
            Setting("device"),
            " out to compute on the processor",
        )

    def _learn(
        self,
        plan: _Plan,
        scales: Sequence[Scale],
        scalings: Sequence[NDArray[np.float32]],
        others: Sequence[tuple[_Target, Scale]],
    ) -> list[_Learnt]:
        """Singular triplets of each scale, and then those of other targets."""
        some = plan.rows is not None
        rows = self._sweep(plan, scales, keep=some)
        chance, nodes = self._learning_nodes(plan.rows) if plan.rows is not None else (None, None)
        targets = self._dense(
            rows, plan.half_rows, scales, scalings, nodes, None if chance is None else 1.0 / np.sqrt(chance)
        )
        learnt = self._all_factorised([*zip(targets, scales, strict=True), *others])
        del targets
        if some:
            scores = self._projected(rows, scales, scalings, [each.v for each in learnt[: len(scales)]])
            learnt[: len(scales)] = [replace(a, scores=b) for a, b in zip(learnt, scores, strict=False)]
        return learnt

    def _sweep(self, plan: _Plan, scales: Sequence[Scale], *, keep: bool = False) -> DeviceRows:
        pooled = max(len(scale.hops) for scale in scales)
        return DeviceRows(self._there, plan.width, half=plan.half_blocks, pooled=pooled, keep=keep)

    def _learning_nodes(self, capacity: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Nodes to learn from, drawn systematically with a probability that grows with the degree; and that."""
        degrees = self._context.transitions.degrees
        share = degrees + degrees.mean()
        chance = np.minimum(1.0, share * (capacity / share.sum()))
        ticks = np.floor(np.cumsum(chance) + np.random.default_rng([self._seed, 1]).random())
        nodes = np.flatnonzero(np.diff(ticks, prepend=0.0) > 0)
        return chance[nodes], nodes

    def _dense(
        self,
        rows: DeviceRows,
        half: bool,
        scales: Sequence[Scale],
        scalings: Sequence[NDArray[np.float32]],
        nodes: NDArray[np.int64] | None = None,
        factors: NDArray[np.float64] | None = None,
    ) -> list[_Target]:
        """Rows of M of all nodes, or of some times a factor, for each scale: one sweep over the columns."""
        import torch

        from hopscale.compute.torch import DenseRows

        engine, n, q = self._engine, self._context.n_nodes, self._context.n_features
        scaling = [rows.scaling(each, scale) for each, scale in zip(scalings, scales, strict=True)]
        height = n if nodes is None else len(nodes)
        shape = height, rows.count * rows.width
        found = [
            torch.empty(shape, dtype=torch.float16 if half else torch.float32, device=engine.device) for _ in scales
        ]
        which = None if nodes is None else engine.tensor(nodes)
        factor = None if factors is None else engine.tensor(factors.astype(np.float32))
        with self._bar(rows, scales, "exact rows") as bar:
            for columns, i, block in rows.blocks(scales, which):
                out = found[i][:, columns]
                engine.kernels.logarithms(block, scaling[i][columns], self._solver.power, out, factor)
                bar.update(1)
        targets = []
        while found:
            matrix = found.pop(0)
            counts, squares = engine.kernels.row_statistics(matrix[:, :q])
            words, filled = f"exact rows, V learnt from {height:,} of {n:,}", None
            if nodes is None:
                words, filled = _exact_words(int(counts.sum())), engine.host(counts > 0)
            targets.append(_Target(DenseRows(matrix, engine, q), words, float(squares.double().sum()), filled))
        return targets

    def _project(
        self, plan: _Plan, scales: Sequence[Scale], scalings: Sequence[NDArray[np.float32]], bases: Sequence[Tensor]
    ) -> list[Tensor]:
        return self._projected(self._sweep(plan, scales), scales, scalings, bases)

    def _projected(
        self,
        rows: DeviceRows,
        scales: Sequence[Scale],
        scalings: Sequence[NDArray[np.float32]],
        bases: Sequence[Tensor],
    ) -> list[Tensor]:
        """M·basis of each scale, no row of M held: one sweep over the columns."""
        import torch

        engine, n = self._engine, self._context.n_nodes
        scaling = [rows.scaling(each, scale) for each, scale in zip(scalings, scales, strict=True)]
        right = [rows.padded(basis) for basis in bases]
        out = [torch.zeros((n, basis.shape[1]), device=engine.device) for basis in bases]
        with self._bar(rows, scales, "project rows") as bar:
            for columns, i, block in rows.blocks(scales):
                engine.kernels.add_projection(block, scaling[i][columns], self._solver.power, right[i][columns], out[i])
                bar.update(1)
        return out

    def _bar(self, rows: DeviceRows, scales: Sequence[Scale], doing: str) -> Any:
        label = ", ".join(scale.label for scale in scales)
        return self._engine.bar(rows.count * len(scales), f"scale {label}: {doing}", "block")

    # Factorising.

    def _all_factorised(self, targets: Sequence[tuple[_Target, Scale]]) -> list[_Learnt]:
        """All targets, taking turns: while the processor is at one of them, the device goes on with the others."""
        for target, scale in targets:
            self._engine.say(f"scale {scale.label}: {target.words}")
        steps = [
            triplets_in_steps(
                target.operator,
                scale.dimensions,
                self._engine,
                random=self._starts[scale],
                doing=f"scale {scale.label}: factorise",
            )
            for target, scale in targets
        ]
        learnt = []
        for (target, _), (scores, sigma, v) in zip(targets, all_finished(steps), strict=True):
            captured = min(1.0, float(sigma @ sigma) / target.squared_norm) if target.squared_norm else 1.0
            learnt.append(_Learnt(scores, sigma, v, target.words, captured, target.filled))
        return learnt

    def _solution(self, learnt: _Learnt, scale: Scale, probability: NDArray[np.float64]) -> Solution:
        engine, sigma, filled = self._engine, learnt.sigma, learnt.filled
        root = np.sqrt(sigma)
        inverse = np.divide(1.0, root, out=np.zeros_like(root), where=root > 0)
        return Solution(
            scale,
            node_vectors=_times(learnt.scores, inverse, engine),
            feature_vectors=_times(learnt.v, root, engine),
            feature_probability=probability,
            singular_values=sigma,
            rows=learnt.words,
            captured=learnt.captured,
            filled=engine.host((learnt.scores != 0).any(dim=1)) if filled is None else filled,
        )


def _times(x: Tensor, factors: NDArray[np.float64], engine: Torch) -> Tensor:
    """Each column of x times a number in double precision."""
    return (x.double() * engine.tensor(factors)).float()


def _over(vectors: Floats, sigma: NDArray[np.float64] | None) -> Floats:
    assert sigma is not None
    return (vectors * np.divide(1.0, sigma, out=np.zeros_like(sigma), where=sigma > 0)).astype(np.float32)


def _exact_words(entries: int) -> str:
    return f"exact rows, {entries:,} positive entries"
