"""ClusterGCN: graph convolutions that are trained on one cluster of the graph after the other."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING

import numpy as np

from hopscale.checks import parameter
from hopscale.supervised.networks.base import Indices, optional_whole
from hopscale.supervised.networks.gcn import GCN
from hopscale.supervised.networks.inputs import NodeInputs
from hopscale.supervised.networks.propagation import clusters

if TYPE_CHECKING:
    from hopscale.supervised.networks.layers.passes import Batch
    from hopscale.supervised.networks.layers.place import Place

__all__ = ["ClusterGCN"]


@dataclass(eq=False, repr=False)
class ClusterGCN(GCN):
    """GCN that is trained on one cluster of the graph after the other.

    Clusters are found by METIS: parts of about the same size with few edges between them, which training does not see.
    Each is a step of the optimizer. Predictions are made on the whole graph.

    Parameters
    ----------
    filters, depth
        As in :class:`GCN`.
    clusters : int, optional
        Number of clusters; by default as many as classes. With one, this is :class:`GCN`.
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
    Memory for hidden layers and gradients is that of a cluster. An epoch has as many steps as clusters.

    References
    ----------
    W.-L. Chiang, X. Liu, S. Si, Y. Li, S. Bengio and C.-J. Hsieh, "Cluster-GCN: an efficient algorithm for training
    deep and large graph convolutional networks", KDD 2019.

    Examples
    --------
    >>> from hopscale import ClusterGCN, datasets
    >>> graph = datasets.planted_blocks(n_nodes=200)
    >>> ClusterGCN(epochs=20).fit(graph, train=range(0, 200, 2)).score(graph) > 0.9
    True
    """

    _: KW_ONLY
    clusters: int | None = parameter(None, optional_whole, least=1)

    def _batches(
        self, inputs: NodeInputs, everything: Batch, rows: Indices, targets: Indices, seed: int, place: Place
    ) -> list[Batch]:
        membership = clusters(inputs.adjacency, self.clusters or len(self.classes_), seed)
        position = np.full(len(membership), -1)
        position[rows] = np.arange(len(rows))
        batches = []
        for cluster in range(membership.max() + 1):
            nodes = np.flatnonzero(membership == cluster)
            known = np.flatnonzero(position[nodes] >= 0)
            if len(known):
                part = inputs.part(nodes)
                batch = place.batch(part, self._matrices(part.adjacency))
                batches.append(batch.labelled(known, targets[position[nodes[known]]]))
        return batches
