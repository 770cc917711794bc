"""Seconds from a wheel to a first picture: a fresh environment, the installation, `hopscale plot`, step by step.

`make wheel` must have built the wheel. Packages come from the package index, or from pip's cache if an earlier run has
filled it: the first run of the program fills it, and the second is the one to keep.

    python benchmarks/first_picture.py [--extras plots]
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import venv
from collections.abc import Callable
from pathlib import Path
from typing import Any

from measure import markdown, measured, write

DIST = Path(__file__).resolve().parent.parent / "dist"


def steps(wheel: Path, extras: str, folder: Path) -> dict[str, Callable[[], Any]]:
    """What is timed, in order; each step needs those before it."""
    python = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    picture = folder / "map.png"
    install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", f"{wheel}[{extras}]"]
    plot = ["-m", "hopscale", "plot", "--graph", "digits", "-o", str(picture), "--quiet"]
    return {
        "a virtual environment": lambda: venv.create(folder, with_pip=True),
        f"pip install, with the extra {extras}": lambda: run(python, *install),
        "hopscale plot --graph digits": lambda: run(python, *plot),
        "the same again": lambda: run(python, *plot),
    }


def run(python: Path, *arguments: str) -> None:
    """Run Python of the environment, and show what it says if it fails."""
    done = subprocess.run([str(python), *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"python {' '.join(arguments)} failed:\n{done.stderr}")


def main() -> None:
    """Time every step, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--extras", default="plots", help="extras of hopscale to install, with commas between them")
    options = parser.parse_args()
    wheels = sorted(DIST.glob("*.whl"))
    if not wheels:
        sys.exit("there is no wheel in dist: run make wheel")
    with tempfile.TemporaryDirectory() as folder:
        found = steps(wheels[-1], options.extras, Path(folder))
        seconds = {name: measured(step)[0] for name, step in found.items()}
        size = (Path(folder) / "map.png").stat().st_size
    to_picture = sum(list(seconds.values())[:3])
    records = [{"step": name, "seconds": taken, "extras": options.extras} for name, taken in seconds.items()]
    records.append({"step": "from the wheel to the picture", "seconds": to_picture, "extras": options.extras})
    rows = [[record["step"], f"{record['seconds']:.1f}"] for record in records]
    wheel_kib, picture_kib = wheels[-1].stat().st_size / 2**10, size / 2**10
    rows += [["size of the wheel", f"{wheel_kib:,.0f} KiB"], ["size of the picture", f"{picture_kib:,.0f} KiB"]]
    write("first_picture", records, markdown(["step", "seconds"], rows))


if __name__ == "__main__":
    main()
