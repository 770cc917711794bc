"""The matrices that the direct solver factorises: the memory limit decides which form each has."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hopscale.checks import memory_bytes
from hopscale.compute import Operator, Threads
from hopscale.compute.aligned import Floats
from hopscale.compute.svd import leading_triplets, tall_bytes, times_columns
from hopscale.exceptions import Setting, warn
from hopscale.solvers.base import Solution
from hopscale.solvers.held import Held
from hopscale.walks import Scale, WalkContext
from hopscale.walks.panels import ExactRows, Panel, PanelMatrix, squares
from hopscale.walks.sampling import RowSampler

if TYPE_CHECKING:
    from hopscale.solvers.pmi import PMI

__all__ = ["Targets", "units_near"]

TRIAL_PANELS = 8  # panels after which the size of all of them is judged
EXACT_WORK = 2e12  # multiplications beyond which sampling rows is the quicker way


@dataclass(frozen=True)
class _Target:
    """M, or some of its rows; ``every_row`` then gives M·v for all nodes."""

    operator: Operator
    rows: str
    squared_norm: float
    filled: NDArray[np.bool_]  # mask of the nodes whose row has an entry
    every_row: Callable[[Floats], Floats] | None = None
    sampled: bool = False


class Targets:
    """The target matrices of one fit or projection, each in the form that the memory limit allows."""

    def __init__(
        self,
        solver: PMI,
        context: WalkContext,
        engine: Threads,
        seed: int,
        probabilities: Sequence[NDArray[np.float64]],
    ) -> None:
        self._solver, self._engine, self._seed = solver, engine, seed
        # A ratio does not depend on the unit of a feature: in that of p(f), ratios of one come from numbers near one.
        self._units = units_near(probabilities)
        self._context = context.in_units(self._units)
        self._memory = engine.memory = memory_bytes("memory_limit", solver.memory_limit)
        self._held = Held(self._context, engine, self._memory)

    def _scaling(self, probability: NDArray[np.float64]) -> NDArray[np.float32]:
        scaling = self._solver.scaling_in(self._units, probability)
        self._context.check_ratios(scaling)
        return scaling

    def solutions(self, scales: Sequence[Scale], probabilities: Sequence[NDArray[np.float64]]) -> Iterator[Solution]:
        """Vectors of each scale, in turn; ``probabilities`` are p(f) at each of them."""
        scalings = [self._scaling(p) for p in probabilities]
        for scale, scaling in zip(scales, scalings, strict=True):
            self._held.refuse(scale, self._least(scale, scaling))
        # All scales that walk in one sweep where they fit together; else one by one; else from samples.
        walked = [i for i, scale in enumerate(scales) if not scale.is_self]
        exact: dict[int, _Target] = {}
        if len(walked) > 1:
            together = self._exact([scales[i] for i in walked], [scalings[i] for i in walked])
            exact = dict(zip(walked, together, strict=True)) if together else {}
            del together
        for i, scale in enumerate(scales):
            # No name here keeps a scale's matrix or vectors while the next is made.
            found = [exact.pop(i) if i in exact else self._target(scale, scalings[i])]
            yield self._factorised(found.pop(), scale, probabilities[i])

    def project(self, solution: Solution) -> Floats:
        """Vectors of the nodes of this context, with the feature vectors of an earlier fit."""
        assert solution.singular_values is not None
        scale, sigma = solution.scale, solution.singular_values
        inverse = np.divide(1.0, sigma, out=np.zeros_like(sigma), where=sigma > 0)
        basis = times_columns(solution.feature_vectors.copy(), inverse)
        scaling = self._scaling(solution.feature_probability)
        own = tall_bytes(self._context.n_nodes + 2 * self._context.n_features, scale.dimensions)
        if scale.is_self:
            self._held.refuse(scale, self._held.base + own + self._held.own_rows)
            return self._engine.host(self._engine.sparse(self._context.own_rows(scaling)) @ self._engine.tall(basis))
        if solution.sampled or not self._may_be_exact([scale]):
            self._held.refuse(scale, self._held.base + own)
            return self._sampler(scale, scaling).project(basis)
        rest = self._held.room - self._held.base - own - self._held.blocks
        self._held.refuse(scale, self._held.room - rest)
        memory = int(min(rest, self._memory // 4))
        return self._exact_rows.project(scale, scaling, basis, self._engine, at_once=self._held.at_once, memory=memory)

    def all_rows(self, scale: Scale, probability: NDArray[np.float64], beside: float) -> Operator:
        """The matrix of a scale with all its rows; ``beside`` are bytes that the caller needs at the same time."""
        scaling = self._scaling(probability)
        found = self._unsampled(scale, scaling, beside)
        if found is not None:
            return found.operator
        sampler = self._sampler(scale, scaling)
        needed = self._held.base + beside + sampler.bytes_needed
        if needed > self._held.room:  # and so do exact rows, but they may take less
            least = min(needed, self._exact_bytes(scale, scaling, beside))
            self._held.refuse(scale, max(least, self._held.room + 1), instead="take a smaller window")
        self._warn_of_sampling(scale)
        return self._sampled(sampler, sampler.bytes_needed).operator

    def _target(self, scale: Scale, scaling: NDArray[np.float32]) -> _Target:
        """The matrix of one scale on its own."""
        found = self._unsampled(scale, scaling, self._held.workspace(scale))
        if found is not None:
            return found
        if not self._context.transitions.second_order:
            self._warn_of_sampling(scale)
        sampler = self._sampler(scale, scaling)
        each = sampler.bytes_needed / self._context.n_nodes
        room = self._held.room - self._held.base - self._held.workspace(scale, sampler.least_rows)
        return self._sampled(sampler, min(self._memory // 2, room * each / (each + tall_bytes(2, scale.dimensions))))

    def _unsampled(self, scale: Scale, scaling: NDArray[np.float32], beside: float) -> _Target | None:
        """Exact rows, or None where they would not fit."""
        context = self._context
        if scale.is_self:
            return self._sparse(context.own_rows(scaling))
        if self._is_one_hop(scale) and self._held.base + beside + self._held.one_hop <= self._held.room:
            return self._sparse(self._solver.one_hop(context, scaling))  # as sparse as the graph, whatever its size
        exact = self._exact([scale], [scaling], beside)
        return exact[0] if exact else None

    def _is_one_hop(self, scale: Scale) -> bool:
        unbiased = self._solver.rows != "sampled" and not self._context.transitions.second_order
        return scale.hops == (1,) and unbiased and self._context.sees_nodes

    def _sparse(self, matrix: sp.csr_array) -> _Target:
        filled = np.diff(matrix.indptr) > 0
        return _Target(self._engine.sparse(matrix), _exact_words(matrix.nnz), squares(matrix.data), filled)

    def _sampler(self, scale: Scale, scaling: NDArray[np.float32]) -> RowSampler:
        return RowSampler(
            self._context, scale, scaling, self._solver.walks, self._seed, self._engine, self._solver.power
        )

    def _sampled(self, sampler: RowSampler, memory: float) -> _Target:
        matrix, complete = sampler.learning_rows(memory)
        which = "all rows" if complete else f"{matrix.shape[0]:,} of {self._context.n_nodes:,} rows"
        words = f"rows sampled from {sampler.walks} walks a node, learning from {which}"
        filled = np.diff(matrix.indptr) > 0 if complete else self._context.sees_features(sampler.scale)
        every_row = None if complete else sampler.project
        norm = squares(matrix.data)
        return _Target(self._engine.sparse(matrix), words, norm, filled, every_row, sampled=True)

    def _factorised(self, target: _Target, scale: Scale, probability: NDArray[np.float64]) -> Solution:
        self._engine.say(f"scale {scale.label}: {target.rows}")
        b, sigma, v = leading_triplets(
            target.operator,
            scale.dimensions,
            self._engine,
            random=np.random.default_rng([self._seed, scale.hops[-1]]),
            doing=f"scale {scale.label}: factorise",
        )
        b, v = self._engine.host(b), self._engine.host(v)
        root = np.sqrt(sigma)
        inverse = np.divide(1.0, root, out=np.zeros_like(root), where=root > 0)
        return Solution(
            scale,
            node_vectors=times_columns(target.every_row(v) if target.every_row else b, inverse),
            feature_vectors=times_columns(v, root),
            feature_probability=probability,
            singular_values=sigma,
            rows=target.rows,
            sampled=target.sampled,
            captured=min(1.0, float(sigma @ sigma) / target.squared_norm) if target.squared_norm else 1.0,
            filled=target.filled,
        )

    def _warn_of_sampling(self, scale: Scale) -> None:
        if self._solver.rows == "auto":
            warn(
                f"scale {scale.label}: exact rows would take more than ",
                Setting("memory_limit"),
                f" ({self._memory:,} bytes) or too long; they are estimated from {self._solver.walks} walks a node. ",
                Setting("rows", "exact"),
                " forces exact ones, ",
                Setting("rows", "sampled"),
                " silences this",
            )

    def _least(self, scale: Scale, scaling: NDArray[np.float32]) -> float:
        """Bytes that the scale takes in the form that takes least."""
        held = self._held
        whole = held.base + held.workspace(scale)
        if scale.is_self:
            return whole + held.own_rows
        if self._solver.rows == "exact":
            return whole + held.blocks
        forms = [whole + held.one_hop] if self._is_one_hop(scale) else []
        if self._may_be_exact([scale]):
            forms.append(whole + held.blocks + held.full)
        if min(forms, default=np.inf) > held.room:
            sampler = self._sampler(scale, scaling)
            rows, some = sampler.least_rows, held.base + held.workspace(scale, sampler.least_rows)
            if some + 2.0 * rows * sampler.row_bytes > held.room:  # at most; how many in truth is told by samples
                some += rows * sampler.bytes_needed / self._context.n_nodes
            forms.append(some)
        return min(forms)

    # How exact rows are computed within the memory limit.

    @cached_property
    def _exact_rows(self) -> ExactRows:
        return ExactRows(self._context, self._held.width, self._solver.power)

    def _may_be_exact(self, scales: Sequence[Scale]) -> bool:
        if self._context.transitions.second_order:  # known from samples only
            return False
        if self._solver.rows == "exact":
            return True
        fits = ExactRows.workspace(self._context, self._held.width) <= self._memory // 2
        return self._solver.rows == "auto" and fits and ExactRows.work(self._context, scales) <= EXACT_WORK

    def _exact_bytes(self, scale: Scale, scaling: NDArray[np.float32], beside: float) -> float:
        """About what exact rows of a scale would take, by a few of their panels."""
        context, rows = self._context, self._exact_rows
        if context.transitions.second_order or self._solver.rows == "sampled":
            return np.inf
        if ExactRows.work(context, [scale]) > EXACT_WORK:
            return np.inf
        some = range(0, rows.count, max(1, rows.count // TRIAL_PANELS))
        panels = rows.panels([scale], [scaling], self._engine, order=list(some), at_once=1)
        mean = sum(panel.nbytes for [panel] in panels) / len(some)
        return self._held.base + max(beside, self._held.blocks) + 1.05 * rows.count * mean

    def _exact(
        self, scales: Sequence[Scale], scalings: Sequence[NDArray[np.float32]], beside: float | None = None
    ) -> list[_Target] | None:
        """Compressed exact matrices of the scales, or None where they would pass the memory limit."""
        if not scales or not self._may_be_exact(scales):
            return None
        beside = max(map(self._held.workspace, scales)) if beside is None else beside
        fixed = self._held.base + max(beside, self._held.blocks)
        forced = self._solver.rows == "exact" and len(scales) == 1
        budget = self._held.room - fixed if forced else min(self._memory * 3 // 4, self._held.room - fixed)
        if budget < 0 and not forced:
            return None
        rows, engine = self._exact_rows, self._engine
        # Spread over the columns first, so that the first few panels tell how large all will be.
        stride = max(1, rows.count // TRIAL_PANELS)
        order = [j for first in range(stride) for j in range(first, rows.count, stride)]
        stored: list[list[Panel | None]] = [[None] * rows.count for _ in scales]
        used = 0
        label = ", ".join(scale.label for scale in scales)
        with engine.bar(rows.count, f"scale {label}: exact rows", "panel") as bar:
            panels = rows.panels(scales, scalings, engine, order=order, at_once=self._held.at_once)
            for done, (j, by_scale) in enumerate(zip(order, panels, strict=True), start=1):
                for i, panel in enumerate(by_scale):
                    stored[i][j] = panel
                    used += panel.nbytes
                expected = used if done < min(TRIAL_PANELS, rows.count) else used * rows.count / done
                if expected > budget:
                    if forced:
                        self._held.refuse(scales[0], fixed + 1.05 * expected, "leave rows at 'auto'")
                    return None
                bar.update(1)
        matrices = [
            PanelMatrix([p for p in each if p], self._context.n_features, rows.width, engine) for each in stored
        ]
        return [_Target(m, _exact_words(m.entries), m.squared_norm(), m.filled_rows()) for m in matrices]


def units_near(probabilities: Sequence[NDArray[np.float64]]) -> NDArray[np.int32]:
    """Exponents of powers of two near p(f), the largest of all scales; near the others' where f is never met."""
    largest = np.max(probabilities, axis=0)
    return np.frexp(np.where(largest > 0, largest, largest.max(initial=0.0)))[1].astype(np.int32)


def _exact_words(entries: int) -> str:
    return f"exact rows, {entries:,} positive entries"
