"""Measurements as lines of JSON: appended as they are made, read again by whoever goes on."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hopscale.exceptions import FileFormatError
from hopscale.io.atomic import check_writable

__all__ = ["Record", "Store", "identity"]

Record = dict[str, Any]


def identity(cell: Mapping[str, Any]) -> str:
    """What makes two measurements the same one: all that was asked for, but not how often.

    >>> identity({"b": 1, "a": {"d": 2, "c": 3}})
    '{"a": {"c": 3, "d": 2}, "b": 1}'
    """
    return json.dumps(cell, sort_keys=True)


class Store:
    """The records of one experiment, in one file.

    A record has ``cell`` (what was asked for), ``repeats`` (how many splits or runs) and ``scores``, lists of
    that length. Repeats are seeded by their number, so that of two records of a cell the longer one holds the
    shorter one's figures: it alone counts.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def records(self) -> list[Record]:
        """The longest record of every cell, in the order in which cells were first measured.

        A last line without its end was cut off by an interruption and is not read.
        """
        kept: dict[str, Record] = {}
        if not self.path.exists():
            return []
        lines = self.path.read_text(encoding="utf-8").split("\n")
        for number, line in enumerate(lines[:-1], start=1):
            try:
                record = json.loads(line)
                key, repeats = identity(dict(record["cell"])), int(record["repeats"])
            except (ValueError, KeyError, TypeError) as error:
                raise FileFormatError(
                    f"{self.path}, line {number}: this is no record of an experiment ({error}); remove the line "
                    "or choose another folder"
                ) from error
            if key not in kept or repeats >= kept[key]["repeats"]:
                kept[key] = record
        return list(kept.values())

    def check_writable(self) -> None:
        """Refuse a file that records could not be appended to; its folder is made."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        check_writable(self.path)

    def append(self, record: Record) -> None:
        """Add a record as one whole line, on disk when this returns."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a+b") as file:
            if file.tell() > 0:
                file.seek(-1, os.SEEK_END)
                if file.read(1) != b"\n":  # the rest of a line that was cut off
                    self._drop_last_line(file)
            file.write((json.dumps(record, allow_nan=False) + "\n").encode())
            file.flush()
            os.fsync(file.fileno())

    @staticmethod
    def _drop_last_line(file: Any) -> None:
        file.seek(0)
        whole = file.read().rfind(b"\n") + 1
        file.truncate(whole)
