"""The command line: ``hopscale --help``.

Nothing here or in :mod:`hopscale` itself may import what takes time before :func:`main` has seen to Ctrl-C.
"""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

__all__ = ["INTERRUPTED", "main"]

INTERRUPTED = 130


def main(**settings: Any) -> NoReturn:
    """Run the command line, and leave with 0, 1 (error), 2 (usage) or 130 (Ctrl-C)."""
    with _leaving_at_once():
        from hopscale.cli.commands import hopscale
    hopscale.main(**settings)


@contextmanager
def _leaving_at_once() -> Iterator[None]:
    """Let Ctrl-C end the process without a word to the imports under way, some of which catch all exceptions."""

    def leave(*_: object) -> NoReturn:
        os.write(2, b"hopscale: interrupted\n")
        os._exit(INTERRUPTED)

    before = signal.getsignal(signal.SIGINT)
    if before is signal.default_int_handler:  # else it is ignored, or someone else's matter
        signal.signal(signal.SIGINT, leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
