"""The direct solver against a plain NumPy/SciPy/scikit-learn rendition of the same mathematics.

Every measurement runs in a process of its own (so that memory peaks are its own), rivals take turns, and the
reference is given the better of its two forms, dense and sparse targets, on each data set.

    HOPSCALE_DATA=... python benchmarks/pmi_speed.py [--repeats 3] [--datasets ...]
"""

from __future__ import annotations

import argparse
import json

import numpy as np

from hopscale import MUSAE
from hopscale.tasks import evaluate, summarize
from measure import graph_and_target, in_new_process, markdown, measured, median, peak_mib, resident_mib, write
from reference import reference_embedding

DATASETS = ("wiki-chameleon", "twitch-pt", "facebook", "github")
RIVALS = ("hopscale", "reference-dense", "reference-sparse")


def one(rival: str, dataset: str) -> dict[str, float | str]:
    graph, target = graph_and_target(dataset)
    before = resident_mib()
    if rival == "hopscale":
        seconds, vectors = measured(lambda: MUSAE().fit_transform(graph))
    else:
        dense = rival == "reference-dense"
        seconds, (vectors, _) = measured(lambda: reference_embedding(graph.adjacency, graph.features, dense=dense))
    memory = peak_mib() - before
    scores = summarize(evaluate(np.asarray(vectors), target, splits=3, standardize=True))
    metric = "r2" if "r2" in scores else "micro_f1"
    return {
        "rival": rival,
        "dataset": dataset,
        "seconds": seconds,
        "memory_mib": memory,
        "metric": metric,
        "score": scores[metric]["mean"],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--datasets", nargs="+", default=DATASETS)
    parser.add_argument("--one", nargs=2, metavar=("RIVAL", "DATASET"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(one(*options.one)))
        return
    records = [
        in_new_process(__file__, rival, dataset)
        for dataset in options.datasets
        for _ in range(options.repeats)
        for rival in RIVALS
    ]
    rows = []
    for dataset in options.datasets:
        here = {rival: [r for r in records if (r["rival"], r["dataset"]) == (rival, dataset)] for rival in RIVALS}
        seconds = {rival: median(r["seconds"] for r in here[rival]) for rival in RIVALS}
        memory = {rival: median(r["memory_mib"] for r in here[rival]) for rival in RIVALS}
        score = {rival: median(r["score"] for r in here[rival]) for rival in RIVALS}
        best = min(RIVALS[1:], key=lambda rival: seconds[rival])
        rows.append(
            [
                dataset,
                f"{seconds['hopscale']:.2f}",
                *(f"{seconds[rival]:.2f}" for rival in RIVALS[1:]),
                f"{seconds[best] / seconds['hopscale']:.1f}×",
                f"{memory['hopscale']:.0f}",
                *(f"{memory[rival]:.0f}" for rival in RIVALS[1:]),
                f"{score['hopscale']:.3f} / {score[best]:.3f}",
            ]
        )
    header = (
        "data set|hopscale, s|dense reference, s|sparse reference, s|faster than the better one|"
        "hopscale, MiB|dense, MiB|sparse, MiB|score, hopscale / reference"
    )
    write("pmi_speed", records, markdown(header.split("|"), rows))


if __name__ == "__main__":
    main()
