"""The paper's experiments, and three more, as cells: each cell is one measurement.

A cell describes in plain values what it measures, and loads or fits what it needs when it is run. Settings that the
paper leaves open are chosen here; see ``docs/decisions.md`` and ``benchmarks/open_questions.py``.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from hopscale.datasets import erdos_renyi, load
from hopscale.graph import AttributedGraph
from hopscale.models.base import NodeEmbedding
from hopscale.paper.densification import POWERS, nonzero_ratios
from hopscale.paper.fits import Fit, fitted, fitted_model
from hopscale.paper.machine import cores
from hopscale.paper.methods import SOLVERS, method
from hopscale.paper.options import CLASSIFICATION, REGRESSION, TWITCH, Cell, Options, Way, cost
from hopscale.paper.supervised import WAY, device_of, most_splits, rows_of, scores_of_splits
from hopscale.paper.theory import DIMENSIONS, WALK_LENGTHS, distance_from_theory
from hopscale.tasks import (
    Record,
    attribute_inference,
    few_shot,
    link_prediction,
    node_classification,
    node_regression,
    transfer,
)

__all__ = ["EXPERIMENTS", "REGRESSION", "TARGETS", "TWITCH"]

Task = Callable[..., list[Record]]

SAMPLES_PER_CLASS = tuple(range(3, 31, 3))
TARGETS = ("twitch-ru", "twitch-pt")
SEEDED_RUNS = 10  # the paper's runs of transfer learning
REFITS = 5  # runs of the experiments that fit a model in each
NODE_EXPONENTS = tuple(range(7, 15))
FEATURE_EXPONENTS = tuple(range(3, 9))
RUNTIME_NODES = 11  # log2 of the nodes where features vary
RUNTIME_EDGES = 8  # of a node
RUNTIME_FEATURES = 2**11
RUNTIME_THREADS = (1, 2, 4)
RUNTIME_RUNS = {"pmi": 5, "sgns": 3}
THEORY_RUNS = 3


def _scores(records: Sequence[Record], metrics: Sequence[str], by: str | None = None) -> dict[str, Any]:
    """Values of each metric, over all records or grouped by a key."""
    if by is None:
        return {metric: [record[metric] for record in records] for metric in metrics}
    values = list(dict.fromkeys(record[by] for record in records))
    return {metric: {str(v): [r[metric] for r in records if r[by] == v] for v in values} for metric in metrics}


def _graph_and_target(dataset: str, options: Options) -> tuple[AttributedGraph, Any]:
    """A data set, and what to predict: of the Wikipedia networks the logarithm of the traffic."""
    graph = load(dataset, data=options.data)
    labels: Any = graph.labels
    return graph, np.log(labels) if dataset in REGRESSION else labels


_ONLY_VECTORS = frozenset(TWITCH) - frozenset(CLASSIFICATION)
_CLASS_METRICS = ("micro_f1", "macro_f1", "roc_auc", "majority_micro_f1")
_VALUE_METRICS = ("r2", "mean_r2")
_RAW_AND_STANDARDIZED = ({"standardize": False}, {"standardize": True})


def _on_vectors(
    experiment: str, options: Options, task: Task, metrics: Sequence[str], by: str | None = None
) -> Iterator[Cell]:
    """Cells that score the vectors of every method and solver on every data set.

    Records that are not grouped by a key are made of raw and of standardised vectors, the others of raw ones only.
    """
    variants: Sequence[dict[str, bool]] = [{}] if by else _RAW_AND_STANDARDIZED

    def measure(way: Way, dataset: str, settings: dict[str, Any]) -> dict[str, Any]:
        _, target = _graph_and_target(dataset, options)
        fit = Fit(*way, dataset, options.seed, options.parameters)
        vectors, facts = fitted(fit, options.cache, data=options.data, n_jobs=options.n_jobs)
        records = task(vectors, target, splits=options.splits, n_jobs=options.n_jobs, **settings)
        return {"fit": facts, "scores": _scores(records, metrics, by)}

    for what, dataset, way in product(variants, options.chosen_datasets(experiment), options.chosen_methods()):
        expected, run = cost(dataset, way[1], options.splits), partial(measure, way, dataset, what)
        several = way[1] in SOLVERS
        yield options.cell(experiment, way, options.splits, expected, run, several=several, dataset=dataset, **what)


def classification(options: Options) -> Iterator[Cell]:
    """Node classification: l2 logistic regression on seeded 80/20 splits of vectors, and supervised methods."""
    yield from _on_vectors("classification", options, node_classification, _CLASS_METRICS)
    yield from _supervised("classification", options, _CLASS_METRICS)


def regression(options: Options) -> Iterator[Cell]:
    """Node regression: elastic net on the logarithm of the traffic, seeded 80/20 splits, and supervised methods."""
    yield from _on_vectors("regression", options, node_regression, _VALUE_METRICS)
    yield from _supervised("regression", options, _VALUE_METRICS)


def _supervised(experiment: str, options: Options, metrics: Sequence[str]) -> Iterator[Cell]:
    """Supervised methods on the splits of the vectors, a training each; none if certain solvers were requested."""

    def measure(row: str, dataset: str, splits: int) -> dict[str, Any]:
        graph, target = _graph_and_target(dataset, options)
        settings: dict[str, Any] = {"splits": splits, "seed": options.seed, "n_jobs": options.n_jobs}
        records = scores_of_splits(row, graph, target, options.parameters, **settings)
        facts: dict[str, Any] = {"device": device_of(row, options.parameters), "n_jobs": options.n_jobs}
        facts |= {key: float(np.mean([record[key] for record in records])) for key in ("seconds", "vector_seconds")}
        return {"fit": facts, "scores": _scores(records, (*metrics, "seconds"))}

    asked = [row for row in rows_of(experiment) if row in options.asked_supervised and options.solvers is None]
    # Trainings take long: by default on the data sets of the paper's tables alone.
    chosen = [name for name in options.chosen_datasets(experiment) if options.datasets or name not in _ONLY_VECTORS]
    for dataset, row in product(chosen, asked):
        splits = min(options.splits, most_splits(row, options.parameters))
        expected, run = 20.0 * splits * cost(dataset, "pmi", 1), partial(measure, row, dataset, splits)
        yield options.cell(experiment, (row, WAY), splits, expected, run, dataset=dataset)


def few_shot_learning(options: Options) -> Iterator[Cell]:
    """Classification from k labelled nodes per class, on raw vectors: k nodes are too few to estimate deviations."""
    task = partial(few_shot, samples_per_class=SAMPLES_PER_CLASS)
    return _on_vectors("few-shot", options, task, _CLASS_METRICS, by="k")


def transfer_learning(options: Options) -> Iterator[Cell]:
    """Fit and classifier on one Twitch network, tested on another."""
    chosen = options.chosen_datasets("transfer")
    runs = min(options.splits, SEEDED_RUNS)

    def measure(source: str, target: str, way: Way, settings: dict[str, Any]) -> dict[str, Any]:
        graphs = [load(name, data=options.data) for name in (source, target)]
        records = []
        for seed in range(options.seed, options.seed + runs):
            fit = Fit(*way, source, seed, options.parameters)
            model = fitted_model(fit, target, options.cache, data=options.data, n_jobs=options.n_jobs)
            records += transfer(model, *graphs, **settings)
        return {"scores": _scores(records, (*_CLASS_METRICS, "target_majority_micro_f1"))}

    for target, source in product(TARGETS, chosen):
        if target in chosen and source != target:
            for way, what in product(options.chosen_methods(lambda m: m.inductive), _RAW_AND_STANDARDIZED):
                run = partial(measure, source, target, way, what)
                expected = runs * cost(source, way[1], 1)
                yield options.cell("transfer", way, runs, expected, run, dataset=target, source=source, **what)


def link_prediction_of(options: Options) -> Iterator[Cell]:
    """Edges predicted by vectors that were learned without them; not in the paper."""
    task = partial(link_prediction, n_jobs=options.n_jobs)
    return _on_graphs("link-prediction", options, task, "operator", options.chosen_methods())


def attribute_inference_of(options: Options) -> Iterator[Cell]:
    """Hidden features of nodes, ranked by G·Hᵀ; not in the paper."""
    ways = options.chosen_methods(lambda model: model.uses_features and model.has_feature_vectors)
    return _on_graphs("attribute-inference", options, attribute_inference, "method", ways)


def _on_graphs(experiment: str, options: Options, task: Task, by: str, ways: Iterable[Way]) -> Iterator[Cell]:
    """Cells of experiments that hide a part of the graph and fit a model in each run; records are grouped by a key."""
    runs = min(options.splits, REFITS)

    def measure(dataset: str, way: Way) -> dict[str, Any]:
        graph = load(dataset, data=options.data)
        records = task(options.model(way), graph, splits=runs, random_state=options.seed)
        return {"scores": _scores(records, ("roc_auc", "average_precision"), by)}

    for dataset, way in product(options.chosen_datasets(experiment), ways):
        expected, run = runs * cost(dataset, way[1], 1), partial(measure, dataset, way)
        yield options.cell(experiment, way, runs, expected, run, dataset=dataset)


def densification(options: Options) -> Iterator[Cell]:
    """Figure 1b: the share of non-zero entries of the target matrices."""

    def measure(dataset: str) -> dict[str, Any]:
        ratios = nonzero_ratios(load(dataset, data=options.data), POWERS, n_jobs=options.n_jobs)
        return {"scores": {"nonzero_ratio": ratios}}

    for dataset in options.chosen_datasets("densification"):
        what = {"experiment": "densification", "dataset": dataset}
        yield Cell(what, 1, cost(dataset, "pmi", 1), partial(measure, dataset))


def runtime(options: Options) -> Iterator[Cell]:
    """Figure 6: seconds against the size of Erdős–Rényi graphs, one epoch as in the paper."""
    grid = [("nodes", 2**k, 8) for k in NODE_EXPONENTS]
    grid += [("features_per_node", 2**RUNTIME_NODES, 2**k) for k in FEATURE_EXPONENTS]
    here = [threads for threads in RUNTIME_THREADS if threads <= cores()]  # more would wait for each other
    for (name, solver), threads, (varied, nodes, features) in product(_theorems(options), here, grid):
        sgns, runs = solver == "sgns", min(options.splits, RUNTIME_RUNS[solver])
        settings = {**({"epochs": 1} if sgns else {}), **options.parameters}
        build = partial(method(name).build, solver, n_jobs=threads, **settings)
        run = partial(seconds_to_fit, build, nodes, features, runs, options.seed)
        expected = runs * nodes * features / 2e5 * (20.0 if sgns else 1.0) / threads
        what = {"varied": varied, "nodes": nodes, "features_per_node": features, "threads": threads}
        yield options.cell("runtime", (name, solver), runs, expected, run, **what)


def _theorems(options: Options) -> list[Way]:
    """AE and MUSAE, as far as they were requested: the models that theorems and run times are about."""
    ways = options.chosen_methods(lambda model: model.inductive and model.has_feature_vectors)
    return [(name, solver) for name, solver in ways if "self_scale" not in method(name).parameters]


def seconds_to_fit(
    build: Callable[[], NodeEmbedding], nodes: int, features_per_node: int, runs: int, seed: int
) -> dict[str, Any]:
    """Wall-clock seconds of ``runs`` fits, each to another Erdős–Rényi graph of the paper's kind.

    Making the graph is not counted, nor is a first small fit, which loads what later ones find loaded.
    """
    build().fit(erdos_renyi(64, RUNTIME_EDGES, 8, RUNTIME_FEATURES))
    seconds = []
    for run in range(runs):
        graph = erdos_renyi(nodes, RUNTIME_EDGES, features_per_node, RUNTIME_FEATURES, random_state=seed + run)
        model = build()
        start = time.perf_counter()
        model.fit(graph)
        seconds.append(time.perf_counter() - start)
    return {"scores": {"seconds": seconds}}


def theory(options: Options) -> Iterator[Cell]:
    """Distance of G·Hᵀ from the matrix of the theorems."""
    grid: list[tuple[str, int | None, int | None]] = [("walk_length", length, None) for length in WALK_LENGTHS]
    grid += [("dimensions", None, d) for d in DIMENSIONS]
    runs = min(options.splits, THEORY_RUNS)
    settings: dict[str, Any] = {"seeds": range(options.seed, options.seed + runs), "n_jobs": options.n_jobs or -1}
    for (name, solver), (varied, length, dimensions) in product(_theorems(options), grid):
        if solver == "sgns" or varied == "dimensions":  # pmi takes no walks
            run = partial(distance_from_theory, method(name), solver, length, dimensions, **settings)
            expected = 5.0 * runs if solver == "sgns" else 0.2 * runs
            what: dict[str, Any] = {"parameters": {}, "varied": varied, "walk_length": length, "dimensions": dimensions}
            yield options.cell("theory", (name, solver), runs, expected, run, **what)


EXPERIMENTS: dict[str, Callable[[Options], Iterator[Cell]]] = {
    "classification": classification,
    "few-shot": few_shot_learning,
    "regression": regression,
    "transfer": transfer_learning,
    "runtime": runtime,
    "densification": densification,
    "theory": theory,
    "link-prediction": link_prediction_of,
    "attribute-inference": attribute_inference_of,
}
