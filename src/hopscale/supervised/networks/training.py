"""The training of a network: Adam over batches, with or without early stopping."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from hopscale.exceptions import DivergenceError, ParameterError
from hopscale.supervised.networks.passes import Batch, Pass, Weights

__all__ = ["Training", "chosen_device", "one_thread", "probabilities"]

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
        device = batches[0].rows.device
        random = torch.Generator(device).manual_seed(seed)
        with torch.no_grad():
            network(Pass(batches[0], weights, outputs))  # the weights appear
        adam = torch.optim.Adam(
            weights.tensors.values(), lr=self.learning_rate, weight_decay=self.regularization, fused=True
        )
        best, best_epoch, best_loss = {}, 0, np.inf
        epoch = 0
        for epoch in range(1, self.epochs + 1):
            for batch in batches:
                scores = network(Pass(batch, weights, outputs, dropout=self.dropout, random=random))
                loss = cross_entropy(scores[batch.rows], batch.targets)
                adam.zero_grad()
                loss.backward()  # type: ignore[no-untyped-call]
                adam.step()
            bar.update(1)
            if validation is None or self.patience is None:
                continue
            now = _loss(network, validation, weights, outputs)
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


@torch.no_grad()
def _loss(network: Network, batch: Batch, weights: Weights, outputs: int) -> float:
    return float(cross_entropy(network(Pass(batch, weights, outputs))[batch.rows], batch.targets))


@torch.no_grad()
def probabilities(network: Network, batch: Batch, outputs: int, weights: Weights) -> np.ndarray[Any, Any]:
    """Probabilities of the classes, a row for each node of a batch."""
    scores = network(Pass(batch, weights, outputs))
    return scores.double().softmax(dim=1).cpu().numpy()


def chosen_device(name: str) -> torch.device:
    """The device of that name; "auto" is a GPU where there is one."""
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
        if device.type not in ("cpu", "cuda"):
            raise RuntimeError("networks run on 'cpu' and 'cuda'")
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as error:  # AssertionError: PyTorch without CUDA
        raise ParameterError(f"cannot be used: {str(error).splitlines()[0]}", parameter="device", value=name) from error
    return device


@contextmanager
def one_thread() -> Iterator[None]:
    """PyTorch on a single thread, so that sums do not depend on their number; products have threads of their own."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
