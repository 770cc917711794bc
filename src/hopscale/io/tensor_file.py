"""One open safetensors file that hopscale has written, whose content is validated as it is read."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from hopscale.exceptions import FileFormatError
from hopscale.io.name_bytes import restored_names
from hopscale.names import repeated_name

__all__ = ["VERSION", "TensorFile", "with_prefix"]

_File = TypeVar("_File", bound="TensorFile")

VERSION = "hopscale_version"  # the entry of the metadata that says who wrote the file


def with_prefix(prefix: str, entries: Mapping[str, Any]) -> dict[str, Any]:
    """Tensors or metadata of a part of a file, as :meth:`TensorFile.part` finds them.

    >>> with_prefix("embedder.", {"model": "AE"})
    {'embedder.model': 'AE'}
    """
    return {prefix + name: entry for name, entry in entries.items()}


class TensorFile:
    """Tensors and metadata of a file, or of a part of one.

    Parameters
    ----------
    path : Path
        For messages.
    tensors : object
        What ``safetensors.safe_open`` gives.
    metadata : mapping of str to str
    prefix : str
        Which the names of all tensors begin with.
    """

    dtypes: ClassVar[Mapping[str, str]] = {}  # of tensors of numbers; all others are F32

    def __init__(self, path: Path, tensors: Any, metadata: Mapping[str, str], prefix: str = "") -> None:
        self._path, self._tensors, self._prefix = path, tensors, prefix
        self.metadata = dict(metadata)

    def part(self: _File, prefix: str) -> _File:
        """The part of the file whose names begin with ``prefix``."""
        own = {name.removeprefix(prefix): text for name, text in self.metadata.items() if name.startswith(prefix)}
        if VERSION in self.metadata:
            own[VERSION] = self.metadata[VERSION]
        return type(self)(self._path, self._tensors, own, self._prefix + prefix)

    def wrong(self, what: str) -> FileFormatError:
        """The error to raise, with the versions that matter."""
        written = self.metadata.get(VERSION, "an unknown version")
        return FileFormatError(
            f"{self._path}: {what} (written by hopscale {written[:50]}, this is {version('hopscale')})"
        )

    # Metadata.

    def fact(self, name: str, missing: Any = None) -> Any:
        """An entry of the metadata; without a value for ``missing``, it must be there."""
        if name not in self.metadata and missing is not None:
            return missing
        if name not in self.metadata:
            raise self.wrong(f"there is no {self._prefix + name!r}")
        return self._parsed(self.metadata[name], repr(name))

    def count(self, name: str) -> int:
        """A whole number of the metadata."""
        value = self.fact(name)
        if type(value) is not int or not 0 <= value < 2**63:
            raise self.wrong(f"{name!r} is not a whole number")
        return value

    # Tensors.

    def has(self, name: str) -> bool:
        """Whether there is a tensor of that name."""
        return self._prefix + name in self._tensors.keys()  # noqa: SIM118 (not a mapping)

    def numbers(
        self,
        name: str,
        shape: tuple[int, ...],
        *,
        least: float = -math.inf,
        largest: float = math.inf,
        dtypes: Sequence[str] = (),
    ) -> NDArray[Any]:
        """A tensor of finite numbers of at least ``least``, and within ±``largest``, of one of some types."""
        expected = dtypes or (self.dtypes.get(name, "F32"),)
        found = self.kind(name)
        if found[0] not in expected or found[1] != shape:
            raise self.wrong(
                f"the tensor {name!r} is {found[0]} of shape {found[1]}; expected {' or '.join(expected)} of shape "
                f"{shape}"
            )
        tensor = self._tensor(name)
        if not np.isfinite(tensor).all():
            raise self.wrong(f"the tensor {name!r} has values that are not finite")
        if tensor.min(initial=0.0) < least:
            raise self.wrong(f"the tensor {name!r} has values below {least:g}")
        if largest < math.inf and np.abs(tensor).max(initial=0.0) > largest:
            raise self.wrong(f"the tensor {name!r} has values beyond ±{largest:g}")
        return tensor

    def names(self, name: str) -> NDArray[Any]:
        """A tensor of distinct names."""
        dtype, shape = self.kind(name)
        if dtype not in ("I64", "U8") or len(shape) != 1:
            raise self.wrong(f"the tensor {name!r} is {dtype} of shape {shape}; expected a row of I64 or of U8")
        if dtype == "I64":
            tensor = self._tensor(name)
        else:
            try:
                tensor = restored_names(self.document(name))
            except ValueError as error:
                if isinstance(error, FileFormatError):
                    raise
                raise self.wrong(f"the tensor {name!r} cannot be read: {error}") from error
        if repeated_name(tensor, name) is not None:
            raise self.wrong(f"the tensor {name!r} has a name twice")
        return tensor

    def document(self, name: str) -> Any:
        """A tensor of bytes that are JSON."""
        dtype, shape = self.kind(name)
        if dtype != "U8" or len(shape) != 1:
            raise self.wrong(f"the tensor {name!r} is {dtype} of shape {shape}; expected a row of U8")
        return self._parsed(self._tensor(name).tobytes(), f"the tensor {name!r}")

    def kind(self, name: str) -> tuple[str, tuple[int, ...]]:
        """Type and shape of a tensor, which must be there."""
        if not self.has(name):
            raise self.wrong(f"there is no tensor {self._prefix + name!r}")
        header = self._tensors.get_slice(self._prefix + name)
        return header.get_dtype(), tuple(header.get_shape())

    def _tensor(self, name: str) -> NDArray[Any]:
        return np.asarray(self._tensors.get_tensor(self._prefix + name))

    def _parsed(self, text: str | bytes, what: str) -> Any:
        try:
            return json.loads(text)
        except (ValueError, RecursionError) as error:
            raise self.wrong(f"{what} is not JSON ({error})") from error
