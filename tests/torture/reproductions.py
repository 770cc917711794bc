"""``hopscale reproduce``, interrupted until it is done: the records must be those of a run in peace."""

from __future__ import annotations

import json
import random
import time
from pathlib import Path
from typing import Any

from processes import Process, group_is_alive
from signals import ENDS, KINDS, Count
from victims import write_graph

from hopscale.atomic import check_writable
from hopscale.cli import main
from hopscale.datasets import planted_blocks
from hopscale.models import load_model
from hopscale.paper.store import identity, records_of

METHODS = ("DeepWalk", "MUSAE")
FITS = 2


class Reproduction:
    """A run of an experiment on a small graph that has the name of a data set of the paper."""

    def __init__(self, folder: Path, inputs: Path) -> None:
        self.folder, self.inputs, self.fits = folder, inputs, folder / "fits"
        self.output = folder / "paper"
        self.output.mkdir(parents=True)

    def run(self) -> None:
        """The command."""
        methods = [word for method in METHODS for word in ("--models", method)]
        where = ["--data", str(self.inputs), "--cache", str(self.fits), "--output", str(self.output)]
        size = ["--datasets", "cora", "-s", "pmi", "--splits", "2", "--fits", str(FITS)]
        main(args=["reproduce", "classification", *size, *methods, *where], prog_name="hopscale")

    def records(self) -> dict[str, Any]:
        """Scores by cell and fit: what a record says beside the time that it took."""
        lines = records_of(self.output, "classification").fits()
        assert len({identity(line["cell"]) for line in lines}) == len(lines)
        return {identity(line["cell"]): (line["repeats"], line["scores"]) for line in lines}

    def torn(self, peace: Reproduction) -> list[str]:
        """The page, if it is not that of a run in peace (it is written at the end), and fits that are not whole."""
        page = "classification.md"  # the other one has times
        is_torn = (self.output / page).exists() and (self.output / page).read_text() != (
            peace.output / page
        ).read_text()
        return [*([page] if is_torn else []), *(fit.name for fit in self.fits.glob("[!.]*") if not _is_whole(fit))]

    def left(self) -> list[str]:
        """Temporary files, in all folders."""
        kinds = (".md", ".jsonl", ".safetensors", ".json")
        return [str(path) for path in self.folder.rglob("*") if path.is_file() and path.suffix not in kinds]

    def sizes(self) -> dict[Path, int]:
        """Size of every file."""
        return {path: path.stat().st_size for path in self.folder.rglob("[!.]*") if path.is_file()}

    def sweep(self) -> None:
        """Write into every folder."""
        for folder in (self.output, self.output / "records", self.fits):
            if folder.is_dir():
                check_writable(folder / "next")


def _within(some: dict[str, Any], all_of: dict[str, Any]) -> bool:
    return all(all_of.get(cell) == scores for cell, scores in some.items())


def _is_whole(fit: Path) -> bool:
    try:
        json.loads(fit.read_text()) if fit.suffix == ".json" else load_model(fit)
    except Exception:  # whatever it is: it is no fit
        return False
    return True


def interrupt_reproduction(folder: Path, inputs: Path, signals: int, rng: random.Random, log: Path) -> Count:
    """Interrupt and resume, again and again; half of the signals go to all processes of the run."""
    count = Count("hopscale reproduce")
    write_graph(inputs / "cora.npz", planted_blocks(150))
    peace = Reproduction(folder / "peace", inputs)
    begin = time.perf_counter()
    process = Process(peace.run, log)
    assert process.wait() == 0, process.words()
    length, expected = time.perf_counter() - begin, peace.records()
    assert len(expected) == 2 * FITS * len(METHODS)  # with and without standardised vectors
    runs = shots = 0
    while count.signals.total() < signals:
        run = Reproduction(folder / f"run-{runs}", inputs)
        runs += 1
        for _ in range(rng.randint(1, 8)):
            kind = list(KINDS)[shots % len(KINDS)]
            shots += 1
            before = run.records()
            process = Process(run.run, log)
            _wait(run, process, length, rng)
            process.send(KINDS[kind], group=rng.random() < 0.5)
            status = process.wait()
            if status == 0:  # it was too late
                break
            count.signals[kind] += 1
            if status not in ENDS[kind]:
                count.problems.append(f"exit code {status} after {kind}: {process.words()}")
            _look(run, process, before, peace, kind, count)
        process = Process(run.run, log)
        found = process.wait(), run.records() == expected, run.torn(peace), run.left()
        if found != (0, True, [], []):
            count.problems.append(f"resumed, it is not the same as a run in peace: {found} {process.words()}")
    count.more["runs resumed"] = runs
    return count


def _wait(run: Reproduction, process: Process, length: float, rng: random.Random) -> None:
    """Wait for any moment of the run, or, every other time, until some files have been written."""
    if rng.random() < 0.5:
        time.sleep(rng.uniform(0, length))
        return
    for _ in range(rng.randint(1, 3)):
        before = run.sizes()
        while run.sizes() == before and not process.has_ended():
            time.sleep(0.002)
    time.sleep(rng.uniform(0, 0.1))


def _look(
    run: Reproduction, process: Process, before: dict[str, Any], peace: Reproduction, kind: str, count: Count
) -> None:
    count.left[kind] += len(run.left())
    deadline = time.monotonic() + 10
    while group_is_alive(process.pid):
        if time.monotonic() > deadline:
            count.problems.append(f"a process of the run lives on after {kind}")
            break
        time.sleep(0.01)
    found = run.records()
    if not _within(before, found) or not _within(found, peace.records()):
        count.problems.append(f"records were lost or changed by {kind}")
    count.old += len(before)
    count.new += len(found) - len(before)
    count.torn += len(run.torn(peace))
    run.sweep()
    count.left_later += len(run.left())
