"""The direct solver: the paper's theorems taken literally.

M = log(max(c·PʳF·E⁻¹ / shift, 1)) is computed in panels of columns, kept compressed while it fits the
memory limit, and factorised: G = U√Σ, H = V√Σ. New nodes: G' = M'·V·Σ^(-1/2) = M'·H·Σ⁻¹.
Where M would not fit, its rows are estimated from sampled walks: V is learnt from as many rows as fit, then
every row is projected in one pass.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from hopscale.exceptions import HopscaleWarning, ParameterError
from hopscale.pairs import Pairs, Panel, Scale
from hopscale.parallel import Workers
from hopscale.solvers.matrices import PanelMatrix, RowMatrix, RowSampler, SampledMatrix, project_panels
from hopscale.solvers.result import Solution
from hopscale.solvers.svd import leading_triplets
from hopscale.solvers.tables import Array
from hopscale.walks import Start

__all__ = ["PMISolver", "Rows"]

Rows = Literal["auto", "exact", "sampled"]

TRIAL_PANELS = 8  # panels after which the size of all of them is judged
EXACT_WORK = 2e12  # multiplications beyond which sampling rows is the quicker way
MARGIN = 1e-5  # by which a ratio must pass one; float32 sums over long lists of neighbours err by less


@dataclass(frozen=True)
class PMISolver:
    """Factorises the positive part of the shifted PMI matrix.

    Parameters
    ----------
    shift : float
        Ratios are divided by it before the logarithm; 1 is plain PMI, b the target of SGNS.
    noise_exponent : float
        p(f) is taken to this power, and scaled to the sum that it had: the target of SGNS with such noise.
    memory_limit : int
        Bytes that the solver may use for M and its workspace, besides graph, features and vectors.
    rows : {"auto", "exact", "sampled"}
    walks : int
        Walks per node of a sampled row.
    seed : int
    start : {"degree", "node"}
        Where the walks of p(f) start.
    """

    shift: float = 1.0
    noise_exponent: float = 1.0
    memory_limit: int = 4 * 2**30
    rows: Rows = "auto"
    walks: int = 800
    seed: int = 0
    start: Start = "degree"

    def fit(self, pairs: Pairs, scales: Sequence[Scale], workers: Workers) -> list[Solution]:
        """Solutions of all scales."""
        probabilities = [pairs.feature_probability(scale, self.start) for scale in scales]
        scalings = [self._scaling(p) for p in probabilities]
        # All scales that walk in one sweep where they fit together; else one by one; else from samples.
        walked = [i for i, scale in enumerate(scales) if not scale.is_self]
        exact: dict[int, PanelMatrix] = {}
        if len(walked) > 1:
            together = self._exact(pairs, [scales[i] for i in walked], [scalings[i] for i in walked], workers)
            exact = dict(zip(walked, together, strict=True)) if together else {}
            del together
        solutions = []
        for i, scale in enumerate(scales):
            matrix = exact.pop(i, None) or self._matrix(pairs, scale, scalings[i], workers)
            workers.say(f"scale {scale.label}: {matrix.description}")
            solutions.append(self._factorise(matrix, scale, probabilities[i], workers))
            del matrix  # before the next scale's is made
        return solutions

    def project(self, pairs: Pairs, solution: Solution, workers: Workers) -> Array:
        """Vectors of the nodes of another graph over the same features: M'·H·Σ⁻¹.

        Rows are sampled if those of ``fit`` were, so that the graph of ``fit`` gives its vectors again.
        """
        assert solution.singular_values is not None
        scale, sigma = solution.scale, solution.singular_values
        inverse = np.divide(1.0, sigma, out=np.zeros_like(sigma), where=sigma > 0)
        basis = (solution.feature_vectors * inverse).astype(np.float32)
        scaling = self._scaling(solution.feature_probability)
        if scale.is_self:
            return RowMatrix(pairs.own_rows(scaling), workers).times(basis)[:, : scale.dimensions]
        if solution.sampled or not self._may_be_exact(pairs, [scale]):
            return RowSampler(pairs, scale, scaling, self.walks, self.seed, workers).project(basis)
        width = self._panel_width(pairs)
        at_once = self._at_once(pairs, width)
        return project_panels(pairs, scale, scaling, basis, workers, width=width, at_once=at_once)

    def target(self, pairs: Pairs, scale: Scale, workers: Workers) -> PanelMatrix | RowMatrix:
        """All rows of the matrix that ``fit`` factorises, to be a part of another one.

        Raises
        ------
        ParameterError
            If they would take more memory than the limit, even those from samples.
        """
        scaling = self._scaling(pairs.feature_probability(scale, self.start))
        if scale.is_self:
            return RowMatrix(pairs.own_rows(scaling), workers)
        found = self._unsampled(pairs, scale, scaling, workers)
        if found is not None:
            return found
        sampler = RowSampler(pairs, scale, scaling, self.walks, self.seed, workers)
        needed = sampler.bytes_needed()
        if needed > self.memory_limit // 2:
            raise ParameterError(
                f"the matrix of walks over {scale.label} hop(s) between {pairs.n_nodes:,} nodes would take about "
                f"{needed / 2**20:,.0f} MiB, more than half of memory_limit ({self.memory_limit:,} bytes): raise the "
                "limit, or take a smaller window"
            )
        self._warn_of_sampling(scale)
        return SampledMatrix(sampler, self.memory_limit // 2)

    def neighbors(self, pairs: Pairs, workers: Workers) -> RowMatrix:
        """The matrix of one hop between nodes, which has no more entries than A."""
        return RowMatrix(pairs.neighbor_rows(self._scaling(pairs.feature_probability(Scale((1,), 1)))), workers)

    def _matrix(
        self, pairs: Pairs, scale: Scale, scaling: NDArray[np.float32], workers: Workers
    ) -> PanelMatrix | RowMatrix:
        """The matrix of one scale on its own."""
        if scale.is_self:
            return RowMatrix(pairs.own_rows(scaling), workers)
        alone = self._unsampled(pairs, scale, scaling, workers)
        if alone is not None:
            return alone
        if not pairs.walks.second_order:
            self._warn_of_sampling(scale)
        sampler = RowSampler(pairs, scale, scaling, self.walks, self.seed, workers)
        return SampledMatrix(sampler, self.memory_limit // 2)

    def _unsampled(
        self, pairs: Pairs, scale: Scale, scaling: NDArray[np.float32], workers: Workers
    ) -> PanelMatrix | RowMatrix | None:
        """Exact rows, or None where they would not fit."""
        if self.rows != "sampled" and scale.hops == (1,) and pairs.sees_nodes and not pairs.walks.second_order:
            return RowMatrix(pairs.neighbor_rows(scaling), workers)  # as sparse as the graph, whatever its size
        exact = self._exact(pairs, [scale], [scaling], workers)
        return exact[0] if exact else None

    def _factorise(
        self,
        matrix: PanelMatrix | RowMatrix,
        scale: Scale,
        probability: NDArray[np.float64],
        workers: Workers,
    ) -> Solution:
        b, sigma, v = leading_triplets(
            matrix,
            scale.dimensions,
            workers,
            random=np.random.default_rng([self.seed, scale.hops[-1]]),
            doing=f"scale {scale.label}: factorise",
        )
        root = np.sqrt(sigma)
        inverse = np.divide(1.0, root, out=np.zeros_like(root), where=root > 0)
        return Solution(
            scale,
            node_vectors=(matrix.every_row(b, v) * inverse).astype(np.float32),
            feature_vectors=(v * root).astype(np.float32),
            feature_probability=probability,
            singular_values=sigma,
            rows=matrix.description,
            sampled=isinstance(matrix, SampledMatrix),
        )

    def _warn_of_sampling(self, scale: Scale) -> None:
        if self.rows == "auto":
            warnings.warn(
                f"scale {scale.label}: exact rows would take more than memory_limit ({self.memory_limit:,} bytes) or "
                f"too long; they are estimated from {self.walks} walks a node. rows='exact' forces exact ones, "
                "rows='sampled' silences this",
                HopscaleWarning,
                stacklevel=4,
            )

    def _scaling(self, probability: NDArray[np.float64]) -> NDArray[np.float32]:
        """1/(shift·q(f)), q the noise; 0 for features that are never seen, which then carry no information.

        Less a margin: a feature that is met everywhere has a ratio of one, and what rounding leaves above
        that would otherwise be factorised as if it meant something.
        """
        seen = probability > 0
        noise = np.where(seen, probability**self.noise_exponent, 0.0)
        noise *= probability.sum() / max(noise.sum(), 1e-300)
        inverse = np.divide(1.0 - MARGIN, noise * self.shift, out=np.zeros_like(probability), where=seen)
        return inverse.astype(np.float32)

    def _panel_width(self, pairs: Pairs) -> int:
        """Columns of a panel: fewer where a block of 64 would take much of the memory limit."""
        width = 64
        while width > 16 and pairs.panel_workspace(width) > self.memory_limit // 8:
            width //= 2
        return width

    def _at_once(self, pairs: Pairs, width: int) -> int:
        return max(1, int(self.memory_limit // 4 // max(1, pairs.panel_workspace(width))))

    def _may_be_exact(self, pairs: Pairs, scales: Sequence[Scale]) -> bool:
        if pairs.walks.second_order:  # known from samples only
            return False
        if self.rows == "exact":
            return True
        fits = pairs.panel_workspace(self._panel_width(pairs)) <= self.memory_limit // 2
        return self.rows == "auto" and fits and pairs.work(scales) <= EXACT_WORK

    def _exact(
        self,
        pairs: Pairs,
        scales: Sequence[Scale],
        scalings: Sequence[NDArray[np.float32]],
        workers: Workers,
    ) -> list[PanelMatrix] | None:
        """Compressed exact matrices of the scales, or None where they would pass the memory limit."""
        if not scales or not self._may_be_exact(pairs, scales):
            return None
        forced = self.rows == "exact" and len(scales) == 1
        width = self._panel_width(pairs)
        count = -(-pairs.n_features // width)
        # Spread over the columns first, so that the first few panels tell how large all will be.
        stride = max(1, count // TRIAL_PANELS)
        order = [j for first in range(stride) for j in range(first, count, stride)]
        stored: list[list[Panel | None]] = [[None] * count for _ in scales]
        used, budget = 0, self.memory_limit * 3 // 4
        label = ", ".join(scale.label for scale in scales)
        with workers.bar(count, f"scale {label}: exact rows", "panel") as bar:
            at_once = self._at_once(pairs, width)
            panels = pairs.panels(scales, scalings, width=width, order=order, workers=workers, at_once=at_once)
            for done, (j, by_scale) in enumerate(zip(order, panels, strict=True), start=1):
                for i, panel in enumerate(by_scale):
                    stored[i][j] = panel
                    used += panel.nbytes
                expected = used if done < min(TRIAL_PANELS, count) else used * count / done
                if expected > budget and not forced:
                    return None
                bar.update(1)
        return [PanelMatrix([p for p in each if p], pairs.n_features, width, workers) for each in stored]
