"""Whether vectors keep their bits where BLAS chooses other kernels, as it does on another processor.

Every method with every solver, on five odd graphs, in processes whose OpenBLAS is told which kernels to take. That bits
do not depend on PYTHONHASHSEED, on ``n_jobs`` or on the threads of BLAS and OpenMP is a test, with the same digests.

    python benchmarks/blas_kernels.py
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from threadpoolctl import threadpool_info

import hopscale
from hopscale import PMI, SGNS
from hopscale.exceptions import HopscaleError
from hopscale.models import MODELS
from hopscale.models.base import SolverChoice

KERNELS = ("Prescott", "Nehalem", "Sandybridge", "Haswell", "Zen", "SkylakeX")
SHORT = {"walk_length": 12, "walks_per_node": 1, "epochs": 1}


def graphs() -> dict[str, hopscale.AttributedGraph]:
    """Five odd graphs: each breaks an assumption that code easily makes."""
    random, n, q = np.random.default_rng(3), 60, 20
    plain = np.triu(random.random((n, n)) < 0.06, 1).astype(float)
    plain[np.arange(n - 1), np.arange(1, n)] = 1
    F = (random.random((n, q)) < 0.2) * random.integers(1, 9, (n, q)) / 8
    isolated, parts = plain.copy(), plain.copy()
    isolated[:, ::7] = isolated[::7] = 0
    parts[: n // 2, n // 2 :] = 0
    far = plain * 10.0 ** random.uniform(-9, 9, (n, n))
    star = np.zeros((n, n))
    star[0, 1:] = 1
    named = {
        "isolated nodes": (isolated, F),
        "two components": (parts, F),
        "star": (star, F),
        "weights over many magnitudes": (far, F),
        "one feature": (plain, np.ones((n, 1))),
    }
    return {name: hopscale.AttributedGraph(sp.csr_array(A + A.T), B) for name, (A, B) in named.items()}


def models() -> Iterator[tuple[str, hopscale.models.base.NodeEmbedding]]:
    """Every method of ours, with every solver that it has."""
    for name, model in MODELS.items():
        own: dict[str, Any] = {"TENE": {"iterations": 10}, "Node2Vec": {"p": 0.5, "q": 2.0}}.get(name, {})
        if not issubclass(model, SolverChoice):
            yield name, model(8, **own)
            continue
        for solver in model.solvers:
            fitted = model(8, solver=solver, **own)
            if solver == "sgns":
                fitted.configure(**SHORT, **({"window": 1} if "window" in fitted.get_params() else {}))
            yield f"{name}, {solver}", fitted
    for proximity in ("common-neighbors", "adamic-adar", "katz", "rooted-pagerank"):
        yield f"HOPE, {proximity}", hopscale.HOPE(8, proximity=proximity)
    yield "MUSAE, ego", hopscale.MUSAE(8, ego=True)
    yield "MUSAE, sgns, ego", hopscale.MUSAE(8, window=1, ego=True, solver=SGNS(**SHORT))
    yield "MUSAE, pmi, sampled", hopscale.MUSAE(8, solver=PMI(rows="sampled", walks=50))


def digests(n_jobs: int) -> dict[str, str]:
    """Of the vectors of every method on every graph."""
    found = {}
    for place, graph in graphs().items():
        for name, model in models():
            try:
                model.set_params(n_jobs=n_jobs).fit(graph)
                arrays = [model.embedding_, model.feature_embedding_]
                arrays += [model.transform(graph)] if model.inductive else []
                content = b"".join(np.ascontiguousarray(x).tobytes() for x in arrays)
                found[f"{name}, {place}"] = hashlib.sha256(content).hexdigest()[:16]
            except HopscaleError as error:
                found[f"{name}, {place}"] = f"{type(error).__name__}: {error}"
    return found


def in_environment(n_jobs: int = 1, **environment: str) -> dict[str, Any]:
    """Digests, and the kernels that BLAS took, of a new process."""
    command = [sys.executable, __file__, "--one", str(n_jobs)]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **environment}, check=True)
    return dict(json.loads(done.stdout.splitlines()[-1]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--one", type=int, metavar="N_JOBS", help="print the digests of this process as JSON")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.one:
        took = [library.get("architecture", "") for library in threadpool_info() if library["user_api"] == "blas"]
        print(json.dumps({"kernels": took, "digests": digests(options.one)}))
        return

    from measure import markdown, write

    own = in_environment()
    records, rows = [], []
    for kernels in KERNELS:
        other = in_environment(OPENBLAS_CORETYPE=kernels)
        if kernels not in other["kernels"] or other["kernels"] == own["kernels"]:  # they are not here, or our own
            continue
        differ = [name for name, digest in own["digests"].items() if other["digests"][name] != digest]
        methods = sorted({name.partition(",")[0] for name in differ})
        records.append({"kernels": kernels, "own": own["kernels"], "of": len(own["digests"]), "differ": differ})
        rows.append([kernels, f"{len(differ)} of {len(own['digests'])}", ", ".join(methods) or "none"])
    header = [f"OpenBLAS's kernels, against {own['kernels'][0]}", "digests that differ", "methods"]
    write("blas_kernels", records, markdown(header, rows))


if __name__ == "__main__":
    main()
