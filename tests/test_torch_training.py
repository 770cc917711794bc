"""Skip-gram on PyTorch's devices: kernels against NumPy, vectors against the theorem.

Everything runs on PyTorch's own processor device, and on a GPU as well where there is one.
"""

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from hopscale import AE, LINE, MUSAE, SGNS, AttributedGraph, datasets
from hopscale.exceptions import DeviceError, DivergenceError
from hopscale.solvers import device_training
from hopscale.walks import Scale, Transitions, WalkContext

torch = pytest.importorskip("torch")

from devices import DEVICES, on_every_device  # noqa: E402
from skipgram_kernels import POSITIVES, SHARED, Small, one_after_the_other  # noqa: E402

from hopscale.compute.devices import engine_on  # noqa: E402
from reference import dense, pmi, random_graph  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::hopscale.exceptions.HopscaleWarning")


@pytest.fixture(params=DEVICES)
def device(request):
    return request.param


@pytest.fixture
def kernels(device):
    return engine_on(device, None).skipgram


def small(device, **how):
    return Small("cuda" if device == "cuda" else "cpu", **how)


def host(x):
    return x.cpu().numpy()


class TestWalks:
    @pytest.mark.parametrize("weighted", [False, True])
    def test_steps_have_the_frequencies_of_the_transitions(self, device, kernels, weighted):
        of, count = small(device, weighted=weighted), 20_000
        start = int(of.nodes[3])
        nodes = of.tensor(np.full(count, start), np.int32)
        streams = torch.arange(count, device=of.device)
        found = host(kernels.reached(of.graph, nodes, streams, (0, 1, 2), 5))
        P = Transitions(of.adjacency).matrix().toarray().astype(float)
        assert (found[:, 0] == start).all()
        for column, expected in ((1, P[start]), (2, P[start] @ P)):
            seen = np.bincount(found[:, column], minlength=len(P)) / count
            assert np.abs(seen - expected).max() < 5 * np.sqrt(expected.max() / count)
            assert not seen[expected == 0].any()

    def test_other_keys_and_other_visits_walk_elsewhere(self, device, kernels):
        of = small(device)
        nodes, streams = of.tensor(np.full(500, of.nodes[0]), np.int32), torch.arange(500, device=of.device)
        one, other = (host(kernels.reached(of.graph, nodes, streams, (3,), key)) for key in (1, 2))
        assert (one == host(kernels.reached(of.graph, nodes, streams, (3,), 1))).all()
        assert 0.5 < (one != other).mean() < 1
        assert len(np.unique(one)) > 20


class TestBatches:
    @pytest.mark.parametrize("hops", [(1,), (0, 2)])
    def test_positives_are_the_features_of_what_walks_reach(self, device, kernels, hops):
        of = small(device, hops=hops)
        this = of.round(kernels)
        features, row = host(of.batches(kernels, this).features), host(this.row)
        reached, visits = host(this.reached), np.concatenate([[0], np.cumsum(of.counts)])
        for k in range(len(of.nodes)):
            met = [of.features[[u]].indices for u in reached[visits[k] : visits[k + 1]].ravel()]
            positives = features[row == k, :POSITIVES].ravel()
            np.testing.assert_array_equal(positives[positives >= 0], np.concatenate([*met, []]))
            assert (positives[len(positives[positives >= 0]) :] == -1).all()  # full batches but the last
        assert (features[:, POSITIVES : POSITIVES + SHARED] >= 0).all()

    def test_noise_has_its_distribution(self, device, kernels):
        of = small(device)
        of.counts = of.counts + 300
        noise = host(of.batches(kernels, of.round(kernels)).features)[:, POSITIVES : POSITIVES + SHARED]
        expected = of.weights / of.weights.sum()
        seen = np.bincount(noise.ravel(), minlength=len(expected)) / noise.size
        np.testing.assert_allclose(seen, expected, atol=4 * np.sqrt(expected.max() / noise.size))
        # A systematic sample: each batch has a feature about as often as it should.
        counts = (noise == np.argmax(expected)).sum(axis=1)
        assert counts.max() - counts.min() <= 1

    def test_values_count_as_often_as_expected(self, device, kernels):
        of = small(device, weighted=True, hops=(0,))
        of.counts = np.full(len(of.nodes), 2000)
        this = of.round(kernels)
        features, row = host(of.batches(kernels, this).features)[:, :POSITIVES], host(this.row)
        for k, node in enumerate(of.nodes[:5]):
            found = features[row == k]
            begin, end = of.features.indptr[[node, node + 1]]
            times = np.bincount(found[found >= 0], minlength=of.features.shape[1]) / 2000
            expected = np.zeros(of.features.shape[1])
            expected[of.features.indices[begin:end]] = of.expected[begin:end]
            np.testing.assert_allclose(times, expected, atol=0.06)
        assert (features >= 0).sum() == int(this.pairs[-1])


