"""Columns whose values have an order: numbers in bins or between knots, days."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hopscale.exceptions import ParameterError
from hopscale.features.base import Limits, one_hot
from hopscale.features.cells import DateFormat, NumberFormat, date_format, number_format
from hopscale.features.table import Lists, Values, text_of

__all__ = ["Dates", "Number", "Spline", "bin_edges", "bin_names", "numbers_of"]

_LEAST = 10  # values a bin, or there are fewer bins


@dataclass(frozen=True)
class Number:
    """A feature for each of some bins that hold about as many nodes each; the outer ones have no end."""

    kind: ClassVar[str] = "number"
    edges: list[float]  # bin k holds edges[k - 1] <= x < edges[k]
    whole: bool
    comma: str
    unit: str

    @classmethod
    def learn(cls, values: Values, counts: NDArray[Any], limits: Limits) -> tuple[Number, int]:
        how = _number_format(values, counts)
        numbers, counts = _seen(numbers_of(values, how), counts)
        edges = bin_edges(numbers, counts, limits.bins)
        return cls(edges, bool((numbers == np.floor(numbers)).all()), how.comma, how.unit), 0

    @property
    def names(self) -> list[str]:
        return bin_names(self.edges, whole=self.whole)

    def encode(self, values: Values) -> tuple[sp.csr_array, NDArray[np.bool_]]:
        numbers = numbers_of(values, NumberFormat(self.comma, self.unit))
        known = np.isfinite(numbers)
        bins = np.searchsorted(np.array(self.edges), np.where(known, numbers, 0.0), side="right")
        return one_hot(np.where(known, bins, -1), len(self.edges) + 1), known


@dataclass(frozen=True)
class Spline:
    """Linear splines: a number is shared out between the two knots beside it, nearer ones having more."""

    kind: ClassVar[str] = "spline"
    knots: list[float]
    comma: str
    unit: str

    @classmethod
    def learn(cls, values: Values, counts: NDArray[Any], limits: Limits) -> tuple[Spline, int]:
        how = _number_format(values, counts)
        numbers, counts = _seen(numbers_of(values, how), counts)
        if len(numbers):
            inner = bin_edges(numbers, counts, limits.bins - 1) if limits.bins > 2 else []
            numbers = np.unique([numbers[0], *inner, numbers[-1]])
        return cls(numbers.tolist(), how.comma, how.unit), 0

    @property
    def names(self) -> list[str]:
        return [f"~{text_of(knot)}" for knot in self.knots]

    def encode(self, values: Values) -> tuple[sp.csr_array, NDArray[np.bool_]]:
        numbers = numbers_of(values, NumberFormat(self.comma, self.unit))
        known, knots = np.isfinite(numbers), np.array(self.knots)
        if len(knots) < 2:
            return one_hot(np.where(known, len(knots) - 1, -1), len(knots)), known
        x = np.clip(numbers[known], knots[0], knots[-1])
        left = np.minimum(np.searchsorted(knots, x, side="right") - 1, len(knots) - 2)
        share = (x / 2 - knots[left] / 2) / (knots[left + 1] / 2 - knots[left] / 2)  # halves cannot overflow
        indptr = np.append(0, 2 * np.cumsum(known))
        shares = np.stack([1 - share, share], axis=1).ravel().astype(np.float32)
        matrix = sp.csr_array(
            (shares, np.stack([left, left + 1], axis=1).ravel(), indptr), shape=(len(numbers), len(knots))
        )
        matrix.eliminate_zeros()
        return matrix, known


@dataclass(frozen=True)
class Dates:
    """A feature for each year, or month, or day, whichever tells nodes apart, or for bins of them."""

    kind: ClassVar[str] = "date"
    order: str
    step: str  # Y, M or D
    edges: list[int]  # of bins, or the steps themselves
    each: bool  # whether every step has a feature of its own

    @classmethod
    def learn(cls, values: Values, counts: NDArray[Any], limits: Limits) -> tuple[Dates, int]:
        how = _date_format(values, counts)
        days = _days_of(values, how)
        known = ~np.isnat(days) & (counts > 0)
        step = "Y"
        for step in "Y" if how.order.endswith("year") else "YMD":
            if len(np.unique(days[known].astype(f"datetime64[{step}]"))) > 2:
                break
        steps, at = np.unique(_steps(days[known], step), return_inverse=True)
        total = np.bincount(at, weights=counts[known], minlength=len(steps))
        if len(steps) <= 2 * limits.bins:
            often = total >= limits.min_count
            return cls(how.order, step, steps[often].tolist(), each=True), int((~often).sum())
        edges = bin_edges(steps.astype(np.float64), total, limits.bins, rounded=False)
        return cls(how.order, step, list(map(int, edges)), each=False), 0

    @property
    def names(self) -> list[str]:
        if self.each:
            return list(map(self._name, self.edges))
        return bin_names(self.edges, whole=True, shown=self._name)

    def _name(self, step: float) -> str:
        return str(np.array(int(step), dtype=f"datetime64[{self.step}]"))

    def encode(self, values: Values) -> tuple[sp.csr_array, NDArray[np.bool_]]:
        days = _days_of(values, DateFormat(self.order))
        known, edges = ~np.isnat(days), np.array(self.edges, dtype=np.int64)
        steps = _steps(np.where(known, days, np.datetime64(0, "D")), self.step)
        if not self.each:
            return one_hot(np.where(known, np.searchsorted(edges, steps, side="right"), -1), len(edges) + 1), known
        at = np.searchsorted(edges, steps)
        known &= np.append(edges, np.iinfo(np.int64).max)[at] == steps
        return one_hot(np.where(known, at, -1), len(edges)), known


def numbers_of(values: Values, how: NumberFormat) -> NDArray[np.float64]:
    """Values as numbers, NaN where they are none."""
    if isinstance(values, Lists) or values.ndim == 2 or values.dtype.kind == "M":
        raise ParameterError("a column of lists, vectors or dates cannot be taken for numbers")
    if values.dtype == object:
        return how.parse(values.tolist())
    numbers = values.astype(np.float64)
    return np.where(np.isfinite(numbers), numbers, np.nan)


def bin_edges(numbers: NDArray[Any], counts: NDArray[Any], bins: int, *, rounded: bool = True) -> list[float]:
    """Edges between bins of about as many numbers each, rounded as far as that moves few numbers.

    ``numbers`` are sorted and distinct, and ``counts`` says how often each occurs.

    Examples
    --------
    >>> bin_edges(np.arange(100.0), np.ones(100), 4)
    [25.0, 50.0, 75.0]
    """
    total, until = counts.sum(), np.cumsum(counts)
    bins = min(bins, max(2, int(total // _LEAST)))
    # The first number of each bin but the first, and those within a tenth of a bin before and after it.
    before, first, after = (
        np.searchsorted(until, total * (np.arange(1, bins) + shift) / bins) + 1 for shift in (-0.1, 0.0, 0.1)
    )
    edges = {
        _shortest(float(numbers[low - 1]), float(numbers[at]), float(numbers[high])) if rounded else float(numbers[at])
        for low, at, high in zip(before, first, np.minimum(after, len(numbers) - 1), strict=True)
        if at < len(numbers)
    }
    ordered = np.array(sorted(edges))
    return ordered[np.unique(np.searchsorted(ordered, numbers, side="right"))[:-1]].tolist()  # none between is empty


def bin_names(edges: list[Any], *, whole: bool, shown: Any = text_of) -> list[str]:
    """What bins between edges are called; those of whole numbers by the first and the last that they hold.

    Examples
    --------
    >>> bin_names([18.0, 30.0, 31.0], whole=True)
    ['..17', '18..29', '30', '31..']
    >>> bin_names([0.5], whole=False)
    ['..0.5', '0.5..']
    """
    if not edges:
        return ["any"]
    last = [edge - 1 if whole else edge for edge in edges]
    inner = [
        shown(low) if whole and low == high else f"{shown(low)}..{shown(high)}"
        for low, high in zip(edges, last[1:], strict=False)
    ]
    return [f"..{shown(last[0])}", *inner, f"{shown(edges[-1])}.."]


def _shortest(low: float, number: float, high: float) -> float:
    """A number rounded as far as it stays above ``low`` and at most ``high``."""
    for digits in range(1, 18):
        short = float(f"{number:.{digits}g}")
        if low < short <= high:
            return short
    return number


def _seen(numbers: NDArray[np.float64], counts: NDArray[Any]) -> tuple[NDArray[np.float64], NDArray[Any]]:
    """Numbers that occur, sorted, and how often."""
    there = np.isfinite(numbers) & (counts > 0)
    distinct, at = np.unique(numbers[there], return_inverse=True)
    return distinct, np.bincount(at, weights=counts[there], minlength=len(distinct))


def _number_format(values: Values, counts: NDArray[Any]) -> NumberFormat:
    if isinstance(values, Lists) or values.dtype != object:
        return NumberFormat()
    return number_format(values.tolist(), counts) or NumberFormat()


def _date_format(values: Values, counts: NDArray[Any]) -> DateFormat:
    if isinstance(values, Lists) or values.dtype != object:
        return DateFormat("ymd")
    return date_format(values.tolist(), counts) or DateFormat("ymd")


def _days_of(values: Values, how: DateFormat) -> NDArray[np.datetime64]:
    if isinstance(values, Lists) or values.ndim == 2 or values.dtype.kind == "b":
        raise ParameterError("a column of lists, vectors or booleans cannot be taken for dates")
    if values.dtype.kind == "M":
        return values
    return how.parse(list(map(text_of, values.tolist())))


def _steps(days: NDArray[np.datetime64], step: str) -> NDArray[np.int64]:
    return days.astype(f"datetime64[{step}]").astype(np.int64)
