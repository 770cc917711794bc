"""
Link prediction: which edges are missing?
=========================================

A fifth of the edges is removed before the fit, and vectors are asked to tell them from pairs of nodes that were never
joined.
"""

# sphinx_gallery_thumbnail_number = 2
import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import RocCurveDisplay

import hopscale
from hopscale.tasks import link_prediction, summarize

graph = hopscale.load("digits")

# %%
# ``link_prediction`` removes edges, fits and scores. The vectors of two nodes are compared by their cosine, or combined
# elementwise as input of a logistic regression; *preferential attachment* knows the degrees alone.
records = link_prediction(hopscale.MUSAE(), graph, share=0.2, splits=2)
scores = summarize(records, by="operator")
order = sorted(scores, key=lambda name: scores[name]["roc_auc"]["mean"])

fig, ax = plt.subplots(figsize=(7, 3), layout="constrained")
ax.barh(order, [scores[name]["roc_auc"]["mean"] for name in order], color="#2171b5")
ax.axvline(0.5, color="grey", linestyle="--")
ax.set(xlabel="ROC-AUC of removed edges", xlim=(0, 1))
ax.spines[["top", "right"]].set_visible(False)

# %%
# The same by hand, to see the whole curve: models that read features, models that read edges alone.
random = np.random.default_rng(0)
coo = graph.adjacency.tocoo()
edges = np.column_stack([coo.row, coo.col])[coo.row < coo.col]
held_out = random.random(len(edges)) < 0.2
rest = hopscale.from_edges(edges[~held_out], graph.features)
pairs = random.integers(0, graph.n_nodes, (held_out.sum(), 2))
joined = np.asarray(graph.adjacency[pairs[:, 0], pairs[:, 1]]).ravel() > 0
pairs = pairs[~joined & (pairs[:, 0] != pairs[:, 1])]
asked = np.concatenate([edges[held_out], pairs])
truth = np.arange(len(asked)) < held_out.sum()

fig, ax = plt.subplots(figsize=(5, 4.6), layout="constrained")
for model in (hopscale.MUSAE(), hopscale.AE(dimensions=64), hopscale.DeepWalk(), hopscale.HOPE()):
    vectors = model.fit(rest)[asked.ravel()].reshape(len(asked), 2, -1)
    lengths = np.linalg.norm(vectors, axis=2).prod(axis=1)
    cosine = np.einsum("ij,ij->i", vectors[:, 0], vectors[:, 1]) / np.maximum(lengths, 1e-12)
    RocCurveDisplay.from_predictions(truth, cosine, name=type(model).__name__, ax=ax)
ax.plot([0, 1], [0, 1], "--", color="grey")
ax.spines[["top", "right"]].set_visible(False)
plt.show()

# %%
# ``suggest_links`` puts the cosine and common neighbours together, and leaves out the edges that are there. Of its
# first 50 pairs, so many were among the removed ones:
found = hopscale.AE(dimensions=64).fit(rest).suggest_links(k=50, graph=rest)
removed = {tuple(pair) for pair in np.sort(edges[held_out]).tolist()}
sum(tuple(sorted((u, v))) in removed for u, v, score in found)
