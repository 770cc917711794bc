"""What is said of vectors that are less than they seem, after a fit."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hopscale.exceptions import Setting, warn
from hopscale.graph import AttributedGraph

__all__ = ["warn_of_empty_dimensions", "warn_of_lost_nodes"]

LOST = 1e-3  # of the usual length; on cora and citeseer no node of the largest component is that short


def warn_of_empty_dimensions(model: Any) -> None:
    """Count dimensions without content, scale by scale."""
    for label, columns in model.scale_columns_.items():
        empty = int((~model.embedding_[:, columns].any(axis=0)).sum())
        if empty:
            warn(
                f"scale {label}: {empty} of {columns.stop - columns.start} dimensions are zero: what it learns "
                "from has no more directions"
            )


def warn_of_lost_nodes(model: Any, graph: AttributedGraph, knowable: NDArray[np.bool_] | None) -> None:
    """Count nodes that are (nearly) zero though there was something to learn of them.

    By default that is nodes with edges and, where a model reads features, with features. Isolated nodes are not meant.
    """
    if knowable is None:
        knowable = graph.degrees > 0
        if model.uses_features:
            knowable &= np.diff(graph.features.indptr) > 0
    lengths = np.sqrt(np.einsum("ij,ij->i", model.embedding_, model.embedding_, dtype=np.float64))[knowable]
    usual = np.sqrt(np.mean(lengths**2)) if len(lengths) else 0.0  # not the median: most of them may be lost
    lost = int((lengths < LOST * usual).sum())
    if lost:
        warn(
            f"{lost:,} of {len(lengths):,} nodes that the graph tells something about have vectors of (nearly) zero: "
            f"the {model.embedding_.shape[1]} dimensions went to others, mostly those of larger components. More ",
            Setting("dimensions"),
            " help, or a method that reads features, such as MUSAE" if not model.uses_features else " help",
        )
