"""Estimators: which scales, which context, which solver."""

from hopscale.models.attributed import AE, MUSAE
from hopscale.models.base import NodeEmbedding
from hopscale.models.proximity import DeepWalk, Walklets

__all__ = ["AE", "MUSAE", "DeepWalk", "NodeEmbedding", "Walklets"]
