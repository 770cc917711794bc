"""The models of walks at a size for tests, and graphs to learn from."""

from functools import lru_cache

import numpy as np
import pytest
from sklearn.base import clone

from hopscale import AE, MUSAE, PMI, SGNS, AttributedGraph, DeepWalk, Walklets, datasets
from reference import random_graph

MODELS = {
    "AE": (AE, {}),
    "AE-EGO": (AE, {"ego": True}),
    "MUSAE": (MUSAE, {}),
    "MUSAE-EGO": (MUSAE, {"ego": True}),
    "DeepWalk": (DeepWalk, {}),
    "Walklets": (Walklets, {}),
}
INDUCTIVE = ["AE", "MUSAE"]
SHORT = {"pmi": PMI(walks=16), "sgns": SGNS(walk_length=8, walks_per_node=2, epochs=1)}

every_model = pytest.mark.parametrize("name", MODELS)
every_solver = pytest.mark.parametrize("solver", ["pmi", "sgns"])


def make(name, solver="pmi", **changes):
    """A model with short walks and 13 dimensions, a number that no number of scales divides; changes by plain name."""
    model, settings = MODELS[name]
    return model(13, solver=clone(SHORT[solver]), **settings).configure(**changes)


def toy():
    """Connected, with text ids, as many features as dimensions, and labels that nothing may look at."""
    graph = random_graph(60, 40, density=0.1, seed=5)
    names = [f"node {i}" for i in range(60)]
    features = [f"feature {i}" for i in range(40)]
    return AttributedGraph(
        graph.adjacency, graph.features, node_ids=names, feature_names=features, labels=np.arange(60)
    )


@lru_cache
def large():
    """Several blocks of rows, panels of columns and shards: something for threads to disagree about."""
    return datasets.erdos_renyi(2100, 4, 4, 200)


@lru_cache
def fitted(name, solver):
    return make(name, solver).fit(toy())
