"""The command line: ``hopscale --help``.

Nothing here or in :mod:`hopscale` itself may import what takes time before :func:`main` has seen to Ctrl-C.
"""

import os
import signal
import sys
from typing import Any, NoReturn

__all__ = ["INTERRUPTED", "TERMINATED", "main"]

INTERRUPTED, TERMINATED = 130, 143


class _Terminated(BaseException):
    """The process was asked to end: everything that ends after Ctrl-C ends now."""


def main(**settings: Any) -> NoReturn:
    """Run the command line, and leave with 0, 1 (error), 2 (usage), 70 (our mistake), 130 (Ctrl-C) or 143 (SIGTERM)."""
    interrupting, terminating = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    if interrupting is signal.default_int_handler:  # else it is ignored, or has a handler already
        signal.signal(signal.SIGINT, _leave)
    try:
        from hopscale.cli.commands import hopscale
    finally:
        signal.signal(signal.SIGINT, interrupting)
    try:
        if terminating is signal.SIG_DFL:
            signal.signal(signal.SIGTERM, _terminate)
        hopscale.main(**settings)
    except _Terminated:
        print("hopscale: terminated", file=sys.stderr)
        sys.exit(TERMINATED)
    finally:
        if terminating is signal.SIG_DFL:
            signal.signal(signal.SIGTERM, terminating)


def _leave(*_: object) -> NoReturn:
    """End the process at once: some of the modules that are imported catch every exception."""
    os.write(2, b"hopscale: interrupted\n")
    os._exit(INTERRUPTED)


def _terminate(*_: object) -> NoReturn:
    raise _Terminated
