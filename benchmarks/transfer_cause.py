"""Why the direct solver's transfer from twitch-en scores below the published: what was tried.

A classifier is trained on vectors of the source, and scored on those of the target, as in the paper. Tried:

as it is         vectors of the target from ``transform``, which uses p(f) of the source
p(f) of target   as a fit to the target with the source's feature vectors would use
aligned          vectors of either graph moved to mean 0 and scaled to deviation 1 by its own nodes, without labels
share of source  the threshold moved until as many nodes of the target as of the source are given each class
share of target  the same with the target's own shares, which nobody knows: what the best threshold would give

Only the threshold differs between the last two and the first. ROC-AUC does not depend on it.

    HOPSCALE_DATA=... python benchmarks/transfer_cause.py
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hopscale import AttributedGraph, load
from hopscale.labels import class_codes
from hopscale.paper.methods import METHODS
from hopscale.paper.store import reference_values
from hopscale.supervised.heads.logistic import fit_logistic
from hopscale.tasks.metrics import classification_scores
from measure import markdown, write

SOURCES = ("twitch-en", "twitch-es", "twitch-fr")
TARGETS = ("twitch-ru", "twitch-pt")
MODELS = ("AE", "MUSAE")
CLASS = "mature"
WAYS = ("as it is", "p(f) of target", "aligned", "share of source", "share of target")
Array = NDArray[np.float64]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n-jobs", type=int, default=-1)
    options = parser.parse_args()
    graphs = {name: load(name) for name in (*SOURCES, *TARGETS)}
    records: list[dict[str, Any]] = []
    for source in SOURCES:
        for name in MODELS:
            model = METHODS[name].build("pmi", n_jobs=options.n_jobs).fit(graphs[source])
            X = model.embedding_.astype(float)
            for target in TARGETS:
                Y = model.transform(graphs[target]).astype(float)
                with_own = projected(model, graphs[source], graphs[target], graphs[target])
                agrees = float(np.abs(projected(model, graphs[source], graphs[target], graphs[source]) - Y).max())
                assert agrees < 1e-2 * float(np.abs(Y).max()), agrees  # the formula is that of transform
                labels = [np.asarray(graphs[each].labels) for each in (source, target)]
                codes, names = class_codes(np.concatenate(labels))  # the same codes in both
                classes = np.split((codes == names.index(CLASS)).astype(np.int64), [len(labels[0])])
                for way in WAYS:
                    train, test = (X, with_own if way == "p(f) of target" else Y)
                    if way == "aligned":
                        train, test = standardised(train), standardised(test)
                    record = {"source": source, "target": target, "model": name, "way": way}
                    records.append({**record, **scored(train, test, *classes, way)})
                    print(records[-1], flush=True)
    write("transfer_cause", records, table(records))


def projected(model: Any, source: AttributedGraph, target: AttributedGraph, weighed_by: AttributedGraph) -> Array:
    """Vectors of the target, G' = M'·V·Σ^(−1/2), with p(f) of one of both graphs; dense, as the theorems write it."""
    known = {feature: column for column, feature in enumerate(source.feature_names.tolist())}
    assert [known[name] for name in target.feature_names.tolist()] == list(range(target.n_features))
    blocks = []
    for label in model.scale_columns_:
        first, _, last = label.partition("-")
        hops = range(int(first), int(last or first) + 1)
        H = model.feature_vectors(label).astype(float)
        ratio = seen(target, hops) / np.maximum(frequency(weighed_by, hops), 1e-300)
        M = np.log(np.maximum(ratio, 1.0))
        M[:, frequency(source, hops) == 0] = 0.0  # of features that the source never met nothing was learnt
        blocks.append(M @ H / np.maximum((H**2).sum(axis=0), 1e-300))
    return np.hstack(blocks)


def seen(graph: AttributedGraph, hops: range) -> Array:
    """Mean of PʳF over the hops."""
    A, F = graph.adjacency.astype(float), graph.features.toarray().astype(float)
    degrees = np.maximum(graph.degrees, 1e-300)[:, None]
    total, step = np.zeros_like(F), F
    for hop in range(max(hops) + 1):
        step = step if hop == 0 else (A @ step) / degrees
        total += step if hop in hops else 0.0
    return total / len(hops)


def frequency(graph: AttributedGraph, hops: range) -> Array:
    """p(f): of walks by degree, at scale 0 of all nodes alike."""
    F = graph.features.toarray().astype(float)
    weights = np.ones(graph.n_nodes) if max(hops) == 0 else graph.degrees
    return weights @ F / weights.sum()


def standardised(vectors: Array) -> Array:
    return (vectors - vectors.mean(axis=0)) / np.maximum(vectors.std(axis=0), 1e-12)


def scored(X: Array, Y: Array, train: NDArray[np.int64], test: NDArray[np.int64], way: str) -> dict[str, float]:
    fit = fit_logistic(X, train, 2, C=1.0, standardize=False)
    probabilities = fit.probabilities(Y)
    if way.startswith("share"):
        share = float(np.mean(train if way == "share of source" else test))
        threshold = float(np.quantile(probabilities[:, 1], 1 - share))
        probabilities[:, 1] = np.clip(probabilities[:, 1] - threshold + 0.5, 0.0, 1.0)
        probabilities[:, 0] = 1 - probabilities[:, 1]
    scores = classification_scores(test, probabilities, int(np.bincount(train).argmax()))
    answered = float(np.mean(probabilities[:, 1] > 0.5))
    shares = {"share_of_source": float(train.mean()), "share_of_target": float(test.mean()), "answered": answered}
    return {"micro_f1": scores["micro_f1"], "roc_auc": scores["roc_auc"], **shares}


def table(records: list[dict[str, Any]]) -> str:
    printed = {(r["method"], r["source"], r["target"]): r["micro_f1"] for r in reference_values("transfer")}
    rows = []
    for source in SOURCES:
        for target in TARGETS:
            for name in MODELS:
                what = {"source": source, "target": target, "model": name}
                found = {r["way"]: r for r in records if what.items() <= r.items()}
                first = found["as it is"]
                shares = "{share_of_source:.2f} / {share_of_target:.2f} / {answered:.2f}".format(**first)
                cells = [f"{found[way]['micro_f1']:.3f} ({found[way]['roc_auc']:.3f})" for way in WAYS]
                rows.append([source, target, name, f"{printed[name, source, target]:.3f}", shares, *cells])
    header = ["source", "target", "model", "published", "class in source / target / answered", *WAYS]
    return f"{markdown(header, rows)}\n\n{conclusion(records, printed)}"


def conclusion(records: list[dict[str, Any]], printed: dict[tuple[str, str, str], float]) -> str:
    """What the table says of the first source, in words whose numbers are computed."""
    of = {way: [r for r in records if r["way"] == way and r["source"] == SOURCES[0]] for way in WAYS}
    first = of["as it is"]
    answered = [r["answered"] for r in first]
    below = {
        way: float(np.mean([r["micro_f1"] - printed[r["model"], r["source"], r["target"]] for r in of[way]]))
        for way in WAYS
    }
    ranks = {
        s: np.mean([r["roc_auc"] for r in records if r["source"] == s and r["way"] == "as it is"]) for s in SOURCES
    }
    told = ", ".join(f"{way} {value:+.3f}" for way, value in below.items())
    return (
        f"From {SOURCES[0]}, {first[0]['share_of_source']:.0%} of whose nodes are {CLASS}, this is the answer for "
        f"{min(answered):.0%} to {max(answered):.0%} of the target's nodes. Ranks are not the reason: mean area "
        f"under the ROC curve {', '.join(f'{s} {area:.3f}' for s, area in ranks.items())}. Micro-F1 against the "
        "published, mean "
        f"over targets and models: {told}. It is the threshold that does not carry over: vectors of the target lie "
        "on the side "
        "of the commoner class of the source, in part because `transform` takes p(f) from the source."
    )


if __name__ == "__main__":
    main()
