"""Lines that cannot be read: refused, or skipped and listed."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from hopscale.exceptions import FileFormatError, Setting, warn
from hopscale.io.content import as_text

__all__ = ["BadLines", "blanked"]

_LISTED = 10
_FEW = 5  # bad lines, which are skipped whatever the length of a file
_DETAIL = re.compile("'[^']*'|[0-9]+")  # in which reasons of one kind differ
_ADVICE = ("; to leave such lines out, give ", Setting("skip_bad_lines", True))
_NO_TEXT = re.compile("[\0\udc80-\udcff]")


@dataclass(frozen=True)
class BadLines:
    """What is wrong with lines of a file: the first is refused, or all of them are skipped and told in one warning."""

    path: str | os.PathLike[str]
    skip: bool = False
    unit: str = "line"  # or row, counted from 0, where there are no lines
    why: dict[int, str] = field(default_factory=dict)  # by line, counted from 1

    def add(self, line: int, why: str) -> None:
        """Skip a line, or refuse the file because of it."""
        if not self.skip:
            raise FileFormatError(f"{self.path}, {self.unit} {line}: {why}", *_ADVICE)
        self.why.setdefault(line, why)

    def without_binary(self, data: bytes) -> bytes:
        """Content of which every line is UTF-8 text; those that are not are left blank."""
        if not self.skip:
            try:
                as_text(data, self.path)
            except FileFormatError as error:
                raise FileFormatError(*error.parts, *(() if b"\0" in data else _ADVICE)) from error
            return data
        text = data.decode("utf-8", "surrogateescape")
        wrong: dict[int, str] = {}
        line = last = 0
        for match in _NO_TEXT.finditer(text):
            line += text.count("\n", last, match.start())
            last = match.start()
            wrong[line] = "a NUL byte" if match[0] == "\0" else "not UTF-8 text"
        for at, why in wrong.items():
            self.add(at + 1, why)
        return blanked(data, wrong)

    def warn(self, count: int) -> None:
        """Tell which lines were skipped, if any, while ``count`` rows were read; refuse to skip most of a file."""
        if not self.why:
            return
        if len(self.why) > max(count, _FEW):
            kinds = [_DETAIL.sub("", why) for why in self.why.values()]
            often, times = Counter(kinds).most_common(1)[0]
            line, why = min((line, why) for line, why in self.why.items() if _DETAIL.sub("", why) == often)
            raise FileFormatError(
                f"{self.path}: {len(self.why)} of {len(self.why) + count} {self.unit}s are bad, too many to skip; "
                f"{times} of them as {self.unit} {line}: {why}"
            )
        lines = sorted(self.why)
        listed = ", ".join(f"{self.unit} {line} ({self.why[line]})" for line in lines[:_LISTED])
        more = f" and {len(lines) - _LISTED} more" if len(lines) > _LISTED else ""
        warn(f"{self.path}: {len(lines)} bad {self.unit}(s) skipped, {count} row(s) read: {listed}{more}")


def blanked(data: bytes, lines: Iterable[int]) -> bytes:
    """Content with some lines, counted from 0, left blank: the others keep their numbers.

    >>> blanked(b"0,1\\nx\\n1,2\\n", [1])
    b'0,1\\n\\n1,2\\n'
    """
    pieces = data.split(b"\n")
    for at in lines:
        pieces[at] = b""
    return b"\n".join(pieces)
