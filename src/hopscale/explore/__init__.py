"""Pictures of fitted models: maps in two dimensions, plots and reports."""

from hopscale.explore.explorer import write_explorer
from hopscale.explore.layout import METHODS, feature_positions, node_positions

__all__ = ["METHODS", "feature_positions", "node_positions", "write_explorer"]
