"""Both solvers × four models × all data sets: score on seeded 80/20 splits, and seconds.

Records are appended to a file as they are measured, each with machine, versions and commit; a run that is
interrupted goes on where it stopped.
Scores are micro-F1 (l2 logistic regression) or R² (elastic net, log traffic), on raw and on standardised vectors;
nothing was tuned on any split.

    HOPSCALE_DATA=... python benchmarks/quality.py [--solvers pmi sgns] [--datasets ...] [--walks-per-node 10]
"""

from __future__ import annotations

import argparse
import json
import warnings
from typing import Any

from hopscale import AE, MUSAE
from hopscale.exceptions import HopscaleWarning
from hopscale.tasks import evaluate, summarize
from measure import REGRESSION, RESULTS, commit, graph_and_target, machine, markdown, measured

DATASETS = [
    "cora",
    "citeseer",
    "twitch-pt",
    "wiki-chameleon",
    "twitch-ru",
    "twitch-es",
    "wiki-squirrel",
    "twitch-fr",
    "twitch-en",
    "twitch-de",
    "facebook",
    "github",
    "pubmed",
    "wiki-crocodile",
    "deezer-europe",
]
MODELS = {
    "AE": lambda **p: AE(**p),
    "AE-EGO": lambda **p: AE(ego=True, **p),
    "MUSAE": lambda **p: MUSAE(**p),
    "MUSAE-EGO": lambda **p: MUSAE(ego=True, **p),
}
RECORDS = RESULTS / "quality.jsonl"


def measure(model: str, solver: str, dataset: str, splits: int, parameters: dict[str, Any]) -> dict[str, Any]:
    graph, target = graph_and_target(dataset)
    estimator = MODELS[model](solver=solver, **parameters)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HopscaleWarning)
        seconds, vectors = measured(lambda: estimator.fit_transform(graph))
        record: dict[str, Any] = {
            "model": model,
            "solver": solver,
            "dataset": dataset,
            "parameters": parameters,
            "splits": splits,
            "seconds": seconds,
            "rows": estimator.rows_,
            "machine": machine(),
            "commit": commit(),
        }
        for name, standardize in (("raw", False), ("standardised", True)):
            record[name] = summarize(evaluate(vectors, target, splits=splits, standardize=standardize, n_jobs=2))
    return record


def key(record: dict[str, Any]) -> tuple[Any, ...]:
    """What a measurement must have in common with another to stand for it."""
    parameters = json.dumps(record["parameters"], sort_keys=True)
    return record["model"], record["solver"], record["dataset"], record["splits"], parameters


def kept() -> list[dict[str, Any]]:
    if not RECORDS.exists():
        return []
    return [json.loads(line) for line in RECORDS.read_text().splitlines() if line.endswith("}")]


def render() -> None:
    # The paper's settings where they were run, else the run with most walks.
    runs = sorted(kept(), key=lambda r: r["parameters"].get("walks_per_node", 10))
    records = {(r["solver"], r["dataset"], r["model"]): r for r in runs}
    lines = []
    for solver in ("pmi", "sgns"):
        rows = []
        for dataset in DATASETS:
            row = [dataset, "R²" if dataset in REGRESSION else "F1"]
            baseline = ""
            for model in MODELS:
                r = records.get((solver, dataset, model))
                row.append(cell(r) if r else "–")
                if r:
                    metric = "mean_r2" if dataset in REGRESSION else "majority_micro_f1"
                    baseline = f"{r['raw'][metric]['mean']:.3f}"
            rows.append([*row, baseline])
        if any(r["solver"] == solver for r in records.values()):
            header = ["data set", "metric", *MODELS, "majority or mean"]
            lines += [f'solver="{solver}": raw / standardised vectors ± standard error of the better (seconds)', ""]
            lines += [markdown(header, rows), ""]
    (RESULTS / "quality.md").write_text("\n".join(lines).rstrip() + "\n")
    print("\n".join(lines))


def cell(r: dict[str, Any]) -> str:
    metric = "r2" if "r2" in r["raw"] else "micro_f1"
    raw, standardised = r["raw"][metric], r["standardised"][metric]
    error = max((raw, standardised), key=lambda s: s["mean"])["standard_error"]
    fewer = f", p={r['parameters']['walks_per_node']}" if r["parameters"] else ""
    return f"{raw['mean']:.3f} / {standardised['mean']:.3f} ± {error:.3f} ({r['seconds']:.1f}{fewer})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--solvers", nargs="+", default=["pmi", "sgns"])
    parser.add_argument("--models", nargs="+", default=list(MODELS))
    parser.add_argument("--datasets", nargs="+", default=DATASETS)
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--walks-per-node", type=int, default=10, help="walks of sgns; the paper has 10")
    options = parser.parse_args()
    RESULTS.mkdir(exist_ok=True)
    done = {key(r) for r in kept()}
    for solver in options.solvers:
        fewer = solver == "sgns" and options.walks_per_node != 10
        parameters = {"walks_per_node": options.walks_per_node} if fewer else {}
        for dataset in options.datasets:
            for model in options.models:
                plan = {"model": model, "solver": solver, "dataset": dataset, "splits": options.splits}
                if key({**plan, "parameters": parameters}) in done:
                    continue
                record = measure(model, solver, dataset, options.splits, parameters)
                with RECORDS.open("a") as file:
                    file.write(json.dumps(record) + "\n")
                print(model, solver, dataset, cell(record), flush=True)
    render()


if __name__ == "__main__":
    main()
