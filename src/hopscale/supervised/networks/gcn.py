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
    """Graph convolutional network: each layer averages over neighbours, multiplies by weights and cuts off at 0.

    .. math:: Z = \\hat A \\, \\max(0, \\hat A F W_0) \\, W_1, \\qquad
        \\hat A = \\tilde D^{-1/2} (A + I) \\tilde D^{-1/2}

    The probabilities of the classes are the softmax of Z. Defaults of all networks are those of the paper on
    multi-scale attributed node embedding. Needs the extra ``gnn``: ``pip install "hopscale[gnn]"``.

    Parameters
    ----------
    filters : int, default=32
        Width of the hidden layers.
    depth : int, default=2
        Number of layers, and of hops that a node sees.
    epochs : int, default=200
        Passes over the training nodes.
    learning_rate : float, default=0.01
        Step size of Adam.
    dropout : float, default=0.5
        Share of the inputs of each layer that are dropped in training, at random. Of features, only entries are
        dropped: they stay sparse.
    regularization : float, default=0.001
        Weight of the squares of all weights, added to the gradient (l2).
    inputs : {"features", "vectors", "both"}, default="features"
        What is known of each node: its features, vectors of the embedder, or both side by side.
    embedder : NodeEmbedding or array-like of shape (n, d), optional
        Whose vectors are read: a model such as ``MUSAE()``, which is fitted to the graph unless it is already, or
        vectors in the order of the nodes. Each dimension is standardised.
    normalize_features : bool, default=False
        Divide the features of each node by their sum. With few epochs and a regularization of 0.001 this is worse on
        most data sets.
    patience : int, optional
        Stop once the loss on validation nodes has not fallen for so many epochs, and go back to the best one. By
        default all epochs are run, and all training nodes are learnt from.
    validation_share : float, default=0.1
        Share of the training nodes that are held out for that; never of others.
    device : str, default="auto"
        ``"cpu"``, ``"cuda"``, or ``"cuda:1"``; ``"auto"`` is a GPU where PyTorch finds one.
    n_jobs : int, optional, default=-1
        Threads of the sparse products on a processor. The result does not depend on their number.
    random_state : int, Generator, RandomState or None, default=0
        Seed of the weights and of dropout. On the same kind of device, the same seed gives the same result. The global
        state of PyTorch is neither read nor changed.
    verbose : bool, default=False
        Show a progress bar, on the error stream and if that is a terminal.

    Attributes
    ----------
    classes_, node_ids_ : ndarray
    outputs_ : ndarray of shape (n, n_classes)
        Probabilities of the classes, for all nodes of the graph.
    weights_ : dict of ndarray
        Weights of the layers.
    n_epochs_ : int
        Epochs that the weights were trained for.

    See Also
    --------
    SGC : without hidden layers, in a fraction of the time.
    ClusterGCN : for graphs that are too large to be trained on at once.

    Notes
    -----
    Time O((nnz(F) + m + n·depth·k)·k) an epoch with k filters. In a graph without features each node is a feature of
    its own. Features of another graph are matched by name.

    References
    ----------
    T. N. Kipf and M. Welling, "Semi-supervised classification with graph convolutional networks", ICLR 2017.

    Examples
    --------
    >>> from hopscale import GCN, datasets
    >>> graph = datasets.planted_blocks(n_nodes=200)
    >>> model = GCN(epochs=20).fit(graph, train=range(0, 200, 2))
    >>> model.score(graph) > 0.9
    True
    """

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
