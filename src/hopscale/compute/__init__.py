"""How work is run and where tall arrays live: knows matrices, and nothing of graphs."""

from hopscale.compute.engine import Engine
from hopscale.compute.operators import Operator
from hopscale.compute.threads import Threads

__all__ = ["Engine", "Operator", "Threads"]
