"""Estimators: which scales, which context, which solver, or a way of their own."""

from hopscale.models.aane import AANE
from hopscale.models.attributed import AE, MUSAE
from hopscale.models.bane import BANE
from hopscale.models.base import NodeEmbedding, Traits
from hopscale.models.factorised import GraRep, NetMF
from hopscale.models.feather import FEATHER
from hopscale.models.joint import ASNE, SINE
from hopscale.models.line import LINE
from hopscale.models.overlap import HOPE
from hopscale.models.persistence import load_model, save_model
from hopscale.models.proximity import DeepWalk, Node2Vec, Walklets
from hopscale.models.registry import MODELS
from hopscale.models.tadw import TADW
from hopscale.models.tene import TENE

__all__ = [
    "AANE",
    "AE",
    "ASNE",
    "BANE",
    "FEATHER",
    "HOPE",
    "LINE",
    "MODELS",
    "MUSAE",
    "SINE",
    "TADW",
    "TENE",
    "DeepWalk",
    "GraRep",
    "NetMF",
    "Node2Vec",
    "NodeEmbedding",
    "Traits",
    "Walklets",
    "load_model",
    "save_model",
]
