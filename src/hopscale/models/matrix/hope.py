"""HOPE: singular vectors of a proximity that is itself a product of sparse matrices."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal, get_args

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hopscale.checks import choice, number, parameter
from hopscale.compute import Engine
from hopscale.compute.operators import Series
from hopscale.compute.svd import (
    MAX_RANK,
    balanced,
    leading_eigenpairs,
    leading_triplets,
    tall_bytes,
    times_columns,
    triplets_bytes,
)
from hopscale.exceptions import ParameterError, Setting
from hopscale.graph import AttributedGraph
from hopscale.models.matrix.base import MatrixEmbedding
from hopscale.walks import Transitions
from hopscale.walks.transitions import in_unit

__all__ = ["HOPE"]

LONGEST_DECAY = 0.9999  # of rooted PageRank

Proximity = Literal["overlap", "common-neighbors", "adamic-adar", "katz", "rooted-pagerank"]


@dataclass(eq=False, repr=False)
class HOPE(MatrixEmbedding):
    """High-order proximity preserved embedding.

    Factorises a proximity of nodes, :math:`S \\approx U_s U_t^T`, without ever forming it. Graphs are undirected here:
    S is symmetric but for rooted PageRank, and the paper's source and target vectors are the same up to signs. All
    ``dimensions`` go to the source vectors.

    ====================  =======================================  ====================================
    ``proximity``         S                                        from singular triplets of
    ====================  =======================================  ====================================
    ``overlap``           :math:`D^{-1/2} A^2 D^{-1/2}`            :math:`B = D^{-1/2}A`, as S = BBᵀ
    ``common-neighbors``  :math:`A^2`                              :math:`B = A`
    ``adamic-adar``       :math:`A\\,\\mathrm{diag}(1/\\log d)\\,A`    :math:`B = A\\,\\mathrm{diag}(1/\\sqrt{\\log d})`
    ``katz``              :math:`(I - \\beta A)^{-1} \\beta A`       A; its values become βλ/(1−βλ)
    ``rooted-pagerank``   :math:`(1-\\alpha)(I - \\alpha P)^{-1}`     S itself, as a series of walks
    ====================  =======================================  ====================================

    Parameters
    ----------
    dimensions : int, default=128
        Length of the vectors.
    proximity : {"overlap", "common-neighbors", "adamic-adar", "katz", "rooted-pagerank"}, default="overlap"
        What is factorised. The default is the normalised neighbourhood overlap of the MUSAE paper's comparison: common
        neighbours over the geometric mean of the degrees, the cosine of two neighbourhoods.
        The logarithm of adamic-adar is of the number of neighbours, as in the classical index.
    decay : float, default=0.5
        Weight of longer walks. katz: β as a share of the largest for which S exists, one over the largest eigenvalue of
        A. rooted-pagerank: α, the chance that a walk goes on, at most .9999: closer to 1, single precision cannot tell
        S from a matrix of rank one.
    memory_limit : int or str, default="4GiB"
        Memory that the work may take, such as 500MB: all that is held at a time beside the graph that is passed in and
        the vectors that are returned, and beside some 4 MiB for code that is loaded on the way. What takes more is
        refused before the start, with the least that works.
    keep_graph, device, n_jobs, random_state, verbose
        As in :class:`MUSAE`.

    Attributes
    ----------
    embedding_ : ndarray of shape (n, dimensions)
    scale_columns_ : dict
        Columns of each part: ``"proximity"``, all of them.

    See Also
    --------
    NetMF : several hops, weighted by what is to be expected.

    Notes
    -----
    Vectors of ``"common-neighbors"`` and ``"adamic-adar"`` grow in proportion to the weights, those of ``"overlap"``
    with the root of them; the other proximities do not know their unit.

    Time O(m·d) a pass, a dozen passes (rooted-pagerank: twenty times as many, a thousand times with a decay of .9999);
    memory O(m + n·d). Quick on any graph.
    It sees two steps far (katz and rooted-pagerank: further, with falling weight), and the largest hubs come first:
    :class:`NetMF` usually serves better. The paper's asymmetric proximities of directed graphs are lost, since edges
    have no direction here.

    References
    ----------
    M. Ou, P. Cui, J. Pei, Z. Zhang and W. Zhu, "Asymmetric transitivity preserving graph embedding", KDD 2016.

    Examples
    --------
    >>> from hopscale import HOPE, datasets
    >>> HOPE(dimensions=8).fit_transform(datasets.planted_blocks(n_nodes=60)).shape
    (60, 8)
    """

    kind = "proximity matrix"
    time = "O(m d)"
    memory = "O(m + n d)"
    only_products = True

    _: KW_ONLY
    proximity: Proximity = parameter("overlap", choice, options=get_args(Proximity))
    decay: float = parameter(0.5, number, least=0, above=True, below=1)

    def check_parameters(self) -> None:
        """Refuse parameters that make no sense, before a graph is read."""
        super().check_parameters()
        if self.proximity == "rooted-pagerank" and self.decay > LONGEST_DECAY:
            raise ParameterError(
                f"must be at most {LONGEST_DECAY} with ",
                Setting("proximity", "rooted-pagerank"),
                f", not {self.decay!r}: closer to 1, single precision cannot tell the matrix from one of rank one",
                parameter="decay",
            )

    def _bytes_needed(self, graph: AttributedGraph) -> float:
        n, rank = graph.n_nodes, self.dimensions * (2 if self.proximity == "katz" else 1)
        terms = tall_bytes(3 * n, min(rank, n)) if self.proximity == "rooted-pagerank" else 0.0  # of the series
        return triplets_bytes(n, n, rank, self._engine()) + terms + 40.0 * graph.adjacency.nnz

    def _vectors(self, graph: AttributedGraph, seed: int, engine: Engine) -> dict[str, NDArray[Any]]:
        random = np.random.default_rng(seed)
        if self.proximity == "katz":
            return {"proximity": self._katz(graph, random, engine)}
        if self.proximity == "rooted-pagerank":
            S = Series(engine.sparse(Transitions(graph.adjacency).matrix()), self.decay)
            scores, sigma, _ = leading_triplets(S, self.dimensions, engine, random=random)
            scores = engine.host(scores)
            scores[np.diff(graph.adjacency.indptr) == 0] = 0.0  # isolated nodes carry no information
            return {"proximity": balanced(scores, sigma)}
        # S = BBᵀ = UΣ²Uᵀ, so that UΣ is its best factor.
        # Weights times 4 make `overlap` 4 times as large, and the others 16 times.
        A, exponent = in_unit(graph.adjacency)
        A, exponent = (2.0 * A, exponent - 1) if exponent % 2 else (A, exponent)
        B = engine.sparse(self._root(A))
        scores, _, _ = leading_triplets(B, self.dimensions, engine, random=random)
        return {"proximity": np.ldexp(engine.host(scores), exponent // 2 if self.proximity == "overlap" else exponent)}

    def _katz(self, graph: AttributedGraph, random: np.random.Generator, engine: Engine) -> NDArray[Any]:
        """The strongest of βλ/(1−βλ), among more of A's eigenvalues than are wanted: it favours positive ones."""
        rank = min(2 * self.dimensions, MAX_RANK)
        A = engine.sparse(in_unit(graph.adjacency)[0])
        values, vectors = leading_eigenpairs(A, rank, engine, random=random)
        scaled = self.decay * values / max(float(np.abs(values[0])), 1e-300)
        strength = np.abs(scaled / (1.0 - scaled))
        order = np.argsort(-strength, kind="stable")[: self.dimensions]
        return times_columns(engine.host(vectors)[:, order], np.sqrt(strength[order]))

    def _root(self, A: sp.csr_array) -> sp.csr_array:
        """The matrix B with S = BBᵀ."""
        if self.proximity == "overlap":
            return Transitions(A).half_matrix()
        if self.proximity == "common-neighbors":
            return A.astype(np.float32)
        # A node with one neighbour joins no pair, whatever it counts for.
        count = np.diff(A.indptr).astype(np.float64)
        weights = np.divide(1.0, np.log(np.maximum(count, 1.0)), out=np.zeros_like(count), where=count > 1)
        return sp.csr_array(A @ sp.diags_array(np.sqrt(weights))).astype(np.float32)
