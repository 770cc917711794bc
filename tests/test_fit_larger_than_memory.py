"""A graph whose arrays are larger than the memory limit of every worker is embedded, with the bits of threads."""

import os
import shutil
import sys

import numpy as np
import pytest
from dask_workers import LIMIT, connected, local_cluster
from parts import vectors_in
from sklearn.base import clone

from hopscale import MUSAE, PMI, SGNS, StoredGraph, fit_stored
from hopscale.stored.arrays import save_array, save_pieces
from hopscale.stored.graph import write_manifest

dask = pytest.importorskip("dask")
pytest.importorskip("distributed")
resource = pytest.importorskip("resource")
pytestmark = [
    pytest.mark.filterwarnings("ignore::hopscale.exceptions.HopscaleWarning"),
    pytest.mark.skipif(sys.platform != "linux", reason="other systems do not hold a process to this limit"),
]

NODES, LINKS, FEATURES, OWN = 2**16, 1700, 64, 32  # in all, of a node, in all, of a node
MEMORY = 400 * 2**20  # bytes of a worker's own, of which Python and the libraries take more than half
MODELS = {
    "pmi": MUSAE(4, window=1, solver=PMI(rows="sampled", walks=4, memory_limit="64MiB")),
    "sgns": MUSAE(4, window=1, solver=SGNS(walk_length=2, walks_per_node=1, epochs=1)),
}


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """A ring in which every node has an edge to the nodes next to it, as arrays that never were in memory at once."""
    folder = tmp_path_factory.mktemp("large") / "graph"
    folder.mkdir()
    near = np.concatenate([np.arange(-LINKS // 2, 0), np.arange(1, LINKS // 2 + 1)])

    def neighbors():
        for begin in range(0, NODES, 2**10):
            yield np.sort((np.arange(begin, begin + 2**10)[:, None] + near) % NODES).astype(np.int32)

    save_pieces(folder / "neighbors.npy", np.int32, (NODES * LINKS,), neighbors())
    save_array(folder / "offsets.npy", np.arange(0, NODES * LINKS + 1, LINKS))
    own = (np.arange(NODES)[:, None] // 1000 + np.arange(OWN)) % FEATURES
    save_array(folder / "feature_columns.npy", np.sort(own).astype(np.int32).ravel())
    save_array(folder / "feature_offsets.npy", np.arange(0, NODES * OWN + 1, OWN))
    for name, count in (("node_ids", NODES), ("feature_names", FEATURES)):
        save_array(folder / f"{name}.npy", np.arange(count))
    counts = {"n_nodes": NODES, "n_edges": NODES * LINKS // 2, "n_features": FEATURES, "links": NODES * LINKS}
    kinds = {"weighted": False, "valued": False, "node_ids": "int64", "feature_names": "int64"}
    write_manifest(folder, {**counts, "entries": NODES * OWN, **kinds})
    yield StoredGraph.open(folder)
    shutil.rmtree(folder)


def limit_memory(size):
    """Refuse this process more memory of its own than so many bytes; what it has mapped of files is not counted."""
    resource.setrlimit(resource.RLIMIT_DATA, (size, size))
    return os.getpid()


@pytest.fixture(scope="module")
def limited():
    """A client of two workers that get no more memory than MEMORY, and are not ended for pages of files.

    The system drops these pages where others need the memory, but Dask counts them.
    """
    settings = {f"distributed.worker.memory.{name}": False for name in ("terminate", "pause", "spill", "target")}
    with dask.config.set(settings), local_cluster(2, memory_limit=MEMORY) as cluster, connected(cluster) as client:
        pids = client.run(limit_memory, MEMORY)
        yield client
        assert client.run(os.getpid) == pids, "a worker has ended"


@pytest.mark.parametrize("name", MODELS)
def test_it_is_embedded_with_the_bits_of_threads(name, large, limited, tmp_path):
    assert sum(path.stat().st_size for path in large.folder.iterdir()) > MEMORY
    found = fit_stored(clone(MODELS[name]), large, tmp_path / "cluster", scheduler=limited)
    expected = fit_stored(clone(MODELS[name]), large, tmp_path / "threads")
    for ours, theirs in zip(vectors_in(tmp_path / "cluster"), vectors_in(tmp_path / "threads"), strict=True):
        assert np.array_equal(ours, theirs)
    assert np.array_equal(found.feature_embedding_, expected.feature_embedding_)


def test_the_limit_is_one(limited):
    with pytest.raises(MemoryError):
        limited.submit(np.ones, MEMORY // 8).result(timeout=LIMIT)
