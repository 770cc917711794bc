"""What holds for all tests."""

import json
import os

import numpy as np
import pytest
from dask_workers import connected, local_cluster
from hypothesis import settings
from publisher import publish, serving

from hopscale import MUSAE
from hopscale._core import _native
from hopscale.datasets import figure1, planted_blocks, registry

# No test asserts time: the first call of anything may be slow on a busy machine.
settings.register_profile("hopscale", deadline=None)
settings.load_profile("hopscale")

# No test reaches the network or the user's cache: downloads that a test has not prepared fail at once.
os.environ["HOPSCALE_MIRROR"] = "http://127.0.0.1:9"
os.environ["HOPSCALE_CACHE"] = os.path.join(os.devnull, "cache")


@pytest.fixture(params=_native.instruction_sets())
def isa(request):
    """Every instruction set that this processor has, one after the other."""
    before = _native.instruction_set()
    _native.use_instruction_set(request.param)
    yield request.param
    _native.use_instruction_set(before)


@pytest.fixture
def rng():
    """Random numbers, the same for every test."""
    return np.random.default_rng(7)


@pytest.fixture
def mirror(tmp_path):
    """Folder of a publisher."""
    return tmp_path / "mirror"


@pytest.fixture
def cache(tmp_path, monkeypatch):
    folder = tmp_path / "cache"
    monkeypatch.setenv("HOPSCALE_CACHE", str(folder))
    return folder


@pytest.fixture
def server(mirror, cache, monkeypatch):
    """A publisher that is online; its data sets are those that the library knows."""
    entries = publish(mirror)
    monkeypatch.setattr(registry, "published", lambda: entries)
    monkeypatch.delenv("HOPSCALE_DATA", raising=False)
    with serving(mirror) as running:
        monkeypatch.setenv("HOPSCALE_MIRROR", running.address)
        yield running


# What commands are given.


@pytest.fixture(scope="session")
def blocks(tmp_path_factory):
    """A graph with labels as the files that people have."""
    folder = tmp_path_factory.mktemp("blocks")
    graph = planted_blocks(n_nodes=90, n_features=30)
    edges = np.argwhere(np.triu(graph.adjacency.toarray()))
    (folder / "edges.csv").write_text("id_1,id_2\n" + "".join(f"{u},{v}\n" for u, v in edges))
    features = {str(v): np.flatnonzero(graph.features.toarray()[v]).tolist() for v in range(graph.n_nodes)}
    (folder / "features.json").write_text(json.dumps(features))
    (folder / "labels.csv").write_text("id,block\n" + "".join(f"{v},{b}\n" for v, b in enumerate(graph.labels)))
    F = graph.features
    np.savez(
        folder / "graph.npz",
        edges=edges,
        n_nodes=90,
        n_features=30,
        feature_indptr=F.indptr,
        feature_indices=F.indices,
        target=graph.labels,
    )
    return folder


@pytest.fixture
def inputs(blocks):
    return ["--edges", blocks / "edges.csv", "--features", blocks / "features.json"]


@pytest.fixture(scope="session")
def model(tmp_path_factory):
    """A saved model of the toy graph, whose nodes have names."""
    path = tmp_path_factory.mktemp("model") / "figure1.safetensors"
    MUSAE(8).fit(figure1()).save(path)
    return path


# What blocks of work run on.


@pytest.fixture(scope="module")
def cluster():
    """A Dask cluster with one worker, which tests scale."""
    with local_cluster() as cluster:
        yield cluster


@pytest.fixture
def client(cluster):
    with connected(cluster) as client:
        yield client
