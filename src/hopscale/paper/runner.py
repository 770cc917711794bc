"""Measure experiments cell by cell: skip what has been measured, store what is new, continue after failures."""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain, filterfalse
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from tqdm import tqdm

from hopscale.exceptions import DownloadError, HopscaleError, ParameterError
from hopscale.paper.experiments import EXPERIMENTS
from hopscale.paper.machine import blas, machine
from hopscale.paper.methods import method
from hopscale.paper.options import SUITABLE, Cell, Options
from hopscale.paper.sources import sources
from hopscale.paper.store import (
    Agreements,
    Record,
    Store,
    comparable,
    identity,
    records_of,
    trained_on_device,
    whatever_seed,
)
from hopscale.paper.supervised import SUPERVISED_ROWS, device_of, supervised_model

__all__ = ["describe", "measure_again", "reproduce"]

# Parameters that the cells set themselves, and the option to use instead.
_SET_BY_CELLS = {"solver": "solvers", "random_state": "a seed", "n_jobs": "n_jobs of the options"}
_SET_BY_CELLS |= dict.fromkeys(("ego", "self_scale"), "methods")


def reproduce(
    experiments: Sequence[str],
    options: Options,
    folder: Path,
    *,
    say: Callable[[str], object] = lambda _: None,
    progress: bool = False,
) -> list[str]:
    """Measure every cell of the experiments that has not been measured by this code yet.

    Parameters
    ----------
    experiments : sequence of str
        Keys of :data:`hopscale.paper.EXPERIMENTS`.
    options : Options
    folder : Path
        Records are appended to ``records/<experiment>.jsonl`` in it, one line per cell. Fitted models are kept in
        ``options.cache``; nothing else is written.
    say : callable, optional
        Called with a line for each cell that is done or has failed.
    progress : bool, default=False
        Show a bar with the remaining time, on a terminal.

    Returns
    -------
    list of str
        Failed cells with the reason. The others are measured, but for those of data sets that cannot be downloaded:
        the first of each says so, and the rest are counted.
    """
    _check(experiments, options)
    waiting, total = _waiting(experiments, options, folder)
    say(f"{total - len(waiting)} of {total} cells are there, {len(waiting)} to measure")
    failures: list[str] = []
    left_out: Counter[tuple[Any, Any]] = Counter()  # cells, by data sets that cannot be downloaded
    with _bar((cell for _, cell in waiting), progress) as bar:
        for store, cell in waiting:
            name, data = describe(cell.what), (cell.what.get("source"), cell.what.get("dataset"))
            bar.set_postfix_str(name)
            if data in left_out:
                left_out[data] += 1
                bar.update(cell.cost)
                continue
            try:
                record = _measured(cell)
            except (HopscaleError, MemoryError) as error:
                failures.append(_failure(cell, error))
                say(f"failed: {failures[-1]}")
                if isinstance(error, DownloadError):
                    left_out[data] = 0
            else:
                store.append(record)
                say(f"{name}: {_headline(record)}{record['seconds']:.1f} s")
            bar.update(cell.cost)
    for (_, dataset), count in left_out.items():
        if count:
            failures.append(f"{count} more cells of {dataset}, which cannot be downloaded, were left out")
    return failures


def _waiting(experiments: Sequence[str], options: Options, folder: Path) -> tuple[list[tuple[Store, Cell]], int]:
    """Cells that this code has not measured yet, with the stores that take their records; and the number of all."""
    waiting, total = [], 0
    for experiment in dict.fromkeys(experiments):
        store, cells = records_of(folder, experiment), _cells(experiment, options)
        here = Agreements(folder, experiment).first(sources())
        store.check_writable()  # before any long computation
        records = {identity(record["cell"]): record for record in store.fits()}
        each = {identity(cell.what): cell for cell in cells}  # methods may be listed twice
        waiting += [(store, cell) for key, cell in each.items() if not _is_measured(cell, records.get(key), here)]
        total += len(cells)
    if not total:
        raise ParameterError(
            f"there is nothing to measure: {', '.join(experiments)} has no such data set, or the method no such solver "
            "or parameter (data sets of classes are for classification, of values for regression; transfer is for "
            "inductive methods; most rivals have one way only; epochs and walks are parameters of sgns)"
        )
    return waiting, total


