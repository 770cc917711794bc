"""Features from ordinary tables: what a column holds is found by looking, and becomes sparse features with names."""

from hopscale.features.dense import binned, signed
from hopscale.features.encoder import ColumnSummary, FeatureEncoder

__all__ = ["ColumnSummary", "FeatureEncoder", "binned", "signed"]
