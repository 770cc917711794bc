"""Networks on features, on our vectors, and on both side by side: do vectors that saw no labels help them?

AE with its defaults is fitted once a data set; the splits are those of the paper's table, and nothing is tuned.

    HOPSCALE_DATA=... python benchmarks/networks_inputs.py [--splits 10] [--jobs 1] [--datasets cora citeseer]
"""

from __future__ import annotations

import argparse
import json
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

from hopscale import AE, load
from hopscale.paper.supervised import device_of, scores_of_splits
from hopscale.tasks.metrics import mean_and_error
from measure import in_new_process, markdown, write

DATASETS = ("facebook", "github", "twitch-pt", "deezer-europe", "cora", "citeseer", "pubmed")
NETWORKS = ("GCN", "MixHop", "APPNP", "SGCONV")
INPUTS = ("features", "vectors", "both")


def one(dataset: str, splits: int) -> list[dict[str, Any]]:
    """Records of all networks and inputs on a data set."""
    vectors = AE().fit_transform(load(dataset))
    records = []
    for network in NETWORKS:
        for inputs in INPUTS:
            parameters = {"inputs": inputs, **({} if inputs == "features" else {"embedder": vectors})}
            found = scores_of_splits(network, dataset, parameters, splits=splits, seed=0, n_jobs=None, data=None)
            scores = [record["micro_f1"] for record in found]
            what = {"dataset": dataset, "network": network, "inputs": inputs, "device": device_of({})}
            records.append({**what, "micro_f1": scores, "seconds": [record["seconds"] for record in found]})
    return records


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=1, help="data sets at a time, each in a process of its own")
    parser.add_argument("--datasets", nargs="+", default=DATASETS, choices=DATASETS)
    parser.add_argument("--one", nargs=2, metavar=("DATASET", "SPLITS"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps({"records": one(options.one[0], int(options.one[1]))}))
        return
    measure = partial(in_new_process, __file__)
    with ThreadPoolExecutor(options.jobs) as pool:
        parts = pool.map(lambda dataset: measure(dataset, str(options.splits))["records"], options.datasets)
        records = [record for part in parts for record in part]
    write("networks_inputs", records, table(records))


def table(records: list[dict[str, Any]]) -> str:
    rows = []
    for dataset in dict.fromkeys(record["dataset"] for record in records):
        for network in NETWORKS:
            here = {r["inputs"]: r["micro_f1"] for r in records if (r["dataset"], r["network"]) == (dataset, network)}
            texts = ["{:.3f} ± {:.3f}".format(*mean_and_error(here[inputs])) for inputs in INPUTS]
            rows.append([dataset, network, *texts])
    return markdown(["data set", "network", *INPUTS], rows)


if __name__ == "__main__":
    main()
