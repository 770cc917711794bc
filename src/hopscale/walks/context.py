"""What walks see: node-feature statistics at each scale, which solvers factorise or sample.

F context matrix (n×q), E = diag(1ᵀDF); other letters as in :mod:`hopscale.walks.transitions`. The probability of
feature f under the stationary walk is p(f) = E_ff/c, and PMI(v, f) = log((PʳF)_vf / p(f)).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hopscale._core import _native
from hopscale.compute.threads import kernel_csr, ranges
from hopscale.exceptions import GraphError
from hopscale.walks.size import WalkSize
from hopscale.walks.transitions import Start, Transitions, row_blocks, transposed_times

__all__ = [
    "MAX_WINDOW",
    "Scale",
    "WalkContext",
    "check_largest",
    "in_units",
    "mean_places",
    "own_rows",
    "positive_logs",
    "raised",
    "seen_at",
    "split_dimensions",
    "too_far_apart",
]

MAX_WINDOW = 30  # kernels take hops as the bits of a mask
ENTRIES = 2**20  # of a matrix that are computed with at once, lest workspace passes for the matrix
LARGEST = 2.0**120  # value of a feature in the unit of its mean: sums of such stay within float32


@dataclass(frozen=True)
class Scale:
    """One block of dimensions: the mean over some numbers of hops.

    ``Scale((2,), 32)`` is the context two hops away, ``Scale((1, 2, 3), 128)`` pools three.
    """

    hops: tuple[int, ...]
    dimensions: int

    @property
    def label(self) -> str:
        """Name of the scale: ``"2"`` or ``"1-3"``."""
        return str(self.hops[0]) if len(self.hops) == 1 else f"{self.hops[0]}-{self.hops[-1]}"

    @property
    def mask(self) -> int:
        """Bit r is set when hop r counts; what the kernels read."""
        return sum(1 << hop for hop in self.hops)

    @property
    def is_self(self) -> bool:
        """Whether this is a node's own features, without any walk."""
        return self.hops == (0,)


def split_dimensions(dimensions: int, hop_groups: Sequence[tuple[int, ...]]) -> list[Scale]:
    """Share ``dimensions`` out as evenly as possible over hops; a pooled scale gets its hops' shares.

    >>> [s.dimensions for s in split_dimensions(128, [(1,), (2,), (3,)])]
    [43, 43, 42]
    >>> [s.dimensions for s in split_dimensions(128, [(0,), (1, 2, 3)])]
    [32, 96]
    """
    hops = sum(len(group) for group in hop_groups)
    base, extra = divmod(dimensions, hops)
    shares = iter([base + 1] * extra + [base] * (hops - extra))
    return [Scale(group, sum(next(shares) for _ in group)) for group in hop_groups]


