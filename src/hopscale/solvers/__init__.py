"""From node-feature statistics to vectors: two solvers for one target."""

from hopscale.solvers.pmi import PMISolver
from hopscale.solvers.result import Solution
from hopscale.solvers.sgns import SGNSSolver

__all__ = ["PMISolver", "SGNSSolver", "Solution"]