class TestTraining:
    @pytest.mark.parametrize("weighted", [False, True])
    @pytest.mark.parametrize("shards", [1, 5])
    def test_is_skip_gram_one_batch_after_the_other(self, device, kernels, weighted, shards):
        of = small(device, weighted=weighted)
        this = of.round(kernels)
        batches = of.batches(kernels, this)
        G, H, touches = of.trained(kernels, this, batches, 16, shards)
        features = host(batches.features)
        bounds = host(of.bounds(this, shards))
        start = [host(each) for each in of.vectors(16)]
        expected = one_after_the_other(*start, features, host(this.row), bounds)
        np.testing.assert_allclose(host(G), expected[0], atol=1e-5)
        np.testing.assert_allclose(host(H), expected[1], atol=1e-5)
        assert np.abs(host(G) - start[0]).max() > 0.1
        assert int(touches.sum()) == (features[bounds[0] : bounds[-1]] >= 0).sum()

    def test_frozen_features_are_not_written_to(self, device, kernels):
        of = small(device)
        this = of.round(kernels)
        G, H, _ = of.trained(kernels, this, of.batches(kernels, this), 16, 5, learn=False)
        np.testing.assert_array_equal(host(H), host(of.vectors(16)[1]))
        assert np.abs(host(G - of.vectors(16)[0])).max() > 0.1


def test_kernels_of_a_gpu_do_what_the_plain_ones_do():
    """On a GPU if there is one, else in Triton's interpreter, which wants a process of its own."""
    if find_spec("triton") is None:
        pytest.skip("Triton is not installed")
    environment = dict(os.environ)
    if not torch.cuda.is_available():
        environment["TRITON_INTERPRET"] = "1"
    done = subprocess.run(
        [sys.executable, "-W", "ignore", str(Path(__file__).parent / "skipgram_kernels.py")],
        env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]


class TestDealing:
    def test_shards_have_about_as_many_visits_each(self):
        random = np.random.default_rng(0)
        visits = random.pareto(1.5, 3000) * 10
        visits[5] = visits.sum() / 4  # a hub that would keep 16 of 64 shards busy
        rows = device_training._dealt(visits, 64, random)
        loads = np.add.reduceat(rows.visits, rows.bounds[:-1])
        assert loads.max() < 1.1 * loads.mean()
        np.testing.assert_allclose(np.bincount(rows.node, rows.visits), visits)
        assert (rows.node == 5).sum() > 16

    def test_rows_of_a_node_become_their_mean(self, device):
        rows = device_training._dealt(np.array([40.0, 1, 1, 9]), 4, np.random.default_rng(0))
        assert (rows.node == 0).sum() > 2
        with engine_on(device, None) as engine:
            G = engine.tall(np.random.default_rng(1).random((len(rows.node), 16), dtype=np.float32))
            before = engine.host(G)
            device_training._Joint(rows, engine).average(G)
            after = engine.host(G)
        for node in range(4):
            same = rows.node == node
            mean = before[same].mean(axis=0)
            np.testing.assert_allclose(after[same], np.tile(mean, (same.sum(), 1)), rtol=1e-6)


def blocks_told(vectors, labels):
    """How much more alike nodes of the same block are than others."""
    vectors = vectors - vectors.mean(axis=0)
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    alike, same = unit @ unit.T, labels[:, None] == labels
    return alike[same].mean() - alike[~same].mean()


