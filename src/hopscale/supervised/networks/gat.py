"""GAT: convolutions whose weights are learnt for each edge."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING

import scipy.sparse as sp

from hopscale.checks import number, parameter, whole
from hopscale.supervised.networks.base import Matrices, Network
from hopscale.supervised.networks.propagation import with_self_loops

if TYPE_CHECKING:
    from torch import Tensor

    from hopscale.supervised.networks.passes import Pass

__all__ = ["GAT"]


@dataclass(eq=False, repr=False)
class GAT(Network):
    """GAT."""

    _: KW_ONLY
    filters: int = parameter(32, whole, least=1)
    depth: int = parameter(2, whole, least=1)
    slope: float = parameter(0.2, number, least=0)
    heads: int = parameter(1, whole, least=1)

    def _matrices(self, adjacency: sp.csr_array) -> Matrices:
        return {"edges": with_self_loops(adjacency)}

    def _scores(self, net: Pass) -> Tensor:
        widths = [self.filters] * (self.depth - 1) + [net.outputs]
        hidden = self._attended(net, net.first(widths[0]))
        for width in widths[1:]:
            hidden = self._attended(net, net.linear(net.dropout(elu(hidden)), width))
        return hidden
