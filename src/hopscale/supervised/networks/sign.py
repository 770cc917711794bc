"""SIGN: several averages over neighbours side by side, and one hidden layer."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING

import scipy.sparse as sp

from hopscale.checks import number, parameter, whole
from hopscale.supervised.networks.base import Network
from hopscale.supervised.networks.propagation import Matrices, normalized, triangles, with_self_loops

if TYPE_CHECKING:
    from torch import Tensor

    from hopscale.supervised.networks.layers.passes import Pass

__all__ = ["SIGN"]

_STEPS = 20  # of the sum that stands for personalised PageRank


@dataclass(eq=False, repr=False)
class SIGN(Network):
    """Scalable inception: several averages of the features side by side, and one hidden layer.

    .. math:: Z = \\max(0, [F W_0, \\hat A F W_1, \\ldots, \\hat A^p F W_p, \\hat T F W_{p+1}]) \\, W

    where T weights each edge by the number of its triangles.

    Parameters
    ----------
    filters : int, default=32
        Width of each block.
    powers : int, default=2
        Highest power of the normalised adjacency matrix, p.
    diffusions : int, default=0
        Highest power of personalised PageRank; none by default.
    triangles : int, default=1
        Highest power of the matrix of triangles.
    teleport : float, default=0.2
        Of personalised PageRank.
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
    Without triangles and diffusions this is :class:`MixHop` with one layer. Counting triangles takes O(m^1.5) at most.

    References
    ----------
    F. Frasca, E. Rossi, D. Eynard, B. Chamberlain, M. Bronstein and F. Monti, "SIGN: scalable inception graph neural
    networks", arXiv:2004.11198, 2020.

    Examples
    --------
    >>> from hopscale import SIGN, datasets
    >>> graph = datasets.planted_blocks(n_nodes=200)
    >>> SIGN(epochs=20).fit(graph, train=range(0, 200, 2)).score(graph) > 0.9
    True
    """

    _: KW_ONLY
    filters: int = parameter(32, whole, least=1)
    powers: int = parameter(2, whole, least=0)
    diffusions: int = parameter(0, whole, least=0)
    triangles: int = parameter(1, whole, least=0)
    teleport: float = parameter(0.2, number, least=0, above=True, most=1)

    def _matrices(self, adjacency: sp.csr_array) -> Matrices:
        found = {"step": normalized(with_self_loops(adjacency))}
        if self.triangles:
            found["triangles"] = normalized(with_self_loops(triangles(adjacency)))
        return found

    def _scores(self, net: Pass) -> Tensor:
        kinds = [("powers", count + 1) for count in range(-1, self.powers)]
        kinds += [(kind, count + 1) for kind in ("diffusions", "triangles") for count in range(getattr(self, kind))]
        first, blocks = net.first(self.filters * len(kinds)), []
        for i, (kind, times) in enumerate(kinds):
            block = first[:, i * self.filters : (i + 1) * self.filters]
            for _ in range(times):
                block = self._averaged(net, kind, block)
            blocks.append(block)
        hidden = net.biased(net.side_by_side(blocks)).relu()
        return net.biased(net.linear(net.dropout(hidden), net.outputs))

    def _averaged(self, net: Pass, kind: str, x: Tensor) -> Tensor:
        if kind != "diffusions":
            return net.matrices["triangles" if kind == "triangles" else "step"] @ x
        spread = x
        for _ in range(_STEPS):
            spread = (1.0 - self.teleport) * (net.matrices["step"] @ spread) + self.teleport * x
        return spread
