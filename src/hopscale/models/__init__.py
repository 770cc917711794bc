"""Estimators: every model is a file in ``walk`` or ``matrix``, and is found by being there."""

from __future__ import annotations

from importlib import import_module
from pkgutil import walk_packages
from typing import Any

from hopscale.models.base import MODELS, NodeEmbedding
from hopscale.models.explanation import Explanation
from hopscale.models.files import load_model, save_model
from hopscale.models.node_vectors import NodeVectors

__all__ = ["MODELS", "Explanation", "NodeEmbedding", "NodeVectors", "load_model", "save_model"]

for _module in walk_packages(__path__, f"{__name__}."):
    import_module(_module.name)


def __getattr__(name: str) -> Any:
    """A model by its name."""
    if name not in MODELS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return MODELS[name]


def __dir__() -> list[str]:
    return sorted({*globals(), *MODELS})
