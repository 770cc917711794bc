"""Vectors for the nodes and the features of attributed graphs, one block of dimensions per hop scale.

>>> import hopscale
>>> graph = hopscale.load("figure1")
>>> vectors = hopscale.MUSAE(dimensions=8).fit_transform(graph)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hopscale import datasets
    from hopscale import exceptions as exceptions
    from hopscale import graph as graph
    from hopscale import io as io
    from hopscale import models as models
    from hopscale import tasks as tasks
    from hopscale.datasets import load
    from hopscale.graph import AttributedGraph
    from hopscale.io import from_edges, from_networkx, from_tables, read_graph
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
        Walklets,
        load_model,
    )
    from hopscale.tasks import evaluate

__version__ = "0.1.0"

__all__ = [
    "AANE",
    "AE",
    "ASNE",
    "BANE",
    "FEATHER",
    "HOPE",
    "LINE",
    "MUSAE",
    "SINE",
    "TADW",
    "TENE",
    "AttributedGraph",
    "DeepWalk",
    "GraRep",
    "NetMF",
    "Node2Vec",
    "Walklets",
    "datasets",
    "evaluate",
    "from_edges",
    "from_networkx",
    "from_tables",
    "load",
    "load_model",
    "read_graph",
]

# Imported when they are first asked for: the command line must heed Ctrl-C before NumPy and scikit-learn are read.
_ROOMS = ("datasets", "exceptions", "graph", "io", "models", "tasks")
_HOMES = {
    **dict.fromkeys(
        ("AANE", "AE", "ASNE", "BANE", "FEATHER", "HOPE", "LINE", "MUSAE", "SINE", "TADW", "TENE"), "models"
    ),
    **dict.fromkeys(("DeepWalk", "GraRep", "NetMF", "Node2Vec", "Walklets"), "models"),
    "AttributedGraph": "graph",
    "evaluate": "tasks",
    "from_edges": "io",
    "from_networkx": "io",
    "from_tables": "io",
    "load": "datasets",
    "load_model": "models",
    "read_graph": "io",
}


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return import_module(f"hopscale.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module 'hopscale' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"hopscale.{_HOMES[name]}"), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_ROOMS, *_HOMES})
