"""The paper's experiments, and three of our own, as lists of cells: each is measured once and kept.

A cell says in plain values what it measures; what it needs (vectors, a graph) it gets when it is run. Whatever the
paper leaves open is decided here; ``docs/decisions.md`` says why, ``benchmarks/open_questions.py`` measured it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hopscale.datasets import load
from hopscale.datasets import published as registered
from hopscale.exceptions import ParameterError
from hopscale.graph import AttributedGraph
from hopscale.models.base import NodeEmbedding
from hopscale.paper.densification import POWERS, nonzero_ratios
from hopscale.paper.fits import Fit, fitted
from hopscale.paper.methods import METHODS, SOLVERS, Method, method
from hopscale.paper.runtime import FEATURE_EXPONENTS, NODE_EXPONENTS, seconds_to_fit
from hopscale.paper.theory import DIMENSIONS, WALK_LENGTHS, distance_from_theory
from hopscale.tasks import (
    attribute_inference,
    few_shot,
    link_prediction,
    node_classification,
    node_regression,
    transfer,
)

__all__ = ["DATASETS", "EXPERIMENTS", "Cell", "Options"]

CLASSIFICATION = ("facebook", "github", "twitch-pt", "lastfm-asia", "deezer-europe", "cora", "citeseer", "pubmed")
REGRESSION = ("wiki-chameleon", "wiki-crocodile", "wiki-squirrel")
FEW_SHOT = ("facebook", "github", "twitch-pt")
SAMPLES_PER_CLASS = tuple(range(3, 31, 3))
TWITCH = ("twitch-de", "twitch-en", "twitch-es", "twitch-fr", "twitch-pt", "twitch-ru")
TARGETS = ("twitch-ru", "twitch-pt")
DENSIFICATION = ("facebook", "github", "twitch-es", "twitch-ru", "wiki-chameleon", "wiki-squirrel")
OWN = ("cora", "twitch-pt", "wiki-chameleon", "facebook")  # of the experiments that the paper does not have
# Whether vectors are standardised where one way must be chosen; benchmarks/open_questions.py is why.
STANDARDIZE = {"classification": False, "regression": True}
SEEDED_RUNS = 10  # the paper's runs of transfer learning
REFITS = 5  # runs of the experiments that fit anew each time
RUNTIME_NODES = 11  # log2 of the nodes where features vary
RUNTIME_RUNS = {"pmi": 5, "sgns": 1}  # long ones vary little
THEORY_RUNS = 3

# Data sets of each experiment, in its order: the paper's, if no others are asked for. Those without any make their
# own graphs.
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
# What else each may be asked for.
_CLASSES = tuple(dict.fromkeys((*CLASSIFICATION, *TWITCH)))
SUITABLE = {
    **DATASETS,
    "classification": _CLASSES,
    "few-shot": _CLASSES,
    **dict.fromkeys(("link-prediction", "attribute-inference", "densification"), (*_CLASSES, *REGRESSION)),
}


@dataclass(frozen=True)
class Options:
    """What to reproduce, and with what."""

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
        """Methods that were asked for, or all that have the parameters that were."""
        if self.methods is not None:
            return tuple(self.methods)
        return tuple(name for name, row in METHODS.items() if set(self.parameters) <= set(row.model().get_params()))

    def chosen_datasets(self, experiment: str) -> tuple[str, ...]:
        """The experiment's data sets, or those that were asked for and suit it."""
        if self.datasets is None:
            return DATASETS[experiment]
        return tuple(name for name in SUITABLE[experiment] if name in self.datasets)

    def chosen_methods(
        self, suits: Callable[[Method], bool] = lambda _: True, solvers: Sequence[str] = ("pmi",)
    ) -> Iterator[tuple[str, str]]:
        """Names of the methods that were asked for and suit an experiment, with each solver.

        ``solvers`` are the experiment's own, if none were asked for.
        """
        asked = self.solvers or solvers
        for row in map(method, self.asked_methods):
            for way in row.ways:
                # What has a way of its own is direct, and measured when that is asked for.
                if suits(row) and (way in asked or (way == "own" and "pmi" in asked)):
                    yield row.name, way


@dataclass(frozen=True)
class Cell:
    """One measurement: what it is, how often it is repeated, what it costs (roughly, as a ratio), how it is made."""

    what: dict[str, Any]
    repeats: int
    cost: float
    measure: Callable[[], dict[str, Any]]


def _graph(dataset: str, options: Options) -> tuple[AttributedGraph, NDArray[Any]]:
    """A data set and its target: the logarithm of the traffic, in the Wikipedia networks."""
    graph = load(dataset, data=options.data)
    if graph.labels is None:
        raise ParameterError(f"data set {dataset!r} has no labels")
    return graph, np.log(graph.labels) if dataset in REGRESSION else graph.labels


