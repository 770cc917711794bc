"""GraphSAGE: means over samples of the neighbours."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING

import scipy.sparse as sp

from hopscale.checks import parameter, whole
from hopscale.supervised.networks.base import Network
from hopscale.supervised.networks.propagation import Matrices

if TYPE_CHECKING:
    from torch import Tensor

    from hopscale.supervised.networks.layers.passes import Pass

__all__ = ["GraphSAGE"]


@dataclass(eq=False, repr=False)
class GraphSAGE(Network):
    """Means over a node and a sample of its neighbours, drawn anew in each epoch.

    .. math:: h_i' = W \\operatorname{mean}(\\{h_i\\} \\cup \\{h_j : j \\in \\text{sample of the neighbours of } i\\})

    the convolutional aggregator. Predictions are made with all neighbours.

    Parameters
    ----------
    filters, depth
        As in :class:`GCN`.
    samples : int, default=40
        Neighbours of each node that a layer sees in training, drawn without replacement; all if there are fewer.
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
    Means are weighted by the weights of edges; a node itself has weight 1.

    References
    ----------
    W. L. Hamilton, R. Ying and J. Leskovec, "Inductive representation learning on large graphs", NeurIPS 2017.

    Examples
    --------
    >>> from hopscale import GraphSAGE, datasets
    >>> graph = datasets.planted_blocks(n_nodes=200)
    >>> GraphSAGE(epochs=20).fit(graph, train=range(0, 200, 2)).score(graph) > 0.9
    True
    """

    _: KW_ONLY
    filters: int = parameter(32, whole, least=1)
    depth: int = parameter(2, whole, least=1)
    samples: int = parameter(40, whole, least=1)

    def _matrices(self, adjacency: sp.csr_array) -> Matrices:
        return {"neighbors": adjacency}

    def _scores(self, net: Pass) -> Tensor:
        widths = [self.filters] * (self.depth - 1) + [net.outputs]
        hidden = net.biased(self._mean(net, net.first(widths[0])))
        for width in widths[1:]:
            hidden = net.biased(self._mean(net, net.linear(net.dropout(hidden.relu()), width)))
        return hidden

    def _mean(self, net: Pass, hidden: Tensor) -> Tensor:
        """Mean of a node and its neighbours: in training of a sample of them, else of all."""
        neighbors = net.matrices["neighbors"]
        weights = neighbors.values if net.random is None else neighbors.sampled(self.samples, net.random)
        total = 1 + neighbors.times(hidden.new_ones(len(hidden), 1), weights)
        return (hidden + neighbors.times(hidden, weights)) / total
