"""From node-feature statistics to vectors: two solvers for one target."""

from hopscale.solvers.pmi import PMISolver
from hopscale.solvers.result import Solution

