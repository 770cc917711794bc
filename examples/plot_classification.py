"""
Classification: which scale tells digits apart?
===============================================

The nodes of this graph are 1,797 images of handwritten digits. Each is joined to the ten images most like it, and its
features are its dark pixels. MUSAE gives every number of hops a block of dimensions of its own, so that we can ask how
much each of them knows about the digit.
"""

# sphinx_gallery_thumbnail_number = 2
import matplotlib.pyplot as plt

import hopscale
from hopscale.tasks import summarize

graph = hopscale.load("digits")
model = hopscale.MUSAE().fit(graph)
model.rows_

# %%
# ``evaluate`` trains a logistic regression on four fifths of the nodes and tests it on the others, over ten splits. The
# dashed line is what always answering the commonest digit scores.
parts = {f"{scale} hops": model.node_vectors(scale) for scale in model.scale_columns_}
parts["all scales"] = model.embedding_
scores = {name: summarize(hopscale.evaluate(vectors, graph.labels)) for name, vectors in parts.items()}
means = [score["micro_f1"]["mean"] for score in scores.values()]
errors = [score["micro_f1"]["standard_error"] for score in scores.values()]

fig, ax = plt.subplots(figsize=(7, 3), layout="constrained")
ax.barh(list(scores), means, xerr=errors, color=["#9ecae1"] * 4 + ["#2171b5"], capsize=3)
ax.axvline(scores["all scales"]["majority_micro_f1"]["mean"], color="grey", linestyle="--")
for row, mean in enumerate(means):
    ax.text(mean - 0.01, row, f"{mean:.3f}", ha="right", va="center", color="white" if row == 4 else "black")
ax.invert_yaxis()
ax.set(xlabel="micro-F1", xlim=(0, 1))
ax.spines[["top", "right"]].set_visible(False)

# %%
# A map of the vectors: nodes of one digit lie together, although no label was used to learn them.
fig, ax = plt.subplots(figsize=(7, 6), layout="constrained")
model.plot(color=graph.labels, ax=ax)
plt.show()
