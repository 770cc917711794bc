"""Digests of what every model learns, to see whether a change moves a bit.

    python benchmarks/bits.py before.json          # on the code before
    python benchmarks/bits.py after.json --against before.json

Every method with both solvers and several of their settings, on the built-in graphs and on a weighted one with
isolated nodes. Digests depend on the processor and on BLAS, so that only two runs on one machine compare.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

import hopscale
from hopscale import PMI, SGNS
from hopscale.exceptions import HopscaleError
from hopscale.models import MODELS

CHOICE = ("AE", "MUSAE", "DeepWalk", "Walklets")
PROXIMITIES = ("overlap", "common-neighbors", "adamic-adar", "katz", "rooted-pagerank")


def weighted() -> hopscale.AttributedGraph:
    """A graph with weights and values, isolated nodes, and nodes without features."""
    random, n, q = np.random.default_rng(5), 90, 40
    A = np.triu((random.random((n, n)) < 0.07) * random.uniform(0.2, 5, (n, n)), 1)
    A[:, ::13] = 0
    A[::13] = 0
    F = (random.random((n, q)) < 0.15) * random.uniform(0.1, 3, (n, q))
    F[5::11] = 0
    return hopscale.AttributedGraph(sp.csr_array(A + A.T), sp.csr_array(F))


def variants(name: str) -> dict[str, dict[str, Any]]:
    """Parameters to try, by a name for them."""
    own = {"share_negatives": False, "walks_per_node": 1}
    if name in CHOICE:
        found: dict[str, dict[str, Any]] = {
            "pmi": {"solver": "pmi"},
            "pmi-sampled": {"solver": PMI(rows="sampled")},
            "pmi-shift": {"solver": PMI(shift=2.0, noise_exponent=0.75)},
            "pmi-memory": {"solver": PMI(memory_limit=300_000)},
            "sgns": {"solver": SGNS(epochs=1, walks_per_node=2)},
            "sgns-own": {"solver": SGNS(epochs=1, start="node", noise_exponent=0.75, subsample=1e-3, **own)},
        }
        if name in ("AE", "MUSAE"):
            found["pmi-ego"] = {"ego": True}
            found["pmi-noself"] = {"self_scale": False}
            found["sgns-ego"] = {"ego": True, "solver": SGNS(epochs=1, walks_per_node=1)}
        return found
    if name == "Node2Vec":
        return {
            "pmi": {"solver": "pmi"},
            "pmi-sampled": {"solver": PMI(rows="sampled")},
            "pmi-memory": {"solver": PMI(memory_limit=300_000)},
            "sgns": {"solver": SGNS(epochs=1, walks_per_node=2)},
            "sgns-own": {"solver": SGNS(epochs=1, **own)},
            "pmi-bias": {"p": 0.5, "q": 2.0, "window": 3},
            "sgns-bias": {"p": 2.0, "q": 0.5, "window": 3, "solver": SGNS(epochs=1, walks_per_node=1)},
        }
    if name == "LINE":
        trained = SGNS(epochs=1, noise_exponent=0.75, walks_per_node=2)
        return {"pmi": {"solver": PMI(shift=1.5)}, "sgns": {"solver": trained}}
    if name in ("NetMF", "GraRep"):
        return {"own": {}, "shift-sampled": {"solver": PMI(shift=1.5, rows="sampled")}}
    if name == "HOPE":
        return {proximity: {"proximity": proximity} for proximity in PROXIMITIES}
    return {"own": {"iterations": 30} if name == "TENE" else {}}


def digests() -> Iterator[tuple[str, list[str]]]:
    """Of node vectors, feature vectors and, of inductive models, what ``transform`` gives on the same graph."""
    graphs = {name: hopscale.load(name) for name in ("digits", "figure1", "planted-blocks")}
    for place, graph in {**graphs, "weighted": weighted()}.items():
        for name, kind in MODELS.items():
            for variant, parameters in variants(name).items():
                model = kind(dimensions=8 if place == "figure1" else 32, n_jobs=2, **parameters)
                try:
                    model.fit(graph)
                    arrays = [model.embedding_, model.feature_embedding_]
                    arrays += [model.transform(graph)] if model.inductive else []
                    found = [hashlib.sha256(np.ascontiguousarray(x).tobytes()).hexdigest()[:16] for x in arrays]
                except HopscaleError as error:
                    found = [type(error).__name__]
                yield f"{place}/{name}/{variant}", found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("output")
    parser.add_argument("--against", help="a file written before")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    found = dict(digests())
    with open(options.output, "w", encoding="utf-8") as file:
        json.dump(found, file, indent=0)
    print(f"{len(found)} fits")
    if options.against:
        with open(options.against, encoding="utf-8") as file:
            before = json.load(file)
        changed = sorted(key for key in {*found, *before} if found.get(key) != before.get(key))
        print("\n".join(["the same" if not changed else f"{len(changed)} differ:", *changed]))
        sys.exit(bool(changed))


if __name__ == "__main__":
    main()
