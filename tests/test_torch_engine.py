"""The engine of PyTorch's devices against that of threads.

Everything runs on PyTorch's own processor device, and on a GPU as well where there is one.
"""

import numpy as np
import pytest
import scipy.sparse as sp

from hopscale.compute import Engine

torch = pytest.importorskip("torch")

from devices import apart, on_every_device  # noqa: E402

from hopscale.compute import torch_plain  # noqa: E402
from hopscale.compute.devices import engine_on  # noqa: E402
from hopscale.compute.torch import DenseRows, Torch  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::hopscale.exceptions.HopscaleWarning")


class TestEngine:
    def test_has_all_that_an_engine_has(self):
        assert {name for name in vars(Engine) if not name.startswith("_")} <= set(dir(Torch))

    @on_every_device
    def test_arrays_there_and_back_are_copies(self, device):
        x = np.arange(12, dtype=np.float32).reshape(6, 2)
        with engine_on(device, None) as engine:
            tall = engine.tall(x)
            tall += 1
            back = engine.host(tall)
            back[:] = 0
            np.testing.assert_array_equal(engine.host(tall), x + 1)
            assert x[0, 0] == 0
            out = engine.empty(6, 4)
            engine.put(out, slice(0, 2), tall)
            engine.put(out, slice(2, 4), engine.double(tall) * 2.0)
            np.testing.assert_array_equal(engine.host(out), np.hstack([x + 1, 2 * x + 2]))

    @on_every_device
    def test_double_precision_stays(self, device):
        x = np.random.default_rng(0).standard_normal((50, 3))
        with engine_on(device, None) as engine:
            product = engine.matmul(engine.tall(x), np.eye(3) * (1 + 1e-12))
            np.testing.assert_array_equal(engine.host(product), x * (1 + 1e-12))
            np.testing.assert_allclose(engine.gram(product, product), x.T @ x, rtol=1e-11)

    @on_every_device
    @pytest.mark.parametrize("weighted", [False, True])
    @pytest.mark.parametrize("scaled", [False, True])
    def test_products_of_rows_and_transposes(self, device, weighted, scaled):
        random = np.random.default_rng(1)
        A = sp.csr_array(sp.random_array((60, 40), density=0.2, rng=random, dtype=np.float32))
        A = sp.csr_array(sp.vstack([A, np.ones((1, 40), np.float32), sp.csr_array((2, 40), dtype=np.float32)]))
        scale = random.random(63).astype(np.float32) if scaled else None
        M = A.toarray() if weighted else (A.toarray() != 0).astype(float)
        M = M * scale[:, None] if scaled else M
        x, y = (random.standard_normal((size, 5)).astype(np.float32) for size in (40, 63))
        which = np.array([60, 3, 61, 3])
        with engine_on(device, None) as engine:
            matrix = engine.csr(A, scale, weighted=weighted)
            operator = engine.operator(matrix)
            if weighted or scaled:
                np.testing.assert_allclose(engine.host(operator.T @ engine.tall(y)), M.T @ y, atol=2e-5)
            np.testing.assert_allclose(engine.host(operator @ engine.tall(x)), M @ x, atol=2e-5)
            some = engine.operator(matrix.rows(engine.tensor(which)))
            np.testing.assert_allclose(engine.host(some @ engine.tall(x)), M[which] @ x, atol=2e-5)

    def test_products_do_not_depend_on_how_many_rows_are_gathered(self, monkeypatch):
        random = np.random.default_rng(2)
        A = sp.csr_array(sp.random_array((80, 80), density=0.1, rng=random, dtype=np.float32))
        x = random.standard_normal((80, 16)).astype(np.float32)
        found = []
        for gathered in (1, 200, 2**24):
            monkeypatch.setattr(torch_plain, "GATHERED", gathered)
            with engine_on("torch-cpu", None) as engine:
                found.append(engine.host(engine.sparse(A) @ engine.tall(x)))
        np.testing.assert_array_equal(found[0], found[1])
        np.testing.assert_array_equal(found[0], found[2])

    @on_every_device
    @pytest.mark.parametrize("half", [False, True])
    def test_dense_rows(self, device, half):
        random = np.random.default_rng(3)
        M = np.maximum(random.standard_normal((70, 140)), 0).astype(np.float16)
        M[5], M[:, 90:] = 0, 0  # a product may take in columns beyond those of the operator, which are zeros
        x = (random.standard_normal((90, 6)) * np.logspace(-6, 6, 6)).astype(np.float32)
        with engine_on(device, None) as engine:
            held = engine.tensor(M if half else M.astype(np.float32))
            rows, y = DenseRows(held, engine, 90), random.standard_normal((70, 6)).astype(np.float32)
            assert rows.shape == (70, 90)
            product, back = engine.host(rows @ engine.tall(x)), engine.host(rows.T @ engine.tall(y))
            M = M.astype(np.float64)
            counts, squares = engine.kernels.row_statistics(held)
            np.testing.assert_array_equal(engine.host(counts), (M != 0).sum(axis=1))
            np.testing.assert_allclose(engine.host(squares), (M**2).sum(axis=1), rtol=1e-5)
        for k in range(6):
            assert apart(product[:, k], M[:, :90] @ x[:, k]) < 1e-5
        assert apart(back, M[:, :90].T @ y) < 1e-5


