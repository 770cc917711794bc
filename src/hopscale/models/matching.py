"""Features of another graph, matched by name with those of a fitted model."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from hopscale.exceptions import GraphError, in_short, warn
from hopscale.graph import AttributedGraph

__all__ = ["matched_features"]


def matched_features(model: Any, graph: AttributedGraph) -> sp.csr_array:
    """Features of another graph in the columns of this model."""
    where = np.array([model.feature_index.get(name, -1) for name in graph.feature_names.tolist()], dtype=np.int64)
    entries = where[graph.features.indices]
    known = entries >= 0
    if not graph.features.nnz:
        warn("no node of the graph has a feature: there is nothing to place it by, and all vectors are zero")
    if not known.all():
        unknown = np.unique(graph.features.indices[~known])
        if not known.any():
            raise GraphError(
                "none of the graph's features is known to this model: features are matched by name, here "
                f"{in_short(graph.feature_names[unknown[0]])}, there {in_short(model.feature_names_[0])}"
            )
        warn(
            f"{len(unknown)} feature(s) ({int((~known).sum())} of {graph.features.nnz} entries) are unknown to "
            "this model and ignored"
        )
    rows = np.repeat(np.arange(graph.n_nodes), np.diff(graph.features.indptr))[known]
    shape = (graph.n_nodes, len(model.feature_names_))
    matched = sp.csr_array((graph.features.data[known], (rows, entries[known])), shape=shape)
    matched.sort_indices()  # older SciPy leaves them as they come; skip-gram would meet them in another order
    return matched
