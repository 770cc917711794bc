"""Which form the rows of each scale take: held, streamed or sampled, by the memory limit and the amount of work.

The rules read counts and the number of entries of sampled rows alone: they decide before a fit as they do in it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from hopscale.checks import memory_bytes
from hopscale.compute import Threads
from hopscale.solvers.held import Held
from hopscale.solvers.learning import learning_bytes, least_sampled
from hopscale.walks import Scale, WalkSize
from hopscale.walks.panels import ExactRows
from hopscale.walks.sampling import RowCounts
from hopscale.walks.sweep import WIDTHS, Sweep

if TYPE_CHECKING:
    from hopscale.solvers.pmi import PMI

__all__ = ["EXACT_WORK", "Budget", "Forms"]

EXACT_WORK = 2e12  # multiplications beyond which exact rows are not held, however few entries they have
WORTH = 200  # multiplications of exact rows that take about as long as an entry of a sampled row


@dataclass(frozen=True)
class Budget:
    """Bytes that exact rows may take, and what is held beside them; whether they are asked for whatever they take."""

    rows: float
    beside: float
    forced: bool


class Forms:
    """The rules of the direct solver on threads; ``rows`` tells what sampled rows of a scale take."""

    def __init__(self, solver: PMI, size: WalkSize, engine: Threads, rows: Callable[[Scale], RowCounts]) -> None:
        self.solver, self.size, self.rows = solver, size, rows
        self.memory = memory_bytes("memory_limit", solver.memory_limit)
        self.held = Held(size, engine, self.memory)

    def least(self, scale: Scale) -> float:
        """Bytes that the scale takes in the form that takes least."""
        held = self.held
        whole = held.base + held.workspace(scale)
        if scale.is_self:
            return whole + held.own_rows
        if self.solver.rows == "exact":
            return min(whole + held.blocks, held.streamed([scale], WIDTHS[-1]))
        forms = [whole + held.one_hop] if self.is_one_hop(scale) else []
        if self.may_be_exact([scale]):
            forms.append(whole + held.blocks + held.full)
        if min(forms, default=np.inf) > held.room:
            forms.append(least_sampled(self.rows(scale), held))
        return min(forms)

    # Exact rows that are held.

    def is_one_hop(self, scale: Scale) -> bool:
        """Whether the matrix is that of one hop between nodes, as sparse as A."""
        unbiased = self.solver.rows != "sampled" and not self.size.second_order
        return scale.hops == (1,) and unbiased and self.size.sees_nodes

    def holds_one_hop(self, scale: Scale, beside: float) -> bool:
        """Whether the matrix is that of one hop between nodes, and fits."""
        return self.is_one_hop(scale) and self.held.base + beside + self.held.one_hop <= self.held.room

    def may_be_exact(self, scales: Sequence[Scale]) -> bool:
        """Whether exact rows may be held, if they have few enough entries."""
        if self.size.second_order:  # known from samples only
            return False
        if self.solver.rows == "exact":
            return True
        fits = ExactRows.workspace(self.size, self.held.width) <= self.memory // 2
        return self.solver.rows == "auto" and fits and ExactRows.work(self.size, scales) <= EXACT_WORK

    def exact_budget(self, scales: Sequence[Scale], beside: float | None = None) -> Budget | None:
        """What exact rows of the scales may take together, or None where they are not to be tried."""
        if not scales or not self.may_be_exact(scales):
            return None
        beside = max(map(self.held.workspace, scales)) if beside is None else beside
        fixed = self.held.base + max(beside, self.held.blocks)
        forced = self.solver.rows == "exact" and len(scales) == 1
        rows = self.held.room - fixed if forced else min(self.memory * 3 // 4, self.held.room - fixed)
        if not forced and (rows < 0 or sum(map(self.held_rows, scales)) > 2 * rows):
            return None
        return Budget(rows, fixed, forced)

    def held_rows(self, scale: Scale) -> float:
        """About what exact rows of a scale would take, by sampled ones; 0 where all would fit without a zero."""
        return 0.0 if self.held.full <= self.memory // 4 else self.rows(scale).bytes_needed

    # Exact rows that are computed twice rather than held.

    def streams(self, scales: Sequence[Scale]) -> list[int]:
        """Which scales are streamed: all that walk, as soon as one must be, since one sweep serves all of them."""
        walked = [i for i, scale in enumerate(scales) if Sweep.serves(scale) and not self.is_one_hop(scale)]
        if not any(self._is_streamed(scales[i]) for i in walked):
            return []
        return walked if self.held.stream_width([scales[i] for i in walked]) is not None else []

    def _is_streamed(self, scale: Scale) -> bool:
        """Whether exact rows of the scale are to be streamed: they do not fit, and sampled ones cost as much."""
        if self.solver.rows == "sampled" or self.size.second_order:
            return False
        if self.solver.rows == "auto" and self._stream_cost(scale) > WORTH:
            return False
        needed = self.held.base + self.held.workspace(scale) + self.held_rows(scale)
        return needed > min(self.held.room, self.memory * 3 // 4)

    def _stream_cost(self, scale: Scale) -> float:
        """Multiplications that exact rows take for each entry of a sampled one."""
        met = self.solver.walks * len(scale.hops) * max(1.0, self.size.entries_per_node)
        return ExactRows.work(self.size, [scale]) / max(1, self.size.n_nodes) / met

    # Sampled rows.

    def learning_rows(self, scale: Scale) -> int:
        """Sampled rows that a scale is learnt from where they are streamed or sampled."""
        sampled = self.rows(scale)
        return min(self.size.n_nodes, sampled.enough_rows(learning_bytes(sampled, self.held)))
