"""Names of nodes, features and classes as pictures and pages show them: on one line, short and in an order."""

from __future__ import annotations

import re
import unicodedata
from typing import Any

from hopscale.io.vectors import name_text

__all__ = ["in_order", "isolated", "short_text"]

_LONGEST = 28  # characters of a name that are shown
_TAIL = 3  # of a shortened name, one character in so many is of its end
_ISOLATE, _END = "\u2068", "\u2069"  # first strong isolate, pop directional isolate


def in_order(names: list[Any]) -> list[Any]:
    """Sorted, where names of their types can be; numbers within text count as numbers.

    >>> in_order(["team 10", "team 9"]), in_order([2, 1]), in_order([2, "1"])
    (['team 9', 'team 10'], [1, 2], [2, '1'])
    """
    try:
        return sorted(names, key=_order if all(isinstance(name, str) for name in names) else None)
    except TypeError:
        return names


def _order(name: str) -> tuple[list[str | int], str]:
    parts: list[str | int] = list(re.split(r"([0-9]+)", name))  # texts and numbers take turns, texts first
    parts[1::2] = [int(digits) for digits in parts[1::2]]
    return parts, name


def short_text(name: Any, longest: int = _LONGEST) -> str:
    """A name on one line, without characters that no font has, and without its middle where it is long.

    Names that begin alike, such as those of the values of one column, often differ at their ends.

    >>> short_text("bio=likes tea and maths", 12), short_text("two\\nlines")
    ('bio=like…ths', 'two lines')
    """
    kinds = {"Cc": " ", "Zl": " ", "Zp": " ", "Cs": "\ufffd"}  # control characters, line ends, half characters
    plain = "".join(kinds.get(unicodedata.category(sign), sign) for sign in name_text(name))
    text = " ".join(plain.split())
    if len(text) <= longest:
        return text
    tail = longest // _TAIL - 1
    return f"{text[: longest - tail - 1]}…{text[len(text) - tail :]}"


def isolated(text: str) -> str:
    """Text for the middle of a line: what is written from right to left does not take the rest of the line along.

    >>> isolated("tea"), isolated("שלום") == "\\u2068שלום\\u2069"
    ('tea', True)
    """
    is_mixed = any(unicodedata.bidirectional(sign) in ("R", "AL", "AN") for sign in text)
    return f"{_ISOLATE}{text}{_END}" if is_mixed else text
