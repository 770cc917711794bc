"""What all commands share: exit codes, errors for people, and where words and answers go."""

from __future__ import annotations

import functools
import json
import math
import sys
import warnings
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NoReturn, TextIO

import click
import numpy as np
from tqdm import tqdm

from hopscale.cli import INTERRUPTED
from hopscale.cli.wording import as_option
from hopscale.exceptions import HopscaleError, HopscaleWarning

__all__ = ["Console", "Program", "finite_or_none", "table_lines", "with_console"]


class Program(click.Group):
    """A group of commands that answers mistakes with one line and an exit code, never with a traceback."""

    def main(self, *args: Any, **extra: Any) -> NoReturn:
        """Run, and leave with 0, 1 (error), 2 (usage) or 130 (Ctrl-C)."""
        extra["standalone_mode"] = False
        with _one_line_warnings():
            sys.exit(self._exit_code(lambda: super(Program, self).main(*args, **extra)))

    def _exit_code(self, run: Callable[[], Any]) -> int:
        try:
            return int(run() or 0)
        except click.ClickException as error:
            error.show()
            return error.exit_code
        except (click.Abort, KeyboardInterrupt):
            return _complain("interrupted", INTERRUPTED)
        except HopscaleError as error:
            return _complain(error.worded(as_option))
        except MemoryError as error:
            return _complain(f"not enough memory ({error})" if str(error) else "not enough memory")
        except OSError as error:
            named = error.strerror and error.filename is not None
            return _complain(f"{error.filename}: {error.strerror}" if named else str(error))


@dataclass(frozen=True)
class Console:
    """Where a command's words go: the answer to standard output, everything else to the error stream."""

    as_json: bool
    quiet: bool

    def say(self, line: str) -> None:
        """A word on the way, unless asked to be quiet."""
        if not self.quiet:
            tqdm.write(line, file=sys.stderr)

    def answer(self, document: dict[str, Any], lines: Iterable[str]) -> None:
        """The answer: one JSON document for machines, or lines for people."""
        if self.as_json:
            click.echo(json.dumps(document, default=_jsonable, allow_nan=False, indent=2))
        else:
            click.echo("".join(f"{line}\n" for line in lines), nl=False)


def with_console(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options ``--json`` and ``--quiet``, as one argument ``console``.

    What it returns is the exit code.
    """

    @click.option("--json", "as_json", is_flag=True, help="Answer with one JSON document on standard output.")
    @click.option(
        "--quiet", "-q", is_flag=True, help="No progress and no summary; answers, warnings and errors remain."
    )
    @functools.wraps(command)
    def wrapped(*args: Any, as_json: bool, quiet: bool, **options: Any) -> Any:
        return command(*args, console=Console(as_json, quiet), **options)

    return wrapped


def finite_or_none(number: float) -> float | None:
    """A number as JSON has it: without NaN.

    >>> finite_or_none(float("nan")) is None
    True
    """
    return number if math.isfinite(number) else None


def _complain(message: str, code: int = 1) -> int:
    tqdm.write(f"hopscale: {' '.join(message.split())}", file=sys.stderr)
    return code


@contextmanager
def _one_line_warnings() -> Iterator[None]:
    """Show our own warnings as one line each, without the source code they come from."""
    with warnings.catch_warnings():
        default = warnings.showwarning

        def show(
            message: Warning | str,
            category: type[Warning],
            filename: str,
            lineno: int,
            file: TextIO | None = None,
            line: str | None = None,
        ) -> None:
            if issubclass(category, HopscaleWarning):
                _complain(f"warning: {message.worded(as_option) if isinstance(message, HopscaleWarning) else message}")
            else:
                default(message, category, filename, lineno, file, line)

        warnings.showwarning = show
        warnings.simplefilter("always", HopscaleWarning)
        yield


def _jsonable(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    return str(value)


def table_lines(rows: Sequence[Sequence[str]], right: Container[int] = ()) -> list[str]:
    """Rows in columns as wide as their widest cell; those in ``right`` end on one line.

    >>> table_lines([["name", "n"], ["cora", "2708"]], right=[1])
    ['name     n', 'cora  2708']
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell.rjust(width) if at in right else cell.ljust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
