"""Seconds to fit the classifiers and regressions of many splits: hopscale against scikit-learn, split by split.

Logistic regressions of both stop at the same tolerance: no entry of the gradient of the mean loss plus penalty may be
larger. The program computes gradients and scores itself, from the weights of either. scikit-learn's solver is the one
that is fastest on the first splits. Every fit starts from zero. Elastic nets are fitted by the same coordinate
descent at scikit-learn's default tolerance.

Both run on one thread and take turns. Times are CPU seconds of the process, so that other programs on the machine
count for little.

    HOPSCALE_DATA=... python benchmarks/evaluation_speed.py [--splits 100] [--repeats 3] [--datasets ...]
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy.special import expit, log_softmax
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import ElasticNet, LogisticRegression
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from hopscale import MUSAE
from hopscale.exceptions import HopscaleWarning
from hopscale.labels import class_codes
from hopscale.supervised.heads.logistic import fit_logistic
from hopscale.tasks import node_regression
from hopscale.tasks.splits import seeded_splits
from measure import REGRESSION, graph_and_target, markdown, median, write

DATASETS = ("digits", "cora", "citeseer", "twitch-pt", "pubmed", "github", "facebook", "wiki-chameleon")
LARGE = {"pubmed": 32, "github": 32, "facebook": 32}  # at most so many splits, measured once: each takes seconds
SOLVERS = ("lbfgs", "newton-cg", "newton-cholesky")
TOLERANCES = (1e-6, 1e-4)  # hopscale's, scikit-learn's default
PILOT = 3  # splits on which scikit-learn's solver is chosen
TOGETHER = 16  # splits that hopscale fits at once, as node_classification does

Split = tuple[np.ndarray, np.ndarray]
Weights = tuple[np.ndarray, np.ndarray]  # coefficients (K, d) and intercepts (K,), on vectors as given
Fits = list[Weights]


def cpu_seconds(function: Callable[..., Any], *arguments: Any) -> tuple[float, Any]:
    """CPU seconds of a call on one thread, and its result."""
    with threadpool_limits(1):
        start = time.process_time()
        result = function(*arguments)
        return time.process_time() - start, result


def hopscale(X: np.ndarray, y: np.ndarray, splits: Sequence[Split], standardize: bool, tolerance: float) -> Fits:
    fits: Fits = []
    for begin in range(0, len(splits), TOGETHER):
        chunk = splits[begin : begin + TOGETHER]
        parts = np.zeros((len(chunk), len(y)), dtype=bool)
        for row, (train, _) in zip(parts, chunk, strict=True):
            row[train] = True
        fit = fit_logistic(X, y, int(y.max()) + 1, parts, standardize=standardize, tolerance=tolerance)
        fits += zip(fit.coefficients, fit.intercepts, strict=True)
    return fits


def scikit_learn(
    X: np.ndarray, y: np.ndarray, splits: Sequence[Split], standardize: bool, tolerance: float, solver: str
) -> Fits:
    fits: Fits = []
    for train, _ in splits:
        scaler = StandardScaler(with_mean=standardize, with_std=standardize).fit(X[train])
        model = LogisticRegression(solver=solver, tol=tolerance, max_iter=5000).fit(
            scaler.transform(X[train]), y[train]
        )
        coefficients = model.coef_ / scaler.scale_ if standardize else model.coef_
        shift = coefficients @ scaler.mean_ if standardize else 0
        fits.append((coefficients, model.intercept_ - shift))
    return fits


def largest_gradient(X: np.ndarray, y: np.ndarray, train: np.ndarray, weights: Weights, standardize: bool) -> float:
    """Largest entry of the gradient of the mean loss plus ½‖w‖²/n, on the vectors that the model was fitted to."""
    scaler = StandardScaler(with_mean=standardize, with_std=standardize).fit(X[train])
    Z, (coefficients, intercepts) = scaler.transform(X[train]), weights
    if standardize:
        intercepts, coefficients = intercepts + coefficients @ scaler.mean_, coefficients * scaler.scale_
    logits = Z @ coefficients.T + intercepts
    if len(coefficients) == 1:
        residuals = expit(logits) - y[train][:, None]
    else:
        residuals = np.exp(log_softmax(logits, axis=1)) - np.eye(len(coefficients))[y[train]]
    slopes = (residuals.T @ Z + coefficients) / len(train)
    return float(max(np.abs(slopes).max(), np.abs(residuals.mean(axis=0)).max()))


def micro_f1(X: np.ndarray, y: np.ndarray, test: np.ndarray, weights: Weights) -> float:
    logits = X[test] @ weights[0].T + weights[1]
    predicted = logits[:, 0] > 0 if logits.shape[1] == 1 else logits.argmax(axis=1)
    return float(np.mean(predicted == y[test]))


def classification(dataset: str, options: argparse.Namespace) -> list[dict[str, Any]]:
    """Records of both rivals at each tolerance, on raw and on standardised vectors."""
    graph, target = graph_and_target(dataset)
    classes, _ = class_codes(target)
    X, y = MUSAE().fit_transform(graph)[classes >= 0].astype(np.float64), classes[classes >= 0]
    splits = seeded_splits(len(y), min(options.splits, LARGE.get(dataset, options.splits)), 0.2, 0)
    records = []
    for standardize in (False, True):
        for tolerance in TOLERANCES:
            common = (X, y, splits, standardize, tolerance)
            pilot = {s: cpu_seconds(scikit_learn, X, y, splits[:PILOT], standardize, tolerance, s)[0] for s in SOLVERS}
            solver = min(pilot, key=pilot.__getitem__)
            for _ in range(1 if dataset in LARGE else options.repeats):
                for rival, (seconds, fits) in (
                    ("hopscale", cpu_seconds(hopscale, *common)),
                    ("scikit-learn", cpu_seconds(scikit_learn, *common, solver)),
                ):
                    each = list(zip(splits, fits, strict=True))
                    gradients = [largest_gradient(X, y, train, fit, standardize) for (train, _), fit in each]
                    scores = [micro_f1(X, y, test, fit) for (_, test), fit in each]
                    records.append(
                        {
                            "rival": rival, "dataset": dataset, "standardize": standardize, "tolerance": tolerance,
                            "solver": solver if rival == "scikit-learn" else None, "splits": len(splits),
                            "seconds": seconds, "gradient": max(gradients), "score": float(np.mean(scores)),
                        }
                    )  # fmt: skip
    return records


def regression(dataset: str, options: argparse.Namespace) -> list[dict[str, Any]]:
    """Records of both rivals, on raw and on standardised vectors."""
    graph, target = graph_and_target(dataset)
    X = MUSAE().fit_transform(graph).astype(np.float64)
    splits = seeded_splits(len(X), options.splits, 0.2, 0)

    def loop(standardize: bool) -> list[float]:
        scores = []
        for train, test in splits:
            scaler = StandardScaler(with_mean=standardize, with_std=standardize).fit(X[train])
            model = ElasticNet(alpha=0.01, max_iter=10_000).fit(scaler.transform(X[train]), target[train])
            scores.append(model.score(scaler.transform(X[test]), target[test]))
        return scores

    def together(standardize: bool) -> list[float]:
        records = node_regression(X, target, splits=options.splits, standardize=standardize)
        return [record["r2"] for record in records]

    records = []
    for standardize in (False, True):
        for _ in range(options.repeats):
            for rival, scored in (("hopscale", together), ("scikit-learn", loop)):
                seconds, scores = cpu_seconds(scored, standardize)
                record = {"rival": rival, "dataset": dataset, "standardize": standardize, "tolerance": TOLERANCES[0]}
                score = {"splits": len(splits), "seconds": seconds, "score": float(np.mean(scores))}
                records.append({**record, "solver": "coordinate descent", **score})
    return records


def table(records: Sequence[dict[str, Any]]) -> str:
    def found(rival: str, **what: Any) -> list[dict[str, Any]]:
        return [r for r in records if r["rival"] == rival and all(r[key] == value for key, value in what.items())]

    def seconds(rival: str, **what: Any) -> float:
        return median(r["seconds"] for r in found(rival, **what))

    def faster(**what: Any) -> float:
        return seconds("scikit-learn", **what) / seconds("hopscale", **what)

    rows, ratios = [], {tolerance: [] for tolerance in TOLERANCES}
    for dataset in dict.fromkeys(r["dataset"] for r in records):
        for standardize in (False, True):
            what = {"dataset": dataset, "standardize": standardize}
            tight, loose = ({**what, "tolerance": tolerance} for tolerance in TOLERANCES)
            ours, theirs = (found(rival, **tight)[0] for rival in ("hopscale", "scikit-learn"))
            classes = dataset not in REGRESSION
            for tolerance in TOLERANCES if classes else ():
                ratios[tolerance].append(faster(**what, tolerance=tolerance))
            rows.append(
                [
                    dataset,
                    "standardised" if standardize else "raw",
                    theirs["splits"],
                    f"{seconds('hopscale', **tight):.2f}",
                    f"{seconds('scikit-learn', **tight):.2f} ({theirs['solver']})",
                    f"{faster(**tight):.1f}×",
                    f"{faster(**loose):.1f}×" if classes else "–",
                    " / ".join(f"{r['gradient']:.0e}" for r in (ours, theirs)) if classes else "–",
                    " / ".join(f"{r['score']:.4f}" for r in (ours, theirs)),
                ]
            )
    means = [f"{np.exp(np.mean(np.log(ratios[tolerance]))):.1f}×" for tolerance in TOLERANCES]
    rows.append(["geometric mean", "classification", "", "", "", *means, "", ""])
    header = ["data set", "vectors", "splits", "hopscale, CPU s", "scikit-learn, CPU s", "faster"]
    return markdown([*header, f"at tolerance {TOLERANCES[1]:g}", "largest gradient", "mean score"], rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--splits", type=int, default=100)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--datasets", nargs="+", default=DATASETS)
    options = parser.parse_args()
    for category in (HopscaleWarning, ConvergenceWarning):
        warnings.simplefilter("ignore", category)
    records = []
    for dataset in options.datasets:
        records += (regression if dataset in REGRESSION else classification)(dataset, options)
        print(table(records).splitlines()[-2], flush=True)
    write("evaluation_speed", records, table(records))


if __name__ == "__main__":
    main()
