"""Arrays as ``.npy`` files that are memory-mapped: written whole or in pieces, and validated when they are opened."""

from __future__ import annotations

import json
import mmap
import os
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hopscale.atomic import replacing
from hopscale.exceptions import FileFormatError, in_short
from hopscale.names import name_array

__all__ = ["Bundle", "decoded_text", "encoded_text", "mapped", "release", "save_array", "save_bundle", "save_pieces"]

_ALIGNED = 64  # bytes


def save_array(path: Path, array: NDArray[Any], *, durable: bool = True) -> None:
    """Write an array, whole or not at all."""
    save_pieces(path, array.dtype, array.shape, [array], durable=durable)


def save_pieces(
    path: Path, dtype: Any, shape: tuple[int, ...], pieces: Iterable[NDArray[Any]], *, durable: bool = True
) -> None:
    """Write an array of known shape from pieces that follow each other; they are never held together."""
    dtype = np.dtype(dtype)
    written = 0
    with replacing(path, durable=durable) as temporary, temporary.open("wb") as file:
        header = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(file, header)
        for piece in pieces:
            contiguous = np.ascontiguousarray(piece, dtype=dtype)
            file.write(contiguous.data)
            written += contiguous.size
        if written != np.prod(shape, dtype=np.int64):
            raise FileFormatError(f"{path} got {written} numbers for an array of shape {shape}")


def mapped(path: Path, dtype: Any, shape: tuple[int, ...] | None = None) -> NDArray[Any]:
    """A memory-mapped array of this type and shape, or of any length; anything else is refused."""
    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except FileNotFoundError as error:
        raise FileFormatError(f"{path} is not there") from error
    except Exception as error:  # NumPy raises all kinds of them
        raise FileFormatError(f"{path} is not a whole .npy file ({in_short(error)})") from error
    if not isinstance(array, np.ndarray):  # an .npz archive under another name
        raise FileFormatError(f"{path} is not an .npy file")
    wanted = (array.size,) if shape is None else shape
    if array.dtype != np.dtype(dtype) or array.shape != wanted or not array.flags.c_contiguous:
        raise FileFormatError(
            f"{path} has {array.dtype} of shape {array.shape}, where {np.dtype(dtype)} of shape {wanted} is expected"
        )
    return array


def save_bundle(path: Path, **arrays: NDArray[Any]) -> None:
    """Write several flat arrays into one file, which is there whole or not at all; :class:`Bundle` maps it."""
    places, end = {}, 0
    for name, array in arrays.items():
        places[name] = (array.dtype.str, len(array), end)
        end += -(-array.nbytes // _ALIGNED) * _ALIGNED
    head = json.dumps(places).encode()
    head += b" " * (-(len(head) + 8) % _ALIGNED)
    path.parent.mkdir(exist_ok=True)  # not its parent: a work folder that was removed stays away
    with replacing(path) as temporary, temporary.open("wb") as file:
        file.write(len(head).to_bytes(8, "little") + head)
        for array in arrays.values():
            file.write(np.ascontiguousarray(array).data)
            file.write(bytes(-array.nbytes % _ALIGNED))


class Bundle:
    """Arrays of one file that :func:`save_bundle` has written, memory-mapped.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_bundle(Path(folder, "numbers"), small=np.arange(2), large=np.arange(3.0))
    ...     Bundle(Path(folder, "numbers"))["large"].tolist()
    [0.0, 1.0, 2.0]
    """

    def __init__(self, path: Path) -> None:
        try:
            self.bytes = np.memmap(path, dtype=np.uint8, mode="r")
            self._begin = 8 + int.from_bytes(self.bytes[:8].tobytes(), "little")
            self._places: dict[str, Any] = json.loads(self.bytes[8 : self._begin].tobytes())
        except (OSError, ValueError) as error:
            raise FileFormatError(f"{path}, a file of the work folder, cannot be read ({in_short(error)})") from error

    def __contains__(self, name: str) -> bool:
        return name in self._places

    def __getitem__(self, name: str) -> NDArray[Any]:
        dtype, length, place = self._places[name]
        begin = self._begin + place
        array: NDArray[Any] = self.bytes[begin : begin + length * np.dtype(dtype).itemsize].view(dtype)
        return array


def release(array: NDArray[Any]) -> None:
    """Give back the memory that pages of a mapped array take; they are read again when they are needed."""
    pages = getattr(array, "_mmap", None)
    if pages is not None and hasattr(mmap, "MADV_DONTNEED"):
        pages.madvise(mmap.MADV_DONTNEED)


def encoded_text(names: Iterable[str]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Names as UTF-8, one after the other, and where each begins, with the end of the last.

    >>> encoded_text(["ann", "é"])
    (array([ 97, 110, 110, 195, 169], dtype=uint8), array([0, 3, 5]))
    """
    # Half characters, as undecodable file names have them, are kept as well.
    encoded = [name.encode("utf-8", "surrogatepass") for name in names]
    offsets = np.zeros(len(encoded) + 1, dtype=np.int64)
    np.cumsum([len(name) for name in encoded], out=offsets[1:])
    return np.frombuffer(b"".join(encoded), dtype=np.uint8), offsets


def decoded_text(text: NDArray[np.uint8], offsets: NDArray[np.int64], path: str | os.PathLike[str]) -> NDArray[Any]:
    """Names from UTF-8 and offsets that have been checked.

    >>> decoded_text(*encoded_text(["ann", "é"]), "names")
    array(['ann', 'é'], dtype=object)
    """
    begin = int(offsets[0])
    data = text[begin : int(offsets[-1])].tobytes()
    places = (offsets - begin).tolist()
    try:
        return name_array([data[a:b].decode("utf-8", "surrogatepass") for a, b in pairwise(places)])
    except UnicodeDecodeError as error:
        raise FileFormatError(f"{path} has names that are not UTF-8 text ({error})") from error
