"""What sharing negatives costs in quality: the same training with noise of each pair's own and with shared noise.

MUSAE with the paper's settings but fewer passes, several seeds; scores on 10 seeded 80/20 splits of standardised
vectors. The standard error is over splits, of the mean over seeds. More seeds than were measured before are added to
them.

    HOPSCALE_DATA=... python benchmarks/sgns_sharing.py [--epochs 2] [--seeds 2] [--datasets ...]
"""

from __future__ import annotations

import argparse
import json
from typing import Any

import numpy as np

from hopscale import MUSAE, SGNS
from hopscale.tasks import evaluate
from measure import REGRESSION, RESULTS, graph_and_target, markdown, measured, write

DATASETS = ("wiki-chameleon", "wiki-squirrel", "twitch-pt", "cora")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--datasets", nargs="+", default=DATASETS)
    options = parser.parse_args()
    kept = RESULTS / "sgns_sharing.json"
    records: list[dict[str, Any]] = json.loads(kept.read_text())["records"] if kept.exists() else []
    records = [record for record in records if record.get("epochs", 2) == options.epochs]
    done = {(record["dataset"], record["seed"], record["shared"]) for record in records}
    for dataset in options.datasets:
        graph, target = graph_and_target(dataset)
        metric = "r2" if dataset in REGRESSION else "micro_f1"
        for seed in range(options.seeds):
            for shared in (False, True):
                if (dataset, seed, shared) in done:
                    continue
                model = MUSAE(solver=SGNS(epochs=options.epochs, share_negatives=shared), random_state=seed)
                seconds, vectors = measured(lambda model=model, graph=graph: model.fit_transform(graph))
                scores = [record[metric] for record in evaluate(vectors, target, splits=10, standardize=True)]
                what = {"dataset": dataset, "seed": seed, "shared": shared, "epochs": options.epochs}
                records.append({**what, "seconds": seconds, "scores": scores})
                print(dataset, seed, shared, f"{seconds:.1f} s", f"{np.mean(scores):.4f}", flush=True)
    write("sgns_sharing", records, table(records))


def table(records: list[dict[str, Any]]) -> str:
    rows = []
    for dataset in dict.fromkeys(record["dataset"] for record in records):
        seeds = {record["seed"] for record in records if record["dataset"] == dataset}
        by = {
            shared: np.mean([r["scores"] for r in records if (r["dataset"], r["shared"]) == (dataset, shared)], axis=0)
            for shared in (False, True)
        }
        seconds = {
            shared: sum(r["seconds"] for r in records if (r["dataset"], r["shared"]) == (dataset, shared))
            for shared in (False, True)
        }
        error = by[False].std(ddof=1) / np.sqrt(len(by[False]))
        rows.append(
            [
                dataset,
                "R²" if dataset in REGRESSION else "F1",
                len(seeds),
                f"{by[False].mean():.4f} ± {error:.4f}",
                f"{by[True].mean():.4f}",
                f"{(by[True].mean() - by[False].mean()) / error:+.1f}",
                f"{seconds[False] / seconds[True]:.1f}×",
            ]
        )
    header = ["data set", "metric", "seeds", "own noise", "shared noise", "difference in standard errors", "faster"]
    return markdown(header, rows)


if __name__ == "__main__":
    main()
