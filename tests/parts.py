"""Graphs in folders, and vectors that fits in blocks have written, for tests."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from hopscale import SGNS
from hopscale.stored import StoredGraph

QUICK = SGNS(walk_length=10, walks_per_node=1, epochs=1)


def stored(graph, folder):
    """The graph in a folder."""
    StoredGraph.save(graph, folder)
    return folder


def vectors_in(folder):
    """Ids and vectors of all parts, in their order."""
    table = pa.concat_tables([pq.read_table(path) for path in sorted(Path(folder).iterdir())])
    columns = [table.column(name).to_numpy() for name in table.column_names[1:]]
    return table.column("id").to_pylist(), np.column_stack(columns)


def assert_same(fitted, folder, expected):
    """Vectors in a folder, and what the model has learnt, are those of a fit in memory, to the bit."""
    ids, vectors = vectors_in(folder)
    assert ids == expected.node_ids_.tolist()
    assert np.array_equal(vectors, expected.embedding_)
    assert np.array_equal(fitted.feature_embedding_, expected.feature_embedding_)
    assert np.array_equal(fitted.feature_probability_, expected.feature_probability_)
    assert fitted.rows_ == expected.rows_
    assert fitted.captured_ == expected.captured_
