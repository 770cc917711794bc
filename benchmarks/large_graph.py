"""A generated graph of any size, for measuring how time and memory grow: power-law degrees and planted blocks.

Degrees follow a power law with exponent 2.5. An edge joins nodes of one block with probability ``EDGES_WITHIN``, a
feature of a node is one of its block's with probability ``FEATURES_WITHIN``, and features have a power law of their
own: neither edges nor features alone tell the block of most nodes.

    python benchmarks/large_graph.py 1048576 FOLDER      writes edges, features and blocks as Parquet and CSV
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hopscale import AttributedGraph

__all__ = ["Draws", "large_graph"]

BLOCKS, FEATURES = 64, 50_000
EDGES_PER_NODE, FEATURES_PER_NODE = 10, 20
EDGES_WITHIN, FEATURES_WITHIN = 0.4, 0.1
EXPONENT = 2.5
STEEPNESS = 0.5  # the popularity of feature number i in its block is i to the power of minus this


def large_graph(
    nodes: int,
    seed: int = 0,
    *,
    edges: int = EDGES_PER_NODE,
    entries: int = FEATURES_PER_NODE,
    features: int = FEATURES,
) -> AttributedGraph:
    """The graph with so many nodes, edges and entries a node, and features; labels are its blocks."""
    random = np.random.default_rng([seed, nodes])
    block = random.integers(0, BLOCKS, nodes)
    weight = random.random(nodes) ** (-1 / (EXPONENT - 1))
    of_block = Draws(block, weight, random)
    sources = of_block.anywhere(edges * nodes)
    targets = of_block.near(block[sources], EDGES_WITHIN)
    apart = sources != targets
    ends = np.concatenate([sources[apart], targets[apart]]), np.concatenate([targets[apart], sources[apart]])
    adjacency = _binary(*ends, (nodes, nodes))
    holder = np.repeat(np.arange(nodes, dtype=np.int32), entries)
    place = np.arange(features)
    has = Draws(place % BLOCKS, (1.0 + place // BLOCKS) ** -STEEPNESS, random).near(block[holder], FEATURES_WITHIN)
    return AttributedGraph(adjacency, _binary(holder, has, (nodes, features)), labels=block)


class Draws:
    """Draws items in proportion to their weights, from all blocks or from one."""

    def __init__(self, block: NDArray[np.int64], weight: NDArray[np.float64], random: np.random.Generator) -> None:
        self._order = np.argsort(block, kind="stable").astype(np.int32)
        self._sums = np.concatenate([[0.0], np.cumsum(weight[self._order])])
        self._begin = np.searchsorted(block[self._order], np.arange(BLOCKS + 1))
        self.random = random

    def anywhere(self, count: int) -> NDArray[np.int32]:
        return self._at(self.random.random(count) * self._sums[-1])

    def near(self, block: NDArray[np.int64], within: float) -> NDArray[np.int32]:
        """One item for each block: of that block with this probability, else of any."""
        own = self.random.random(len(block)) < within
        low = np.where(own, self._sums[self._begin[block]], 0.0)
        high = np.where(own, self._sums[self._begin[block + 1]], self._sums[-1])
        return self._at(low + self.random.random(len(block)) * (high - low))

    def _at(self, points: NDArray[np.float64]) -> NDArray[np.int32]:
        order = np.argsort(points)  # looking up in order stays in the cache
        found = np.empty(len(points), dtype=np.int32)
        found[order] = np.searchsorted(self._sums[1:-1], points[order], side="right")
        return self._order[found]


def _binary(rows: NDArray[np.int32], columns: NDArray[np.int32], shape: tuple[int, int]) -> sp.csr_array:
    matrix = sp.csr_array((np.ones(len(rows), dtype=np.float32), (rows, columns)), shape=shape)
    matrix.sum_duplicates()
    matrix.data.fill(1.0)
    return matrix


def write(graph: AttributedGraph, folder: Path) -> None:
    """Edges, features and labels as Parquet and as CSV."""
    import pyarrow as pa
    from pyarrow import csv, parquet

    folder.mkdir(parents=True, exist_ok=True)
    edges, features = sp.triu(graph.adjacency).tocoo(), graph.features.tocoo()
    tables = {
        "edges": {"source": edges.row, "target": edges.col},
        "features": {"node": features.row, "feature": features.col},
        "labels": {"node": np.arange(graph.n_nodes), "label": graph.labels},
    }
    for name, columns in tables.items():
        table = pa.table(columns)
        parquet.write_table(table, folder / f"{name}.parquet")
        csv.write_csv(table, folder / f"{name}.csv")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("nodes", type=int)
    parser.add_argument("folder", type=Path)
    options = parser.parse_args()
    write(large_graph(options.nodes), options.folder)


if __name__ == "__main__":
    main()
