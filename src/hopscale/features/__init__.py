"""Features from ordinary tables: what a column holds is found by looking, and becomes sparse features with names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hopscale.features.dense import binned, signed

if TYPE_CHECKING:
    from hopscale.features.encoder import ColumnSummary, FeatureEncoder

__all__ = ["ColumnSummary", "FeatureEncoder", "binned", "signed"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'hopscale.features' has no attribute {name!r}")
    from hopscale.features import encoder  # by scikit-learn, which takes long to import: readers of edges need it not

    return getattr(encoder, name)
