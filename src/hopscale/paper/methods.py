"""The methods of the paper's tables, by the names that they have there."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from hopscale.exceptions import ParameterError
from hopscale.models.base import NodeEmbedding
from hopscale.models.registry import MODELS

__all__ = ["METHODS", "SOLVERS", "Method", "method"]

SOLVERS = ("pmi", "sgns")


@dataclass(frozen=True)
class Method:
    """A row of the paper's tables: a model and what it is asked for.

    Everything that is not said has the value of the paper, which is the model's default.
    """

    name: str
    model: str
    parameters: dict[str, Any] = field(default_factory=dict)

    def build(self, **parameters: Any) -> NodeEmbedding:
        """An unfitted model; ``parameters`` come on top of the method's own."""
        model = MODELS[self.model]
        asked = {**self.parameters, **parameters}
        unknown = sorted(set(asked) - set(model().get_params()))
        if unknown:
            raise ParameterError(f"{self.name} has no parameter {', '.join(map(repr, unknown))}")
        return model(**asked)

    @property
    def uses_features(self) -> bool:
        """Whether the method reads features at all."""
        return "self_scale" in MODELS[self.model]().get_params()

    @property
    def inductive(self) -> bool:
        """Whether unseen nodes can be embedded."""
        return self.uses_features and not self.parameters.get("ego", False)


METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        Method("AE", "AE"),
        Method("AE-EGO", "AE", {"ego": True}),
        Method("MUSAE", "MUSAE"),
        Method("MUSAE-EGO", "MUSAE", {"ego": True}),
        Method("DeepWalk", "DeepWalk"),
        Method("Walklets", "Walklets"),
    )
}


def method(name: str) -> Method:
    """The method of that name.

    >>> method("AE-EGO").parameters
    {'ego': True}
    """
    if name not in METHODS:
        raise ParameterError(f"no method {name!r}. There are: {', '.join(METHODS)}")
    return METHODS[name]
