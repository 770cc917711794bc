"""The direct solver: the paper's theorems taken literally.

M = log(max(c·PʳF·E⁻¹ / shift, 1)) is computed in panels of columns, kept compressed while it fits the memory limit, and
factorised: G = U√Σ, H = V√Σ. New nodes: G' = M'·V·Σ^(-1/2) = M'·H·Σ⁻¹. Where M would not fit, its rows are estimated
from sampled walks: V is learnt from as many rows as fit, then every row is projected in one pass.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, get_args

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hopscale.checks import check_memory, choice, memory, memory_bytes, number, parameter, whole
from hopscale.compute import Operator, Threads
from hopscale.compute.aligned import Floats
from hopscale.compute.svd import leading_triplets, tall_bytes, times_columns, triplets_bytes
from hopscale.exceptions import Setting, warn
from hopscale.solvers.base import Solution, Solver
from hopscale.walks import Scale, WalkContext
from hopscale.walks.panels import ExactRows, Panel, PanelMatrix
from hopscale.walks.sampling import RowSampler

__all__ = ["PMI"]

RowChoice = Literal["auto", "exact", "sampled"]

TRIAL_PANELS = 8  # panels after which the size of all of them is judged
EXACT_WORK = 2e12  # multiplications beyond which sampling rows is the quicker way
MARGIN = 1e-5  # by which a ratio must pass one; float32 sums over long lists of neighbours err by less
SPARSE_BYTES = 24.0  # of an entry of a sparse matrix and its transpose, while they are made
NEVER_REFUSED = 8 * 2**20  # bytes: about what code that is loaded on the way takes
MAX_WALKS = 2**31 - 1  # a kernel's count of walks from a node


@dataclass(kw_only=True, eq=False, repr=False)
class PMI(Solver):
    """The direct solver: factorises the positive part of the shifted PMI matrix.

    Parameters
    ----------
    shift : float, default=1.0
        Divide ratios by it before the logarithm. b gives the target of :class:`SGNS`; 1 works better.
    noise_exponent : float, default=1.0
        Replace p(f) by this power of it, scaled to the same sum: the target of :class:`SGNS` with such noise.
    rows : {"auto", "exact", "sampled"}, default="auto"
        Compute the matrix exactly, or estimate its rows from sampled walks. ``"auto"`` is exact where that fits;
        the model's ``rows_`` says which it was.
    walks : int, default=800
        Walks a node that sampled rows are estimated from.
    memory_limit : int or str, default="4GiB"
        Memory that the work may take, such as 500MB: all that is held at a time beside the graph that is passed in and
        the vectors that are returned, and beside some 4 MiB for code that is loaded on the way. Rows that would pass
        it are sampled; what cannot be done within it, ``rows="exact"`` included, is refused with the least that works.
        Work that takes less than 8 MiB is never refused.

    Examples
    --------
    >>> from hopscale import MUSAE, PMI, datasets
    >>> model = MUSAE(dimensions=8, solver=PMI(rows="exact")).fit(datasets.figure1())
    >>> model.rows_["1"]
    'exact rows, 24 positive entries'
    """

    name = "pmi"

    shift: float = parameter(1.0, number, least=0, above=True)
    noise_exponent: float = parameter(1.0, number, least=0)
    rows: RowChoice = parameter("auto", choice, options=get_args(RowChoice))
    walks: int = parameter(800, whole, least=1, most=MAX_WALKS)
    memory_limit: int | str = parameter("4GiB", memory)

    def fit(self, context: WalkContext, scales: Sequence[Scale], engine: Threads, seed: int) -> Iterator[Solution]:
        """Solutions of all scales, one after the other."""
        return _Targets(self, context, engine, seed).solutions(scales)

    def project(
        self, context: WalkContext, solutions: Sequence[Solution], engine: Threads, seed: int
    ) -> Iterator[Floats]:
        """Vectors of the nodes of another graph over the same features: M'·H·Σ⁻¹.

        Rows are sampled if those of ``fit`` were, so that the graph of ``fit`` gives its vectors again.
        """
        targets = _Targets(self, context, engine, seed)
        return (targets.project(solution) for solution in solutions)

    def target(self, context: WalkContext, scale: Scale, engine: Threads, seed: int, *, beside: float) -> Operator:
        """All rows of the matrix that ``fit`` factorises, to be a part of another one.

        What the caller needs ``beside`` it, in bytes, counts as well.

        Raises
        ------
        ParameterError
            If they would take more memory than the limit, even those from samples.
        """
        return _Targets(self, context, engine, seed).all_rows(scale, beside)

    def neighbors(self, context: WalkContext, engine: Threads) -> Operator:
        """The matrix of one hop between nodes, which has no more entries than A."""
        scaling = self.scaling(context.feature_probability(Scale((1,), 1)))
        return engine.sparse(context.neighbor_rows(scaling))

    def scaling(self, probability: NDArray[np.float64]) -> NDArray[np.float32]:
        """1/(shift·q(f)), q the noise; 0 for features that are never seen, which then carry no information.

        Less a margin: a feature that is met everywhere has a ratio of one, and what rounding leaves above that would
        otherwise be factorised as if it meant something.
        """
        seen = probability > 0
        noise = np.where(seen, probability**self.noise_exponent, 0.0)
        noise *= probability.sum() / max(noise.sum(), 1e-300)
        inverse = np.divide(1.0 - MARGIN, noise * self.shift, out=np.zeros_like(probability), where=seen)
        return inverse.astype(np.float32)


@dataclass(frozen=True)
class _Target:
    """M, or some of its rows; ``every_row`` then gives M·v for all nodes."""

    operator: Operator
    rows: str
    every_row: Callable[[Floats], Floats] | None = None
    sampled: bool = False


class _Targets:
    """The matrices of one fit: which form each has is decided by the memory limit."""

    def __init__(self, solver: PMI, context: WalkContext, engine: Threads, seed: int) -> None:
        self._solver, self._context, self._engine, self._seed = solver, context, engine, seed
        self._memory = engine.memory = memory_bytes("memory_limit", solver.memory_limit)
        self._room = max(self._memory, NEVER_REFUSED)

    def solutions(self, scales: Sequence[Scale]) -> Iterator[Solution]:
        probabilities = [self._context.feature_probability(scale) for scale in scales]
        scalings = [self._solver.scaling(p) for p in probabilities]
        for scale, scaling in zip(scales, scalings, strict=True):
            self._refuse(scale, self._least(scale, scaling))
        # All scales that walk in one sweep where they fit together; else one by one; else from samples.
        walked = [i for i, scale in enumerate(scales) if not scale.is_self]
        exact: dict[int, _Target] = {}
        if len(walked) > 1:
            together = self._exact([scales[i] for i in walked], [scalings[i] for i in walked])
            exact = dict(zip(walked, together, strict=True)) if together else {}
            del together
        for i, scale in enumerate(scales):
            # No name here keeps a scale's matrix or vectors while the next is made.
            found = [exact.pop(i) if i in exact else self._target(scale, scalings[i])]
            yield self._factorised(found.pop(), scale, probabilities[i])

    def project(self, solution: Solution) -> Floats:
        assert solution.singular_values is not None
        scale, sigma = solution.scale, solution.singular_values
        inverse = np.divide(1.0, sigma, out=np.zeros_like(sigma), where=sigma > 0)
        basis = times_columns(solution.feature_vectors.copy(), inverse)
        scaling = self._solver.scaling(solution.feature_probability)
        own = tall_bytes(self._context.n_nodes + 2 * self._context.n_features, scale.dimensions)
        if scale.is_self:
            self._refuse(scale, self._base + own + SPARSE_BYTES * self._context.features.nnz)
            return self._engine.host(self._engine.sparse(self._context.own_rows(scaling)) @ self._engine.tall(basis))
        if solution.sampled or not self._may_be_exact([scale]):
            self._refuse(scale, self._base + own)
            return self._sampler(scale, scaling).project(basis)
        rest = self._room - self._base - own - self._blocks
        self._refuse(scale, self._room - rest)
        memory = int(min(rest, self._memory // 4))
        return self._exact_rows.project(scale, scaling, basis, self._engine, at_once=self._at_once, memory=memory)

    def all_rows(self, scale: Scale, beside: float) -> Operator:
        scaling = self._solver.scaling(self._context.feature_probability(scale))
        found = self._unsampled(scale, scaling, beside)
        if found is not None:
            return found.operator
        sampler = self._sampler(scale, scaling)
        self._refuse(scale, self._base + beside + sampler.bytes_needed, instead="take a smaller window")
        self._warn_of_sampling(scale)
        return self._sampled(sampler, sampler.bytes_needed).operator

    def _target(self, scale: Scale, scaling: NDArray[np.float32]) -> _Target:
        """The matrix of one scale on its own."""
        found = self._unsampled(scale, scaling, self._workspace(scale))
        if found is not None:
            return found
        if not self._context.transitions.second_order:
            self._warn_of_sampling(scale)
        sampler = self._sampler(scale, scaling)
        each = sampler.bytes_needed / self._context.n_nodes
        room = self._room - self._base - self._workspace(scale, sampler.least_rows)
        return self._sampled(sampler, min(self._memory // 2, room * each / (each + tall_bytes(2, scale.dimensions))))

    def _unsampled(self, scale: Scale, scaling: NDArray[np.float32], beside: float) -> _Target | None:
        """Exact rows, or None where they would not fit."""
        context = self._context
        if scale.is_self:
            return self._sparse(context.own_rows(scaling))
        if self._is_one_hop(scale) and self._base + beside + self._one_hop_bytes <= self._room:
            return self._sparse(context.neighbor_rows(scaling))  # as sparse as the graph, whatever its size
        exact = self._exact([scale], [scaling], beside)
        return exact[0] if exact else None

    def _is_one_hop(self, scale: Scale) -> bool:
        unbiased = self._solver.rows != "sampled" and not self._context.transitions.second_order
        return scale.hops == (1,) and unbiased and self._context.sees_nodes

    def _sparse(self, matrix: sp.csr_array) -> _Target:
        return _Target(self._engine.sparse(matrix), _exact_words(matrix.nnz))

    def _sampler(self, scale: Scale, scaling: NDArray[np.float32]) -> RowSampler:
        return RowSampler(self._context, scale, scaling, self._solver.walks, self._seed, self._engine)

    def _sampled(self, sampler: RowSampler, memory: float) -> _Target:
        matrix, complete = sampler.learning_rows(memory)
        which = "all rows" if complete else f"{matrix.shape[0]:,} of {self._context.n_nodes:,} rows"
        words = f"rows sampled from {sampler.walks} walks a node, learning from {which}"
        return _Target(self._engine.sparse(matrix), words, None if complete else sampler.project, sampled=True)

    def _factorised(self, target: _Target, scale: Scale, probability: NDArray[np.float64]) -> Solution:
        self._engine.say(f"scale {scale.label}: {target.rows}")
        b, sigma, v = leading_triplets(
            target.operator,
            scale.dimensions,
            self._engine,
            random=np.random.default_rng([self._seed, scale.hops[-1]]),
            doing=f"scale {scale.label}: factorise",
        )
        b, v = self._engine.host(b), self._engine.host(v)
        root = np.sqrt(sigma)
        inverse = np.divide(1.0, root, out=np.zeros_like(root), where=root > 0)
        return Solution(
            scale,
            node_vectors=times_columns(target.every_row(v) if target.every_row else b, inverse),
            feature_vectors=times_columns(v, root),
            feature_probability=probability,
            singular_values=sigma,
            rows=target.rows,
            sampled=target.sampled,
        )

    def _warn_of_sampling(self, scale: Scale) -> None:
        if self._solver.rows == "auto":
            warn(
                f"scale {scale.label}: exact rows would take more than ",
                Setting("memory_limit"),
                f" ({self._memory:,} bytes) or too long; they are estimated from {self._solver.walks} walks a node. ",
                Setting("rows", "exact"),
                " forces exact ones, ",
                Setting("rows", "sampled"),
                " silences this",
            )

    # What the memory limit counts: all that is held beside the graph and the vectors, at the moment when it is most.

    @property
    def _base(self) -> float:
        """Bytes for the graph and the context as kernels take them, and for numbers of each node and feature."""
        n, q, edges = self._context.n_nodes, self._context.n_features, self._context.transitions.adjacency
        weighted = bool(edges.nnz) and bool((edges.data != edges.data[0]).any())
        return 48.0 * (n + q) + 24.0 * self._context.features.nnz + 24.0 * edges.nnz * weighted

    def _workspace(self, scale: Scale, rows: int | None = None) -> float:
        """Bytes that factorising takes beside the matrix of so many rows, or of all."""
        n, q = self._context.n_nodes, self._context.n_features
        return triplets_bytes(n if rows is None else rows, q, scale.dimensions, self._engine)

    @property
    def _one_hop_bytes(self) -> float:
        return SPARSE_BYTES * float(self._context.transitions.adjacency.nnz)

    @property
    def _blocks(self) -> int:
        return self._at_once * ExactRows.workspace(self._context, self._width)

    def _least(self, scale: Scale, scaling: NDArray[np.float32]) -> float:
        """Bytes that the scale takes in the form that takes least."""
        n, q = self._context.n_nodes, self._context.n_features
        whole = self._base + self._workspace(scale)
        if scale.is_self:
            return whole + SPARSE_BYTES * self._context.features.nnz
        if self._solver.rows == "exact":
            return whole + self._blocks
        forms = [whole + self._one_hop_bytes] if self._is_one_hop(scale) else []
        if self._may_be_exact([scale]):
            forms.append(whole + self._blocks + float(n) * (5 * q + 4 * (q // self._width + 1)))
        if min(forms, default=np.inf) > self._room:
            sampler = self._sampler(scale, scaling)
            some = self._base + self._workspace(scale, sampler.least_rows)
            if some + 2.0 * sampler.least_rows * sampler.row_bytes > self._room:
                forms.append(some + sampler.least_rows * sampler.bytes_needed / n)
            else:
                forms.append(some)
        return min(forms)

    def _refuse(self, scale: Scale, needed: float, instead: str = "ask for fewer dimensions") -> None:
        n, q = self._context.n_nodes, self._context.n_features
        what = f"scale {scale.label} of {n:,} nodes and {q:,} columns in {scale.dimensions} dimensions"
        if needed > self._room:
            check_memory(what, needed, self._memory, instead)

    # How exact rows are computed within the memory limit.

    @cached_property
    def _exact_rows(self) -> ExactRows:
        return ExactRows(self._context, self._width)

    @property
    def _width(self) -> int:
        """Columns of a panel: fewer where a block of 64 would take much of the memory limit."""
        width = 64
        while width > 16 and ExactRows.workspace(self._context, width) > self._memory // 8:
            width //= 2
        return width

    @property
    def _at_once(self) -> int:
        wanted = self._memory // 4 // max(1, ExactRows.workspace(self._context, self._width))
        return max(1, min(self._engine.n_jobs, int(wanted)))

    def _may_be_exact(self, scales: Sequence[Scale]) -> bool:
        if self._context.transitions.second_order:  # known from samples only
            return False
        if self._solver.rows == "exact":
            return True
        fits = ExactRows.workspace(self._context, self._width) <= self._memory // 2
        return self._solver.rows == "auto" and fits and ExactRows.work(self._context, scales) <= EXACT_WORK

    def _exact(
        self, scales: Sequence[Scale], scalings: Sequence[NDArray[np.float32]], beside: float | None = None
    ) -> list[_Target] | None:
        """Compressed exact matrices of the scales, or None where they would pass the memory limit."""
        if not scales or not self._may_be_exact(scales):
            return None
        beside = max(map(self._workspace, scales)) if beside is None else beside
        fixed = self._base + max(beside, self._blocks)
        forced = self._solver.rows == "exact" and len(scales) == 1
        budget = self._room - fixed if forced else min(self._memory * 3 // 4, self._room - fixed)
        if budget < 0 and not forced:
            return None
        rows, engine = self._exact_rows, self._engine
        # Spread over the columns first, so that the first few panels tell how large all will be.
        stride = max(1, rows.count // TRIAL_PANELS)
        order = [j for first in range(stride) for j in range(first, rows.count, stride)]
        stored: list[list[Panel | None]] = [[None] * rows.count for _ in scales]
        used = 0
        label = ", ".join(scale.label for scale in scales)
        with engine.bar(rows.count, f"scale {label}: exact rows", "panel") as bar:
            panels = rows.panels(scales, scalings, engine, order=order, at_once=self._at_once)
            for done, (j, by_scale) in enumerate(zip(order, panels, strict=True), start=1):
                for i, panel in enumerate(by_scale):
                    stored[i][j] = panel
                    used += panel.nbytes
                expected = used if done < min(TRIAL_PANELS, rows.count) else used * rows.count / done
                if expected > budget:
                    if forced:
                        self._refuse(scales[0], fixed + 1.05 * expected, "leave rows at 'auto'")
                    return None
                bar.update(1)
        matrices = [
            PanelMatrix([p for p in each if p], self._context.n_features, rows.width, engine) for each in stored
        ]
        return [_Target(matrix, _exact_words(matrix.entries)) for matrix in matrices]


def _exact_words(entries: int) -> str:
    return f"exact rows, {entries:,} positive entries"
