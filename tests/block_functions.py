"""Functions that run as blocks, on threads or on workers of a cluster, which import them from here."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from typing import Any

from hopscale.exceptions import GraphError


def noted(folder: str, number: int) -> list[int]:
    """Leaves a line for every call."""
    with Path(folder, f"{number}.calls").open("a") as file:
        file.write("called\n")
    return [number, number**2]


def slow(folder: str, number: int) -> list[int]:
    """A block that takes a while."""
    time.sleep(0.2)
    return noted(folder, number)


def follows(folder: str, number: int) -> list[int]:
    """Every block but the first three finds that the one three before it has ended."""
    assert number < 3 or Path(folder, f"{number - 3}.calls").exists()
    time.sleep(0.01)
    return noted(folder, number)


def pausing(folder: str, number: int) -> list[int]:
    """Block 0 pauses its worker, as one is that has little memory left, and then takes a while."""
    if number == 0:
        from distributed import get_worker

        pause(True, get_worker())
        time.sleep(3)
        pause(False, get_worker())
    return noted(folder, number)


def pause(paused: bool, dask_worker: Any) -> None:
    """Pause the worker that runs this, or end the pause; ``client.run`` fills in the worker."""
    from distributed import Status

    dask_worker.loop.add_callback(setattr, dask_worker, "status", Status.paused if paused else Status.running)


def failing(folder: str, number: int) -> list[int]:
    """Block 3 fails with an error of ours."""
    if number == 3:
        raise GraphError("there is no third")
    return noted(folder, number)


def odd(folder: str, number: int) -> float:
    """Fails with an error of Python's."""
    return 1 / (number - 2)


def killed_once(folder: str, number: int) -> list[int]:
    """Block 2 ends its worker the first time."""
    flag = Path(folder, "killed")
    if number == 2 and not flag.exists():
        flag.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return noted(folder, number)


def always_killed(folder: str, number: int) -> list[int]:
    """Block 1 ends every worker."""
    if number == 1:
        with Path(folder, "deaths").open("a") as file:
            file.write("dead\n")
        os.kill(os.getpid(), signal.SIGKILL)
    return noted(folder, number)


def calls(folder: Path) -> dict[str, int]:
    """How often each block has run to its end."""
    return {path.stem: len(path.read_text().splitlines()) for path in folder.glob("*.calls")}
