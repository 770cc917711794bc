"""What a network is made of: weights that appear where a pass first needs them, and the layers of a pass."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from hopscale.supervised.networks.layers.sparse import SparseMatrix

__all__ = ["Batch", "Pass", "Weights"]


@dataclass
class Batch:
    """Nodes that pass through a network together."""

    features: SparseMatrix | None  # a row for each node
    vectors: Tensor | None
    matrices: Mapping[str, SparseMatrix]  # what the network multiplies hidden layers with
    rows: Tensor | None = None  # of nodes whose classes are known
    targets: Tensor | None = None  # their classes

    def labelled(self, rows: NDArray[np.int64], targets: NDArray[np.int64]) -> Batch:
        """The same nodes, with the classes of some."""
        device = next(iter(self.matrices.values())).device
        at, classes = (torch.from_numpy(array.astype(np.int64)).to(device) for array in (rows, targets))
        return replace(self, rows=at, targets=classes)


class Weights:
    """Weights of a network by name; one that is asked for the first time is drawn, or is zero."""

    def __init__(self, device: torch.device, seed: int = 0, known: Mapping[str, NDArray[np.float32]] | None = None):
        self.tensors = {name: torch.tensor(array, device=device) for name, array in (known or {}).items()}
        self._device = device
        # Drawn on the processor, whatever the device: networks of one seed start from the same weights everywhere.
        self._random = torch.Generator().manual_seed(seed)

    def matrix(self, name: str, rows: int, columns: int) -> Tensor:
        """A matrix that keeps the variance of what goes through it either way (Glorot and Bengio)."""
        if name not in self.tensors:
            bound = math.sqrt(6.0 / (rows + columns))
            drawn = torch.empty(rows, columns).uniform_(-bound, bound, generator=self._random)
            self.tensors[name] = drawn.to(self._device).requires_grad_()
        return self.tensors[name]

    def vector(self, name: str, size: int) -> Tensor:
        """A vector of zeros to begin with."""
        if name not in self.tensors:
            self.tensors[name] = torch.zeros(size, device=self._device, requires_grad=True)
        return self.tensors[name]

    def arrays(self) -> dict[str, NDArray[np.float32]]:
        """Copies, on the processor."""
        return {name: tensor.detach().cpu().numpy().copy() for name, tensor in self.tensors.items()}


class Pass:
    """One pass of a batch through a network.

    A network calls the layers below in the same order each time, which is how a layer finds its weights. With a
    generator the pass is one of training: some of the entries, drawn by it, are dropped.

    Attributes
    ----------
    outputs : int
        Number of classes.
    matrices : dict
        What the network multiplies with, by name.
    random : torch.Generator or None
    """

    def __init__(
        self,
        batch: Batch,
        weights: Weights,
        outputs: int,
        *,
        dropout: float = 0.0,
        random: torch.Generator | None = None,
    ) -> None:
        self.matrices, self.outputs, self.random = batch.matrices, outputs, random
        self._batch, self._weights, self._dropout = batch, weights, dropout
        self._layers = 0

    @property
    def training(self) -> bool:
        """Whether this is a pass of training."""
        return self.random is not None

    def _next(self, kind: str) -> str:
        self._layers += 1
        return f"{self._layers}.{kind}"

    def first(self, width: int) -> Tensor:
        """The input times weights. Features stay sparse: only entries are dropped, and only entries are multiplied."""
        batch, name, total = self._batch, self._next("input"), None
        if batch.features is not None:
            weights = self._weights.matrix(f"{name}.features", batch.features.shape[1], width)
            dropping = self.training and self._dropout > 0
            values = self.dropout(batch.features.values) if dropping else None
            total = batch.features @ weights if values is None else batch.features.times(weights, values)
        if batch.vectors is not None:
            weights = self._weights.matrix(f"{name}.vectors", batch.vectors.shape[1], width)
            of_vectors = self.dropout(batch.vectors) @ weights
            total = of_vectors if total is None else total + of_vectors
        assert total is not None
        return total

    def linear(self, x: Tensor, width: int) -> Tensor:
        """x times weights."""
        return x @ self._weights.matrix(self._next("linear"), x.shape[1], width)

    def biased(self, x: Tensor) -> Tensor:
        """x plus a number for each column."""
        return x + self._weights.vector(self._next("bias"), x.shape[1])

    @staticmethod
    def side_by_side(blocks: Sequence[Tensor]) -> Tensor:
        """Blocks of columns as one matrix."""
        return torch.cat(list(blocks), dim=1)

    def dropout(self, x: Tensor) -> Tensor:
        """x with some entries dropped and the others raised, so that sums are as before; in training only."""
        if self.random is None or not self._dropout:
            return x
        kept = torch.rand(x.shape, generator=self.random, device=x.device) >= self._dropout
        return x * kept / (1.0 - self._dropout)
