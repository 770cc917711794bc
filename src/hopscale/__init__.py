"""Vectors for the nodes and the features of attributed graphs, one block of dimensions per hop scale."""

from hopscale.graph import AttributedGraph

__version__ = "0.1.0"

__all__ = ["AttributedGraph"]
