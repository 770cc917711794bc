"""Files that appear whole or not at all."""

from __future__ import annotations

import os
import secrets
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["check_writable", "replacing"]

_OPEN = {"/dev/stdout": 1, "/dev/stderr": 2}


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a temporary file to write into, which takes the place of ``path`` once it is complete.

    Until then a file that was there before stays as it is. If writing fails or is interrupted, the
    temporary file is removed and nothing else has happened; a file that cannot be written is an OSError
    at once. Links are followed; what is no regular file, such as ``/dev/stdout``, cannot be replaced and is
    written to at the end.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with replacing(f"{folder}/numbers.txt") as temporary:
    ...         _ = temporary.write_text("1 2 3")
    ...     [file.name for file in Path(folder).iterdir()]
    ['numbers.txt']
    """
    target = _target(path)
    special = _is_stream(target)
    temporary = _empty_file(Path(tempfile.gettempdir()) if special else target.parent)
    mode = stat.S_IMODE((temporary if special or not target.exists() else target).stat().st_mode)
    try:
        yield temporary
        if special:
            # Opened anew, a redirected stream would begin at its file's start.
            opened = _OPEN.get(os.fspath(target))
            with temporary.open("rb") as content, open(os.dup(opened) if opened else target, "wb") as sink:
                shutil.copyfileobj(content, sink)
            return
        os.chmod(temporary, mode)  # some writers put a file of their own in its place
        _flush_to_disk(temporary)
        os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)
    if os.name == "posix":  # elsewhere a folder cannot be opened
        _flush_to_disk(target.parent)


def check_writable(path: str | os.PathLike[str]) -> None:
    """Refuse a path that could not be written to, before long work is done for it.

    Examples
    --------
    >>> check_writable("no such folder/vectors.csv")
    Traceback (most recent call last):
    ...
    FileNotFoundError: cannot write 'no such folder/vectors.csv': there is no folder 'no such folder'
    """
    target = _target(path)
    if not _is_stream(target):
        # Permissions, quotas and read-only disks: only trying tells.
        _empty_file(target.parent).unlink()


def _target(path: str | os.PathLike[str]) -> Path:
    """File that a path leads to, over all links, if it can be replaced or written to."""
    given = Path(path)
    refusal = f"cannot write {str(given)!r}"
    if given.is_dir():
        raise IsADirectoryError(f"{refusal}: it is a folder")
    if _is_stream(given):
        return given  # what it links to may have no name
    target = Path(os.path.realpath(given))
    if not target.parent.is_dir():
        folder = given.parent if not given.is_symlink() else target.parent
        raise FileNotFoundError(f"{refusal}: there is no folder {str(folder)!r}")
    if target.exists() and not os.access(target, os.W_OK):
        raise PermissionError(f"{refusal}: the file is there and is read-only")
    return target


def _is_stream(path: Path) -> bool:
    """Whether a path is a pipe, a device, or standard output, wherever that leads."""
    return path.exists() and (os.fspath(path) in _OPEN or not path.is_file())


def _empty_file(folder: Path) -> Path:
    temporary = folder / f".hopscale-{secrets.token_hex(8)}.tmp"
    # Not tempfile.mkstemp: its files are for their owner alone, while these are here to stay.
    try:
        os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
    except OSError as error:
        raise type(error)(f"cannot write in the folder {str(folder)!r}: {error.strerror}") from error
    return temporary


def _flush_to_disk(path: Path) -> None:
    """Have the disk hold what was written before the old file goes: a crash may come in between."""
    descriptor = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
