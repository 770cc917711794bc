"""The models by name, for whatever has to find one: files and the command line."""

from __future__ import annotations

from hopscale.models.aane import AANE
from hopscale.models.attributed import AE, MUSAE
from hopscale.models.bane import BANE
from hopscale.models.base import NodeEmbedding
from hopscale.models.factorised import GraRep, NetMF
from hopscale.models.feather import FEATHER
from hopscale.models.joint import ASNE, SINE
from hopscale.models.line import LINE
from hopscale.models.overlap import HOPE
from hopscale.models.proximity import DeepWalk, Node2Vec, Walklets
from hopscale.models.tadw import TADW
from hopscale.models.tene import TENE

__all__ = ["MODELS"]

MODELS: dict[str, type[NodeEmbedding]] = {
    model.__name__: model
    for model in (
        *(AE, MUSAE, DeepWalk, Walklets, Node2Vec),
        *(LINE, NetMF, HOPE, GraRep),
        *(TADW, AANE, ASNE, BANE, TENE, SINE, FEATHER),
    )
}
