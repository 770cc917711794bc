"""Vectors for few labelled nodes: AE, MUSAE and FeatureDiffusion, each with a logistic regression of C = 1.

``public`` is planetoid's own split, 20 labelled nodes of each class and 1,000 to test on; ``drawn`` are random draws of
20 of each class, all others to test on; curves are the paper's few-shot experiment, k labelled nodes of each class;
80/20 are the paper's splits, which tell what vectors for few labels lose where labels are many. ``√`` is
``PMI(power=0.5)``, ``+`` two models side by side. Micro-F1, for the Wikipedia networks R².

Of FeatureDiffusion, the length of vectors was chosen on twitch-de, -es and -ru; its teleport probability is that of
Gasteiger et al. 2019. ``spectrum`` and ``columns`` are variants that were tried: vectors UΣ^λ, and columns
of F divided by p(f)^β.

    HOPSCALE_DATA=... python benchmarks/few_labels.py [--datasets cora twitch-pt] [--draws 50]

With ``--datasets`` nothing is written.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from hopscale import AE, MUSAE, PMI, AttributedGraph, FeatureDiffusion
from hopscale.exceptions import HopscaleWarning
from hopscale.supervised.heads.logistic import fit_logistic
from hopscale.tasks import few_shot, node_classification, node_regression
from measure import REGRESSION, graph_and_target, markdown, write

PLANETOID = ("cora", "citeseer", "pubmed")
CURVES = ("facebook", "github", "twitch-pt")
TWITCH = ("twitch-de", "twitch-en", "twitch-es", "twitch-fr", "twitch-ru")
DATASETS = (*PLANETOID, *CURVES, "deezer-europe", *TWITCH, *REGRESSION)
VARIANTS = ("cora", "citeseer", "twitch-pt")
K = tuple(range(3, 31, 3))
SPLITS = 10
ROOT = {"solver": PMI(power=0.5)}

Record = dict[str, Any]


def methods(graph: AttributedGraph) -> dict[str, np.ndarray]:
    """Vectors of each method."""
    found = {
        "AE": AE().fit_transform(graph),
        "AE √": AE(**ROOT).fit_transform(graph),
        "MUSAE": MUSAE().fit_transform(graph),
        "MUSAE √": MUSAE(**ROOT).fit_transform(graph),
        "FeatureDiffusion": FeatureDiffusion().fit_transform(graph),
    }
    return {**found, "MUSAE + FeatureDiffusion": np.hstack([found["MUSAE"], found["FeatureDiffusion"]])}


def variants(graph: AttributedGraph) -> dict[str, np.ndarray]:
    """FeatureDiffusion with other weights of its singular values, or of the columns of F; lengths are the same."""
    X, found = FeatureDiffusion().fit_transform(graph), {}
    norms = np.linalg.norm(X, axis=0)
    for power in (0.5, 1.5):
        Y = X * np.where(norms > 0, norms, 1.0) ** (power - 1)
        found[f"spectrum, λ = {power:g}"] = Y * np.linalg.norm(X) / np.linalg.norm(Y)
    share = np.asarray(graph.features.mean(axis=0)).ravel()
    for exponent in (0.25, 0.5):
        weights = np.divide(1.0, share**exponent, out=np.zeros_like(share), where=share > 0)
        weighted = AttributedGraph(graph.adjacency, sp.csr_array(graph.features @ sp.diags_array(weights)))
        found[f"columns, β = {exponent:g}"] = FeatureDiffusion().fit_transform(weighted)
    return found


def public_score(X: np.ndarray, labels: np.ndarray) -> float:
    """Accuracy on planetoid's split: its files list the labelled nodes first, and those to test on last."""
    labelled = np.flatnonzero(labels >= 0)
    classes = int(labels.max()) + 1
    train, test = np.arange(20 * classes), labelled[-1000:]
    assert (np.bincount(labels[train]) == 20).all()
    fit = fit_logistic(X[train].astype(np.float64), labels[train], classes, C=1.0, standardize=False)
    return float(np.mean(fit.probabilities(X[test].astype(np.float64)).argmax(axis=1) == labels[test]))


def measured(name: str, draws: int) -> Iterator[Record]:
    """One record a task and method, with the score of each draw or split."""
    graph, target = graph_and_target(name)
    all_vectors = methods(graph) | (variants(graph) if name in VARIANTS else {})
    for method, X in all_vectors.items():
        what = {"dataset": name, "method": method}
        if name in REGRESSION:
            found = node_regression(X, target, standardize=True, splits=SPLITS)
            yield {**what, "task": "80/20", "scores": [r["r2"] for r in found]}
            continue
        found = node_classification(X, target, splits=SPLITS)
        yield {**what, "task": "80/20", "scores": [r["micro_f1"] for r in found]}
        if name in PLANETOID:
            yield {**what, "task": "public", "scores": [public_score(X, target)]}
        counts = (*(K if name in CURVES else (3,)), 20)
        found = few_shot(X, target, samples_per_class=counts, splits=draws, random_state=1)
        for k in counts:
            scores = [r["micro_f1"] for r in found if r["k"] == k]
            yield {**what, "task": "drawn" if k == 20 else f"k = {k}", "scores": scores}


def table(records: list[Record]) -> str:
    """A table a task: methods in rows, data sets in columns."""
    parts = []
    few = [f"k = {k}" for k in K]
    for title, tasks in (
        ("Planetoid's public split, 20 of each class", ["public"]),
        ("20 of each class, drawn", ["drawn"]),
        ("3 of each class, drawn", ["k = 3"]),
        ("80/20", ["80/20"]),
        *((f"{name}: k of each class, drawn", few) for name in CURVES),
    ):
        name = title.partition(":")[0]
        some = [r for r in records if r["task"] in tasks and (":" not in title or r["dataset"] == name)]
        if not some:
            continue
        key = "task" if ":" in title else "dataset"
        order = few if key == "task" else DATASETS
        columns = sorted({r[key] for r in some}, key=order.index)
        rows = []
        for method in dict.fromkeys(r["method"] for r in some):
            cells = {r[key]: _cell(r["scores"]) for r in some if r["method"] == method}
            rows.append([method, *(cells.get(column, "") for column in columns)])
        parts.append(f"{title}:\n\n{markdown(['vectors', *columns], rows)}")
    return "\n\n".join(parts)


def _cell(scores: list[float]) -> str:
    error = np.std(scores, ddof=1) / np.sqrt(len(scores)) if len(scores) > 1 else None
    return f"{np.mean(scores):.3f}" + ("" if error is None else f" ± {error:.3f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--datasets", nargs="+", choices=DATASETS, default=None)
    parser.add_argument("--draws", type=int, default=50)
    options = parser.parse_args()
    warnings.simplefilter("ignore", HopscaleWarning)
    records: list[Record] = []
    for name in options.datasets or DATASETS:
        records += measured(name, options.draws)
        print(f"{name} done", flush=True)
    if options.datasets:
        print(table(records))
    else:
        write("few_labels", records, table(records))


if __name__ == "__main__":
    main()
