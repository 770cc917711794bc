"""The content of a file, or an error that says why it cannot be had."""

from __future__ import annotations

import difflib
import gzip
import io
import os
import zlib
from pathlib import Path
from typing import Any

from hopscale._core import _native
from hopscale.checks import as_path, in_words, memory_bytes
from hopscale.exceptions import FileFormatError, in_short

__all__ = [
    "MissingFileError",
    "UnreadableFileError",
    "as_text",
    "check_unpacked",
    "content_kind",
    "existing",
    "is_stream",
    "read_content",
    "shown_source",
    "unpacked_limit",
]

LIMIT_VARIABLE = "HOPSCALE_MAX_UNPACKED"
# Edges and features as text pack to between a third and a twentieth, zeros to a thousandth.
_EXPANSION = 100
_LEAST_LIMIT = 2**28

# How files begin that are often taken for text, and what to do with them.
_PACKED = {
    b"PK\x03\x04": "a zip archive: unzip it and name the file in it (an Excel workbook: save it as CSV; NumPy's own "
    "must be called .npz and stand in the place of the edges)",
}


class MissingFileError(FileFormatError, FileNotFoundError):
    """There is no such file."""


class UnreadableFileError(FileFormatError, OSError):
    """The system does not let the file be read."""


def existing(path: Any, what: str = "the graph") -> Path:
    """Path of a file that exists; where it does not, the message names one that is spelt alike."""
    path = as_path(path)
    try:
        if path.is_dir():
            raise FileFormatError(f"{path} is a folder; name the file in it that holds {what}")
        if path.exists():
            return path
        folder = path.parent
        alike = difflib.get_close_matches(path.name, os.listdir(folder), n=1) if folder.is_dir() else []
    except (OSError, ValueError) as error:  # no permission, a name that is too long, a NUL in it
        if isinstance(error, FileFormatError):
            raise
        raise UnreadableFileError(f"{in_short(str(path))} cannot be read: {_reason(error)}") from error
    hint = f"did you mean {folder / alike[0]}?" if alike else f"the folder is {folder.absolute()}"
    if not folder.is_dir():
        hint = f"the folder {folder.absolute()} does not exist either"
    raise MissingFileError(f"there is no file {path}; {hint}")


def content_kind(path: Path) -> str:
    """Suffix that says what is inside, without a final ``.gz``.

    Examples
    --------
    >>> content_kind(Path("edges.csv.gz"))
    '.csv'
    """
    name = path.name.lower()
    return Path(name.removesuffix(".gz")).suffix


def read_content(source: Any, max_unpacked: Any = None) -> bytes:
    """All bytes of a file, or of a stream of bytes, unpacked if it is gzip, without a byte order mark.

    ``max_unpacked`` is that of :func:`unpacked_limit`.
    """
    name = shown_source(source)
    try:
        data = source.read() if is_stream(source) else _bytes_of(existing(source))
    except OSError as error:
        if isinstance(error, FileFormatError):
            raise
        raise UnreadableFileError(f"{name} cannot be read: {_reason(error)}") from error
    if not isinstance(data, bytes):
        raise FileFormatError(f"{name} is a stream of {type(data).__name__}, where one of bytes is expected")
    if data[:2] == b"\x1f\x8b":  # by its first bytes: a .gz that a browser has unpacked still works
        limit = unpacked_limit(len(data), max_unpacked)
        try:
            with gzip.GzipFile(fileobj=io.BytesIO(data)) as packed:
                data = packed.read(limit + 1)
        except (EOFError, OSError, zlib.error) as error:
            raise FileFormatError(f"{name} cannot be unpacked: it is cut short or damaged ({error})") from error
        check_unpacked(len(data), limit, name)
    if data[:4] in _PACKED:
        raise FileFormatError(f"{name} is {_PACKED[data[:4]]}")
    data = data.removeprefix(b"\xef\xbb\xbf")
    if not data or data.isspace():
        raise FileFormatError(f"{name} is empty")
    return data


def _bytes_of(path: Path) -> bytes:
    with open(path, "rb", buffering=0) as file:
        size = os.fstat(file.fileno()).st_size  # 0 of what is no ordinary file
        data = _native.read_bytes(file, size)
        rest = file.read()  # of a file that has grown
    return data + rest if rest else data


def is_stream(source: Any) -> bool:
    """Whether a source is to be read from, and not a path."""
    return hasattr(source, "read") and not isinstance(source, (str, os.PathLike))


def shown_source(source: Any) -> str | os.PathLike[str]:
    """What to call a source in messages."""
    name = str(getattr(source, "name", "a stream")) if is_stream(source) else source
    return "standard input" if name == "<stdin>" else name


def unpacked_limit(size: int, max_unpacked: Any = None) -> int:
    """Bytes that a packed file of ``size`` bytes may grow to.

    ``max_unpacked`` if it is given, else what the environment variable HOPSCALE_MAX_UNPACKED says, else a hundred times
    its size, and at least 256 MiB.

    Examples
    --------
    >>> unpacked_limit(10**9) == 10**11, unpacked_limit(500, "4GiB") == 2**32
    (True, True)
    """
    if max_unpacked is not None:
        return memory_bytes("max_unpacked", max_unpacked)
    if os.environ.get(LIMIT_VARIABLE):
        return memory_bytes(f"the environment variable {LIMIT_VARIABLE}", os.environ[LIMIT_VARIABLE])
    return max(_LEAST_LIMIT, _EXPANSION * size)


def check_unpacked(size: int, limit: int, path: str | os.PathLike[str]) -> None:
    """Refuse what is larger than :func:`unpacked_limit` allows."""
    if size > limit:
        raise FileFormatError(
            f"{path} unpacks to more than {in_words(limit)}, which no graph of its size should. If you trust it, set "
            f"the environment variable {LIMIT_VARIABLE} to a larger size, such as 16GiB"
        )


def as_text(data: bytes, path: str | os.PathLike[str]) -> str:
    """Content as text; what is no text is refused with its line."""
    nul = data.find(b"\0")
    if nul >= 0:
        raise FileFormatError(
            f"{path}, line {_line(data, nul)}: a NUL byte; this is a binary file, or text that is not UTF-8"
        )
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise FileFormatError(
            f"{path}, line {_line(data, error.start)}: byte 0x{data[error.start]:02x} is not UTF-8 text"
        ) from error


def _line(data: bytes, position: int) -> int:
    return data.count(b"\n", 0, position) + 1


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)
