"""The published data sets: one entry each, read from ``registry.toml``."""

from __future__ import annotations

import functools
import hashlib
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import resources
from pathlib import PurePosixPath
from typing import Any, Literal

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

__all__ = ["Difference", "Published", "SourceFile", "published", "read_registry"]


@dataclass(frozen=True)
class SourceFile:
    """A file as its publisher wrote it.

    Attributes
    ----------
    name : str
        Without folders: archives of the same files differ in these.
    size : int
        Bytes that it has, or at most has where that is not known exactly.
    sha256, git_blob : str or None
        One of the two: the SHA-256 of the content, or the hash by which git knows it.
    """

    name: str
    size: int
    sha256: str | None = None
    git_blob: str | None = None

    def is_published(self, content: bytes) -> bool:
        """Whether a content is the published one, to the last bit.

        >>> SourceFile("hello.txt", 6, git_blob="ce013625030ba8dba906f756967f9e9ca394464a").is_published(b"hello\\n")
        True
        """
        if self.sha256 is not None:
            return hashlib.sha256(content).hexdigest() == self.sha256
        named = hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False)
        return named.hexdigest() == self.git_blob


@dataclass(frozen=True)
class Difference:
    """A statistic for which the paper's table has another figure than the loaded graph, and why."""

    here: float
    reason: str


@dataclass(frozen=True)
class Published:
    """A data set of the paper, and where it comes from.

    Attributes
    ----------
    name, title, about : str
    task : {"classification", "regression"}
    target : str
        What the labels mean.
    nodes, edges, self_loops : int
        As published; edges are distinct pairs, self-loops among them. Loading drops the self-loops.
    columns : int or None
        Of the feature matrix, those that no node uses among them; None if the largest id tells.
    files : mapping of str to SourceFile
        By what they hold.
    format : {"musae", "planetoid"}
    address : str
        Folder on the web that holds the archive, or else the files.
    archive : str or None
    archive_size : int
        Bytes that the archive has at most.
    folder : str or None
        Where single files lie in a mirror or a cache.
    page, licence, note : str
        For people.
    node_column, label_column : str or None
        Of the target file; by default the first and the last.
    class_names : mapping of str to str
        Names for the labels of the target file, where it has codes.
    paper : mapping of str to float
        Row of the paper's table of statistics.
    differences : mapping of str to Difference
        Where that row is not what the graph has.

    Examples
    --------
    >>> from hopscale.datasets import published
    >>> cora = published()["cora"]
    >>> cora.task, cora.nodes, cora.paper["density"], cora.statistics["density"]
    ('classification', 2708, 0.002, 0.00144)
    >>> cora.differences["density"].reason
    'the paper rounds this figure up'
    """

    name: str
    title: str
    about: str
    task: Literal["classification", "regression"]
    target: str
    nodes: int
    edges: int
    files: Mapping[str, SourceFile]
    format: str
    address: str
    page: str
    licence: str
    self_loops: int = 0
    columns: int | None = None
    archive: str | None = None
    archive_size: int = 0
    folder: str | None = None
    note: str = ""
    node_column: str | None = None
    label_column: str | None = None
    class_names: Mapping[str, str] = field(default_factory=dict)
    paper: Mapping[str, float] = field(default_factory=dict)
    differences: Mapping[str, Difference] = field(default_factory=dict)

    @property
    def units(self) -> tuple[PurePosixPath, ...]:
        """What is downloaded and kept as one: the archive, or each file."""
        if self.archive is not None:
            return (PurePosixPath(self.archive),)
        return tuple(PurePosixPath(self.folder or "", file.name) for file in self.files.values())

    def size(self, unit: PurePosixPath) -> int:
        """Bytes that one of the units has at most."""
        if self.archive is not None:
            return self.archive_size
        return next(file.size for file in self.files.values() if file.name == unit.name)

    @property
    def statistics(self) -> dict[str, float]:
        """The paper's statistics, set right where they differ, and the edges without self-loops."""
        mended = {name: difference.here for name, difference in self.differences.items()}
        return {"nodes": self.nodes, "edges": self.edges - self.self_loops, **self.paper, **mended}


@functools.cache
def published() -> Mapping[str, Published]:
    """The data sets of the paper, by name.

    Examples
    --------
    >>> from hopscale.datasets import published
    >>> [name for name, entry in published().items() if entry.task == "regression"]
    ['wiki-chameleon', 'wiki-crocodile', 'wiki-squirrel']
    """
    return read_registry(resources.files("hopscale.datasets").joinpath("registry.toml").read_text(encoding="utf-8"))


def read_registry(text: str) -> dict[str, Published]:
    """Entries of a registry, from a text as that of ``registry.toml``."""
    document = tomllib.loads(text)
    return {
        name: _entry(name, {**document["sources"][table.pop("source")], **table}, document["reasons"])
        for name, table in document["datasets"].items()
    }


def _entry(name: str, table: dict[str, Any], reasons: dict[str, str]) -> Published:
    files = {role: SourceFile(**file) for role, file in table.pop("files").items()}
    differences = {
        statistic: Difference(difference["here"], reasons[difference["reason"]])
        for statistic, difference in table.pop("differences", {}).items()
    }
    return Published(name=name, files=files, differences=differences, **table)
