"""GAT: convolutions whose weights are learnt for each edge."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING

import scipy.sparse as sp

from hopscale.checks import number, parameter, whole
from hopscale.supervised.networks.base import Network
from hopscale.supervised.networks.propagation import Matrices, with_self_loops

if TYPE_CHECKING:
    from torch import Tensor

    from hopscale.supervised.networks.layers.passes import Pass

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
        from torch.nn.functional import elu

        widths = [self.filters] * (self.depth - 1) + [net.outputs]
        heads = [self._attended(net, net.first(widths[0])) for _ in range(self.heads)]
        for width in widths[1:]:
            hidden = net.dropout(elu(net.biased(net.side_by_side(heads))))
            heads = [self._attended(net, net.linear(hidden, width)) for _ in range(self.heads)]
        return net.biased(sum(heads[1:], heads[0]) / len(heads))

    def _attended(self, net: Pass, hidden: Tensor) -> Tensor:
        """Means over neighbours, weighted by attention."""
        from torch.nn.functional import leaky_relu

        edges = net.matrices["edges"]
        of_node, of_neighbor = net.linear(hidden, 1)[:, 0], net.linear(hidden, 1)[:, 0]
        attention = leaky_relu(edges.entry_sums(of_node, of_neighbor), self.slope)
        attention = edges.values * (attention - edges.row_maxima(attention)).exp()
        total = edges.times(hidden.new_ones(len(hidden), 1), attention)
        return edges.times(hidden, net.dropout(attention)) / total
