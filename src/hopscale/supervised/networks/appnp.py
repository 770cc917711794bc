"""APPNP: a network of the features alone, whose predictions are spread over the graph."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING

from hopscale.checks import number, parameter, whole
from hopscale.supervised.networks.base import Network

if TYPE_CHECKING:
    from torch import Tensor

    from hopscale.supervised.networks.layers.passes import Pass

__all__ = ["APPNP"]


@dataclass(eq=False, repr=False)
class APPNP(Network):
    """APPNP."""

    _: KW_ONLY
    filters: int = parameter(32, whole, least=1)
    depth: int = parameter(2, whole, least=1)
    teleport: float = parameter(0.2, number, least=0, above=True, most=1)
    steps: int = parameter(20, whole, least=0)

    def _scores(self, net: Pass) -> Tensor:
        step = net.matrices["step"]
        widths = [self.filters] * (self.depth - 1) + [net.outputs]
        hidden = net.biased(net.first(widths[0]))
        for width in widths[1:]:
            hidden = net.biased(net.linear(net.dropout(hidden.relu()), width))
        spread = hidden
        for _ in range(self.steps):
            spread = (1.0 - self.teleport) * (step @ spread) + self.teleport * hidden
        return spread
