"""
Explanation: what does a vector say about a node?
=================================================

Nodes and features share the space of each scale: the product of their vectors estimates how much more often a feature
is met so many steps from the node than elsewhere. Where features are pixels, an explanation is a picture.
"""

import matplotlib.pyplot as plt
import numpy as np

import hopscale

graph = hopscale.load("digits")
model = hopscale.MUSAE().fit(graph)


def as_image(scores):
    """Pixels from their names: ``r3c5`` is row 3, column 5."""
    image = np.zeros((8, 8))
    for name, score in scores:
        row, column = name[1:].split("c")
        image[int(row), int(column)] = score
    return image


# %%
# Left: the dark pixels of one image of each digit. To the right: how much more often than elsewhere a pixel is dark in
# the image itself (0 hops) and in those that are one, two and three steps away: the logarithm of the ratio, exact
# because the graph is passed. Unusual pixels of the image itself give way to what images like it have in common.
nodes = [int(np.flatnonzero(graph.labels == digit)[0]) for digit in (2, 4, 7)]
fig, axes = plt.subplots(3, 5, figsize=(9, 5.6), layout="constrained")
for node, row in zip(nodes, axes, strict=True):
    own = graph.features[[node]].toarray().reshape(-1)
    row[0].imshow(as_image(zip(graph.feature_names, own, strict=True)), cmap="Greys", vmax=own.max())
    row[0].set_title(f"node {node}: a {graph.labels[node]}", fontsize=10)
    for ax, (scale, features) in zip(row[1:], model.explain(node, k=64, graph=graph).items(), strict=True):
        shown = ax.imshow(as_image(features), cmap="RdBu_r", vmin=-2.5, vmax=2.5)
        ax.set_title(f"{scale} hops", fontsize=10)
for ax in axes.flat:
    ax.set(xticks=[], yticks=[])
fig.colorbar(shown, ax=axes, shrink=0.6, label="log ratio")

# %%
# The same in words: the pixels that stand out most, one step from the last of these nodes, and the nodes that are most
# like it, with their digits.
model.explain(nodes[-1], k=3, graph=graph)["1"]

# %%
[(node, int(graph.labels[node]), round(similarity, 2)) for node, similarity in model.neighbors(nodes[-1], k=5)]

# %%
# And the other way round: near which nodes does a pixel stand out?
pixel = "r3c5"
found = [node for node, score in model.nodes_of(pixel, k=200)]
counts = np.bincount(graph.labels[found], minlength=10)
fig, ax = plt.subplots(figsize=(6, 2.6), layout="constrained")
ax.bar(range(10), counts, color="#2171b5")
ax.set(xticks=range(10), xlabel="digit", ylabel="of 200 nodes", title=f"where the pixel {pixel} stands out")
ax.spines[["top", "right"]].set_visible(False)
plt.show()
