"""Measurements, and the values that the paper printed.

Measurements are lines of JSON, appended as they are made, so that an interrupted run can be continued. Each is of one
fit; pages show those of several fits of the same cell together.
"""

from __future__ import annotations

import csv
import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from hopscale.atomic import check_writable, wait_for_lock
from hopscale.exceptions import FileFormatError, OutputError
from hopscale.paper.methods import SOLVERS

__all__ = [
    "Agreements",
    "Measurements",
    "Record",
    "Store",
    "comparable",
    "contains",
    "identity",
    "records_of",
    "reference_values",
    "trained_on_device",
    "whatever_seed",
]

Record = dict[str, Any]


def identity(cell: Mapping[str, Any]) -> str:
    """Key of a measurement: everything that was requested except the number of repeats.

    >>> identity({"b": 1, "a": {"d": 2, "c": 3}})
    '{"a": {"c": 3, "d": 2}, "b": 1}'
    """
    return json.dumps(cell, sort_keys=True)


def whatever_seed(cell: Mapping[str, Any]) -> str:
    """Key of all fits of a cell, which differ in their seeds."""
    return identity({key: value for key, value in cell.items() if key != "seed"})


def contains(record: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether a record was made by the same code as another of its cell, and has more repeats.

    >>> contains({"repeats": 10, "sources": "a"}, {"repeats": 5, "sources": "a"})
    True
    >>> contains({"repeats": 10, "sources": "a"}, {"repeats": 5, "sources": "b"})
    False
    """
    return bool(record["repeats"] > other["repeats"]) and record.get("sources") == other.get("sources")


class Agreements:
    """Which codes measure the same: pairs of hashes whose scores were compared, lines of ``records/agreements.jsonl``.

    Any change of a file that computes makes other code of it, a comment as well. Where cells that other code had
    measured were measured once more, such that all that makes an experiment's records was among them, and all scores
    were the same, both codes count as one in this experiment. A line has the pair ``sources``, the older one first,
    ``cells``, which were the same, ``differing``, which were not, and ``experiments``, in which that and earlier lines
    are enough. A cell that differed speaks against its pair until it is measured again and is the same.

    Parameters
    ----------
    folder : Path
    experiment : str, optional
        Pairs that agree in this one alone; by default those that agree in any.
    """

    def __init__(self, folder: Path, experiment: str | None = None) -> None:
        self.path, self._experiment = folder / "records" / "agreements.jsonl", experiment

    def lines(self) -> list[Record]:
        """All comparisons, in the order in which they were made."""
        return list(_lines(self.path, lambda line: [[str(code) for code in line["sources"]][1], line["experiments"]]))

    def compared(self) -> dict[tuple[str, str], dict[str, bool]]:
        """By pair of codes, the cells that were compared, and whether they were the same when they last were."""
        pairs: dict[tuple[str, str], dict[str, bool]] = {}
        for line in self.lines():
            cells = pairs.setdefault((line["sources"][0], line["sources"][1]), {})
            cells |= dict.fromkeys(line["cells"], True) | dict.fromkeys(line.get("differing", ()), False)
        return pairs

    def pairs(self) -> dict[tuple[str, str], dict[str, bool]]:
        """The same of the pairs that agree in the experiment."""
        enough = {
            tuple(line["sources"])
            for line in self.lines()
            if (self._experiment in line["experiments"] if self._experiment else line["experiments"])
        }
        return {pair: cells for pair, cells in self.compared().items() if pair in enough and all(cells.values())}

    def add(self, older: str, newer: str, cells: Mapping[str, bool], experiments: Sequence[str]) -> None:
        """Say which cells of two codes are the same or not, and in which experiments that is enough."""
        same = [name for name, alike in cells.items() if alike]
        line: Record = {"sources": [older, newer], "experiments": list(experiments), "cells": same}
        if differing := [name for name, alike in cells.items() if not alike]:
            line["differing"] = differing
        _append(self.path, line)

    def first(self, code: str | None) -> str | None:
        """The first named of all codes that a code agrees with, directly or through others; itself if there is none.

        >>> Agreements(Path("nowhere")).first("abc")
        'abc'
        """
        pairs = list(self.pairs())
        agreeing, before = {code}, 0
        while len(agreeing) > before:
            before = len(agreeing)
            agreeing.update(*(pair for pair in pairs if not agreeing.isdisjoint(pair)))
        return next((each for pair in pairs for each in pair if each in agreeing), code)


class Store:
    """The records of one experiment, in one file.

    A record has ``cell`` (what was requested), ``repeats`` (number of splits or runs), ``scores``, lists of that
    length, and ``sources``, the hash of the code that made it; records from before there was one have none. Repeats are
    seeded by their number: of two records of a cell by the same code, the longer one contains the shorter one and
    replaces it. Of those by different code the later one counts. Records that are read have ``code`` as well, the hash
    as it was written; their ``sources`` are the same for all codes that agree.

    What both solvers learn depends on a seed as well, so that they are fitted with several seeds, one after the other.
    Each fit has a record of its own, whose cell has the seed: a run that is stopped loses one fit at most, and fits of
    several runs or machines count together once their lines are in one file.
    """

    def __init__(self, path: Path, agreements: Agreements | None = None) -> None:
        self.path, self._agreements = path, agreements

    def records(self) -> list[Record]:
        """The record of every cell that counts, in the order in which cells were first measured.

        Those of several fits are one record, with ``fits`` and a list of scores for each.
        """
        cells: dict[str, list[Record]] = {}
        for record in self.fits():
            key = whatever_seed(record["cell"]) if _is_of_a_fit(record) else identity(record["cell"])
            cells.setdefault(key, []).append(record)
        return [record for fits in cells.values() for record in _joined(fits)]

    def fits(self) -> list[Record]:
        """The same, with a record for each fit. Of fits by different code those count that the latest one is by."""
        every, latest = self._kept()
        return [
            record
            for record in every
            if not _is_of_a_fit(record) or record.get("sources") == latest[whatever_seed(record["cell"])]
        ]

    def every(self) -> list[Record]:
        """The same, with fits that do not count beside those of other seeds, as these are by other code."""
        return self._kept()[0]

    def _kept(self) -> tuple[list[Record], dict[str, str | None]]:
        """The record of every cell and seed that counts; and by cell, the code of its latest fit.

        An incomplete last line, left by an interruption, is ignored.
        """
        kept: dict[str, Record] = {}
        latest: dict[str, str | None] = {}
        for record in self._lines():
            key = identity(record["cell"])
            if key not in kept or not contains(kept[key], record):
                kept[key] = record
            if _is_of_a_fit(record):
                latest[whatever_seed(record["cell"])] = record.get("sources")
        return [*kept.values()], latest

    def _lines(self) -> Iterator[Record]:
        same: dict[str | None, str | None] = {}
        for record in _lines(self.path, lambda record: (dict(record["cell"]), int(record["repeats"]))):
            code = record["code"] = record.get("sources")
            if code is not None and self._agreements and comparable(record["scores"]):
                same[code] = same[code] if code in same else self._agreements.first(code)
                record["sources"] = same[code]
            yield record

    def check_writable(self) -> None:
        """Raise an error if records cannot be appended to the file; creates its folder."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        check_writable(self.path)

    def append(self, record: Record) -> None:
        """Append a record as one line, and wait until it is on disk."""
        _append(self.path, record)


def comparable(scores: Mapping[str, Any]) -> dict[str, Any]:
    """Scores that are the same whenever the same code measures them: all but seconds.

    >>> comparable({"seconds": [0.5], "r2": [0.25]})
    {'r2': [0.25]}
    """
    return {metric: values for metric, values in scores.items() if metric != "seconds"}


def trained_on_device(record: Mapping[str, Any]) -> bool:
    """Whether a cell was trained on a GPU or its like, where another machine can measure it again only with the same.

    >>> trained_on_device({"fit": {"device": "NVIDIA H200"}}), trained_on_device({"fit": {"device": "cpu"}})
    (True, False)
    """
    return record.get("fit", {}).get("device") not in (None, "cpu")


def _lines(path: Path, check: Callable[[Any], object]) -> Iterator[Record]:
    """Lines of JSON, the last one of which may have been cut off; ``check`` fails for what is none of these records."""
    lines = path.read_text(encoding="utf-8").split("\n") if path.exists() else []
    for number, line in enumerate(lines[:-1], start=1):
        try:
            record = json.loads(line)
            check(record)
        except (ValueError, KeyError, TypeError, IndexError) as error:
            raise FileFormatError(
                f"{path}, line {number}: this is no record of an experiment ({error}); remove the line "
                "or choose another folder"
            ) from error
        yield record


def _append(path: Path, record: Record) -> None:
    line = (json.dumps(record, allow_nan=False) + "\n").encode()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a+b") as file:
            wait_for_lock(file)  # another process may be appending: its line only looks incomplete
            if file.seek(0, os.SEEK_END) > 0:
                file.seek(-1, os.SEEK_END)
                if file.read(1) != b"\n":  # drop an incomplete line
                    file.seek(0)
                    file.truncate(file.read().rfind(b"\n") + 1)
            file.write(line)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise OutputError(f"cannot write {str(path)!r}: {error.strerror}") from error


def _is_of_a_fit(record: Mapping[str, Any]) -> bool:
    """Whether scores are of vectors that one fit has learnt, and are as good as those of another seed."""
    return "fit" in record and record["cell"].get("solver") in SOLVERS


def _joined(records: Sequence[Record]) -> list[Record]:
    """Fits of a cell as one record, of those with the most repeats and with seeds that follow on one another."""
    most = max(record["repeats"] for record in records)
    by_seed = sorted((r for r in records if r["repeats"] == most), key=lambda r: int(r["cell"].get("seed", 0)))
    runs: list[list[Record]] = []
    for record in by_seed:
        if not (runs and record["cell"]["seed"] == runs[-1][-1]["cell"]["seed"] + 1):
            runs.append([])
        runs[-1].append(record)
    return [run[0] if len(run) == 1 else _of_several_fits(run) for run in runs]


def _of_several_fits(records: Sequence[Record]) -> Record:
    """One record of several: the first one, with the scores of each, all seconds, and the least of those of the fits.

    Only fits on as many threads as the first one count: what else a machine did makes them slower, never quicker.
    """
    first = records[0]
    alike = [r["fit"]["seconds"] for r in records if r["fit"].get("n_jobs") == first["fit"].get("n_jobs")]
    return {
        **first,
        "fits": len(records),
        "seconds": sum(record["seconds"] for record in records),
        "fit": {**first["fit"], "seconds": min(alike)},
        "scores": _together([record["scores"] for record in records]),
    }


def _together(scores: Sequence[Any]) -> Any:
    first = scores[0]
    return {key: _together([each[key] for each in scores]) for key in first} if isinstance(first, dict) else [*scores]


def records_of(folder: Path, experiment: str) -> Store:
    """The store of an experiment's records in a folder."""
    return Store(folder / "records" / f"{experiment}.jsonl", Agreements(folder, experiment))


class Measurements:
    """Records of an experiment, looked up by what they measure.

    Records with the paper's parameters come before those with others. Each has ``marks``, which a page shows beside its
    figures: † for other parameters than the paper's, ° for fewer repeats than other cells of the experiment have, ‡ for
    other ``sources`` than ``code``; by default that of most of these records.
    """

    def __init__(self, records: Iterable[Record], code: str | None = None) -> None:
        found = sorted(records, key=lambda record: bool(record["cell"].get("parameters")))
        self.sources = Counter(record.get("sources") for record in found).most_common()
        self.repeats = max((record["repeats"] for record in found), default=0)
        self._code = code or (self.sources[0][0] if found else None)
        self.records = [{**record, "marks": self._marks(record)} for record in found]

    def _marks(self, record: Record) -> str:
        marks = "†" if record["cell"].get("parameters") else ""
        marks += "°" if record["repeats"] < self.repeats else ""
        return marks + ("‡" if record.get("sources") != self._code else "")

    @property
    def shown(self) -> list[Record]:
        """Of records that differ in their parameters alone the first one, which :meth:`get` finds."""
        first: dict[str, Record] = {}
        for record in self.records:
            first.setdefault(identity({k: v for k, v in record["cell"].items() if k != "parameters"}), record)
        return [*first.values()]

    def all(self, **what: Any) -> list[Record]:
        """The records whose cells have these values."""
        return [record for record in self.records if what.items() <= record["cell"].items()]

    def get(self, **what: Any) -> Record | None:
        """The first of them, or None."""
        return next(iter(self.all(**what)), None)

    def values(self, key: str) -> list[Any]:
        """Distinct values of a key, in order of appearance."""
        return list(dict.fromkeys(r["cell"][key] for r in self.records if key in r["cell"]))


def reference_values(name: str) -> list[dict[str, Any]]:
    """Rows of one of the paper's tables or plots; numbers are floats.

    Parameters
    ----------
    name : {"classification", "regression", "few_shot", "transfer", "runtime", "densification"}

    Examples
    --------
    >>> from hopscale.paper import reference_values
    >>> next(row for row in reference_values("regression") if row["method"] == "MUSAE")
    {'method': 'MUSAE', 'dataset': 'wiki-chameleon', 'r2': 0.658, 'standard_error': 0.004}
    """
    text = (files("hopscale.paper") / "reference" / f"{name}.csv").read_text(encoding="utf-8")
    return [{key: _number(value) for key, value in row.items()} for row in csv.DictReader(text.splitlines())]


def _number(text: str) -> str | float:
    try:
        return float(text)
    except ValueError:
        return text
