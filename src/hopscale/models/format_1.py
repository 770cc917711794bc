"""Files of models of format 1, where a solver's settings were parameters of the model."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from hopscale.models.base import MODELS, SolverChoice
from hopscale.solvers import PMI, SGNS

__all__ = ["from_format_1"]


def from_format_1(file: Any, metadata: Mapping[str, str]) -> dict[str, str]:
    """What differs in the metadata of a file (:class:`hopscale.models.files.ModelFile`), written anew."""
    parameters, kind = file.fact("parameters"), MODELS.get(metadata.get("model", ""))
    if kind is None or not issubclass(kind, SolverChoice) or not isinstance(parameters, dict):
        return {}
    own = kind().get_params(deep=False)
    name = parameters.get("solver", "pmi")
    if name not in kind.solvers:
        raise file.wrong(f"its solver is not one of {', '.join(kind.solvers)}")
    solver = kind.solvers[name]()
    if isinstance(solver, PMI) and "walk_length" in parameters:
        parameters["walks"] = int(parameters["walk_length"]) * int(parameters["walks_per_node"])
    plain = type(solver)().get_params()
    settings = {key: value for key, value in solver.get_params().items() if value != plain[key]}  # the model's own
    settings |= {key: parameters[key] for key in plain if key in parameters}
    known = {*own, *PMI().get_params(), *SGNS().get_params()}
    kept = {key: value for key, value in parameters.items() if key in own or key not in known}
    new: dict[str, Any] = {"parameters": {**kept, "solver": {"name": name, **settings}}}
    if "scales" in metadata:
        old, rows = file.fact("solver"), file.fact("rows")
        fitted = {key: old[key] for key in solver.get_params() if key in old}
        new |= {"solver": {"name": name, **fitted}, "seed": old.get("seed")}
        labels = ["-".join(map(str, sorted({scale["hops"][0], scale["hops"][-1]}))) for scale in file.fact("scales")]
        new["scales"] = [{**s, "rows": rows.get(label)} for s, label in zip(file.fact("scales"), labels, strict=True)]
    return {key: json.dumps(value) for key, value in new.items()}
