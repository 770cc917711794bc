"""Stored graphs for the fuzzer: sound ones, of which files are changed, fits to them, and Parquet parts."""

import functools
import shutil
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from hopscale import fit_stored, from_edges
from hopscale.stored import StoredGraph, store_graph


@functools.cache
def stored_files(kind):
    """The files of a sound stored graph, by name."""
    weights = [0.5, 2.0, 1.0] if kind == "weighted" else None
    pairs = [(0, 1), (1, 2), (2, 3)] if kind == "whole" else [("a", "b"), ("b", "cé"), ("cé", "d")]
    features = {pairs[0][0]: {"tea": 2.5}} if kind == "weighted" else {pairs[0][0]: [4, 7], pairs[1][1]: [7]}
    with tempfile.TemporaryDirectory() as folder:
        StoredGraph.save(from_edges(pairs, features, weights=weights), f"{folder}/graph")
        return {path.name: path.read_bytes() for path in Path(folder, "graph").iterdir()}


def _written(path, kind, changed):
    """A folder in which some files are others, or are missing; names have __ for the point."""
    path.mkdir()
    files = {**stored_files(kind), **{name.replace("__", "."): data for name, data in changed.items()}}
    for name, data in files.items():
        if data is not None:
            (path / name).write_bytes(data)


def fitted_in_blocks(path, kind, model, changed, **settings):
    """Vectors of a fit to a folder; there is no output where it is refused."""
    from fuzz.names import DifferenceError

    path.mkdir()
    _written(path / "graph", kind, changed)
    try:
        fit_stored(model, path / "graph", path / "vectors", **settings)
        tables = [pq.read_table(part) for part in sorted((path / "vectors").iterdir())]
        return pa.concat_tables(tables).drop_columns("id").to_pandas().to_numpy()
    except BaseException:
        if (path / "vectors").exists():
            raise DifferenceError("vectors of a fit that was refused") from None
        raise
    finally:
        shutil.rmtree(path)


def opened(path, kind, **changed):
    """The graph of a folder in which some files are others, or are missing; names have __ for the point."""
    _written(path, kind, changed)
    stored = StoredGraph.open(path)
    for node in range(stored.n_nodes):  # what a kernel would do
        own = stored.neighbors[stored.offsets[node] : stored.offsets[node + 1]]
        np.take(stored.offsets, own)
        stored.node_ids(node, node + 1)
    return stored.to_graph()


def stored_parts(path, edges, features, **settings):
    """The graph that the external sort makes of some parts; nothing is left of what is refused."""
    for name, parts in (("edges", edges), ("features", features)):
        (path / name).mkdir(parents=True)
        for number, data in enumerate(parts):
            (path / name / f"part-{number}.parquet").write_bytes(data)
    try:
        given = path / "features" if features else None
        return store_graph(path / "edges", given, folder=path / "graph", **settings).to_graph()
    finally:
        shutil.rmtree(path)
