"""What all commands share: exit codes, errors for people, and where words and answers go."""

from __future__ import annotations

import functools
import itertools
import json
import math
import os
import sys
import traceback
import warnings
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import Any, NoReturn

import click

from hopscale.cli import INTERRUPTED
from hopscale.cli.wording import as_option
from hopscale.exceptions import HopscaleError, HopscaleWarning, ParameterError

__all__ = [
    "Command",
    "Console",
    "Program",
    "decorated",
    "finite_or_none",
    "several",
    "shown",
    "table_lines",
    "with_console",
]

Command = Callable[..., Any]

DEBUG_VARIABLE = "HOPSCALE_DEBUG"
UNFORESEEN = 70  # as in sysexits.h


class Program(click.Group):
    """A group of commands that answers mistakes with one line and an exit code, never with a traceback."""

    def __init__(self, *args: Any, **extra: Any) -> None:
        super().__init__(*args, **extra)
        self._lazy: dict[str, tuple[str, str]] = {}  # module and short help, by command
        self.words: list[str] = []  # of the command that runs, as they were typed

    def add_lazily(self, name: str, module: str, short_help: str) -> None:
        """Add a command whose module is imported when the command is asked for."""
        self._lazy[name] = (module, short_help)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names of all commands, in the order of help."""
        return sorted(self._lazy)

    def get_command(self, ctx: click.Context | None, cmd_name: str) -> click.Command | None:
        """A command by its name."""
        if cmd_name not in self._lazy:
            return None
        command = getattr(import_module(self._lazy[cmd_name][0]), cmd_name.replace("-", "_"))
        assert isinstance(command, click.Command)
        return command

    def first_sentence(self, name: str) -> str:
        """The first sentence of a command's help."""
        return self._lazy[name][1]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, self.first_sentence(name)) for name in self.list_commands(ctx)])

    def main(self, *args: Any, **extra: Any) -> NoReturn:
        """Run, and leave with 0, 1 (error), 2 (usage), 70 (a mistake of hopscale's own) or 130 (Ctrl-C)."""
        extra["standalone_mode"] = False
        self.words = list(map(str, args[0] if args else extra.get("args") or sys.argv[1:]))
        with _one_line_warnings():
            try:
                code = int(super().main(*args, **extra) or 0)
            except click.ClickException as error:
                error.show()
                code = error.exit_code
            except (click.Abort, KeyboardInterrupt) as error:
                cause = error.__cause__  # click takes an EOFError for an interruption, too: no command asks for input
                code = _complain(*(_answer_to(cause) if isinstance(cause, EOFError) else ("interrupted", INTERRUPTED)))
            except Exception as error:
                if os.environ.get(DEBUG_VARIABLE):
                    traceback.print_exc()
                code = _complain(*_answer_to(error))
        sys.exit(code)


def _answer_to(error: Exception) -> tuple[str, int]:
    """What to say of an error, and the exit code."""
    if isinstance(error, HopscaleError):
        return error.worded(as_option), 2 if isinstance(error, ParameterError) else 1
    if isinstance(error, MemoryError):
        why = f" ({error})" if str(error) else ""
        advice = "give a smaller --memory-limit or fewer --dimensions, or take a smaller graph or a larger machine"
        return f"not enough memory{why}: {advice}", 1
    if isinstance(error, OSError):
        named = error.strerror and error.filename is not None
        return f"{error.filename}: {error.strerror}" if named else str(error), 1
    return (
        f"this should not have happened: {type(error).__name__}: {error}. Please report it, with the command and what "
        f"it prints when the environment variable {DEBUG_VARIABLE} is 1"
    ), UNFORESEEN


@dataclass(frozen=True)
class Console:
    """Where a command's words go: the answer to standard output, if that is free, all else to the error stream."""

    as_json: bool
    quiet: bool
    is_output_taken: bool = False  # by vectors

    def say(self, line: str) -> None:
        """Show progress, unless asked to be quiet."""
        if not self.quiet:
            _write(line)

    def answer(self, document: dict[str, Any], lines: Iterable[str]) -> None:
        """The answer: one JSON document for machines, or lines for people."""
        if self.as_json:
            text = json.dumps(document, default=_plain, allow_nan=False, indent=2) + "\n"
        else:
            text = "".join(f"{line}\n" for line in lines)
        encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
        shown = text.encode(encoding, "backslashreplace").decode(encoding)  # half characters in names
        click.echo(shown, nl=False, err=self.is_output_taken)