@dataclass(frozen=True, eq=False)
class WalkContext:
    """Walks on a graph, and what they see at a node: its row of the context matrix F.

    ``start`` says where the walks begin that p(f) is taken from: in proportion to degree, or at every node.
    """

    transitions: Transitions
    features: sp.csr_array
    start: Start = "degree"

    @classmethod
    def of_nodes(cls, transitions: Transitions, start: Start = "degree") -> WalkContext:
        """Walks that see the nodes themselves, F = I."""
        identity = sp.eye_array(transitions.n_nodes, dtype=np.float32, format="csr")
        return cls(transitions, sp.csr_array(identity), start)

    @property
    def n_nodes(self) -> int:
        """Number of nodes, n."""
        return int(self.features.shape[0])

    @property
    def n_features(self) -> int:
        """Number of columns of the context, q."""
        return int(self.features.shape[1])

    @property
    def sees_nodes(self) -> bool:
        """Whether the context of a walk is the nodes themselves, in whichever units."""
        F = self.features
        one_each = F.shape[0] == F.shape[1] == F.nnz
        return one_each and bool((F.indices == np.arange(F.nnz)).all() and (np.diff(F.indptr) == 1).all())

    @cached_property
    def size(self) -> WalkSize:
        """The counts that decide how rows are computed."""
        return WalkSize(
            n_nodes=self.n_nodes,
            n_features=self.n_features,
            steps=int(self.transitions.adjacency.nnz),
            entries=int(self.features.nnz),
            weighted=self.transitions.weighted,
            sees_nodes=self.sees_nodes,
            second_order=self.transitions.second_order,
        )

    def in_units(self, exponents: NDArray[np.int32]) -> WalkContext:
        """The same walks, that see feature f in the unit 2^exponents[f]."""
        return replace(self, features=in_units(self.features, exponents))

    def around(self, nodes: NDArray[np.int64], hops: int) -> tuple[WalkContext, NDArray[np.int64]]:
        """What walks of so many hops from some nodes can reach, and the rows of these nodes there.

        Nodes that are reached by the last hop may lack edges, which no walk takes.
        """
        near = np.zeros(self.n_nodes, dtype=np.bool_)
        near[nodes] = True
        for _ in range(hops):
            near |= self.transitions.reaches(near)
        transitions = replace(self.transitions, adjacency=self.transitions.adjacency[near][:, near])
        return replace(self, transitions=transitions, features=self.features[near]), np.cumsum(near)[nodes] - 1

    @cached_property
    def kernel_features(self) -> _native.Csr:
        """F as the kernels take it."""
        return kernel_csr(self.features)

    def feature_probability(self, scale: Scale) -> NDArray[np.float64]:
        """Probability p(f) of each feature: E_ff/c for walks that start in proportion to degree.

        No walk is taken at scale 0, so nodes count equally there, isolated ones too (measured: better than weighting
        them by degree).
        """
        n = self.n_nodes
        if scale.is_self:
            weights = np.full(n, 1.0 / n)
        elif self.start == "degree":
            weights = self.transitions.stationary()
        else:
            weights, here = np.zeros(n), np.full(n, 1.0 / n)
            for hop in range(1, scale.hops[-1] + 1):
                here = self.transitions.forward(here)
                weights += here * (hop in scale.hops) / len(scale.hops)
        return transposed_times(self.features, weights)

    def feature_probabilities(self, scales: Sequence[Scale]) -> list[NDArray[np.float64]]:
        """Probabilities at each scale; those of all walks that start in proportion to degree are the same."""
        same: dict[tuple[int, ...], NDArray[np.float64]] = {}
        found = []
        for scale in scales:
            key = (1,) if self.start == "degree" and not scale.is_self else scale.hops
            if key not in same:
                same[key] = self.feature_probability(scale)
            found.append(same[key])
        return found

    def check_ratios(self, scaling: NDArray[np.float32]) -> None:
        """Refuse features whose largest value times their scaling is too large for single precision."""
        check_largest(self._largest_values, scaling)

    @cached_property
    def _largest_values(self) -> NDArray[np.float64]:
        largest = np.zeros(self.n_features, dtype=self.features.dtype)  # of one type, which NumPy is quick with
        for _, rows in row_blocks(self.features):
            np.maximum.at(largest, rows.indices, rows.data)
        return largest.astype(np.float64)

    def own_rows(self, scaling: NDArray[np.float32]) -> sp.csr_array:
        """Positive entries of log(scaling · F): scale 0, where no walk is taken."""
        return own_rows(self.features, scaling)

    def neighbor_rows(self, scaling: NDArray[np.float32]) -> sp.csr_array:
        """Positive entries of log(scaling · PF): one hop between nodes, where the matrix is as sparse as A."""
        A, units = self.transitions.adjacency, self.features.data.astype(np.float64)
        inverse = self.transitions.inverse_degrees
        return positive_logs(A, np.repeat(inverse, np.diff(A.indptr)) * A.data * (units * scaling)[A.indices])

    def ways(self, nodes: NDArray[Any], hops: int, most: int) -> list[float]:
        """Ways to walk 1, 2, ..., ``hops`` hops from a node, in the mean over some nodes; those of one are ``most``.

        From the third hop on each is taken to lead to as many nodes as a step of a random walk finds in the mean.
        """
        A = self.transitions.adjacency
        degrees = np.diff(A.indptr).astype(np.float64)
        further = float(degrees @ degrees) / max(1.0, float(degrees.sum()))
        here, found = degrees[nodes], []
        for hop in range(1, hops + 1):
            if hop == 2:
                here = np.array([degrees[A.indices[A.indptr[node] : A.indptr[node + 1]]].sum() for node in nodes])
            elif hop > 2:
                here = here * further
            here = np.minimum(here, float(most))
            found.append(float(here.mean()))
        return found

    def sees_features(self, scale: Scale) -> NDArray[np.bool_]:
        """Whether a walk from each node can meet any feature at this scale."""
        here = np.diff(self.features.indptr) > 0
        seen = np.zeros(self.n_nodes, dtype=np.bool_)
        for hop in range(scale.hops[-1] + 1):
            if hop:
                here = self.transitions.reaches(here)
            if hop in scale.hops:
                seen |= here
        return seen


