"""Dependencies: pinned by hash for development, listed with their licences, permissive where hopscale needs them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
DIRECT = [Requirement(line) for line in metadata.requires("hopscale") or [] if not line.startswith("hopscale")]

# PyTorch has a file of its own, which says why; UMAP is not installed for development.
PINNED = [requirement for requirement in DIRECT if requirement.name not in ("torch", "umap-learn")]

# How licences are called in the metadata of packages, by what docs/dependencies.md calls them.
SPELLINGS = {
    "Apache-2.0": ("Apache-2.0", "Apache 2.0", "Apache Software License", "Apache License, Version 2.0"),
    "BSD-3-Clause": ("BSD-3-Clause", "BSD License", "3-clause BSD"),
    "BSD-2-Clause": ("BSD-2-Clause", "BSD License"),
    "MIT": ("MIT", "MIT License"),
    "PSF-2.0": ("PSF-2.0", "Python Software Foundation License"),
    "MPL-2.0": ("MPL-2.0", "Mozilla Public License 2.0 (MPL 2.0)"),
    "MPL-2.0 AND MIT": ("MPL-2.0 AND MIT",),
    "LGPL-2.1": ("LGPL-2.1-only",),
    "GPL-2.0": ("GPL-2.0-only",),
    "GPL-3.0": ("GPL-3.0-or-later",),
}
NOT_PERMISSIVE = {"LGPL-2.1", "GPL-2.0", "GPL-3.0", "MPL-2.0", "MPL-2.0 AND MIT"}


def stated(package: str) -> set[str]:
    """Licences that the metadata of an installed package state."""
    about = metadata.metadata(package)
    classes = [
        line.split("::")[-1].strip() for line in about.get_all("Classifier") or [] if line.startswith("License ::")
    ]
    return {about.get("License-Expression") or "", (about.get("License") or "").strip(), *classes} - {""}


def pinned() -> dict[str, list[str]]:
    """Lines of the lock file by package: the pins and the hashes."""
    lines: dict[str, list[str]] = {}
    name = ""
    for line in (ROOT / "requirements-dev.txt").read_text().splitlines():
        if pin := re.match(r"([A-Za-z0-9._-]+)==", line):
            name = canonicalize_name(pin[1])
        lines.setdefault(name, []).append(line)
    return lines


def listed() -> dict[str, str]:
    """Licence by package in docs/dependencies.md."""
    rows = re.findall(
        r"^\| ([a-z][a-z-]+) \| ([^|]+) \|", (ROOT / "docs" / "dependencies.md").read_text(), re.MULTILINE
    )
    return {name: licence.strip() for name, licence in rows if name != "package"}


def needed(package: str, seen: set[str]) -> Iterator[str]:
    """A package and all that it needs without extras, where it is installed."""
    if package in seen:
        return
    seen.add(package)
    yield package
    for line in metadata.requires(package) or []:
        requirement = Requirement(line)
        if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
            yield from needed(canonicalize_name(requirement.name), seen)


@pytest.mark.parametrize("requirement", PINNED, ids=lambda requirement: requirement.name)
def test_pinned_by_hash(requirement):
    lines = pinned()[canonicalize_name(requirement.name)]
    pins = [line for line in lines if "==" in line and "--hash" not in line and not line.lstrip().startswith("#")]
    versions = [re.match(r"[^=]+==([^ ;]+)", pin)[1] for pin in pins]
    assert all(requirement.specifier.contains(version) for version in versions)
    assert sum("--hash=sha256:" in line for line in lines) >= len(versions) > 0


def test_pytorch_is_pinned_to_a_version_that_will_do():
    (pin,) = re.findall(r"^torch==(.*)$", (ROOT / "requirements-torch.txt").read_text(), re.MULTILINE)
    wanted = [requirement for requirement in DIRECT if requirement.name == "torch"]
    assert wanted
    assert all(requirement.specifier.contains(pin) for requirement in wanted)


def test_what_is_listed_is_what_is_needed():
    assert set(listed()) == {canonicalize_name(requirement.name) for requirement in DIRECT}


@pytest.mark.parametrize("package", sorted(listed()))
def test_licence_is_the_one_that_is_listed(package):
    try:
        licences = stated(package)
    except metadata.PackageNotFoundError:
        pytest.skip("not for this Python, or not installed for tests alone")
    assert any(spelling in licence for licence in licences for spelling in SPELLINGS[listed()[package]])


def test_run_time_needs_are_permissive():
    others = {package for package in needed("hopscale", set()) if package != "hopscale"}
    permissive = {spelling for name, all_of in SPELLINGS.items() if name not in NOT_PERMISSIVE for spelling in all_of}
    strict = {
        package for package in others if not any(spelling in one for one in stated(package) for spelling in permissive)
    }
    assert strict == {"certifi"}
    assert "MPL-2.0 AND MIT" in stated("tqdm")
