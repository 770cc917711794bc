"""The models by name, for whatever has to find one: files and the command line."""

from __future__ import annotations

from hopscale.models.attributed import AE, MUSAE
from hopscale.models.base import NodeEmbedding
from hopscale.models.proximity import DeepWalk, Walklets

__all__ = ["MODELS"]

MODELS: dict[str, type[NodeEmbedding]] = {model.__name__: model for model in (AE, MUSAE, DeepWalk, Walklets)}
