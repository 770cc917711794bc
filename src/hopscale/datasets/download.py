"""One file from the web, within bounds of size and time."""

from __future__ import annotations

import re
import threading
from pathlib import Path
from typing import IO, Any
from urllib.parse import urljoin, urlsplit

from tqdm import tqdm

__all__ = ["download", "failure"]

_PATIENCE = 60  # seconds without a byte
_SLOWEST = 10_000  # bytes a second, on average; slower servers are given up
_REDIRECTIONS = 10
_CHUNK = 1 << 16


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

    def run() -> None:
        try:
            _transfer(address, file, limit, progress)
        except (OSError, MemoryError) as error:
            errors.append(error)
        except Exception as error:  # headers, and addresses of redirections, can be anything
            errors.append(OSError(f"the answer makes no sense ({error})"))

    with path.open("wb") as file:  # buffered: no thread can write while it is being closed, or after that
        # Time limits of sockets start anew with every byte, so that only another thread can tell the whole time.
        thread = threading.Thread(target=run, name="hopscale-download", daemon=True)
        thread.start()
        thread.join(seconds)
        if thread.is_alive():
            raise TimeoutError(f"it did not come within {seconds:.0f} seconds")
    if errors:
        raise errors[0]


def _transfer(address: str, file: IO[bytes], limit: int, progress: bool) -> None:
    written, shown = 0, {"unit": "B", "unit_scale": True, "disable": None if progress else True}
    with _answer(address) as response, tqdm(total=_announced(response), **shown) as bar:
        for chunk in response.iter_content(_CHUNK):
            written += len(chunk)
            if written > limit:
                raise OSError(f"it has more than the {limit:,} bytes that were published")
            file.write(chunk)
            bar.update(len(chunk))


def _announced(response: Any) -> int | None:
    """Length that the headers name, if it is one."""
    length = response.headers.get("Content-Length", "")
    return int(length) if re.fullmatch("[0-9]{1,18}", length) else None


def _answer(address: str) -> Any:
    """The answer of the last server that an address leads to, of which only the headers have been read."""
    import requests

    class Session(requests.Session):
        def get_redirect_target(self, resp: requests.Response) -> None:
            """None: requests would read all that comes with a redirection, were it without end, into memory."""

    session = Session()
    for _ in range(_REDIRECTIONS):
        response = session.get(address, stream=True, timeout=_PATIENCE, headers={"Accept-Encoding": "identity"})
        if not response.is_redirect:
            response.raise_for_status()
            return response
        response.close()
        address = urljoin(address, response.headers["Location"])
    raise OSError(f"it leads to more than {_REDIRECTIONS} other addresses")


def failure(error: OSError, address: str) -> str:
    """Why nothing came from an address."""
    from requests import exceptions

    if isinstance(error, exceptions.HTTPError) and error.response is not None:
        return f"{address} was answered with {error.response.status_code} {error.response.reason}"
    if isinstance(error, exceptions.Timeout):
        return f"{address} gave no answer within {_PATIENCE} seconds"
    if isinstance(error, exceptions.InvalidSchema):
        return f"{address} leads to an address that is not of the web"
    if isinstance(error, exceptions.ChunkedEncodingError):
        return f"{address} came only in part: the connection broke off. Try again"
    if isinstance(error, exceptions.ConnectionError):
        last = str(error.request.url if error.request is not None else address)  # after redirections
        return f"{address} cannot be reached: there is no connection to {urlsplit(last).netloc}"
    return f"{address} could not be downloaded: {error}"
