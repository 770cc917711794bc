"""The theory in dense NumPy, and the kernels' random stream in Python integers: what the tests compare with.

A adjacency, D degrees, c = ΣA, P = D⁻¹A, F context matrix, E = diag(1ᵀDF).
"""

import numpy as np
import scipy.sparse as sp

from hopscale import AttributedGraph
from hopscale.walks.transitions import alias_table

_WORD = 2**64 - 1
_GOLDEN = 0x9E3779B97F4A7C15


def random_graph(n, q, *, density=0.2, per_node=None, weighted=False, values=False, isolated=0, seed=0):
    """Connected, non-bipartite graph with random features; its last ``isolated`` nodes have no edges.

    ``per_node`` gives every node exactly that many features. Weights and values are multiples of 1/8, so that
    small multiples of them are exact in float32.
    """
    rng = np.random.default_rng(seed)
    A = np.triu(rng.random((n, n)) < density, k=1).astype(float)
    ring = np.arange(n - isolated)
    A[ring[:-1], ring[1:]] = 1.0
    A[0, 2] = A[0, n - isolated - 1] = 1.0  # a triangle and a closed ring: ergodic
    if weighted:
        A *= rng.integers(1, 40, (n, n)) / 8
    A += A.T
    A[n - isolated :] = 0.0
    A[:, n - isolated :] = 0.0
    if per_node:
        F = np.zeros((n, q))
        for row in F:
            row[rng.choice(q, per_node, replace=False)] = 1.0
    else:
        F = (rng.random((n, q)) < 0.25).astype(float)
        F[np.arange(n), np.arange(n) % q] = 1.0
    if values:
        F *= rng.integers(1, 30, (n, q)) / 8
    return AttributedGraph(A, F)


def dense(graph):
    """A and F in double precision."""
    return graph.adjacency.toarray().astype(float), graph.features.toarray().astype(float)


def transition(A):
    """P = D⁻¹A, with empty rows for isolated nodes."""
    degrees = A.sum(axis=1, keepdims=True)
    return np.divide(A, degrees, out=np.zeros_like(A), where=degrees > 0)


def seen_after(A, F, hops):
    """Mean of PʳF over the hops r: what is seen, on average, that far from each node."""
    P = transition(A)
    return np.mean([np.linalg.matrix_power(P, r) @ F for r in hops], axis=0)


def second_order(A, hops, p, q):
    """Where node2vec's walk stands after some hops, from each node v.

    The chain of pairs (last node, this node). A walk past v has come from a neighbour that is drawn in proportion to
    the weights of v's edges.
    """
    n = len(A)
    here = np.zeros((n, n, n))  # of walks past v: the last node, and where they are
    for v, t in zip(*np.nonzero(A), strict=True):
        here[v, t, v] = A[v, t] / A[v].sum()
    for _ in range(hops):
        there = np.zeros_like(here)
        for t, x in zip(*np.nonzero(A), strict=True):
            weight = A[x] * np.where(A[t] > 0, 1.0, 1 / q)
            weight[t] = A[x, t] / p
            there[:, x] += here[:, t, x, None] * weight / weight.sum()
        here = there
    return here.sum(axis=1)


def feature_probability(A, F, hops):
    """E/c; at scale 0 the mean over nodes."""
    return F.mean(axis=0) if tuple(hops) == (0,) else A.sum(axis=1) @ F / A.sum()


def pmi(A, F, hops):
    """log(c·PʳF·E⁻¹), minus infinity where a feature is never seen from a node."""
    p = feature_probability(A, F, hops)
    ratio = np.divide(seen_after(A, F, hops), p, out=np.zeros(F.shape), where=p > 0)
    return np.log(ratio, out=np.full(F.shape, -np.inf), where=ratio > 0)


def positive_pmi(A, F, hops, shift=1.0):
    """log(max(c·PʳF·E⁻¹ / shift, 1))."""
    return np.maximum(pmi(A, F, hops) - np.log(shift), 0.0)


def best_approximation(M, rank):
    """The closest matrix of a rank (Eckart and Young), and all singular values."""
    U, sigma, Vt = np.linalg.svd(M, full_matrices=False)
    return (U[:, :rank] * sigma[:rank]) @ Vt[:rank], sigma


def csr(matrix):
    """A dense matrix as the kernels' int64 offsets, int32 columns, float32 values."""
    m = sp.csr_array(np.asarray(matrix, dtype=np.float32))
    return m.indptr.astype(np.int64), m.indices.astype(np.int32), m.data


def parameters(estimator):
    """All parameters of a model or solver, to be compared: solvers are known by their class and their parameters."""
    return {
        name: type(value) if hasattr(value, "get_params") else value for name, value in estimator.get_params().items()
    }


def positive(ratio):
    """Positive part of the logarithm."""
    return np.log(np.maximum(ratio, 1.0))


def root(M):
    """(MMᵀ)^(1/2) = UΣUᵀ: what U√Σ times its transpose must be at full rank."""
    u, s, _ = np.linalg.svd(M)
    return (u * s) @ u.T


def gram(x):
    """xxᵀ in double precision."""
    return x.astype(np.float64) @ x.astype(np.float64).T


class Stream:
    """The random numbers of one (seed, scale, round, node), or of a part of them."""

    def __init__(self, seed, scale, round_, node, part=None):
        self.state = _mix((seed + _GOLDEN) & _WORD)
        constants = (0xD1B54A32D192ED03, 0x8CB92BA72F3D8DD7, 0xABC98388FB8FAC03, 0x6A09E667F3BCC909)
        for number, constant in zip((scale, round_, node, part), constants, strict=True):
            if number is not None:
                self.state = _mix(self.state ^ ((number + constant) & _WORD))

    def next(self):
        self.state = (self.state + _GOLDEN) & _WORD
        return _mix(self.state)

    def below(self, n):
        return ((self.next() >> 32) * n) >> 32

    def uniform(self):
        return np.float32((self.next() >> 40) * 2.0**-24)

    def alias(self, keep, other):
        bits = self.next()
        i = ((bits >> 32) * len(keep)) >> 32
        return i if np.float32((bits & 0xFFFFFF) * 2.0**-24) < keep[i] else int(other[i])

    def step(self, walks, v, last=None):
        """One step of some Transitions; come from ``last``, one of node2vec's."""
        offsets, neighbors, weights = walks.adjacency.indptr, walks.adjacency.indices, walks.adjacency.data
        if last is not None:
            around, own = neighbors[offsets[last] : offsets[last + 1]], slice(offsets[v], offsets[v + 1])
            most = np.float32(max(1.0, walks.away))
            home = np.float32(min(walks.back, most))
            share = weights[own][neighbors[own] == last].sum() / weights[own].sum()
            above = most + (np.float32(walks.back) - home) * np.float32(share)
            while True:
                x = self.uniform() * above
                if x >= most:  # what the edge back counts more than any other
                    return last
                u = self.step(walks, v)
                if x < (home if u == last else 1.0 if u in around else np.float32(walks.away)):
                    return u
        edges = slice(offsets[v], offsets[v + 1])
        targets = neighbors[edges]
        if (weights == weights[0]).all():
            return int(targets[self.below(len(targets))])
        return int(targets[self.alias(*alias_table(weights[edges]))])


def _mix(z):
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _WORD
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _WORD
    return z ^ (z >> 31)
