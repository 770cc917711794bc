"""Safetensors files whose bytes follow from their content, with a digest of all of them.

The library that reads them writes metadata in the order of a hash table that is another in every process.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["DIGEST", "has_digest", "write_tensors"]

DIGEST = "sha256"  # the entry of the metadata that holds the digest
_BLANK = "0" * 64  # stands for the digest while it is computed

_CHUNK = 1 << 20


def write_tensors(path: Path, tensors: Mapping[str, NDArray[Any]], metadata: Mapping[str, str]) -> None:
    """Write tensors and words, in an order of their own.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_tensors(Path(folder, "t"), {"x": np.zeros(2)}, {"made by": "hand"})
    ...     has_digest(Path(folder, "t"), json.loads(Path(folder, "t").read_bytes()[8:-16])["__metadata__"][DIGEST])
    True
    """
    others = sorted((name, text) for name, text in metadata.items() if name != DIGEST)
    words = {DIGEST: _BLANK, **dict(others)}  # first, where it is found whatever the others say
    entries: dict[str, Any] = {"__metadata__": words}
    contents, end = [], 0
    for name in sorted(tensors, key=lambda name: (-tensors[name].itemsize, name)):  # so that all are aligned
        tensor = tensors[name]
        array = np.ascontiguousarray(tensor, dtype=tensor.dtype.newbyteorder("<"))
        start, end = end, end + array.nbytes
        dtype = f"{array.dtype.kind.upper()}{8 * array.itemsize}"  # F32, I64, ...
        entries[name] = {"dtype": dtype, "shape": tensor.shape, "data_offsets": [start, end]}
        contents.append(array.ravel().view(np.uint8).data)
    header = json.dumps(entries, separators=(",", ":"))
    header += " " * (-len(header) % 8)
    digest = hashlib.sha256(_start(header))
    for content in contents:
        digest.update(content)
    with path.open("wb") as file:
        file.write(_start(header.replace(_BLANK, digest.hexdigest(), 1)))
        for content in contents:
            file.write(content)


def has_digest(path: Path, digest: str) -> bool:
    """Whether a file is as it was written, to the byte; ``digest`` is what its metadata say."""
    with path.open("rb") as file:
        length = file.read(8)
        header = file.read(int.from_bytes(length, "little"))
        found = hashlib.sha256(length + header.replace(digest.encode(), _BLANK.encode(), 1))
        while chunk := file.read(_CHUNK):
            found.update(chunk)
    return found.hexdigest() == digest


def _start(header: str) -> bytes:
    return len(header).to_bytes(8, "little") + header.encode("ascii")
