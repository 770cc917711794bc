"""The methods of the paper's tables, by the names that they have there."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from hopscale.exceptions import ParameterError
from hopscale.models import (
    AANE,
    AE,
    ASNE,
    BANE,
    FEATHER,
    HOPE,
    LINE,
    MUSAE,
    SINE,
    TADW,
    TENE,
    DeepWalk,
    GraRep,
    NetMF,
    Node2Vec,
    NodeEmbedding,
    Walklets,
)

__all__ = ["METHODS", "SOLVERS", "WAYS", "Method", "method"]

SOLVERS = ("pmi", "sgns")
WAYS = (*SOLVERS, "own")  # "own": what a model without a choice of solvers does


@dataclass(frozen=True)
class Method:
    """A row of the paper's tables: a model and what it is asked for.

    Everything that is not said is the model's default.
    """

    name: str
    model: type[NodeEmbedding]
    parameters: dict[str, Any] = field(default_factory=dict)

    def build(self, solver: str | None = None, **parameters: Any) -> NodeEmbedding:
        """An unfitted model; ``parameters`` come on top of the method's own."""
        if solver not in (None, *self.ways):
            raise ParameterError(f"{self.name} has no solver {solver!r}, but {', '.join(self.ways)}")
        if solver in SOLVERS:
            parameters["solver"] = solver
        asked = {**self.parameters, **parameters}
        unknown = sorted(set(asked) - set(self.model().get_params()))
        if unknown:
            raise ParameterError(f"{self.name} has no parameter {', '.join(map(repr, unknown))}")
        return self.model(**asked)

    @property
    def ways(self) -> tuple[str, ...]:
        """Solvers that can be asked for, or the only way there is."""
        return SOLVERS if "solver" in self.model().get_params() else ("own",)

    @property
    def default_way(self) -> str:
        """What the model does unless it is told."""
        return str(self.model().get_params().get("solver", "own"))

    @property
    def uses_features(self) -> bool:
        """Whether the method reads features at all."""
        return self.model.traits.uses_features

    @property
    def feature_vectors(self) -> bool:
        """Whether features get vectors too."""
        return self.uses_features and self.ways == SOLVERS

    @property
    def inductive(self) -> bool:
        """Whether unseen nodes can be embedded."""
        return self.model.traits.inductive and not self.parameters.get("ego", False)


METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        Method("AE", AE),
        Method("AE-EGO", AE, {"ego": True}),
        Method("MUSAE", MUSAE),
        Method("MUSAE-EGO", MUSAE, {"ego": True}),
        Method("DeepWalk", DeepWalk),
        Method("Walklets", Walklets, {"window": 4}),
        Method("LINE2", LINE),
        Method("Node2Vec", Node2Vec, {"window": 3, "epochs": 5}),
        Method("NetMF", NetMF, {"window": 5}),
        Method("HOPE", HOPE),
        Method("GraRep", GraRep),
        Method("TADW", TADW),
        Method("AANE", AANE),
        Method("ASNE", ASNE),
        Method("BANE", BANE),
        Method("TENE", TENE),
        Method("SINE", SINE),
        Method("FEATHER-N", FEATHER),
    )
}


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
