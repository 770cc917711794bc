"""The machine and the versions that a measurement was made with, and memory of the process."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import re
import subprocess
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np  # the BLAS that it loads is asked for
from threadpoolctl import threadpool_info

__all__ = ["blas", "cores", "machine", "peak_mib", "resident_mib"]

_PACKAGES = ("hopscale", "numpy", "scipy", "scikit-learn", "gensim", "torch")


def machine() -> dict[str, Any]:
    """Versions and processor."""
    info = Path("/proc/cpuinfo")
    names = re.findall(r"^model name\s*:\s*(.*?)\s*$", info.read_text() if info.exists() else "", re.MULTILINE)
    versions = {}
    for package in _PACKAGES:
        with suppress(importlib.metadata.PackageNotFoundError):  # not all are needed
            versions[package] = importlib.metadata.version(package)
    return {
        "python": platform.python_version(),
        "system": platform.system(),
        "processor": names[0] if names else platform.processor(),
        "cores": cores(),
        "versions": versions,
        **({"blas": kernels} if (kernels := blas()) else {}),
        **({"commit": commit} if (commit := _commit()) else {}),
    }


@cache
def blas() -> str | None:
    """NumPy's BLAS and the processor whose kernels it has chosen; None where it does not say.

    The same code on the same data has the same bits where this is the same. OpenBLAS takes the kernels that the
    environment variable ``OPENBLAS_CORETYPE`` names, if it is set when NumPy is imported.
    """
    folder = Path(np.__file__).parent
    loaded = [each for each in threadpool_info() if each["user_api"] == "blas" and "architecture" in each]
    own = [each for each in loaded if Path(each["filepath"]).parent.name.startswith(folder.name)]
    return next((f"{each['internal_api']} for {each['architecture']}" for each in own or loaded), None)


def cores() -> int:
    """Processor cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@cache
def _commit() -> str | None:
    """The commit of the code that runs, with a plus sign if it was changed; None outside a checkout.

    ``HOPSCALE_COMMIT`` names it where a copy of the code runs.
    """
    if "HOPSCALE_COMMIT" in os.environ:
        return os.environ["HOPSCALE_COMMIT"]
    root = Path(__file__).resolve().parents[3]
    if not (root / ".git").exists() or not (root / "src" / "hopscale").exists():
        return None
    try:
        name, changes = (
            subprocess.run(["git", "-C", str(root), *words], capture_output=True, text=True, check=True).stdout.strip()
            for words in (("rev-parse", "--short=10", "HEAD"), ("status", "--porcelain", "--", "src"))
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return name + ("+" if changes else "")


def peak_mib() -> float | None:
    """Largest resident size of this process so far, in MiB; None where the system does not say."""
    status = Path("/proc/self/status")  # ru_maxrss starts from the size of the process that started this one
    found = re.search(r"^VmHWM:\s*(\d+)", status.read_text() if status.exists() else "", re.MULTILINE)
    if found:
        return int(found[1]) / 2**10
    try:
        import resource
    except ImportError:  # Windows
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 2**20 if sys.platform == "darwin" else peak / 2**10


def resident_mib() -> float | None:
    """Resident size of this process now, in MiB; None where the system does not say."""
    statm = Path("/proc/self/statm")
    if not statm.exists():
        return None
    return int(statm.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20
