"""What the paper leaves open about its evaluation, decided by measurement on other data than is reported.

Classification: which C of the logistic regression, raw or standardised vectors. Asked on the five Twitch networks that
are not in the paper's table.
Regression: the base of the logarithm, raw or standardised vectors. There are no other data sets, so it is asked within
the training part of the first split; its rows are in the test parts of other splits, which this cannot avoid.

    HOPSCALE_DATA=... python benchmarks/open_questions.py [--splits 20]
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

from hopscale import AE, MUSAE, load
from hopscale.tasks import node_classification, node_regression
from hopscale.tasks.splits import seeded_splits
from measure import REGRESSION, markdown, write

TUNED_ON = ("twitch-de", "twitch-en", "twitch-es", "twitch-fr", "twitch-ru")
MODELS = {"AE": lambda: AE(), "MUSAE": lambda: MUSAE(), "MUSAE-EGO": lambda: MUSAE(ego=True)}
PENALTIES = (0.01, 0.1, 1.0, 10.0, 100.0)  # C; the paper's λ = .01 would be 100 if it meant 1/C
BASES = {"natural": 1.0, "2": np.log(2), "10": np.log(10)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--splits", type=int, default=20)
    options = parser.parse_args()
    records: list[dict[str, Any]] = []
    for dataset in TUNED_ON:
        graph = load(dataset)
        for name, build in MODELS.items():
            vectors = build().fit_transform(graph)
            for standardize in (False, True):
                for C in PENALTIES:
                    found = node_classification(
                        vectors, graph.labels, C=C, standardize=standardize, splits=options.splits
                    )
                    score = float(np.mean([record["micro_f1"] for record in found]))
                    what = {"dataset": dataset, "model": name, "standardize": standardize}
                    records.append({**what, "C": C, "score": score})
    for dataset in REGRESSION:
        graph = load(dataset)
        [(rows, _)] = seeded_splits(graph.n_nodes, 1, 0.2, 0)
        for name, build in MODELS.items():
            vectors = build().fit_transform(graph)[rows]
            for standardize in (False, True):
                for base, divisor in BASES.items():
                    target = np.log(graph.labels[rows]) / divisor
                    found = node_regression(
                        vectors, target, standardize=standardize, splits=options.splits, random_state=1
                    )
                    score = float(np.mean([record["r2"] for record in found]))
                    what = {"dataset": dataset, "model": name, "standardize": standardize}
                    records.append({**what, "base": base, "score": score})
    write("open_questions", records, table(records))


def table(records: list[dict[str, Any]]) -> str:
    def rows(key: str, values: tuple[Any, ...]) -> list[list[str]]:
        lines = []
        for name in MODELS:
            for standardize in (False, True):
                line = [name, "standardised" if standardize else "raw"]
                for value in values:
                    scores = [
                        r["score"]
                        for r in records
                        if (r["model"], r["standardize"], r.get(key)) == (name, standardize, value)
                    ]
                    line.append(f"{np.mean(scores):.4f}")
                lines.append(line)
        return lines

    header = ["model", "vectors"]
    first = markdown([*header, *(f"C = {C:g}" for C in PENALTIES)], rows("C", PENALTIES))
    second = markdown([*header, *(f"logarithm: {base}" for base in BASES)], rows("base", tuple(BASES)))
    return (
        f"Classification, mean micro-F1 over {', '.join(TUNED_ON)}:\n\n{first}\n\n"
        f"Regression, mean R² over {', '.join(REGRESSION)}, within the training part of the first split:\n\n{second}"
    )


if __name__ == "__main__":
    main()
