"""Measure experiments cell by cell: skip what has been measured, store what is new, continue after failures."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, filterfalse
from pathlib import Path
from typing import Any

from tqdm import tqdm

from hopscale.exceptions import HopscaleError, ParameterError
from hopscale.paper.experiments import EXPERIMENTS, SUITABLE, Options
from hopscale.paper.machine import machine
from hopscale.paper.methods import method
from hopscale.paper.store import identity, records_of
from hopscale.paper.supervised import supervised_model

__all__ = ["describe", "reproduce"]

# Parameters that the cells set themselves, and the option to use instead.
_SET_BY_CELLS = {"solver": "solvers", "random_state": "a seed", "n_jobs": "n_jobs of the options", "ego": "methods"}


def reproduce(
    experiments: Sequence[str],
    options: Options,
    folder: Path,
    *,
    say: Callable[[str], object] = lambda _: None,
    progress: bool = False,
) -> list[str]:
    """Measure every cell of the experiments that has not been measured yet.

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
        Failed cells with the reason, such as a data set that cannot be downloaded. The others are measured.
    """
    _check(experiments, options)
    waiting, total = [], 0
    for experiment in dict.fromkeys(experiments):
        store, cells = records_of(folder, experiment), list(EXPERIMENTS[experiment](options))
        store.check_writable()  # before any long computation
        repeats = {identity(record["cell"]): record["repeats"] for record in store.records()}
        each = {identity(cell.what): cell for cell in cells}  # methods may be listed twice
        waiting += [(store, cell) for key, cell in each.items() if repeats.get(key, 0) < cell.repeats]
        total += len(cells)
    if not total:
        raise ParameterError(
            f"there is nothing to measure: {', '.join(experiments)} has no such data set, or the method no such solver "
            "or parameter (data sets of classes are for classification, of values for regression; most rivals have one "
            "way only; epochs and walks are parameters of sgns)"
        )
    say(f"{total - len(waiting)} of {total} cells are there, {len(waiting)} to measure")
    failures: list[str] = []
    bar = tqdm(
        total=sum(cell.cost for _, cell in waiting),
        bar_format="{percentage:3.0f} %|{bar}| {elapsed} gone, about {remaining} to go{postfix}",
        leave=False,
        disable=None if progress else True,
    )
    with bar, _ticking(bar):
        for store, cell in waiting:
            name = describe(cell.what)
            bar.set_postfix_str(name)
            start = time.perf_counter()
            try:
                measured = cell.measure()
            except (HopscaleError, MemoryError) as error:
                failures.append(f"{name}: {error or type(error).__name__}")
                say(f"failed: {failures[-1]}")
            else:
                seconds = time.perf_counter() - start
                record = {"cell": cell.what, "repeats": cell.repeats, "seconds": seconds, "machine": machine()}
                without_nan = json.loads(json.dumps(measured), parse_constant=lambda _: None)
                store.append({**record, **without_nan})
                metric, values = next(iter(measured["scores"].items()))
                headline = f"{metric} {sum(values) / len(values):.3f}, " if isinstance(values, list) else ""
                say(f"{name}: {headline}{seconds:.1f} s")
            bar.update(cell.cost)
    return failures


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
        elif key not in ("experiment", "seed", "parameters") and value is not None:
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
    if not (options.asked_methods or options.asked_supervised):
        raise ParameterError(f"no method has the parameter(s) {', '.join(map(repr, options.parameters))}")
    for name in options.asked_methods:
        if not method(name).accepts(options.parameters):
            method(name).build(**options.parameters)  # whose error says what is wrong
    for name in options.asked_supervised:
        supervised_model(name, **options.parameters)
