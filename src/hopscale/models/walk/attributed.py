"""What AE and MUSAE share: a context of features, and two switches."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass

from hopscale.checks import parameter, switch
from hopscale.models.walk.base import ContextKind, WalkEmbedding

__all__ = ["AttributedWalk"]


@dataclass(eq=False, repr=False)
class AttributedWalk(WalkEmbedding, abstract=True):
    """A model whose walks see features, and with ``ego`` the nodes themselves, too."""

    kind = "walks and features"
    time = "O(t m q + nnz d), sgns O(pairs d)"
    memory = "O(nnz + (n + q) d)"

    _: KW_ONLY
    self_scale: bool = parameter(True, switch)
    ego: bool = parameter(False, switch)

    @property
    def context(self) -> ContextKind:  # type: ignore[override]
        """What a walk sees at a node."""
        return "features+nodes" if self.ego else "features"

    def hop_groups(self) -> list[tuple[int, ...]]:
        """Scale 0, the node's own features, if it is wanted, and those of the walk."""
        return ([(0,)] if self.self_scale else []) + super().hop_groups()
