"""The content of a file, or an error that says why it cannot be had."""

from __future__ import annotations

import difflib
import gzip
import os
import zlib
from pathlib import Path

from hopscale.exceptions import FileFormatError

__all__ = ["MissingFileError", "as_text", "content_kind", "existing", "read_content"]

# How files begin that are often taken for text, and what to do with them.
_PACKED = {
    b"PAR1": "a Parquet file: read it with pandas.read_parquet and pass the table to hopscale.from_tables",
    b"PK\x03\x04": "a zip archive: unzip it and name the file in it (an Excel workbook: save it as CSV; NumPy's own "
    "must be called .npz and stand in the place of the edges)",
}


class MissingFileError(FileFormatError, FileNotFoundError):
    """There is no such file."""


def existing(path: str | os.PathLike[str]) -> Path:
    """Path of a file that exists; where it does not, the message names one that is spelt alike."""
    path = Path(path)
    if path.is_dir():
        raise FileFormatError(f"{path} is a directory; name the file in it that holds the graph")
    if not path.exists():
        folder = path.parent
        alike = difflib.get_close_matches(path.name, os.listdir(folder), n=1) if folder.is_dir() else []
        hint = f"did you mean {folder / alike[0]}?" if alike else f"the folder is {folder.absolute()}"
        if not folder.is_dir():
            hint = f"the folder {folder.absolute()} does not exist either"
        raise MissingFileError(f"there is no file {path}; {hint}")
    return path


def content_kind(path: Path) -> str:
    """Suffix that says what is inside, without a final ``.gz``.

    Examples
    --------
    >>> content_kind(Path("edges.csv.gz"))
    '.csv'
    """
    name = path.name.lower()
    return Path(name.removesuffix(".gz")).suffix


def read_content(path: str | os.PathLike[str]) -> bytes:
    """All bytes of a file, unpacked if it is gzip, without a byte order mark."""
    path = existing(path)
    data = path.read_bytes()
    if data[:2] == b"\x1f\x8b":  # by its first bytes: a .gz that a browser has unpacked still works
        try:
            data = gzip.decompress(data)
        except (EOFError, OSError, zlib.error) as error:
            raise FileFormatError(f"{path} cannot be unpacked: it is cut short or damaged ({error})") from error
    if data[:4] in _PACKED:
        raise FileFormatError(f"{path} is {_PACKED[data[:4]]}")
    data = data.removeprefix(b"\xef\xbb\xbf")
    if not data or data.isspace():
        raise FileFormatError(f"{path} is empty")
    return data


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