def with_console(command: Command) -> Command:
    """Give a command the options ``--json`` and ``--quiet``, as one argument ``console``.

    What it returns is the exit code.
    """

    @click.option("--json", "as_json", is_flag=True, help="Answer with one JSON document on standard output.")
    @click.option(
        "--quiet", "-q", is_flag=True, help="No progress and no summary; answers, warnings and errors remain."
    )
    @functools.wraps(command)
    def wrapped(*args: Any, as_json: bool, quiet: bool, **options: Any) -> Any:
        is_taken = any(str(options.get(name)) == "-" for name in ("output", "feature_output"))
        if is_taken and as_json:
            raise click.UsageError("--json and a table cannot both go to the standard output")
        return command(*args, console=Console(as_json, quiet, is_taken), **options)

    return wrapped


class _Several(click.ParamType):  # type: ignore[type-arg,unused-ignore]
    """Values that commas divide."""

    def __init__(self, kind: Any) -> None:
        self.kind, self.name = kind, kind.name

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> list[Any]:
        parts = value if isinstance(value, list) else [part.strip() for part in value.split(",") if part.strip()]
        return [self.kind.convert(part, param, ctx) for part in parts]


def several(kind: Any = click.STRING) -> dict[str, Any]:
    """Settings of an option or argument that may be repeated, and may have several values with commas between them."""
    return {"type": _Several(kind), "callback": lambda ctx, param, lists: tuple(itertools.chain.from_iterable(lists))}


def finite_or_none(number: float) -> float | None:
    """A number as JSON has it: without NaN.

    >>> finite_or_none(float("nan")) is None
    True
    """
    return number if math.isfinite(number) else None


def _plain(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else str(value)  # numbers of NumPy's


def shown(value: Any, digits: int) -> str:
    """A value as people read it: whole numbers with commas, others rounded.

    >>> shown(2708, 4), shown(1 / 3, 4), shown("cora", 4)
    ('2,708', '0.3333', 'cora')
    """
    return f"{value:,}" if type(value) is int else f"{value:.{digits}g}" if isinstance(value, float) else str(value)


def decorated(*decorators: Callable[[Command], Command]) -> Callable[[Command], Command]:
    """Several decorators as one, listed from top to bottom."""
    return lambda command: functools.reduce(lambda inner, outer: outer(inner), reversed(decorators), command)


def _complain(message: str, code: int = 1) -> int:
    _write(f"hopscale: {' '.join(message.split())}")
    return code


def _write(line: str) -> None:
    """Write to the error stream, above a progress bar if there is one."""
    from tqdm import tqdm  # takes longer than all else that help needs

    tqdm.write(line, file=sys.stderr)


@contextmanager
def _one_line_warnings() -> Iterator[None]:
    """Show our own warnings as one line each, without the source code they come from."""
    with warnings.catch_warnings():
        default = warnings.showwarning

        def show(message: Warning | str, *where: Any, **more: Any) -> None:
            if isinstance(message, HopscaleWarning):
                _complain(f"warning: {message.worded(as_option)}")
            else:
                default(message, *where, **more)

        warnings.showwarning = show
        warnings.simplefilter("always", HopscaleWarning)
        yield


def table_lines(rows: Sequence[Sequence[str]], right: Container[int] = ()) -> list[str]:
    """Rows in columns as wide as their widest cell; those in ``right`` end on one line.

    >>> table_lines([["name", "n"], ["cora", "2708"]], right=[1])
    ['name     n', 'cora  2708']
    """
    columns = enumerate(zip(*rows, strict=True))
    layout = [f"{'>' if at in right else '<'}{max(map(len, column))}" for at, column in columns]
    return ["  ".join(map(format, row, layout)).rstrip() for row in rows]
