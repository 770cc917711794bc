"""How many dimensions: AE, MUSAE and FeatureDiffusion with 64 to 512, and what rules without labels would have chosen.

Scores are micro-F1 of the paper's splits, R² for the Wikipedia networks (standardised vectors), and micro-F1 with 20
labelled nodes of each class. The rules look at the singular values of the scale of walks of AE with 512 dimensions, and
at the norm of its matrix:

``noise``     keeps those above the largest that a random matrix with the entries that are left would have,
              s·(√n + √q) with s² their mean square (Gavish and Donoho 2014 call the same the bulk edge);
``elbow``     stops where the curve of singular values is farthest below the line from its first to its last value;
``share``     stops where half of the squared norm is held;
``rewired``   keeps those above the one of the same rank where edges are drawn anew with the same degrees, and features
              stay (Horn's parallel analysis 1965, against a configuration model).

A rule's choice is rounded to the nearest of the widths that were measured. ``loss`` is the score of the best width less
that of the rule's, in the mean over data sets.

    HOPSCALE_DATA=... python benchmarks/width.py [--datasets cora twitch-pt] [--splits 10] [--update]

With ``--datasets`` nothing is written, but with ``--update`` what is measured takes the place of the same data sets in
the file of results.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from hopscale import AE, MUSAE, AttributedGraph, FeatureDiffusion
from hopscale.exceptions import HopscaleWarning
from hopscale.tasks import few_shot, node_classification, node_regression
from measure import REGRESSION, graph_and_target, markdown, updated, write

TWITCH = ("twitch-de", "twitch-en", "twitch-es", "twitch-fr", "twitch-ru")
DATASETS = (
    "cora", "citeseer", "pubmed", "facebook", "github", "deezer-europe", "twitch-pt", *REGRESSION, *TWITCH, "digits"
)  # fmt: skip
WIDTHS = (64, 128, 256, 512)
MODELS = {"AE": AE, "MUSAE": MUSAE, "FeatureDiffusion": FeatureDiffusion}
RULES = ("noise", "elbow", "share", "rewired")

Record = dict[str, Any]


def measured(name: str, splits: int) -> Iterator[Record]:
    """Scores of each model and width; and of AE the choices of the rules."""
    graph, target = graph_and_target(name)
    for kind, model in MODELS.items():
        for width in WIDTHS:
            fitted = model(width).fit(graph)
            X, what = fitted.embedding_, {"dataset": name, "model": kind, "width": width}
            if name in REGRESSION:
                found = node_regression(X, target, standardize=True, splits=splits)
                yield {**what, "task": "80/20", "scores": [r["r2"] for r in found]}
            else:
                found = node_classification(X, target, splits=splits)
                yield {**what, "task": "80/20", "scores": [r["micro_f1"] for r in found]}
                found = few_shot(X, target, samples_per_class=20, splits=splits)
                yield {**what, "task": "k = 20", "scores": [r["micro_f1"] for r in found]}
        if kind == "AE":
            yield {"dataset": name, "model": kind, "task": "rules", **chosen(fitted, graph)}


def chosen(fitted: AE, graph: AttributedGraph) -> dict[str, int]:
    """Dimensions that each rule asks for, of all scales together; at most those of the model."""
    n, q = graph.features.shape
    sigma, norm = spectrum(fitted)
    left = np.maximum(norm - np.cumsum(sigma**2), 0.0)
    edge = np.sqrt(left / (n * q)) * (np.sqrt(n) + np.sqrt(q))
    line = sigma[0] + (sigma[-1] - sigma[0]) * np.arange(len(sigma)) / (len(sigma) - 1)
    chance, _ = spectrum(AE(fitted.embedding_.shape[1]).fit(rewired(graph)))
    counts = {
        "noise": int((sigma > edge).sum()),
        "elbow": int(np.argmax(line - sigma)) + 1,
        "share": int((norm - left < 0.5 * norm).sum()) + 1,
        "rewired": int((sigma > chance).sum()),
    }
    whole = fitted.embedding_.shape[1] / len(sigma)  # the scale of a node's own features has a quarter
    return {rule: round(min(count, len(sigma)) * whole) for rule, count in counts.items()}


def spectrum(fitted: AE) -> tuple[np.ndarray, float]:
    """Singular values of the scale of walks, and the squared norm of its matrix."""
    label = list(fitted.scale_columns_)[-1]
    sigma = fitted.singular_values_[fitted.scale_columns_[label]].astype(np.float64)
    return sigma, float(sigma @ sigma) / fitted.captured_[label]


def rewired(graph: AttributedGraph) -> AttributedGraph:
    """A graph of the same features and degrees, but for loops, which are left out: ends of edges are shuffled."""
    edges = sp.triu(graph.adjacency, k=1, format="coo")
    ends = np.random.default_rng(0).permutation(np.concatenate([edges.row, edges.col]))
    one, other = np.split(ends, 2)
    kept = one != other
    half = sp.coo_array((np.ones(kept.sum()), (one[kept], other[kept])), shape=edges.shape).tocsr()
    return AttributedGraph(sp.csr_array(half + half.T), graph.features)


def nearest(width: float) -> int:
    """Of the widths that were measured, on a scale of ratios."""
    return min(WIDTHS, key=lambda each: abs(np.log(each / max(width, 1))))


def table(records: list[Record]) -> str:
    """Scores by width, and what the rules lose."""
    names = list(dict.fromkeys(r["dataset"] for r in records))
    means = {
        (r["dataset"], r["model"], r["task"], r["width"]): float(np.mean(r["scores"]))
        for r in records
        if r["task"] != "rules"
    }
    rules = {r["dataset"]: r for r in records if r["task"] == "rules"}
    parts = []
    for task in ("80/20", "k = 20"):
        rows = [
            [name, *(f"{means[name, kind, task, width]:.4f}" for kind in MODELS for width in WIDTHS)]
            for name in names
            if (name, "AE", task, WIDTHS[0]) in means
        ]
        header = ["data set", *(f"{kind} {width}" for kind in MODELS for width in WIDTHS)]
        parts.append(f"{task}:\n\n{markdown(header, rows)}")
    rows = []
    for name in names:
        scores = {width: means[name, "AE", "80/20", width] for width in WIDTHS}
        best = max(WIDTHS, key=lambda width: scores[width])
        rows.append([name, best, *(rules[name][rule] for rule in RULES)])
    losses = {}
    for rule in (*RULES, *WIDTHS):
        picks = {name: nearest(rules[name][rule]) if isinstance(rule, str) else rule for name in names}
        losses[rule] = [
            max(means[name, "AE", "80/20", w] for w in WIDTHS) - means[name, "AE", "80/20", picks[name]]
            for name in names
        ]
    parts.append(f"Dimensions that rules ask for, AE:\n\n{markdown(['data set', 'best of four', *RULES], rows)}")
    loss = [["mean", *(f"{np.mean(x):.4f}" for x in losses.values())]]
    loss += [["largest", *(f"{np.max(x):.4f}" for x in losses.values())]]
    header = ["loss", *(str(rule) for rule in losses)]
    parts.append(f"What rules and fixed widths lose against the best of four, AE at 80/20:\n\n{markdown(header, loss)}")
    return "\n\n".join(parts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--datasets", nargs="+", choices=DATASETS, default=None)
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--update", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore", HopscaleWarning)
    records: list[Record] = []
    for name in options.datasets or DATASETS:
        records += measured(name, options.splits)
        print(f"{name} done", flush=True)
    if options.update:
        records = sorted(updated("width", records, ("dataset",)), key=lambda r: DATASETS.index(r["dataset"]))
    if options.datasets and not options.update:
        print(table(records))
    else:
        write("width", records, table(records))


if __name__ == "__main__":
    main()
