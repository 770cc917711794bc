"""Other libraries that make vectors of nodes, each in an environment of its own from the package index.

A contender is a script that is run by its library's Python, in a process of its own: it reads a graph from a folder,
fits, and prints seconds, processor seconds and memory of fitting. With a second argument it also keeps the vectors
there. Importing, reading the graph, turning it into what the library takes, and compiling are not counted. Memory is
what Linux says of a process.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import venv
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import scipy.sparse as sp

from hopscale import AttributedGraph

__all__ = [
    "LIBRARIES",
    "Contender",
    "Environment",
    "cleora",
    "environment",
    "grape",
    "here",
    "karate",
    "keep",
    "nodevectors",
    "pecanpy",
    "run",
    "sknetwork",
]

THREADS = 2


@dataclass(frozen=True)
class Library:
    """What pip is asked for, one after the other, and what is then imported."""

    module: str
    installs: tuple[tuple[str, ...], ...]


LIBRARIES = {
    "karateclub": Library(  # it pins versions that no longer build
        "karateclub",
        (
            ("--no-deps", "karateclub"),
            ("networkx", "gensim", "pandas", "scikit-learn", "scipy", "tqdm", "pygsp", "six", "python-louvain"),
            ("python-Levenshtein",),
        ),
    ),
    "grape": Library("grape", (("grape", "scipy"),)),
    "pecanpy": Library("pecanpy", (("pecanpy", "gensim", "scipy"),)),
    "scikit-network": Library("sknetwork", (("scikit-network", "scipy"),)),
    "nodevectors": Library("nodevectors", (("nodevectors", "scipy"),)),
    "pycleora": Library("pycleora", (("pycleora", "numpy", "scipy"),)),
}


@dataclass(frozen=True)
class Environment:
    """A library's Python and version, or why there is none."""

    python: Path | None
    version: str = ""
    failed: str = ""


@dataclass(frozen=True)
class Contender:
    """A model of a library, and the script that fits it."""

    library: str
    model: str
    script: str


READ = """
import json, re, sys, time, warnings
import numpy as np, scipy.sparse as sp
warnings.simplefilter("ignore")
folder = sys.argv[1]
A = sp.csr_matrix(sp.load_npz(folder + "/adjacency.npz"))
F = sp.csr_matrix(sp.load_npz(folder + "/features.npz"))
"""
# Writing 5 to clear_refs starts the largest resident size anew.
FIT = """
def memory(name):
    return int(re.search(name + r":\\s*(\\d+)", open("/proc/self/status").read())[1]) / 2**10
with open("/proc/self/clear_refs", "w") as file:
    file.write("5")
before = memory("VmRSS")
start, busy = time.perf_counter(), time.process_time()
fitted = fit()
record = {"seconds": time.perf_counter() - start, "cpu_seconds": time.process_time() - busy}
record |= {"before_mib": before, "peak_mib": memory("VmHWM")}
if len(sys.argv) > 2:
    np.save(sys.argv[2], np.asarray(vectors(fitted), dtype=np.float32))
print()
print(json.dumps(record))
"""


def _script(prepare: str, fit: str, vectors: str) -> str:
    return f"{READ}\n{prepare}\nfit = lambda: {fit}\nvectors = lambda fitted: {vectors}\n{FIT}"


def here(name: str, label: str = "", /, **settings: Any) -> Contender:
    """A model of ours, in a process of its own like the others; its own solver's settings are settings too."""
    prepare = (
        f"import hopscale\nmodel = hopscale.{name}(n_jobs={THREADS}).configure(**{settings!r})\n"
        "graph = hopscale.AttributedGraph(A, F)"
    )
    return Contender("hopscale", label or name, _script(prepare, "model.fit(graph)", "fitted.embedding_"))


def karate(name: str, settings: str, features: bool = False, label: str = "") -> Contender:
    """A model of karateclub."""
    prepare = (
        f"import networkx as nx\nfrom karateclub import {name}\nmodel = {name}({settings})\n"
        "graph, X = nx.from_scipy_sparse_array(A), sp.coo_matrix(F)"
    )
    fit = f"model.fit(graph{', X' if features else ''})"
    return Contender("karateclub", label or name, _script(prepare, fit, "model.get_embedding()"))


def grape(name: str, settings: str, *more: str) -> Contender:
    """A model of grape, or several side by side, one after the other."""
    names = ", ".join((name, *more))
    prepare = (
        "import pandas as pd\nfrom grape import Graph\n"
        f"from grape.embedders import {names}\nmodels = [each({settings}) for each in ({names},)]\n"
        "C = sp.triu(A).tocoo()\n"
        "edges = pd.DataFrame({'s': C.row.astype(str), 'd': C.col.astype(str)})\n"
        "graph = Graph.from_pd(edges_df=edges, edge_src_column='s', edge_dst_column='d', directed=False)\n"
        # A model may have a table for each role of a node: the first is the node's own.
        "def table(result):\n"
        "    frame = result.get_all_node_embedding()[0]\n"
        "    return frame.reindex([str(i) for i in range(A.shape[0])]).fillna(0.0).to_numpy()"
    )
    fit, vectors = "[model.fit_transform(graph) for model in models]", "np.hstack([table(each) for each in fitted])"
    return Contender("grape", names.replace("Ensmallen", ""), _script(prepare, fit, vectors))


