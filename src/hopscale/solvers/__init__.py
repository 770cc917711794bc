"""From the statistics of walks to vectors: two solvers for one target."""

from hopscale.solvers.base import Solution, Solver
from hopscale.solvers.pmi import PMI
from hopscale.solvers.sgns import SGNS

__all__ = ["PMI", "SGNS", "Solution", "Solver"]