def _failure(cell: Cell, error: Exception) -> str:
    return f"{describe(cell.what)}: {error or type(error).__name__}"


def _headline(record: Record) -> str:
    """The mean of the first metric, where there is one."""
    metric, values = next(iter(record["scores"].items()))
    return f"{metric} {np.mean(np.asarray(values, float)):.3f}, " if isinstance(values, list) else ""


def _measured(cell: Cell) -> Record:
    """The record of a cell, which is measured now."""
    start = time.perf_counter()
    measured = cell.measure()
    record = {"cell": cell.what, "repeats": cell.repeats, "seconds": time.perf_counter() - start}
    without_nan: Record = json.loads(json.dumps(measured), parse_constant=lambda _: None)
    return {**record, "sources": sources(), "machine": machine(), **without_nan}


def measure_again(
    experiments: Sequence[str],
    options: Options,
    folder: Path,
    count: int,
    *,
    say: Callable[[str], object],
    progress: bool = False,
) -> list[str]:
    """Measure cells once more, drawn at random, with new fits, and return those that failed or have other scores.

    Cells are drawn among the records that these options ask for, whichever code made them; first quick ones that make
    both codes count as one, then any. What was trained on a device that is not here is left out. Seconds are not
    compared. Where other code made records, it is written down which of them are the same. Codes count as one in an
    experiment once each of its solvers has been among them there, and each of its data sets and methods, by the same
    solvers, in any experiment; in this or in earlier calls.
    """
    _check(experiments, options)
    here = sources()  # before anything is measured: the code may be changed meanwhile
    with TemporaryDirectory() as new:
        known = _known(experiments, replace(options, cache=Path(new)), folder, say)
        compared: dict[str, dict[str, bool]] = {}  # by code, its cells and whether they are the same
        try:
            return _compare(_drawn(known, _covered(folder, here), count), compared, say, progress)
        finally:  # what was compared before an interruption counts as well
            compared.pop(here, None)
            _write_down(compared, here, folder, say)


def _compare(
    drawn: Sequence[tuple[Cell, Record]],
    compared: dict[str, dict[str, bool]],
    say: Callable[[str], object],
    progress: bool,
) -> list[str]:
    """Measure these cells, put down in ``compared`` which are the same, and return those that are not."""
    failures, elsewhere = [], 0
    with _bar((cell for cell, _ in drawn), progress) as bar:
        for cell, record in drawn:
            name = describe(cell.what)
            bar.set_postfix_str(name)
            try:
                measured = cell.measure()
            except (HopscaleError, MemoryError) as error:
                failures.append(_failure(cell, error))
                say(f"failed: {failures[-1]}")
                bar.update(cell.cost)
                continue
            scores = json.loads(json.dumps(measured["scores"]), parse_constant=lambda _: None)
            same = comparable(scores) == comparable(record["scores"])
            compared.setdefault(record["code"], {})[name] = same
            say(f"{name}: {'the same' if same else 'differs'}")
            if not same:
                failures.append(f"{name}: scores differ from those of the record")
                elsewhere += record["machine"].get("blas") != blas()
            bar.update(cell.cost)
    if elsewhere:
        say(
            f"{elsewhere} of them were measured with other kernels of BLAS than those here ({blas()}), or it is not "
            "known with which: last digits of sums differ. OpenBLAS takes those that the environment variable "
            "OPENBLAS_CORETYPE names, such as Haswell"
        )
    return failures


def _known(
    experiments: Sequence[str], options: Options, folder: Path, say: Callable[[str], object]
) -> list[tuple[Cell, Record]]:
    """Cells that these options ask for and that can be compared with their records."""
    known: list[tuple[Cell, Record]] = []
    for experiment in dict.fromkeys(experiments):
        records = {identity(record["cell"]): record for record in records_of(folder, experiment).every()}
        found = [(cell, records.get(identity(cell.what))) for cell in _cells(experiment, options)]
        known += [(cell, record) for cell, record in found if record and _is_same_size(cell, record)]
    here = [(cell, record) for cell, record in known if _is_of_this_device(cell, record, options)]
    if len(here) < len(known):
        say(f"{len(known) - len(here)} cells that were trained on a device that is not here are left out")
    if not here:
        raise ParameterError(
            f"there is nothing to measure again: no record in {folder / 'records'} is of these cells, with as many "
            "repeats and a hash of the code that made it"
        )
    return here


