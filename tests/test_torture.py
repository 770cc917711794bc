"""A short round of ``make torture``: nothing torn, nothing left."""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="forks of a process with BLAS in it")


@pytest.mark.parametrize(
    "attacks",
    [
        ["embed", "blocks", "download"],
        ["extend", "classify", "plot", "save", "graph", "export", "writers"],
        ["disk"],
        ["reproduce"],
    ],
)
def test_nothing_torn_and_nothing_left(attacks):
    command = [sys.executable, Path(__file__).parent / "torture", "--signals", "40", "--only", *attacks]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("0 torn") == len(attacks)
