"""GCN: graph convolutions."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING

from hopscale.checks import parameter, whole
from hopscale.supervised.networks.base import Network

if TYPE_CHECKING:
    from torch import Tensor

    from hopscale.supervised.networks.layers.passes import Pass

__all__ = ["GCN"]


@dataclass(eq=False, repr=False)
class GCN(Network):
    """GCN."""

    _: KW_ONLY
    filters: int = parameter(32, whole, least=1)
    depth: int = parameter(2, whole, least=1)

    def _scores(self, net: Pass) -> Tensor:
        step = net.matrices["step"]
        widths = [self.filters] * (self.depth - 1) + [net.outputs]
        hidden = net.biased(step @ net.first(widths[0]))
        for width in widths[1:]:
            hidden = net.biased(step @ net.linear(net.dropout(hidden.relu()), width))
        return hidden
