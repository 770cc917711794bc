"""The methods of the paper's tables, by the names that they have there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from hopscale.exceptions import ParameterError
from hopscale.models import MODELS, NodeEmbedding
from hopscale.models.base import SolverChoice

__all__ = ["METHODS", "SOLVERS", "WAYS", "Method", "method"]

SOLVERS = ("pmi", "sgns")
WAYS = (*SOLVERS, "own")  # "own": what a model without a choice of solvers does


@dataclass(frozen=True)
class Method:
    """A row of the paper's tables: a model and what it is asked for.

    ``parameters`` are the model's or its solver's, by plain name; those of a solver that is not asked count for
    nothing. Everything that is not said is the model's default.
    """

    name: str
    model: type[NodeEmbedding]
    parameters: dict[str, Any] = field(default_factory=dict)

    def build(self, solver: str | None = None, **parameters: Any) -> NodeEmbedding:
        """An unfitted model; ``parameters`` come on top of the method's own."""
        if solver not in (None, *self.ways):
            raise ParameterError(f"{self.name} has no solver {solver!r}, but {', '.join(self.ways)}")
        model = self.model()
        if solver in SOLVERS:
            model.set_params(solver=solver)
        known = model.settings()
        unknown = [name for name in parameters if name not in known]
        if unknown:
            way = f" with the solver {solver}" if solver in SOLVERS else ""
            raise ParameterError(f"{self.name}{way} has no parameter {', '.join(map(repr, unknown))}")
        own = {name: value for name, value in self.parameters.items() if name in known}
        return model.configure(**{**own, **parameters})

    def accepts(self, parameters: dict[str, Any], way: str | None = None) -> bool:
        """Whether one of the method's ways, or a certain one, has all these parameters."""
        ways = self.ways if way is None else (way,)
        return any(set(parameters) <= set(self.build(each).settings()) for each in ways)

    @property
    def ways(self) -> tuple[str, ...]:
        """Solvers that can be asked for, or the only way there is."""
        choice = issubclass(self.model, SolverChoice) and len(self.model.solvers) > 1
        return SOLVERS if choice else ("own",)

    @property
    def default_way(self) -> str:
        """What the model does unless it is told."""
        return str(self.model().get_params()["solver"]) if self.ways == SOLVERS else "own"

    @property
    def uses_features(self) -> bool:
        """Whether the method reads features at all."""
        return self.build().uses_features

    @property
    def feature_vectors(self) -> bool:
        """Whether features get vectors too."""
        return self.uses_features and self.build().has_feature_vectors

    @property
    def inductive(self) -> bool:
        """Whether unseen nodes can be embedded."""
        return self.build().inductive


# Rows whose names or settings are not those of the model, in the order of the paper's tables.
_ROWS: dict[str, tuple[str, dict[str, Any]]] = {
    "AE": ("AE", {}),
    "AE-EGO": ("AE", {"ego": True}),
    "MUSAE": ("MUSAE", {}),
    "MUSAE-EGO": ("MUSAE", {"ego": True}),
    "DeepWalk": ("DeepWalk", {}),
    "Walklets": ("Walklets", {"window": 4}),
    "LINE2": ("LINE", {}),
    "Node2Vec": ("Node2Vec", {"window": 3, "epochs": 5}),
    "NetMF": ("NetMF", {"window": 5}),
    "HOPE": ("HOPE", {}),
    "GraRep": ("GraRep", {}),
    "TADW": ("TADW", {}),
    "AANE": ("AANE", {}),
    "ASNE": ("ASNE", {}),
    "BANE": ("BANE", {}),
    "TENE": ("TENE", {}),
    "SINE": ("SINE", {}),
    "FEATHER-N": ("FEATHER", {}),
}


def _rows() -> Iterator[Method]:
    """The paper's rows, and one for every other model there is."""
    for name, (model, parameters) in _ROWS.items():
        yield Method(name, MODELS[model], parameters)
    for name in MODELS:
        if name not in {model for model, _ in _ROWS.values()}:
            yield Method(name, MODELS[name])


METHODS: dict[str, Method] = {row.name: row for row in _rows()}


def method(name: str) -> Method:
    """The method of that name, or of that model.

    >>> method("AE-EGO").parameters
    {'ego': True}
    >>> method("line").name
    'LINE2'
    """
    for known in METHODS.values():
        if name.lower() == known.name.lower():
            return known
    for known in METHODS.values():  # LINE and FEATHER have longer names in the tables
        if name.lower() == known.model.__name__.lower():
            return known
    raise ParameterError(f"no method {name!r}. There are: {', '.join(METHODS)}")
