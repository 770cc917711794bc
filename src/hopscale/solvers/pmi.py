"""The direct solver: the paper's theorems taken literally.

M = log(max(c·PʳF·E⁻¹ / shift, 1)), or a power of its entries, is computed in panels of columns, kept compressed while
it fits the memory limit, and factorised: G = U√Σ, H = V√Σ. New nodes: G' = M'·V·Σ^(-1/2) = M'·H·Σ⁻¹. Where M would not
fit, V is learnt from some rows that are estimated from sampled walks; then every row is projected in one pass, an exact
one where that takes no more than a few times as long as a sampled one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hopscale.checks import choice, memory, number, parameter, whole
from hopscale.compute import Operator, Threads
from hopscale.compute.aligned import Floats
from hopscale.exceptions import ParameterError
from hopscale.solvers.base import MOST_NOISE, Solution, Solver
from hopscale.solvers.device_targets import DeviceTargets
from hopscale.solvers.targets import Targets, units_near
from hopscale.walks import Scale, WalkContext
from hopscale.walks.context import raised, too_far_apart

__all__ = ["PMI"]

RowChoice = Literal["auto", "exact", "sampled"]

MARGIN = 1e-5  # by which a ratio must pass one; float32 sums over long lists of neighbours err by less
MAX_WALKS = 2**31 - 1  # a kernel's count of walks from a node
LEAST_POWER = 0.1  # below, entries are all but equal, and a product of vectors raised back has no digit left
LEAST_SHIFT, MOST_SHIFT = 1e-6, 1e6  # beyond, every ratio is a positive entry, or none
FURTHEST = 2.0**100  # that noise may be from p(f), so that every ratio above one is a normal number of float32


@dataclass(kw_only=True, eq=False, repr=False)
class PMI(Solver):
    """The direct solver: factorises the positive part of the shifted PMI matrix, or a power of its entries.

    Parameters
    ----------
    shift : float, default=1.0
        Divide ratios by it before the logarithm. b gives the target of :class:`SGNS`; 1 works better.
    noise_exponent : float, default=1.0
        Replace p(f) by this power of it, scaled to the same sum: the target of :class:`SGNS` with such noise.
    power : float, default=1.0
        Raise the positive entries to this power, at most 1, at all scales but 0, where no walk is taken: ``0.5``
        factorises their square roots. Few large entries then count for less, beside many small ones. Scores that are
        pointwise mutual information, such as those of ``explain``, are raised back. docs/choosing-vectors.md says what
        it gains and loses.
    rows : {"auto", "exact", "sampled"}, default="auto"
        Compute the matrix exactly, or estimate its rows from sampled walks. Exact rows that do not fit are computed in
        half precision and dropped, after the features' vectors have been learnt from sampled ones. ``"auto"`` samples
        where exact rows would take several times as long; the model's ``rows_`` says which they were.
    walks : int, default=800
        Ways to walk from a node that sampled rows are estimated from. Where there are no more, the row is exact.
    memory_limit : int or str, default="4GiB"
        Memory that the work may take, such as 500MB: all that is held at a time beside the graph that is passed in and
        the vectors that are returned, and beside some 4 MiB for code that is loaded on the way. Rows that would pass
        it are not held; what cannot be done within it, ``rows="exact"`` included, is refused with the least that works.
        Work that takes less than 8 MiB is never refused. On a GPU its own memory is the limit, and this is not read.

    Examples
    --------
    >>> from hopscale import MUSAE, PMI, datasets
    >>> model = MUSAE(dimensions=8, solver=PMI(rows="exact")).fit(datasets.figure1())
    >>> model.rows_["1"]
    'exact rows, 24 positive entries'
    """

    name = "pmi"
    settings_before = {"power": 1.0}  # noqa: RUF012

    shift: float = parameter(1.0, number, least=LEAST_SHIFT, most=MOST_SHIFT)
    noise_exponent: float = parameter(1.0, number, least=0, most=MOST_NOISE)
    power: float = parameter(1.0, number, least=LEAST_POWER, most=1)
    rows: RowChoice = parameter("auto", choice, options=get_args(RowChoice))
    walks: int = parameter(800, whole, least=1, most=MAX_WALKS)
    memory_limit: int | str = parameter("4GiB", memory)

    def fit(self, context: WalkContext, scales: Sequence[Scale], engine: Any, seed: int) -> Iterator[Solution]:
        """Solutions of all scales, one after the other."""
        probabilities = context.feature_probabilities(scales)
        return self._targets(context, engine, seed, probabilities).solutions(scales, probabilities)

    def project(self, context: WalkContext, solutions: Sequence[Solution], engine: Any, seed: int) -> Iterator[Floats]:
        """Vectors of the nodes of another graph over the same features: M'·H·Σ⁻¹.

        Rows are sampled if those of ``fit`` were, so that the graph of ``fit`` gives its vectors again.
        """
        probabilities = [solution.feature_probability for solution in solutions]
        return self._targets(context, engine, seed, probabilities).projections(solutions)

    def target(self, context: WalkContext, scale: Scale, engine: Any, seed: int, *, beside: float) -> Operator:
        """All rows of the matrix that ``fit`` factorises, to be a part of another one.

        What the caller needs ``beside`` it, in bytes, counts as well.

        Raises
        ------
        ParameterError
            If they would take more memory than the limit, even those from samples.
        """
        probability = context.feature_probability(scale)
        return self._targets(context, engine, seed, [probability]).all_rows(scale, probability, beside)

    def _targets(
        self, context: WalkContext, engine: Any, seed: int, probabilities: Sequence[NDArray[np.float64]]
    ) -> Targets | DeviceTargets:
        """The matrices, in the form that suits the engine."""
        kind = Targets if isinstance(engine, Threads) else DeviceTargets
        return kind(self, context, engine, seed, probabilities)

    def power_at(self, scale: Scale) -> float:
        """The power of the entries of a scale."""
        return 1.0 if scale.is_self else self.power

    def one_hop(self, context: WalkContext, scaling: NDArray[np.float32]) -> sp.csr_array:
        """The matrix of one hop between nodes."""
        matrix = context.neighbor_rows(scaling)
        raised(matrix.data, self.power)
        return matrix

    def neighbors(self, context: WalkContext, engine: Any) -> Operator:
        """The matrix of one hop between nodes, which has no more entries than A."""
        probability = context.feature_probability(Scale((1,), 1))
        units = units_near([probability])
        return engine.sparse(self.one_hop(context.in_units(units), self.scaling_in(units, probability)))

    def scaling(self, probability: NDArray[np.float64]) -> NDArray[np.float64]:
        """1/(shift·q(f)), q the noise; 0 for features that are never seen, which then carry no information.

        Less a margin: a feature that is met everywhere has a ratio of one, and what rounding leaves above that would
        otherwise be factorised as if it meant something.
        """
        seen = probability > 0
        largest = np.frexp(probability.max(initial=0.0))[1]
        share = np.ldexp(np.where(seen, probability, 0.0), -largest)
        noise = np.where(seen, share**self.noise_exponent, 0.0)
        noise *= share.sum() / max(noise.sum(), 1e-300)
        expected = np.ldexp(noise, largest) * self.shift
        with np.errstate(divide="ignore"):  # refused below
            return np.divide(1.0 - MARGIN, expected, out=np.zeros_like(probability), where=seen)

    def scaling_in(self, units: NDArray[np.int32], probability: NDArray[np.float64]) -> NDArray[np.float32]:
        """The scaling of features in units 2^units[f], where single precision can hold it."""
        scaling = np.ldexp(self.scaling(probability), units)
        used = scaling[scaling != 0]
        if not ((used > 1 / FURTHEST) & (used < FURTHEST)).all():
            if self.noise_exponent == 1:
                raise too_far_apart()
            raise ParameterError(
                "makes features so rare or so common that float32 cannot hold it: take one nearer to 1",
                parameter="noise_exponent",
                value=self.noise_exponent,
            )
        return scaling.astype(np.float32)
