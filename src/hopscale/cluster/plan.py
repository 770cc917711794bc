"""What all tasks of a fit share: the model as numbers and words, kept as JSON in the work folder."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from hopscale.atomic import replacing
from hopscale.checks import memory_bytes
from hopscale.compute.chunks import ranges
from hopscale.models.exact_row import ContextKind
from hopscale.solvers import PMI, SGNS, Solver
from hopscale.walks import Scale, Start

__all__ = ["PAIRS", "Plan", "part_size"]

FEWEST, MOST = 2**12, 2**16  # nodes of a part
PARTS = 64  # where that makes parts of a size between these
PAIRS = 2.5e7  # that a task of training trains, about: half a second, much longer than it takes to hand out
COPY = 12.0  # pairs that are trained in twice the time in which a row of a shard's copy is written, read and added
MAPS = 2**30  # bytes of files that a worker keeps in memory where no limit says less
_FILE = "plan.json"
_SOLVERS = {"pmi": PMI, "sgns": SGNS}


def part_size(n_nodes: int) -> int:
    """Nodes of a part of so many.

    >>> part_size(10**6)
    15625
    """
    return min(MOST, max(FEWEST, -(-n_nodes // PARTS)))


@dataclass(frozen=True)
class Plan:
    """A model that is fitted to a stored graph, as tasks need it."""

    graph: str  # the folder of the stored graph
    n_nodes: int
    solver: Solver
    scales: list[Scale]
    seed: int
    context: ContextKind
    start: Start
    bias: tuple[float, float]
    columns: list[str]  # names of the dimensions
    pairs_per_task: float  # that a task of training is to train, if there are as many
    pairs_per_copy: float  # that make it worth while to keep a row of a shard's copy of the features for another task

    @property
    def parts(self) -> list[tuple[int, int]]:
        """Consecutive nodes whose vectors are computed together and become a file: whoever does it."""
        return ranges(self.n_nodes, part_size(self.n_nodes))

    @property
    def memory(self) -> int:
        """Bytes of mapped files that a process may keep in memory, whatever else it has."""
        limit = getattr(self.solver, "memory_limit", None)
        return MAPS if limit is None else min(MAPS, memory_bytes("memory_limit", limit) // 2)

    def facts(self) -> dict[str, Any]:
        """Everything, as JSON holds it."""
        solver = {"name": self.solver.name, **self.solver.get_params(deep=False)}
        return {**vars(self), "solver": solver, "scales": [asdict(scale) for scale in self.scales]}

    def save(self, folder: Path) -> None:
        """Write the plan to a work folder."""
        with replacing(folder / _FILE) as temporary:
            temporary.write_text(json.dumps(self.facts()))

    @classmethod
    def load(cls, folder: Path) -> Plan:
        """The plan of a work folder."""
        facts = json.loads((folder / _FILE).read_text())
        settings = facts["solver"]
        solver = _SOLVERS[settings.pop("name")](**settings)
        scales = [Scale(tuple(each["hops"]), each["dimensions"]) for each in facts["scales"]]
        return cls(**{**facts, "solver": solver, "scales": scales, "bias": tuple(facts["bias"])})
