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
    """SGC."""

    _: KW_ONLY
    power: int = parameter(2, whole, least=0)

    def _scores(self, net: Pass) -> Tensor:
        # The order of the products makes no difference: weights first, and features stay sparse.
        scores = net.first(net.outputs)
        for _ in range(self.power):
            scores = net.matrices["step"] @ scores
        return net.biased(scores)
