"""Arrays as text within a page: base64 of their bytes, compressed where that helps, each with a description."""

from __future__ import annotations

import base64
import json
import zlib
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hopscale.io.vectors import name_text

__all__ = ["Blocks"]

_TYPES = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "float32")  # that the page knows
_HELPS = 0.95  # of the size, below which compressed bytes are kept
_EXACT = 2**53  # beyond it, JavaScript does not tell whole numbers apart


@dataclass
class Blocks:
    """Arrays by name, as text and as facts about that text.

    Examples
    --------
    >>> blocks = Blocks()
    >>> blocks.add("degree", np.array([1, 2], dtype=np.uint8))
    >>> blocks.texts, blocks.facts
    ({'degree': 'AQI='}, {'degree': {'type': 'uint8', 'packed': False}})
    """

    texts: dict[str, str] = field(default_factory=dict)
    facts: dict[str, dict[str, Any]] = field(default_factory=dict)

    def add(self, name: str, array: NDArray[Any], **more: Any) -> None:
        """Add an array of one of the types that pages know."""
        kind = array.dtype.name
        if kind not in _TYPES:
            raise TypeError(f"pages hold {', '.join(_TYPES)}, not {kind}")
        little = array.astype(array.dtype.newbyteorder("<"), copy=False)
        self._put(name, np.ascontiguousarray(little).tobytes(), {"type": kind, **more})

    def add_json(self, name: str, value: Any) -> None:
        """Add a list of texts."""
        self._put(name, json.dumps(value).encode("ascii"), {"type": "json"})

    def add_names(self, name: str, names: NDArray[Any]) -> None:
        """Add names of nodes or features: whole numbers as differences, all others as text."""
        if names.dtype == np.int64 and len(names) and max(-int(names.min()), int(names.max())) < _EXACT:
            steps = np.diff(names, prepend=names[:1])
            if np.abs(steps).max() < 2**31:
                self.add(name, steps.astype(np.int32), start=int(names[0]))
                return
        self.add_json(name, [name_text(each) for each in names.tolist()])

    def _put(self, name: str, raw: bytes, facts: dict[str, Any]) -> None:
        packed = zlib.compress(raw, 6)
        is_smaller = len(packed) < _HELPS * len(raw)
        self.texts[name] = base64.b64encode(packed if is_smaller else raw).decode("ascii")
        self.facts[name] = {**facts, "packed": is_smaller}
