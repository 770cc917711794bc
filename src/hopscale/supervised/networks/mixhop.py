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
    """A hidden layer with a block for each power of the adjacency matrix, and a linear classifier.

    .. math:: Z = \\max(0, [F W_0, \\hat A F W_1, \\hat A^2 F W_2]) \\, W

    What is near and what is far have weights of their own.

    Parameters
    ----------
    filters : int, default=32
        Width of each block.
    powers : int, default=2
        Highest power.
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
    As in the paper on multi-scale attributed node embedding there is one such layer; the original stacks several.

    References
    ----------
    S. Abu-El-Haija et al., "MixHop: higher-order graph convolutional architectures via sparsified neighborhood
    mixing", ICML 2019.

    Examples
    --------
    >>> from hopscale import MixHop, datasets
    >>> graph = datasets.planted_blocks(n_nodes=200)
    >>> MixHop(epochs=20).fit(graph, train=range(0, 200, 2)).score(graph) > 0.9
    True
    """

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
