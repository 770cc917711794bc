"""The matrices that the direct solver factorises: the memory limit decides which form each has."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hopscale.checks import memory_bytes
from hopscale.compute import Operator, Threads
from hopscale.compute.aligned import Floats
from hopscale.compute.svd import times_columns
from hopscale.exceptions import Setting, warn
from hopscale.solvers.base import Solution
from hopscale.solvers.costs import (
    Work,
    all_factorised,
    factorising,
    holding,
    projecting_sampled,
    sampling,
    seconds,
    streaming,
)
from hopscale.solvers.forms import EXACT_WORK, Forms
from hopscale.solvers.learning import Target, exact_words, sampled_target, sparse_target, start_of
from hopscale.walks import Scale, WalkContext
from hopscale.walks.panels import TRIAL_PANELS, ExactRows
from hopscale.walks.sampling import RowSampler
from hopscale.walks.sweep import Sweep

if TYPE_CHECKING:
    from hopscale.solvers.pmi import PMI

__all__ = ["Targets", "units_near"]

Works = Callable[[Sequence[float] | None], list[Work]]


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
        self._scalings: dict[Scale, NDArray[np.float32]] = {}
        self._samplers: dict[Scale, RowSampler] = {}
        self._forms = Forms(solver, self._context.size, engine, self._sampler)
        self._held = self._forms.held

    def _scaling(self, scale: Scale, probability: NDArray[np.float64]) -> NDArray[np.float32]:
        scaling = self._scalings[scale] = self._solver.scaling_in(self._units, probability)
        self._context.check_ratios(scaling)
        return scaling

    def solutions(self, scales: Sequence[Scale], probabilities: Sequence[NDArray[np.float64]]) -> Iterator[Solution]:
        """Vectors of each scale, in turn; ``probabilities`` are p(f) at each of them."""
        scalings = [self._scaling(scale, p) for scale, p in zip(scales, probabilities, strict=True)]
        for scale in scales:
            self._held.refuse(scale, self._forms.least(scale))
        # All scales that walk are held where they fit together; else one by one; else rows are streamed or sampled.
        walked = [i for i, scale in enumerate(scales) if not scale.is_self]
        exact: dict[int, Target] = {}
        if len(walked) > 1:
            some = [scales[i] for i in walked]
            together = self._exact(
                some, [scalings[i] for i in walked], then=partial(all_factorised, self._context.size, scales)
            )
            exact = dict(zip(walked, together, strict=True)) if together else {}
            del together
        apart = [] if exact else self._streams(scales, scalings)
        streamed: dict[int, Solution] = {}
        if not exact:
            self._expect(self._work(scales, apart))
        for i, scale in enumerate(scales):
            if i in apart[:1]:
                each = [(scales[k], scalings[k], probabilities[k]) for k in apart]
                streamed = dict(zip(apart, self._streamed(*zip(*each, strict=True)), strict=True))
            if i in apart:
                yield streamed.pop(i)
                continue
            # No name here keeps a scale's matrix or vectors while the next is made.
            rest = scales[i + 1 :], [k - i - 1 for k in apart if k > i]
            found = [exact.pop(i) if i in exact else self._target(scale, scalings[i], partial(self._work, *rest))]
            yield self._factorised(found.pop(), scale, probabilities[i])

    def projections(self, solutions: Sequence[Solution]) -> Iterator[Floats]:
        """Vectors of the nodes of this context, with the feature vectors of an earlier fit."""
        scalings = [self._scaling(solution.scale, solution.feature_probability) for solution in solutions]
        apart = self._streams([solution.scale for solution in solutions], scalings)
        apart = [i for i in apart if not solutions[i].sampled]
        streamed: dict[int, Floats] = {}
        for i, (solution, scaling) in enumerate(zip(solutions, scalings, strict=True)):
            if i in apart[:1]:
                scales, bases = [solutions[k].scale for k in apart], [_basis(solutions[k]) for k in apart]
                found = self._sweep(scales).products(scales, [scalings[k] for k in apart], bases)
                streamed = dict(zip(apart, found, strict=True))
                del found
            yield streamed.pop(i) if i in apart else self._project(solution, scaling)

    def _project(self, solution: Solution, scaling: NDArray[np.float32]) -> Floats:
        """Vectors of one scale, whose rows are sampled, or exact in single precision."""
        scale, basis = solution.scale, _basis(solution)
        own = self._held.projecting(scale)
        if scale.is_self:
            self._held.refuse(scale, self._held.base + own + self._held.own_rows)
            return self._engine.host(self._engine.sparse(self._context.own_rows(scaling)) @ self._engine.tall(basis))
        if solution.sampled or not self._forms.may_be_exact([scale]):
            self._held.refuse(scale, self._held.base + own)
            return self._sampler(scale).project(basis)
        rest = self._held.room - self._held.base - own - self._held.blocks
        self._held.refuse(scale, self._held.room - rest)
        memory = int(min(rest, self._memory // 4))
        return self._exact_rows.project(scale, scaling, basis, self._engine, at_once=self._held.at_once, memory=memory)

    def all_rows(self, scale: Scale, probability: NDArray[np.float64], beside: float) -> Operator:
        """The matrix of a scale with all its rows; ``beside`` are bytes that the caller needs at the same time."""
        scaling = self._scaling(scale, probability)
        found = self._unsampled(scale, scaling, beside)
        if found is not None:
            return found.operator
        sampler = self._sampler(scale)
        needed = self._held.base + beside + sampler.bytes_needed
        if needed > self._held.room:  # and so do exact rows, but they may take less
            least = min(needed, self._exact_bytes(scale, scaling, beside))
            self._held.refuse(scale, max(least, self._held.room + 1), instead="take a smaller window")
        self._warn_of_sampling(scale)
        return sampler.all_rows()

    # Exact rows that are computed twice rather than held.

    def _streams(self, scales: Sequence[Scale], scalings: Sequence[NDArray[np.float32]]) -> list[int]:
        """Which scales are streamed: none where half precision does not hold their ratios."""
        streamed = self._forms.streams(scales)
        if not streamed:
            return []
        sweep = self._sweep([scales[i] for i in streamed])
        return streamed if all(sweep.holds(scalings[i]) for i in streamed) else []

    def _work(self, scales: Sequence[Scale], streamed: Sequence[int]) -> list[Work]:
        """Work of all stages of scales one by one, some of which are streamed."""
        size, found = self._context.size, []
        for i, scale in enumerate(scales):
            if i in streamed:
                found += self._learning_work(scale)[:2]
            elif scale.is_self or self._forms.is_one_hop(scale):
                found += all_factorised(size, [scale], [float(size.steps)])
            elif self._forms.may_be_exact([scale]):
                found += holding(size, [scale]), *all_factorised(size, [scale])
            else:
                found += self._learning_work(scale)
            if i in streamed[-1:]:
                swept = [scales[k] for k in streamed]
                found.append(streaming(size, swept, [self._sampler(scale).row_entries for scale in swept]))
        return found

    def _learning_work(self, scale: Scale) -> list[Work]:
        """Work of rows to learn from, of factorising them, and of sampling all rows where these are more."""
        size, rows, sampler = self._context.size, self._forms.learning_rows(scale), self._sampler(scale)
        entries = rows * sampler.row_entries
        found = [sampling(sampler, rows), factorising(rows, size.n_features, entries, scale)]
        return found if rows >= size.n_nodes else [*found, projecting_sampled(sampler)]

    def _expect(self, work: Sequence[Work]) -> None:
        """Tell the progress bar of all stages that are to come."""
        self._engine.expect(list(map(seconds, work)))

    def _sweep(self, scales: Sequence[Scale]) -> Sweep:
        width = self._held.stream_width(scales)
        assert width is not None
        return Sweep(self._context, self._engine, self._solver.power, width)

    def _streamed(
        self,
        scales: Sequence[Scale],
        scalings: Sequence[NDArray[np.float32]],
        probabilities: Sequence[NDArray[np.float64]],
    ) -> list[Solution]:
        """Features' vectors from a sample of rows, then the nodes' from all of them, exact, in one sweep."""
        learnt = []
        for scale, probability in zip(scales, probabilities, strict=True):
            start = start_of(scale, self._context.size, self._seed)  # drawn while rows are sampled
            target = sampled_target(self._sampler(scale), self._held, sampled=False)
            triplets = target.factorised(scale, self._engine, self._seed, start)
            learnt.append(triplets.solution(target, scale, probability))
            del target, start, triplets
        bases = [_basis(solution) for solution in learnt]
        found = self._sweep(scales).products(scales, scalings, bases)
        return [replace(solution, node_vectors=g) for solution, g in zip(learnt, found, strict=True)]

    def _target(self, scale: Scale, scaling: NDArray[np.float32], rest: Callable[[], list[Work]]) -> Target:
        """The matrix of one scale on its own; ``rest`` is the work of scales after it."""
        then = lambda entries: [*all_factorised(self._context.size, [scale], entries), *rest()]  # noqa: E731
        found = self._unsampled(scale, scaling, self._held.workspace(scale), then)
        if found is not None:
            return found
        self._expect([*self._learning_work(scale), *rest()])
        if not self._context.transitions.second_order:
            self._warn_of_sampling(scale)
        return sampled_target(self._sampler(scale), self._held)

    def _unsampled(
        self, scale: Scale, scaling: NDArray[np.float32], beside: float, then: Works | None = None
    ) -> Target | None:
        """Exact rows, or None where they would not fit."""
        context = self._context
        if scale.is_self:
            return sparse_target(context.own_rows(scaling), self._engine)
        if self._forms.holds_one_hop(scale, beside):  # as sparse as the graph, whatever its size
            return sparse_target(self._solver.one_hop(context, scaling), self._engine)
        exact = self._exact([scale], [scaling], beside, then)
        return exact[0] if exact else None

    def _sampler(self, scale: Scale) -> RowSampler:
        """Rows of a scale from walks; how many entries they have is found out once."""
        if scale not in self._samplers:
            solver, scaling = self._solver, self._scalings[scale]
            self._samplers[scale] = RowSampler(
                self._context, scale, scaling, solver.walks, self._seed, self._engine, solver.power
            )
        return self._samplers[scale]

    def _factorised(self, target: Target, scale: Scale, probability: NDArray[np.float64]) -> Solution:
        return target.factorised(scale, self._engine, self._seed).solution(target, scale, probability)

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

    # How exact rows are computed within the memory limit.

    @cached_property
    def _exact_rows(self) -> ExactRows:
        return ExactRows(self._context, self._held.width, self._solver.power)

    def _exact_bytes(self, scale: Scale, scaling: NDArray[np.float32], beside: float) -> float:
        """About what exact rows of a scale would take, by a few of their panels."""
        context, rows = self._context, self._exact_rows
        if context.transitions.second_order or self._solver.rows == "sampled":
            return np.inf
        if ExactRows.work(context.size, [scale]) > EXACT_WORK:
            return np.inf
        some = range(0, rows.count, max(1, rows.count // TRIAL_PANELS))
        panels = rows.panels([scale], [scaling], self._engine, order=list(some), at_once=1)
        mean = sum(panel.nbytes for [panel] in panels) / len(some)
        return self._held.base + max(beside, self._held.blocks) + 1.05 * rows.count * mean

    def _exact(
        self,
        scales: Sequence[Scale],
        scalings: Sequence[NDArray[np.float32]],
        beside: float | None = None,
        then: Works | None = None,
    ) -> list[Target] | None:
        """Compressed exact matrices of the scales, or None where they would pass the memory limit.

        ``then`` is the work that comes after, by the number of entries of each.
        """
        budget = self._forms.exact_budget(scales, beside)
        if budget is None:
            return None
        rows, engine = self._exact_rows, self._engine
        if then:
            self._expect([holding(self._context.size, scales), *then(None)])

        def tell(entries: Sequence[float]) -> None:
            if then:
                self._expect(then(entries))

        matrices = rows.held(scales, scalings, engine, at_once=self._held.at_once, budget=budget.rows, tell=tell)
        if isinstance(matrices, float):
            if budget.forced:
                self._held.refuse(scales[0], budget.beside + 1.05 * matrices, "leave rows at 'auto'")
            return None
        return [Target(m, exact_words(m.entries), m.squared_norm(), m.filled_rows()) for m in matrices]


def units_near(probabilities: Sequence[NDArray[np.float64]]) -> NDArray[np.int32]:
    """Exponents of powers of two near p(f), the largest of all scales; near the others' where f is never met."""
    largest = np.max(probabilities, axis=0)
    return np.frexp(np.where(largest > 0, largest, largest.max(initial=0.0)))[1].astype(np.int32)


def _basis(solution: Solution) -> Floats:
    """H·Σ⁻¹: what rows are multiplied by to give vectors."""
    assert solution.singular_values is not None
    sigma = solution.singular_values
    inverse = np.divide(1.0, sigma, out=np.zeros_like(sigma), where=sigma > 0)
    return times_columns(solution.feature_vectors.copy(), inverse)
