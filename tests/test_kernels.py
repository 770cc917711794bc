"""Every kernel against a few lines of NumPy, on every instruction set that this processor has."""

import threading
from itertools import pairwise, product

import numpy as np
import pytest
import scipy.sparse as sp
from kernel_matrices import GO_ON, native_csr, normal, panel, sparse

from hopscale._core import _native
from hopscale.walks import Transitions
from hopscale.walks.sampling import noise_layout
from hopscale.walks.transitions import alias_table
from reference import Stream, csr, random_graph


def test_use_instruction_set_is_heard_and_refuses_what_is_not_there(isa):
    assert _native.instruction_set() == isa
    with pytest.raises(ValueError, match="abacus"):
        _native.use_instruction_set("abacus")
    assert _native.instruction_set() == isa


class TestCompress:
    def compress(self, block, scale):
        rows, width = block.shape
        offsets = np.zeros(rows + 1, dtype=np.uint32)
        room = rows * width + 16
        columns, values = np.empty(room, np.uint8), np.empty(room, np.float32)
        count = _native.compress(block, scale, offsets, columns, values)
        return offsets, columns[:count], values[:count]

    def test_log_is_right_to_two_units_in_the_last_place(self, isa, rng):
        spread = np.exp(rng.uniform(0, 88, 3000)).astype(np.float32)
        near_one = 1 + np.float32(2) ** -rng.integers(1, 24, 900).astype(np.float32)
        extremes = np.float32([np.nextafter(np.float32(1), np.float32(2)), np.sqrt(2), 2, 2**100, 3.4e38])
        x = np.concatenate([spread, near_one, extremes, np.full(7, 3.0, dtype=np.float32)]).astype(np.float32)
        x = x[: len(x) // 16 * 16].reshape(-1, 16)
        offsets, _, values = self.compress(x, np.ones(16, dtype=np.float32))
        assert offsets[-1] == (x > 1).sum() > 3800
        exact = np.log(x[x > 1].astype(float))
        assert np.all(np.abs(values - exact) <= 2 * np.spacing(exact.astype(np.float32)))

    @pytest.mark.parametrize("width", [16, 64, 256])
    def test_keeps_ratios_above_one_in_place(self, isa, rng, width):
        block = np.exp(normal(rng, 40, width))
        block[[0, 5, 39]] = 0.25  # rows without a positive entry, at either end too
        scale = rng.choice(np.float32([0, 0.5, 1, 2]), width)
        block[7] = 1 / np.maximum(scale, 0.5)  # exactly one is not above one
        ratio = block * scale
        offsets, columns, values = self.compress(block, scale)
        dense = np.zeros_like(block)
        dense[np.repeat(np.arange(40), np.diff(offsets)), columns] = values
        np.testing.assert_allclose(dense, np.log(np.maximum(ratio, 1)), rtol=1e-6)
        assert np.array_equal(dense > 0, ratio > 1)
        assert [offsets[i + 1] - offsets[i] for i in (0, 5, 7, 39)] == [0, 0, 0, 0]


WIDTHS = [16, 48, 160, 176, 512]  # above 160 a row no longer has registers of its own


class TestProducts:
    @pytest.mark.parametrize("width", WIDTHS)
    @pytest.mark.parametrize("panel_width", [16, 256])
    def test_panels_times_adds_to_the_rows_asked_for(self, isa, rng, width, panel_width):
        M = sparse(rng, 50, 3 * panel_width)
        parts = [panel(M[:, j * panel_width : (j + 1) * panel_width]) for j in range(3)]
        panels = _native.Panels(parts, 50, panel_width)
        x, before = normal(rng, 3 * panel_width, width), normal(rng, 50, width)
        y = before.copy()
        _native.panels_times(panels, x, y, 3, 45)
        expected = before + M.astype(float) @ x
        np.testing.assert_allclose(y[3:45], expected[3:45], rtol=1e-4, atol=1e-4)
        assert np.array_equal(y[:3], before[:3])
        assert np.array_equal(y[45:], before[45:])

    @pytest.mark.parametrize("width", WIDTHS)
    @pytest.mark.parametrize("panel_width", [16, 256])
    def test_panel_transposed_times_adds_to_what_is_there(self, isa, rng, width, panel_width):
        M, y = sparse(rng, 50, panel_width), normal(rng, 50, width)
        before = normal(rng, panel_width, width)
        w = before.copy()
        blocks = [_native.Panels([panel(0 * some), panel(some)], len(some), panel_width) for some in (M[:30], M[30:])]
        _native.panel_transposed_times(blocks, 1, y, w)
        np.testing.assert_allclose(w, before + M.T.astype(float) @ y, rtol=1e-4, atol=1e-4)

    @pytest.mark.parametrize("width", WIDTHS)
    def test_csr_times_writes_the_rows_asked_for(self, isa, rng, width):
        M, x = sparse(rng, 50, 70), normal(rng, 70, width)
        before = normal(rng, 50, width)
        y = before.copy()
        _native.csr_times(native_csr(M), x, y, 4, 49)
        np.testing.assert_allclose(y[4:49], (M.astype(float) @ x)[4:49], rtol=1e-4, atol=1e-4)
        assert np.array_equal(y[:4], before[:4])
        assert np.array_equal(y[49:], before[49:])


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def systematic_noise(noise, random, count):
    """Features at evenly spaced numbers of 32 bits after a random one."""
    points = ((random.next() >> 32) + np.arange(count) * (2**32 // count)) % 2**32
    return noise.feature[np.searchsorted(noise.last, points)].tolist()


def train(walks, context, noise, G, H, touches, nodes, visits, hops, how):
    """Algorithm 2 in the kernel's order: all scores of a batch first, then one feature after the other.

    Noise is a systematic sample of its distribution, weighted to stand for ``negatives`` a positive.
    """
    offsets, columns, counts, keep = context
    rate, negatives, batch, shared, seed, scale, round_ = how

    def update(v, positives, drawn):
        ids = np.array(positives + drawn)
        scores = H[ids] @ G[v]
        label = np.repeat([1.0, 0.0], [len(positives), len(drawn)])
        rates = rate * np.where(label == 1, 1, negatives * len(positives) / len(drawn))
        coefficients = rates * (label - sigmoid(scores))
        step = np.zeros_like(G[v])
        for f, a in zip(ids, coefficients, strict=True):
            step += a * H[f]
            if touches is not None:
                H[f] += a * G[v]
                touches[f] += 1
        G[v] += step

    pairs, of_noise = 0, Stream(seed, scale, round_, int(nodes[0]), 2**64 - 1)
    for v, count in zip(nodes, visits, strict=True):
        seen = []
        for part, first in enumerate(range(0, count, 8)):  # eight walks have a stream of random numbers
            random = Stream(seed, scale, round_, int(v), part)
            paths = [[v] for _ in range(min(8, count - first))]
            before = [random.step(walks, v) if walks.second_order and max(hops) else None for _ in paths]
            for _, k in product(range(max(hops)), range(len(paths))):
                path = paths[k]
                path.append(random.step(walks, path[-1], before[k]))
                before[k] = path[-2] if walks.second_order else None
            for path, hop in product(paths, sorted(hops)):
                u = path[hop]
                for e in range(offsets[u], offsets[u + 1]):
                    expected = np.float32(1 if counts is None else counts[e])
                    expected *= np.float32(1 if keep is None else keep[columns[e]])
                    seen += [int(columns[e])] * (1 if expected == 1 else int(expected + random.uniform()))
        pairs += len(seen)
        for first in range(0, len(seen), batch):
            update(v, seen[first : first + batch], systematic_noise(noise, of_noise, shared))
    return pairs


class TestTrain:
    # What scale 0, shared and own noise take, noise that weighs less, and both limits.
    @pytest.mark.parametrize(("batch", "shared"), [(1, 5), (8, 8), (4, 20), (8, 16), (1, 64), (64, 64)])
    @pytest.mark.parametrize(
        ("kind", "width"),
        [("plain", 16), ("plain", 48), ("plain", 176)]
        + [(kind, 16) for kind in ("frozen", "counts", "subsampled", "weighted", "pooled", "self", "second order")],
    )
    def test_is_the_algorithm(self, isa, rng, batch, shared, kind, width):
        graph = random_graph(12, 10, weighted=kind == "weighted", isolated=1, seed=3)
        bias = {"back": 4.0, "away": 0.5} if kind == "second order" else {}
        walks = Transitions(graph.adjacency, **bias)
        offsets, columns, _ = csr(graph.features.toarray())
        counts = rng.uniform(0, 3, len(columns)).astype(np.float32) if kind in ("counts", "subsampled") else None
        keep = rng.uniform(0.2, 1, 10).astype(np.float32) if kind == "subsampled" else None
        noise = noise_layout(np.arange(10.0))  # the first feature is never noise
        hops = {"pooled": (1, 3), "second order": (1, 3), "self": (0,)}.get(kind, (2,))
        nodes = np.array([3, 7, 0, 10], dtype=np.int32)
        visits = np.array([9, 4, 0, 30], dtype=np.int64)
        G, H = normal(rng, 12, width) / 4, normal(rng, 10, width) / 4
        touches = None if kind == "frozen" else np.zeros(10, dtype=np.uint32)
        rate = 0.05 * min(1, 8 / batch)  # larger batches make larger steps; what diverges cannot be compared
        how = (rate, 5, batch, shared, 2**63 - 9, 2, 17)

        G2, H2 = G.astype(float), H.astype(float)
        touches2 = None if touches is None else touches.copy()
        context = (offsets, columns, counts, keep)
        pairs = train(walks, context, noise, G2, H2, touches2, nodes, visits, hops, how)
        mask = sum(1 << hop for hop in hops)
        model = _native.SkipGram(
            walks.kernel, native_csr(graph.features.toarray()), _native.Noise(*noise), hops=mask, negatives=5,
            batch=batch, shared=shared, seed=2**63 - 9, scale=2, counts=counts, keep=keep,
        )  # fmt: skip
        before, own = H.copy(), None if touches is None else np.full_like(H, np.nan)
        rows = G[nodes]
        result = model.train(rows, H, own, touches, nodes, visits, learning_rate=rate, round=17, stop=GO_ON)
        G[nodes] = rows

        assert np.array_equal(H, before)  # what is trained is a copy
        if own is not None:
            assert np.isnan(own[touches == 0]).all()
            H[touches > 0] = own[touches > 0]
        assert result == (pairs, -1)
        np.testing.assert_allclose(G, G2, atol=1e-4)
        np.testing.assert_allclose(H, H2, atol=1e-4)
        assert touches is None or np.array_equal(touches, touches2)

    def test_names_a_node_whose_vector_is_no_longer_finite(self, isa):
        G, H = np.zeros((4, 16), dtype=np.float32), np.zeros((4, 16), dtype=np.float32)
        G[2, 5] = np.inf
        result = self.run_on_a_ring(G, H, GO_ON)
        assert result[1] == 2

    def test_stops_when_told(self, isa):
        G, H = np.ones((4, 16), dtype=np.float32), np.ones((4, 16), dtype=np.float32)
        assert self.run_on_a_ring(G, H, np.ones(1, dtype=np.uint8)) == (0, -1)
        assert (G == 1).all()
        assert (H == 1).all()

    def test_stops_within_the_visits_of_a_node(self, isa):
        """Without a look at ``stop`` between visits this would go on for centuries."""
        G, H = np.ones((4, 16), dtype=np.float32), np.ones((4, 16), dtype=np.float32)
        stop = np.zeros(1, dtype=np.uint8)
        timer = threading.Timer(0.05, stop.fill, (1,))
        timer.start()
        pairs, _ = self.run_on_a_ring(G, H, stop, visits=2**62)
        timer.join()
        assert pairs > 0

    def run_on_a_ring(self, G, H, stop, *, visits=3):
        ring = np.roll(np.eye(4), 1, axis=1)
        graph, noise = Transitions(sp.csr_array(ring + ring.T)), noise_layout(np.ones(4))
        model = _native.SkipGram(
            graph.kernel,
            native_csr(np.eye(4)),
            _native.Noise(*noise),
            hops=2,
            negatives=5,
            batch=1,
            shared=5,
            seed=0,
            scale=1,
        )
        nodes, visits = np.arange(4, dtype=np.int32), np.full(4, visits, dtype=np.int64)
        return model.train(G, H, None, None, nodes, visits, learning_rate=0.05, round=0, stop=stop)


class TestAlias:
    def test_reproduces_every_distribution(self, rng):
        sizes = [1, 5, 0, 2, 300, 1]
        offsets = np.concatenate([[0], np.cumsum(sizes)])
        weights = rng.exponential(size=offsets[-1]) ** 3
        weights[[2, 9, 40]] = 0.0
        keeps, others = alias_table(weights, offsets)
        for begin, end in pairwise(offsets):
            keep, other = keeps[begin:end].astype(float), others[begin:end]
            n = end - begin
            p = (keep + np.bincount(other, weights=1 - keep, minlength=n)) / max(n, 1)
            np.testing.assert_allclose(p, weights[begin:end] / weights[begin:end].sum(), atol=1e-7)

    def test_what_has_no_weight_is_never_drawn(self):
        keep, other = alias_table(np.array([0.0, 1, 0, 3, 0]))
        assert np.array_equal(keep[[0, 2, 4]], [0, 0, 0])
        assert set(other[keep < 1]) <= {1, 3}

    def test_no_weight_at_all_is_uniform(self):
        assert np.array_equal(alias_table(np.zeros(3))[0], [1, 1, 1])


class TestNoise:
    @pytest.mark.parametrize("count", [1, 5, 3000])
    def test_every_feature_has_its_share_of_the_numbers(self, rng, count):
        weights = rng.exponential(size=count) ** 3
        weights[1::7] = 0.0
        noise = noise_layout(weights)
        share = np.zeros(count)
        share[noise.feature] = np.diff(np.append(-1, noise.last.astype(np.int64))) / 2**32
        np.testing.assert_allclose(share, weights / weights.sum(), atol=1e-9)
        assert not share[weights == 0].any()

    def test_no_weight_at_all_is_uniform(self):
        noise = noise_layout(np.zeros(4))
        assert np.array_equal(noise.last, np.arange(1, 5) * 2**30 - 1)

    def test_the_guide_never_points_past_the_answer(self, rng):
        noise = noise_layout(rng.exponential(size=500) ** 3)
        first = np.arange(len(noise.guide), dtype=np.int64) << noise.shift
        np.testing.assert_array_equal(noise.guide, np.searchsorted(noise.last, first))
        assert len(noise.guide) << noise.shift == 2**32


class TestAverage:
    @pytest.fixture
    def copies(self, rng):
        touches = [np.array(t, dtype=np.uint32) for t in ([0, 3, 1, 0, 100_000], [0, 2, 0, 0, 5], [0, 0, 1, 7, 1])]
        copies = [(normal(rng, 5, 48), count) for count in touches]
        for own, count in copies:
            own[count == 0] = np.nan  # never updated: never read
        return copies

    @pytest.mark.parametrize("at_once", [1, 2, 3])
    def test_is_weighted_by_updates(self, isa, rng, copies, at_once):
        before, total, updates = normal(rng, 5, 48), np.full((5, 48), np.nan, np.float32), np.full(5, -1)
        for first in range(0, 3, at_once):
            last = before if first + at_once >= 3 else None
            for rows in ((0, 2), (2, 5)):
                _native.average(copies[first : first + at_once], total, updates, *rows, first=first == 0, before=last)
        weights = np.array([count for _, count in copies], dtype=float)[:, :, None]
        owns = np.array([np.nan_to_num(own) for own, _ in copies], dtype=float)
        mean = (weights * owns).sum(axis=0)[1:] / weights.sum(axis=0)[1:]
        np.testing.assert_allclose(total[1:], mean, rtol=1e-5, atol=1e-6)
        assert np.array_equal(total[0], before[0])
        assert np.array_equal(updates, weights.sum(axis=(0, 2)))

    def test_has_the_same_bits_however_many_at_once(self, isa, rng, copies):
        before, found = normal(rng, 5, 48), []
        for at_once in (1, 2, 3):
            total, updates = np.zeros((5, 48), np.float32), np.zeros(5, np.int64)
            for first in range(0, 3, at_once):
                last = before if first + at_once >= 3 else None
                _native.average(copies[first : first + at_once], total, updates, 0, 5, first=first == 0, before=last)
            found.append(total)
        assert all(np.array_equal(total, found[0]) for total in found)
