"""Vectors for the nodes and the features of attributed graphs, one block of dimensions per hop scale.

>>> import hopscale
>>> graph = hopscale.load("figure1")
>>> vectors = hopscale.MUSAE(dimensions=8).fit_transform(graph)
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

# Imported when they are first asked for: the command line must heed Ctrl-C before NumPy and scikit-learn are read.
# Every other name is a model's; ``__init__.pyi`` lists them for editors and type checkers.
_MODULES = (
    "datasets",
    "exceptions",
    "features",
    "graph",
    "io",
    "models",
    "planning",
    "solvers",
    "stored",
    "supervised",
    "tasks",
)
_HOMES = {
    "AttributedGraph": "graph",
    "FeatureEncoder": "features",
    "NodeVectors": "models",
    "PMI": "solvers",
    "SGNS": "solvers",
    "StoredGraph": "stored",
    "evaluate": "tasks",
    "fit_stored": "cluster",
    "from_dgl": "io",
    "from_edges": "io",
    "from_igraph": "io",
    "from_networkx": "io",
    "from_pyg": "io",
    "from_tables": "io",
    "load": "datasets",
    "load_model": "supervised",  # which knows those models as well that learn from labels
    "plan": "planning",
    "read_graph": "io",
    "store_graph": "stored",
    "to_dgl": "io",
    "to_pyg": "io",
}


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"hopscale.{name}")
    if name in _HOMES:
        return getattr(import_module(f"hopscale.{_HOMES[name]}"), name)
    if name == "__all__":
        return sorted({"datasets", *_HOMES, *_models()})
    if name.startswith("_") or name not in _models():
        raise AttributeError(f"module 'hopscale' has no attribute {name!r}")
    return _models()[name]


def _models() -> dict[str, Any]:
    models = {**import_module("hopscale.models").MODELS, **import_module("hopscale.supervised").SUPERVISED}
    return {name: model for name, model in models.items() if model.__module__.startswith("hopscale.")}


def __dir__() -> list[str]:
    return sorted({"__version__", *_MODULES, *_HOMES, *_models()})
