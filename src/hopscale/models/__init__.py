"""Estimators: which scales, which context, which solver."""

from hopscale.models.attributed import AE, MUSAE
from hopscale.models.base import NodeEmbedding
from hopscale.models.persistence import load_model, save_model
from hopscale.models.proximity import DeepWalk, Walklets

__all__ = ["AE", "MUSAE", "DeepWalk", "NodeEmbedding", "Walklets", "load_model", "save_model"]
