"""Matrices that are factorised on PyTorch's devices against dense ones, within the memory that there is."""

import numpy as np
import pytest
import scipy.sparse as sp

from hopscale import AE, HOPE, MUSAE, PMI, SINE, datasets
from hopscale.exceptions import DeviceError
from hopscale.walks import Scale, Transitions, WalkContext
from reference import dense, positive_pmi, random_graph

torch = pytest.importorskip("torch")

from devices import ABLE, TOLERANCE, apart, on_every_device, products, uneven_graph  # noqa: E402

from hopscale.compute.devices import engine_on  # noqa: E402
from hopscale.compute.torch import Torch  # noqa: E402
from hopscale.solvers import device_targets  # noqa: E402
from hopscale.walks import device_rows  # noqa: E402
from hopscale.walks.device_rows import DeviceContext, DeviceRows  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::hopscale.exceptions.HopscaleWarning")


@pytest.fixture(scope="module")
def graph():
    return uneven_graph()


class TestTargets:
    @on_every_device
    @pytest.mark.parametrize("weighted", [False, True])
    @pytest.mark.parametrize("sorting", [1e-9, 1e9])  # PF from sorted products, or from dense blocks
    def test_are_the_positive_entries_of_pmi(self, monkeypatch, device, weighted, sorting):
        monkeypatch.setattr(device_rows, "WORTH_SORTING", sorting)
        graph = random_graph(40, 37, weighted=weighted, values=weighted, isolated=3, seed=12)
        A, F = dense(graph)
        context = WalkContext(Transitions(graph.adjacency), graph.features)
        for hops in ((1,), (2,), (3,), (1, 2, 3), (0, 2)):
            with engine_on(device, None) as engine:
                M = PMI().target(context, Scale(hops, 4), engine, 0, beside=0.0)
                found = engine.host(M @ engine.tall(np.eye(37, dtype=np.float32)))
                turned = engine.host(M.T @ engine.tall(np.eye(40, dtype=np.float32)))
            np.testing.assert_allclose(found, positive_pmi(A, F, hops), atol=2e-5)
            np.testing.assert_allclose(turned.T, found, atol=1e-6)

    @on_every_device
    @pytest.mark.parametrize("name", ["MUSAE", "AE", "MUSAE with ego", "NetMF"])
    @pytest.mark.parametrize("width", [16, 64])
    def test_blocks_of_columns_give_the_vectors_of_dense_rows(self, monkeypatch, graph, name, width, device):
        whole = ABLE[name](device=device).fit(graph)
        half = device == "cuda"
        # With many more rows than there are, every node is drawn: V is learnt from all of them.
        only_plan(monkeypatch, device_targets._Plan(width, 10**6, half, half))
        swept = ABLE[name](device=device).fit(graph)
        assert all("V learnt from" in words for label, words in swept.rows_.items() if label != "0")
        assert apart(products(swept), products(whole)) < (2e-3 if half else 1e-5)
        again = ABLE[name](device=device).fit(graph)
        np.testing.assert_array_equal(swept.embedding_, again.embedding_)

    def test_some_rows_tell_most_of_v(self, monkeypatch):
        graph = datasets.planted_blocks(n_nodes=1200)
        whole = AE(16, device="torch-cpu").fit(graph)
        only_plan(monkeypatch, device_targets._Plan(64, 300))
        some = AE(16, device="torch-cpu").fit(graph)
        assert "V learnt from" in some.rows_["1-3"]
        # Products with the features' vectors are M·V·Vᵀ: as close to M as the best approximation, or nearly so.
        A, F = dense(graph)
        M = positive_pmi(A, F, (1, 2, 3))
        left = {}
        for model in (whole, some):
            columns = model.scale_columns_["1-3"]
            left[model] = np.linalg.norm(M - model.embedding_[:, columns] @ model.feature_embedding_[:, columns].T)
        assert left[some] < 1.05 * left[whole]
        assert left[whole] < np.linalg.norm(M)

    def test_nodes_to_learn_from_are_drawn_by_degree_and_keep_the_expectation(self, graph):
        context = WalkContext(Transitions(graph.adjacency), graph.features)
        degrees, counts = context.transitions.degrees, np.zeros(graph.n_nodes)
        with engine_on("torch-cpu", None) as engine:
            p = context.feature_probability(Scale((1,), 4))
            targets = device_targets.DeviceTargets(PMI(), context, engine, 0, [p])
            for seed in range(400):
                targets._seed = seed
                chance, nodes = targets._learning_nodes(40)
                counts[nodes] += 1 / chance
        assert abs(counts / 400 - 1).max() < 0.5
        assert degrees[nodes].mean() > degrees.mean()

    @pytest.mark.parametrize("value", [0.7, 0.6, 1 / 3])  # of which half precision knows larger or smaller numbers
    def test_half_precision_makes_nothing_of_features_that_all_nodes_have(self, value):
        graph = random_graph(50, 1, seed=8)
        context = WalkContext(Transitions(graph.adjacency), sp.csr_array(np.full((50, 1), value, np.float32)))
        scale = Scale((2,), 1)
        p = context.feature_probability(scale)
        with engine_on("torch-cpu", None) as engine:
            targets = device_targets.DeviceTargets(PMI(), context, engine, 0, [p])
            plan = device_targets._Plan(16, None, half_blocks=True)
            [found] = targets._project(plan, [scale], [targets._scaling(p)], [engine.tall(np.ones((1, 1), np.float32))])
            assert not engine.host(found).any()

    def test_half_precision_holds_features_of_any_rarity(self):
        """In half precision a ratio beyond 65,504 would be infinite: rare features are in larger units."""
        n = 300_000
        ring = np.arange(n)
        adjacency = sp.csr_array((np.ones(n, np.float32), (ring, (ring + 1) % n)), shape=(n, n))
        features = sp.csr_array((np.ones(2, np.float32), ([5, 9], [0, 1])), shape=(n, 2))
        context = WalkContext(Transitions(sp.csr_array(adjacency + adjacency.T)), features)
        with engine_on("torch-cpu", None) as engine:
            p = context.feature_probability(Scale((1,), 1))
            exponents = np.frexp(p)[1].astype(np.int32)
            rows = DeviceRows(DeviceContext(context, exponents, engine), 16, half=True)
            scaling = rows.scaling(np.ldexp(1 / p, exponents).astype(np.float32), Scale((1,), 1))
            for columns, _, block in rows.blocks([Scale((1,), 1)]):
                ratios = block.float() * scaling[columns]
                assert float(ratios.max()) == pytest.approx(0.5 / p[0], rel=1e-3)


