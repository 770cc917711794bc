"""Dense features of any sign: halves by sign, or bins, and how many; asked within the training part of the first split.

Dense features are the leading 64 principal components of a data set's own, which stand for sentence embeddings. Vectors
learn from all nodes, as they see no label; every score is of splits within the training part.

    HOPSCALE_DATA=... python benchmarks/dense_features.py [--splits 10]
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.decomposition import PCA

from hopscale import AE, MUSAE, AttributedGraph, load
from hopscale.features import binned, signed
from hopscale.tasks import node_classification, node_regression
from hopscale.tasks.splits import seeded_splits
from measure import REGRESSION, graph_and_target, markdown, write

DATASETS = ("digits", "planted-blocks", "cora", "citeseer", "twitch-de", "twitch-pt", "wiki-chameleon", "wiki-squirrel")
MODELS = {"AE": AE, "MUSAE": MUSAE}
WIDTH = 64
WAYS: dict[str, Callable[[np.ndarray], Any]] = {
    "signed": lambda x: signed(x)[0],
    "signed, each column of variance 1": lambda x: signed(x / np.maximum(x.std(axis=0), 1e-12))[0],
    **{f"binned, {bins} bins": lambda x, bins=bins: binned(x, bins)[0] for bins in (2, 3, 5, 10)},
    "shifted above zero": lambda x: x - x.min(axis=0),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--splits", type=int, default=10)
    options = parser.parse_args()
    records = []
    for dataset in DATASETS:
        graph, target = (
            graph_and_target(dataset) if dataset != "planted-blocks" else (load(dataset), load(dataset).labels)
        )
        [(rows, _)] = seeded_splits(graph.n_nodes, 1, 0.2, 0)
        width = min(WIDTH, graph.n_features - 1)
        dense = PCA(width, random_state=0).fit_transform(graph.features.toarray().astype(np.float64))
        ways = {"the sparse features themselves": graph.features, **{name: make(dense) for name, make in WAYS.items()}}
        for way, features in ways.items():
            for name, model in MODELS.items():
                vectors = model().fit_transform(AttributedGraph(graph.adjacency, features, self_loops=True))
                task = node_regression if dataset in REGRESSION else node_classification
                found = task(vectors[rows], target[rows], splits=options.splits, standardize=True, random_state=1)
                score = float(np.mean([record["r2" if dataset in REGRESSION else "micro_f1"] for record in found]))
                records.append({"dataset": dataset, "way": way, "model": name, "score": score})
    write("dense_features", records, table(records))


def table(records: list[dict[str, Any]]) -> str:
    """Scores of each way on each data set, mean over the models, and their mean."""
    ways = list(dict.fromkeys(record["way"] for record in records))
    rows = []
    for way in ways:
        scores = [
            np.mean([r["score"] for r in records if (r["way"], r["dataset"]) == (way, dataset)]) for dataset in DATASETS
        ]
        rows.append([way, *(f"{score:.3f}" for score in scores), f"{np.mean(scores):.4f}"])
    return markdown(["features", *DATASETS, "mean"], rows)


if __name__ == "__main__":
    main()
