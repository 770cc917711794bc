"""Build a source archive and a wheel into dist, and test both in fresh virtual environments: `make wheel`.

The wheel is built from the source archive, so that a file that the archive lacks is noticed. On Linux it is repaired by
auditwheel, which checks that it needs nothing but what every system of its kind has. The environment that tests the
wheel has no compiler on its PATH.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DIST = ROOT / "dist"
SMOKE = ROOT / ".ci" / "smoke.py"
BIN = "Scripts" if os.name == "nt" else "bin"


def build() -> tuple[Path, Path]:
    """The source archive and the wheel that is made from it, by the build tools of this environment."""
    shutil.rmtree(DIST, ignore_errors=True)
    call(sys.executable, "-m", "build", "--no-isolation", "--outdir", str(DIST), str(ROOT))
    [archive], [wheel] = DIST.glob("*.tar.gz"), DIST.glob("*.whl")
    return archive, repaired(wheel) if sys.platform == "linux" else wheel


def repaired(wheel: Path) -> Path:
    """The same wheel, with the tag of the oldest systems that it runs on; libraries that these lack would be inside."""
    with tempfile.TemporaryDirectory() as folder:
        call(sys.executable, "-m", "auditwheel", "repair", "--strip", "--wheel-dir", folder, str(wheel))
        [found] = Path(folder).glob("*.whl")
        wheel.unlink()
        return Path(shutil.move(found, DIST / found.name))


def check_contents(wheel: Path) -> None:
    """Refuse a wheel that lacks a module or carries C++."""
    names = set(zipfile.ZipFile(wheel).namelist())
    package = ROOT / "src"
    wanted = {str(path.relative_to(package)) for path in package.rglob("*") if _is_shipped(path)}
    missing, extra = wanted - names, {name for name in names if name.endswith((".cpp", ".hpp"))}
    if missing or extra:
        sys.exit(f"{wheel.name}: missing {sorted(missing)}, not needed {sorted(extra)}")


def _is_shipped(path: Path) -> bool:
    built = {".cpp", ".hpp", ".pyc", ".so", ".pyd"}
    return path.is_file() and path.suffix not in built and "egg-info" not in str(path)


def check(package: Path, *, compiler: bool, extras: str = "") -> float:
    """Install a package into a fresh environment and run the smoke test there; the seconds of the installation."""
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        python = Path(folder) / BIN / "python"
        path = os.environ["PATH"] if compiler else str(python.parent)
        environment = {**os.environ, "PATH": path, "PYTHONNOUSERSITE": "1"}
        if not compiler:
            for name in ("CC", "CXX"):
                environment.pop(name, None)
        start = time.perf_counter()
        call(str(python), "-m", "pip", "install", "--quiet", f"{package}{extras}", environment=environment)
        seconds = time.perf_counter() - start
        call(str(python), str(SMOKE), environment=environment, folder=Path(folder))
    return seconds


def call(*command: str, environment: dict[str, str] | None = None, folder: Path = ROOT) -> None:
    """Run a program, or leave with its exit code."""
    done = subprocess.run(command, env=environment, cwd=folder, check=False)
    if done.returncode:
        sys.exit(f"failed with {done.returncode}: {' '.join(command)}")


def main() -> None:
    """Build, check, and print sizes."""
    archive, wheel = build()
    check_contents(wheel)
    for package, compiler, extras in ((wheel, False, "[plots]"), (archive, True, "")):
        print(f"Testing {package.name}, {'with' if compiler else 'without'} a compiler", flush=True)
        seconds = check(package, compiler=compiler, extras=extras)
        print(
            f"{package.name}: {package.stat().st_size / 2**10:,.0f} KiB, installed in {seconds:.0f} s, works",
            flush=True,
        )


if __name__ == "__main__":
    main()
