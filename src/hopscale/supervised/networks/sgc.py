"""SGC: a linear classifier of features that were averaged over neighbours."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING

from hopscale.checks import parameter, whole
from hopscale.supervised.networks.base import Network

if TYPE_CHECKING:
    from torch import Tensor

    from hopscale.supervised.networks.layers.passes import Pass

__all__ = ["SGC"]


@dataclass(eq=False, repr=False)
class SGC(Network):
    """Simplified graph convolution: logistic regression on features averaged over neighbours.

    .. math:: Z = \\hat A^K F W

    Parameters
    ----------
    power : int, default=2
        Number of times that features are averaged, K.
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
    The averaged features are never formed, which would be dense: the weights are multiplied first. Time
    O((nnz(F) + m·K)·c) an epoch with c classes.

    References
    ----------
    F. Wu, T. Zhang, A. H. de Souza Jr., C. Fifty, T. Yu and K. Q. Weinberger, "Simplifying graph convolutional
    networks", ICML 2019.

    Examples
    --------
    >>> from hopscale import SGC, datasets
    >>> graph = datasets.planted_blocks(n_nodes=200)
    >>> SGC(epochs=20).fit(graph, train=range(0, 200, 2)).score(graph) > 0.9
    True
    """

    _: KW_ONLY
    power: int = parameter(2, whole, least=0)

    def _scores(self, net: Pass) -> Tensor:
        # The order of the products makes no difference: weights first, and features stay sparse.
        scores = net.first(net.outputs)
        for _ in range(self.power):
            scores = net.matrices["step"] @ scores
        return net.biased(scores)
