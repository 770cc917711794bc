"""Models with a choice between the two solvers: what they can be asked for."""

from __future__ import annotations

from typing import Any, Literal, get_args

from hopscale.exceptions import ParameterError
from hopscale.models.parameters import choice, memory_bytes, number, whole
from hopscale.models.scales import ScaleEmbedding
from hopscale.solvers import PMISolver, SGNSSolver
from hopscale.solvers.pmi import Rows
from hopscale.solvers.sgns import MAX_NEGATIVES
from hopscale.walks import Start

__all__ = ["SolverName", "WalkEmbedding"]

SolverName = Literal["pmi", "sgns"]

MAX_WALKS = 2**31 - 1  # a kernel's count of walks from a node


class WalkEmbedding(ScaleEmbedding):
    """Walks of the paper's settings, factorised or sampled.

    Subclasses document the parameters; see :class:`hopscale.MUSAE`.
    """

    def __init__(
        self,
        dimensions: int = 128,
        *,
        window: int = 3,
        solver: SolverName = "pmi",
        shift: float = 1.0,
        rows: Rows = "auto",
        memory_limit: int | str = "4GiB",
        walk_length: int = 80,
        walks_per_node: int = 10,
        start: Start = "degree",
        epochs: int = 5,
        negatives: int = 5,
        share_negatives: bool = True,
        noise_exponent: float = 1.0,
        subsample: float = 0.0,
        learning_rate: float = 0.05,
        min_learning_rate: float = 0.025,
        n_jobs: int | None = -1,
        random_state: Any = 0,
        verbose: bool = False,
    ) -> None:
        self.dimensions = dimensions
        self.window = window
        self.solver = solver
        self.shift = shift
        self.rows = rows
        self.memory_limit = memory_limit
        self.walk_length = walk_length
        self.walks_per_node = walks_per_node
        self.start = start
        self.epochs = epochs
        self.negatives = negatives
        self.share_negatives = share_negatives
        self.noise_exponent = noise_exponent
        self.subsample = subsample
        self.learning_rate = learning_rate
        self.min_learning_rate = min_learning_rate
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _checked_solver(self, seed: int) -> PMISolver | SGNSSolver:
        choice("solver", self.solver, get_args(SolverName))
        walk_length = whole("walk_length", self.walk_length, least=1)
        walks_per_node = whole("walks_per_node", self.walks_per_node, least=1)
        walks = whole("walk_length * walks_per_node", walk_length * walks_per_node, least=1, most=MAX_WALKS)
        direct = PMISolver(
            shift=number("shift", self.shift, least=0, above=True),
            noise_exponent=number("noise_exponent", self.noise_exponent, least=0),
            memory_limit=memory_bytes(self.memory_limit),
            rows=choice("rows", self.rows, get_args(Rows)),
            walks=walks,
            seed=seed,
        )
        trained = SGNSSolver(
            walk_length=walk_length,
            walks_per_node=walks_per_node,
            window=int(self.window),
            epochs=whole("epochs", self.epochs, least=1),
            negatives=whole("negatives", self.negatives, least=1, most=MAX_NEGATIVES),
            learning_rate=number("learning_rate", self.learning_rate, least=0, above=True),
            min_learning_rate=number("min_learning_rate", self.min_learning_rate, least=0),
            start=choice("start", self.start, get_args(Start)),
            noise_exponent=number("noise_exponent", self.noise_exponent, least=0),
            subsample=number("subsample", self.subsample, least=0),
            share_negatives=bool(self.share_negatives),
            seed=seed,
        )
        if self.solver == "pmi":
            return direct
        if walk_length <= self.window:
            raise ParameterError(f"walk_length={walk_length} must be larger than window={self.window}")
        return trained
