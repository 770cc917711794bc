"""Vectors of a method on a data set: learnt once, in a process of its own, and kept.

A process of its own gives every fit its own peak of memory, and what it learnt outlives an interruption:
classification and few-shot learning read the same vectors, and so does tomorrow's run.
"""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hopscale.atomic import replacing
from hopscale.datasets import load
from hopscale.exceptions import HopscaleError
from hopscale.graph import AttributedGraph
from hopscale.models import load_model
from hopscale.paper.machine import machine, peak_mib, resident_mib
from hopscale.paper.methods import method
from hopscale.paper.sources import sources

__all__ = ["Fit", "FitError", "KeptModel", "fitted", "fitted_model"]

_PATIENCE = 5  # seconds in which a process should be able to clean up


class FitError(HopscaleError):
    """A method could not be fitted."""


@dataclass(frozen=True)
class Fit:
    """What is fitted to what."""

    method: str
    solver: str
    dataset: str
    seed: int = 0
    parameters: dict[str, Any] = field(default_factory=dict)

    @property
    def stem(self) -> str:
        """Name of the files that keep it: readable, and different for whatever differs."""
        settings = {**asdict(self), "settings": method(self.method).parameters, "sources": sources()}
        text = json.dumps(settings, sort_keys=True)
        return f"{self.dataset}-{self.method}-{self.solver}-{hashlib.sha256(text.encode()).hexdigest()[:12]}"


def fitted(
    fit: Fit, cache: Path, *, data: str | None = None, n_jobs: int | None = None
) -> tuple[NDArray[np.float32], dict[str, Any]]:
    """Vectors of the nodes, and how they came about: seconds, peak_mib (on top of the graph), rows, warnings.

    Read from ``cache`` if they are there; else learnt, and kept there.
    """
    model, facts = _files_of(fit, cache, data, n_jobs)
    return load_model(model).embedding_, dict(json.loads(facts.read_text(encoding="utf-8")))


@dataclass(frozen=True)
class KeptModel:
    """A fitted model as :func:`hopscale.tasks.transfer` needs it, whose vectors of another graph are kept as well.

    Placing the nodes of another graph takes skip-gram as long as a fit, and raw and standardised vectors are scored in
    cells of their own.
    """

    embedding_: NDArray[np.float32]
    transform: Callable[[AttributedGraph], NDArray[np.float32]]


def fitted_model(
    fit: Fit, target: str, cache: Path, *, data: str | None = None, n_jobs: int | None = None
) -> KeptModel:
    """The fitted model, and vectors of the data set ``target``, from the same files and one beside them."""
    path = _files_of(fit, cache, data, n_jobs)[0]
    model = load_model(path)

    def transform(graph: AttributedGraph) -> NDArray[np.float32]:
        placed = path.with_name(f"{path.stem}-{target}.npy")
        if not placed.exists():
            model.set_params(n_jobs=n_jobs or -1)
            with replacing(placed) as unfinished, unfinished.open("wb") as file:
                np.save(file, model.transform(graph), allow_pickle=False)
        return np.asarray(np.load(placed, allow_pickle=False), np.float32)

    return KeptModel(model.embedding_, transform)


def _files_of(fit: Fit, cache: Path, data: str | None, n_jobs: int | None) -> tuple[Path, Path]:
    """Files of the model and of how it came about, made if they are not there."""
    model, facts = cache / f"{fit.stem}.safetensors", cache / f"{fit.stem}.json"
    if not (facts.exists() and model.exists()):
        cache.mkdir(parents=True, exist_ok=True)
        job = {"fit": asdict(fit), "model": str(model), "data": data, "n_jobs": n_jobs}
        code, output, errors = _in_a_process(json.dumps(job))
        answer = {"error": _why_it_ended(code, errors)} if code else json.loads(output.splitlines()[-1])
        if "error" not in answer and not _is_of_this_code(answer):
            model.unlink(missing_ok=True)
            answer = {"error": "the code was changed after this run had started; start it again"}
        if "error" in answer:
            raise FitError(f"{fit.method} ({fit.solver}) on {fit.dataset}: {answer['error']}")
        with replacing(facts) as unfinished:  # last: whoever finds it finds the vectors too
            unfinished.write_text(json.dumps(answer), encoding="utf-8")
    return model, facts


def _is_of_this_code(answer: dict[str, Any]) -> bool:
    """Whether the process, which reads the code anew, found the code that this one runs and records are marked with."""
    return bool(answer["sources"] == sources())


def _why_it_ended(code: int, errors: str) -> str:
    """What is known of a process that was killed, or met an error that nobody foresaw."""
    if code < 0:
        name = signal.Signals(-code).name if -code in {*signal.Signals} else f"signal {-code}"
        memory = ", as systems do where memory is short" if name == "SIGKILL" else ""
        return f"its process was ended by {name}{memory}"
    lines = errors.strip().splitlines()
    return lines[-1] if lines else f"exit code {code}"


def _in_a_process(job: str) -> tuple[int, str, str]:
    """Exit code, output and errors of :func:`work`; interrupted, it has time to remove what it was writing."""
    command = [sys.executable, "-c", f"from {__name__} import work; work({os.getpid()})"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True) as worker:
        try:
            output, errors = worker.communicate(job)
        except BaseException:
            worker.terminate()
            with suppress(subprocess.TimeoutExpired):
                worker.wait(timeout=_PATIENCE)
            worker.kill()  # does nothing if it has ended
            raise
        return worker.returncode, output, errors


def _end_with_parent(parent: int) -> None:
    """Terminate this process once the one that started it is gone: nobody waits for the fit any more."""
    while os.getppid() == parent:
        time.sleep(0.5)
    os.kill(os.getpid(), signal.SIGTERM)


def work(parent: int) -> None:
    """Make the fit that the standard input asks for in JSON, and print how it went, or ``{"error": ...}``."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    threading.Thread(target=_end_with_parent, args=(parent,), daemon=True).start()
    job = json.load(sys.stdin)
    fit, n_jobs = Fit(**job["fit"]), job["n_jobs"]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        try:
            graph = load(fit.dataset, data=job["data"])
            settings = {"random_state": fit.seed, "n_jobs": n_jobs or -1, **fit.parameters}
            model = method(fit.method).build(fit.solver, **settings)
            before, start = resident_mib(), time.perf_counter()
            model.fit(graph)
            seconds, peak = time.perf_counter() - start, peak_mib()
            model.save(job["model"])
            memory = None if peak is None or before is None else peak - before
            answer = {"seconds": seconds, "peak_mib": memory, "rows": model.rows_}
            answer |= {"n_jobs": n_jobs, "machine": machine(), "sources": sources()}
        except (HopscaleError, MemoryError) as error:
            answer = {"error": str(error) or type(error).__name__}
    answer["warnings"] = list(dict.fromkeys(str(warning.message) for warning in caught))
    print(json.dumps(answer))
