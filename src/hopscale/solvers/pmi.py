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

from hopscale.exceptions import HopscaleWarning
from hopscale.pairs import Pairs, Panel, Scale
from hopscale.parallel import Workers
from hopscale.solvers.matrices import PanelMatrix, RowSampler, SampledMatrix, project_panels
from hopscale.solvers.result import Solution
from hopscale.solvers.svd import truncated_svd
from hopscale.solvers.tables import Array, padded

__all__ = ["PMISolver", "Rows"]

Rows = Literal["auto", "exact", "sampled"]

OVERSAMPLING = 8  # columns iterated on beyond the rank, before padding
ITERATIONS = 5
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
    memory_limit : int
        Bytes that the solver may use for M and its workspace, besides graph, features and vectors.
    rows : {"auto", "exact", "sampled"}
    walks : int
        Walks per node of a sampled row.
    seed : int
    """

    shift: float
    memory_limit: int
    rows: Rows
    walks: int
    seed: int

    def fit(self, pairs: Pairs, scales: Sequence[Scale], workers: Workers) -> list[Solution]:
        """Solutions of all scales."""
        probabilities = [pairs.feature_probability(scale) for scale in scales]
        scalings = [self._scaling(p) for p in probabilities]
        solutions = []
        # All scales in one sweep where they fit together; else one by one; else from samples.
        matrices = self._exact(pairs, scales, scalings, workers) if self.rows != "sampled" else None
        for i, scale in enumerate(scales):
            matrix: PanelMatrix | SampledMatrix | None = matrices[i] if matrices else None
            if matrix is None and (self.rows != "sampled" or scale.is_self):
                alone = self._exact(pairs, [scale], [scalings[i]], workers, forced=scale.is_self)
                matrix = alone[0] if alone else None
            if matrix is None:
                self._warn_of_sampling(scale)
                sampler = RowSampler(pairs, scale, scalings[i], self.walks, self.seed, workers)
                matrix = SampledMatrix(sampler, self.memory_limit // 2)
            workers.say(f"scale {scale.label}: {matrix.description}")
            solutions.append(self._factorise(matrix, scale, probabilities[i], workers))
            if matrices:
                matrices[i] = None  # free it before the next scale is factorised
        return solutions

    def project(self, pairs: Pairs, solution: Solution, workers: Workers) -> Array:
        """Vectors of the nodes of another graph over the same features: M'·H·Σ⁻¹."""
        assert solution.singular_values is not None
        scale, sigma = solution.scale, solution.singular_values
        inverse = np.divide(1.0, sigma, out=np.zeros_like(sigma), where=sigma > 0)
        basis = (solution.feature_vectors * inverse).astype(np.float32)
        scaling = self._scaling(solution.feature_probability)
        if scale.is_self or self._may_be_exact(pairs, [scale]):
            width = self._panel_width(pairs)
            at_once = self._at_once(pairs, width)
            return project_panels(pairs, scale, scaling, basis, workers, width=width, at_once=at_once)
        return RowSampler(pairs, scale, scaling, self.walks, self.seed, workers).project(basis)

    def _factorise(
        self,
        matrix: PanelMatrix | SampledMatrix,
        scale: Scale,
        probability: NDArray[np.float64],
        workers: Workers,
    ) -> Solution:
        n, q = matrix.shape
        rank = min(scale.dimensions, n, q)
        with workers.bar(ITERATIONS + 1, f"scale {scale.label}: factorise", "pass") as bar:
            b, sigma, v = truncated_svd(
                matrix,
                rank,
                width=padded(rank + OVERSAMPLING),
                iterations=ITERATIONS,
                random=np.random.default_rng([self.seed, scale.hops[-1]]),
                tick=lambda: bar.update(1),
            )
        # A direction whose singular value is rounding noise carries no information, only that noise.
        root = np.sqrt(np.where(sigma > sigma[0] * 1e-6, sigma, 0.0)) if sigma[0] > 0 else np.zeros_like(sigma)
        inverse = np.divide(1.0, root, out=np.zeros_like(root), where=root > 0)
        b = matrix.every_row(b, v)
        missing = scale.dimensions - rank
        return Solution(
            scale,
            node_vectors=np.pad((b * inverse).astype(np.float32), ((0, 0), (0, missing))),
            feature_vectors=np.pad((v * root).astype(np.float32), ((0, 0), (0, missing))),
            feature_probability=probability,
            singular_values=np.pad(root**2, (0, missing)),
            rows=matrix.description,
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
        """1/(shift·p(f)); 0 for features that are never seen, which then carry no information.

        Less a margin: a feature that is met everywhere has a ratio of one, and what rounding leaves above
        that would otherwise be factorised as if it meant something.
        """
        seen = probability > 0
        inverse = np.divide(1.0 - MARGIN, probability * self.shift, out=np.zeros_like(probability), where=seen)
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
        *,
        forced: bool = False,
    ) -> list[PanelMatrix | None] | None:
        """Compressed exact matrices of the scales, or None where they would pass the memory limit."""
        forced = forced or (self.rows == "exact" and len(scales) == 1)
        if not (forced or self._may_be_exact(pairs, scales)):
            return None
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
