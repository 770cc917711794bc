"""node2vec's p and q, searched as the MUSAE paper did: on a validation part of the training nodes.

The training part of the first split is split again, 80/20, three times; no test node of that split is looked at. (The
other splits' test parts overlap with it, as they do in any search that is made once.) Prints the command that scores
what was found.

    HOPSCALE_DATA=... python benchmarks/node2vec_search.py [--datasets cora ...] [--values 4 2 1 0.5 0.25]
"""

from __future__ import annotations

import argparse
import json
from itertools import product
from typing import Any

import numpy as np

from hopscale import Node2Vec
from hopscale.paper.methods import method
from hopscale.paper.store import records_of
from hopscale.tasks import evaluate
from hopscale.tasks.splits import seeded_split
from measure import PAPER, REGRESSION, RESULTS, graph_and_target, markdown, measured, write

STANDARDIZE = {"classification": False, "regression": True}
DATASETS = (
    *("twitch-pt", "cora", "citeseer", "wiki-chameleon", "wiki-squirrel"),
    *("pubmed", "facebook", "wiki-crocodile", "deezer-europe", "github"),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--datasets", nargs="+", default=DATASETS)
    parser.add_argument("--values", nargs="+", type=float, default=(4.0, 2.0, 1.0, 0.5, 0.25))
    options = parser.parse_args()
    kept = RESULTS / "node2vec_search.json"
    records: list[dict[str, Any]] = json.loads(kept.read_text())["records"] if kept.exists() else []
    done = {(record["dataset"], record["p"], record["q"]) for record in records}
    for dataset in options.datasets:
        graph, target = graph_and_target(dataset)
        training, _ = seeded_split(graph.n_nodes, 0.2, 0, 0)
        experiment, metric = ("regression", "r2") if dataset in REGRESSION else ("classification", "micro_f1")
        for p, q in product(options.values, repeat=2):
            if (dataset, p, q) in done:
                continue
            model = method("Node2Vec").build(p=p, q=q, rows="sampled")  # the plain walk too
            assert isinstance(model, Node2Vec)
            seconds, vectors = measured(lambda model=model, graph=graph: model.fit_transform(graph))
            scores = evaluate(
                vectors[training], target[training], splits=3, random_state=1, standardize=STANDARDIZE[experiment]
            )
            score = float(np.mean([record[metric] for record in scores]))
            records.append({"dataset": dataset, "p": p, "q": q, "validation": score, "seconds": seconds})
            print(dataset, p, q, f"{score:.4f} {seconds:.1f} s", flush=True)
        write("node2vec_search", records, table(records))


def tested(dataset: str, **asked: float) -> str:
    """What ``hopscale reproduce`` has measured on the test parts with these values."""
    experiment, metric = ("regression", "r2") if dataset in REGRESSION else ("classification", "micro_f1")
    for record in records_of(PAPER, experiment).records():
        cell = record["cell"]
        given = {name: float(value) for name, value in cell["parameters"].items()}
        what = (cell["method"], cell["solver"], cell["dataset"], cell["standardize"])
        if what == ("Node2Vec", "pmi", dataset, STANDARDIZE[experiment]) and given == asked:
            return f"{np.mean(record['scores'][metric]):.3f}"
    return "–"


def table(records: list[dict[str, Any]]) -> str:
    rows = []
    for dataset in dict.fromkeys(record["dataset"] for record in records):
        here = [record for record in records if record["dataset"] == dataset]
        best = max(here, key=lambda record: record["validation"])
        plain = [record["validation"] for record in here if (record["p"], record["q"]) == (1.0, 1.0)]
        command = f"`hopscale reproduce {'regression' if dataset in REGRESSION else 'classification'} -m Node2Vec "
        command += f"-d {dataset} -p p={best['p']:g} -p q={best['q']:g}`"
        first = f"{plain[0]:.4f}" if plain else "–"
        scores = [f"{best['validation']:.4f}", first, tested(dataset, p=best["p"], q=best["q"]), tested(dataset)]
        rows.append([dataset, f"{best['p']:g}", f"{best['q']:g}", *scores, command])
    header = ["data set", "p", "q", "validation", "with p = q = 1", "test", "with p = q = 1, exact rows"]
    return markdown([*header, "what measures the test"], rows)


if __name__ == "__main__":
    main()