def _drawn(
    known: Sequence[tuple[Cell, Record]], covered: Collection[tuple[str, str]], count: int
) -> list[tuple[Cell, Record]]:
    """So many cells at random, first quick ones that cover something of a code that nothing covers yet."""
    mixed = [known[place] for place in np.random.default_rng().permutation(len(known)).tolist()]
    first: list[tuple[Cell, Record]] = []
    covered = {*covered}
    for cell, record in sorted(mixed, key=lambda each: round(np.log2(each[0].cost))):
        new = {(record["sources"], part) for part in _parts([record])}
        if not new <= covered:
            first.append((cell, record))
            covered |= new
    chosen = {id(cell) for cell, _ in first}
    return [*first, *(each for each in mixed if id(each[0]) not in chosen)][:count]


def _covered(folder: Path, here: str) -> set[tuple[str, str]]:
    """What this code has measured again already, by the code that counts as that of the records."""
    compared = Agreements(folder).compared()
    return {
        (record["sources"], part)
        for experiment in EXPERIMENTS
        for record in records_of(folder, experiment).every()
        if compared.get((record["code"], here), {}).get(describe(record["cell"]))
        for part in _parts([record])
    }


def _parts(records: Iterable[Record]) -> set[str]:
    """What makes records: experiments and methods, each by a solver, and data sets.

    Seconds are not compared: what makes them is covered by scores of the same methods.
    """
    parts = set()
    for record in records:
        cell = record["cell"]
        by = f" by {cell['solver']}" if cell.get("solver") else ""
        of_solver = ("experiment", "method") if comparable(record["scores"]) else ("method",)
        parts |= {f"{cell[key]}{by}" for key in of_solver if cell.get(key)}
        parts |= {str(cell[key]) for key in ("dataset", "source") if cell.get(key)}
    return parts


def _write_down(
    compared: Mapping[str, Mapping[str, bool]], here: str, folder: Path, say: Callable[[str], object]
) -> None:
    """Write down which cells of other code are the same, and in which experiments that is enough to count as one."""
    known = [record for experiment in EXPERIMENTS for record in records_of(folder, experiment).every()]
    before = {pair[0]: cells for pair, cells in Agreements(folder).compared().items() if pair[1] == here}
    same = {code: {**before.get(code, {}), **compared.get(code, {})} for code in (*before, *compared)}
    for code, cells in compared.items():
        if differing := sum(not each for each in same[code].values()):
            say(f"{differing} cells that sources {code} measured differ: their records do not count as this code's")
        enough: list[str] = []
        for experiment in EXPERIMENTS:
            agreements = Agreements(folder, experiment)
            alike = {each for each in {record["code"] for record in known} if _agree(agreements, each, code)} - {here}
            of_codes = [record for record in known if record["code"] in alike]
            mine = [record for record in of_codes if record["cell"]["experiment"] == experiment]
            parts = _parts(record for record in mine if not trained_on_device(record)) or _parts(mine)
            missing = parts - _parts(r for r in of_codes if same.get(r["code"], {}).get(describe(r["cell"])))
            if missing and any(describe(record["cell"]) in cells for record in mine):
                say(
                    f"{experiment}: to tell whether this code agrees with sources {code}, cells of "
                    f"{', '.join(sorted(missing))} would have to be measured again as well: ask for more"
                )
            elif parts and not missing and all(all(same.get(each, {}).values()) for each in alike):
                enough.append(experiment)
        Agreements(folder).add(code, here, cells, enough)
        if enough:
            say(f"this code agrees with sources {code} in {', '.join(enough)}: their records count as one")


def _agree(agreements: Agreements, one: str | None, other: str) -> bool:
    return one is not None and agreements.first(one) == agreements.first(other)


def _is_same_size(cell: Cell, record: Record) -> bool:
    """Whether a record of scores, by code that is known, has exactly what a cell would measure now."""
    known = record.get("sources") is not None and record["repeats"] == cell.repeats
    return known and bool(comparable(record["scores"]))


