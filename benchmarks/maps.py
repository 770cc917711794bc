"""Maps: seconds of the layout, and how many neighbours on the map have the label of a node.

Vectors are those of MUSAE on facebook and github, 128 dimensions, and rows of facebook's drawn with replacement and
moved a little. ``on the map`` is the mean share of the 15 nearest other nodes on the map that have the node's label,
over 5,000 nodes drawn at random, ``by vectors`` the same share of the 15 nearest vectors, by cosine. Two threads, one
run.

Rows of a run replace those of the same vectors, and others stay.

    HOPSCALE_DATA=... python benchmarks/maps.py [--graphs facebook github] [--sizes 1000000]
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial import cKDTree

from hopscale import MUSAE, load
from hopscale.compute import Threads
from hopscale.compute.nearest import Nearest
from hopscale.explore import node_positions
from measure import markdown, measured, updated, write
from neighbors_speed import vectors_like

THREADS, K, ASKED = 2, 15, 5000


@dataclass
class Vectors:
    """What a map is made of."""

    vectors: np.ndarray
    labels: np.ndarray

    def node_vectors(self, scale: Any = None) -> np.ndarray:
        return self.vectors


def of_graph(name: str) -> Vectors:
    graph = load(name)
    return Vectors(MUSAE(n_jobs=THREADS).fit(graph).embedding_, np.asarray(graph.labels))


def like(known: Vectors, n: int) -> Vectors:
    """As many rows, with the labels of those that they were drawn from."""
    rows = np.random.default_rng(0).integers(0, len(known.vectors), n)  # the first numbers that vectors_like draws
    return Vectors(vectors_like(known.vectors, n), known.labels[rows])


def shares(found: np.ndarray, known: Vectors) -> tuple[float, float]:
    """Share of neighbours with the same label, on the map and by vectors."""
    asked = np.random.default_rng(1).choice(len(found), min(ASKED, len(found)), replace=False)
    _, on_map = cKDTree(found).query(found[asked], K + 1)
    with Threads(THREADS) as engine:
        answers = Nearest(known.vectors, cosine=True).of(known.vectors[asked[:1000]], K + 1, engine)
        by_vector = np.array([rows for rows, _ in answers])

    def share(rows: np.ndarray, own: np.ndarray) -> float:
        same, others = known.labels[rows] == known.labels[own][:, None], rows != own[:, None]
        return float((same & others).sum() / others.sum())

    return share(on_map, asked), share(by_vector, asked[:1000])


def one(name: str, known: Vectors, method: str) -> dict[str, Any]:
    seconds, found = measured(lambda: node_positions(known, method=method, n_jobs=THREADS))  # type: ignore[arg-type]
    on_map, by_vectors = shares(found, known)
    row = {"vectors": name, "nodes": len(found), "method": method, "seconds": seconds}
    print(row, flush=True)
    return {**row, "on_the_map": on_map, "by_vectors": by_vectors}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--graphs", nargs="*", default=["facebook", "github"])
    parser.add_argument("--sizes", type=int, nargs="*", default=[1_000_000])
    options = parser.parse_args()
    rows = [one(name, of_graph(name), method) for name in options.graphs for method in ("tsne", "pca")]
    if options.sizes:
        facebook = of_graph("facebook")
        rows += [one("like facebook's", like(facebook, n), "tsne") for n in options.sizes]
    rows = sorted(updated("maps", rows, ("vectors", "nodes", "method")), key=lambda row: (row["nodes"], row["seconds"]))
    header = ["vectors", "nodes", "method", "seconds", "same label, on the map", "same label, by vectors"]
    cells = [
        [
            row["vectors"],
            f"{row['nodes']:,}",
            {"tsne": "t-SNE", "pca": "principal components"}[row["method"]],
            f"{row['seconds']:.1f}",
            f"{row['on_the_map']:.3f}",
            f"{row['by_vectors']:.3f}",
        ]
        for row in rows
    ]
    write("maps", rows, markdown(header, cells))


if __name__ == "__main__":
    main()
