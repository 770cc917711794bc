"""
Transfer: a classifier for a graph that it has never seen
=========================================================

Vectors of features are learnt on one graph. They place the nodes of any other graph whose features have the same names,
so that a classifier that was trained on the first works on the second, without a single label there.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression

import hopscale
from hopscale.tasks import summarize, transfer

settings = {"n_nodes": 600, "n_blocks": 4, "p_in": 0.04, "feature_p_in": 0.08, "feature_p_out": 0.03}
here = hopscale.datasets.planted_blocks(**settings)
there = hopscale.datasets.planted_blocks(**settings, random_state=1)  # other nodes, other edges, the same features

# %%
# The classifier sees labels of the first graph only. On the other graph, ``transform`` computes vectors in closed form:
# they lie where those of the first graph lie.
model = hopscale.MUSAE(dimensions=32).fit(here)
placed = model.transform(there)
classifier = LogisticRegression(max_iter=1000).fit(model.embedding_, here.labels)

plane = PCA(2, random_state=0).fit(model.embedding_)
fig, axes = plt.subplots(1, 2, figsize=(9, 4), sharex=True, sharey=True, layout="constrained")
for ax, vectors, graph, title in (
    (axes[0], model.embedding_, here, "the graph of the fit"),
    (axes[1], placed, there, f"another graph: {classifier.score(placed, there.labels):.0%} classified rightly"),
):
    ax.scatter(*plane.transform(vectors).T, c=graph.labels, cmap="Dark2", vmax=7, s=14, linewidths=0)
    ax.set(title=title, xticks=[], yticks=[])

# %%
# How little must nodes have in common with the features of their block? ``transfer`` does the experiment; here the
# probability of such a feature falls to that of any other, .03.
probabilities = [0.03, 0.04, 0.05, 0.06, 0.08, 0.1]
curves = {"MUSAE, transferred": [], "features alone": [], "commonest class": []}
for probability in probabilities:
    varied = settings | {"feature_p_in": probability}
    source, target = (hopscale.datasets.planted_blocks(**varied, random_state=seed) for seed in (2, 3))
    score = summarize(transfer(hopscale.MUSAE(dimensions=32), source, target))
    curves["MUSAE, transferred"].append(score["micro_f1"]["mean"])
    curves["commonest class"].append(score["target_majority_micro_f1"]["mean"])
    plain = LogisticRegression(max_iter=1000).fit(source.features, source.labels)
    curves["features alone"].append(plain.score(target.features, target.labels))

fig, ax = plt.subplots(figsize=(7, 3.6), layout="constrained")
for (name, curve), style in zip(curves.items(), ("o-", "s-", "--"), strict=True):
    ax.plot(probabilities, curve, style, label=name, color="grey" if name == "commonest class" else None)
ax.set(xlabel="probability of a feature of the node's own block", ylabel="micro-F1", ylim=(0, 1.02))
ax.legend(frameon=False)
ax.spines[["top", "right"]].set_visible(False)
plt.show()

# %%
# Features alone say less: the vectors know the features of the nodes around as well.
np.round(np.subtract(curves["MUSAE, transferred"], curves["features alone"]), 2)
