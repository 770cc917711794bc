"""
Attribute inference: which features are missing?
================================================

Half of the pixels of some images are hidden before the fit. What the vectors expect a node to have is compared with
what was hidden.
"""

# sphinx_gallery_thumbnail_number = 2
import matplotlib.pyplot as plt
import numpy as np

import hopscale
from hopscale.tasks import attribute_inference, summarize

graph = hopscale.load("digits")

# %%
# ``attribute_inference`` removes a tenth of all features, fits, and ranks them against features that nodes never had.
# The *product* of a node's and a feature's vector estimates PMI, which leaves out how common a feature is; the
# *likelihood* adds that back. *Popularity* and the share of *neighbours* that have a feature are baselines.
scores = summarize(attribute_inference(hopscale.MUSAE(), graph, splits=2), by="method")
order = sorted(scores, key=lambda name: scores[name]["roc_auc"]["mean"])
fig, ax = plt.subplots(figsize=(7, 2.4), layout="constrained")
colors = ["#2171b5" if name in ("product", "likelihood") else "#bdbdbd" for name in order]
ax.barh(order, [scores[name]["roc_auc"]["mean"] for name in order], color=colors)
ax.axvline(0.5, color="grey", linestyle="--")
ax.set(xlabel="ROC-AUC of removed features", xlim=(0, 1))
ax.spines[["top", "right"]].set_visible(False)

# %%
# Now hide the lower half of three images. Their edges are still there, and so are the upper pixels.
nodes = [int(np.flatnonzero(graph.labels == digit)[3]) for digit in (0, 3, 9)]
features = graph.features.toarray()
lower = np.array([int(name[1]) >= 4 for name in graph.feature_names])
hidden = features.copy()
hidden[np.ix_(nodes, np.flatnonzero(lower))] = 0
partial = hopscale.AttributedGraph(graph.adjacency, hidden, node_ids=graph.node_ids, feature_names=graph.feature_names)
model = hopscale.MUSAE().fit(partial)


def as_image(values):
    """Pixels from their names: ``r3c5`` is row 3, column 5."""
    image = np.zeros((8, 8))
    for name, value in values:
        row, column = name[1:].split("c")
        image[int(row), int(column)] = value
    return image


# %%
# ``suggest_features`` returns features that a node does not have, with a probability for each: the lower halves come
# back.
fig, axes = plt.subplots(3, 3, figsize=(6, 6.2), layout="constrained")
for node, row in zip(nodes, axes, strict=True):
    known = dict(zip(graph.feature_names, hidden[node] / features.max(), strict=True))
    guessed = known | {name: score for name, score in model.suggest_features(node, k=64, graph=partial) if score > 0}
    pictures = {
        "the image": zip(graph.feature_names, features[node], strict=True),
        "what the model saw": known.items(),
        "with suggestions": guessed.items(),
    }
    for ax, (title, values) in zip(row, pictures.items(), strict=True):
        ax.imshow(as_image(values), cmap="Greys", vmin=0)
        ax.set(xticks=[], yticks=[])
        if node == nodes[0]:
            ax.set_title(title, fontsize=10)
plt.show()
