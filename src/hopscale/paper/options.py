"""What to measure: cells, the data sets of each experiment, and the options that choose among them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hopscale.datasets import published as paper_datasets
from hopscale.models.base import NodeEmbedding
from hopscale.paper.methods import METHODS, SOLVERS, method
from hopscale.paper.supervised import SUPERVISED_ROWS, is_installed, supervised_model

__all__ = [
    "CLASSIFICATION",
    "DATASETS",
    "REGRESSION",
    "SUITABLE",
    "TWITCH",
    "Cell",
    "Measure",
    "Options",
    "Way",
    "cost",
]

Measure = Callable[[], dict[str, Any]]
Suits = Callable[[NodeEmbedding], bool]
Way = tuple[str, str]  # method and solver

# The paper's tables; TWITCH has five more networks with classes, on which choices could be made and transfer starts.
CLASSIFICATION = ("facebook", "github", "twitch-pt", "lastfm-asia", "deezer-europe", "cora", "citeseer", "pubmed")
REGRESSION = ("wiki-chameleon", "wiki-crocodile", "wiki-squirrel")
TWITCH = ("twitch-de", "twitch-en", "twitch-es", "twitch-fr", "twitch-pt", "twitch-ru")
_CLASSES = tuple(dict.fromkeys((*CLASSIFICATION, *TWITCH)))
_OWN = ("cora", "twitch-pt", "wiki-chameleon", "facebook")  # in experiments that the paper does not have

# Default data sets of each experiment, in order; runtime and theory generate their graphs.
DATASETS: dict[str, tuple[str, ...]] = {
    "classification": _CLASSES,
    "regression": REGRESSION,
    "few-shot": ("facebook", "github", "twitch-pt"),
    "transfer": TWITCH,
    "link-prediction": _OWN,
    "attribute-inference": _OWN,
    "densification": ("facebook", "github", "twitch-es", "twitch-ru", "wiki-chameleon", "wiki-squirrel"),
}
# All data sets that each can be run on.
SUITABLE = {
    **DATASETS,
    "few-shot": _CLASSES,
    **dict.fromkeys(("link-prediction", "attribute-inference", "densification"), (*_CLASSES, *REGRESSION)),
}


@dataclass(frozen=True)
class Cell:
    """One measurement: what it measures, repeats, rough relative cost, the function that runs it.

    ``several`` tells whether fits with other seeds count beside this one.
    """

    what: dict[str, Any]
    repeats: int
    cost: float
    measure: Measure
    several: bool = False


@dataclass(frozen=True)
class Options:
    """What to measure: methods, solvers, data sets, number of splits and fits; and where fitted models are kept."""

    cache: Path
    methods: Sequence[str] | None = None
    solvers: Sequence[str] | None = None
    datasets: Sequence[str] | None = None
    splits: int = 100
    fits: int = 3
    seed: int = 0
    n_jobs: int | None = None
    data: str | None = None
    parameters: dict[str, Any] = field(default_factory=dict)

    @property
    def asked_methods(self) -> tuple[str, ...]:
        """The requested methods that learn vectors, or all that have the requested parameters."""
        if self.methods is not None:
            return tuple(name for name in self.methods if name not in SUPERVISED_ROWS)
        return tuple(name for name, row in METHODS.items() if row.accepts(self.parameters))

    @property
    def asked_supervised(self) -> tuple[str, ...]:
        """The requested supervised methods; or all that have the requested parameters, where they are installed."""
        if self.methods is not None:
            return tuple(name for name in self.methods if name in SUPERVISED_ROWS)
        known = {name: supervised_model(name).get_params(deep=False) for name in SUPERVISED_ROWS}
        return tuple(name for name in known if is_installed(name) and self.parameters.keys() <= known[name].keys())

    def chosen_datasets(self, experiment: str) -> tuple[str, ...]:
        """The requested data sets that suit the experiment, or its default ones."""
        if self.datasets is None:
            return DATASETS[experiment]
        return tuple(name for name in SUITABLE[experiment] if name in self.datasets)

    def chosen_methods(self, suits: Suits = lambda _: True) -> Iterator[Way]:
        """Requested methods that suit an experiment, with each of their requested solvers that has the parameters.

        Methods without a choice of solvers count as direct.
        """
        asked = self.solvers or SOLVERS
        for row in map(method, self.asked_methods):
            for way in row.ways:
                wanted = way in asked or (way == "own" and "pmi" in asked)
                if wanted and suits(row.build()) and row.accepts(self.parameters, way):
                    yield row.name, way

    def model(self, way: Way) -> NodeEmbedding:
        """The unfitted model of a method and solver."""
        name, solver = way
        return method(name).build(solver, n_jobs=self.n_jobs or -1, random_state=self.seed, **self.parameters)

    def cell(
        self,
        experiment: str,
        way: Way,
        repeats: int,
        cost: float,
        measure: Measure,
        *,
        several: bool = False,
        **more: Any,
    ) -> Cell:
        """A cell of a method and solver; ``more`` is what else it measures."""
        what = {"experiment": experiment, "method": way[0], "solver": way[1]}
        return Cell({**what, "parameters": self.parameters, "seed": self.seed, **more}, repeats, cost, measure, several)


def cost(dataset: str, solver: str, evaluations: int) -> float:
    """Rough estimate, to show the remaining time, from the number of entries of F."""
    known = paper_datasets().get(dataset)
    entries = known.statistics["nodes"] * known.statistics["features_per_node"] if known else 1e5
    return entries / 1e5 * ((20.0 if solver == "sgns" else 0.3) + 0.02 * evaluations)
