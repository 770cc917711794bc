"""Files of publishers: where they lie, whether they are what was published, and how they get here."""

from __future__ import annotations

import lzma
import os
import zipfile
import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path, PurePosixPath

from hopscale.atomic import replacing
from hopscale.datasets.download import download, failure
from hopscale.datasets.registry import Published, SourceFile
from hopscale.exceptions import DownloadError, FileFormatError

__all__ = ["CACHE_VARIABLE", "MIRROR_VARIABLE", "Paths", "cache_folder", "cached", "fetch", "found_in", "obtain"]

CACHE_VARIABLE = "HOPSCALE_CACHE"
MIRROR_VARIABLE = "HOPSCALE_MIRROR"

Paths = Sequence[tuple[PurePosixPath, Path]]
_Path = str | os.PathLike[str]


def cache_folder(cache: _Path | None = None) -> Path:
    """Folder where downloads are kept: the given one, or that of ``HOPSCALE_CACHE``, or the user's cache."""
    chosen = cache if cache is not None else os.environ.get(CACHE_VARIABLE) or None
    if chosen is not None:
        return Path(chosen).expanduser()
    import pooch

    return Path(pooch.os_cache("hopscale"))


def found_in(entry: Published, folder: Path | None) -> Paths | None:
    """Files of a data set in a folder of the user's, or in its subfolder ``raw``, if all are there."""
    for place in () if folder is None else (folder, folder / "raw"):
        in_folders = [(unit, place / unit) for unit in entry.units]
        flat = [(unit, place / unit.name) for unit in entry.units]
        for paths in (in_folders, flat):
            if all(path.is_file() for _, path in paths):
                return paths
    return None


def cached(entry: Published, cache: _Path | None = None) -> Paths | None:
    """Files of a data set in the cache, if all are there."""
    paths = _kept(entry, cache)
    return paths if all(path.is_file() for _, path in paths) else None


def obtain(
    entry: Published, folder: Path | None, cache: _Path | None = None, *, download: bool = True
) -> dict[str, bytes]:
    """Contents of a data set's files by role: from the user's folder, the cache, or the publisher.

    A file in the user's folder that is not the published one is a FileFormatError; a file that is nowhere, and cannot
    be downloaded, a DownloadError.
    """
    here = found_in(entry, folder)
    if here is None and download:
        return fetch(entry, cache)
    here = here or cached(entry, cache)
    if here is None:
        raise DownloadError(f"{entry.name} is not on this machine, and download=False. {_by_hand(entry)}")
    return {role: content for unit, path in here for role, content in _checked(entry, unit, path, str(path)).items()}


def fetch(entry: Published, cache: _Path | None = None, *, progress: bool = False) -> dict[str, bytes]:
    """Contents of a data set's files by role, from the cache or else from the publisher, then kept in the cache.

    A file that cannot be downloaded or is not the published one is a DownloadError, and does not enter the cache.
    """
    found: dict[str, bytes] = {}
    for unit, path in _kept(entry, cache):
        try:
            found |= _checked(entry, unit, path, str(path))
        except (OSError, FileFormatError):  # absent, or damaged since
            found |= _download(entry, unit, path, progress)
    return found


def _kept(entry: Published, cache: _Path | None) -> Paths:
    folder = cache_folder(cache)
    return [(unit, folder / unit) for unit in entry.units]


def _checked(entry: Published, unit: PurePosixPath, path: Path, called: str) -> dict[str, bytes]:
    """Contents of those files that an archive or a single file holds; ``called`` is its name in errors."""
    files = {role: file for role, file in entry.files.items() if entry.archive or file.name == unit.name}
    if not path.is_file() and path.exists():
        raise FileFormatError(f"{called} is no regular file")
    held = _unpacked(path, files.values(), called) if entry.archive else {unit.name: _read(path, entry.size(unit))}
    for file in files.values():
        if file.name not in held:
            raise FileFormatError(f"{called} has no file {file.name}")
        if not file.is_published(held[file.name]):
            inside = f": {file.name} in it" if entry.archive else ""
            raise FileFormatError(f"{called}{inside} is not the file that was published: its checksum is wrong")
    return {role: held[file.name] for role, file in files.items()}


def _read(path: Path, size: int) -> bytes:
    """The beginning of a file, and one byte more than the published one has: enough to tell it from a longer one."""
    with path.open("rb") as content:
        return content.read(size + 1)


def _unpacked(path: Path, files: Iterable[SourceFile], called: str) -> dict[str, bytes]:
    held = {}
    with path.open("rb") as packed:
        try:
            with zipfile.ZipFile(packed) as archive:
                members = {PurePosixPath(member).name: member for member in archive.namelist()}
                for file in files:
                    if file.name in members:
                        with archive.open(members[file.name]) as content:
                            held[file.name] = content.read(file.size + 1)  # as _read does
        # Damage, or a kind of packing or a password that publishers do not use.
        except (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, ValueError, RuntimeError, OSError) as error:
            raise FileFormatError(f"{called} is not a whole zip archive: {error}") from error
    return held


def _download(entry: Published, unit: PurePosixPath, target: Path, progress: bool) -> dict[str, bytes]:
    mirror = os.environ.get(MIRROR_VARIABLE)
    address = f"{mirror.rstrip('/')}/{unit}" if mirror else f"{entry.address}{unit.name}"
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        # What another has put into the cache is replaced; a link in it does not lead us elsewhere.
        with replacing(target, follow_links=False) as temporary:
            try:
                download(address, temporary, entry.size(unit), progress=progress)
                return _checked(entry, unit, temporary, address)
            except (OSError, FileFormatError) as error:
                raise DownloadError(f"{entry.name}: {_reason(error, address)}. {_by_hand(entry)}") from error
    except DownloadError:
        raise
    except OSError as error:
        raise DownloadError(
            f"{entry.name} cannot be kept in {str(target.parent)!r}: {error}; name another folder in {CACHE_VARIABLE}"
        ) from error


def _reason(error: Exception, address: str) -> str:
    if isinstance(error, OSError):
        return failure(error, address)
    return f"{error}. It may have been cut short on the way: try again"


def _by_hand(entry: Published) -> str:
    files = ", ".join(unit.name for unit in entry.units)
    return (
        f"To go without a download, fetch {files} from {entry.address} by hand, into the folder that the variable "
        "HOPSCALE_DATA names"
    )
