"""Models that learn from labels: from a graph and the labels of some nodes to predictions for all."""

from __future__ import annotations

from importlib import import_module

from hopscale.models import load_model
from hopscale.supervised.base import SUPERVISED, NodeClassifier, NodeRegressor, SupervisedModel
from hopscale.supervised.classifier import GraphClassifier
from hopscale.supervised.regressor import GraphRegressor

__all__ = [
    "SUPERVISED",
    "GraphClassifier",
    "GraphRegressor",
    "NodeClassifier",
    "NodeRegressor",
    "SupervisedModel",
    "load_model",
]

import_module("hopscale.supervised.networks")  # whose classes register themselves
import_module("hopscale.supervised.files")  # which tells load_model how these are read
