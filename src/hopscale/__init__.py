"""Vectors for the nodes and the features of attributed graphs, one block of dimensions per hop scale.

>>> import hopscale
>>> graph = hopscale.load("figure1")
>>> vectors = hopscale.MUSAE(dimensions=8).fit_transform(graph)
"""

from hopscale import datasets
from hopscale.datasets import load
from hopscale.graph import AttributedGraph
from hopscale.io import from_edges, from_networkx, from_tables, read_graph
from hopscale.models import AE, MUSAE, DeepWalk, Walklets, load_model
from hopscale.tasks import evaluate

__version__ = "0.1.0"

__all__ = [
    "AE",
    "MUSAE",
    "AttributedGraph",
    "DeepWalk",
    "Walklets",
    "datasets",
    "evaluate",
    "from_edges",
    "from_networkx",
    "from_tables",
    "load",
    "load_model",
    "read_graph",
]
