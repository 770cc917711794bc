"""A model whose names attack the page, for tests in a browser."""

import numpy as np

from hopscale import MUSAE, AttributedGraph, datasets

ATTACK = "</script><img src=x onerror=window.attacked=1>"
ATTACKED_ROW = 5
N = 240


def attacked_model():
    """Three blocks of nodes; names of one node, one feature and one class are an attack."""
    plain = datasets.planted_blocks(N, random_state=3, p_in=0.15, feature_p_in=0.25)
    ids = [f"node {i}" for i in range(N)]
    ids[ATTACKED_ROW] = f"{ATTACK}, \"and\"\na 'comma'"
    names = [f"word {i}" for i in range(plain.n_features)]
    names[0] = ATTACK
    classes = np.array(["red", "green", ATTACK], dtype=object)[plain.labels]
    graph = AttributedGraph(plain.adjacency, plain.features, node_ids=ids, feature_names=names, labels=classes)
    return MUSAE(dimensions=32, keep_graph=True).fit(graph)
