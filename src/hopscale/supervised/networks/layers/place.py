"""Where a network is computed: a device of PyTorch, and the engine whose threads multiply on a processor."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch

from hopscale.compute import Threads
from hopscale.exceptions import ParameterError
from hopscale.supervised.networks.inputs import NodeInputs
from hopscale.supervised.networks.layers.passes import Batch
from hopscale.supervised.networks.layers.sparse import on_device
from hopscale.supervised.networks.propagation import Matrices

__all__ = ["Place", "chosen_device", "one_thread"]


@dataclass(frozen=True)
class Place:
    """A device, and an engine that is open."""

    device: torch.device
    engine: Threads

    def batch(self, inputs: NodeInputs, matrices: Matrices) -> Batch:
        """Nodes and what their hidden layers are multiplied with, on the device."""
        features = None if inputs.features is None else on_device(inputs.features, self.device, self.engine)
        vectors = None if inputs.vectors is None else torch.from_numpy(inputs.vectors).to(self.device)
        there = {name: on_device(matrix, self.device, self.engine) for name, matrix in matrices.items()}
        return Batch(features, vectors, there)


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
