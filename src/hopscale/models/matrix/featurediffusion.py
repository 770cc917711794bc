"""Feature diffusion: features spread over the graph by personalised PageRank, for few labels."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hopscale.checks import number, parameter
from hopscale.compute import Engine, Operator
from hopscale.compute.operators import Series
from hopscale.compute.svd import leading_triplets, tall_bytes, times_columns, triplets_bytes
from hopscale.graph import AttributedGraph
from hopscale.models.base import finite, finite_numbers
from hopscale.models.matching import matched_features
from hopscale.models.matrix.base import MatrixEmbedding
from hopscale.walks.transitions import scaled_rows, smoothing

__all__ = ["FeatureDiffusion"]

# Root mean square of the lengths of vectors, against which a classifier's penalty counts. Of 1, 2, 3 and 10 with C = 1,
# 1 is best for few labels and 3 for many on five Twitch networks, all of them by less than .01.
LENGTH = 2.0


@dataclass(eq=False, repr=False)
class FeatureDiffusion(MatrixEmbedding):
    """Features of the nodes around, weighted by personalised PageRank: the choice for few labelled nodes.

    Each node's features are scaled to unit length, and spread over the graph by walks that stop at each step with
    probability α,

    .. math:: M = \\alpha \\sum_{r \\ge 0} (1 - \\alpha)^r \\hat S^r \\hat F,
        \\quad \\hat S = \\tilde D^{-1/2} (A + I) \\tilde D^{-1/2}

    and M = UΣVᵀ is cut to its leading singular vectors. The vectors are UΣ, scaled to a root mean square length of 2.
    No logarithm is taken, and the singular values stay in the vectors: a classifier that is trained on a few nodes then
    relies on the directions in which most nodes vary.

    Parameters
    ----------
    dimensions, memory_limit, keep_graph, device, n_jobs, random_state, verbose
        As in :class:`HOPE` and :class:`MUSAE`.
    teleport : float, default=0.1
        Probability that a walk stops at each step, α: the smaller, the farther features spread.

    Attributes
    ----------
    embedding_ : ndarray of shape (n, dimensions)
    directions_ : ndarray of shape (q, dimensions)
        V, scaled: the vectors of any graph are its M times this.
    scale_columns_ : dict
        Columns of each part: ``"diffusion"``, all of them.

    See Also
    --------
    AE, MUSAE : vectors of the features as well: they explain those of the nodes.

    Notes
    -----
    A loop counts as much as a mean edge, so that the unit of weights does not matter. Isolated nodes keep their own
    features. Other graphs are placed by M'·V, with features matched by name.

    Time O(t·m·d) a pass, a dozen passes, t of some 30 steps where α is .1; memory O(m + nnz(F) + n·d).

    For few labels where neighbours share classes, such as papers that cite each other: 20 labelled nodes of each class
    on planetoid's splits and a logistic regression give .834 on cora, .705 on citeseer and .808 on pubmed, those of
    :class:`MUSAE` .783, .653 and .755 (``benchmarks/few_labels.py``). Where neighbours tell little it is no better, and
    for values, such as the traffic of the Wikipedia networks, worse: docs/choosing-vectors.md says when to take what.

    References
    ----------
    J. Gasteiger, A. Bojchevski and S. Günnemann, "Predict then propagate: graph neural networks meet personalized
    PageRank", ICLR 2019: the diffusion, there of predictions.

    Examples
    --------
    >>> from hopscale import FeatureDiffusion, datasets
    >>> model = FeatureDiffusion(dimensions=8).fit(datasets.planted_blocks(n_nodes=60))
    >>> model.transform(datasets.planted_blocks(n_nodes=80, random_state=1)).shape
    (80, 8)
    """

    kind = "attributed matrix"
    time = "O(t m d)"
    memory = "O(m + nnz(F) + n d)"
    reads_features = True
    places_nodes = False
    only_products = True

    _: KW_ONLY
    teleport: float = parameter(0.1, number, least=0.001, below=1)

    @property
    def inductive(self) -> bool:
        """Whether nodes of other graphs can be embedded: by their features."""
        return True

    def _bytes_needed(self, graph: AttributedGraph) -> float:
        n, q = graph.features.shape
        terms = tall_bytes(4 * n, min(self.dimensions, n, q))  # of the series
        sparse = 40.0 * (graph.adjacency.nnz + n) + 24.0 * graph.features.nnz
        return triplets_bytes(n, q, self.dimensions, self._engine()) + terms + sparse

    def _learn(self, graph: AttributedGraph, seed: int) -> None:
        super()._learn(graph, seed)
        self.feature_names_ = graph.feature_names

    def _vectors(self, graph: AttributedGraph, seed: int, engine: Engine) -> dict[str, NDArray[np.float32]]:
        M = self._diffused(graph.adjacency, graph.features, engine)
        scores, sigma, v = leading_triplets(M, self.dimensions, engine, random=np.random.default_rng(seed))
        factor = np.full(self.dimensions, LENGTH * np.sqrt(graph.n_nodes / max(float(sigma @ sigma), 1e-300)))
        self.directions_ = times_columns(engine.host(v), factor)
        return {"diffusion": times_columns(engine.host(scores), factor)}

    def _diffused(self, adjacency: sp.csr_array, features: sp.csr_array, engine: Engine) -> Operator:
        """M, as products."""
        weights = adjacency.data.astype(np.float64)
        weights /= weights.mean() if len(weights) else 1.0
        edges = sp.csr_array((weights, adjacency.indices, adjacency.indptr), shape=adjacency.shape)
        squares = np.bincount(_rows(features), features.data.astype(np.float64) ** 2, minlength=features.shape[0])
        lengths = np.sqrt(squares)
        unit = scaled_rows(features, np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0))
        return Series(engine.sparse(smoothing(edges, 1.0)), 1.0 - self.teleport) @ engine.sparse(unit)

    # Other graphs.

    def _check_inductive(self) -> None:
        pass

    def _placed(self, graph: AttributedGraph, first: int) -> NDArray[np.float32]:
        features = matched_features(self, graph)
        with finite_numbers("the model does not fit the graph, or its file is damaged"), self._engine() as engine:
            M = self._diffused(graph.adjacency, features, engine)
            return finite(engine.host(M @ engine.tall(self.directions_))[first:])

    # Files.

    def _state(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        tensors, facts = super()._state()
        return {**tensors, "directions": self.directions_}, facts

    def _restore(self, embedding: NDArray[np.float32], file: Any) -> None:
        super()._restore(embedding, file)
        self.directions_ = file.numbers("directions", (len(self.feature_names_), embedding.shape[1]))


def _rows(matrix: sp.csr_array) -> NDArray[np.int64]:
    """The row of each entry."""
    return np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
