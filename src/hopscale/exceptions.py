"""What can go wrong, as one small family.

Every error that hopscale raises on purpose is a :class:`HopscaleError`; each also derives from the built-in exception
that a caller would expect, so that ``except ValueError`` keeps working.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

__all__ = [
    "ClusterError",
    "DeviceError",
    "DirectedGraphError",
    "DivergenceError",
    "DownloadError",
    "FileFormatError",
    "GraphError",
    "HopscaleError",
    "HopscaleWarning",
    "MissingPackageError",
    "NotInductiveError",
    "OutputError",
    "ParameterError",
    "Setting",
    "UnknownNodeError",
    "in_short",
    "warn",
]

_SHOWN = 200  # characters of a value in a message


def in_short(value: Any) -> str:
    """A value as a message shows it: its ``repr``, cut where it is long, or its type where it has none.

    Python has no ``repr`` for whole numbers of more than 4,300 digits.

    >>> in_short("tea"), in_short(10**5000)
    ("'tea'", 'a value of type int that is too long to show')
    """
    try:
        text = repr(value)
    except (ValueError, RecursionError):
        return f"a value of type {type(value).__name__} that is too long to show"
    except Exception:  # objects of others
        return f"a value of type {type(value).__name__}"
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


@dataclass(frozen=True)
class Setting:
    """A parameter that a message names, with or without a value: the command line shows its option instead.

    >>> str(Setting("rows", "exact"))
    "rows='exact'"
    """

    name: str
    value: Any = None

    def __str__(self) -> str:
        return self.name if self.value is None else f"{self.name}={in_short(self.value)}"


class _Message:
    """A message in parts, so that the parameters that it names can be worded for Python or for the command line."""

    def __init__(self, *parts: str | Setting, parameter: str | None = None, value: Any = None) -> None:
        lead = () if parameter is None else (Setting(parameter, value), " ")
        self.parts, self.parameter = (*lead, *parts), parameter
        super().__init__(self.worded(str))  # type: ignore[call-arg]

    def worded(self, wording: Callable[[Setting], str]) -> str:
        """The message with every parameter in the words of ``wording``."""
        return "".join(wording(part) if isinstance(part, Setting) else str(part) for part in self.parts)

    def __reduce__(self) -> Any:
        return _restored, (type(self), self.parts, self.parameter)

    def __str__(self) -> str:
        return self.worded(str)


def _restored(kind: Any, parts: tuple[str | Setting, ...], parameter: str | None) -> Any:
    message = kind(*parts)
    message.parameter = parameter
    return message


class HopscaleError(_Message, Exception):
    """Base class of all errors raised by hopscale.

    ``parameter`` is the name of the parameter at fault, or None. A message may come in several parts, of which a
    :class:`Setting` names a parameter; with ``parameter=`` the message starts with that one.

    >>> str(HopscaleError("must be positive", parameter="window", value=-1))
    'window=-1 must be positive'
    """


class GraphError(HopscaleError, ValueError):
    """The graph, its features or its labels are not what they must be."""


class MissingPackageError(HopscaleError, ImportError):
    """An optional package is needed, and is not installed."""


class DeviceError(HopscaleError, RuntimeError):
    """A device is not there, or has less memory than the work takes."""


class ClusterError(HopscaleError, RuntimeError):
    """A cluster is not there, or its workers cannot do the work; the message says what to do."""


class DirectedGraphError(GraphError):
    """The graph is directed, and ``directed`` does not say what to do with that."""


class ParameterError(HopscaleError, ValueError):
    """A parameter of a model or a function has a value that makes no sense here."""


class FileFormatError(HopscaleError, ValueError):
    """A file cannot be read as what it is said to be; the message names file and line."""


class DownloadError(HopscaleError, OSError):
    """A data set could not be had from its publisher; the message says what to do instead."""


class OutputError(HopscaleError, OSError):
    """A file could not be written; one that was there before is as it was."""


class UnknownNodeError(HopscaleError, KeyError):
    """A node or feature was asked for that the model or graph has never seen."""


class NotInductiveError(HopscaleError, TypeError):
    """The model's context holds the training nodes themselves: it cannot embed other nodes."""


class DivergenceError(HopscaleError, ArithmeticError):
    """Training produced a vector that is not finite."""


class HopscaleWarning(_Message, UserWarning):
    """The result is defined, but perhaps not what was hoped for."""


def warn(*parts: str | Setting) -> None:
    """Warn of something, at the line of code that called hopscale, directly or through scikit-learn."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back and frame.f_globals.get("__name__", "").partition(".")[0] in ("hopscale", "sklearn"):
        level, frame = level + 1, frame.f_back
    warnings.warn(HopscaleWarning(*parts), stacklevel=level)
