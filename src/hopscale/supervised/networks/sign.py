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
    """SIGN."""

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