class TestModels:
    SOLVER = SGNS(walk_length=10, walks_per_node=2, epochs=1)

    @on_every_device
    def test_at_full_rank_products_are_the_theorems(self, device):
        graph = random_graph(16, 8, density=0.35, per_node=2, weighted=True, seed=2)
        solver = SGNS(epochs=150, learning_rate=0.01, min_learning_rate=1e-4)
        model = MUSAE(32, window=2, self_scale=False, solver=solver, device=device).fit(graph)
        for hops in ((1,), (2,)):
            target = pmi(*dense(graph), hops) - np.log(5)
            possible = np.isfinite(target)
            label = str(hops[0])
            found = model.node_vectors(label).astype(float) @ model.feature_vectors(label).T.astype(float)
            assert np.corrcoef(found[possible], target[possible])[0, 1] > 0.97
            assert np.abs(found - target)[possible].mean() < 0.15

    @on_every_device
    @pytest.mark.parametrize("kind", [MUSAE, AE, lambda **how: MUSAE(ego=True, **how)])
    def test_same_bits_in_every_run(self, device, kind):
        graph = datasets.planted_blocks(n_nodes=60)
        one, other = (kind(solver=self.SOLVER, device=device).fit(graph) for _ in range(2))
        np.testing.assert_array_equal(one.embedding_, other.embedding_)
        np.testing.assert_array_equal(one.feature_embedding_, other.feature_embedding_)
        assert np.isfinite(one.embedding_).all()
        another = kind(solver=self.SOLVER, device=device, random_state=1).fit(graph)
        assert (another.embedding_ != one.embedding_).any()

    @on_every_device
    def test_blocks_are_told_as_on_the_processor(self, device):
        graph = datasets.planted_blocks(120, n_blocks=3, n_features=60, p_in=0.3, p_out=0.02)
        solver = SGNS(walk_length=15, walks_per_node=10, epochs=1)
        for kind in (lambda **how: MUSAE(16, window=1, **how), lambda **how: LINE(8, **how)):
            told = []
            for where in (None, device):
                vectors = kind(solver=solver, device=where).fit(graph).embedding_
                told.append(blocks_told(vectors, graph.labels))
            assert told[1] > 0.8 * told[0] > 0.05

    @on_every_device
    @pytest.mark.parametrize(
        "changes", [{"subsample": 1e-2}, {"share_negatives": False}, {"negatives": 20}, {"negatives": 1}, {}], ids=str
    )
    def test_values_and_settings_tell_blocks_as_on_the_processor(self, device, changes):
        graph = datasets.planted_blocks(120, n_blocks=3, n_features=60, p_in=0.3, p_out=0.02)
        F = graph.features.copy()
        F.data = np.random.default_rng(0).lognormal(0, 2, F.nnz).astype(np.float32)  # a few count a hundred times
        graph = AttributedGraph(graph.adjacency, F, labels=graph.labels)
        solver, told = SGNS(walk_length=15, walks_per_node=10, epochs=1).set_params(**changes), []
        for where in (None, device):
            vectors = MUSAE(16, window=1, self_scale=False, solver=solver, device=where).fit(graph).embedding_
            told.append(blocks_told(vectors, graph.labels))
        assert told[1] > 0.75 * told[0] > 0.05

    @on_every_device
    def test_own_features_are_those_of_the_processor(self, device):
        graph = datasets.planted_blocks(n_nodes=60)
        here, there = MUSAE(16, solver=self.SOLVER).fit(graph), MUSAE(16, solver=self.SOLVER, device=device).fit(graph)
        np.testing.assert_array_equal(there.node_vectors("0"), here.node_vectors("0"))
        assert list(there.rows_) == list(here.rows_)

    @on_every_device
    def test_places_nodes_with_features_as_they_are(self, device):
        graph = datasets.planted_blocks(120, n_blocks=3, n_features=60, p_in=0.3, p_out=0.02)
        solver = SGNS(walk_length=15, walks_per_node=10, epochs=1)
        alike = []
        for where in (None, device):
            model = MUSAE(16, window=1, solver=solver, device=where).fit(graph)
            features = model.feature_embedding_.copy()
            found = model.transform(graph)
            np.testing.assert_array_equal(found, model.transform(graph))
            np.testing.assert_array_equal(model.feature_embedding_, features)
            alike.append(np.corrcoef((found @ features.T).ravel(), (model.embedding_ @ features.T).ravel())[0, 1])
        assert alike[1] > max(0.5, alike[0] - 0.1)
        assert np.isfinite(model.set_params(device=None).transform(graph)).all()

    @on_every_device
    def test_odd_graphs(self, device):
        A = sp.csr_array(
            np.array([[0, 1, 1, 1, 0], [1, 0, 0, 0, 0], [1, 0, 0, 0, 0], [1, 0, 0, 0, 0], [0, 0, 0, 0, 0]])
        )
        F = sp.csr_array(np.array([[1.0, 0], [0, 2], [0, 0], [0, 3], [1, 1]]))
        model = MUSAE(8, solver=self.SOLVER, device=device).fit(AttributedGraph(A, F))
        assert np.isfinite(model.embedding_).all()
        columns = [model.scale_columns_[label] for label in ("1", "2", "3")]
        assert not np.hstack([model.embedding_[4, each] for each in columns]).any()  # isolated
        assert not model.embedding_[2, model.scale_columns_["0"]].any()  # no features

    @on_every_device
    def test_divergence_is_told(self, device):
        graph = datasets.planted_blocks(n_nodes=60)
        with pytest.raises(DivergenceError, match=r"diverged at scale 1 in round 1 of \d+: try .*learning_rate than"):
            MUSAE(16, self_scale=False, solver=SGNS(epochs=1, learning_rate=1e20), device=device).fit(graph)
        again = MUSAE(16, solver=self.SOLVER, device=device).fit(graph)  # nothing is left behind
        np.testing.assert_array_equal(
            again.embedding_, MUSAE(16, solver=self.SOLVER, device=device).fit(graph).embedding_
        )


