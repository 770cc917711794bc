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
    """Graph attention network: means over neighbours whose weights are learnt.

    .. math:: h_i' = \\sum_j a_{ij} W h_j, \\qquad
        a_{ij} \\propto w_{ij} \\exp(\\operatorname{leaky}(u^T W h_i + v^T W h_j))

    over the neighbours j of i and i itself, where the a of a node add up to 1 and w is the weight of the edge. Between
    layers is an exponential linear unit.

    Parameters
    ----------
    filters, depth
        As in :class:`GCN`.
    slope : float, default=0.2
        Slope of the leaky ReLU below 0.
    heads : int, default=1
        Number of attentions: side by side in hidden layers, their mean in the last.
    epochs, learning_rate, dropout, regularization, inputs, embedder, normalize_features, patience, validation_share
        As in :class:`GCN`.
    device, n_jobs, random_state, verbose
        As in :class:`GCN`.

    Attributes
    ----------
    classes_, node_ids_, outputs_, weights_, n_epochs_
        As in :class:`GCN`.

    Notes
    -----
    Dropout is for the weights of neighbours, too. Time O((nnz(F) + m)·k) an epoch, several times that of GCN.

    References
    ----------
    P. Veličković, G. Cucurull, A. Casanova, A. Romero, P. Liò and Y. Bengio, "Graph attention networks", ICLR 2018.

    Examples
    --------
    >>> from hopscale import GAT, datasets
    >>> graph = datasets.planted_blocks(n_nodes=200)
    >>> GAT(epochs=20).fit(graph, train=range(0, 200, 2)).score(graph) > 0.9
    True
    """

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
