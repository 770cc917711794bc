"""SINE: nodes around and own features, predicted by one vector of a node."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hopscale.checks import number, parameter, whole
from hopscale.compute import Engine
from hopscale.compute.operators import HStack
from hopscale.compute.svd import balanced, leading_triplets, tall_bytes, triplets_bytes
from hopscale.graph import AttributedGraph
from hopscale.models.matrix.base import MatrixEmbedding
from hopscale.solvers import PMI
from hopscale.solvers.pmi import LEAST_SHIFT, MOST_SHIFT
from hopscale.walks import Scale, Transitions, WalkContext
from hopscale.walks.context import MAX_WINDOW, positive_logs

__all__ = ["SINE"]


@dataclass(eq=False, repr=False)
class SINE(MatrixEmbedding):
    """Scalable incomplete network embedding: a node's vector predicts the nodes around it and its own features.

    Training on node-node and node-feature pairs alike tends to

    .. math:: G\\,[H_V^T\\; H_F^T] = \\Bigl[\\log\\frac{c}{t}\\sum_{r=1}^{t} P^r D^{-1}
        \\;|\\; \\log\\frac{s\\,F_{ij}}{s_i\\,s_j}\\Bigr] - \\log b

    whose positive part is factorised here; s are the sums of F, of its rows and of its columns. Nodes without features,
    or without edges, keep what the other half tells.

    Parameters
    ----------
    dimensions : int, default=128
        Length of the vectors.
    window : int, default=10
        Largest number of hops to a node in the context.
    shift : float, default=1.0
        Divide ratios by it before the logarithm, b.
    memory_limit : int or str, default="4GiB"
        Memory that the work may take, as in :class:`HOPE`. Where exact rows would not fit, they are estimated from 800
        walks of each node; where these would not fit either, the graph is refused.
    keep_graph, device, n_jobs, random_state, verbose
        As in :class:`MUSAE`.

    Attributes
    ----------
    embedding_ : ndarray of shape (n, dimensions)
    scale_columns_ : dict
        Columns of each part: ``"nodes+features"``, all of them.

    See Also
    --------
    MUSAE : features of the nodes around; with ``ego=True`` these nodes, too.

    Notes
    -----
    Time O(t·m·n + nnz·d), memory O(nnz). For graphs in which many edges or features are missing. Features of neighbours
    are not looked at: :class:`MUSAE` does that, and with ``ego=True`` sees nodes as well.

    References
    ----------
    D. Zhang, J. Yin, X. Zhu and C. Zhang, "SINE: scalable incomplete network embedding", ICDM 2018.

    Examples
    --------
    >>> from hopscale import SINE, datasets
    >>> SINE(dimensions=8, window=3).fit_transform(datasets.planted_blocks(n_nodes=60)).shape
    (60, 8)
    """

    kind = "walks and features"
    time = "O(t m n + nnz d)"
    memory = "O(nnz + (n + q) d)"
    reads_features = True
    only_products = True

    _: KW_ONLY
    window: int = parameter(10, whole, least=1, most=MAX_WINDOW)
    shift: float = parameter(1.0, number, least=LEAST_SHIFT, most=MOST_SHIFT)

    def _bytes_needed(self, graph: AttributedGraph) -> float:
        return 0.0  # all is counted where the matrix of walks is made

    def _vectors(self, graph: AttributedGraph, seed: int, engine: Engine) -> dict[str, NDArray[np.float32]]:
        solver = PMI(shift=self.shift, memory_limit=self.memory_limit)
        hops = tuple(range(1, self.window + 1))
        context = WalkContext.of_nodes(Transitions(graph.adjacency))
        n, q = graph.features.shape
        stacked = tall_bytes(n + q, min(self.dimensions, n))  # parts of a product, and the whole
        beside = triplets_bytes(n, n + q, self.dimensions, engine) + stacked + 24.0 * graph.features.nnz
        nodes = solver.target(context, Scale(hops, self.dimensions), engine, seed, beside=beside)
        features = engine.sparse(_association(graph.features, self.shift))
        both, random = HStack([nodes, features], engine), np.random.default_rng(seed)
        scores, sigma, _ = leading_triplets(both, self.dimensions, engine, random=random)
        return {"nodes+features": balanced(engine.host(scores), sigma)}


def _association(features: sp.csr_array, shift: float) -> sp.csr_array:
    """Positive entries of log(ΣF·F_ij / (F_i·F_j·b)): how much more often a node has a feature than by chance."""
    rows, columns = (np.asarray(features.sum(axis=axis, dtype=np.float64)).ravel() for axis in (1, 0))
    expected = np.repeat(rows, np.diff(features.indptr)) * columns[features.indices] * shift
    return positive_logs(features, features.data.astype(np.float64) * rows.sum() / expected)