def _is_of_this_device(cell: Cell, record: Record, options: Options) -> bool:
    """Whether what was trained on a device, such as a GPU, would be trained on the same one now."""
    device, name = record.get("fit", {}).get("device"), cell.what.get("method")
    here = device_of(name, options.parameters) if name in SUPERVISED_ROWS else "cpu"
    return device is None or bool(device == here)


def _is_measured(cell: Cell, record: Record | None, here: str | None) -> bool:
    """Whether there is a record of a cell with as many repeats as are asked for, by the code as it is.

    Scores may be those of code that it agrees with, ``here`` the first of them; seconds are its own.
    """
    if record is None:
        return False
    code = here if comparable(record["scores"]) else sources()
    return record.get("sources") == code and bool(record["repeats"] >= cell.repeats)


def _cells(experiment: str, options: Options) -> list[Cell]:
    """The cells of an experiment, a cell for each fit; those of all cells with the first seed come first.

    A run that is stopped then leaves pages with fewer fits, and not with fewer cells.
    """
    cells = list(EXPERIMENTS[experiment](options))
    several = {whatever_seed(cell.what) for cell in cells if cell.several}
    for seed in range(options.seed + 1, options.seed + options.fits):
        others = EXPERIMENTS[experiment](replace(options, seed=seed))
        cells += [cell for cell in others if whatever_seed(cell.what) in several]
    return cells


@contextmanager
def _bar(cells: Iterable[Cell], progress: bool) -> Iterator[tqdm[Any]]:
    """A bar with the remaining time of these cells, on a terminal, if there is to be one."""
    bar = tqdm(
        total=sum(cell.cost for cell in cells),
        bar_format="{percentage:3.0f} %|{bar}| {elapsed} gone, about {remaining} to go{postfix}",
        leave=False,
        disable=None if progress else True,
    )
    with bar, _ticking(bar):
        yield bar


@contextmanager
def _ticking(bar: tqdm[Any]) -> Iterator[None]:
    """Keep the clock of a progress bar running during a long fit."""
    done = threading.Event()

    def tick() -> None:
        while not done.wait(1.0):
            bar.refresh()

    thread = threading.Thread(target=tick, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def describe(what: dict[str, Any]) -> str:
    """A cell in one line.

    >>> describe({"experiment": "regression", "method": "AE", "solver": "pmi", "dataset": "wiki-squirrel", "seed": 0})
    'regression AE pmi wiki-squirrel'
    """
    parts = [what["experiment"]]
    for key, value in what.items():
        if key in ("method", "solver", "dataset"):
            parts.append(str(value))
        elif key not in ("experiment", "parameters") and (value if key == "seed" else value is not None):
            parts.append(f"{key}={value}")
    parts += [f"{key}={value}" for key, value in what.get("parameters", {}).items()]
    return " ".join(parts)


def _check(experiments: Sequence[str], options: Options) -> None:
    datasets = dict.fromkeys(chain(*SUITABLE.values()))
    for experiment in filterfalse(EXPERIMENTS.__contains__, experiments):
        raise ParameterError(f"no experiment {experiment!r}. There are: {', '.join(EXPERIMENTS)}")
    for name in filterfalse(datasets.__contains__, options.datasets or ()):
        raise ParameterError(f"no experiment is made on a data set {name!r}. There are: {', '.join(datasets)}")
    for parameter in filter(_SET_BY_CELLS.__contains__, options.parameters):
        raise ParameterError(f"{parameter!r} cannot be changed as a parameter: ask for {_SET_BY_CELLS[parameter]}")
    if "device" in options.parameters and options.asked_methods:
        raise ParameterError(
            "'device' is a parameter of networks only: name them with methods. Vectors are measured on the processor, "
            "where their bits do not depend on the machine's threads"
        )
    if not (options.asked_methods or options.asked_supervised):
        raise ParameterError(f"no method has the parameter(s) {', '.join(map(repr, options.parameters))}")
    for name in options.asked_methods:
        if not method(name).accepts(options.parameters):
            method(name).build(**options.parameters)  # whose error says what is wrong
    for name in options.asked_supervised:
        supervised_model(name, **options.parameters)
