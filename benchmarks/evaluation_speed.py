"""Scores over many seeded splits, fitted together, against a loop that fits scikit-learn's model to each.

The loop starts every fit from zero, with scikit-learn's default tolerance, and measures the paper's metric alone;
hopscale goes on until its fits are exact, and measures the baselines, macro-F1 and ROC-AUC beside it. Both run on
one thread, on the same vectors and splits, and take turns.

    HOPSCALE_DATA=... python benchmarks/evaluation_speed.py [--splits 100] [--repeats 3] [--datasets ...]
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.linear_model import ElasticNet, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from hopscale import MUSAE
from hopscale.exceptions import HopscaleWarning
from hopscale.tasks import node_classification, node_regression
from hopscale.tasks.labels import has_class
from hopscale.tasks.splits import seeded_split
from measure import REGRESSION, graph_and_target, markdown, measured, median, write

DATASETS = ("digits", "cora", "twitch-pt", "facebook", "wiki-chameleon")


def together(vectors: np.ndarray, target: np.ndarray, values: bool, splits: int, standardize: bool) -> list[float]:
    task, metric = (node_regression, "r2") if values else (node_classification, "micro_f1")
    return [record[metric] for record in task(vectors, target, splits=splits, standardize=standardize)]


def loop(vectors: np.ndarray, target: np.ndarray, values: bool, splits: int, standardize: bool) -> list[float]:
    known = np.ones(len(target), dtype=bool) if values else has_class(target)
    X, y = vectors[known].astype(np.float64), target[known]
    scores = []
    for split in range(splits):
        train, test = seeded_split(len(y), 0.2, 0, split)
        model: Any = ElasticNet(alpha=0.01, max_iter=10_000) if values else LogisticRegression(max_iter=2000)
        if standardize:
            model = make_pipeline(StandardScaler(), model)
        scores.append(model.fit(X[train], y[train]).score(X[test], y[test]))
    return scores


RIVALS: dict[str, Callable[..., list[float]]] = {"hopscale": together, "scikit-learn": loop}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--splits", type=int, default=100)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--datasets", nargs="+", default=DATASETS)
    options = parser.parse_args()
    records, rows = [], []
    warnings.simplefilter("ignore", HopscaleWarning)
    for dataset in options.datasets:
        graph, target = graph_and_target(dataset)
        vectors, values = MUSAE().fit_transform(graph), dataset in REGRESSION
        for standardize in (False, True):
            here: dict[str, list[dict[str, Any]]] = {rival: [] for rival in RIVALS}
            for _ in range(options.repeats):
                for rival, scored in RIVALS.items():
                    call = partial(scored, vectors, target, values, options.splits, standardize)
                    with threadpool_limits(1):
                        seconds, scores = measured(call)
                    record = {"rival": rival, "dataset": dataset, "standardize": standardize, "seconds": seconds}
                    here[rival].append({**record, "splits": options.splits, "score": float(np.mean(scores))})
            records += [record for rival in RIVALS for record in here[rival]]
            seconds_of = {rival: median(r["seconds"] for r in here[rival]) for rival in RIVALS}
            rows.append(
                [
                    dataset,
                    "standardised" if standardize else "raw",
                    *(f"{seconds_of[rival]:.2f}" for rival in RIVALS),
                    f"{seconds_of['scikit-learn'] / seconds_of['hopscale']:.1f}×",
                    *(f"{here[rival][0]['score']:.4f}" for rival in RIVALS),
                ]
            )
    header = ["data set", "vectors", "hopscale, s", "loop, s", "faster", "score, hopscale", "score, loop"]
    write("evaluation_speed", records, markdown(header, rows))


if __name__ == "__main__":
    main()
