"""What tests of supervised models share: small graphs, quick models, and how two fits are compared."""

import numpy as np

from hopscale import AE, GraphClassifier, GraphRegressor
from hopscale.datasets import planted_blocks

GRAPH = planted_blocks(n_nodes=120, n_features=60, p_in=0.2, p_out=0.02)
CLASSES = np.asarray(GRAPH.labels)
VALUES = CLASSES * 1.5 + np.random.default_rng(0).normal(size=120) / 4
TRAIN = np.arange(0, 120, 2)
OTHERS = np.arange(1, 120, 2)
MODELS = {"classes": (GraphClassifier, CLASSES), "values": (GraphRegressor, VALUES)}


def quick(kind, **settings):
    """A model that takes a tenth of a second."""
    return kind(**{"embedder": AE(8, n_jobs=1), "folds": 3, "n_jobs": 1, **settings})


def state(model):
    """All that a fit leaves to be compared: outputs, and each candidate with its score."""
    return model.outputs_.tobytes(), model.report_.candidates, model.report_.baseline, model.train_.tolist()
