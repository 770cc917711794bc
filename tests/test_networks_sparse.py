"""Sparse products that PyTorch differentiates, on both of their ways, against dense ones."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from hopscale.compute import Threads

torch = pytest.importorskip("torch")

from hopscale.supervised.networks.layers import sparse  # noqa: E402
from hopscale.supervised.networks.layers.passes import Batch, Pass, Weights  # noqa: E402


@pytest.fixture(params=["processor", "gpu"])
def ways(request):
    """How a matrix is multiplied; the way of a GPU runs on a processor as well."""
    if request.param == "gpu":
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        yield lambda matrix: sparse._OnGpu(matrix, device)
    else:
        with Threads(1) as engine:
            yield lambda matrix: sparse._OnProcessor(matrix, engine)


@pytest.fixture
def matrix():
    """With an empty row, an empty column, and a row that is longer than what is summed in one go."""
    random = np.random.default_rng(0)
    dense = (random.random((40, 700)) < 0.05) * random.normal(size=(40, 700))
    dense[7] = random.normal(size=700)
    dense[3], dense[:, 5] = 0, 0
    return sp.csr_array(dense.astype(np.float32))


def leaf(*shape, seed):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed)).requires_grad_()


@pytest.mark.parametrize("width", [1, 3, 32])
def test_product_and_its_gradient(ways, matrix, width):
    ours, x, dense = ways(matrix), leaf(700, width, seed=1), torch.from_numpy(matrix.toarray())
    there = x.detach().to(ours.device).requires_grad_()
    weights = leaf(40, width, seed=2).detach()
    (dense @ x * weights).sum().backward()
    product = ours @ there
    torch.testing.assert_close(product.cpu(), dense @ x, atol=1e-4, rtol=1e-5)
    (product * weights.to(ours.device)).sum().backward()
    torch.testing.assert_close(there.grad.cpu(), x.grad, atol=1e-4, rtol=1e-5)


def test_gradient_of_values(ways, matrix):
    ours, x = ways(matrix), leaf(700, 6, seed=1)
    rows, columns = map(torch.from_numpy, (a.astype(np.int64) for a in matrix.tocoo().coords))
    values = leaf(matrix.nnz, seed=3)
    here = [tensor.detach().to(ours.device).requires_grad_() for tensor in (x, values)]
    dense = torch.zeros(40, 700).index_put((rows, columns), values)
    (dense @ x).square().sum().backward()
    ours.times(*here).square().sum().backward()
    for mine, theirs in zip(here, (x, values), strict=True):
        torch.testing.assert_close(mine.grad.cpu(), theirs.grad, atol=1e-3, rtol=1e-4)


def test_sums_of_entries(ways, matrix):
    ours, left, right = ways(matrix), leaf(40, seed=1), leaf(700, seed=2)
    here = [tensor.detach().to(ours.device).requires_grad_() for tensor in (left, right)]
    rows, columns = map(torch.from_numpy, (a.astype(np.int64) for a in matrix.tocoo().coords))
    (left[rows] + right[columns]).square().sum().backward()
    ours.entry_sums(*here).square().sum().backward()
    for mine, theirs in zip(here, (left, right), strict=True):
        torch.testing.assert_close(mine.grad.cpu(), theirs.grad, atol=1e-3, rtol=1e-4)


def test_row_maxima(ways, matrix):
    ours = ways(matrix)
    found = ours.row_maxima(ours.values).cpu().numpy()
    expected = np.where(matrix.toarray() == 0, -np.inf, matrix.toarray()).max(axis=1)
    np.testing.assert_array_equal(found, np.repeat(expected, np.diff(matrix.indptr)))


def test_samples_are_uniform(ways):
    """Of 12 entries 3 are kept each time, every one as often as any other; short rows stay whole."""
    matrix = sp.csr_array(np.vstack([np.ones(12), np.eye(12)[0], np.zeros(12), np.ones(12)]).astype(np.float32))
    ours = ways(matrix)
    random = torch.Generator(ours.device).manual_seed(0)
    kept = np.array([ours.sampled(3, random).cpu().numpy() for _ in range(2000)])
    assert (kept[:, :12].sum(1) == 3).all()
    assert (kept[:, 12] == 1).all()
    assert (kept[:, 13:].sum(1) == 3).all()
    counts = np.concatenate([kept[:, :12].sum(0), kept[:, 13:].sum(0)])
    chi_square = np.square(counts - 500).sum() / (500 * 0.75)
    assert chi_square < 50  # 22 degrees of freedom: exceeded once in 2,000 times


def test_gradient_reaches_the_sparse_layer(ways, matrix):
    """The gradient of the first layer's weights, by finite differences."""
    batch = Batch(ways(matrix), None, {})
    weights = Weights(batch.features.device, seed=0)

    def loss():
        return Pass(batch, weights, 2).first(4).tanh().sum()

    loss()
    (tensor,) = weights.tensors.values()
    loss().backward()
    for at in ((0, 0), (5, 1), (699, 3)):
        with torch.no_grad():
            changes = []
            for step in (1e-2, -2e-2):
                tensor[at] += step
                changes.append(float(loss()))
            tensor[at] += 1e-2
        assert tensor.grad[at].item() == pytest.approx((changes[0] - changes[1]) / 2e-2, abs=2e-2)
    assert tensor.grad[5].abs().max() == 0  # nobody has this feature
    assert tensor.grad.abs().max() > 0.1


def test_dropout_of_features_keeps_them_sparse_and_the_mean(ways, matrix):
    batch = Batch(ways(matrix), None, {})
    weights = Weights(batch.features.device, seed=0)
    expected = Pass(batch, weights, 2).first(4).detach()
    random = torch.Generator(expected.device).manual_seed(0)
    passes = torch.stack([Pass(batch, weights, 2, dropout=0.5, random=random).first(4).detach() for _ in range(2000)])
    assert not torch.equal(passes[0], passes[1])
    error = (passes.mean(0) - expected).abs() / (passes.std(0) / 2000**0.5).clamp(min=1e-6)
    assert error.max() < 5
    assert passes[:, 3].abs().max() == 0


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")
def test_processor_and_gpu_agree():
    from hopscale import GCN
    from hopscale.datasets import planted_blocks

    graph = planted_blocks(n_nodes=200)
    here, there, again = (GCN(epochs=20, dropout=0.0, device=d).fit(graph).outputs_ for d in ("cpu", "cuda", "cuda"))
    np.testing.assert_allclose(here, there, atol=1e-3)
    np.testing.assert_array_equal(there, again)
