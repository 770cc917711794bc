"""The paper's experiments, and three more, as cells: each cell is one measurement.

A cell describes in plain values what it measures, and loads or fits what it needs when it is run. Settings that the
paper leaves open are chosen here; see ``docs/decisions.md`` and ``benchmarks/open_questions.py``.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hopscale.datasets import erdos_renyi, load
from hopscale.datasets import published as paper_datasets
from hopscale.exceptions import ParameterError
from hopscale.graph import AttributedGraph
from hopscale.models.base import NodeEmbedding
from hopscale.paper.densification import POWERS, nonzero_ratios
from hopscale.paper.fits import Fit, fitted
from hopscale.paper.methods import METHODS, SOLVERS, method
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

__all__ = ["DATASETS", "EXPERIMENTS", "Cell", "Options"]

Task = Callable[..., list[Record]]

CLASSIFICATION = ("facebook", "github", "twitch-pt", "lastfm-asia", "deezer-europe", "cora", "citeseer", "pubmed")
REGRESSION = ("wiki-chameleon", "wiki-crocodile", "wiki-squirrel")
FEW_SHOT = ("facebook", "github", "twitch-pt")
SAMPLES_PER_CLASS = tuple(range(3, 31, 3))
TWITCH = ("twitch-de", "twitch-en", "twitch-es", "twitch-fr", "twitch-pt", "twitch-ru")
TARGETS = ("twitch-ru", "twitch-pt")
DENSIFICATION = ("facebook", "github", "twitch-es", "twitch-ru", "wiki-chameleon", "wiki-squirrel")
OWN = ("cora", "twitch-pt", "wiki-chameleon", "facebook")  # in experiments that the paper does not have
# Whether vectors are standardised, where one setting must be chosen; see benchmarks/open_questions.py.
STANDARDIZE = {"classification": False, "regression": True}
SEEDED_RUNS = 10  # the paper's runs of transfer learning
REFITS = 5  # runs of the experiments that fit a model in each
NODE_EXPONENTS = tuple(range(7, 15))
FEATURE_EXPONENTS = tuple(range(3, 9))
RUNTIME_NODES = 11  # log2 of the nodes where features vary
RUNTIME_RUNS = {"pmi": 5, "sgns": 1}  # long ones vary little
THEORY_RUNS = 3

# Default data sets of each experiment, those of the paper, in order; runtime and theory generate their graphs.
DATASETS: dict[str, tuple[str, ...]] = {
    "classification": CLASSIFICATION,
    "regression": REGRESSION,
    "few-shot": FEW_SHOT,
    "transfer": TWITCH,
    "link-prediction": OWN,
    "attribute-inference": OWN,
    "densification": DENSIFICATION,
    "runtime": (),
    "theory": (),
}
# All data sets that each can be run on.
_CLASSES = tuple(dict.fromkeys((*CLASSIFICATION, *TWITCH)))
SUITABLE = {
    **DATASETS,
    "classification": _CLASSES,
    "few-shot": _CLASSES,
    **dict.fromkeys(("link-prediction", "attribute-inference", "densification"), (*_CLASSES, *REGRESSION)),
}


@dataclass(frozen=True)
class Options:
    """What to measure: methods, solvers, data sets, number of splits; and where fitted models are kept."""

    cache: Path
    methods: Sequence[str] | None = None
    solvers: Sequence[str] | None = None
    datasets: Sequence[str] | None = None
    splits: int = 100
    seed: int = 0
    n_jobs: int | None = None
    data: str | None = None
    parameters: dict[str, Any] = field(default_factory=dict)

    @property
    def asked_methods(self) -> tuple[str, ...]:
        """The requested methods, or all that have the requested parameters."""
        if self.methods is not None:
            return tuple(self.methods)
        return tuple(name for name, row in METHODS.items() if row.accepts(self.parameters))

    def chosen_datasets(self, experiment: str) -> tuple[str, ...]:
        """The requested data sets that suit the experiment, or its default ones."""
        if self.datasets is None:
            return DATASETS[experiment]
        return tuple(name for name in SUITABLE[experiment] if name in self.datasets)

    def chosen_methods(
        self, suits: Callable[[NodeEmbedding], bool] = lambda _: True, solvers: Sequence[str] = ("pmi",)
    ) -> Iterator[tuple[str, str]]:
        """Names of the requested methods that suit an experiment, with each solver that has the requested parameters.

        ``solvers`` are used if none were requested.
        """
        asked = self.solvers or solvers
        for row in map(method, self.asked_methods):
            for way in row.ways:
                # Methods without a choice of solvers count as direct.
                wanted = way in asked or (way == "own" and "pmi" in asked)
                if wanted and suits(row.build()) and row.accepts(self.parameters, way):
                    yield row.name, way


@dataclass(frozen=True)
class Cell:
    """One measurement: what it measures, number of repeats, rough relative cost, and the function that runs it."""

    what: dict[str, Any]
    repeats: int
    cost: float
    measure: Callable[[], dict[str, Any]]


def _graph(dataset: str, options: Options) -> tuple[AttributedGraph, NDArray[Any]]:
    """A data set and its target; for the Wikipedia networks the logarithm of the traffic."""
    graph = load(dataset, data=options.data)
    if graph.labels is None:
        raise ParameterError(f"data set {dataset!r} has no labels")
    return graph, np.log(graph.labels) if dataset in REGRESSION else graph.labels


def _cost(dataset: str, solver: str, evaluations: int) -> float:
    """Rough estimate, to show the remaining time, from the number of entries of F."""
    known = paper_datasets().get(dataset)
    entries = known.statistics["nodes"] * known.statistics["features_per_node"] if known else 1e5
    return entries / 1e5 * ((20.0 if solver == "sgns" else 0.3) + 0.02 * evaluations)


def _scores(records: Sequence[Record], metrics: Sequence[str], by: str | None = None) -> dict[str, Any]:
    """Values of each metric, over all records or grouped by a key."""
    if by is None:
        return {metric: [record[metric] for record in records] for metric in metrics}
    values = list(dict.fromkeys(record[by] for record in records))
    return {metric: {str(v): [r[metric] for r in records if r[by] == v] for v in values} for metric in metrics}


def _cell(
    experiment: str,
    options: Options,
    way: tuple[str, str],
    repeats: int,
    cost: float,
    measure: Callable[[], dict[str, Any]],
    **more: Any,
) -> Cell:
    """A cell of a method and a solver."""
    what = {"experiment": experiment, "method": way[0], "solver": way[1]}
    return Cell({**what, "parameters": options.parameters, "seed": options.seed, **more}, repeats, cost, measure)


def _model(way: tuple[str, str], options: Options) -> NodeEmbedding:
    name, solver = way
    return method(name).build(solver, n_jobs=options.n_jobs or -1, random_state=options.seed, **options.parameters)


_CLASS_METRICS = ("micro_f1", "macro_f1", "roc_auc", "majority_micro_f1")
_RAW_AND_STANDARDIZED = ({"standardize": False}, {"standardize": True})


def _on_vectors(
    experiment: str,
    options: Options,
    task: Task,
    metrics: Sequence[str],
    variants: Sequence[dict[str, Any]],
    by: str | None = None,
) -> Iterator[Cell]:
    """Cells that score the vectors of every method and solver on every data set, with the settings of each variant."""

    def measure(fit: Fit, settings: dict[str, Any]) -> dict[str, Any]:
        _, target = _graph(fit.dataset, options)
        vectors, facts = fitted(fit, options.cache, data=options.data, n_jobs=options.n_jobs)
        records = task(vectors, target, splits=options.splits, n_jobs=options.n_jobs, **settings)
        return {"fit": facts, "scores": _scores(records, metrics, by)}

    for what, dataset in product(variants, options.chosen_datasets(experiment)):
        for way in options.chosen_methods():
            run = partial(measure, Fit(*way, dataset, options.seed, options.parameters), what)
            cost = _cost(dataset, way[1], options.splits)
            yield _cell(experiment, options, way, options.splits, cost, run, dataset=dataset, **what)


def classification(options: Options) -> Iterator[Cell]:
    """Node classification: l2 logistic regression on seeded 80/20 splits."""
    return _on_vectors("classification", options, node_classification, _CLASS_METRICS, _RAW_AND_STANDARDIZED)


def regression(options: Options) -> Iterator[Cell]:
    """Node regression: elastic net on the logarithm of the traffic, seeded 80/20 splits."""
    return _on_vectors("regression", options, node_regression, ("r2", "mean_r2"), _RAW_AND_STANDARDIZED)


def few_shot_learning(options: Options) -> Iterator[Cell]:
    """Classification from k labelled nodes per class, on raw vectors: k nodes are too few to estimate deviations."""
    task = partial(few_shot, samples_per_class=SAMPLES_PER_CLASS)
    return _on_vectors("few-shot", options, task, _CLASS_METRICS, [{}], by="k")


def transfer_learning(options: Options) -> Iterator[Cell]:
    """Fit and classifier on one Twitch network, tested on another."""
    chosen = options.chosen_datasets("transfer")
    runs = min(options.splits, SEEDED_RUNS)

    def measure(source: str, target: str, way: tuple[str, str], settings: dict[str, Any]) -> dict[str, Any]:
        graphs = (load(name, data=options.data) for name in (source, target))
        seeds = range(options.seed, options.seed + runs)
        records = transfer(_model(way, options), *graphs, seeds=seeds, **settings)
        return {"scores": _scores(records, (*_CLASS_METRICS, "target_majority_micro_f1"))}

    for target, source in product(TARGETS, chosen):
        if target in chosen and source != target:
            for way, what in product(options.chosen_methods(lambda m: m.inductive), _RAW_AND_STANDARDIZED):
                run = partial(measure, source, target, way, what)
                cost = runs * _cost(source, way[1], 1)
                yield _cell("transfer", options, way, runs, cost, run, dataset=target, source=source, **what)


def link_prediction_of(options: Options) -> Iterator[Cell]:
    """Edges predicted by vectors that were learned without them; not in the paper."""
    return _on_graphs("link-prediction", options, partial(link_prediction, n_jobs=options.n_jobs), "operator")


def attribute_inference_of(options: Options) -> Iterator[Cell]:
    """Hidden features of nodes, ranked by G·Hᵀ; not in the paper."""
    return _on_graphs("attribute-inference", options, attribute_inference, "method", _has_feature_vectors)


def _has_feature_vectors(model: NodeEmbedding) -> bool:
    return model.uses_features and model.has_feature_vectors


def _on_graphs(
    experiment: str, options: Options, task: Task, by: str, suits: Callable[[NodeEmbedding], bool] = lambda _: True
) -> Iterator[Cell]:
    """Cells of experiments that hide a part of the graph and fit a model in each run; records are grouped by a key."""
    runs = min(options.splits, REFITS)

    def measure(dataset: str, way: tuple[str, str]) -> dict[str, Any]:
        graph, _ = _graph(dataset, options)
        records = task(_model(way, options), graph, splits=runs, random_state=options.seed)
        return {"scores": _scores(records, ("roc_auc", "average_precision"), by)}

    for dataset in options.chosen_datasets(experiment):
        for way in options.chosen_methods(suits):
            cost, run = runs * _cost(dataset, way[1], 1), partial(measure, dataset, way)
            yield _cell(experiment, options, way, runs, cost, run, dataset=dataset)


def densification(options: Options) -> Iterator[Cell]:
    """Figure 1b: the share of non-zero entries of the target matrices."""

    def measure(dataset: str) -> dict[str, Any]:
        graph, _ = _graph(dataset, options)
        return {"scores": {"nonzero_ratio": nonzero_ratios(graph, POWERS, n_jobs=options.n_jobs)}}

    for dataset in options.chosen_datasets("densification"):
        what = {"experiment": "densification", "dataset": dataset}
        yield Cell(what, 1, _cost(dataset, "pmi", 1), partial(measure, dataset))


def runtime(options: Options) -> Iterator[Cell]:
    """Figure 6: seconds against the size of Erdős–Rényi graphs, one epoch as in the paper."""
    grid = [("nodes", 2**k, 8) for k in NODE_EXPONENTS]
    grid += [("features_per_node", 2**RUNTIME_NODES, 2**k) for k in FEATURE_EXPONENTS]
    ways = options.chosen_methods(lambda m: m.inductive, SOLVERS)
    for (name, solver), threads, (varied, nodes, features) in product(ways, (1, 2), grid):
        sgns, runs = solver == "sgns", min(options.splits, RUNTIME_RUNS[solver])
        settings = {**({"epochs": 1} if sgns else {}), **options.parameters}
        build = partial(method(name).build, solver, n_jobs=threads, **settings)
        run = partial(seconds_to_fit, build, nodes, features, runs, options.seed)
        cost = runs * nodes * features / 2e5 * (20.0 if sgns else 1.0) / threads
        what = {"varied": varied, "nodes": nodes, "features_per_node": features, "threads": threads}
        yield _cell("runtime", options, (name, solver), runs, cost, run, **what)


def seconds_to_fit(
    build: Callable[[], NodeEmbedding], nodes: int, features_per_node: int, runs: int, seed: int
) -> dict[str, Any]:
    """Wall-clock seconds of ``runs`` fits, each to another Erdős–Rényi graph of the paper's kind.

    Making the graph is not counted, nor is a first small fit, which loads what later ones find loaded.
    """
    build().fit(erdos_renyi(64, 8, 8, 2**11))
    seconds = []
    for run in range(runs):
        graph = erdos_renyi(nodes, 8, features_per_node, 2**11, random_state=seed + run)
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
    ways = options.chosen_methods(lambda m: m.inductive, SOLVERS)
    for (name, solver), (varied, length, dimensions) in product(ways, grid):
        if solver == "sgns" or varied == "dimensions":  # pmi takes no walks
            run = partial(distance_from_theory, method(name), solver, length, dimensions, **settings)
            cost = 5.0 * runs if solver == "sgns" else 0.2 * runs
            what: dict[str, Any] = {"parameters": {}, "varied": varied, "walk_length": length, "dimensions": dimensions}
            yield _cell("theory", options, (name, solver), runs, cost, run, **what)


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
