"""How good suggestions are: of links and features that were removed before fitting, how many are found again.

A fifth of the edges, or of the (node, feature) entries, is removed, the model fitted to the rest, and every pair that is
not in the rest is scored. For each of some nodes that have lost something, a score suggests ten; ``found`` is the
fraction of what these nodes have lost, or of ten where it is more, that is among the ten. ``first 100`` is the fraction
of removed edges among the hundred best pairs of all nodes. ``ROC-AUC`` is that of the tasks ``link_prediction`` and
``attribute_inference`` on the same share. The scores of hopscale were chosen by this table.

    HOPSCALE_DATA=... python benchmarks/suggestions.py [--nodes 1000] [--datasets ...]
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from hopscale import AE, MUSAE, AttributedGraph, DeepWalk, Walklets, load
from hopscale.exceptions import HopscaleWarning
from hopscale.tasks import attribute_inference, link_prediction, summarize
from hopscale.tasks.splits import graph_with, held_out_splits
from measure import markdown, write

DATASETS = ("planted-blocks", "digits", "cora", "facebook")
SHARE, K, OVERALL, BLOCK = 0.2, 10, 100, 500
MODELS = {"MUSAE": MUSAE, "MUSAE, ego": lambda: MUSAE(ego=True), "AE": AE, "DeepWalk": DeepWalk, "Walklets": Walklets}
WITH_FEATURES = ("MUSAE", "MUSAE, ego", "AE")

Scores = Callable[[np.ndarray], np.ndarray]  # of some rows with everything


def found(
    scores: Scores, known: sp.csr_array, hidden: sp.csr_array, nodes: np.ndarray, overall: bool
) -> dict[str, Any]:
    """How much of what is hidden is among the best of each node, and among the best of all."""
    shares, best = [], [(np.zeros(0), np.zeros(0, bool))]
    for begin in range(0, hidden.shape[0], BLOCK):
        rows = np.arange(begin, min(begin + BLOCK, hidden.shape[0]))
        if not overall:
            rows = np.intersect1d(rows, nodes)
        if not len(rows):
            continue
        block = scores(rows)
        block[known[rows].nonzero()] = -np.inf
        truth = hidden[rows].toarray() > 0
        if overall:
            block[np.arange(len(rows)), rows] = -np.inf
            upper = np.where(rows[:, None] < np.arange(block.shape[1]), block, -np.inf)
            top = np.argpartition(-upper.ravel(), OVERALL)[:OVERALL]
            best = [(np.append(best[0][0], upper.ravel()[top]), np.append(best[0][1], truth.ravel()[top]))]
            order = np.argsort(-best[0][0], kind="stable")[:OVERALL]
            best = [(best[0][0][order], best[0][1][order])]
        asked = np.isin(rows, nodes)
        block, truth = block[asked], truth[asked]
        top = np.argsort(-block, axis=1, kind="stable")[:, :K]
        hits = np.take_along_axis(truth, top, axis=1).sum(axis=1)
        shares += (hits / np.minimum(truth.sum(axis=1), K)).tolist()
    return {"found": float(np.mean(shares)), "first": float(best[0][1].mean()) if overall else None}


def unit(vectors: np.ndarray) -> np.ndarray:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)


def products(left: np.ndarray, right: np.ndarray) -> Scores:
    return lambda rows: left[rows] @ right.T


def link_scores(model: Any, n: int) -> dict[str, Scores]:
    G = model.embedding_.astype(np.float64)
    blocks = {label: G[:, columns] for label, columns in model.scale_columns_.items()}
    together = np.hstack([unit(block) for block in blocks.values()])
    scores = {"cosine": products(unit(G), unit(G)), "product": products(G, G)}
    if len(blocks) > 1:
        scores["mean cosine of scales"] = products(together, together)
        scores |= {f"cosine, scale {label}": products(unit(b), unit(b)) for label, b in blocks.items()}
    if len(model.feature_names_) >= n and ("node", model.node_ids_[0]) in model.feature_names_.tolist()[-n:] + [
        ("node", name) for name in model.feature_names_.tolist()[-n:]
    ]:
        H = model.feature_embedding_[-n:].astype(np.float64)  # of nodes as context
        scores["product with context"] = lambda rows: G[rows] @ H.T + H[rows] @ G.T
        if "1" in blocks:
            a, b = blocks["1"], H[:, model.scale_columns_["1"]]
            scores["product with context, scale 1"] = lambda rows: a[rows] @ b.T + b[rows] @ a.T
    return scores


def links(dataset: str, graph: AttributedGraph, options: argparse.Namespace) -> list[dict[str, Any]]:
    A = graph.adjacency
    ends = np.asarray(sp.tril(A, -1, format="csr").nonzero(), dtype=np.int64)
    _, rng, gone = next(held_out_splits(SHARE, ends.shape[1], "edges", 1, 0))
    u, v = ends[:, gone]
    hidden = sp.csr_array((np.ones(2 * len(u)), (np.append(u, v), np.append(v, u))), shape=A.shape)
    kept = graph_with(graph, A - A * hidden, graph.features)
    nodes = rng.permutation(np.unique(np.append(u, v)))[: options.nodes]
    one = kept.adjacency.astype(bool).astype(np.float64)
    known = sp.csr_array(one + sp.eye_array(graph.n_nodes))
    inverse = np.divide(1, np.log(np.maximum(kept.degrees, 1.5)))
    baselines: dict[str, Scores] = {
        "common neighbours": lambda rows: (one[rows] @ one).toarray(),
        "Adamic-Adar": lambda rows: (one[rows] @ sp.diags_array(inverse) @ one).toarray(),
        "preferential attachment": lambda rows: np.outer(kept.degrees[rows], kept.degrees),
    }
    records = []

    def add(model: str, scores: dict[str, Scores], areas: dict[str, float]) -> None:
        for score, function in scores.items():
            result = found(function, known, hidden, nodes, True)
            records.append({"what": "links", "dataset": dataset, "model": model, "score": score, **result})
            records[-1]["roc_auc"] = areas.get(score)

    add("-", baselines, {})
    for name, make in MODELS.items():
        area = summarize(link_prediction(make(), graph, share=SHARE, operators=(), splits=1), by="operator")
        areas = {"cosine": area["cosine"]["roc_auc"]["mean"], "product": area["dot"]["roc_auc"]["mean"]}
        add(name, link_scores(make().fit(kept), graph.n_nodes), areas)
    return records


def features(dataset: str, graph: AttributedGraph, options: argparse.Namespace) -> list[dict[str, Any]]:
    F, q = graph.features, graph.n_features
    rows = np.repeat(np.arange(graph.n_nodes), np.diff(F.indptr))
    _, rng, gone = next(held_out_splits(SHARE, F.nnz, "feature entries", 1, 0))
    hidden = sp.csr_array((np.ones(gone.sum()), (rows[gone], F.indices[gone])), shape=F.shape)
    known = sp.csr_array((F.data[~gone], (rows[~gone], F.indices[~gone])), shape=F.shape)
    kept = graph_with(graph, graph.adjacency, known)
    nodes = rng.permutation(np.unique(rows[gone]))[: options.nodes]
    popularity = np.bincount(known.indices, minlength=q).astype(np.float64)
    P = sp.csr_array(sp.diags_array(1 / np.maximum(graph.degrees, 1e-300)) @ graph.adjacency.astype(np.float64))
    share = P @ known.astype(bool).astype(np.float64)
    baselines: dict[str, Scores] = {
        "popularity": lambda rows: np.tile(popularity, (len(rows), 1)),
        "share of neighbours": lambda rows: share[rows].toarray(),
    }
    records = []

    def add(model: str, scores: dict[str, Scores], areas: dict[str, float]) -> None:
        for score, function in scores.items():
            result = found(function, known, hidden, nodes, False)
            records.append({"what": "features", "dataset": dataset, "model": model, "score": score, **result})
            records[-1]["roc_auc"] = areas.get(score)

    add("-", baselines, {})
    for name in WITH_FEATURES:
        area = summarize(attribute_inference(MODELS[name](), graph, share=SHARE, splits=1), by="method")
        areas = {"product": area["product"]["roc_auc"]["mean"], "likelihood": area["likelihood"]["roc_auc"]["mean"]}
        model = MODELS[name]().fit(kept)
        G, H = model.embedding_.astype(np.float64), model.feature_embedding_[:q].astype(np.float64)
        scales = len(model.scale_columns_)
        logarithm = np.log(popularity + 1)
        scores: dict[str, Scores] = {
            "product": products(G, H),
            "likelihood": lambda rows, G=G, H=H, scales=scales: G[rows] @ H.T / scales + logarithm,
        }
        for label, columns in model.scale_columns_.items():
            scores[f"product, scale {label}"] = products(G[:, columns], H[:, columns])
            scores[f"likelihood, scale {label}"] = lambda rows, g=G[:, columns], h=H[:, columns]: (
                g[rows] @ h.T + logarithm
            )
        add(name, scores, areas)
    return records


def table(records: list[dict[str, Any]]) -> str:
    shown = [
        [r["what"], r["dataset"], r["model"], r["score"], *(f"{r[x]:.3f}" if r[x] is not None else "" for x in COLUMNS)]
        for r in records
    ]
    return markdown(["what", "data set", "model", "score", "found", "first 100", "ROC-AUC"], shown)


COLUMNS = ("found", "first", "roc_auc")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=1000)
    parser.add_argument("--datasets", nargs="+", default=DATASETS)
    options = parser.parse_args()
    warnings.simplefilter("ignore", HopscaleWarning)
    records = []
    for dataset in options.datasets:
        graph = load(dataset)
        records += [*links(dataset, graph, options), *features(dataset, graph, options)]
        print(table(records), flush=True)
    write("suggestions", records, table(records))


if __name__ == "__main__":
    main()
