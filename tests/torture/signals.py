"""KILL, TERM and INT at random moments, and what is found afterwards."""

from __future__ import annotations

import random
import signal
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from processes import FOREIGN, Process
from victims import TORN, Victim

from hopscale.atomic import replacing

KINDS = {"KILL": signal.SIGKILL, "TERM": signal.SIGTERM, "INT": signal.SIGINT}

# How a process ends that a signal has reached: killed by it, or with the exit code of the command line.
ENDS = {"KILL": (-9,), "TERM": (-15, 143), "INT": (-2, 130)}


@dataclass
class Count:
    """What one attack has come to.

    Attributes
    ----------
    attack : str
    signals : Counter
        Signals that found their process alive, by kind.
    old, new, torn : int
        Files after a signal: as they were, replaced, or neither.
    left : Counter
        Temporary files that were there after a signal, by its kind.
    left_later : int
        Those that were there after another write into the folder as well.
    problems : list of str
        What must not happen, beside torn files and those that are left.
    """

    attack: str
    signals: Counter[str] = field(default_factory=Counter)
    old: int = 0
    new: int = 0
    torn: int = 0
    left: Counter[str] = field(default_factory=Counter)
    left_later: int = 0
    problems: list[str] = field(default_factory=list)
    more: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def restored(cls, record: dict[str, Any]) -> Count:
        """A count that was written as JSON."""
        counters = {name: Counter(record[name]) for name in ("signals", "left")}
        return cls(**{**record, **counters})

    @property
    def failed(self) -> bool:
        """Whether anything went wrong."""
        return bool(self.torn or self.left_later or self.problems)


def shoot(victim: Victim, signals: int, rng: random.Random, log: Path) -> Count:
    """Interrupt a victim until so many signals have found it alive."""
    count = Count(victim.name)
    victim.get_ready(log)
    length = _typical_length(victim, log)
    shots = 0
    while count.signals.total() < signals:
        kind = list(KINDS)[shots % len(KINDS)]
        shots += 1
        victim.reset()
        before = victim.state()
        process = Process(lambda version=shots % 2: victim.run(version), log)
        _wait(victim, process, length, rng)
        process.send(KINDS[kind])
        try:
            status = process.wait()
        except AssertionError as error:
            count.problems.append(str(error))
            continue
        if status == 0:  # it was too late
            continue
        count.signals[kind] += 1
        if status not in ENDS[kind]:
            count.problems.append(f"exit code {status} after {kind}: {process.words()}")
        _look(victim, before, kind, count)
    return count


def _typical_length(victim: Victim, log: Path) -> float:
    """Seconds in which a victim writes one version."""
    begin = time.perf_counter()
    for version in (1, 0):
        victim.reset()
        assert Process(lambda version=version: victim.write(version), log).wait() == 0
    return (time.perf_counter() - begin) / 2


def _wait(victim: Victim, process: Process, length: float, rng: random.Random) -> None:
    """Wait for any moment of the run, or, every other time, for one at which a file is being written."""
    if rng.random() < 0.5:
        time.sleep(rng.uniform(0, length))
        return
    while not victim.left() and not process.has_ended():
        time.sleep(0.0005)
    time.sleep(rng.uniform(0, 0.02))


def _look(victim: Victim, before: dict[Path, str], kind: str, count: Count) -> None:
    for file, found in victim.state().items():
        if found == TORN:
            count.torn += 1
        elif found == before[file]:
            count.old += 1
        else:
            count.new += 1
    left = victim.left()
    count.left[kind] += len(left)
    if left and kind != "KILL" and victim.cleans_up:
        count.more.setdefault("left by TERM or INT", []).extend(left)
    with replacing(victim.folder / "next") as temporary:
        temporary.touch()
    (victim.folder / "next").unlink()
    count.left_later += len(victim.left())


def check_exit(process: Process, allowed: tuple[int, ...], count: Count) -> int:
    """Status of a process, which is a problem unless it is allowed."""
    status = process.wait()
    if status not in allowed or status == FOREIGN:
        count.problems.append(f"exit code {status}: {process.words()}")
    return status
