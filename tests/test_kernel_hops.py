"""Hops over edges, in single and in half precision, against a few lines of NumPy."""

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from kernel_matrices import native_csr, normal, panel, sparse, unpacked

from hopscale._core import _native
from hopscale.walks import Transitions
from reference import csr, dense, random_graph, seen_after

N = 60
HALF = 2.0**-11  # relative error of a number that is rounded to half precision


def edges_of(rng, *, weighted):
    """A graph for the kernels and P for NumPy; the first, the last and a middle node have no edge."""
    A = np.abs(sparse(rng, N, N, density=0.3))
    A[:, [0, N // 2, N - 1]] = 0
    A = A + A.T
    offsets, neighbors, weights = csr(A)
    scale = np.abs(normal(rng, N)) + np.float32(0.1)
    graph = _native.Graph(offsets, neighbors, inverse_degrees=scale, weights=weights if weighted else None)
    return graph, scale[:, None].astype(float) * (A if weighted else A != 0)


def star(n):
    """A hub and its leaves, whose edges all weigh the same; node 0 is the hub."""
    one_way = sp.coo_array((np.ones(n - 1), (np.zeros(n - 1, int), np.arange(1, n))), shape=(n, n))
    A = sp.csr_array(one_way + one_way.T)
    scale = np.r_[1 / (n - 1), np.ones(n - 1)].astype(np.float32)
    return _native.Graph(A.indptr.astype(np.int64), A.indices.astype(np.int32), inverse_degrees=scale)


def take(kernel, graph, begin, end, **given):
    """A hop of the rows from ``begin`` to ``end``, in three ranges."""
    bounds = np.unique(np.linspace(begin, end, 4).astype(np.int64))
    taken, go_on = np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.uint8)
    _native.take_hops([kernel(graph, **given)], bounds, taken, go_on)
    assert taken[0] == len(bounds)


class TestPropagate:
    @pytest.mark.parametrize("width", [16, 48, 64, 144, 256])
    @pytest.mark.parametrize("weighted", [False, True])
    def test_is_a_scaled_sum_over_neighbours(self, isa, rng, width, weighted):
        A = np.abs(sparse(rng, 60, 60, density=0.3))
        A = A + A.T
        offsets, neighbors, weights = csr(A)
        scale, block = np.abs(normal(rng, 60)), normal(rng, 60, width)
        out = np.full((60, width), np.nan, dtype=np.float32)
        graph = _native.Graph(offsets, neighbors, inverse_degrees=scale, weights=weights if weighted else None)
        _native.propagate(graph, block, out)
        expected = scale[:, None].astype(float) * ((A if weighted else A != 0).astype(float) @ block)
        np.testing.assert_allclose(out, expected, rtol=1e-4, atol=1e-4)


class TestFirstHop:
    @pytest.mark.parametrize("weighted", [False, True])
    def test_is_what_propagating_the_columns_gives(self, rng, weighted):
        A = np.abs(sparse(rng, 60, 60, density=0.3))
        A = A + A.T
        F = np.abs(sparse(rng, 60, 10, density=0.2))
        F[:, 4] = 0  # a column without an entry
        offsets, neighbors, weights = csr(A)
        scale, out = np.abs(normal(rng, 60)), np.full((60, 16), np.nan, dtype=np.float32)
        graph = _native.Graph(offsets, neighbors, inverse_degrees=scale, weights=weights if weighted else None)
        expected = scale[:, None].astype(float) * ((A if weighted else A != 0).astype(float) @ F)
        for first, last in ((0, 10), (3, 7), (5, 5)):
            _native.first_hop(graph, native_csr(F.T), first, last, out)
            np.testing.assert_allclose(out[:, : last - first], expected[:, first:last], rtol=1e-6, atol=1e-6)
            assert not out[:, last - first :].any()

    def test_a_hub_loses_no_digits(self):
        n = 200_000
        values, out = np.full(n, 0.1, dtype=np.float32), np.empty((n, 16), dtype=np.float32)
        column = _native.Csr(np.array([0, n]), np.arange(n, dtype=np.int32), values, n)
        _native.first_hop(star(n), column, 0, 1, out)
        assert out[0, 0] == pytest.approx(0.1, rel=2e-7)


class TestFirstPanel:
    @pytest.mark.parametrize("weighted", [False, True])
    def test_holds_what_one_hop_reaches_times_a_factor(self, rng, weighted):
        graph, P = edges_of(rng, weighted=weighted)
        F = np.abs(sparse(rng, N, 40, density=0.05))
        F[:, 4] = 0  # a column without an entry
        factors = np.ldexp(np.float32(1), rng.integers(-9, 9, 40)).astype(np.float32)
        expected = P @ F * factors
        for first, last in ((0, 40), (3, 7), (5, 5)):
            offsets, columns, values = _native.first_panel(graph, native_csr(F.T), first, last, factors)
            found = unpacked(offsets, columns, values, last - first)
            np.testing.assert_allclose(found, expected[:, first:last], rtol=1e-6)
            for begin, end in pairwise(offsets):
                assert np.all(np.diff(columns[begin:end].astype(int)) > 0)
            # Rows that are not nearly empty have all columns, unless that would be many more entries.
            width, met = last - first, np.count_nonzero(expected[:, first:last], axis=1)
            full = np.where(8 * met > width, width, met)
            assert np.array_equal(np.diff(offsets), full if full.sum() <= 2 * met.sum() else met)

    @pytest.mark.parametrize("crowded", [1, 30])
    def test_a_few_rows_that_are_not_nearly_empty_have_all_columns(self, rng, crowded):
        graph, P = edges_of(rng, weighted=False)
        F = np.zeros((N, 64), dtype=np.float32)
        F[1, :12] = 1
        F[2 : crowded + 2, 20:60] = 1
        met = np.count_nonzero(P @ F, axis=1)
        offsets = _native.first_panel(graph, native_csr(F.T), 0, 64, np.ones(64, np.float32))[0]
        full = np.where(8 * met > 64, 64, met)
        assert full.sum() > met.sum()
        assert np.array_equal(np.diff(offsets), full if full.sum() <= 2 * met.sum() else met)

    def test_all_columns_that_a_panel_can_have(self, rng):
        graph, P = edges_of(rng, weighted=False)
        F = np.abs(sparse(rng, N, 256, density=0.3))
        found = unpacked(*_native.first_panel(graph, native_csr(F.T), 0, 256, np.ones(256, np.float32)), 256)
        np.testing.assert_allclose(found, P @ F, rtol=1e-6)

    def test_weights_of_any_size(self):
        """Units of their own in every row: D·A·D has weights that no single unit of float32 holds."""
        base = random_graph(30, 12, weighted=True, isolated=1, seed=4)
        A, F = dense(base)
        D = np.ldexp(1.0, np.arange(30) * 5 - 75)
        A = D[:, None] * A * D
        graph = Transitions(sp.csr_array(A)).kernel
        found = _native.first_panel(graph, native_csr(F.T), 0, 12, np.ones(12, np.float32))
        expected = seen_after(A, F, (1,))
        np.testing.assert_allclose(unpacked(*found, 12)[expected > 1e-30], expected[expected > 1e-30], rtol=1e-5)


def halves(rng, *shape, density=0.5):
    """Numbers that half precision holds, and their bits."""
    block = rng.uniform(0, 50, shape) * (rng.random(shape) < density)
    block = block.astype(np.float16)
    return block.astype(float), block.view(np.uint16)


def numbers(bits):
    """Halves as numbers."""
    return bits.view(np.float16).astype(float)


def side_by_side(bits):
    """The parts of a block as one matrix of numbers."""
    return np.concatenate(list(numbers(bits)), axis=1)


def product(total, scale, x, power):
    """Positive logarithms, to a power, times x."""
    logs = np.log(np.maximum(total * scale, 1.0))
    return np.where(logs > 0, logs**power, 0.0) @ x.astype(float)


class TestOneHop:
    @pytest.mark.parametrize("weighted", [False, True])
    @pytest.mark.parametrize(
        ("width", "first", "stride"), [(16, 0, 16), (64, 64, 128), (128, 0, 256), (256, 0, 256), (48, 96, 80)]
    )
    @pytest.mark.parametrize("pooled", [False, True])
    def test_of_a_dense_block(self, isa, rng, weighted, width, first, stride, pooled):
        graph, P = edges_of(rng, weighted=weighted)
        block, bits = halves(rng, 2, N, stride)
        sums, sum_bits = halves(rng, 2, N, stride)
        out = np.full((2, N, stride), 0x7E00, dtype=np.uint16)  # not a number
        scale = rng.uniform(0, 0.05, width).astype(np.float32)
        x, y = normal(rng, width, 48), normal(rng, N, 48)
        before, sums_before = y.copy(), sum_bits.copy()
        given = {"pooled": sum_bits} if pooled else {}
        given |= {"scale": scale, "x": x, "y": y, "power": 1.0}
        take(_native.one_hop, graph, 3, 55, first=first, width=width, dense=bits, out=out, **given)
        part, rows = first // stride, slice(3, 55)
        inside = slice(first % stride, first % stride + width)
        mean = P @ block[part, :, inside]
        total = mean + sums[part, :, inside] if pooled else mean
        np.testing.assert_allclose(numbers(out)[part, rows, inside], mean[rows], rtol=1.01 * HALF)
        if pooled:
            np.testing.assert_allclose(numbers(sum_bits)[part, rows, inside], total[rows], rtol=1.01 * HALF)
        expected = product(total, scale, x, 1.0)
        assert expected[rows].any()
        np.testing.assert_allclose((y - before.astype(float))[rows], expected[rows], rtol=1e-4, atol=1e-3)
        # And nothing else is written.
        untouched = np.ones((2, N, stride), dtype=bool)
        untouched[part, rows, inside] = False
        assert (out[untouched] == 0x7E00).all()
        assert np.array_equal(sum_bits[untouched], sums_before[untouched])
        assert np.array_equal(np.delete(y, np.arange(3, 55), axis=0), np.delete(before, np.arange(3, 55), axis=0))

    @pytest.mark.parametrize("weighted", [False, True])
    @pytest.mark.parametrize(("width", "parts"), [(16, 1), (64, 2), (128, 1), (256, 2)])
    @pytest.mark.parametrize("pooled", [False, True])
    def test_of_a_sparse_block(self, isa, rng, weighted, width, parts, pooled):
        graph, P = edges_of(rng, weighted=weighted)
        block = np.abs(sparse(rng, N, width, density=0.1))
        block[[7, 20]] = np.abs(normal(rng, 2, width))  # full rows
        out = np.full((parts, N, width // parts), 0x7E00, dtype=np.uint16)
        sum_bits = out.copy()  # what is there before does not count
        scale = rng.uniform(0, 2, width).astype(np.float32)
        x, y = normal(rng, width, 32), normal(rng, N, 32)
        before = y.copy()
        panels = _native.Panels([panel(block)], N, width)
        given = {"pooled": sum_bits} if pooled else {}
        take(_native.one_hop, graph, 3, 55, width=width, sparse=panels, out=out, scale=scale, x=x, y=y, **given)
        rows = slice(3, 55)
        mean = P @ block
        total = mean + block if pooled else mean
        np.testing.assert_allclose(side_by_side(out)[rows], mean[rows], rtol=1.01 * HALF, atol=2.0**-25)
        if pooled:
            np.testing.assert_allclose(side_by_side(sum_bits)[rows], total[rows], rtol=1.01 * HALF, atol=2.0**-25)
        expected = product(total, scale, x, 1.0)
        assert expected[rows].any()
        np.testing.assert_allclose((y - before.astype(float))[rows], expected[rows], rtol=1e-4, atol=1e-4)
        assert (np.delete(out, np.arange(3, 55), axis=1) == 0x7E00).all()
        assert np.array_equal(np.delete(y, np.arange(3, 55), axis=0), np.delete(before, np.arange(3, 55), axis=0))

    @pytest.mark.parametrize("columns", [16, 32, 48, 96, 128, 176])  # some have registers of their own
    @pytest.mark.parametrize("power", [0.5, 0.7])
    def test_powers_and_numbers_of_dimensions(self, isa, rng, columns, power):
        graph, P = edges_of(rng, weighted=True)
        [block], bits = halves(rng, 1, N, 64)
        scale = rng.uniform(0, 0.05, 64).astype(np.float32)
        x, y = normal(rng, 64, columns), np.zeros((N, columns), dtype=np.float32)
        take(_native.one_hop, graph, 0, N, width=64, dense=bits, scale=scale, x=x, y=y, power=power)
        np.testing.assert_allclose(y, product(P @ block, scale, x, power), rtol=1e-4, atol=2e-4)

    def test_without_a_scale_it_only_moves_on(self, isa, rng):
        graph, P = edges_of(rng, weighted=False)
        [block], bits = halves(rng, 1, N, 32)
        out = np.zeros((1, N, 32), dtype=np.uint16)
        take(_native.one_hop, graph, 0, N, width=32, dense=bits, out=out)
        np.testing.assert_allclose(numbers(out)[0], P @ block, rtol=1.01 * HALF)

    @pytest.mark.parametrize("kind", ["dense", "sparse"])
    def test_a_hub_loses_no_digits(self, isa, kind):
        n = 200_000
        value = np.float32(np.float16(0.1))
        if kind == "dense":
            block = {"dense": np.full((1, n, 16), value, dtype=np.float16).view(np.uint16)}
        else:
            offsets, columns = np.arange(n + 1, dtype=np.uint32), np.full(n, 3, dtype=np.uint8)
            block = {"sparse": _native.Panels([(offsets, columns, np.full(n, value))], n, 16)}
        x, y = np.zeros((16, 16), dtype=np.float32), np.zeros((n, 16), dtype=np.float32)
        x[3, 0] = 1
        scale = np.full(16, np.e / value, dtype=np.float32)
        take(_native.one_hop, star(n), 0, 1, width=16, **block, scale=scale, x=x, y=y)
        assert y[0, 0] == pytest.approx(1, abs=2e-6)


class TestNoHop:
    @pytest.mark.parametrize("width", [16, 128, 256])
    @pytest.mark.parametrize(("columns", "power"), [(16, 1.0), (48, 0.5), (128, 0.7)])
    def test_multiplies_a_sparse_block_as_it_is(self, isa, rng, width, columns, power):
        graph, _ = edges_of(rng, weighted=False)
        block = np.abs(sparse(rng, N, width))
        block[5] = 9.0  # a full row
        scale = rng.uniform(0, 4, width).astype(np.float32)
        scale[0] = 0
        x, before = normal(rng, width, columns), normal(rng, N, columns)
        y = before.copy()
        panels = _native.Panels([panel(block)], N, width)
        take(_native.no_hop, graph, 2, 58, width=width, sparse=panels, scale=scale, x=x, y=y, power=power)
        expected = before + product(block, scale, x, power)
        np.testing.assert_allclose(y[2:58], expected[2:58], rtol=1e-4, atol=1e-3)
        assert np.array_equal(y[:2], before[:2])
        assert np.array_equal(y[58:], before[58:])


class TestFill:
    @pytest.mark.parametrize(("width", "stride"), [(16, 16), (64, 96), (256, 256), (128, 64), (64, 48)])
    def test_a_sparse_block_becomes_the_nearest_halves(self, isa, rng, width, stride):
        graph, _ = edges_of(rng, weighted=False)
        block = np.abs(sparse(rng, N, width)) * np.exp(rng.uniform(-20, 8, (N, width))).astype(np.float32)
        parts = np.full((2, N, stride), 0x7E00, dtype=np.uint16)
        take(_native.fill, graph, 2, 58, width=width, sparse=_native.Panels([panel(block)], N, width), out=parts)
        out = np.concatenate(list(parts), axis=1)
        # NumPy, too, rounds to the nearest, and to even ones in between.
        assert np.array_equal(out[2:58, :width], block.astype(np.float16).view(np.uint16)[2:58])
        assert (out[:, width:] == 0x7E00).all()
        assert (out[[0, 1, 58, 59]] == 0x7E00).all()
