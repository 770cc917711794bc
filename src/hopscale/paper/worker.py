"""``python -m hopscale.paper.worker``: one fit, asked for and answered in JSON; see :mod:`hopscale.paper.fits`."""

from __future__ import annotations

import json
import sys
import time

from hopscale.datasets import load
from hopscale.paper.fits import Fit
from hopscale.paper.machine import machine, peak_mib, resident_mib
from hopscale.paper.methods import method


def main() -> None:
    """Fit what the standard input asks for, save it, and say how it went."""
    job = json.load(sys.stdin)
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
    facts = {"seconds": seconds, "peak_mib": memory, "rows": model.rows_, "n_jobs": job["n_jobs"], "machine": machine()}
    print(json.dumps(facts))


if __name__ == "__main__":
    main()