class TestSizes:
    @pytest.fixture
    def task(self, monkeypatch):
        """What a scale's training is made of, with so much memory."""
        graph = datasets.planted_blocks(300, n_features=400)
        context, scale = WalkContext(Transitions(graph.adjacency), graph.features), Scale((1,), 32)
        monkeypatch.setattr(device_training, "FEW_SHARDS", 1024)

        def make(memory=2**40, together=1, **settings):
            with engine_on("torch-cpu", None) as engine:
                engine.memory = memory
                of = device_training.DeviceTraining(SGNS(**settings), context, engine, 0, 3)
                return device_training._Task(of, scale, context.feature_probability(scale), together)

        return make

    def test_shorter_trainings_have_fewer_shards(self, task):
        shards = [task(epochs=epochs)._shards for epochs in (1, 5, 400)]
        assert 16 <= shards[0] < shards[1] < shards[2] == 300  # no more than nodes
        for epochs, count in zip((1, 5), shards, strict=False):
            assert count == max(16, int(task(epochs=epochs).updates / 400 / device_training.LEAST_UPDATES))

    def test_fewer_shards_and_shorter_rounds_where_memory_is_short(self, task):
        ample, short, less = task(), task(2**21), task(2**20)
        assert ample._shards > short._shards > less._shards >= 1
        assert ample._rounds < less._rounds
        with pytest.raises(DeviceError, match="training 300 nodes and 400 features with 32 dimensions needs about"):
            task(2**18)

    def test_scales_wait_for_each_other_where_memory_is_short(self):
        graph = datasets.planted_blocks(60)
        context = WalkContext(Transitions(graph.adjacency), graph.features)
        scales = [Scale((hop,), 16) for hop in (1, 2, 3)]
        with engine_on("torch-cpu", None) as engine:
            of = device_training.DeviceTraining(SGNS(), context, engine, 0, 3)
            assert of._together(scales) == 3
            needed = device_training._copies_bytes(16, context.n_features, 16) / device_training.COPIES
            engine.memory = int(2.5 * (needed + device_training._vectors_bytes(context, scales[0])))
            assert of._together(scales) == 2
            engine.memory //= 2
            assert of._together(scales) == 1
