"""The training of a network: Adam over batches, with or without early stopping."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from hopscale.exceptions import DivergenceError
from hopscale.supervised.networks.layers.passes import Batch, Pass, Weights

__all__ = ["Training", "probabilities"]

Network = Callable[[Pass], Tensor]  # scores of the classes, a row for each node of the batch


@dataclass(frozen=True)
class Training:
    """Settings of a training; ``run`` is the loop."""

    epochs: int
    learning_rate: float
    dropout: float
    regularization: float
    patience: int | None = None

    def run(
        self, network: Network, batches: Sequence[Batch], outputs: int, weights: Weights, seed: int, bar: Any,
        validation: Batch | None = None,
    ) -> int:  # fmt: skip
        """Train weights on the targets of the batches, one step of Adam a batch; returns the number of epochs.

        With a validation batch, training ends once its loss has not fallen for ``patience`` epochs, and the weights
        are those of the epoch in which it was lowest.
        """
        random = torch.Generator(_device(batches[0])).manual_seed(seed)
        with torch.no_grad():
            network(Pass(batches[0], weights, outputs))  # the weights appear
        adam = torch.optim.Adam(
            weights.tensors.values(), lr=self.learning_rate, weight_decay=self.regularization, fused=True
        )
        best, best_epoch, best_loss = {}, 0, np.inf
        epoch = 0
        for epoch in range(1, self.epochs + 1):
            for batch in batches:
                loss = _loss(network, batch, weights, outputs, dropout=self.dropout, random=random)
                adam.zero_grad()
                loss.backward()  # type: ignore[no-untyped-call]
                adam.step()
            bar.update(1)
            if validation is None or self.patience is None:
                continue
            with torch.no_grad():
                now = float(_loss(network, validation, weights, outputs))
            if now < best_loss:
                best, best_epoch, best_loss = weights.arrays(), epoch, now
            elif epoch - best_epoch >= self.patience:
                break
        for name, array in best.items():
            with torch.no_grad():
                weights.tensors[name].copy_(torch.from_numpy(array))
        if not all(bool(tensor.isfinite().all()) for tensor in weights.tensors.values()):
            raise DivergenceError(
                f"the weights are not finite after {epoch} epochs: the learning rate {self.learning_rate:g} is too "
                "high for these features"
            )
        return best_epoch or epoch


def _loss(network: Network, batch: Batch, weights: Weights, outputs: int, **settings: Any) -> Tensor:
    """Mean cross-entropy of the nodes whose classes are known."""
    assert batch.targets is not None
    return cross_entropy(network(Pass(batch, weights, outputs, **settings))[batch.rows], batch.targets)


def _device(batch: Batch) -> torch.device:
    return next(iter(batch.matrices.values())).device


@torch.no_grad()
def probabilities(network: Network, batch: Batch, outputs: int, weights: Weights) -> np.ndarray[Any, Any]:
    """Probabilities of the classes, a row for each node of a batch."""
    scores = network(Pass(batch, weights, outputs))
    return scores.double().softmax(dim=1).cpu().numpy()
