"""Seconds from a graph and labels to predictions: GraphClassifier, its vectors included, beside a GCN on a processor.

Both with their defaults and all cores, on the same split; each data set in a process of its own, where the two take
turns. Scores are of that split: those of many are in docs/paper/classification.md.

    HOPSCALE_DATA=... python benchmarks/classifier_speed.py [--rounds 3] [--datasets cora citeseer]
"""

from __future__ import annotations

import argparse
import json
from typing import Any

import numpy as np

from hopscale import GCN, GraphClassifier, load
from hopscale.labels import class_codes
from hopscale.tasks.splits import seeded_splits
from measure import in_new_process, markdown, measured, median, write

DATASETS = ("facebook", "github", "twitch-pt", "deezer-europe", "cora", "citeseer", "pubmed")


def one(dataset: str, rounds: int) -> list[dict[str, Any]]:
    """Records of both on a data set."""
    graph = load(dataset)
    labelled = np.flatnonzero(class_codes(np.asarray(graph.labels))[0] >= 0)
    [(train, test)] = seeded_splits(len(labelled), 1, 0.2, 0)
    GCN(epochs=1, device="cpu").fit(graph, train=labelled[train])  # libraries are loaded
    records = []
    for turn in range(rounds):
        for model in (GraphClassifier(), GCN(device="cpu")):
            seconds, fitted = measured(lambda model=model: model.fit(graph, train=labelled[train]))
            score = fitted.score(graph, test=labelled[test])
            name = type(model).__name__
            records.append({"dataset": dataset, "model": name, "turn": turn, "seconds": seconds, "accuracy": score})
    return records


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--datasets", nargs="+", default=DATASETS, choices=DATASETS)
    parser.add_argument("--one", nargs=2, metavar=("DATASET", "ROUNDS"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps({"records": one(options.one[0], int(options.one[1]))}))
        return
    records = []
    for dataset in options.datasets:
        records += in_new_process(__file__, dataset, str(options.rounds))["records"]
    write("classifier_speed", records, table(records))


def table(records: list[dict[str, Any]]) -> str:
    rows, totals = [], [0.0, 0.0]
    for dataset in dict.fromkeys(record["dataset"] for record in records):
        seconds = []
        for model in ("GraphClassifier", "GCN"):
            here = [r["seconds"] for r in records if (r["dataset"], r["model"]) == (dataset, model)]
            seconds.append(median(here))
        totals = [total + each for total, each in zip(totals, seconds, strict=True)]
        rows.append([dataset, *(f"{each:.1f}" for each in seconds), f"{seconds[1] / seconds[0]:.1f}"])
    rows.append(["all", *(f"{total:.1f}" for total in totals), f"{totals[1] / totals[0]:.1f}"])
    return markdown(["data set", "GraphClassifier, s", "GCN, s", "ratio"], rows)


if __name__ == "__main__":
    main()
