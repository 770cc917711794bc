"""Other libraries that have the same methods, each in an environment of its own from the package index.

A method is a script that is run by that environment's Python: it reads a graph from a folder, fits, and prints the
seconds that fitting took. With a second argument it also keeps the vectors there.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import venv
from pathlib import Path
from typing import Any

import scipy.sparse as sp

from hopscale import AttributedGraph

__all__ = ["LIBRARIES", "environment", "grape", "here", "karate", "keep", "nodevectors", "run", "version"]

# What pip is asked for, in turn until one way works. karateclub pins versions that no longer build.
LIBRARIES = {
    "karateclub": [
        ["karateclub"],
        ["--no-deps", "karateclub"],
    ],
    "grape": [["grape"]],
    "nodevectors": [["nodevectors"]],
}
PARTS = {
    "karateclub": [
        *("networkx", "gensim", "pandas", "scikit-learn", "scipy", "tqdm"),
        *("pygsp", "six", "python-louvain", "python-Levenshtein"),
    ]
}

READ = """
import json, sys, time
import numpy as np, scipy.sparse as sp
folder = sys.argv[1]
A = sp.csr_matrix(sp.load_npz(folder + "/adjacency.npz"))
F = sp.csr_matrix(sp.load_npz(folder + "/features.npz"))
"""
FIT = """
start = time.perf_counter()
fitted = fit()
seconds = time.perf_counter() - start
if len(sys.argv) > 2:
    np.save(sys.argv[2], vectors(fitted))
print(json.dumps({"seconds": seconds}))
"""
KARATE = """
import networkx as nx
graph = nx.from_scipy_sparse_array(A)
X = sp.coo_matrix(F)
vectors = lambda _: model.get_embedding()
"""
GRAPE = """
from grape import Graph
import pandas as pd
C = sp.triu(A).tocoo()
edges = pd.DataFrame({'s': C.row.astype(str), 'd': C.col.astype(str)})
graph = Graph.from_pd(edges_df=edges, edge_src_column='s', edge_dst_column='d', directed=False)
"""


def karate(name: str, arguments: str, features: bool = False) -> str:
    """A model of karateclub."""
    build = f"from karateclub import {name}\nmodel = {name}({arguments})\n"
    return READ + KARATE + build + f"fit = lambda: model.fit(graph{', X' if features else ''})\n" + FIT


def grape(names: str, arguments: str) -> str:
    """A model of grape, or several, one after the other."""
    build = f"from grape.embedders import {names}\nmodels = [each({arguments}) for each in ({names},)]\n"
    return READ + GRAPE + build + "fit = lambda: [model.fit_transform(graph) for model in models]\n" + FIT


def nodevectors(name: str, arguments: str) -> str:
    """A model of nodevectors."""
    build = f"from nodevectors import {name}\nmodel = {name}({arguments})\n"
    return READ + "import csrgraph\ngraph = csrgraph.csrgraph(A)\n" + build + "fit = lambda: model.fit(graph)\n" + FIT


def here(name: str, arguments: dict[str, Any]) -> str:
    """A model of ours, in a process of its own like the others."""
    build = f"import hopscale\nmodel = hopscale.{name}(n_jobs=2).configure(**{arguments!r})\n"
    return READ + build + "graph = hopscale.AttributedGraph(A, F)\nfit = lambda: model.fit(graph)\n" + FIT


def keep(graph: AttributedGraph, folder: str) -> None:
    """Leave a graph where the scripts read it."""
    sp.save_npz(f"{folder}/adjacency.npz", sp.csr_matrix(graph.adjacency))
    sp.save_npz(f"{folder}/features.npz", sp.csr_matrix(graph.features))


def environment(library: str, folder: Path) -> Path | None:
    """A Python that has the library, made anew unless it is there; None where it cannot be had."""
    home = folder.resolve() / library
    python = home / "bin" / "python"
    if not python.exists():
        venv.create(home, with_pip=True)
    for asked in ([], *LIBRARIES[library]):
        if asked:
            pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
            subprocess.run([*pip, *asked], capture_output=True, check=False)
            if "--no-deps" in asked:
                subprocess.run([*pip, *PARTS[library]], capture_output=True, check=False)
        if subprocess.run([str(python), "-c", f"import {library}"], capture_output=True, check=False).returncode == 0:
            return python
    return None


def version(library: str, python: Path | None) -> str | None:
    """The library's version in that environment, None where it could not be had."""
    if python is None:
        return None
    script = f"from importlib.metadata import version; print(version({library!r}))"
    return subprocess.run([str(python), "-c", script], capture_output=True, text=True, check=True).stdout.strip()


def run(python: Path | None, script: str, limit: float, *arguments: str) -> dict[str, Any]:
    """What a script prints last, or why it prints nothing."""
    if python is None:
        return {"failed": "not installed"}
    command = [str(python), "-c", script, *arguments]
    threads = {"OMP_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "2", "RAYON_NUM_THREADS": "2", "NUMBA_NUM_THREADS": "2"}
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=limit, check=False, env=os.environ | threads
        )
    except subprocess.TimeoutExpired:
        return {"failed": f"over {limit:.0f} s"}
    if done.returncode:
        lines = done.stderr.strip().splitlines()
        reason = re.sub(r" \(/[^)]*\)", "", lines[-1])[:120] if lines and done.returncode > 0 else None  # no paths
        return {"failed": reason or f"exit code {done.returncode}"}
    return dict(json.loads(done.stdout.strip().splitlines()[-1]))
