"""Files that appear whole or not at all."""

from __future__ import annotations

import functools
import hashlib
import os
import platform
import re
import secrets
import shutil
import stat
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from hopscale.exceptions import HopscaleError, OutputError

if sys.platform != "win32":
    import fcntl

__all__ = ["check_writable", "flush_to_disk", "only_writer", "replacing", "wait_for_lock"]

_OPEN = {"/dev/stdout": 1, "/dev/stderr": 2}

_TEMPORARY = re.compile(r"\.hopscale-([0-9a-f]{8})-[0-9a-f]{16}\.tmp")
_OLD = 24 * 3600  # seconds without a change: long enough for any writer, and for clocks that differ


@contextmanager
def replacing(path: str | os.PathLike[str], *, follow_links: bool = True, durable: bool = True) -> Iterator[Path]:
    """Give a temporary file to write into, which takes the place of ``path`` once it is complete.

    Until then a file that was there before stays as it is. If writing fails or is interrupted, the temporary file is
    removed and nothing else has happened; what a killed process left in the folder is removed as well. A file that
    cannot be written is an OutputError, at once where that can be known. What is no regular file, such as
    ``/dev/stdout``, cannot be replaced and is written to at the end. The temporary file is to be written to: another
    file that is moved into its place may be taken for one that a killed process left.

    Parameters
    ----------
    path : path-like
    follow_links : bool, default=True
        Write to the file that a link leads to. If False, the link itself is replaced, and so is a file that is
        read-only, but nothing else.
    durable : bool, default=True
        Wait until the disk holds the file. Without it, other processes see the file whole or not at all as well, but
        a machine that loses its power may lose what was in it.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with replacing(f"{folder}/numbers.txt") as temporary:
    ...         _ = temporary.write_text("1 2 3")
    ...     [file.name for file in Path(folder).iterdir()]
    ['numbers.txt']
    """
    target = _target(path, follow_links)
    special = follow_links and _is_stream(target)
    try:
        with _temporary_file(Path(tempfile.gettempdir()) if special else target.parent) as temporary:
            replaces_file = follow_links and target.is_file()  # else its mode is of no account
            mode = stat.S_IMODE((target if replaces_file else temporary).stat().st_mode)
            yield temporary
            if special:
                # Opened anew, a redirected stream would begin at its file's start.
                opened = _OPEN.get(os.fspath(target))
                with temporary.open("rb") as content, open(os.dup(opened) if opened else target, "wb") as sink:
                    shutil.copyfileobj(content, sink)
                return
            os.chmod(temporary, mode)
            if durable:
                flush_to_disk(temporary)
            os.replace(temporary, target)
        if durable and os.name == "posix":  # elsewhere a folder cannot be opened
            flush_to_disk(target.parent)
    except HopscaleError:
        raise
    except OSError as error:
        raise _refusal(f"cannot write {os.fspath(path)!r}", error) from error


def check_writable(path: str | os.PathLike[str]) -> None:
    """Refuse a path that could not be written to, before long work is done for it.

    Examples
    --------
    >>> check_writable("no such folder/vectors.csv")
    Traceback (most recent call last):
    ...
    hopscale.exceptions.OutputError: cannot write 'no such folder/vectors.csv': there is no folder 'no such folder'
    """
    target = _target(path)
    if not _is_stream(target):
        with _temporary_file(target.parent):
            pass  # permissions, quotas and read-only disks: only trying tells


def wait_for_lock(file: IO[bytes]) -> None:
    """Keep other processes that call this for the same file waiting until it is closed, where files can be locked."""
    if sys.platform != "win32":
        with suppress(OSError):  # a file system without locks
            fcntl.flock(file, fcntl.LOCK_EX)


@contextmanager
def only_writer(folder: Path) -> Iterator[None]:
    """Refuse a folder that another run works in, and keep others from it meanwhile, where files can be locked.

    A file beside the folder, with ``.lock`` after its name, is locked and says who has done so. The system lifts the
    lock when the process ends, however it ends.
    """
    if sys.platform == "win32":  # open files cannot be removed there
        yield
        return
    lock = folder.with_name(f"{folder.name}.lock")
    while True:
        try:
            lock.parent.mkdir(parents=True, exist_ok=True)
            file = lock.open("a+b", buffering=0)
        except OSError as error:
            raise _refusal(f"cannot write {str(lock)!r}", error) from error
        with file:
            locked = _locked(file)
            if locked is False:
                file.seek(0)
                who = file.read(200).decode(errors="replace") or "it has just begun"
                raise OutputError(
                    f"another run is working in {str(folder)!r} ({who}): wait until it has ended, or name another "
                    "folder"
                )
            if not _is_at(file, lock):
                continue  # the one that had locked it has removed it
            try:
                file.truncate(0)
                file.write(f"process {os.getpid()} on {platform.node()}".encode())
                yield
            finally:
                lock.unlink(missing_ok=True)
            return


