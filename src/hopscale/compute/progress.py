"""Progress bars: one for each stage of the work, or one through all stages whose costs are known."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from typing import Any

from tqdm import tqdm

__all__ = ["Progress"]

WHOLE = "{desc}, {percentage:3.0f}% of all {bar} {elapsed}, {remaining} left"
KNOWN = 0.1  # share of a stage that tells how long the rest of it takes; before, its cost does


class Progress:
    """Bars on the error stream; silent unless asked for and on a terminal."""

    def __init__(self, *, verbose: bool) -> None:
        self._verbose = verbose
        self._later: list[float] = []  # costs of stages to come
        self._whole: _Whole | None = None

    def bar(self, total: int, description: str, unit: str) -> Any:
        """The bar of a stage of so many steps, or the part of the whole that is this stage."""
        hidden = None if self._verbose else True
        if not self._later:
            thousands = total >= 10_000
            return tqdm(total=total, desc=description, unit=unit, unit_scale=thousands, leave=False, disable=hidden)
        if self._whole is None:
            self._whole = _Whole(tqdm(total=1.0, leave=False, disable=hidden, smoothing=0.0, bar_format=WHOLE))
        self._whole.bar.set_description_str(description)
        stage = self._whole.stage = _Stage(self._whole, self._later.pop(0), max(1, total))
        self._whole.later = sum(self._later)
        return stage

    def expect(self, costs: Sequence[float]) -> None:
        """What the stages to come cost, each with a bar of its own, in any unit; the one that has begun is not one."""
        self._later = list(costs)
        if self._whole is not None:
            self._whole.later = sum(costs)

    def say(self, message: str) -> None:
        """A line, if asked for; bars make room for it."""
        if self._verbose:
            tqdm.write(message, file=sys.stderr)

    def close(self) -> None:
        """Forget stages to come, and remove their bar."""
        if self._whole is not None:
            self._whole.bar.close()
        self._whole, self._later = None, []


class _Whole:
    """One bar for all stages, whose unit is a second: what has passed, and with what is left as it is judged now."""

    def __init__(self, bar: tqdm[None]) -> None:
        self.bar = bar
        self.later = 0.0  # cost of stages after this one
        self.stage: _Stage | None = None
        self._begin = time.perf_counter()
        self._done = 0.0  # cost of the stages before this one

    def left(self, now: float) -> float | None:
        """Seconds that are left, by what has passed; None where nothing is known yet."""
        assert self.stage is not None
        share, cost = self.stage.share, self.stage.cost
        done = self._done + share * cost
        if done <= 0:
            return None
        each = (now - self._begin) / done
        rest = (1 - share) * cost * each
        if share > 0:  # stages differ in how far their costs are right: the pace of this one is soon known better
            known = min(1.0, share / KNOWN)
            rest += known * ((now - self.stage.begin) * (1 - share) / share - rest)
        return rest + self.later * each

    def show(self) -> None:
        """Draw the bar, if it is time to."""
        now = time.perf_counter()
        left = self.left(now)
        if left is not None:
            passed = now - self._begin
            self.bar.total = passed + left
            self.bar.update(passed - self.bar.n)

    def finish(self, stage: _Stage) -> None:
        """Count a stage as done, as far as it went."""
        self._done += stage.share * stage.cost
        stage.cost = 0.0
        self.bar.refresh()


class _Stage:
    """The part of a bar that belongs to one stage."""

    def __init__(self, whole: _Whole, cost: float, total: int) -> None:
        self.cost, self.share, self.begin = cost, 0.0, time.perf_counter()
        self._whole, self._total = whole, total

    def __enter__(self) -> _Stage:
        return self

    def __exit__(self, *error: object) -> None:
        self._whole.finish(self)

    def update(self, n: float = 1) -> None:
        """Count n more steps as done."""
        self.share = min(1.0, self.share + n / self._total)
        self._whole.show()