def nodevectors(name: str, settings: str) -> Contender:
    """A model of nodevectors; what Numba compiles is compiled on another graph first."""
    prepare = (
        f"import csrgraph\nfrom nodevectors import {name}\n"
        f"graph, small = csrgraph.csrgraph(A), csrgraph.csrgraph(A[:500, :500] + sp.eye(500, format='csr'))\n"
        f"try:\n    {name}({settings}).fit(small)\nexcept (TypeError, ValueError):\n    pass\n"
        f"model = {name}({settings})"
    )
    vectors = "np.stack([model.predict(node) for node in graph.names])"
    return Contender("nodevectors", name, _script(prepare, "model.fit(graph)", vectors))


def pecanpy(mode: str, settings: str, walks: str) -> Contender:
    """Walks of PecanPy, vectors of gensim; what Numba compiles is compiled on another graph first."""
    prepare = (
        "from pecanpy import pecanpy\n"
        "def learn(matrix):\n"
        f"    graph = pecanpy.{mode}.from_mat(matrix, [str(i) for i in range(matrix.shape[0])], {settings})\n"
        "    graph.preprocess_transition_probs()\n"
        f"    return graph.embed({walks})\n"
        "learn(np.ones((20, 20)) - np.eye(20)); dense = A.toarray()"
    )
    return Contender("pecanpy", f"{mode} + gensim", _script(prepare, "learn(dense)", "fitted"))


def sknetwork(name: str, settings: str = "") -> Contender:
    """A model of scikit-network."""
    prepare = f"from sknetwork.embedding import {name}\nmodel = {name}({settings})"
    return Contender("scikit-network", name, _script(prepare, "model.fit_transform(A)", "fitted"))


def cleora(settings: str) -> Contender:
    """The embedding of pycleora, whose nodes come in an order of its own."""
    prepare = (
        "import pycleora\nC = sp.triu(A).tocoo()\n"
        "edges = (f'{i} {j}' for i, j in zip(C.row.tolist(), C.col.tolist()))\n"
        "graph = pycleora.SparseMatrix.from_iterator(edges, 'complex::reflexive::node')\n"
        "def table(found):\n"
        "    out = np.zeros((A.shape[0], found.shape[1]), dtype=np.float32)\n"
        "    out[[int(name) for name in graph.entity_ids]] = found\n"
        "    return out"
    )
    return Contender("pycleora", "Cleora", _script(prepare, f"pycleora.embed(graph, {settings})", "table(fitted)"))


def keep(graph: AttributedGraph, folder: str) -> None:
    """Leave a graph where the scripts read it."""
    sp.save_npz(f"{folder}/adjacency.npz", sp.csr_matrix(graph.adjacency))
    sp.save_npz(f"{folder}/features.npz", sp.csr_matrix(graph.features))


def environment(library: str, folder: Path) -> Environment:
    """A Python that has the library, made anew unless it is there."""
    if library == "hopscale":
        return Environment(Path(sys.executable), _version(Path(sys.executable), library))
    home = folder.resolve() / library
    python = home / "bin" / "python"
    wanted = LIBRARIES[library]
    found = [str(python), "-c", f"import {wanted.module}"]
    if not python.exists():
        venv.create(home, with_pip=True)
    if subprocess.run(found, capture_output=True, check=False).returncode:
        for asked in wanted.installs:
            pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *asked]
            done = subprocess.run(pip, capture_output=True, text=True, check=False)
            if done.returncode:
                return Environment(None, failed=f"pip install {' '.join(asked)}: {_reason(done)}")
        done = subprocess.run(found, capture_output=True, text=True, check=False)
        if done.returncode:
            return Environment(None, failed=f"import {wanted.module}: {_reason(done)}")
    return Environment(python, _version(python, library))


def _version(python: Path, library: str) -> str:
    script = f"from importlib.metadata import version; print(version({library!r}))"
    return subprocess.run([str(python), "-c", script], capture_output=True, text=True, check=True).stdout.strip()


def run(python: Path, script: str, limit: float, *arguments: str) -> dict[str, Any]:
    """What a script prints last, or why it prints nothing."""
    command = [str(python), "-c", script, *arguments]
    threads = {f"{name}_NUM_THREADS": str(THREADS) for name in ("OMP", "OPENBLAS", "MKL", "RAYON", "NUMBA")}
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=limit, check=False, env=os.environ | threads
        )
    except subprocess.TimeoutExpired:
        return {"failed": f"over {limit:.0f} s"}
    if done.returncode:
        return {"failed": _reason(done)}
    return dict(json.loads(done.stdout.strip().splitlines()[-1]))


def _reason(done: subprocess.CompletedProcess[str]) -> str:
    """The last line of what a program complained of, without paths and addresses."""
    lines = done.stderr.strip().splitlines()
    if not lines or done.returncode < 0:
        return f"exit code {done.returncode}"
    return re.sub(r" ?\(?(https?:/|file:/)?/[^\s)]*\)?", "", lines[-1])[:120]
