"""Devices of PyTorch for tests, models that run on them, and how far vectors may be from those of the processor."""

import numpy as np
import pytest

from hopscale import (
    AE,
    ASNE,
    FEATHER,
    HOPE,
    LINE,
    MUSAE,
    PMI,
    SINE,
    TADW,
    DeepWalk,
    FeatureDiffusion,
    GraRep,
    NetMF,
    Node2Vec,
    Walklets,
)
from reference import random_graph

torch = pytest.importorskip("torch")

# How far vectors may be from the processor's, by docs/gpu.md: the norm of the difference over that of the vectors.
TOLERANCE = {"torch-cpu": 1e-4, "cuda": 1e-4}
DEVICES = ["torch-cpu", *(["cuda"] if torch.cuda.is_available() else [])]
on_every_device = pytest.mark.parametrize("device", DEVICES)

ABLE = {
    "MUSAE": lambda **how: MUSAE(24, **how),
    "MUSAE of a power": lambda **how: MUSAE(24, solver=PMI(power=0.5), **how),
    "MUSAE with ego": lambda **how: MUSAE(24, ego=True, **how),
    "AE": lambda **how: AE(24, **how),
    "DeepWalk": lambda **how: DeepWalk(12, **how),
    "Walklets": lambda **how: Walklets(12, **how),
    "NetMF": lambda **how: NetMF(12, **how),
    "GraRep": lambda **how: GraRep(12, **how),
    "Node2Vec without a bias": lambda **how: Node2Vec(12, p=1, q=1, solver="pmi", **how),
    "HOPE": lambda **how: HOPE(12, **how),
    "HOPE of katz": lambda **how: HOPE(12, proximity="katz", **how),
    "HOPE of pagerank": lambda **how: HOPE(12, proximity="rooted-pagerank", **how),
    "LINE": lambda **how: LINE(12, solver="pmi", **how),
    "SINE": lambda **how: SINE(12, **how),
    "TADW": lambda **how: TADW(12, text_dimensions=20, **how),
    "ASNE": lambda **how: ASNE(12, feature_dimensions=20, **how),
    "FEATHER": lambda **how: FEATHER(12, feature_dimensions=8, points=5, **how),
    "FeatureDiffusion": lambda **how: FeatureDiffusion(12, **how),
}


def products(model):
    """Of nodes' and features' vectors: unlike the vectors, they are the same where singular values are nearly equal."""
    blocks = model.scale_columns_.values()
    return np.hstack([model.embedding_[:, block] @ model.feature_embedding_[:, block].T for block in blocks])


def apart(x, y):
    return np.linalg.norm(x - y) / np.linalg.norm(y)


def uneven_graph():
    """Blocks of unlike sizes: equal ones would have equal singular values, whose vectors are anything in their span."""
    return random_graph(150, 70, density=0.06, weighted=True, values=True, isolated=3, seed=3)
