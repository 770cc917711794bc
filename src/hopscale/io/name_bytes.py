"""Names, and other plain values, as arrays that files hold: whole numbers, or the bytes of a JSON list. No pickle."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hopscale.exceptions import ParameterError, in_short
from hopscale.names import name_array

__all__ = ["as_json", "encoded_names", "is_name", "restored_names", "with_tuples"]

_MOST_NESTED = 32  # tuples in tuples


def encoded_names(names: NDArray[Any], what: str) -> NDArray[Any]:
    """Names as int64, or as JSON in which tuples are lists; those that JSON has not are refused.

    Examples
    --------
    >>> encoded_names(name_array(["a", ("b", 1)]), "node id").tobytes()
    b'["a", ["b", 1]]'
    """
    if names.dtype == np.int64:
        return names
    listed = names.tolist()
    for name in listed:
        if not is_name(name, sequence=tuple):
            raise ParameterError(
                f"cannot save the {what} {in_short(name)} ({type(name).__name__}): names in a file are text, "
                f"finite numbers, booleans or tuples of these, at most {_MOST_NESTED} deep"
            )
    try:
        return as_json(listed)
    except ValueError as error:  # thousands of digits
        raise ParameterError(f"cannot save a {what}: {error}") from error


def restored_names(listed: Any) -> NDArray[Any]:
    """Names of a JSON list; a ValueError if it is none."""
    if not isinstance(listed, list) or not all(map(is_name, listed)):
        raise ValueError("it does not hold a list of names")
    return name_array(map(with_tuples, listed))


def as_json(value: Any) -> NDArray[np.uint8]:
    """JSON as bytes. ASCII escapes also carry what UTF-8 cannot: half characters from undecodable file names."""
    return np.frombuffer(json.dumps(value).encode("ascii"), dtype=np.uint8)


def is_name(name: Any, sequence: type[list[Any]] | type[tuple[Any, ...]] = list, nested: int = _MOST_NESTED) -> bool:
    """Whether JSON holds a name as it is, but for ``sequence``, which stands for tuples."""
    if isinstance(name, sequence):
        return nested > 0 and all(is_name(part, sequence, nested - 1) for part in name)
    return isinstance(name, (str, int)) or (isinstance(name, float) and math.isfinite(name))


def with_tuples(name: Any) -> Any:
    """A name with tuples for the lists that JSON has for them."""
    return tuple(map(with_tuples, name)) if isinstance(name, list) else name
