"""The pmi solver's mathematics in plain NumPy, SciPy and scikit-learn: the rival of our speed benchmark.

Written as one would write it with these libraries and care for their costs: float32 throughout, work in
place, sparse where sparse is cheaper, nothing kept longer than it is needed.

Letters: A adjacency, D degrees, c = ΣA, P = D⁻¹A, F features, E = 1ᵀDF, t = window, d = dimensions.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.extmath import randomized_svd

__all__ = ["reference_embedding", "reference_targets"]

Floats = NDArray[np.float32]


def reference_embedding(
    adjacency: sp.csr_array,
    features: sp.csr_array,
    *,
    dimensions: int = 128,
    window: int = 3,
    pooled: bool = False,
    self_scale: bool = True,
    dense: bool = True,
    random_state: int = 0,
) -> tuple[Floats, Floats]:
    """Node and feature vectors G = U√Σ, H = V√Σ of each scale's target, side by side.

    Parameters
    ----------
    adjacency, features : csr_array
        As :class:`hopscale.AttributedGraph` keeps them: symmetric, non-negative, float32.
    dimensions : int
        In total. Split over the scales as evenly as possible; pooled, scale 0 gets d/(t+1) and the
        pooled block the rest.
    window : int
        Scales 1..t.
    pooled : bool
        One target from the mean of the scales (AE) instead of one each (MUSAE).
    self_scale : bool
        Add scale 0, the node's own features.
    dense : bool
        Hold the targets of scales 1..t as ndarray; otherwise as CSR with the positive entries only.
    random_state : int
        Seed of the randomised SVD.

    Examples
    --------
    >>> import numpy as np
    >>> from hopscale.datasets import planted_blocks
    >>> graph = planted_blocks()
    >>> G, H = reference_embedding(graph.adjacency, graph.features, dimensions=32)
    >>> G.shape, H.shape, G.dtype.name
    ((600, 32), (120, 32), 'float32')
    """
    blocks = _block_dimensions(dimensions, window, pooled, self_scale)
    targets = reference_targets(adjacency, features, window=window, pooled=pooled, self_scale=self_scale, dense=dense)
    G, H = [], []
    for block in blocks:
        M = next(targets)
        U, S, Vt = randomized_svd(M, block, random_state=random_state)
        del M  # before the next target is computed
        root = np.sqrt(S)
        G.append(U * root)
        H.append(Vt.T * root)
    return np.hstack(G), np.hstack(H)


def reference_targets(
    adjacency: sp.csr_array,
    features: sp.csr_array,
    *,
    window: int = 3,
    pooled: bool = False,
    self_scale: bool = True,
    dense: bool = True,
) -> Iterator[Any]:
    """Targets log(max(c·PʳF·E⁻¹, 1)) one after the other, scale 0 first where wanted."""
    A = sp.csr_array(adjacency, dtype=np.float32)
    F = sp.csr_array(features, dtype=np.float32)
    degrees = A.sum(axis=1)
    P = sp.csr_array(sp.diags_array(_inverse(degrees)) @ A)
    scale = np.float32(degrees.sum(dtype=np.float64)) * _inverse(F.T @ degrees)

    if self_scale:
        # No walk, hence plain counts. As sparse as F: nobody would make it dense.
        yield _sparse_target(F, np.float32(F.shape[0]) * _inverse(F.sum(axis=0)))

    target: Any = _dense_target if dense else _sparse_target
    X: Any = F
    total: Any = None
    for r in range(1, window + 1):
        X = P @ X
        if dense and sp.issparse(X):
            X = X.toarray()  # the first step is cheaper as a sparse product
        if not pooled:
            M = target(X, scale)
            if r == window:
                del X
            yield M
            del M
        elif r == 1:
            total = X.copy()
        else:
            total += X
    if pooled:
        del X
        yield target(total, scale / np.float32(window))


def _dense_target(X: Floats, scale: Floats) -> Floats:
    M = X * scale
    np.maximum(M, 1, out=M)
    np.log(M, out=M)
    return M


def _sparse_target(X: sp.csr_array, scale: Floats) -> sp.csr_array:
    M = X.copy()
    M.data *= scale[M.indices]
    np.maximum(M.data, 1, out=M.data)
    np.log(M.data, out=M.data)
    M.eliminate_zeros()
    return M


def _inverse(x: Floats) -> Floats:
    """1/x, and 0 for 0: isolated nodes and features that nobody has."""
    x = np.asarray(x, dtype=np.float32)
    return np.divide(1, x, out=np.zeros_like(x), where=x > 0)


def _block_dimensions(d: int, t: int, pooled: bool, self_scale: bool) -> list[int]:
    if pooled:
        return [d // (t + 1), d - d // (t + 1)] if self_scale else [d]
    blocks = t + self_scale
    return [d // blocks + (block < d % blocks) for block in range(blocks)]
