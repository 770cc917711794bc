"""``python -m hopscale.paper.worker``: one fit, asked for and answered in JSON; see :mod:`hopscale.paper.fits`."""

from __future__ import annotations

import json
import sys
import time
import warnings
from typing import Any

from hopscale.datasets import load
from hopscale.exceptions import HopscaleError
from hopscale.paper.fits import Fit
from hopscale.paper.machine import machine, peak_mib, resident_mib
from hopscale.paper.methods import method


def main() -> None:
    """Answer what the standard input asks for: how the fit went, or ``{"error": ...}`` with its reason."""
    job = json.load(sys.stdin)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        try:
            answer = run(job)
        except (HopscaleError, MemoryError) as error:
            answer = {"error": str(error) or type(error).__name__}
    answer["warnings"] = list(dict.fromkeys(str(warning.message) for warning in caught))
    print(json.dumps(answer))


def run(job: dict[str, Any]) -> dict[str, Any]:
    """Fit, save, and say how it went."""
    fit = Fit(**job["fit"])
    graph = load(fit.dataset, data=job["data"])
    model = method(fit.method).build(
        solver=fit.solver, random_state=fit.seed, n_jobs=job["n_jobs"] or -1, **fit.parameters
    )
    before = resident_mib()
    start = time.perf_counter()
    model.fit(graph)
    seconds = time.perf_counter() - start
    peak = peak_mib()
    model.save(job["model"])
    memory = None if peak is None or before is None else peak - before
    return {"seconds": seconds, "peak_mib": memory, "rows": model.rows_, "n_jobs": job["n_jobs"], "machine": machine()}


if __name__ == "__main__":
    main()
