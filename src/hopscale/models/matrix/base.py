"""Models with a way of learning that is their own: blocks of columns, of the nodes alone."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from hopscale.checks import check_memory, memory, memory_bytes, parameter, whole
from hopscale.compute import Threads
from hopscale.compute.svd import MAX_RANK
from hopscale.exceptions import GraphError, Setting
from hopscale.graph import AttributedGraph
from hopscale.models.base import MODELS, NodeEmbedding
from hopscale.names import name_array

__all__ = ["MatrixEmbedding"]


@dataclass(eq=False, repr=False)
class MatrixEmbedding(NodeEmbedding, abstract=True):
    """A model that says what its blocks of columns are; features may be used, but get no vectors."""

    dimensions: int = parameter(128, whole, least=1, most=MAX_RANK)
    _: KW_ONLY
    memory_limit: int | str = parameter("4GiB", memory)

    reads_features: ClassVar[bool] = False
    places_nodes: ClassVar[bool] = True  # whether vectors tell where a node is, and not only what is around it
    way_out: ClassVar[str] = ""  # what else would take less memory
    only_products: ClassVar[bool] = False  # of matrices, which run on any engine

    @property
    def uses_features(self) -> bool:
        """Whether features are read at all."""
        return self.reads_features

    @property
    def proximal(self) -> bool:
        """Whether vectors tell where a node is, and not only what is around it."""
        return self.places_nodes

    @abstractmethod
    def _vectors(self, graph: AttributedGraph, seed: int, engine: Any) -> Mapping[str, NDArray[Any]]:
        """Columns of each block, by label; together they have ``dimensions`` columns."""

    def _engine(self) -> Any:
        engine = super()._engine()
        if isinstance(engine, Threads):
            engine.memory = memory_bytes("memory_limit", self.memory_limit)
        return engine

    def _needs_processor(self) -> tuple[str | Setting, ...]:
        if not self.only_products:
            able = ", ".join(name for name, model in MODELS.items() if getattr(model, "only_products", True))
            return (
                f"cannot be used: {type(self).__name__} is learnt on the processor alone. Models that can be learnt "
                f"on another device are {able}. Leave ",
                Setting("device"),
                " out",
            )
        return super()._needs_processor()

    @abstractmethod
    def _bytes_needed(self, graph: AttributedGraph) -> float:
        """Memory that the work takes beside the graph and the vectors, or a little more."""

    def _check_memory(self, graph: AttributedGraph, needed: float, engine: Any) -> None:
        """Refuse what takes more than ``memory_limit`` or than a device has, and name the least that works."""
        limit = memory_bytes("memory_limit", self.memory_limit)
        what = f"{type(self).__name__} on {graph.n_nodes:,} nodes"
        instead = f"ask for fewer than {self.dimensions} dimensions{self.way_out}"
        if not isinstance(engine, Threads):
            engine.check_room(what, needed, instead)
        elif needed > limit:
            check_memory(what, needed / (1 - 1 / 8), limit, instead)  # threads may hold an eighth

    def _learn(self, graph: AttributedGraph, seed: int) -> None:
        if self.uses_features and not graph.features.nnz:
            raise GraphError(
                f"no node of the graph has a feature, and {type(self).__name__} learns from them: use DeepWalk or "
                "Walklets to learn from its edges alone"
            )
        with self._engine() as engine:
            self._check_memory(graph, self._bytes_needed(graph), engine)
            blocks = dict(self._vectors(graph, seed, engine))
        widths = {label: block.shape[1] for label, block in blocks.items()}
        embedding = _side_by_side(blocks)
        self.node_ids_, self.feature_names_ = graph.node_ids, name_array([])
        self._keep(embedding, widths)

    def _keep(self, embedding: NDArray[np.float32], blocks: dict[str, int]) -> None:
        self.embedding_ = embedding
        self.feature_embedding_ = np.zeros((0, embedding.shape[1]), dtype=np.float32)
        self.blocks_ = blocks

    @property
    def rows_(self) -> dict[str, str]:
        """What each scale was learnt from, in words: nothing to say here."""
        return {}

    def _widths(self) -> dict[str, int]:
        return self.blocks_

    def _state(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        return {}, {"blocks": self.blocks_}

    def _restore(self, embedding: NDArray[np.float32], file: Any) -> None:
        blocks = file.fact("blocks")
        widths = blocks if isinstance(blocks, dict) and all(blocks) else {"": 0}
        if not all(type(d) is int and d > 0 for d in widths.values()) or sum(widths.values()) != embedding.shape[1]:
            raise file.wrong("'blocks' does not say how many dimensions each block has")
        self._keep(embedding, blocks)


def _side_by_side(blocks: dict[str, NDArray[Any]]) -> NDArray[np.float32]:
    """The blocks as one array, each dropped once it is there."""
    first = next(iter(blocks.values()))
    if len(blocks) == 1 and first.dtype == np.float32 and first.flags.c_contiguous:
        return first
    embedding = np.empty((len(first), sum(block.shape[1] for block in blocks.values())), dtype=np.float32)
    begin = 0
    del first
    while blocks:
        block = blocks.pop(next(iter(blocks)))
        embedding[:, begin : begin + block.shape[1]] = block
        begin += block.shape[1]
    return embedding
