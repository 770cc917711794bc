"""How far leading singular vectors reach beyond a graph's largest component: why factorisations lose on citeseer.

HOPSCALE_DATA=... python benchmarks/components_reach.py
"""

from __future__ import annotations

import numpy as np
from scipy.sparse.csgraph import connected_components

from hopscale import DeepWalk, GraRep, NetMF, Walklets
from measure import graph_and_target, markdown, write

MODELS = {
    "DeepWalk": DeepWalk(),
    "NetMF": NetMF(window=5),
    "Walklets": Walklets(window=4),
    "GraRep": GraRep(),
    "Walklets, trained": Walklets(window=4, solver="sgns"),
}


def main() -> None:
    records = []
    for dataset in ("cora", "citeseer"):
        graph, _ = graph_and_target(dataset)
        count, label = connected_components(graph.adjacency)
        outside = label != np.bincount(label).argmax()
        for name, model in MODELS.items():
            squared = (model.fit_transform(graph).astype(np.float64) ** 2).sum(axis=1)
            record = {"dataset": dataset, "model": name, "components": int(count), "nodes": float(outside.mean())}
            records.append({**record, "squared_length": float(squared[outside].sum() / squared.sum())})
    header = ["data set", "components", "nodes outside the largest", "model", "squared length of their vectors"]
    rows = [
        [r["dataset"], r["components"], f"{r['nodes']:.1%}", r["model"], f"{r['squared_length']:.1%}"] for r in records
    ]
    write("components_reach", records, markdown(header, rows))


if __name__ == "__main__":
    main()
