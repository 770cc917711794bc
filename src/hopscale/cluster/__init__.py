"""Models fitted to graphs in folders, in blocks: by workers of a cluster, or by threads of one machine."""

from hopscale.cluster.fit import fit_stored

__all__ = ["fit_stored"]
