"""How much scores of the direct solver's vectors depend on its seed, beside the error that tables show for splits.

Its random start and sampled rows are seeded. Tables have one fit of it, because fits are alike: this says how much.

    HOPSCALE_DATA=... python benchmarks/seed_spread.py [--splits 20] [--seeds 5]
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

from hopscale.paper.estimates import TEST_SHARES, estimate
from hopscale.paper.methods import METHODS
from hopscale.tasks import node_classification, node_regression
from measure import REGRESSION, graph_and_target, markdown, write

DATASETS = ("facebook", "github", "twitch-pt", "deezer-europe", "cora", "citeseer", "pubmed", *REGRESSION)
MODELS = ("AE", "MUSAE")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--splits", type=int, default=20)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--n-jobs", type=int, default=-1)
    options = parser.parse_args()
    records: list[dict[str, Any]] = []
    for dataset in DATASETS:
        graph, target = graph_and_target(dataset)
        task, metric = (node_regression, "r2") if dataset in REGRESSION else (node_classification, "micro_f1")
        for name in MODELS:
            for seed in range(options.seeds):
                model = METHODS[name].build("pmi", random_state=seed, n_jobs=options.n_jobs)
                found = task(model.fit_transform(graph), target, splits=options.splits, n_jobs=options.n_jobs)
                scores = [record[metric] for record in found]
                records.append({"dataset": dataset, "model": name, "seed": seed, "scores": scores})
            print(dataset, name, flush=True)
    write("seed_spread", records, table(records))


def table(records: list[dict[str, Any]]) -> str:
    """The deviation over seeds of the mean over splits, and the corrected standard error of one fit."""
    rows = []
    for dataset in dict.fromkeys(record["dataset"] for record in records):
        for name in MODELS:
            scores = [r["scores"] for r in records if (r["dataset"], r["model"]) == (dataset, name)]
            means = np.mean(scores, axis=1)
            error = estimate(scores[0], TEST_SHARES["classification"]).error
            rows.append([dataset, name, f"{means.mean():.4f}", f"{means.std(ddof=1):.5f}", f"{error:.4f}"])
    header = ["data set", "model, raw vectors", "score", "deviation over seeds", "standard error of a fit, over splits"]
    return markdown(header, rows)


if __name__ == "__main__":
    main()
