"""What can go wrong, as one small family.

Every error that hopscale raises on purpose is a :class:`HopscaleError`; each also derives from the
built-in exception that a caller would expect, so that ``except ValueError`` keeps working.
"""

__all__ = [
    "DivergenceError",
    "DownloadError",
    "FileFormatError",
    "GraphError",
    "HopscaleError",
    "HopscaleWarning",
    "NotInductiveError",
    "ParameterError",
    "UnknownNodeError",
]


class HopscaleError(Exception):
    """Base class of all errors raised by hopscale."""


class GraphError(HopscaleError, ValueError):
    """The graph, its features or its labels are not what they must be."""


class ParameterError(HopscaleError, ValueError):
    """A parameter of a model or a function has a value that makes no sense here."""


class FileFormatError(HopscaleError, ValueError):
    """A file cannot be read as what it is said to be; the message names file and line."""


class DownloadError(HopscaleError, OSError):
    """A data set could not be had from its publisher; the message says what to do instead."""


class UnknownNodeError(HopscaleError, KeyError):
    """A node or feature was asked for that the model or graph has never seen."""

    def __str__(self) -> str:  # KeyError would show the repr of the message
        return str(self.args[0]) if self.args else ""


class NotInductiveError(HopscaleError, TypeError):
    """The model's context holds the training nodes themselves: it cannot embed other nodes."""


class DivergenceError(HopscaleError, ArithmeticError):
    """Training produced a vector that is not finite."""


class HopscaleWarning(UserWarning):
    """The result is defined, but perhaps not what was hoped for."""
