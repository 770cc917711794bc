"""GraphSAGE: means over samples of the neighbours."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING

import scipy.sparse as sp

from hopscale.checks import parameter, whole
from hopscale.supervised.networks.base import Matrices, Network
from hopscale.supervised.networks.propagation import mean, with_self_loops

if TYPE_CHECKING:
    from torch import Tensor

    from hopscale.supervised.networks.passes import Pass

__all__ = ["GraphSAGE"]


@dataclass(eq=False, repr=False)
class GraphSAGE(Network):
    """GraphSAGE."""

    _: KW_ONLY
    filters: int = parameter(32, whole, least=1)
    depth: int = parameter(2, whole, least=1)
    samples: int = parameter(40, whole, least=1)
