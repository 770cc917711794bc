"""The graph of large_graph.py as partitioned Parquet, of any size: a part is drawn and written at a time.

    python benchmarks/large_parts.py 4194304 FOLDER      writes FOLDER/edges/*.parquet and FOLDER/features/*.parquet

Degrees, blocks and features have the same distributions; each part has a random stream of its own, so that edges are
not those of ``large_graph``. Only what there is one of for each node is held.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from large_graph import (
    BLOCKS,
    EDGES_PER_NODE,
    EDGES_WITHIN,
    EXPONENT,
    FEATURES,
    FEATURES_PER_NODE,
    FEATURES_WITHIN,
    STEEPNESS,
    Draws,
)

__all__ = ["write_parts"]

PART = 1 << 18  # nodes whose edges and features are one part


def write_parts(nodes: int, folder: Path, seed: int = 0) -> None:
    """Edges and features of the graph with so many nodes, in parts."""
    import pyarrow as pa
    from pyarrow import parquet

    for name in ("edges", "features"):
        (folder / name).mkdir(parents=True)
    random = np.random.default_rng([seed, nodes])
    block = random.integers(0, BLOCKS, nodes)
    weight = random.random(nodes) ** (-1 / (EXPONENT - 1))
    place = np.arange(FEATURES)
    ends = Draws(block, weight, random)
    has = Draws(place % BLOCKS, (1.0 + place // BLOCKS) ** -STEEPNESS, random)
    for part, begin in enumerate(range(0, nodes, PART)):
        end = min(begin + PART, nodes)
        ends.random = has.random = np.random.default_rng([seed, nodes, part])
        sources = ends.anywhere(EDGES_PER_NODE * (end - begin))
        targets = ends.near(block[sources], EDGES_WITHIN)
        table = pa.table({"source": sources.astype(np.int64), "target": targets.astype(np.int64)})
        parquet.write_table(table, folder / "edges" / f"part-{part:05d}.parquet")
        holder = np.repeat(np.arange(begin, end), FEATURES_PER_NODE)
        table = pa.table({"node": holder, "feature": has.near(block[holder], FEATURES_WITHIN).astype(np.int64)})
        parquet.write_table(table, folder / "features" / f"part-{part:05d}.parquet")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("nodes", type=int)
    parser.add_argument("folder", type=Path)
    options = parser.parse_args()
    write_parts(options.nodes, options.folder)


if __name__ == "__main__":
    main()
