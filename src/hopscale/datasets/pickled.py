"""Arrays in the pickles of planetoid, taken as data: none of their instructions runs code of their choice.

A pickle is a program that may call whatever it names. Here it can name six things only. Arrays, types and matrices
among them become plain records, from which NumPy and SciPy objects are made and checked afterwards.
"""

from __future__ import annotations

import io
import pickle
from collections import defaultdict
from typing import Any, NoReturn

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hopscale.exceptions import FileFormatError

__all__ = ["unpickled"]

_NUMBERS = {"i4", "i8", "f4", "f8"}


def unpickled(content: bytes, path: str) -> Any:
    """What a pickle of Python 2 or 3 holds: an array of numbers, a CSR matrix or a dict of lists.

    One that is broken, holds anything else or names anything but arrays and containers is a FileFormatError, which
    calls the file ``path``.

    >>> unpickled(b"cos\\nsystem\\n(S'true'\\ntR.", "ind.cora.graph")
    Traceback (most recent call last):
    hopscale.exceptions.FileFormatError: ind.cora.graph asks for os.system, which is not needed to read numbers: refused
    """
    try:
        return _plain(_Reader(io.BytesIO(content), path).load())
    except FileFormatError:
        raise
    except Exception as error:  # a broken pickle may fail in any way
        raise FileFormatError(f"{path} is not a pickle of numbers: {error}") from error


class _Dtype:
    """Record of a type: its code, and whether the bytes are in the order of this machine's kind."""

    def __init__(self, code: str, *_: Any) -> None:
        self.code = code

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self.order = state[1]


class _Array:
    """Record of an array: its shape, type, order and bytes."""

    def __init__(self, *_: Any) -> None:
        pass

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        _, self.shape, self.dtype, self.by_column, self.content = state


class _Matrix:
    """Record of a CSR matrix: its attributes."""


_NAMED: dict[tuple[str, str], Any] = {
    ("builtins", "list"): list,
    ("collections", "defaultdict"): defaultdict,
    ("numpy", "dtype"): _Dtype,
    ("numpy", "ndarray"): _Array,
    ("numpy.core.multiarray", "_reconstruct"): _Array,
    ("numpy._core.multiarray", "_reconstruct"): _Array,
    ("scipy.sparse.csr", "csr_matrix"): _Matrix,
    ("scipy.sparse._csr", "csr_matrix"): _Matrix,
}


class _Reader(pickle._Unpickler):  # type: ignore[name-defined,misc]
    """Python's reader, not that in C: there a hundred bytes that number their last object 10⁹ ask for 16 GB."""

    def __init__(self, file: io.BytesIO, path: str) -> None:
        super().__init__(file, encoding="latin1")  # as which Python 2 wrote bytes
        self._path = path

    def find_class(self, module: str, name: str) -> Any:
        module = {"__builtin__": "builtins"}.get(module, module)
        if (module, name) not in _NAMED:
            raise FileFormatError(
                f"{self._path} asks for {module}.{name}, which is not needed to read numbers: refused"
            )
        return _NAMED[module, name]

    def persistent_load(self, pid: Any) -> NoReturn:
        raise FileFormatError(f"{self._path} refers to something outside the file: refused")


def _plain(value: Any) -> Any:
    if isinstance(value, _Array):
        return _numbers(value)
    if isinstance(value, _Matrix):
        parts = vars(value)
        data, indices, indptr = (_numbers(parts[part]) for part in ("data", "indices", "indptr"))
        matrix = sp.csr_array((data, indices, indptr), shape=parts["_shape"])
        matrix.check_format(full_check=True)
        return matrix
    if isinstance(value, dict):
        return dict(value)
    raise TypeError(f"it holds a {type(value).__name__}")


def _numbers(array: _Array) -> NDArray[Any]:
    if array.dtype.code not in _NUMBERS:
        raise TypeError(f"it has an array of type {array.dtype.code}")
    content = array.content.encode("latin1") if isinstance(array.content, str) else array.content
    flat = np.frombuffer(content, dtype=array.dtype.order + array.dtype.code)
    return flat.reshape(array.shape, order="F" if array.by_column else "C")
