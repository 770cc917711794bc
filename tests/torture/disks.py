"""Disks that are full: an error of ours, the old file as it was, nothing left behind."""

from __future__ import annotations

import json
import os
import random
import resource
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from processes import Process
from signals import Count, check_exit
from victims import TORN, Download, Embed, Export, Save, SaveGraph, Victim, write_graph

from hopscale.datasets import planted_blocks
from hopscale.paper.store import Store

SIZE = 32 << 20


class Records(Victim):
    """Records of ``hopscale reproduce``, appended one by one: what is there stays, and the next ones follow."""

    name = "records"

    def __init__(self, folder: Path, inputs: Path) -> None:
        super().__init__(folder, inputs)
        self.files = [folder / "records.jsonl"]

    def write(self, version: int) -> None:
        store = Store(self.files[0])
        for number in range(20):
            store.append({"cell": {"version": version, "number": number, "long": "x" * 20_000}, "repeats": 1})

    def get_ready(self, log: Path) -> None:
        self.files[0].unlink(missing_ok=True)
        self.write(0)

    def state(self) -> dict[Path, str]:
        found = [record["cell"] for record in Store(self.files[0]).records()]
        numbers = [cell["number"] for cell in found]
        first = [number for cell, number in zip(found, numbers, strict=True) if cell["version"] == 0]
        whole = first == list(range(20)) and numbers[20:] == list(range(len(numbers) - 20))
        return {self.files[0]: "old" if whole and len(numbers) == 20 else json.dumps(numbers) if whole else TORN}


class Disk:
    """A folder in which only some space is left."""

    def __init__(self, folder: Path, is_mounted: bool) -> None:
        self.folder, self.is_mounted = folder, is_mounted
        self.ballast = folder / ".ballast"

    @contextmanager
    def with_free(self, size: int) -> Iterator[Callable[[Callable[[], None]], Callable[[], None]]]:
        """Leave that many bytes; gives what a function must be wrapped in before it runs in another process."""
        if not self.is_mounted:
            yield lambda run: lambda: (resource.setrlimit(resource.RLIMIT_FSIZE, (size, size)), run())[1]
            return
        free = os.statvfs(self.folder)
        self.ballast.write_bytes(bytes(max(0, free.f_bavail * free.f_frsize - size)))
        try:
            yield lambda run: run
        finally:
            self.ballast.unlink()


@contextmanager
def small_disk(folder: Path) -> Iterator[Disk]:
    """A file system of its own in memory, where it can be mounted; else a limit on the size of every file."""
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "hopscale-torture", str(folder)]
    try:
        is_mounted = subprocess.run(mount, capture_output=True, check=False).returncode == 0
    except OSError:
        is_mounted = False
    try:
        yield Disk(folder, is_mounted)
    finally:
        if is_mounted:
            subprocess.run(["umount", str(folder)], check=True)


def fill_disks(folder: Path, inputs: Path, rounds: int, rng: random.Random, log: Path) -> Count:
    """Every victim with random space left, from nothing to what it needs."""
    write_graph(inputs / "graph.npz", planted_blocks(400, n_features=200))
    with small_disk(folder) as disk:
        means = "a small tmpfs" if disk.is_mounted else "a limit on the size of a file"
        count = Count(f"full disk ({means})")
        refused = 0
        for kind in (Embed, Save, SaveGraph, Export, Download, Records):
            victim = kind(disk.folder / kind.__name__, inputs)
            for _ in range(max(1, rounds // 6)):
                refused += _fill(victim, disk, rng, log, count)
        if os.path.exists("/dev/full"):
            embed = Embed(disk.folder / "Embed", inputs)
            embed.files[0] = Path("/dev/full")
            arguments = [*embed.command(0), "--format", "csv"]
            refused += check_exit(Process(lambda: _command(arguments), log), (1,), count)
        count.more["writes that were refused"] = refused
    return count


def _command(arguments: list[str]) -> None:
    from hopscale.cli import main

    main(args=arguments, prog_name="hopscale")


def _fill(victim: Victim, disk: Disk, rng: random.Random, log: Path, count: Count) -> bool:
    victim.get_ready(log)
    needed = max(file.stat().st_size for file in victim.files)
    victim.reset()
    before = victim.state()
    with disk.with_free(int(needed * rng.uniform(0, 1.3))) as limited:
        status = check_exit(Process(limited(lambda: victim.write(1)), log), (0, 1), count)
        after = victim.state()
        count.left["full disk"] += len([name for name in victim.left() if name != ".ballast"])
    for file, found in after.items():
        count.torn += found == TORN
        count.old += found == before[file]
        count.new += found not in (TORN, before[file])
    if victim.left():
        count.problems.append(f"{victim.name} left {victim.left()} on a full disk")
    if status == 0 and after == before and not isinstance(victim, Download):
        count.problems.append(f"{victim.name} said nothing of a full disk")
    process = Process(lambda: victim.write(1), log)
    if process.wait() != 0 or TORN in victim.state().values():
        count.problems.append(f"{victim.name} does not recover from a full disk: {process.words()}")
    return status == 1
