"""MixHop: a layer that keeps powers of the adjacency matrix apart."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING

from hopscale.checks import parameter, whole
from hopscale.supervised.networks.base import Network

if TYPE_CHECKING:
    from torch import Tensor

    from hopscale.supervised.networks.layers.passes import Pass

__all__ = ["MixHop"]


@dataclass(eq=False, repr=False)
class MixHop(Network):
    """MixHop."""

    _: KW_ONLY
    filters: int = parameter(32, whole, least=1)
    powers: int = parameter(2, whole, least=0)

    def _scores(self, net: Pass) -> Tensor:
        step, width = net.matrices["step"], self.filters
        blocks, rest = [], net.first(width * (self.powers + 1))
        for _ in range(self.powers):  # each step is for all blocks that need it
            blocks.append(rest[:, :width])
            rest = step @ rest[:, width:]
        hidden = net.biased(net.side_by_side([*blocks, rest])).relu()
        return net.biased(net.linear(net.dropout(hidden), net.outputs))
