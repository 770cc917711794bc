"""How good suggestions are: how many links and features that were removed before fitting are found again.

A fifth of the edges, or of the (node, feature) entries, is removed and the model fitted to the rest. For some nodes
that have lost something, a score suggests ten that the rest does not have: figures are the fraction of what a node
has lost, or of ten if that is more, that is among them. For links, ``neighbours`` is the index of Adamic and Adar and
``vectors`` the cosine; for features, the share of a node's neighbours that have one, and the likelihood of the task
``attribute_inference``. ``of the first 100`` is the fraction of removed edges among the hundred best pairs of all
nodes. How ``suggest_links`` and ``suggest_features`` score was chosen by figures of ``--random-state 0``; those of
others are of entries that took no part in it. The JSON file has more scores, and the ROC-AUC of the two tasks.

    HOPSCALE_DATA=... python benchmarks/suggestions.py [--nodes 500] [--random-state 1] [--datasets ...]
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp

from hopscale import AE, MUSAE, AttributedGraph, DeepWalk, load
from hopscale.exceptions import HopscaleWarning
from hopscale.tasks import attribute_inference, link_prediction, summarize
from hopscale.tasks.splits import graph_with, held_out_splits
from measure import markdown, write

DATASETS = ("planted-blocks", "digits", "cora", "facebook")
MODELS = {"MUSAE": MUSAE, "AE": AE, "DeepWalk": DeepWalk}
SHARE, K, OVERALL = 0.2, 10, 100
BLOCK = 500  # rows whose scores are held at once
DENSE = 5000  # nodes of the largest graph of which all pairs are ranked by every score

Scores = Callable[[np.ndarray], np.ndarray]  # of some rows with everything
Hidden = sp.csr_array


def found(scores: Scores, known: sp.csr_array, hidden: Hidden, nodes: np.ndarray) -> float:
    """Fraction of what is hidden that is among the best of each node."""
    shares = []
    for begin in range(0, len(nodes), BLOCK):
        rows = nodes[begin : begin + BLOCK]
        block = np.where(known[rows].toarray() > 0, -np.inf, scores(rows))
        best = np.argsort(-block, axis=1, kind="stable")[:, :K]
        truth = hidden[rows].toarray() > 0
        hits = np.take_along_axis(truth, best, axis=1).sum(axis=1)
        shares += (hits / np.minimum(truth.sum(axis=1), K)).tolist()
    return float(np.mean(shares))


def first_pairs(scores: Scores, known: sp.csr_array, hidden: Hidden) -> float | None:
    """Fraction of what is hidden among the best pairs of all nodes."""
    n = known.shape[0]
    if n > DENSE:
        return None
    best = [(-np.inf, False)] * OVERALL
    for begin in range(0, n, BLOCK):
        rows = np.arange(begin, min(begin + BLOCK, n))
        out = (known[rows].toarray() > 0) | (np.arange(n) <= rows[:, None])
        block = np.where(out, -np.inf, scores(rows)).ravel()
        top = np.argsort(-block, kind="stable")[:OVERALL]
        truth = hidden[rows].toarray().ravel()[top] > 0
        best = sorted([*best, *zip(block[top].tolist(), truth.tolist(), strict=True)], key=lambda pair: -pair[0])
        best = best[:OVERALL]
    return float(np.mean([truth for _, truth in best]))


def suggested(answers: Mapping[Any, list[tuple[Any, float]]], hidden: Hidden) -> float:
    """Fraction of what is hidden that a model has suggested; ids are rows."""
    lost = np.diff(hidden.indptr)
    shares = [
        len({other for other, _ in answer} & set(hidden[[node]].indices.tolist())) / min(lost[node], K)
        for node, answer in answers.items()
    ]
    return float(np.mean(shares))


def unit(vectors: np.ndarray) -> np.ndarray:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)


def products(left: np.ndarray, right: np.ndarray) -> Scores:
    return lambda rows: left[rows] @ right.T


def links(graph: AttributedGraph, count: int, seed: int) -> list[dict[str, Any]]:
    A = graph.adjacency
    ends = np.asarray(sp.tril(A, -1, format="csr").nonzero(), dtype=np.int64)
    _, rng, gone = next(held_out_splits(SHARE, ends.shape[1], "edges", 1, seed))
    u, v = ends[:, gone]
    hidden = sp.csr_array((np.ones(2 * len(u)), (np.append(u, v), np.append(v, u))), shape=A.shape)
    kept = plain(graph, A - A * hidden, graph.features)
    nodes = rng.permutation(np.unique(np.append(u, v)))[:count]
    E = kept.adjacency.astype(bool).astype(np.float64)
    known = sp.csr_array(E + sp.eye_array(graph.n_nodes))
    counts = np.diff(E.indptr)
    weighted = sp.csr_array(E @ sp.diags_array(1 / np.log(np.maximum(counts, 2))))
    records = []

    def add(model: str, score: str, function: Scores, area: float | None = None) -> None:
        first = first_pairs(function, known, hidden)
        row = {"found": found(function, known, hidden, nodes), "first": first, "roc_auc": area}
        records.append({"what": "links", "model": model, "score": score, **row})

    add("-", "common neighbours", lambda rows: (E[rows] @ E).toarray())
    add("-", "Adamic-Adar", lambda rows: (weighted[rows] @ E).toarray())
    add("-", "preferential attachment", lambda rows: np.outer(counts[rows], counts))
    for name, make in MODELS.items():
        areas = summarize(
            link_prediction(make(), graph, share=SHARE, operators=(), splits=1, random_state=seed), by="operator"
        )
        model = make().fit(kept)
        G = model.embedding_.astype(np.float64)
        add(name, "cosine", products(unit(G), unit(G)), areas["cosine"]["roc_auc"]["mean"])
        add(name, "product", products(G, G), areas["dot"]["roc_auc"]["mean"])
        blocks = {label: unit(G[:, columns]) for label, columns in model.scale_columns_.items()}
        for label, block in blocks.items() if len(blocks) > 1 else ():
            add(name, f"cosine, scale {label}", products(block, block))
        together = np.hstack(list(blocks.values()))
        if len(blocks) > 1:
            add(name, "mean cosine of scales", products(together, together))
        pairs = model.suggest_links(k=OVERALL, graph=kept)
        first = float(np.mean([hidden[a, b] > 0 for a, b, _ in pairs]))
        answers = model.suggest_links(nodes, k=K, graph=kept)
        row = {"found": suggested(answers, hidden), "first": first, "roc_auc": None}
        records.append({"what": "links", "model": name, "score": "suggest_links", **row})
    return records


def features(graph: AttributedGraph, count: int, seed: int) -> list[dict[str, Any]]:
    F, q = graph.features, graph.n_features
    rows = np.repeat(np.arange(graph.n_nodes), np.diff(F.indptr))
    _, rng, gone = next(held_out_splits(SHARE, F.nnz, "feature entries", 1, seed))
    hidden = sp.csr_array((np.ones(gone.sum()), (rows[gone], F.indices[gone])), shape=F.shape)
    known = sp.csr_array((F.data[~gone], (rows[~gone], F.indices[~gone])), shape=F.shape)
    kept = plain(graph, graph.adjacency, known)
    nodes = rng.permutation(np.unique(rows[gone]))[:count]
    popularity = np.bincount(known.indices, minlength=q).astype(np.float64)
    steps = sp.diags_array(1 / np.maximum(graph.degrees, 1e-300)) @ graph.adjacency.astype(np.float64)
    share = sp.csr_array(steps @ known.astype(bool).astype(np.float64))
    records = []

    def add(model: str, score: str, function: Scores, area: float | None = None) -> None:
        row = {"found": found(function, known, hidden, nodes), "first": None, "roc_auc": area}
        records.append({"what": "features", "model": model, "score": score, **row})

    add("-", "popularity", lambda rows: np.tile(popularity, (len(rows), 1)))
    add("-", "share of neighbours", lambda rows: share[rows].toarray())
    for name in ("MUSAE", "AE"):
        areas = summarize(
            attribute_inference(MODELS[name](), graph, share=SHARE, splits=1, random_state=seed), by="method"
        )
        model = MODELS[name]().fit(kept)
        G, H = model.embedding_.astype(np.float64), model.feature_embedding_.astype(np.float64)
        add(name, "product", products(G, H), areas["product"]["roc_auc"]["mean"])
        likely = np.hstack([H / len(model.scale_columns_), np.log(popularity + 1)[:, None]])
        ones = np.ones((graph.n_nodes, 1))
        add(name, "likelihood", products(np.hstack([G, ones]), likely), areas["likelihood"]["roc_auc"]["mean"])
        for label, columns in model.scale_columns_.items():
            add(name, f"product, scale {label}", products(G[:, columns], H[:, columns]))
        answers = model.suggest_features(nodes, k=K, graph=kept)
        row = {"found": suggested(answers, hidden), "first": None, "roc_auc": None}
        records.append({"what": "features", "model": name, "score": "suggest_features", **row})
    return records


def plain(graph: AttributedGraph, adjacency: sp.csr_array, entries: sp.csr_array) -> AttributedGraph:
    """A graph of the same size whose ids and names are rows and columns."""
    kept = graph_with(graph, adjacency, entries)
    return AttributedGraph(kept.adjacency, kept.features)


COLUMNS = {
    "links": ("Adamic-Adar", "cosine", "product", "suggest_links"),
    "features": ("share of neighbours", "likelihood", "product", "suggest_features"),
}


def table(records: list[dict[str, Any]]) -> str:
    """What is found by neighbours alone, by vectors alone, and by both; the JSON file has all scores."""
    rows = []
    for what, columns in COLUMNS.items():
        for dataset, model in dict.fromkeys((r["dataset"], r["model"]) for r in records if r["what"] == what):
            own = {r["score"]: r for r in records if (r["what"], r["dataset"]) == (what, dataset)}
            own |= {r["score"]: r for r in records if (r["what"], r["dataset"], r["model"]) == (what, dataset, model)}
            if model != "-":
                first = own[columns[-1]]["first"]
                cells = [f"{own[column]['found']:.3f}" for column in columns]
                rows.append([what, dataset, model, *cells, "" if first is None else f"{first:.2f}"])
    header = [
        "hidden",
        "data set",
        "model",
        "neighbours",
        "vectors",
        "product of vectors",
        "suggested",
        "of the first 100",
    ]
    return markdown(header, rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=500)
    parser.add_argument("--random-state", type=int, default=1)
    parser.add_argument("--datasets", nargs="+", default=DATASETS)
    options = parser.parse_args()
    warnings.simplefilter("ignore", HopscaleWarning)
    records = []
    for dataset in options.datasets:
        graph = load(dataset)
        for what in (links, features):
            records += [{"dataset": dataset, **record} for record in what(graph, options.nodes, options.random_state)]
    write("suggestions", records, table(records))


if __name__ == "__main__":
    main()
