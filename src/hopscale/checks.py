"""Checks of parameters: what comes back has the type that the code relies on."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Iterable
from dataclasses import Field, field, fields
from functools import partial
from numbers import Integral, Real
from pathlib import Path
from typing import Any

import numpy as np

from hopscale.exceptions import ParameterError, Setting, in_short

__all__ = [
    "KnownParameters",
    "as_path",
    "check_memory",
    "check_seed",
    "checked_fields",
    "choice",
    "even",
    "in_words",
    "memory",
    "memory_bytes",
    "number",
    "parameter",
    "seed_of",
    "switch",
    "whole",
]

_UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}


def parameter(default: Any, check: Callable[..., Any], **bounds: Any) -> Any:
    """A field of a dataclass that has a default and a check, one of those below with its bounds."""
    return field(default=default, metadata={"check": partial(check, **bounds)})


def checked_fields(instance: Any) -> dict[str, Any]:
    """Values of every :func:`parameter` of a dataclass as its check returns them: Python's own numbers."""
    for kind in type(instance).__mro__:
        if any(isinstance(value, Field) for value in vars(kind).values()):
            raise TypeError(f"{kind.__name__} has parameters: put @dataclass(eq=False, repr=False) before the class")
    checks = {each.name: each.metadata["check"] for each in fields(instance) if "check" in each.metadata}
    return {name: check(name, getattr(instance, name)) for name, check in checks.items()}


def whole(name: str, value: Any, *, least: int, most: int | None = None) -> int:
    """A whole number of at least ``least`` and at most ``most``."""
    right = isinstance(value, Integral) and not isinstance(value, bool)
    if not right or value < least or (most is not None and value > most):
        bounds = f"of at least {least}" if most is None else f"from {least} to {most}"
        raise ParameterError(f"must be a whole number {bounds}, not {in_short(value)}", parameter=name)
    return int(value)


def even(name: str, value: Any, *, most: int | None = None) -> int:
    """An even number of at least 2: half of it goes to either of two blocks."""
    if whole(name, value, least=2, most=most) % 2:
        raise ParameterError(
            f"must be an even number, half of it for either block, not {in_short(value)}", parameter=name
        )
    return int(value)


def number(
    name: str,
    value: Any,
    *,
    least: float,
    above: bool = False,
    below: float | None = None,
    most: float | None = None,
) -> float:
    """A finite number of at least (or above) ``least``, below ``below`` and at most ``most``."""
    right = isinstance(value, Real) and not isinstance(value, bool) and _is_finite(value)
    plain = float(value) if right else 0.0  # NumPy compares in the type of its number, which may not hold a bound
    enough = right and (plain > least if above else plain >= least)
    if not enough or (below is not None and plain >= below) or (most is not None and plain > most):
        bounds = f"{'above' if above else 'of at least'} {least:g}"
        bounds += "" if below is None else f" and below {below:g}"
        bounds += "" if most is None else f" and at most {most:g}"
        raise ParameterError(f"must be a number {bounds}, not {in_short(value)}", parameter=name)
    return plain


def _is_finite(value: Any) -> bool:
    try:
        return bool(np.isfinite(float(value)))
    except OverflowError:
        return False


class KnownParameters:
    """An estimator that refuses parameters it has not with our own error, before any is set."""

    def set_params(self, **parameters: Any) -> Any:
        """Set parameters; one that this has not is an error."""
        known = self.get_params(deep=False)  # type: ignore[attr-defined]
        for name in parameters:
            if name.partition("__")[0] not in known:
                has = f"is no parameter of {type(self).__name__}, which has {', '.join(known)}"
                raise ParameterError(has, parameter=name)
        return super().set_params(**parameters)  # type: ignore[misc]


def switch(name: str, value: Any) -> bool:
    """True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise ParameterError(f"must be True or False, not {in_short(value)}", parameter=name)
    return bool(value)


def choice(name: str, value: Any, options: Iterable[str]) -> Any:
    """One of some words."""
    options = tuple(options)
    if not isinstance(value, str) or value not in options:
        raise ParameterError(f"must be one of {', '.join(map(repr, options))}, not {in_short(value)}", parameter=name)
    return value


def memory_bytes(name: str, value: Any) -> int:
    """Bytes from a number or a text such as ``"4GiB"`` or ``"500 MB"``; units are powers of 1024.

    >>> memory_bytes("memory_limit", "4GiB") == 4 * 2**30
    True
    """
    if isinstance(value, str):
        found = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]*)?)\s*([KMGT]?)I?B?\s*", value.upper())
        size = float(found[1]) * _UNITS[found[2]] if found else math.inf
        if size < 2**63:
            return whole(name, int(size), least=1)
    elif (
        isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool) and 1 <= value < 2**63
    ):
        return int(value)
    raise ParameterError(f"must be a number of bytes or a text such as '4GiB', not {in_short(value)}", parameter=name)


def memory(name: str, value: Any) -> Any:
    """What :func:`memory_bytes` takes, as it is."""
    memory_bytes(name, value)
    return value


def check_memory(what: str, needed: float, limit: int, instead: str) -> None:
    """Refuse work that needs more than ``memory_limit``, and name the least that works."""
    if needed > limit:
        raise ParameterError(
            f"{what} needs at least {math.ceil(needed / 2**20)} MiB beside the graph and the vectors, more than ",
            Setting("memory_limit"),
            f" ({in_words(limit)}): raise it, or {instead}",
        )


def in_words(size: float) -> str:
    """Bytes in a unit that suits.

    >>> in_words(3 * 2**30)
    '3.0 GiB'
    """
    for unit in ("bytes", "KiB", "MiB"):
        if size < 1024:
            return f"{size:.0f} {unit}"
        size /= 1024
    return f"{size:.1f} GiB"


def as_path(path: Any) -> Path:
    """The path of a file."""
    if not isinstance(path, (str, os.PathLike)) or isinstance(os.fspath(path), bytes):
        raise ParameterError(f"the path of a file must be text or a pathlib.Path, not {in_short(path)}")
    return Path(path)


def check_seed(name: str, random_state: Any) -> Any:
    """A ``random_state``, without drawing from one."""
    generators = (np.random.RandomState, np.random.Generator, type(np.random), type(None))
    return random_state if isinstance(random_state, generators) else seed_of(random_state)


def seed_of(random_state: Any) -> int:
    """A 63-bit seed: a whole number is taken as it is, anything else is drawn from once."""
    if isinstance(random_state, Integral) and not isinstance(random_state, bool):
        return whole("random_state", random_state, least=0) & (2**63 - 1)
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**63 - 1))
    from sklearn.utils import check_random_state  # which takes long to import

    try:
        if isinstance(random_state, bool):
            raise ValueError(f"{in_short(random_state)} is no whole number")
        return int(check_random_state(random_state).randint(2**31 - 1))
    except ValueError as error:
        raise ParameterError(f"must be a seed: {error}", parameter="random_state") from error
