"""Models that are a choice of scales, context and solver: input → pairs → solver → vectors."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from hopscale.exceptions import GraphError, HopscaleWarning, NotInductiveError, ParameterError
from hopscale.graph import AttributedGraph, name_array
from hopscale.io import as_graph
from hopscale.models.base import NodeEmbedding
from hopscale.models.parameters import check_seed, whole
from hopscale.pairs import Pairs, Scale, split_dimensions
from hopscale.parallel import Workers, effective_jobs
from hopscale.solvers import PMISolver, SGNSSolver, Solution
from hopscale.solvers.svd import MAX_RANK

__all__ = ["MAX_WINDOW", "Context", "ScaleEmbedding"]

Context = Literal["features", "features+nodes", "nodes"]

MAX_WINDOW = 30  # kernels take hops as the bits of a mask


class ScaleEmbedding(NodeEmbedding):
    """A model that says which hops form a scale, what the context is, and which solver is asked."""

    window: int

    # What a model is.

    @abstractmethod
    def _hop_groups(self) -> list[tuple[int, ...]]:
        """Hops of each scale; a group of several is pooled."""

    @property
    @abstractmethod
    def _context(self) -> Context:
        """What a walk sees at a node: its features, the node itself, or both."""

    @abstractmethod
    def _checked_solver(self, seed: int) -> PMISolver | SGNSSolver:
        """The solver that the parameters ask for."""

    def _step_weights(self) -> tuple[float, float]:
        """What edges back, and away from the last node's neighbours, count: one, where steps depend on nothing."""
        return 1.0, 1.0

    def check_parameters(self) -> None:
        """Refuse parameters that make no sense, before a graph is read."""
        self._checked_scales()
        self._checked_solver(0)
        effective_jobs(self.n_jobs)
        check_seed(self.random_state)

    # Learning.

    def _learn(self, graph: AttributedGraph, seed: int) -> None:
        scales = self._checked_scales()
        solver = self._checked_solver(seed)
        pairs, feature_names = self._checked_pairs(graph)
        with Workers(self.n_jobs, verbose=bool(self.verbose)) as workers:
            solutions = solver.fit(pairs, scales, workers)
        self._keep(graph, feature_names, solutions, solver)

    def transform(self, graph: Any) -> NDArray[np.float32]:
        """Vectors of the nodes of another graph, or of this one with new nodes in it.

        Features are matched by name; those that the model has not seen are ignored, with a warning that
        counts them. The feature vectors stay as they are. On the graph of ``fit``, the direct solver gives
        the same vectors again.

        Parameters
        ----------
        graph : AttributedGraph, networkx graph, (adjacency, features) or path of an ``.npz`` file

        Returns
        -------
        ndarray of shape (n, dimensions)
        """
        check_is_fitted(self)
        if self._context != "features":
            raise NotInductiveError(
                f"{type(self).__name__} cannot embed other nodes: its context holds the training nodes themselves. "
                "AE and MUSAE with ego=False can"
            )
        graph = as_graph(graph)
        pairs = Pairs(graph.adjacency, self._matched_features(graph))
        with Workers(self.n_jobs, verbose=bool(self.verbose)) as workers:
            blocks = [self.solver_.project(pairs, solution, workers) for solution in self._solutions()]
        return np.hstack(blocks)

    def context_names(self, graph: AttributedGraph) -> NDArray[Any]:
        """Names that ``feature_names_`` has after a fit on a graph: those of its features, its nodes or both.

        Where there are both, the node ``7`` is the feature ``("node", 7)``.
        """
        if self._context == "nodes":
            return graph.node_ids
        if self._context == "features":
            return graph.feature_names
        features, nodes = graph.feature_names.tolist(), [("node", node) for node in graph.node_ids.tolist()]
        taken = set(features).intersection(nodes)
        if taken:
            raise GraphError(
                f"with ego=True a node is a feature as well, but {next(name for name in nodes if name in taken)!r} "
                f"is the name of a feature already ({len(taken)} such name(s)): rename the feature(s)"
            )
        return name_array(features + nodes)

    # Checking what came in.

    def _checked_scales(self) -> list[Scale]:
        whole("window", self.window, least=1, most=MAX_WINDOW)
        groups = self._hop_groups()
        scales = split_dimensions(whole("dimensions", self.dimensions, least=1), groups)
        if min(scale.dimensions for scale in scales) < 1:
            raise ParameterError(
                f"dimensions={self.dimensions} is too few for {len(groups)} scales: each needs at least one"
            )
        if max(scale.dimensions for scale in scales) > MAX_RANK:
            raise ParameterError(f"at most {MAX_RANK} dimensions a scale are possible")
        return scales

    def _checked_pairs(self, graph: AttributedGraph) -> tuple[Pairs, NDArray[Any]]:
        """The walks of a graph with the model's context, and the names of the context's columns."""
        names = self.context_names(graph)
        if self._context == "nodes":
            back, away = self._step_weights()
            return Pairs.of_nodes(graph.adjacency, back, away), names
        if self._context == "features+nodes":
            both = sp.csr_array(sp.hstack([graph.features, _identity(graph.n_nodes)], format="csr"))
            return Pairs(graph.adjacency, both), names
        if not graph.features.nnz:
            raise GraphError(
                "no node of the graph has a feature: use DeepWalk or Walklets, or ego=True, to learn from its "
                "edges alone"
            )
        return Pairs(graph.adjacency, graph.features), names

    def _matched_features(self, graph: AttributedGraph) -> sp.csr_array:
        """Features of another graph in the columns of this model."""
        column = {name: i for i, name in enumerate(self.feature_names_.tolist())}
        where = np.array([column.get(name, -1) for name in graph.feature_names.tolist()], dtype=np.int64)
        entries = where[graph.features.indices]
        known = entries >= 0
        if not graph.features.nnz:
            warnings.warn(
                "no node of the graph has a feature: there is nothing to place it by, and all vectors are zero",
                HopscaleWarning,
                stacklevel=3,
            )
        if not known.all():
            unknown = np.unique(graph.features.indices[~known])
            if not known.any():
                raise GraphError(
                    "none of the graph's features is known to this model: features are matched by name, here "
                    f"{graph.feature_names[unknown[0]]!r}, there {self.feature_names_[0]!r}"
                )
            warnings.warn(
                f"{len(unknown)} feature(s) ({int((~known).sum())} of {graph.features.nnz} entries) are unknown to "
                "this model and ignored",
                HopscaleWarning,
                stacklevel=3,
            )
        rows = np.repeat(np.arange(graph.n_nodes), np.diff(graph.features.indptr))[known]
        shape = (graph.n_nodes, len(self.feature_names_))
        matched = sp.csr_array((graph.features.data[known], (rows, entries[known])), shape=shape)
        matched.sort_indices()  # older SciPy leaves them as they come; skip-gram would meet them in another order
        return matched

    # Keeping and restoring what was learnt.

    def _widths(self) -> dict[str, int]:
        return {scale.label: scale.dimensions for scale in self.scales_}

    def _keep(
        self,
        graph: AttributedGraph,
        feature_names: NDArray[Any],
        solutions: list[Solution],
        solver: PMISolver | SGNSSolver,
    ) -> None:
        embedding = np.hstack([s.node_vectors for s in solutions])
        feature_embedding = np.hstack([s.feature_vectors for s in solutions])
        if not np.isfinite(embedding).all() or not np.isfinite(feature_embedding).all():
            raise GraphError("the vectors are not finite: the graph's weights or values span too wide a range")
        self.node_ids_ = graph.node_ids
        self.feature_names_ = feature_names
        self.embedding_ = embedding
        self.feature_embedding_ = feature_embedding
        self.scales_ = [s.scale for s in solutions]
        self.feature_probability_ = np.stack([s.feature_probability for s in solutions])
        self.rows_ = {s.scale.label: s.rows for s in solutions}
        self.sampled_ = [s.sampled for s in solutions]
        self.solver_ = solver  # as it was: parameters that change later must not move new nodes
        sigma = [s.singular_values for s in solutions if s.singular_values is not None]
        self.singular_values_ = np.concatenate(sigma) if sigma else None

    def _solutions(self) -> list[Solution]:
        """What placing new nodes needs, scale by scale."""
        solutions = []
        for i, (scale, columns) in enumerate(zip(self.scales_, self.scale_columns_.values(), strict=True)):
            solutions.append(
                Solution(
                    scale,
                    node_vectors=self.embedding_[:, columns],
                    feature_vectors=self.feature_embedding_[:, columns],
                    feature_probability=self.feature_probability_[i],
                    singular_values=None if self.singular_values_ is None else self.singular_values_[columns],
                    sampled=self.sampled_[i],
                )
            )
        return solutions


def _identity(n: int) -> sp.csr_array:
    return sp.csr_array(sp.eye_array(n, dtype=np.float32, format="csr"))
