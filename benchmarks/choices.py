"""Choices of the solvers that were made on reported data sets, asked again on five networks that are in no table.

``docs/decisions.md`` says what was chosen on what data. Where a choice is a parameter, this asks what the five Twitch
networks that the paper's tables leave out would have chosen: the shift of the direct solver's target, and whether
skip-gram shares its noise.

    HOPSCALE_DATA=... python benchmarks/choices.py [--splits 20]
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

from hopscale import load
from hopscale.paper.estimates import TEST_SHARES, estimate, paired
from hopscale.paper.methods import METHODS
from hopscale.tasks import node_classification
from measure import markdown, write

ASKED_ON = ("twitch-de", "twitch-en", "twitch-es", "twitch-fr", "twitch-ru")
MODELS = ("AE", "MUSAE")
SHIFTS = (1.0, 2.0, 5.0)
TRAINED = {"walks_per_node": 1, "epochs": 1}  # enough to see what sharing costs
SHARED = (True, False)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--splits", type=int, default=20)
    parser.add_argument("--n-jobs", type=int, default=-1)
    options = parser.parse_args()
    records: list[dict[str, Any]] = []
    for dataset in ASKED_ON:
        graph = load(dataset)
        for name in MODELS:
            asked = [("pmi", "shift", value, {"shift": value}) for value in SHIFTS]
            asked += [("sgns", "share_negatives", value, {"share_negatives": value, **TRAINED}) for value in SHARED]
            for solver, parameter, value, settings in asked:
                vectors = METHODS[name].build(solver, n_jobs=options.n_jobs, **settings).fit_transform(graph)
                found = node_classification(vectors, graph.labels, splits=options.splits, n_jobs=options.n_jobs)
                scores = [record["micro_f1"] for record in found]
                what = {"dataset": dataset, "model": name, "parameter": parameter, "value": value}
                records.append({**what, "scores": scores})
                print(what, f"{np.mean(scores):.4f}", flush=True)
    write("choices", records, table(records))


def table(records: list[dict[str, Any]]) -> str:
    """Means over the data sets, and by how much each value is above the default on the same splits."""
    share, rows = TEST_SHARES["classification"], []
    for parameter, values in (("shift", SHIFTS), ("share_negatives", SHARED)):
        for name in MODELS:
            by = {
                (r["dataset"], r["value"]): r["scores"]
                for r in records
                if r["model"] == name and r["parameter"] == parameter
            }
            for value in values:
                means = [estimate(by[dataset, value]).mean for dataset in ASKED_ON]
                apart = [paired(by[dataset, value], by[dataset, values[0]], share)[0] for dataset in ASKED_ON]
                clear = f"{sum(a.verdict == 'above' for a in apart)} / {sum(a.verdict == 'below' for a in apart)}"
                difference = "default" if value == values[0] else f"{np.mean([a.mean for a in apart]):+.4f} ({clear})"
                rows.append([name, f"`{parameter}={value}`", f"{np.mean(means):.4f}", difference])
    header = ["model", "setting", "micro-F1", "difference (clearly above / below)"]
    return f"Mean over {', '.join(ASKED_ON)}, raw vectors:\n\n{markdown(header, rows)}"


if __name__ == "__main__":
    main()
