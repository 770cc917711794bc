"""Processes to be shot at: started in a moment, with what they print kept for the post-mortem."""

from __future__ import annotations

import os
import signal
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path

from hopscale.exceptions import HopscaleError

FOREIGN = 70  # exit code of a process that ends with an exception of another family
_HANDLED = (signal.SIGINT, signal.SIGTERM)
_PATIENCE = 60  # seconds after which a process that was sent a signal hangs
# Printed where a callback or a finaliser, which cannot raise, was interrupted: nothing else hears of the signal.
_SWALLOWED = "Exception ignored in"


class Process:
    """A function that runs in a fork of this process, which has imported everything, as the leader of a group."""

    def __init__(self, run: Callable[[], object], log: Path) -> None:
        self.log = log
        sys.stdout.flush()
        signal.pthread_sigmask(signal.SIG_BLOCK, _HANDLED)  # until the new process has handlers of its own
        self.pid = os.fork()
        if self.pid == 0:
            _become(run, log)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _HANDLED)
        self.status: int | None = None
        self._sent: tuple[int, bool] | None = None

    def send(self, kind: int, *, group: bool = False) -> None:
        """Send a signal to the process, or to all that it has started; none if it is over."""
        if self.status is not None:
            return
        self._sent = kind, group
        try:
            (os.killpg if group else os.kill)(self.pid, kind)
        except ProcessLookupError:  # a group that is not made yet
            os.kill(self.pid, kind)

    def has_ended(self) -> bool:
        """Whether it is over; ``status`` is its exit code then, or minus the signal that killed it."""
        if self.status is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.status = os.waitstatus_to_exitcode(status)
        return self.status is not None

    def wait(self) -> int:
        """The status, once it is there."""
        deadline, again = (time.monotonic() + seconds for seconds in (_PATIENCE, _PATIENCE / 10))
        while not self.has_ended():
            if self._sent and time.monotonic() > again and _SWALLOWED in self.words():
                again += _PATIENCE
                self.send(self._sent[0], group=self._sent[1])  # as people do
            if time.monotonic() > deadline:
                self.send(signal.SIGKILL, group=True)
                os.waitpid(self.pid, 0)
                raise AssertionError(f"hangs after a signal: {self.words()}")
            time.sleep(0.002)
        assert self.status is not None
        return self.status

    def words(self) -> str:
        """The end of what it printed."""
        return self.log.read_text(errors="replace")[-2000:]


def _become(run: Callable[[], object], log: Path) -> None:
    code = FOREIGN
    try:
        os.setpgid(0, 0)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
        for stream in (1, 2):
            os.dup2(descriptor, stream)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _HANDLED)
        run()
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
    except KeyboardInterrupt:
        code = 130
    except HopscaleError as error:
        os.write(2, f"{error}\n".encode())
        code = 1
    except BaseException:
        os.write(2, traceback.format_exc().encode())
    finally:
        os._exit(code)


def group_is_alive(group: int) -> bool:
    """Whether a process of a group still runs, where /proc tells; zombies do not."""
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, found = stat.read_text().rpartition(")")[2].split()[:3]
        except (OSError, ValueError):
            continue
        if int(found) == group and state != "Z":
            return True
    return False