def in_units(F: sp.csr_array, exponents: NDArray[np.int32]) -> sp.csr_array:
    """Rows of a context matrix, with feature f in the unit 2^exponents[f]."""
    data = F.data.copy()
    with np.errstate(over="ignore"):  # answered by the next lines
        for some in (slice(*piece) for piece in ranges(len(data), ENTRIES)):
            np.ldexp(data[some], -exponents[F.indices[some]], out=data[some])
    if data.max(initial=0.0) >= LARGEST:
        raise too_far_apart()
    found = sp.csr_array((data, F.indices, F.indptr), shape=F.shape, copy=not data.all())
    if not data.all():  # as good as never met
        found.eliminate_zeros()
    return found


def check_largest(largest: NDArray[Any], scaling: NDArray[np.float32]) -> None:
    """Refuse features whose largest value times their scaling is too large for single precision."""
    if (largest.astype(np.float64) * scaling.astype(np.float64)).max(initial=0.0) >= LARGEST:
        raise too_far_apart()


def own_rows(F: sp.csr_array, scaling: NDArray[np.float32]) -> sp.csr_array:
    """Positive entries of log(scaling · F), for some rows of F or all."""
    return positive_logs(F, F.data * scaling[F.indices])


def mean_places(
    transitions: Transitions, node: int, scales: Sequence[Scale]
) -> list[tuple[NDArray[np.int64], NDArray[np.float64]]]:
    """Where a walk from one node is, in the mean over the hops of each scale: nodes, and how likely each is."""
    hops = list(transitions.places(node, max(scale.hops[-1] for scale in scales)))
    found = []
    for scale in scales:
        nodes, shares = (np.concatenate(parts) for parts in zip(*(hops[hop] for hop in scale.hops), strict=True))
        total: NDArray[Any] = np.bincount(nodes, shares / len(scale.hops))
        here = np.flatnonzero(total)
        found.append((here, total[here]))
    return found


def seen_at(features: sp.csr_array, here: NDArray[Any], share: NDArray[np.float64]) -> NDArray[np.float64]:
    """What a walk sees, in the mean, that is at one of some nodes: share·F."""
    own = features[here]
    weights = np.repeat(share, np.diff(own.indptr)) * own.data
    return np.bincount(own.indices, weights, minlength=features.shape[1]).astype(np.float64, copy=False)


def too_far_apart() -> GraphError:
    """What to say of weights or values that single precision cannot hold together."""
    return GraphError(
        "the graph's weights or feature values are too far apart to compute with: what one node has of a feature is "
        f"over {LARGEST:.0e} times what walks meet of it. Drop the smallest weights or values, or bring them closer to "
        "the others"
    )


def raised(logs: NDArray[np.float32], power: float) -> NDArray[np.float32]:
    """Positive logarithms to a power, in place."""
    if power == 0.5:
        return np.sqrt(logs, out=logs)  # the same bits on every machine
    return logs if power == 1 else np.power(logs, np.float32(power), out=logs)


def positive_logs(pattern: sp.csr_array, ratios: NDArray[Any]) -> sp.csr_array:
    """Logarithms of the ratios above 1, one for each entry of the pattern, where it has them."""
    values = np.log(np.maximum(ratios, 1.0)).astype(np.float32)
    found = sp.csr_array((values, pattern.indices, pattern.indptr), shape=pattern.shape, copy=True)
    found.eliminate_zeros()
    return found
