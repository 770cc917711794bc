"""Methods hold their memory limit as the system counts it, or name the least that works before they start."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads memory from /proc")

PROGRAM = Path(__file__).resolve().parent.parent / "benchmarks" / "memory_limits.py"
INTERPRETER = 4.0  # MiB: code that is loaded on the way, stacks of threads


def fitted(case, limit, nodes=8000, dimensions=64):
    """What a fit in a fresh process takes, or how it was refused."""
    command = [sys.executable, PROGRAM, "--one", case, limit, str(nodes), str(dimensions)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def within(record):
    return record["mib"] <= 1.1 * record["bytes"] / 2**20 + INTERPRETER


@pytest.mark.parametrize(
    ("case", "limit"),
    [
        ("MUSAE", "24MiB"),
        ("MUSAE", "64MiB"),
        ("DeepWalk", "32MiB"),
        ("GraRep", "64MiB"),
        ("AE, transform", "16MiB"),
        ("SINE", "128MiB"),
        ("FEATHER", "48MiB"),
        ("BANE", "40MiB"),
    ],
)
def test_a_limit_is_held(case, limit):
    record = fitted(case, limit)
    assert "refused" not in record
    assert within(record)


@pytest.mark.parametrize(
    ("case", "dimensions"), [("DeepWalk", 128), ("SINE", 64), ("FEATHER", 64), ("TADW", 64), ("HOPE, katz", 64)]
)
def test_the_least_that_a_refusal_names_is_enough(case, dimensions):
    refused = fitted(case, "9MiB", dimensions=dimensions)["refused"]
    least = re.search(r"needs at least ([0-9]+) MiB beside the graph and the vectors, more than memory_limit", refused)
    record = fitted(case, f"{least[1]}MiB", dimensions=dimensions)
    assert "refused" not in record
    assert within(record)
