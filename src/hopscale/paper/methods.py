"""The methods of the paper's tables, by the names that they have there."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from hopscale.exceptions import ParameterError
from hopscale.models import MODELS, NodeEmbedding
from hopscale.models.base import SolverChoice
from hopscale.paper.supervised import SUPERVISED_ROWS

__all__ = ["METHODS", "SOLVERS", "WAYS", "Method", "method", "row_name"]

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
        return any(parameters.keys() <= self.build(each).settings().keys() for each in ways)

    @property
    def published(self) -> str:
        """Name in the paper's tables: what is measured in another way has the same figures beside it.

        >>> METHODS["MUSAE-TEXT"].published
        'MUSAE'
        """
        return self.name.removesuffix(_TEXT)

    @property
    def ways(self) -> tuple[str, ...]:
        """Solvers that can be asked for, or the only way there is."""
        choice = issubclass(self.model, SolverChoice) and len(self.model.solvers) > 1
        return SOLVERS if choice else ("own",)

    @property
    def default_way(self) -> str:
        """What the model does unless it is told."""
        return str(self.model().get_params()["solver"]) if self.ways == SOLVERS else "own"


_TEXT = "-TEXT"  # the model of the paper's text, without the scale of a node's own features that its figures are of
# The paper's rows in the order of its tables, and how they differ from the model of that name.
_ROWS = (
    "AE", "AE-EGO", "MUSAE", "MUSAE-EGO", "AE-TEXT", "AE-EGO-TEXT", "MUSAE-TEXT", "MUSAE-EGO-TEXT", "DeepWalk",
    "Walklets", "LINE2", "Node2Vec", "NetMF", "HOPE", "GraRep", "TADW", "AANE", "ASNE", "BANE", "TENE", "SINE",
    "FEATHER-N",
)  # fmt: skip
_MODELS = {
    "AE-EGO": "AE", "MUSAE-EGO": "MUSAE", "AE-TEXT": "AE", "AE-EGO-TEXT": "AE", "MUSAE-TEXT": "MUSAE",
    "MUSAE-EGO-TEXT": "MUSAE", "LINE2": "LINE", "FEATHER-N": "FEATHER",
}  # fmt: skip
_PARAMETERS: dict[str, dict[str, Any]] = {
    "AE-EGO": {"ego": True},
    "MUSAE-EGO": {"ego": True},
    "AE-TEXT": {"self_scale": False},
    "AE-EGO-TEXT": {"ego": True, "self_scale": False},
    "MUSAE-TEXT": {"self_scale": False},
    "MUSAE-EGO-TEXT": {"ego": True, "self_scale": False},
    "Walklets": {"window": 4},
    "Node2Vec": {"window": 3, "epochs": 5},
    "NetMF": {"window": 5},
}
METHODS: dict[str, Method] = {
    name: Method(name, MODELS[_MODELS.get(name, name)], _PARAMETERS.get(name, {}))
    for name in dict.fromkeys((*_ROWS, *(model for model in MODELS if model not in _MODELS.values())))
}


def method(name: str) -> Method:
    """The method of that name, or of that model.

    >>> method("AE-EGO").parameters
    {'ego': True}
    >>> method("line").name
    'LINE2'
    """
    rows = {row.model.__name__.lower(): row for row in reversed(METHODS.values())}  # some have other names in the paper
    rows |= {row.name.lower(): row for row in METHODS.values()}
    if name.lower() not in rows:
        raise ParameterError(f"no method {name!r}. There are: {', '.join((*METHODS, *SUPERVISED_ROWS))}")
    return rows[name.lower()]


def row_name(name: str) -> str:
    """Name of a method in the paper, from that or the name of its model.

    >>> row_name("ae-ego"), row_name("sgc")
    ('AE-EGO', 'SGCONV')
    """
    supervised = {model.lower(): row for row, model in SUPERVISED_ROWS.items()}
    supervised |= {row.lower(): row for row in SUPERVISED_ROWS}
    return supervised[name.lower()] if name.lower() in supervised else method(name).name