@pytest.mark.skipif(not torch.cuda.is_available(), reason="kernels of a GPU need one")
class TestKernels:
    """Triton's kernels against plain PyTorch on the same device."""

    @pytest.fixture
    def triton(self):
        from hopscale.compute import torch_triton

        return torch_triton

    @pytest.mark.parametrize("width", [7, 48, 300, 512])
    @pytest.mark.parametrize("half", [False, True])
    def test_products(self, triton, width, half):
        random = np.random.default_rng(5)
        A = sp.csr_array(sp.random_array((900, 900), density=0.02, rng=random, dtype=np.float32)).tolil()
        A[7] = 1.5  # longer than a program sums
        dtype = torch.float16 if half else torch.float32
        with engine_on("cuda", None) as engine:
            matrix = engine.csr(sp.csr_array(A).astype(np.float32), random.random(900))
            x = engine.tensor(random.random((900, width))).to(dtype)
            ours, plain = (torch.full((900, width), torch.nan, dtype=dtype, device="cuda") for _ in range(2))
            triton.product(matrix, x, ours)
            torch_plain.product(matrix, x, plain)
            assert float((ours - plain).float().norm() / plain.float().norm()) < (1e-3 if half else 1e-6)

    @pytest.mark.parametrize("power", [1.0, 0.5, 0.3])
    @pytest.mark.parametrize("dimensions", [5, 32, 96, 300])
    def test_logarithms_and_projections(self, triton, power, dimensions):
        with engine_on("cuda", None) as engine:
            random = torch.Generator("cuda").manual_seed(0)
            block, scaling, basis, start = (
                torch.rand(shape, generator=random, device="cuda")
                for shape in ((1000, 64), (64,), (64, dimensions), (1000, dimensions))
            )
            scaling, factor = 6 * scaling, torch.rand(1000, generator=random, device="cuda")
            wide = torch.full((2, 1000, 128), torch.nan, device="cuda")
            found = [start.clone(), start.clone()]
            for kernels, total, out in zip((triton, torch_plain), found, wide, strict=True):
                kernels.logarithms(block, scaling, power, out[:, 64:], factor)
                kernels.add_projection(block, scaling, power, basis, total)
            assert float((wide[0] - wide[1])[:, 64:].norm() / wide[1][:, 64:].norm()) < 1e-5
            assert wide[:, :, :64].isnan().all()
            assert float((found[0] - found[1]).norm() / found[1].norm()) < 1e-3
            assert engine.kernels is triton

    def test_sums_of_segments(self, triton):
        lengths = torch.tensor([0, 3, 700, 1, 0, 5], device="cuda")
        offsets = torch.nn.functional.pad(lengths.cumsum(0), (1, 0))
        x = torch.rand(int(offsets[-1]), device="cuda")
        torch.testing.assert_close(triton.segment_sums(x, offsets), torch_plain.segment_sums(x, offsets))
