"""The command line: ``hopscale --help``.

Nothing here or in :mod:`hopscale` itself may import what takes time before :func:`main` has seen to Ctrl-C.
"""

import os
import signal
from typing import Any, NoReturn

__all__ = ["INTERRUPTED", "main"]

INTERRUPTED = 130


def main(**settings: Any) -> NoReturn:
    """Run the command line, and leave with 0, 1 (error), 2 (usage), 70 (our mistake) or 130 (Ctrl-C)."""
    before = signal.getsignal(signal.SIGINT)
    if before is signal.default_int_handler:  # else it is ignored, or has a handler already
        signal.signal(signal.SIGINT, _leave)
    try:
        from hopscale.cli.commands import hopscale
    finally:
        signal.signal(signal.SIGINT, before)
    hopscale.main(**settings)


def _leave(*_: object) -> NoReturn:
    """End the process at once: some of the modules that are imported catch every exception."""
    os.write(2, b"hopscale: interrupted\n")
    os._exit(INTERRUPTED)
