"""The command line: ``hopscale --help``.

Nothing here or in :mod:`hopscale` itself may import what takes time before :func:`main` has seen to Ctrl-C.
"""

import os
import signal
import sys
from typing import Any, NoReturn

__all__ = ["INTERRUPTED", "main"]

INTERRUPTED = 130


def main(**settings: Any) -> NoReturn:
    """Run the command line, and leave with 0, 1 (error), 2 (usage), 70 (our mistake), 130 (Ctrl-C) or 143 (SIGTERM)."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    # Others are ignored, or have a handler already.
    ours = [number for number in before if before[number] in (signal.default_int_handler, signal.SIG_DFL)]
    received: list[int] = []

    def stop(number: int, _: object) -> NoReturn:
        received.append(number)
        raise KeyboardInterrupt

    try:
        if signal.SIGINT in ours:
            signal.signal(signal.SIGINT, _leave)
        from hopscale.cli.commands import hopscale

        words = settings.get("args") or sys.argv[1:]
        hopscale.get_command(None, next((word for word in words if not word.startswith("-")), ""))  # imports it
        for number in ours:
            signal.signal(number, stop)
        hopscale.main(**settings)
    except BaseException as error:  # of any kind: code that is interrupted may answer with an exception of its own
        if received and not (isinstance(error, SystemExit) and not error.code):
            sys.exit(128 + received[-1])
        raise
    finally:
        for number in ours:
            signal.signal(number, before[number])


def _leave(*_: object) -> NoReturn:
    """End the process at once: some of the modules that are imported catch every exception."""
    os.write(2, b"hopscale: interrupted\n")
    os._exit(INTERRUPTED)
