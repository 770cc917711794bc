"""The contract between the mathematics and whatever runs it.

**Tall arrays belong to the engine, small ones are NumPy's.** A tall array has a row for each node or feature. It may
live in another memory and be of another library: code over an engine adds tall arrays, multiplies them by numbers,
takes some of their rows, and leaves everything else to the methods below and to operators. A small array has a row for
each dimension.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

if TYPE_CHECKING:
    from hopscale.compute.operators import Operator

__all__ = ["Engine", "NormalNumbers", "Small", "Tall"]

Task = TypeVar("Task")
Result = TypeVar("Result")

Tall = Any
Small = NDArray[Any]


class NormalNumbers(Protocol):
    """NumPy's generator, or one whose numbers are there already."""

    def standard_normal(self, size: Any, /, dtype: Any) -> Any:
        """Numbers of that shape."""


class Engine(Protocol):
    """Runs work over pieces and multiplies tall arrays: the same bits from run to run. Used in a ``with`` block."""

    stop: NDArray[np.uint8]  # one number; other than 0 once the work is to end

    def __enter__(self) -> Engine: ...

    def __exit__(self, *error: Any) -> object: ...

    def map(
        self, function: Callable[[Task], Result], tasks: Iterable[Task], *, at_once: int | None = None
    ) -> Iterator[Result]:
        """Results of ``function`` over ``tasks``, in order, of which at most ``at_once`` run at a time."""

    def at_once(self, each: float) -> int:
        """Pieces of so many bytes that may be held at once."""

    def normal(self, rows: int, columns: int, random: NormalNumbers) -> Tall:
        """A tall array of standard normal numbers."""

    def matmul(self, x: Tall, small: Small) -> Tall:
        """x·small."""

    def gram(self, x: Tall, y: Tall, dtype: type = np.float64) -> Small:
        """xᵀ·y, added up in that precision."""

    def gram_later(self, x: Tall, y: Tall, dtype: type = np.float64) -> Callable[[], Small]:
        """The same, once it is asked for: an engine whose work is queued computes it meanwhile."""

    def peaks(self, x: Tall) -> Small:
        """The entry of the largest absolute value in each column; the first of several."""

    def scale(self, x: Tall, factors: Small) -> Tall:
        """Each column of x times a number, perhaps in place."""

    def widen(self, x: Tall, columns: int) -> Tall:
        """x with columns of zeros up to that many."""

    def concatenate(self, parts: Sequence[Tall]) -> Tall:
        """Tall arrays one below the other."""

    def empty(self, rows: int, columns: int) -> Tall:
        """A tall array of any content."""

    def put(self, x: Tall, columns: slice, part: Tall) -> None:
        """Set some columns of x."""

    def double(self, x: Tall) -> Tall:
        """x in double precision, where the engine has it."""

    def tall(self, x: NDArray[Any]) -> Tall:
        """NumPy's array as a tall one."""

    def host(self, x: Tall) -> NDArray[Any]:
        """A tall array as NumPy's."""

    def sparse(self, matrix: sp.csr_array) -> Operator:
        """Products with a sparse matrix and its transpose."""

    def bar(self, total: int, description: str, unit: str) -> AbstractContextManager[Any]:
        """A progress bar, whose ``update(n)`` counts n more steps as done."""

    def say(self, message: str) -> None:
        """Tell the user, if messages are wanted."""
