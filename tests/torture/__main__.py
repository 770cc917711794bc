"""Signals at random moments, full disks and several writers: is a file ever torn, or something left behind?

    python tests/torture [--signals N] [--seed N] [--only ATTACK ...] [--write]

Signals go to `hopscale embed`, in memory and in blocks, `model.save`, `model.export`, `hopscale reproduce` and
downloads. After each, every file must be the old one or the new one, and the next write into its folder must remove
what a killed process left. Exits with 1 if anything else was seen. Needs a POSIX system; root can mount a small disk to
fill, others limit the size of files.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path += [str(ROOT / "tests"), str(ROOT / "benchmarks")]
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # a process that forks should have no threads

from disks import fill_disks  # noqa: E402
from reproductions import interrupt_reproduction  # noqa: E402
from signals import KINDS, Count, shoot  # noqa: E402
from victims import (  # noqa: E402
    Classify,
    Download,
    Embed,
    EmbedInBlocks,
    Export,
    Extend,
    FreshEmbed,
    Plot,
    Save,
    SaveGraph,
    write_graph,
)
from writers import several_writers  # noqa: E402

from hopscale.datasets import planted_blocks  # noqa: E402

# Share of the signals that each attack gets.
SHARES = {
    "embed": 0.2,
    "blocks": 0.05,
    "fresh": 0.02,
    "extend": 0.05,
    "classify": 0.05,
    "plot": 0.03,
    "save": 0.15,
    "graph": 0.1,
    "export": 0.1,
    "download": 0.2,
    "writers": 0.04,
    "reproduce": 0.04,
}
VICTIMS = {
    "embed": Embed,
    "blocks": EmbedInBlocks,
    "fresh": FreshEmbed,
    "extend": Extend,
    "classify": Classify,
    "plot": Plot,
    "save": Save,
    "graph": SaveGraph,
    "export": Export,
    "download": Download,
}
ATTACKS = (*SHARES, "disk")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--signals", type=int, default=1000, help="how many must reach a live process (default: 1000)")
    parser.add_argument("--seed", type=int, default=0, help="of the moments (default: 0)")
    parser.add_argument(
        "--only", nargs="+", choices=ATTACKS, default=ATTACKS, metavar="ATTACK", help=", ".join(ATTACKS)
    )
    parser.add_argument("--write", action="store_true", help="put the counts into docs/robustness.md")
    options = parser.parse_args()
    begin = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="hopscale-torture-") as place:
        folder = Path(place)
        counts = []
        for name in options.only:
            counts.append(_attack(name, options, folder))
            print(f"{time.perf_counter() - begin:6.0f} s  {_line(counts[-1])}", flush=True)
            for problem in counts[-1].problems:
                print(f"          {problem}")
            if options.write:
                _write(counts[-1:], options.seed)
    sys.exit(any(count.failed for count in counts))


def _attack(name: str, options: argparse.Namespace, folder: Path) -> Count:
    """Run one attack; the same seed gives the same moments, whatever other attacks are chosen."""
    rng = random.Random(f"{options.seed} {name}")
    inputs, output, log = folder / f"{name}-inputs", folder / name, folder / f"{name}.log"
    inputs.mkdir()
    signals = max(3, math.ceil(options.signals * SHARES.get(name, 0.05)))
    if name in VICTIMS:
        write_graph(inputs / "graph.npz", planted_blocks(800, n_features=200))
        return shoot(VICTIMS[name](output, inputs), signals, rng, log)
    attack: Callable[..., Count] = {
        "reproduce": interrupt_reproduction,
        "writers": several_writers,
        "disk": fill_disks,
    }[name]
    return attack(output, inputs, signals, rng, log)


def _line(count: Count) -> str:
    sent = ", ".join(f"{number} {kind}" for kind, number in count.signals.items())
    files = f"{count.old} old, {count.new} new, {count.torn} torn"
    left = f"left {dict(count.left)}, later {count.left_later}"
    return f"{count.attack}: {sent or 'no signals'}; {files}; {left} {count.more or ''}"


def _write(counts: list[Count], seed: int) -> None:
    """Put the counts into the docs, in place of those of the same attacks."""
    from measure import RESULTS, markdown, write

    if (RESULTS / "torture.json").exists():
        made = {count.attack: count for count in counts}
        kept = [Count.restored(record) for record in json.loads((RESULTS / "torture.json").read_text())["records"]]
        counts = [made.pop(count.attack, count) for count in kept] + list(made.values())
    header = [
        "attack",
        *KINDS,
        "files old",
        "new",
        "torn",
        "left by the signal",
        "left after the next write",
        "problems",
    ]
    rows = [
        [
            count.attack,
            *(count.signals[kind] for kind in KINDS),
            f"{count.old:,}",
            f"{count.new:,}",
            count.torn,
            " + ".join(f"{count.left[kind]} {kind}" for kind in KINDS if count.left[kind]) or 0,
            count.left_later,
            len(count.problems),
        ]
        for count in counts
    ]
    total = sum((count.signals for count in counts), start=Count("").signals)
    rows.append(
        [
            "**all**",
            *(total[kind] for kind in KINDS),
            *(f"{sum(getattr(count, what) for count in counts):,}" for what in ("old", "new", "torn")),
            sum(count.left.total() for count in counts),
            sum(count.left_later for count in counts),
            sum(len(count.problems) for count in counts),
        ]
    )
    notes = [f"{count.attack}: {text}." for count in counts if (text := _notes(count))]
    said = f"{total.total():,} signals by `make torture` with seed {seed}."
    text = "\n\n".join([markdown(header, rows), " ".join([said, *notes])])
    write("torture", [vars(count) for count in counts], text)
    subprocess.run([sys.executable, str(ROOT / "benchmarks" / "readme.py")], check=True)


def _notes(count: Count) -> str:
    return ", ".join(f"{what} {value}" for what, value in count.more.items() if not isinstance(value, list))


if __name__ == "__main__":
    main()
