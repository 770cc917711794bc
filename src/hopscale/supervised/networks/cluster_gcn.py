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

__all__ = ["ClusterGCN"]


@dataclass(eq=False, repr=False)
class ClusterGCN(GCN):
    """ClusterGCN."""

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
