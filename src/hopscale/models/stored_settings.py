"""Parameters in the file of a model: plain values of JSON, checked when they are read."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np

from hopscale.exceptions import ParameterError, in_short
from hopscale.io.tensor_file import TensorFile
from hopscale.models.base import MODELS, OF_THIS_MACHINE, NodeEmbedding, SolverChoice
from hopscale.solvers import Solver

__all__ = ["built", "known_model", "plain", "stored_model", "stored_solver"]


def plain(name: str, value: Any) -> Any:
    """A setting as JSON has it."""
    if isinstance(value, Solver):
        return {"name": value.name, **plain(name, value.get_params())}
    if isinstance(value, dict):
        return {key: plain(key, each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(name, each) for each in value]
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, (Integral, Real)):
        return int(value) if isinstance(value, Integral) else float(value)
    if name == "random_state":
        return None
    raise ParameterError(f"cannot save {in_short(value)}: expected a number, text, a boolean or None", parameter=name)


def known_model(file: TensorFile, name: Any) -> type[NodeEmbedding]:
    """The class of that name: a file names its class, and only classes that are here already are ever made from one."""
    if not isinstance(name, str) or name not in MODELS:
        raise file.wrong(
            f"a model of class {in_short(name)}, which is unknown here: import the module that defines it, or "
            f"update hopscale. Known are {', '.join(MODELS)}"
        )
    return MODELS[name]


def stored_model(file: TensorFile, kind: type[NodeEmbedding], settings: Any) -> NodeEmbedding:
    """An unfitted model with parameters from a file."""
    if isinstance(settings, dict):
        settings = {name: value for name, value in settings.items() if name not in OF_THIS_MACHINE}
    model: NodeEmbedding = built(file, kind, settings, dict)
    if isinstance(model, SolverChoice) and isinstance(model.solver, dict):
        model.solver = stored_solver(file, model, model.solver)
    try:
        model.check_parameters()
    except ParameterError as error:
        raise file.wrong(str(error)) from error
    return model


def stored_solver(file: TensorFile, model: SolverChoice, settings: Any, window: int = 0) -> Solver:
    """A solver of a model, on walks of ``window`` hops."""
    name = settings.pop("name", None) if isinstance(settings, dict) else None
    if not isinstance(name, str) or name not in model.solvers:
        raise file.wrong(f"its solver is not one of {', '.join(model.solvers)}")
    solver: Solver = built(file, type(model.solvers[name]()), settings)
    try:
        solver.check(window)
    except ParameterError as error:
        raise file.wrong(f"its solver cannot be: {error}") from error
    return solver


def built(file: TensorFile, kind: Any, settings: Any, *structures: type) -> Any:
    """An object with settings from a file, none of them unknown; those that are missing as they were then."""
    simple: tuple[type, ...] = (str, int, float, type(None), *structures)
    if not isinstance(settings, dict) or not all(isinstance(value, simple) for value in settings.values()):
        raise file.wrong("the parameters are not an object of plain values")
    unknown = sorted(set(settings) - set(kind().get_params(deep=False)))
    if unknown:
        raise file.wrong(f"{kind.__name__} has no parameter {', '.join(map(repr, unknown))} in this version")
    before: dict[str, Any] = {}
    for each in reversed(kind.__mro__):
        before |= vars(each).get("settings_before", {})
    return kind(**{**before, **settings})
