"""How much scores of the direct solver's vectors depend on its seed, beside the error that tables show for splits.

Its random start and sampled rows are seeded. This says what a table of one fit would not know.

    HOPSCALE_DATA=... python benchmarks/seed_spread.py [--splits 20] [--seeds 5]
    python benchmarks/seed_spread.py --only-table
"""

from __future__ import annotations

import argparse
import json
from typing import Any

import numpy as np

from hopscale.paper.estimates import TEST_SHARES, estimate
from hopscale.paper.methods import METHODS
from hopscale.tasks import node_classification, node_regression
from measure import REGRESSION, RESULTS, graph_and_target, markdown, write

DATASETS = ("facebook", "github", "twitch-pt", "deezer-europe", "cora", "citeseer", "pubmed", *REGRESSION)
MODELS = ("AE", "MUSAE")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--splits", type=int, default=20)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--n-jobs", type=int, default=-1)
    parser.add_argument("--only-table", action="store_true", help="write the table of what was measured")
    options = parser.parse_args()
    if options.only_table:
        found = json.loads((RESULTS / "seed_spread.json").read_text())["records"]
        (RESULTS / "seed_spread.md").write_text(table(found) + "\n")
        return
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
    rows, deviations, farthest = [], [], 0.0
    for dataset in dict.fromkeys(record["dataset"] for record in records):
        for name in MODELS:
            scores = [r["scores"] for r in records if (r["dataset"], r["model"]) == (dataset, name)]
            means = np.mean(scores, axis=1)
            error = estimate(scores[0], TEST_SHARES["classification"]).error
            deviations.append(means.std(ddof=1) / error)
            farthest = max(farthest, float(abs(means - means.mean()).max()) / error)
            rows.append([dataset, name, f"{means.mean():.4f}", f"{means.std(ddof=1):.5f}", f"{error:.4f}"])
    header = ["data set", "model, raw vectors", "score", "deviation over seeds", "standard error of a fit, over splits"]
    told = (
        f"Scores deviate over seeds by {min(deviations):.2f} to {max(deviations):.2f} of the error in the last column; "
        f"the seed that is farthest from the mean of all seeds is {farthest:.1f} such errors away."
    )
    return f"{markdown(header, rows)}\n\n{told}"


if __name__ == "__main__":
    main()
