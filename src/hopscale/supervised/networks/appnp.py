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
    """A network of the features alone, whose predictions are spread by personalised PageRank.

    .. math:: Z_0 = \\max(0, F W_0) W_1, \\qquad Z_{t+1} = (1 - \\alpha) \\hat A Z_t + \\alpha Z_0

    The spreading is part of the network: it is trained with it.

    Parameters
    ----------
    filters : int, default=32
    depth : int, default=2
        Width of the hidden layers, and number of layers before the spreading.
    teleport : float, default=0.2
        Share of its own prediction that a node keeps in each step, α.
    steps : int, default=20
        Number of steps.
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
    Time O((nnz(F) + m·steps)·k) an epoch.

    References
    ----------
    J. Klicpera, A. Bojchevski and S. Günnemann, "Predict then propagate: graph neural networks meet personalized
    PageRank", ICLR 2019.

    Examples
    --------
    >>> from hopscale import APPNP, datasets
    >>> graph = datasets.planted_blocks(n_nodes=200)
    >>> APPNP(epochs=20).fit(graph, train=range(0, 200, 2)).score(graph) > 0.9
    True
    """

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
