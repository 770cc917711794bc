"""One file from the web, within bounds of size and time."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import IO
from urllib.parse import urlsplit

__all__ = ["download", "failure"]

_PATIENCE = 60  # seconds without a byte
_SLOWEST = 10_000  # bytes a second, on average; slower servers are given up
_CHUNK = 1 << 16


class _TooLargeError(OSError):
    """More bytes came than were expected."""


class _Limited:
    """A file for writing that refuses what exceeds its limit."""

    def __init__(self, file: IO[bytes], limit: int) -> None:
        self._file, self._limit, self._written = file, limit, 0

    def write(self, content: bytes) -> int:
        self._written += len(content)
        if self._written > self._limit:
            raise _TooLargeError(f"it has more than the {self._limit:,} bytes that were published")
        return self._file.write(content)

    def flush(self) -> None:
        self._file.flush()


def download(address: str, path: Path, limit: int, *, progress: bool = False) -> None:
    """Write what is at an address to a file: at most ``limit`` bytes, within a time that follows from these.

    Parameters
    ----------
    address : str
        Of http or https, and so is every address that it leads to.
    path : Path
    limit : int
        Number of bytes.
    progress : bool, default=False
        Show a bar.

    Raises
    ------
    OSError
        If it could not be had; :func:`failure` says why.
    """
    seconds = _PATIENCE + limit / _SLOWEST
    errors: list[Exception] = []
    with path.open("wb") as file:  # buffered: no thread writes while it is being closed, or after that
        # Time limits of sockets start anew with every byte, so that only another thread can tell the whole time.
        thread = threading.Thread(
            target=_transfer, args=(address, _Limited(file, limit), progress, errors), name="hopscale", daemon=True
        )
        thread.start()
        thread.join(seconds)
        if thread.is_alive():
            raise TimeoutError(f"it did not come within {seconds:.0f} seconds")
    if errors:
        raise errors[0]


def _transfer(address: str, file: _Limited, progress: bool, errors: list[Exception]) -> None:
    import pooch

    fetch = pooch.HTTPDownloader(
        progressbar=progress, chunk_size=_CHUNK, timeout=_PATIENCE, headers={"Accept-Encoding": "identity"}
    )
    try:
        fetch(address, file, None)
    except (OSError, MemoryError) as error:
        errors.append(error)
    except Exception as error:  # headers and addresses of a redirection can be anything
        errors.append(OSError(f"the answer makes no sense ({error})"))


def failure(error: OSError, address: str) -> str:
    """Why nothing came from an address."""
    from requests import exceptions

    if isinstance(error, exceptions.HTTPError) and error.response is not None:
        return f"{address} was answered with {error.response.status_code} {error.response.reason}"
    if isinstance(error, exceptions.Timeout):
        return f"{address} gave no answer within {_PATIENCE} seconds"
    if isinstance(error, exceptions.ChunkedEncodingError):
        return f"{address} came only in part: the connection broke off. Try again"
    if isinstance(error, exceptions.ConnectionError):
        return f"{address} cannot be reached: there is no connection to {urlsplit(address).netloc}"
    return f"{address} could not be downloaded: {error}"