def only_plan(monkeypatch, plan):
    monkeypatch.setattr(device_targets.DeviceTargets, "_plans", lambda self, scales, beside=0.0: iter([plan]))


class TestMemory:
    @pytest.fixture
    def room(self, monkeypatch):
        def limit(size):
            monkeypatch.setattr(Torch, "room", property(lambda engine: size))

        return limit

    @pytest.fixture
    def plans(self, monkeypatch):
        """The plans that were followed."""
        found, before = [], device_targets.DeviceTargets._learn

        def learn(self, plan, *others):
            found.append(plan)
            return before(self, plan, *others)

        monkeypatch.setattr(device_targets.DeviceTargets, "_learn", learn)
        return found

    def test_less_of_it_means_fewer_rows_and_narrower_blocks_and_then_an_error(self, room, plans):
        graph = datasets.planted_blocks(n_nodes=3000)
        sizes = [10**9, 2 * 10**7, 7 * 10**6]
        for size in sizes:
            room(size)
            MUSAE(16, device="torch-cpu").fit(graph)
        widths, rows = [plan.width for plan in plans], [plan.rows for plan in plans]
        assert rows[0] is None
        assert widths == sorted(widths, reverse=True)
        assert widths[-1] < widths[0]
        room(10**5)
        with pytest.raises(DeviceError, match=r"98 KiB of memory left.*3,000 nodes.*leave device out"):
            MUSAE(16, device="torch-cpu").fit(graph)
        with pytest.raises(DeviceError, match=r"HOPE on 3,000 nodes needs about .* on the device"):
            HOPE(16, device="torch-cpu").fit(graph)

    def test_memory_that_others_took_meanwhile(self, plans, monkeypatch, graph):
        blocks, failures = DeviceRows.blocks, iter([True, True])

        def fails(self, *arguments):
            if next(failures, False):
                raise torch.cuda.OutOfMemoryError
            return blocks(self, *arguments)

        expected = MUSAE(24, device="torch-cpu").fit(graph).embedding_
        plans.clear()
        monkeypatch.setattr(DeviceRows, "blocks", fails)
        found = MUSAE(24, device="torch-cpu").fit(graph).embedding_
        assert len(plans) == 3
        assert apart(found, expected) < TOLERANCE["torch-cpu"]
        monkeypatch.setattr(DeviceRows, "blocks", always_full)
        with pytest.raises(DeviceError, match="of memory left"):
            MUSAE(24, device="torch-cpu").fit(graph)

    def test_all_rows_at_once_or_an_error(self, room):
        room(10**6)
        with pytest.raises(DeviceError, match="of memory left"):
            SINE(8, device="torch-cpu").fit(datasets.planted_blocks(n_nodes=600))

    def test_as_many_rows_as_fit_are_learnt_from(self):
        """Where half of the rows fit, at least a quarter of them is taken, and not the least number that works."""
        graph = datasets.planted_blocks(n_nodes=3000)
        context, scale = WalkContext.of_nodes(Transitions(graph.adjacency)), Scale((2,), 16)
        with engine_on("torch-cpu", None) as engine:
            targets = device_targets.DeviceTargets(PMI(), context, engine, 0, [context.feature_probability(scale)])
            whole = targets._needed(device_targets._Plan(16, None), [scale])
            engine.memory = int(0.6 * whole)
            assert next(targets._plans([scale])).rows >= 750

    @pytest.mark.parametrize("rarity", [0, 40])
    def test_half_precision_is_for_features_that_it_holds(self, rarity):
        """A feature that walks hardly ever meet has ratios near one that half precision would round to zero."""
        graph = random_graph(60, 8, seed=6)
        A = sp.csr_array(sp.block_diag([graph.adjacency, np.ldexp(graph.adjacency.toarray(), -rarity)]))
        F = sp.csr_array(sp.block_diag([graph.features, graph.features]))
        context, scale = WalkContext(Transitions(A), F), Scale((2,), 8)
        p = context.feature_probability(scale)
        basis = np.eye(16, dtype=np.float32)
        with engine_on("torch-cpu", None) as engine:
            engine.halves = True
            targets = device_targets.DeviceTargets(PMI(), context, engine, 0, [p])
            scaling = targets._scaling(p)
            whole = targets._needed(device_targets._Plan(16, None), [scale])
            engine.memory = int(0.9 * whole)
            plan = next(targets._plans([scale]))
            assert plan.half_blocks == (rarity == 0)
            [found] = targets._project(plan, [scale], [scaling], [engine.tall(basis)])
            expected = positive_pmi(A.toarray().astype(float), F.toarray().astype(float), (2,))
            np.testing.assert_allclose(engine.host(found), expected, atol=5e-3)

    def test_running_out_of_it_is_an_error_that_says_what_to_do(self, monkeypatch):
        monkeypatch.setattr(Torch, "sparse", always_full)
        with pytest.raises(DeviceError, match=r"ran out of memory.*leave device out"):
            HOPE(4, device="torch-cpu").fit(datasets.figure1())


def always_full(*_):
    raise torch.cuda.OutOfMemoryError
