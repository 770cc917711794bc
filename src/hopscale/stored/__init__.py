"""Graphs in folders, for those that do not fit into memory: memory-mapped arrays, and the sort that makes them."""

from hopscale.stored.graph import StoredGraph
from hopscale.stored.store import store_graph

__all__ = ["StoredGraph", "store_graph"]
