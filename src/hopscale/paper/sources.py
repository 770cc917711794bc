"""Which code made a measurement: a hash of the files that determine results.

A commit changes with every page that is written; this changes with what computes alone. Records and kept fits carry
it, so that a change of a solver makes its cells be measured again, and a page can tell cells of different code apart.
"""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

from hopscale import __version__

__all__ = ["IDLE", "computing_files", "sources"]

_PACKAGE = Path(__file__).resolve().parents[1]
_BUILD = _PACKAGE.parents[1] / "CMakeLists.txt"  # flags of the compiler
# Rooms and modules without influence on a measurement. A test checks that none of the others imports them, but for the
# devices of PyTorch, on which no vectors are measured: `runner` refuses the parameter.
IDLE = (
    "cli", "cluster", "explore", "planning", "stored", "compute/blocks.py", "compute/dask.py", "compute/memory.py",
    "compute/skipgram_plain.py", "compute/skipgram_triton.py", "compute/torch.py", "compute/torch_plain.py",
    "compute/torch_triton.py", "solvers/device_targets.py", "solvers/device_training.py", "solvers/pmi_blocks.py",
    "walks/device_rows.py", "walks/mapped.py", "paper/pages", "paper/__init__.py", "paper/estimates.py",
    "paper/runner.py", "paper/store.py", "__init__.py", "__main__.py", "models/pictures.py",
)  # fmt: skip
_KINDS = (".py", ".cpp", ".hpp", ".toml")


def computing_files() -> list[Path]:
    """Python and C++ files that determine results."""
    idle = tuple(_PACKAGE / name for name in IDLE)
    files = [path for path in sorted(_PACKAGE.rglob("*")) if path.suffix in _KINDS]
    return [path for path in files if not any(path == each or each in path.parents for each in idle)]


@cache
def sources() -> str:
    """The hash of those files; of an installed package, which has no C++ files, its version.

    >>> sources() == sources()
    True
    """
    files = computing_files()
    if not _BUILD.exists() or not any(path.suffix == ".cpp" for path in files):
        return f"hopscale {__version__}"
    digest = hashlib.sha256()
    for path in (*files, _BUILD):
        name = path.relative_to(_BUILD.parent).as_posix()
        digest.update(f"{name}\0{path.stat().st_size}\0".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]
