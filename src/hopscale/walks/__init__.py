"""Random walks on a graph, and the statistics of what they meet."""

from hopscale.walks.context import Scale, WalkContext, split_dimensions
from hopscale.walks.size import WalkSize
from hopscale.walks.transitions import Start, Transitions

__all__ = ["Scale", "Start", "Transitions", "WalkContext", "WalkSize", "split_dimensions"]
