"""Several processes that write one file, some of which are killed; a reader never sees anything but a whole file."""

from __future__ import annotations

import random
import time
from pathlib import Path

from processes import Process
from signals import ENDS, KINDS, Count
from victims import TORN, Save

WRITERS = 4


def several_writers(folder: Path, inputs: Path, signals: int, rng: random.Random, log: Path) -> Count:
    """Writers of both versions; one after the other gets a signal and is replaced by another."""
    count = Count(f"{WRITERS} writers of one model")
    victim = Save(folder, inputs)
    victim.get_ready(log)

    def start(number: int) -> Process:
        return Process(lambda: victim.run(number % 2), log.with_suffix(f".{number}"))

    writers = [start(number) for number in range(WRITERS)]
    reads = 0
    for shot in range(signals):
        pause = time.monotonic() + rng.uniform(0.02, 0.2)
        while time.monotonic() < pause:
            reads += 1
            count.torn += TORN in victim.state().values()
        kind = list(KINDS)[shot % len(KINDS)]
        hit = writers.pop(rng.randrange(WRITERS))
        if hit.has_ended():
            count.problems.append(f"a writer failed: exit code {hit.status}: {hit.words()}")
        else:
            hit.send(KINDS[kind])
            count.signals[kind] += 1
            if hit.wait() not in ENDS[kind]:
                count.problems.append(f"exit code {hit.status} after {kind}: {hit.words()}")
        writers.append(start(WRITERS + shot))
    for writer in writers:
        if writer.has_ended():
            count.problems.append(f"a writer failed: exit code {writer.status}: {writer.words()}")
        else:
            writer.send(KINDS["KILL"])
            writer.wait()
            count.signals["KILL"] += 1
    count.left["KILL"] = len(victim.left())
    victim.write(0)
    count.left_later = len(victim.left())
    count.new = reads - count.torn
    count.more["times that the file was read"] = reads
    return count
