"""Which power of the positive PMI to factorise: the matrix itself, or the square roots of its entries.

AE and MUSAE with ``PMI(power=1)`` and ``PMI(power=0.5)``, on every task of the library. Splits are the same for both,
so that differences are of pairs; ``±`` is their standard error. Node classification (micro-F1, raw vectors) and
regression (R², standardised vectors) are the paper's, with its 100 splits; few-shot has k labelled nodes a class and 20
draws; links are half of the edges, removed before the fit, attributes a tenth of the entries of F (ROC-AUC). In
transfer, vectors and classifier come from another Twitch network: a mean over the five others, by the network that is
tested. Its micro-F1 depends on how common a class is in either network, its ROC-AUC does not.

The root was found on the data sets of the paper's tables. ``seen`` are these. ``unseen`` took no part: the five Twitch
networks that the tables do not have, and graphs that are generated.

    HOPSCALE_DATA=... python benchmarks/targets.py [--datasets cora twitch-pt] [--splits 100] [--powers 1 0.5]

With ``--datasets`` nothing is written, but with ``--update`` what is measured takes the place of the same data sets and
tasks in the file of results. ``--tables`` leaves all tasks out but node classification and regression.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from hopscale import AE, MUSAE, PMI, AttributedGraph, load
from hopscale.exceptions import HopscaleWarning
from hopscale.tasks import (
    attribute_inference,
    few_shot,
    link_prediction,
    node_classification,
    node_regression,
    transfer,
)
from measure import REGRESSION, graph_and_target, markdown, updated, write

CLASSES = ("cora", "citeseer", "pubmed", "facebook", "github", "deezer-europe", "twitch-pt")
TWITCH = ("twitch-de", "twitch-en", "twitch-es", "twitch-fr", "twitch-ru")
GENERATED = ("digits", "faint-blocks", "small-blocks")
UNSEEN = {*TWITCH, *GENERATED}
FEW_SHOT = ("facebook", "github", "twitch-pt", "cora", *TWITCH, *GENERATED)
HELD_OUT = ("cora", "twitch-pt", "wiki-chameleon", "facebook", "twitch-ru", "twitch-en", *GENERATED)
DATASETS = (*CLASSES, *REGRESSION, *TWITCH, *GENERATED)
MODELS = {"AE": AE, "MUSAE": MUSAE}
K = (3, 15)
DRAWS, REFITS = 20, 3
LINKS, ATTRIBUTES = ("hadamard", "average", "cosine"), ("product", "likelihood")

Record = dict[str, Any]


def graph_of(name: str) -> tuple[AttributedGraph, np.ndarray]:
    """A data set and what is to be predicted; blocks that are hard to tell apart by edges or features alone."""
    if name == "faint-blocks":
        graph = load("planted-blocks", n_nodes=2000, n_blocks=5, n_features=500, p_in=0.006, p_out=0.002)
    elif name == "small-blocks":
        graph = load("planted-blocks", n_nodes=1500, n_blocks=30, n_features=800, p_in=0.1, p_out=0.004)
    else:
        return graph_and_target(name)
    assert graph.labels is not None
    return graph, graph.labels


def measured(name: str, kind: str, powers: list[float], splits: int, *, tables: bool) -> Iterator[Record]:
    """Scores of each split, task by task."""
    graph, target = graph_of(name)
    for power in powers:
        model = MODELS[kind](solver=PMI(power=power))
        what = {"dataset": name, "model": kind, "power": power}
        X = model.fit_transform(graph)
        if name in REGRESSION:
            found = node_regression(X, target, standardize=True, splits=splits)
            yield {**what, "task": "regression", "scores": [r["r2"] for r in found]}
        else:
            found = node_classification(X, target, splits=splits)
            yield {**what, "task": "classification", "scores": [r["micro_f1"] for r in found]}
        if tables:
            continue
        if name in FEW_SHOT:
            found = few_shot(X, target, samples_per_class=K, splits=DRAWS)
            for k in K:
                scores = [r["micro_f1"] for r in found if r["k"] == k]
                yield {**what, "task": f"few-shot, k = {k}", "scores": scores}
        if name in HELD_OUT:
            found = link_prediction(model, graph, operators=LINKS[:2], splits=REFITS, max_edges=20_000)
            for operator in LINKS:
                scores = [r["roc_auc"] for r in found if r["operator"] == operator]
                yield {**what, "task": f"links, {operator}", "scores": scores}
            found = attribute_inference(model, graph, splits=REFITS)
            for method in ATTRIBUTES:
                scores = [r["roc_auc"] for r in found if r["method"] == method]
                yield {**what, "task": f"attributes, {method}", "scores": scores}


def transferred(kind: str, powers: list[float]) -> Iterator[Record]:
    """Vectors and classifier of each Twitch network tested on each other one, by target: a score for every source."""
    graphs = {name: load(name) for name in ("twitch-pt", *TWITCH)}
    fitted = {
        (power, name): MODELS[kind](solver=PMI(power=power)).fit(graphs[name]) for power in powers for name in graphs
    }
    for target in graphs:
        for power in powers:
            sources = [name for name in graphs if name != target]
            found = [transfer(fitted[power, name], graphs[name], graphs[target])[0] for name in sources]
            for task, metric in (("transfer, micro-F1", "micro_f1"), ("transfer, ROC-AUC", "roc_auc")):
                what = {"dataset": target, "model": kind, "power": power, "task": task}
                yield {**what, "scores": [record[metric] for record in found]}


def place(record: Record) -> tuple[int, str, float]:
    """Where a record stands in the file; of equal ones the order is kept."""
    return DATASETS.index(record["dataset"]), record["model"], -record["power"]


def compared(records: list[Record], task: str, dataset: str, kind: str) -> tuple[float, float, float, float] | None:
    """Means at the first and the last power, their difference and its standard error."""
    scores = [np.array(r["scores"]) for r in records if (r["task"], r["dataset"], r["model"]) == (task, dataset, kind)]
    if len(scores) < 2:
        return None
    gain = scores[-1] - scores[0]
    error = gain.std(ddof=1) / np.sqrt(len(gain)) if len(gain) > 1 else np.nan
    return float(scores[0].mean()), float(scores[-1].mean()), float(gain.mean()), float(error)


def table(records: list[Record]) -> str:
    """What the root gains, in short and cell by cell."""
    tasks = list(dict.fromkeys(r["task"] for r in records))
    powers = sorted({r["power"] for r in records}, reverse=True)
    short, cells = [], []
    for task in tasks:
        datasets = list(dict.fromkeys(r["dataset"] for r in records if r["task"] == task))
        line = [task]
        for kind in MODELS:
            found = {name: compared(records, task, name, kind) for name in datasets}
            for group in (set(datasets) - UNSEEN, UNSEEN & set(datasets)):
                gains = [x[2] for name, x in found.items() if x and name in group]
                better = sum(gain > 0 for gain in gains)
                line.append(f"{np.mean(gains):+.4f} ({better} of {len(gains)} up)" if gains else "")
        short.append(line)
        for name in datasets:
            splits = max(len(r["scores"]) for r in records if (r["task"], r["dataset"]) == (task, name))
            row: list[Any] = [task, name, "unseen" if name in UNSEEN else "seen", splits]
            for kind in MODELS:
                values = compared(records, task, name, kind)
                row += ["", "", ""] if values is None else [f"{values[0]:.4f}", f"{values[1]:.4f}", _gain(*values[2:])]
            cells.append(row)
    header = ["task", *(f"{kind}, {group}" for kind in MODELS for group in ("seen", "unseen"))]
    columns = [f"{kind} {p:g}" if i < 2 else f"{kind} gain" for kind in MODELS for i, p in enumerate([*powers[:2], 0])]
    return (
        f"Mean gain of power {powers[-1]:g} over power {powers[0]:g}, and how many data sets gain:\n\n"
        f"{markdown(header, short)}\n\n{markdown(['task', 'data set', 'group', 'splits', *columns], cells)}"
    )


def _gain(mean: float, error: float) -> str:
    return f"{mean:+.4f}" + ("" if np.isnan(error) else f" ± {error:.4f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--datasets", nargs="+", choices=DATASETS, default=None)
    parser.add_argument("--splits", type=int, default=100)
    parser.add_argument("--powers", type=float, nargs=2, default=[1.0, 0.5])
    parser.add_argument("--tables", action="store_true")
    parser.add_argument("--update", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore", HopscaleWarning)
    records: list[Record] = []
    for name in options.datasets or DATASETS:
        for kind in MODELS:
            records += measured(name, kind, options.powers, options.splits, tables=options.tables)
        print(f"{name} done", flush=True)
    if not options.tables and (not options.datasets or set(TWITCH) & set(options.datasets)):
        for kind in MODELS:
            records += transferred(kind, options.powers)
    if options.update:
        records = sorted(updated("targets", records, ("dataset", "task")), key=place)
    if options.datasets and not options.update:
        print(table(records))
    else:
        write("targets", records, table(records))


if __name__ == "__main__":
    main()