def _cost(dataset: str, solver: str, evaluations: int) -> float:
    """Rough, so that the remaining time can be told: entries of F are what every method works on."""
    known = registered().get(dataset)
    entries = known.statistics["nodes"] * known.statistics["features_per_node"] if known else 1e5
    return entries / 1e5 * ((20.0 if solver == "sgns" else 0.3) + 0.02 * evaluations)


def _columns(records: Sequence[dict[str, Any]], metrics: Sequence[str]) -> dict[str, list[float]]:
    return {metric: [record[metric] for record in records] for metric in metrics}


def _by(key: str, records: Sequence[dict[str, Any]], metrics: Sequence[str]) -> dict[str, dict[str, list[float]]]:
    """Columns of each value of a key."""
    values = list(dict.fromkeys(record[key] for record in records))
    return {metric: {str(v): [r[metric] for r in records if r[key] == v] for v in values} for metric in metrics}


_CLASS_METRICS = ("micro_f1", "macro_f1", "roc_auc", "majority_micro_f1")


def _on_vectors(
    experiment: str, options: Options, score: Callable[[NDArray[np.float32], NDArray[Any]], dict[str, Any]], **what: Any
) -> Iterator[Cell]:
    """Cells that score the vectors of every method and solver on every data set."""
    for dataset in options.chosen_datasets(experiment):
        for name, solver in options.chosen_methods():
            fit = Fit(name, solver, dataset, options.seed, options.parameters)

            def measure(fit: Fit = fit) -> dict[str, Any]:
                _, target = _graph(fit.dataset, options)
                vectors, facts = fitted(fit, options.cache, data=options.data, n_jobs=options.n_jobs)
                return {"fit": facts, "scores": score(vectors, target)}

            yield Cell(
                _what(experiment, name, solver, options, dataset=dataset, **what),
                options.splits,
                _cost(dataset, solver, options.splits),
                measure,
            )


def classification(options: Options) -> Iterator[Cell]:
    """Node classification: l2 logistic regression on seeded 80/20 splits."""

    def score(vectors: NDArray[np.float32], target: NDArray[Any], *, standardize: bool) -> dict[str, Any]:
        records = node_classification(
            vectors, target, splits=options.splits, standardize=standardize, n_jobs=options.n_jobs
        )
        return _columns(records, _CLASS_METRICS)

    for standardize in (False, True):
        yield from _on_vectors(
            "classification", options, partial(score, standardize=standardize), standardize=standardize
        )


def regression(options: Options) -> Iterator[Cell]:
    """Node regression: elastic net on the logarithm of the traffic, seeded 80/20 splits."""

    def score(vectors: NDArray[np.float32], target: NDArray[Any], *, standardize: bool) -> dict[str, Any]:
        records = node_regression(
            vectors, target, splits=options.splits, standardize=standardize, n_jobs=options.n_jobs
        )
        return _columns(records, ("r2", "mean_r2"))

    for standardize in (False, True):
        yield from _on_vectors("regression", options, partial(score, standardize=standardize), standardize=standardize)


def few_shot_learning(options: Options) -> Iterator[Cell]:
    """Classification from k labelled nodes of each class, on raw vectors: so few tell nothing of a deviation."""

    def score(vectors: NDArray[np.float32], target: NDArray[Any]) -> dict[str, Any]:
        records = few_shot(
            vectors, target, samples_per_class=SAMPLES_PER_CLASS, splits=options.splits, n_jobs=options.n_jobs
        )
        return _by("k", records, _CLASS_METRICS)

    yield from _on_vectors("few-shot", options, score)


def transfer_learning(options: Options) -> Iterator[Cell]:
    """Fit and classifier on one Twitch network, tested on another."""
    chosen = options.chosen_datasets("transfer")
    runs = min(options.splits, SEEDED_RUNS)

    def measure(source: str, target: str, name: str, solver: str, standardize: bool) -> dict[str, Any]:
        there, there_labels = _graph(source, options)
        here, here_labels = _graph(target, options)
        records = transfer(
            _model(name, solver, options), there, here, source_labels=there_labels, target_labels=here_labels,
            seeds=range(options.seed, options.seed + runs), standardize=standardize,
        )  # fmt: skip
        return {"scores": _columns(records, (*_CLASS_METRICS, "target_majority_micro_f1"))}

    for target, source in product(TARGETS, chosen):
        if target not in chosen or source == target:
            continue
        for (name, solver), standardize in product(options.chosen_methods(lambda m: m.inductive), (False, True)):
            what = {"dataset": target, "source": source, "standardize": standardize}
            yield Cell(
                _what("transfer", name, solver, options, **what),
                runs,
                runs * _cost(source, solver, 1),
                partial(measure, source, target, name, solver, standardize),
            )


