"""Networks on features, on our vectors, and on both side by side: do vectors that saw no labels help them?

AE with its defaults is fitted once a data set; the splits are those of the paper's table, and nothing is tuned.
A second table has the best of these networks beside `GraphClassifier`, which `hopscale reproduce` measures.

    HOPSCALE_DATA=... python benchmarks/networks_inputs.py [--splits 10] [--jobs 1] [--datasets cora citeseer]
    python benchmarks/networks_inputs.py --only-tables
"""

from __future__ import annotations

import argparse
import json
from concurrent.futures import ThreadPoolExecutor, as_completed
from itertools import product
from typing import Any

from hopscale import AE
from hopscale.paper.estimates import TEST_SHARES, estimate, paired
from hopscale.paper.store import records_of
from hopscale.paper.supervised import device_of, scores_of_splits
from measure import PAPER, RESULTS, graph_and_target, in_new_process, markdown, write

DATASETS = ("facebook", "github", "twitch-pt", "deezer-europe", "cora", "citeseer", "pubmed")
NETWORKS = ("GCN", "MixHop", "APPNP", "SGCONV")
INPUTS = ("features", "vectors", "both")
SHARE = TEST_SHARES["classification"]


def one(dataset: str, network: str, splits: int, epochs: int) -> list[dict[str, Any]]:
    """Records of a network on a data set, one for each kind of input."""
    graph, labels = graph_and_target(dataset)
    vectors = AE().fit_transform(graph)
    records = []
    for inputs in INPUTS:
        parameters = {"epochs": epochs, "inputs": inputs, **({} if inputs == "features" else {"embedder": vectors})}
        found = scores_of_splits(network, graph, labels, parameters, splits=splits)
        what = {"dataset": dataset, "network": network, "inputs": inputs, "epochs": epochs}
        what["device"] = device_of(network, {})
        records.append({**what, **{key: [record[key] for record in found] for key in ("micro_f1", "seconds")}})
    return records


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--epochs", type=int, default=200)
    parser.add_argument("--jobs", type=int, default=1, help="networks at a time, each in a process of its own")
    parser.add_argument("--datasets", nargs="+", default=DATASETS, choices=DATASETS)
    parser.add_argument("--only-tables", action="store_true", help="write the tables of what was measured")
    parser.add_argument("--one", nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.only_tables:
        write_tables(json.loads((RESULTS / "networks_inputs.json").read_text())["records"])
        return
    if options.one:
        dataset, network, splits, epochs = options.one
        print(json.dumps({"records": one(dataset, network, int(splits), int(epochs))}))
        return
    cells = list(product(options.datasets, NETWORKS))
    parts: dict[tuple[str, str], list[dict[str, Any]]] = {}
    settings = (str(options.splits), str(options.epochs))
    with ThreadPoolExecutor(options.jobs) as pool:
        jobs = {pool.submit(in_new_process, __file__, *cell, *settings): cell for cell in cells}
        for job in as_completed(jobs):  # written each time: an interruption loses little
            parts[jobs[job]] = job.result()["records"]
            records = [record for cell in cells for record in parts.get(cell, [])]
            write("networks_inputs", records, table(records))
    write_tables(records)


def write_tables(records: list[dict[str, Any]]) -> None:
    for name, text in (("networks_inputs", table(records)), ("networks_beside", beside(records))):
        (RESULTS / f"{name}.md").write_text(text + "\n")


def beside(records: list[dict[str, Any]]) -> str:
    """`GraphClassifier` on the same splits as the best network on features, and on features and vectors."""
    ours = {
        record["cell"]["dataset"]: record["scores"]["micro_f1"]
        for record in records_of(PAPER, "classification").records()
        if record["cell"]["method"] == "GraphClassifier" and not record["cell"]["parameters"]
    }
    rows = []
    for dataset in (each for each in DATASETS if each in ours):
        row, splits = [dataset], 0
        for inputs in ("features", "both"):
            here = [r for r in records if (r["dataset"], r["inputs"]) == (dataset, inputs)]
            best = max(here, key=lambda r: estimate(r["micro_f1"]).mean)
            difference, splits = paired(ours[dataset], best["micro_f1"], SHARE)
            row += [f"{estimate(best['micro_f1'], SHARE)} ({best['network']})", difference.signed]
        rows.append([*row[:1], str(estimate(ours[dataset][:splits], SHARE)), *row[1:], splits])
    header = ["data set", "GraphClassifier", "best network on features", "difference"]
    return markdown([*header, "best on features and vectors", "difference", "splits"], rows)


def table(records: list[dict[str, Any]]) -> str:
    rows = []
    for dataset in dict.fromkeys(record["dataset"] for record in records):
        for network in dict.fromkeys(r["network"] for r in records if r["dataset"] == dataset):
            here = {r["inputs"]: r["micro_f1"] for r in records if (r["dataset"], r["network"]) == (dataset, network)}
            texts = [str(estimate(here[inputs], SHARE)) for inputs in INPUTS]
            rows.append([dataset, network, *texts])
    return markdown(["data set", "network", *INPUTS], rows)


if __name__ == "__main__":
    main()