def _is_at(file: IO[bytes], path: Path) -> bool:
    """Whether an open file is still the one that a path names."""
    try:
        return os.path.samestat(os.fstat(file.fileno()), os.stat(path))
    except FileNotFoundError:
        return False


def _target(path: str | os.PathLike[str], follow_links: bool = True) -> Path:
    """File that a path leads to, over links if asked to, if it can be replaced or written to."""
    given = Path(path)
    refusal = f"cannot write {str(given)!r}"
    try:
        kind = (os.stat if follow_links else os.lstat)(given).st_mode
    except FileNotFoundError:
        kind = 0
    except (OSError, ValueError) as error:  # a loop of links, a name that is too long, ...
        raise _refusal(refusal, error) from error
    if stat.S_ISDIR(kind):
        raise OutputError(f"{refusal}: it is a folder")
    if not follow_links and kind and not (stat.S_ISREG(kind) or stat.S_ISLNK(kind)):
        raise OutputError(f"{refusal}: it is no regular file")
    if follow_links and _is_stream(given):
        return given  # what it links to may have no name
    target = Path(os.path.realpath(given)) if follow_links else Path(os.path.realpath(given.parent), given.name)
    if not target.parent.is_dir():
        folder = given.parent if not given.is_symlink() else target.parent
        raise OutputError(f"{refusal}: there is no folder {str(folder)!r}")
    if follow_links and stat.S_ISREG(kind) and not os.access(target, os.W_OK):
        raise OutputError(f"{refusal}: the file is there and is read-only")
    return target


def _is_stream(path: Path) -> bool:
    """Whether a path is a pipe, a device, or standard output, wherever that leads."""
    return path.exists() and (os.fspath(path) in _OPEN or not path.is_file())


@contextmanager
def _temporary_file(folder: Path) -> Iterator[Path]:
    """An empty file in a folder, which is removed at the end unless it was moved.

    It is locked meanwhile: the system lifts the lock when the process ends, however it ends, and :func:`_sweep` removes
    files that nobody has locked.
    """
    _sweep(folder)
    while True:
        temporary = folder / f".hopscale-{_host()}-{secrets.token_hex(8)}.tmp"
        try:
            with _new_file(temporary) as file:
                if _locked(file) is False or not temporary.exists():
                    continue  # another process has swept it before it was locked
                if sys.platform == "win32":
                    file.close()  # open files cannot be moved there
                yield temporary
                return
        finally:
            temporary.unlink(missing_ok=True)


def _new_file(path: Path) -> IO[bytes]:
    # Not tempfile.mkstemp: its files are for their owner alone, while these are here to stay.
    try:
        return path.open("xb", buffering=0)
    except OSError as error:
        raise _refusal(f"cannot write in the folder {str(path.parent)!r}", error) from error


def _sweep(folder: Path) -> None:
    """Remove temporary files of this user's processes that were killed.

    A file that is locked has a writer. One that is not has lost its writer if both run on the same system; locks of
    another system that shares the folder may be invisible here, so its files must be old as well.
    """
    if sys.platform == "win32":
        return
    try:
        names = os.listdir(folder)
    except OSError:  # a folder that may be written to, but not read
        return
    for name in filter(_TEMPORARY.fullmatch, names):
        with suppress(OSError):  # gone meanwhile, or not ours to remove
            descriptor = os.open(folder / name, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
            with open(descriptor, "r+b", buffering=0) as file:
                found = os.fstat(descriptor)
                if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid():
                    continue
                locked, old = _locked(file), time.time() - found.st_mtime > _OLD
                if (locked and f"-{_host()}-" in name) or (locked is not False and old):
                    os.unlink(folder / name)


def _locked(file: IO[bytes]) -> bool | None:
    """True if the file is locked now, False if another process has locked it, None where files cannot be locked."""
    if sys.platform != "win32":
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError:
            return None
        return True
    return None


@functools.cache
def _host() -> str:
    """A name for the running system, within which locks are seen by all: containers share it, machines do not."""
    try:
        name = Path("/proc/sys/kernel/random/boot_id").read_text()
    except OSError:
        name = platform.node()
    return hashlib.sha256(name.encode()).hexdigest()[:8]


def _refusal(what: str, error: Exception) -> OutputError:
    refusal = OutputError(f"{what}: {getattr(error, 'strerror', None) or error}")
    refusal.errno = getattr(error, "errno", None)
    return refusal


def flush_to_disk(path: Path) -> None:
    """Have the disk hold what was written before the old file goes: a crash may come in between."""
    descriptor = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