def link_prediction_of(options: Options) -> Iterator[Cell]:
    """Links from vectors that were learnt on half of the edges; not in the paper."""

    def measure(dataset: str, name: str, solver: str, runs: int) -> dict[str, Any]:
        graph, _ = _graph(dataset, options)
        model = _model(name, solver, options)
        records = link_prediction(model, graph, splits=runs, random_state=options.seed, n_jobs=options.n_jobs)
        return {"scores": _by("operator", records, ("roc_auc", "average_precision"))}

    yield from _on_graphs("link-prediction", options, measure, lambda _: True)


def attribute_inference_of(options: Options) -> Iterator[Cell]:
    """Hidden features of nodes, ranked by G·Hᵀ; not in the paper."""

    def measure(dataset: str, name: str, solver: str, runs: int) -> dict[str, Any]:
        graph, _ = _graph(dataset, options)
        model = _model(name, solver, options)
        records = attribute_inference(model, graph, splits=runs, random_state=options.seed)
        return {"scores": _by("method", records, ("roc_auc", "average_precision"))}

    yield from _on_graphs("attribute-inference", options, measure, lambda m: m.feature_vectors)


def _on_graphs(
    experiment: str,
    options: Options,
    measure: Callable[[str, str, str, int], dict[str, Any]],
    suits: Callable[[Method], bool],
) -> Iterator[Cell]:
    """Cells of experiments that hide a part of the graph, and so fit anew every time."""
    runs = min(options.splits, REFITS)
    for dataset in options.chosen_datasets(experiment):
        for name, solver in options.chosen_methods(suits):
            yield Cell(
                _what(experiment, name, solver, options, dataset=dataset),
                runs,
                runs * _cost(dataset, solver, 1),
                partial(measure, dataset, name, solver, runs),
            )


def densification(options: Options) -> Iterator[Cell]:
    """Figure 1b: how soon the target matrices fill up."""

    def measure(dataset: str) -> dict[str, Any]:
        graph, _ = _graph(dataset, options)
        return {"scores": {"nonzero_ratio": nonzero_ratios(graph, POWERS, n_jobs=options.n_jobs)}}

    for dataset in options.chosen_datasets("densification"):
        what = {"experiment": "densification", "dataset": dataset}
        yield Cell(what, 1, _cost(dataset, "pmi", 1), partial(measure, dataset))


def runtime(options: Options) -> Iterator[Cell]:
    """Figure of seconds against the size of Erdős–Rényi graphs, one epoch as in the paper."""
    grid = [("nodes", 2**k, 8) for k in NODE_EXPONENTS]
    grid += [("features_per_node", 2**RUNTIME_NODES, 2**k) for k in FEATURE_EXPONENTS]

    def measure(nodes: int, features: int, name: str, solver: str, threads: int, runs: int) -> dict[str, Any]:
        build = partial(method(name).build, solver=solver, n_jobs=threads, **{"epochs": 1, **options.parameters})
        return {"scores": {"seconds": seconds_to_fit(build, nodes, features, runs, options.seed)}}

    for (name, solver), threads in product(options.chosen_methods(lambda m: m.inductive, SOLVERS), (1, 2)):
        for varied, nodes, features in grid:
            runs = min(options.splits, RUNTIME_RUNS[solver])
            what = {"varied": varied, "nodes": nodes, "features_per_node": features, "threads": threads}
            yield Cell(
                _what("runtime", name, solver, options, **what),
                runs,
                runs * nodes * features / 2e5 * (20.0 if solver == "sgns" else 1.0) / threads,
                partial(measure, nodes, features, name, solver, threads, runs),
            )


def theory(options: Options) -> Iterator[Cell]:
    """The theorems as a plot: distance of G·Hᵀ from the matrix that it should be."""
    grid: list[tuple[str, int | None, int | None]] = [("walk_length", length, None) for length in WALK_LENGTHS]
    grid += [("dimensions", None, d) for d in DIMENSIONS]
    runs = min(options.splits, THEORY_RUNS)
    for (name, solver), (varied, length, dimensions) in product(
        options.chosen_methods(lambda m: m.inductive, SOLVERS), grid
    ):
        if solver == "pmi" and varied == "walk_length":
            continue  # it takes no walks
        what = {"varied": varied, "walk_length": length, "dimensions": dimensions}
        yield Cell(
            _what("theory", name, solver, options, parameters={}, **what),  # it has settings of its own
            runs,
            5.0 * runs if solver == "sgns" else 0.2 * runs,
            partial(
                distance_from_theory,
                method(name),
                solver,
                length,
                dimensions,
                seeds=range(options.seed, options.seed + runs),
                n_jobs=options.n_jobs or -1,
            ),
        )


def _what(experiment: str, name: str, solver: str, options: Options, **more: Any) -> dict[str, Any]:
    return {
        "experiment": experiment,
        "method": name,
        "solver": solver,
        "parameters": options.parameters,
        "seed": options.seed,
        **more,
    }


def _model(name: str, solver: str, options: Options) -> NodeEmbedding:
    return method(name).build(
        solver=solver, n_jobs=options.n_jobs or -1, random_state=options.seed, **options.parameters
    )


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
