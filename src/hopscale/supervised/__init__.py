"""Models that learn from labels: from a graph and the labels of some nodes to predictions for all."""

from __future__ import annotations

from hopscale.supervised.base import SUPERVISED, NodeClassifier, NodeRegressor, SupervisedModel

__all__ = ["SUPERVISED", "NodeClassifier", "NodeRegressor", "SupervisedModel"]
