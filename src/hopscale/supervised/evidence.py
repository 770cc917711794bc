"""Why a linear head predicts what it does: its score, taken apart into features at hops.

A node's vector of one scale is G_v = Σ_f M_vf·H_f·Σ⁻¹ (:mod:`hopscale.solvers.pmi`), a sum over the features f that
walks meet. So a score w·G_v is one as well: feature f contributes M_vf·(H_f·Σ⁻¹·w). A node's own features, where the
head sees them, contribute their weights. Nothing is estimated: the parts add up to the score.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hopscale.exceptions import ParameterError, Setting
from hopscale.graph import AttributedGraph
from hopscale.models.base import NodeEmbedding
from hopscale.models.matching import matched_features
from hopscale.models.queries import plain_name
from hopscale.solvers import PMI
from hopscale.solvers.few_rows import entries_of_row, over_singular_values
from hopscale.supervised.inputs import Inputs
from hopscale.walks import Transitions, WalkContext

__all__ = ["Evidence", "evidence"]

Array = NDArray[np.float64]

OWN = "0"  # the label of a node's own features


@dataclass(frozen=True, eq=False)
class Evidence:
    """What speaks for a prediction: ``intercept`` + all ``parts`` + ``unexplained`` = ``score``.

    Attributes
    ----------
    node : hashable
    prediction : object
        The class whose score it is, or the value.
    score : float
        Of the head: the log odds of the class against the other one; of more than two classes its logit less the mean
        of all logits; or a value.
    intercept : float
        What an average node has.
    parts : list of (feature, hops, float)
        Evidence of each feature at each scale, by its label as in ``scale_columns_``; the largest first, by absolute
        value. "0" are the node's own features.
    unexplained : float
        What rounding leaves, or, where rows were sampled, what the sample differs from the graph by.
    probability : float or None
        Of the prediction, after smoothing and calibration.
    """

    node: Hashable
    prediction: Any
    score: float
    intercept: float
    parts: list[tuple[Any, str, float]]
    unexplained: float
    probability: float | None = None

    def top(self, k: int = 10) -> list[tuple[Any, str, float]]:
        """The k parts that count most."""
        return self.parts[:k]

    def __str__(self) -> str:
        shown, probability = self.top(), "" if self.probability is None else f", probability {self.probability:.3f}"
        lines = [
            f"{plain_name(self.node)}: {plain_name(self.prediction)}{probability}",
            f"{self.score:+9.4f}  score of the head, of which",
        ]
        lines += [f"{value:+9.4f}  {feature!s} at {label} hops" for feature, label, value in shown]
        rest = self.parts[len(shown) :]
        if rest:
            lines.append(f"{sum(value for *_, value in rest):+9.4f}  {len(rest)} other parts")
        lines.append(f"{self.intercept + self.unexplained:+9.4f}  intercept")
        return "\n".join(lines)


def evidence(
    graph: AttributedGraph,
    row: int,
    weights: Array,
    *,
    inputs: Inputs,
    embedder: NodeEmbedding | None,
    feature_names: NDArray[Any],
    features: sp.csr_array,
) -> list[tuple[Any, str, float]]:
    """Parts of the score that ``weights``, one a column of the design, give to a node; the largest first.

    ``features`` are those of the graph in the columns of the design.
    """
    found: dict[tuple[Any, str], float] = {}

    def add(names: NDArray[Any], label: str, values: Array) -> None:
        for name, value in zip(names.tolist(), values.tolist(), strict=True):
            key = plain_name(name), label
            found[key] = found.get(key, 0.0) + value

    d = len(inputs.center)
    if embedder is not None and d:
        _check_explainable(embedder)
        context = WalkContext(Transitions(graph.adjacency), matched_features(embedder, graph), embedder.start)
        rows = entries_of_row(embedder.solver_, context, embedder.solutions_, row)
        columns = embedder.scale_columns_.values()
        for solution, (met, entries), block in zip(embedder.solutions_, rows, columns, strict=True):
            direction = over_singular_values(solution, weights[:d][block] / inputs.scale)
            share = entries * (solution.feature_vectors[met].astype(np.float64) @ direction)
            add(embedder.feature_names_[met], solution.scale.label, share)
    own = inputs.design(np.zeros((1, d)), features[[row]]).sparse
    if own.shape[1]:
        add(feature_names[own.indices], OWN, own.data * weights[d:][own.indices])
    parts = [(name, label, value) for (name, label), value in found.items() if value]
    return sorted(parts, key=lambda part: -abs(part[2]))


def _check_explainable(embedder: Any) -> None:
    """Refuse embedders whose vectors are not sums over features."""
    plain = getattr(embedder, "context_", None) == "features" and getattr(embedder, "bias_", None) == (1.0, 1.0)
    if not plain or not isinstance(embedder.solver_, PMI):
        raise ParameterError(
            f"vectors of this {type(embedder).__name__} are not sums over features: predictions from vectors of AE and "
            "MUSAE with ",
            Setting("solver", "pmi"),
            " can be explained, and those from features alone, with ",
            Setting("inputs", "features"),
        )
