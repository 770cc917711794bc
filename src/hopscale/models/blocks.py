"""Models with a way of learning that is their own: blocks of columns, of the nodes alone."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hopscale.exceptions import GraphError, ParameterError
from hopscale.graph import AttributedGraph, name_array
from hopscale.models.base import NodeEmbedding
from hopscale.models.parameters import check_seed, in_words, memory_bytes, whole
from hopscale.parallel import Workers, effective_jobs
from hopscale.solvers.svd import MAX_RANK

__all__ = ["BlockEmbedding"]


class BlockEmbedding(NodeEmbedding):
    """A model that says what its blocks of columns are; features may be used, but get no vectors."""

    memory_limit: int | str
    _way_out = ""  # what else would take less memory
    blocks_: dict[str, int]

    def check_parameters(self) -> None:
        """Refuse parameters that make no sense, before a graph is read."""
        whole("dimensions", self.dimensions, least=1, most=MAX_RANK)
        memory_bytes(self.memory_limit)
        effective_jobs(self.n_jobs)
        check_seed(self.random_state)

    @abstractmethod
    def _vectors(self, graph: AttributedGraph, seed: int, workers: Workers) -> Mapping[str, NDArray[Any]]:
        """Columns of each block, by label; together they have ``dimensions`` columns."""

    def _learn(self, graph: AttributedGraph, seed: int) -> None:
        if self.traits.uses_features and not graph.features.nnz:
            raise GraphError(
                f"no node of the graph has a feature, and {type(self).__name__} learns from them: use DeepWalk or "
                "Walklets to learn from its edges alone"
            )
        self._check_memory(graph)
        try:
            with Workers(self.n_jobs, verbose=bool(self.verbose)) as workers:
                blocks = self._vectors(graph, seed, workers)
        except np.linalg.LinAlgError as error:
            raise GraphError("the graph's weights or values span too wide a range to compute with") from error
        embedding = np.hstack(list(blocks.values())).astype(np.float32)
        if not np.isfinite(embedding).all():
            raise GraphError("the vectors are not finite: the graph's weights or values span too wide a range")
        self.node_ids_ = graph.node_ids
        self.feature_names_ = name_array([])
        self.embedding_ = embedding
        self.feature_embedding_ = np.zeros((0, embedding.shape[1]), dtype=np.float32)
        self.blocks_ = {label: block.shape[1] for label, block in blocks.items()}
        self.rows_: dict[str, str] = {}

    @abstractmethod
    def _bytes_needed(self, graph: AttributedGraph) -> float:
        """Memory that the work takes beside the graph, about."""

    def _check_memory(self, graph: AttributedGraph) -> None:
        needed, limit = self._bytes_needed(graph), memory_bytes(self.memory_limit)
        if needed > limit:
            raise ParameterError(
                f"{type(self).__name__} would take about {in_words(needed)} for {graph.n_nodes:,} nodes, more than "
                f"memory_limit ({in_words(limit)}): raise it, or ask for fewer than {self.dimensions} dimensions"
                f"{self._way_out}"
            )

    def _widths(self) -> dict[str, int]:
        return self.blocks_
