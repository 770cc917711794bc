"""Peak memory of the direct solver under its memory limit, on the two widest data sets of the paper.

HOPSCALE_DATA=... python benchmarks/pmi_memory.py
"""

from __future__ import annotations

import argparse
import json
import warnings

import numpy as np

from hopscale import MUSAE, PMI
from hopscale.exceptions import HopscaleWarning
from hopscale.tasks import evaluate, summarize
from measure import graph_and_target, in_new_process, markdown, measured, peak_mib, resident_mib, write
from reference import reference_embedding

DATASETS = ("wiki-crocodile", "deezer-europe")
LIMITS = ("4GiB", "1GiB", "256MiB", "64MiB")


def one(dataset: str, limit: str) -> dict[str, object]:
    graph, target = graph_and_target(dataset)
    before = resident_mib()
    if limit == "reference":
        seconds, (vectors, _) = measured(lambda: reference_embedding(graph.adjacency, graph.features, dense=False))
        rows = "sparse reference"
    else:
        model = MUSAE(solver=PMI(memory_limit=limit))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", HopscaleWarning)
            seconds, vectors = measured(lambda: model.fit_transform(graph))
        rows = "; ".join(f"{label}: {words}" for label, words in model.rows_.items())
    memory = peak_mib() - before
    scores = summarize(evaluate(np.asarray(vectors), target, splits=3, standardize=True))
    score = scores.get("r2", scores.get("micro_f1"))
    assert score is not None
    return {
        "dataset": dataset,
        "limit": limit,
        "seconds": seconds,
        "memory_mib": memory,
        "score": score["mean"],
        "rows": rows,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--one", nargs=2, metavar=("DATASET", "LIMIT"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(one(*options.one)))
        return
    records = [in_new_process(__file__, dataset, limit) for dataset in DATASETS for limit in (*LIMITS, "reference")]
    rows = [
        [r["dataset"], r["limit"], f"{r['memory_mib']:.0f}", f"{r['seconds']:.1f}", f"{r['score']:.3f}", r["rows"]]
        for r in records
    ]
    header = ["data set", "memory_limit", "peak above graph, MiB", "seconds", "score", "rows"]
    write("pmi_memory", records, markdown(header, rows))


if __name__ == "__main__":
    main()
